"""Default folders: the data cache, mirrors, and packages."""

import os
from pathlib import Path

__all__ = ["cache_home", "mirrors", "packages_home"]


def cache_home() -> Path:
    """Folder of fetched files: ``$BRAINIO_HOME``, else ``~/.brainio``.

    Examples
    --------
    >>> import os
    >>> from brainscore_core.supported_data_standards.brainio.fetch import cache_home
    >>> cache_home() == Path(os.environ["BRAINIO_HOME"])
    True
    """
    return Path(os.environ.get("BRAINIO_HOME") or "~/.brainio").expanduser().absolute()


def mirrors() -> list[Path]:
    """Folders that ``$BRAINSCORE_MIRROR`` names."""
    folders = os.environ.get("BRAINSCORE_MIRROR", "").split(os.pathsep)
    return [Path(folder).expanduser().absolute() for folder in folders if folder]


def packages_home() -> Path:
    """Default folder of packaged data: ``~/Downloads/brainscore_packages``."""
    return Path("~/Downloads/brainscore_packages").expanduser()
