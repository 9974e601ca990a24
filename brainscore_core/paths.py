"""Default folders: ``$BRAINSCORE_HOME``, the cache of fetched data, mirrors, and everything below them.

Environment variables are read at each call.
"""

import os
from pathlib import Path

_OFF_VALUES = {"off", "no", "false", "0"}


def home() -> Path:
    """Folder of the platform's own files: ``$BRAINSCORE_HOME``, else ``~/.brain-score``.

    Examples
    --------
    >>> home() == Path(os.environ["BRAINSCORE_HOME"])
    True
    """
    return Path(os.environ.get("BRAINSCORE_HOME") or "~/.brain-score").expanduser().absolute()


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


def default_results_address() -> str:
    """Address of the store of receipts if none is given.

    Returns
    -------
    str
        ``$BRAINSCORE_RESULTS``, a folder or ``s3://bucket/prefix``; else ``$BRAINSCORE_HOME/results``, else
        ``~/.brain-score/results``.
    """
    if address := os.environ.get("BRAINSCORE_RESULTS"):
        is_bucket = address.startswith("s3:/") and not address.startswith("s3:///")
        return address if is_bucket else str(Path(address).expanduser())
    return str(home() / "results")


def plugin_index_file() -> Path:
    """File of the plugin index: ``plugin-index.json`` in :func:`home`."""
    return home() / "plugin-index.json"


def remote_worker_home() -> Path:
    """Folder of the pair, plugins and receipt of remote workers: ``remote-worker`` in :func:`home`."""
    return home() / "remote-worker"


def environments_home(root: Path | None = None) -> Path:
    """Folder of plugin environments: `root`, by default ``environments`` in :func:`home`."""
    return home() / "environments" if root is None else Path(root).expanduser().absolute()


def activations_home() -> Path | None:
    """Folder of stored activations.

    ``$BRAINSCORE_ACTIVATIONS``, else ``$BRAINSCORE_HOME/activations``, else ``~/.brain-score/activations``; None if
    ``$BRAINSCORE_ACTIVATIONS`` is ``off``.
    """
    if folder := os.environ.get("BRAINSCORE_ACTIVATIONS"):
        return None if folder.strip().lower() in _OFF_VALUES else Path(folder).expanduser().absolute()
    return home() / "activations"


def screen_home() -> Path:
    """Folder of stimuli as placed on a screen: ``stimuli_on_screen`` in :func:`home`."""
    return home() / "stimuli_on_screen"


def layer_profiles_home() -> Path:
    """Folder of layer profiles: ``layers`` in :func:`home`."""
    return home() / "layers"


def weights_home(folder: str = "models") -> Path:
    """Folder of model weights: `folder` in :func:`home`."""
    return home() / folder


def simulated_data_home() -> Path:
    """Folder of the simulated data: ``simulated2026`` in :func:`home`."""
    return home() / "simulated2026"


def stand_ins_home() -> Path:
    """Folder of the stimuli of stand-ins: ``stand_ins`` in :func:`home`."""
    return home() / "stand_ins"


def site_home() -> Path:
    """Folder of the website's own files: ``$BRAINSCORE_SITE_HOME``, else ``site`` in :func:`home`."""
    if folder := os.environ.get("BRAINSCORE_SITE_HOME"):
        return Path(folder).expanduser().absolute()
    return home() / "site"


def token_file() -> Path:
    """File of saved log-ins: ``login.json`` in ``$XDG_CONFIG_HOME/brainscore``, by default ``~/.config/brainscore``."""
    return Path(os.environ.get("XDG_CONFIG_HOME") or "~/.config").expanduser() / "brainscore" / "login.json"
