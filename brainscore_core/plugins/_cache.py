"""What the last scan of each plugin file found, kept between processes."""

from __future__ import annotations

import contextlib
import json
import os
import stat
from collections.abc import Mapping
from pathlib import Path
from typing import Any, NamedTuple

from brainscore_core.files import replacing
from brainscore_core.plugins._static import Registration, Scan

__all__ = ["CachedScan", "Stamp", "cache_file", "read_cache", "stamp", "write_cache"]

_VERSION = 1
Stamp = tuple[int, int]


class CachedScan(NamedTuple):
    """A scan, and the stamps of the files it was read from."""

    scan: Scan
    stamps: dict[str, Stamp]

    def fresh(self, file_stamp: Stamp, file: str) -> bool:
        """Say whether neither the file nor those it takes constants from changed since."""
        return self.stamps.get(file) == file_stamp and all(
            stamp(other) == expected for other, expected in self.stamps.items() if other != file
        )


def stamp(file: str | os.PathLike[str]) -> Stamp | None:
    """Time of the last change, in nanoseconds, and size of a file; None where there is no regular file."""
    try:
        status = os.stat(file)
    except OSError:
        return None
    return (status.st_mtime_ns, status.st_size) if stat.S_ISREG(status.st_mode) else None


def cache_file() -> Path:
    """``plugin-index.json`` in ``$BRAINSCORE_HOME``, by default ``~/.brain-score``."""
    home = os.environ.get("BRAINSCORE_HOME") or os.path.join("~", ".brain-score")
    return Path(home).expanduser() / "plugin-index.json"


def read_cache(file: Path, *, signature: str) -> dict[str, CachedScan]:
    """Read the cache; one that is missing, damaged or of another `signature` counts as empty."""
    try:
        content = json.loads(file.read_bytes())
        if content["version"] != _VERSION or content["signature"] != signature:
            return {}
        return {path: _from_json(entry) for path, entry in content["files"].items()}
    except (OSError, ValueError, KeyError, TypeError, AttributeError, RecursionError):
        return {}  # everything in it can be found again


def write_cache(file: Path, entries: Mapping[str, CachedScan], *, signature: str) -> None:
    """Replace the cache in one step; where the folder is not writable, go without."""
    content = {
        "version": _VERSION,
        "signature": signature,
        "files": {path: _to_json(entry) for path, entry in entries.items()},
    }
    # an unwritable folder: what the cache would hold can be found again
    with contextlib.suppress(OSError), replacing(file) as stream:
        stream.write(json.dumps(content, separators=(",", ":")).encode())


def _to_json(entry: CachedScan) -> list[Any]:
    scan = entry.scan
    return [scan.registrations, scan.dynamic, scan.error, scan.depends, entry.stamps]


def _from_json(entry: list[Any]) -> CachedScan:
    registrations, dynamic, error, depends, stamps = entry
    return CachedScan(
        Scan(
            tuple(Registration(str(name), str(key), int(line)) for name, key, line in registrations),
            tuple((str(name), int(line)) for name, line in dynamic),
            None if error is None else str(error),
            tuple(str(other) for other in depends),
        ),
        {str(path): (int(changed), int(size)) for path, (changed, size) in stamps.items()},
    )
