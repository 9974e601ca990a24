"""The layout of a submission: which plugins it holds, and where each file belongs."""

from __future__ import annotations

import re
import tempfile
import unicodedata
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path, PurePosixPath
from typing import Literal

from brainscore_core.errors import UserError
from brainscore_core.plugins.source import Scan, scan_file
from brainscore_vision.submission.package import REGISTRIES, Finding

__all__ = ["JUNK_FOLDERS", "KIND_FOLDERS", "Layout", "escapes_folder", "file_category", "is_unsafe_name", "plan_layout"]

JUNK_FOLDERS = frozenset(
    {"__pycache__", "__MACOSX", ".git", ".hg", ".svn", ".github", ".idea", ".vscode", ".venv", "venv", "node_modules"}
    | {".pytest_cache", ".mypy_cache", ".ruff_cache", ".ipynb_checkpoints", ".tox", ".eggs", ".cache"}
)
_JUNK = frozenset({".DS_Store", "Thumbs.db", "desktop.ini", "Icon\r", ".gitignore", ".gitattributes", ".gitmodules"})
_JUNK_SUFFIXES = frozenset({".pyc", ".pyo", ".swp", ".swo", ".orig", ".rej", ".bak"})
_DATA_SUFFIXES = frozenset(
    {".nc", ".npz", ".npy", ".h5", ".hdf5", ".mat", ".pkl", ".pickle", ".joblib", ".parquet", ".feather", ".arrow"}
    | {".pt", ".pth", ".ckpt", ".safetensors", ".onnx", ".pb", ".tflite", ".bin", ".weights", ".caffemodel"}
    | {".zip", ".tar", ".gz", ".tgz", ".bz2", ".xz", ".zst", ".7z", ".rar", ".jar"}
    | {".mp4", ".avi", ".mov", ".mkv", ".webm", ".wav", ".mp3"}
)
_PROGRAM_SUFFIXES = frozenset({".so", ".dll", ".dylib", ".pyd", ".exe", ".o", ".a", ".whl", ".egg"})
_UNSAFE_CHARACTERS = re.compile(r'[<>:"|?*\\]')
_DEVICES = frozenset({"con", "prn", "aux", "nul", *(f"{name}{n}" for name in ("com", "lpt") for n in range(1, 10))})

FileCategory = Literal["file", "junk", "data", "program"]


def file_category(path: str) -> FileCategory:
    """What a file is: part of a plugin, what programs leave behind, data, or a program.

    Examples
    --------
    >>> [file_category(path) for path in ("models/x/model.py", "x/__pycache__/m.pyc", "x/weights.pth", "x/fast.so")]
    ['file', 'junk', 'data', 'program']
    """
    given = PurePosixPath(path)
    name, suffix = given.name, given.suffix.lower()
    if JUNK_FOLDERS.intersection(given.parts[:-1]) or name in _JUNK or name.startswith(("._", "~$")):
        return "junk"
    if any(part.endswith((".egg-info", ".dist-info")) for part in given.parts[:-1]):
        return "junk"
    if suffix in _JUNK_SUFFIXES or name.endswith("~"):
        return "junk"
    if suffix in _PROGRAM_SUFFIXES:
        return "program"
    return "data" if suffix in _DATA_SUFFIXES else "file"


def escapes_folder(path: str) -> bool:
    """Whether a path is absolute, or leads out of its folder."""
    parts = path.split("/")
    return path.startswith("/") or path[1:2] == ":" or ".." in parts or not path.strip("/")


def is_unsafe_name(path: str) -> bool:
    """Whether a path has characters or names that nobody sees, or that some system refuses."""
    if unicodedata.normalize("NFC", path) != path or _UNSAFE_CHARACTERS.search(path):
        return True
    if any(unicodedata.category(one).startswith(("C", "Z")) and one != " " for one in path):
        return True
    return any(
        part in ("", ".")
        or part != part.strip()
        or part.endswith(".")
        or part.partition(".")[0].lower() in _DEVICES
        or len(part.encode()) > 200
        for part in path.split("/")
    )


KIND_FOLDERS = tuple(dict.fromkeys(REGISTRIES.values()))
_SHAPE = "lay it out as models/my_model/__init__.py; likewise benchmarks/, data/ and metrics/"
_Parts = tuple[str, ...]
_MAX_PLUGINS = 500


@dataclass
class Layout:
    """Where everything goes.

    Attributes
    ----------
    plugins : dict
        Path of a plugin, ``models/mine`` → folder that it stands in (no parts: at the top).
    files : dict
        Path in the submission → path in what is read.
    outside : list of str
        What belongs to no plugin.
    findings : list of Finding
        What was moved.
    """

    plugins: dict[str, _Parts] = field(default_factory=dict)
    files: dict[str, str] = field(default_factory=dict)
    outside: list[str] = field(default_factory=list)
    findings: list[Finding] = field(default_factory=list)

    def place(self, path: str) -> str | None:
        """Where a path goes; None where it belongs to no plugin."""
        parts = tuple(path.split("/"))
        for plugin, folder in self.plugins.items():
            if parts[: len(folder)] == folder and len(parts) > len(folder):
                return "/".join([plugin, *parts[len(folder) :]])
        return None


def plain_name(text: str) -> str:
    """Turn a text into a name that a plugin's folder may have; possibly nothing is left."""
    return re.sub(r"[^A-Za-z0-9_-]+", "_", text).strip("_-")


def plan_layout(names: Sequence[str], starts: Mapping[str, bytes], *, name: str) -> Layout:
    """Say where each file belongs.

    Parameters
    ----------
    names : sequence of str
        Paths of the files.
    starts : mapping
        Contents of those called ``__init__.py``.
    name : str
        What a plugin without a folder of its own is called; empty: as the first thing that it registers.

    Raises
    ------
    UserError
        If there is no plugin, one is there twice, or its kind is not clear.
    """
    scans = _scans(starts)
    made = Layout()
    taken: dict[_Parts, str] = {}
    for folder in sorted(scans, key=lambda parts: (len(parts), parts)):
        if any(folder[:end] in taken for end in range(len(folder))):
            continue
        below = [one for one in scans if _is_kept_below(one, folder)]
        if below:
            made.findings.append(
                Finding(
                    "error", "layout", _path(folder, "__init__.py"), None,
                    "it registers, and so do plugins below it", "register in the plugins' own __init__.py alone",
                )
            )  # fmt: skip
            continue
        taken[folder] = _address(folder, scans[folder], name)
    for folder in _unregistered(names, taken):
        taken[folder] = "/".join(folder[-2:])
    _note(made, taken)
    for path in names:
        place = made.place(path)
        if place is None:
            made.outside.append(path)
        else:
            made.files[place] = path
    if not made.plugins:
        raise UserError("there is no plugin in it: nothing registers anything", remedy=_SHAPE)
    return made


def _scans(starts: Mapping[str, bytes]) -> dict[_Parts, Scan]:
    """Folders whose ``__init__.py`` registers, or tries to."""
    found: dict[_Parts, Scan] = {}
    with tempfile.TemporaryDirectory(prefix="brainscore-read-") as scratch:
        file = Path(scratch) / "__init__.py"
        for path, content in starts.items():
            file.write_bytes(content)
            scan = scan_file(file, tuple(REGISTRIES))
            if scan.registrations or scan.dynamic:
                if len(found) == _MAX_PLUGINS:
                    raise UserError(
                        f"it holds more than {_MAX_PLUGINS} plugins", remedy="send those that are yours and new"
                    )
                found[tuple(path.split("/")[:-1])] = scan
    return found


def _is_kept_below(one: _Parts, folder: _Parts) -> bool:
    """Whether `one` is a plugin in its place, below `folder`, which is none itself."""
    in_place = len(folder) >= 2 and folder[-2] in KIND_FOLDERS
    return not in_place and len(one) > len(folder) and one[: len(folder)] == folder and one[-2:-1] != () and (
        one[-2] in KIND_FOLDERS
    )  # fmt: skip


def _address(folder: _Parts, scan: Scan, name: str) -> str:
    if len(folder) >= 2 and folder[-2] in KIND_FOLDERS:
        return "/".join(folder[-2:])
    keys = [one.key for one in scan.registrations]
    first = plain_name(re.split(r"[.-]", keys[0])[0]) if keys else ""
    if folder and folder[-1] in KIND_FOLDERS:
        kind, own = folder[-1], plain_name(folder[-2]) if len(folder) >= 2 else ""
    else:
        kind, own = _kind(folder, scan), plain_name(folder[-1]) if folder else ""
    called = own or plain_name(name) or first
    if not called:
        raise UserError(f"the plugin in {_path(folder, '__init__.py')} has no name", remedy=_SHAPE)
    return f"{kind}/{called}"


def _kind(folder: _Parts, scan: Scan) -> str:
    registries = [one.registry for one in scan.registrations] or [registry for registry, _ in scan.dynamic]
    kinds = list(dict.fromkeys(REGISTRIES[registry] for registry in registries))
    if len(kinds) > 1:
        raise UserError(
            f"{_path(folder, '__init__.py')} registers in {' and '.join(kinds)}, so that its kind is not clear",
            remedy=_SHAPE,
        )
    return kinds[0]


def _unregistered(names: Iterable[str], taken: Mapping[_Parts, str]) -> list[_Parts]:
    """Folders that stand where plugins stand, but register nothing: they are shown as faulty, not left out."""
    found: dict[_Parts, None] = {}
    for path in names:
        parts = tuple(path.split("/"))
        if not path.endswith(".py") or any(parts[:end] in taken for end in range(len(parts))):
            continue
        for place, part in enumerate(parts[:-2]):
            if part in KIND_FOLDERS and not parts[place + 1].startswith(("_", ".")):
                found[parts[: place + 2]] = None
                break
    return list(found)


def _note(made: Layout, taken: Mapping[_Parts, str]) -> None:
    for folder, address in taken.items():
        if address in made.plugins:
            one, other = "/".join(made.plugins[address]) or "the top", "/".join(folder) or "the top"
            raise UserError(
                f"the plugin {address} is there twice: in {one} and in {other}", remedy="send it once, or rename one"
            )
        made.plugins[address] = folder
        found = "/".join(folder)
        if found != address:
            where = f"{found}/" if found else "what lies at the top"
            made.findings.append(
                Finding("note", "layout", f"{address}/__init__.py", None, f"{where} is read as {address}/", "")
            )


def _path(folder: _Parts, file: str) -> str:
    return "/".join([*folder, file])
