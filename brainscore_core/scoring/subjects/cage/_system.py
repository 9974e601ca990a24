"""What every cage shows: system libraries, an interpreter with its packages, this platform."""

from __future__ import annotations

from collections.abc import Iterable
from functools import cache
from pathlib import Path

import brainscore_core
from brainscore_core.plugins.environments._base import base_of

__all__ = ["ETC", "SYSTEM", "interpreter_folders", "lies_in", "platform_folders", "stubs"]

SYSTEM = ("/usr", "/bin", "/sbin", "/lib", "/lib32", "/lib64", "/libx32", "/nix/store")
"""Folders of programs and libraries; those that are there."""

ETC = (
    "alternatives", "fonts", "ld.so.cache", "ld.so.conf", "ld.so.conf.d", "localtime", "mime.types", "timezone",
)  # fmt: skip
"""What is shown of ``/etc``."""

_PLATFORM = ("brainio", "brainscore", "brainscore_core", "brainscore_vision")  # not the site


@cache
def platform_folders() -> tuple[Path, ...]:
    """Packages of this platform, where they lie."""
    beside = Path(brainscore_core.__file__).absolute().parent.parent
    return tuple(beside / name for name in _PLATFORM if (beside / name / "__init__.py").is_file())


@cache
def interpreter_folders() -> tuple[Path, ...]:
    """Folders that the running interpreter reads: its own, those of its environment, of installed packages.

    Others on its path are left out: projects that were installed from their folders (``pip install -e``),
    and what ``PYTHONPATH`` names. Of these, :func:`platform_folders` alone is shown.
    """
    base = base_of()
    shown: list[Path] = []
    for folder in sorted({*base.prefixes, base.prefix, *base.sites}):
        if folder != Path("/") and folder.is_dir() and not lies_in(folder, [*map(Path, SYSTEM), *shown]):
            shown.append(folder)
    return tuple(shown)


def lies_in(path: Path, folders: Iterable[Path]) -> bool:
    """Whether a path lies in one of the folders, or is one."""
    return any(path.is_relative_to(folder) for folder in folders)


def stubs(folder: Path) -> dict[str, Path]:
    """Write what programs look up in ``/etc``, and nothing of this machine; path in the cage → file."""
    texts = {
        "passwd": "cage:x:1000:1000:cage:/tmp/home:/bin/sh\n",
        "group": "cage:x:1000:\n",
        "hosts": "127.0.0.1 localhost cage\n::1 localhost\n",
        "nsswitch.conf": "passwd: files\ngroup: files\nhosts: files\n",
    }
    written = {}
    for name, text in texts.items():
        file = folder / name
        file.write_text(text)
        file.chmod(0o644)
        written[f"/etc/{name}"] = file
    return written
