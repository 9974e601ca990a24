"""Layout of a submission: its plugins, and where each file belongs."""

from __future__ import annotations

import re
import tempfile
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path, PurePosixPath
from typing import Literal

from brainscore_core.errors import UserError
from brainscore_core.plugins.source import Scan, scan_file
from brainscore_vision.submission.package import REGISTRIES, Finding

__all__ = ["JUNK_FOLDERS", "KIND_FOLDERS", "Layout", "file_category", "plan_layout"]

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

FileCategory = Literal["file", "junk", "data", "program"]


def file_category(path: str) -> FileCategory:
    """Category of a file: part of a plugin, leftover of a program, data, or a program.

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


KIND_FOLDERS = tuple(dict.fromkeys(REGISTRIES.values()))
_SHAPE = "use the layout models/my_model/__init__.py; likewise benchmarks/, data/ and metrics/"
_Parts = tuple[str, ...]
_MAX_PLUGINS = 500


@dataclass
class Layout:
    """Plugins of a submission, and the destination of each file.

    Attributes
    ----------
    plugins : dict
        Path of a plugin, ``models/mine`` → its original folder (no parts: the top).
    files : dict
        Path in the submission → original path.
    outside : list of str
        Files outside all plugins.
    findings : list of Finding
        Plugins that were moved, and errors.
    """

    plugins: dict[str, _Parts] = field(default_factory=dict)
    files: dict[str, str] = field(default_factory=dict)
    outside: list[str] = field(default_factory=list)
    findings: list[Finding] = field(default_factory=list)

    def place(self, path: str) -> str | None:
        """Destination of a path; None if it is outside all plugins."""
        parts = tuple(path.split("/"))
        for plugin, folder in self.plugins.items():
            if parts[: len(folder)] == folder and len(parts) > len(folder):
                return "/".join([plugin, *parts[len(folder) :]])
        return None


def plain_name(text: str) -> str:
    """Turn a text into a valid name of a plugin folder; the result may be empty."""
    return re.sub(r"[^A-Za-z0-9_-]+", "_", text).strip("_-")


def plan_layout(names: Sequence[str], starts: Mapping[str, bytes], *, name: str) -> Layout:
    """Determine the plugins, and where each file belongs.

    Parameters
    ----------
    names : sequence of str
        Paths of the files.
    starts : mapping
        Contents of the files called ``__init__.py``.
    name : str
        Name of a plugin without a folder of its own; empty: the first identifier that it registers.

    Raises
    ------
    UserError
        If there is no plugin, a plugin occurs twice, or its kind is ambiguous.
    """
    scans = _scans(starts)
    layout = Layout()
    taken: dict[_Parts, str] = {}
    for folder in sorted(scans, key=lambda parts: (len(parts), parts)):
        if any(folder[:end] in taken for end in range(len(folder))):
            continue
        if any(_is_plugin_below(other, folder) for other in scans):
            layout.findings.append(
                Finding(
                    "error", "layout", _path(folder, "__init__.py"), None,
                    "it registers something, and so do plugins below it", "register only in the __init__.py of plugins",
                )
            )  # fmt: skip
            continue
        taken[folder] = _address(folder, scans[folder], name)
    for folder in _unregistered(names, taken):
        taken[folder] = "/".join(folder[-2:])
    _add_plugins(layout, taken)
    for path in names:
        place = layout.place(path)
        if place is None:
            layout.outside.append(path)
        else:
            layout.files[place] = path
    if not layout.plugins:
        raise UserError("there is no plugin in it: nothing registers anything", remedy=_SHAPE)
    return layout


def _scans(starts: Mapping[str, bytes]) -> dict[_Parts, Scan]:
    """Folders whose ``__init__.py`` registers something, or tries to."""
    scans: dict[_Parts, Scan] = {}
    with tempfile.TemporaryDirectory(prefix="brainscore-read-") as scratch:
        file = Path(scratch) / "__init__.py"
        for path, content in starts.items():
            file.write_bytes(content)
            scan = scan_file(file, tuple(REGISTRIES))
            if scan.registrations or scan.dynamic:
                if len(scans) == _MAX_PLUGINS:
                    raise UserError(
                        f"it holds more than {_MAX_PLUGINS} plugins", remedy="send only those that are yours and new"
                    )
                scans[tuple(path.split("/")[:-1])] = scan
    return scans


def _is_plugin_below(other: _Parts, folder: _Parts) -> bool:
    """Whether `other` has the place of a plugin below `folder`, which does not have the place of a plugin itself."""
    in_place = len(folder) >= 2 and folder[-2] in KIND_FOLDERS
    below = len(other) > len(folder) and other[: len(folder)] == folder
    return not in_place and below and len(other) >= 2 and other[-2] in KIND_FOLDERS


def _address(folder: _Parts, scan: Scan, name: str) -> str:
    if len(folder) >= 2 and folder[-2] in KIND_FOLDERS:
        return "/".join(folder[-2:])
    keys = [registration.key for registration in scan.registrations]
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
    registries = [registration.registry for registration in scan.registrations]
    registries = registries or [registry for registry, _ in scan.dynamic]
    kinds = list(dict.fromkeys(REGISTRIES[registry] for registry in registries))
    if len(kinds) > 1:
        raise UserError(
            f"{_path(folder, '__init__.py')} registers in {' and '.join(kinds)}, so that its kind is ambiguous",
            remedy=_SHAPE,
        )
    return kinds[0]


def _unregistered(names: Iterable[str], taken: Mapping[_Parts, str]) -> list[_Parts]:
    """Folders in the place of plugins that register nothing: they are reported as errors rather than left out."""
    folders: dict[_Parts, None] = {}
    for path in names:
        parts = tuple(path.split("/"))
        if not path.endswith(".py") or any(parts[:end] in taken for end in range(len(parts))):
            continue
        for place, part in enumerate(parts[:-2]):
            if part in KIND_FOLDERS and not parts[place + 1].startswith(("_", ".")):
                folders[parts[: place + 2]] = None
                break
    return list(folders)


def _add_plugins(layout: Layout, taken: Mapping[_Parts, str]) -> None:
    for folder, address in taken.items():
        if address in layout.plugins:
            first, second = "/".join(layout.plugins[address]) or "the top", "/".join(folder) or "the top"
            raise UserError(
                f"the plugin {address} is there twice: in {first} and in {second}", remedy="send it once, or rename one"
            )
        layout.plugins[address] = folder
        original = "/".join(folder)
        if original != address:
            where = f"{original}/" if original else "the top folder"
            layout.findings.append(
                Finding("note", "layout", f"{address}/__init__.py", None, f"{where} is read as {address}/", "")
            )


def _path(folder: _Parts, file: str) -> str:
    return "/".join([*folder, file])
