"""A submission's files as the site keeps them, and the archive that they are kept in."""

from __future__ import annotations

import functools
import hashlib
import io
import os
import stat
import tempfile
import zipfile
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path, PurePosixPath
from typing import Any

from brainscore_core.errors import UserError
from brainscore_core.plugins._static import Scan, scan_file
from brainscore_vision.submitting._findings import Finding

__all__ = ["REGISTRIES", "Package", "Registered", "SubmittedPlugin", "canonical_zip", "unpack", "write_files"]

REGISTRIES: Mapping[str, str] = {
    "benchmark_registry": "benchmarks",
    "data_registry": "data",
    "metric_registry": "metrics",
    "model_registry": "models",
    "stimulus_set_registry": "data",
}
"""Registry → folder of the plugins that register there."""

_DATE = (1980, 1, 1, 0, 0, 0)  # the same content is the same archive, whenever it is made


@dataclass(frozen=True)
class Registered:
    """``registry[key] = …`` in line `line` of a plugin's ``__init__.py``."""

    registry: str
    key: str
    line: int


@dataclass(frozen=True)
class SubmittedPlugin:
    """A plugin of a submission: kind (``'models'``, …), name of its folder, what it registers."""

    kind: str
    name: str
    registrations: tuple[Registered, ...]

    @property
    def path(self) -> str:
        """Its folder: ``models/mine``."""
        return f"{self.kind}/{self.name}"

    def as_dict(self) -> dict[str, Any]:
        """As plain types, for JSON."""
        listed = [{"registry": one.registry, "key": one.key, "line": one.line} for one in self.registrations]
        return {"kind": self.kind, "name": self.name, "registrations": listed}


@dataclass(frozen=True, eq=False)
class Package:
    """A submission.

    Attributes
    ----------
    files : mapping
        Path, such as ``models/mine/__init__.py``, → content; sorted.
    findings : tuple of Finding
        What was left out or moved in reading.
    address, commit : str
        Of the repository, where it comes from one.
    folders : mapping
        Path of a plugin, such as ``models/mine`` → where it stood in what was read.
    """

    files: Mapping[str, bytes]
    findings: tuple[Finding, ...] = ()
    address: str = ""
    commit: str = ""
    folders: Mapping[str, str] = field(default_factory=dict)

    @functools.cached_property
    def scans(self) -> Mapping[str, Scan]:
        """What the static index reads of each plugin, by its folder; paths in it are those of `files`."""
        with tempfile.TemporaryDirectory(prefix="brainscore-read-") as name:
            folder = Path(name)
            write_files({path: content for path, content in self.files.items() if path.endswith(".py")}, folder)
            found = {}
            for path in dict.fromkeys("/".join(file.split("/")[:2]) for file in self.files):
                file = folder / path / "__init__.py"
                if file.is_file():
                    scan = scan_file(file, tuple(REGISTRIES))
                    error = None if scan.error is None else scan.error.replace(f"{folder}{os.sep}", "")
                    found[path] = scan._replace(error=error, depends=())
                else:
                    found[path] = Scan()
            return found

    @functools.cached_property
    def plugins(self) -> tuple[SubmittedPlugin, ...]:
        """Its plugins, by path."""
        return tuple(
            SubmittedPlugin(kind, name, tuple(Registered(*one) for one in scan.registrations))
            for (kind, name), scan in sorted((path.split("/"), scan) for path, scan in self.scans.items())
        )

    def of(self, plugin: SubmittedPlugin) -> dict[str, bytes]:
        """The files of one plugin."""
        return {path: content for path, content in self.files.items() if path.startswith(f"{plugin.path}/")}

    def to_zip(self) -> bytes:
        """As an archive: the same files are the same bytes, on every machine."""
        return self._archive

    @property
    def digest(self) -> str:
        """SHA-256 of that archive."""
        return hashlib.sha256(self._archive).hexdigest()

    @functools.cached_property
    def _archive(self) -> bytes:
        return canonical_zip(self.files)


def canonical_zip(files: Mapping[str, bytes]) -> bytes:
    """Pack files: sorted, without times, not compressed, as what compression makes differs between libraries."""
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w") as archive:
        for path in sorted(files):
            member = zipfile.ZipInfo(path, _DATE)
            member.create_system = 3
            member.external_attr = (stat.S_IFREG | 0o644) << 16
            archive.writestr(member, files[path])
    return stream.getvalue()


def unpack(archive: bytes, folder: Path) -> None:
    """Write what `Package.to_zip` gave into an empty folder.

    Parameters
    ----------
    archive : bytes
        The archive.
    folder : Path
        Is made if it is not there.

    Raises
    ------
    UserError
        If it is no such archive, or the folder is not empty.
    """
    folder = Path(folder)
    if folder.is_dir() and any(folder.iterdir()):
        raise UserError(f"{folder} is not empty", remedy="name an empty folder")
    try:
        with zipfile.ZipFile(io.BytesIO(archive)) as store:
            files = {member.filename: store.read(member) for member in store.infolist()}
    except (zipfile.BadZipFile, EOFError, NotImplementedError, RuntimeError) as error:
        raise UserError(f"this is no archive of a submission: {error}", remedy="read it with read_zip first") from error
    for path in files:
        parts = path.split("/")
        if len(parts) < 3 or parts[0] not in REGISTRIES.values() or not all(map(_is_plain, parts)):
            raise UserError(f"this is no archive of a submission: it holds {path!r}", remedy="read it with read_zip")
    write_files(files, folder)


def _is_plain(part: str) -> bool:
    return part not in ("", ".", "..") and "\\" not in part and "\0" not in part


def write_files(files: Mapping[str, bytes], folder: Path) -> None:
    """Write files below a folder; their paths were checked before."""
    folder.mkdir(parents=True, exist_ok=True)
    for path, content in files.items():
        target = folder / PurePosixPath(path)
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_bytes(content)
