"""Which files belong into a submission, by their names."""

from __future__ import annotations

import re
import unicodedata
from pathlib import PurePosixPath
from typing import Literal

__all__ = ["JUNK_FOLDERS", "is_odd", "leads_out", "sort_of"]

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
_ODD = re.compile(r'[<>:"|?*\\]')
_DEVICES = frozenset({"con", "prn", "aux", "nul", *(f"{name}{n}" for name in ("com", "lpt") for n in range(1, 10))})

Sort = Literal["file", "junk", "data", "program"]


def sort_of(path: str) -> Sort:
    """What a file is: part of a plugin, what programs leave behind, data, or a program.

    Examples
    --------
    >>> [sort_of(path) for path in ("models/x/model.py", "x/__pycache__/m.pyc", "x/weights.pth", "x/fast.so")]
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


def leads_out(path: str) -> bool:
    """Whether a path is absolute, or leads out of its folder."""
    parts = path.split("/")
    return path.startswith("/") or path[1:2] == ":" or ".." in parts or not path.strip("/")


def is_odd(path: str) -> bool:
    """Whether a path has characters or names that nobody sees, or that some system refuses."""
    if unicodedata.normalize("NFC", path) != path or _ODD.search(path):
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
