"""Readers of submissions from folders and ZIP files: which plugins there are, and where each file belongs."""

from __future__ import annotations

import io
import os
import re
import struct
import tempfile
import zipfile
import zlib
from abc import ABC, abstractmethod
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path, PurePosixPath
from typing import BinaryIO, Literal

from brainscore_core import archives
from brainscore_core.domain_names import PACKAGES
from brainscore_core.domains import domains
from brainscore_core.errors import UserError
from brainscore_core.plugins.source import Scan, scan_file
from brainscore_core.submission.package import (
    KIND_FOLDERS,
    REGISTRIES,
    Finding,
    Limits,
    Package,
    SubmittedFile,
    sort_findings,
)
from brainscore_core.submission.plugin_source import syntax_size

_JUNK_FOLDERS = frozenset(
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
_SHAPE = "use the layout models/my_model/__init__.py; likewise benchmarks/, data/ and metrics/"
_Parts = tuple[str, ...]
_MAX_PLUGINS = 500


class Tree(ABC):
    """Files of an archive, a folder or a commit."""

    names: Sequence[str]  # paths of regular files, with ``/``
    links: Sequence[str] = ()  # paths of links and submodules

    @abstractmethod
    def content(self, path: str, budget: Budget) -> bytes:
        """Return the content of a file; of one that is too large, only a little more than the limit."""

    def read(self, paths: Iterable[str], budget: Budget) -> dict[str, bytes]:
        """Return the contents of some files."""
        return {path: self.content(path, budget) for path in paths}

    def unlike(self, others: Mapping[str, Path]) -> set[str]:
        """Return the paths whose content differs from that of the given file."""
        contents = self.read(others, Budget(Limits(size=1 << 30, file=1 << 30)))
        return {path for path, file in others.items() if not file.is_file() or file.read_bytes() != contents[path]}


class Budget:
    """Counts the bytes that are actually read."""

    def __init__(self, limits: Limits) -> None:
        self.limits = limits
        self._left = limits.size

    def take(self, size: int) -> None:
        """Count bytes.

        A UserError if the limit is exceeded.
        """
        self._left -= size
        if self._left < 0:
            raise UserError(
                f"the submission holds more than {self.limits.size / 1e6:,.0f} MB",
                remedy="send code alone: upload data and weights to the site, and load them from there",
            )


_SHOWN = 8
_UPLOAD = "upload it on the site, and load it from there by its hash; see the page on uploads"
_POINTER = b"version https://git-lfs.github.com/spec/"


def read_tree(
    tree: Tree,
    *,
    limits: Limits,
    name: str = "",
    address: str = "",
    commit: str = "",
    only: Iterable[str] | None = None,
) -> Package:
    """Read a submission from a tree of files.

    `name` is that of a plugin without a folder of its own; `only` names the plugin folders to read, such as
    ``brainscore_vision/models/mine``.
    """
    names = [path for path in tree.names if file_category(path) != "junk"]
    findings: list[Finding] = []
    if junk := len(tree.names) - len(names):
        findings.append(SubmittedFile("").note("left out", None, f"{junk} leftover files of programs", ""))
    tops = _platform_folders(names)
    if only is not None:
        folders = tuple(f"{folder}/" for folder in only)
        names = [path for path in names if path.startswith(folders)]
    elif tops:
        names = _changed_plugins(tree, names, tops)
    starts = tree.read([path for path in names if path.rpartition("/")[2] == "__init__.py"], Budget(limits))
    # files that are too large are left out below; parsing them would take long
    starts = {path: content if len(content) <= limits.source else b"" for path, content in starts.items()}
    planned = plan_layout(names, starts, name=name)
    if len(planned.plugins) > limits.plugins:
        raise UserError(
            f"it holds {len(planned.plugins)} plugins; {limits.plugins} are allowed",
            remedy="send only those that are yours and new; from a fork of the platform, send a pull request",
        )
    if len(planned.files) > limits.files:
        raise UserError(
            f"its plugins hold {len(planned.files):,} files; {limits.files:,} are allowed",
            remedy="send code alone: upload data and weights to the site, and load them from there",
        )
    _refuse_names(planned.files)
    findings += planned.findings
    if tops or only is not None:  # the layout of the platform itself needs no notes
        findings = [finding for finding in findings if finding.check != "layout" or finding.severity == "error"]
    else:
        findings += _outside(planned.outside)
    findings += _links(tree, planned)
    files, left_out = _contents(tree, planned, Budget(limits))
    folders_of = {plugin: "/".join(folder) for plugin, folder in planned.plugins.items()}
    package = Package(dict(sorted(files.items())), sort_findings([*findings, *left_out]), address, commit, folders_of)
    if (count := sum(len(plugin.registrations) for plugin in package.plugins)) > limits.identifiers:
        raise UserError(
            f"it registers {count:,} identifiers; {limits.identifiers:,} are allowed",
            remedy="divide it into several submissions",
        )
    return package


def _platform_folders(names: Iterable[str]) -> dict[str, str]:
    """Folders of the packages of domains in a checkout of the platform, with ``/``; none in other trees."""
    marks = {each.model_interface.partition(":")[0].replace(".", "/") + ".py": each.package for each in domains()}
    return {
        f"{path.removesuffix(mark)}{package}/": package
        for path in names
        for mark, package in marks.items()
        if f"/{path}".endswith(f"/{mark}")
    }


def _changed_plugins(tree: Tree, names: list[str], tops: Mapping[str, str]) -> list[str]:
    """Files of the plugins in a checkout of the platform that differ from the platform's own."""
    home = Path(__file__).resolve().parents[2]
    plugins: dict[str, list[str]] = defaultdict(list)
    platform_paths: dict[str, Path] = {}
    for path in names:
        for top, package in tops.items():
            segments = path.removeprefix(top).split("/")
            is_plugin = len(segments) > 2 and segments[0] in KIND_FOLDERS and segments[1][0] not in "_."
            if path.startswith(top) and is_plugin:
                plugins[f"{top}{segments[0]}/{segments[1]}"].append(path)
                platform_paths[path] = home / package / path.removeprefix(top)
    unlike = tree.unlike(platform_paths)
    changed = [path for paths in plugins.values() if unlike.intersection(paths) for path in paths]
    if not changed:
        raise UserError(
            "it is a checkout of the platform, and all its plugins are the platform's own",
            remedy=f"name the plugin's folder, such as {PACKAGES[0]}/models/mine; or commit new plugins",
        )
    return changed


def _refuse_names(files: Mapping[str, str]) -> None:
    for path in files:
        if len(path.encode(errors="replace")) > archives.LONGEST_PATH:
            raise UserError(
                f"the path {path[:60]!a}… is longer than {archives.LONGEST_PATH} bytes",
                remedy="use fewer folders and shorter names",
            )
        if not archives.is_portable(path):
            raise UserError(
                f"{path!a} has invisible characters, or characters that some systems reject",
                remedy="rename it: letters, digits, '_', '-' and '.'",
            )
    if clash := archives.find_clash(files):
        raise UserError(
            f"{clash[0]!r} and {clash[1]!r} differ only in case, which some systems do not distinguish",
            remedy="rename one of them",
        )


def _outside(paths: list[str]) -> list[Finding]:
    """Note the files outside all plugins, except those that only mark packages."""
    reported = [path for path in paths if path.rpartition("/")[2] != "__init__.py"]
    shown = ", ".join(reported[:_SHOWN]) + (f" and {len(reported) - _SHOWN} more" if len(reported) > _SHOWN else "")
    message = f"not in a plugin's folder, and left out: {shown}"
    remedy = "if a plugin needs them, put them into its folder"
    return [SubmittedFile("").note("left out", None, message, remedy)] if reported else []


def _links(tree: Tree, planned: Layout) -> list[Finding]:
    targets = filter(None, map(planned.place, tree.links))
    message, remedy = "links and submodules are not followed", "put the file itself there"
    return [SubmittedFile(target).error("link", None, message, remedy) for target in targets]


def _contents(tree: Tree, planned: Layout, budget: Budget) -> tuple[dict[str, bytes], list[Finding]]:
    targets = {target: path for target, path in planned.files.items() if file_category(target) == "file"}
    read, limits = tree.read(targets.values(), budget), budget.limits
    files, findings, n_nodes = {}, [], 0
    for target, path in targets.items():
        content, file = read[path], SubmittedFile(target)
        count, why = _too_much_python(content, limits) if target.endswith(".py") else (0, "")
        n_nodes += count
        if n_nodes > limits.all_nodes:
            raise UserError("the submission contains too much Python code", remedy="send only the code of the plugins")
        if len(content) > limits.file:
            message = f"it is larger than {limits.file / 1e6:g} MB, and left out"
            findings.append(file.error("size", None, message, _UPLOAD))
        elif why:
            remedy = "keep data in files of their own, such as CSV or JSON, and split the code"
            findings.append(file.error("size", None, f"{why}; it is left out", remedy))
        elif content.startswith(_POINTER):
            message = "it is a pointer of Git LFS in place of the file, and left out"
            findings.append(file.error("data in code", None, message, _UPLOAD))
        else:
            files[target] = content
    for file in map(SubmittedFile, planned.files):
        if file_category(file.path) == "data":
            findings.append(_data(file, files))
        elif file_category(file.path) == "program":
            message, remedy = "compiled programs are not accepted", "name a package with wheels in requirements.txt"
            findings.append(file.error("program", None, f"{message}; it is left out", remedy))
    return files, findings


_TOKEN = re.compile(rb"[A-Za-z0-9_.]+|[^\sA-Za-z0-9_.]")
_TOKENS_PER_NODE = 2.5  # few files have more words and signs, comments included, for each node of their syntax


def _too_much_python(content: bytes, limits: Limits) -> tuple[int, str]:
    """Number of syntax nodes in a Python file, and why it is not examined: the time of each check grows with them."""
    if len(content) > limits.source:
        return 0, f"it is a Python file larger than {limits.source / 1e6:g} MB"
    if sum(1 for _ in _TOKEN.finditer(content)) > _TOKENS_PER_NODE * limits.nodes:  # before memory is used to parse it
        return 0, "it is too long for a Python file"
    count, depth = syntax_size(content)
    if count > limits.nodes:
        return count, "it is too long for a Python file"
    return count, "its expressions are nested too deeply" if depth > limits.depth else ""


def _data(file: SubmittedFile, files: Mapping[str, bytes]) -> Finding:
    folder, name = "/".join(file.path.split("/")[:2]) + "/", file.path.rpartition("/")[2].encode()
    message = "data and weights are not accepted with the code; it is left out"
    if any(path.startswith(folder) and name in content for path, content in files.items()):
        return file.error("data in code", None, f"{message}, but the plugin names it", _UPLOAD)
    return file.warning("data in code", None, message, _UPLOAD)


_MAX_ENTRIES = 100_000


def read_folder(path: Path, *, limits: Limits | None = None) -> Package:
    """Read a submission from a folder.

    Parameters
    ----------
    path : Path
        A plugin's folder; a folder that contains ``models/``, ``benchmarks/`` and so on; or a checkout of the platform,
        from which the plugins that are not the platform's own are read.
    limits : Limits, optional
        Limits of the submission.

    Returns
    -------
    Package
        Its plugins; the findings list what was left out or moved.

    Raises
    ------
    UserError
        If it cannot be read, is too large, or contains no plugin.
    """
    folder = Path(path).expanduser().absolute()
    if not folder.is_dir():
        raise UserError(f"there is no folder {path}", remedy="name a plugin's folder, or a folder with models/ in it")
    folder, prefix = folder.resolve(), ""
    if folder.parent.name in KIND_FOLDERS:
        prefix = f"{folder.parent.name}/{folder.name}/"
    elif folder.name in KIND_FOLDERS:
        prefix = f"{folder.name}/"
    wrapper = folder.parent.name if folder.name in KIND_FOLDERS else folder.name
    return read_tree(_FolderTree(folder, prefix), limits=limits or Limits(), name=wrapper)


class _FolderTree(Tree):
    """Files below a folder; links are not followed."""

    def __init__(self, folder: Path, prefix: str) -> None:
        self._paths: dict[str, Path] = {}
        self.links: list[str] = []
        for current, folders, files in os.walk(folder):
            folders[:] = sorted(name for name in folders if name not in _JUNK_FOLDERS)
            for path in (Path(current, name) for name in [*folders, *files]):
                tree_path = prefix + path.relative_to(folder).as_posix()
                if path.is_symlink():
                    self.links.append(tree_path)
                elif path.is_file():
                    self._paths[tree_path] = path
            if len(self._paths) > _MAX_ENTRIES:
                raise UserError(f"{folder} holds more than {_MAX_ENTRIES:,} files", remedy="name the plugin's folder")
        self.names = list(self._paths)

    def content(self, path: str, budget: Budget) -> bytes:
        try:
            with self._paths[path].open("rb") as stream:
                content = stream.read(budget.limits.file + 1)
        except OSError as error:
            message = f"{self._paths[path]} cannot be read: {error.strerror}"
            raise UserError(message, remedy="check its permissions") from error
        budget.take(len(content))
        return content


_PACK_AGAIN = "pack it again, with plain files and relative paths"
_LEAST_BOMB = 1_000_000  # bytes
_PIECE = 1 << 16


def read_zip(source: bytes | Path | BinaryIO, *, limits: Limits | None = None, name: str = "") -> Package:
    """Read a submission from a ZIP file.

    Parameters
    ----------
    source : bytes, Path or binary file
        The archive.
    limits : Limits, optional
        Limits of the submission.
    name : str
        Name of the file, for a plugin without a folder of its own; by default that of the path.

    Returns
    -------
    Package
        Its plugins; the findings list what was left out or moved.

    Raises
    ------
    UserError
        If it is not a ZIP file, or is encrypted, too large, or contains links or paths that leave the folder; or if
        there is no plugin in it.

    Examples
    --------
    >>> import io, zipfile
    >>> stream = io.BytesIO()
    >>> with zipfile.ZipFile(stream, "w") as archive:
    ...     archive.writestr("mine/models/m/__init__.py", "model_registry['m'] = print")
    >>> [(plugin.path, plugin.registrations[0].key) for plugin in read_zip(stream.getvalue()).plugins]
    [('models/m', 'm')]
    """
    limits = limits or Limits()
    if isinstance(source, Path):
        name = name or source.name
        try:
            with source.open("rb") as stream:
                content = stream.read(limits.archive + 1)
        except OSError as error:
            raise UserError(f"{source} cannot be read: {error.strerror}", remedy="check the path") from error
    else:
        content = source if isinstance(source, bytes) else source.read(limits.archive + 1)
    if len(content) > limits.archive:
        raise UserError(
            f"the ZIP file is larger than {limits.archive / 1e6:,.0f} MB",
            remedy="send code alone: upload data and weights to the site, and load them from there",
        )
    if not content.startswith(b"PK"):
        raise UserError("this is not a ZIP file", remedy="pack the plugin's folder as ZIP, not as tar, gz or 7z")
    _refuse_many(archives.announced_members(io.BytesIO(content)), limits)
    try:
        with zipfile.ZipFile(io.BytesIO(content)) as archive:
            return read_tree(_ZipTree(archive, limits), limits=limits, name=name.removesuffix(".zip"))
    except (zipfile.BadZipFile, EOFError, NotImplementedError, zlib.error, struct.error, ValueError) as error:
        raise UserError(f"the ZIP file cannot be read: {error}", remedy="it is damaged: pack it again") from error


class _ZipTree(Tree):
    """Members of an archive, all checked before any is unpacked; archives with links are rejected."""

    def __init__(self, archive: zipfile.ZipFile, limits: Limits) -> None:
        self._archive = archive
        members = archive.infolist()
        _refuse_many(len(members), limits)
        self._members: dict[str, zipfile.ZipInfo] = {}
        for member in members:
            path = archives.stored_name(member).replace("\\", "/")
            _refuse_member(member, path)
            if path.endswith("/"):
                continue
            path = "/".join(segment for segment in path.split("/") if segment not in ("", "."))
            if path in self._members:
                raise UserError(f"the ZIP file holds {path!r} twice", remedy=_PACK_AGAIN)
            self._members[path] = member
        self.names = list(self._members)

    def content(self, path: str, budget: Budget) -> bytes:
        member, limits, content = self._members[path], budget.limits, bytearray()
        with self._archive.open(member) as stream:
            while len(content) <= limits.file and (piece := stream.read(_PIECE)):
                content += piece
                budget.take(len(piece))
                if archives.is_bomb(member.compress_size, len(content), ratio=limits.ratio, least=_LEAST_BOMB):
                    raise UserError(
                        f"{member.filename!r} unpacks to more than {limits.ratio} times its size",
                        remedy="send code alone, without generated files",
                    )
        return bytes(content)


def _refuse_member(member: zipfile.ZipInfo, path: str) -> None:
    if archives.leaves_folder(path) or "\0" in path:
        raise UserError(f"the ZIP file holds {path!a}, which leaves its folder", remedy=_PACK_AGAIN)
    if archives.is_special(member):
        raise UserError(f"{path!r} is a link or a device in place of a file", remedy=_PACK_AGAIN)
    if archives.is_encrypted(member):
        raise UserError(f"{path!r} needs a password", remedy="pack it again without a password")


def _refuse_many(count: int | None, limits: Limits) -> None:
    if count is not None and count > limits.members:
        raise UserError(
            f"the ZIP file holds {count:,} files; {limits.members:,} are allowed",
            remedy="send the plugins' folders alone",
        )


FileCategory = Literal["file", "junk", "data", "program"]


def file_category(path: str) -> FileCategory:
    """Category of a file: part of a plugin, leftover of a program, data, or a program.

    Examples
    --------
    >>> [file_category(path) for path in ("models/x/model.py", "x/__pycache__/m.pyc", "x/weights.pth", "x/fast.so")]
    ['file', 'junk', 'data', 'program']
    """
    location = PurePosixPath(path)
    name, suffix = location.name, location.suffix.lower()
    folders = location.parts[:-1]
    is_installed = any(folder.endswith((".egg-info", ".dist-info")) for folder in folders)
    if is_installed or _JUNK_FOLDERS.intersection(folders) or name in _JUNK or suffix in _JUNK_SUFFIXES:
        return "junk"
    if name.startswith(("._", "~$")) or name.endswith("~"):
        return "junk"
    if suffix in _PROGRAM_SUFFIXES:
        return "program"
    return "data" if suffix in _DATA_SUFFIXES else "file"


@dataclass
class Layout:
    """Plugins of a submission, and the destination of each file."""

    # Path of a plugin, ``models/mine`` → its original folder (no parts: the top)
    plugins: dict[str, _Parts] = field(default_factory=dict)
    files: dict[str, str] = field(default_factory=dict)  # path in the submission → original path
    outside: list[str] = field(default_factory=list)  # files outside all plugins
    findings: list[Finding] = field(default_factory=list)  # plugins that were moved, and errors

    def place(self, path: str) -> str | None:
        """Destination of a path; None if it is outside all plugins."""
        segments = tuple(path.split("/"))
        for plugin, folder in self.plugins.items():
            if segments[: len(folder)] == folder and len(segments) > len(folder):
                return "/".join([plugin, *segments[len(folder) :]])
        return None


def plain_name(text: str) -> str:
    """Turn a text into a valid name of a plugin folder; the result may be empty."""
    return re.sub(r"[^A-Za-z0-9_-]+", "_", text).strip("_-")


def plan_layout(names: Sequence[str], starts: Mapping[str, bytes], *, name: str) -> Layout:
    """Determine the plugins, and where each file belongs.

    `starts` are the contents of the files called ``__init__.py``; `name` is that of a plugin without a folder of its
    own, or, if empty, its first identifier. A UserError if there is no plugin, a plugin occurs twice, or its kind is
    ambiguous.
    """
    scans = _scans(starts)
    layout = Layout()
    addresses: dict[_Parts, str] = {}
    for folder in sorted(scans, key=lambda parts: (len(parts), parts)):
        if any(folder[:end] in addresses for end in range(len(folder))):
            continue
        if any(_is_plugin_below(candidate, folder) for candidate in scans):
            message = "it registers something, and so do plugins below it"
            remedy = "register only in the __init__.py of plugins"
            layout.findings.append(SubmittedFile(_start_of(folder)).error("layout", None, message, remedy))
            continue
        addresses[folder] = _address(folder, scans[folder], name)
    for folder in _unregistered(names, addresses):
        addresses[folder] = "/".join(folder[-2:])
    _add_plugins(layout, addresses)
    for path in names:
        target = layout.place(path)
        if target is None:
            layout.outside.append(path)
        else:
            layout.files[target] = path
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


def _is_plugin_below(candidate: _Parts, folder: _Parts) -> bool:
    """Whether `candidate` has the place of a plugin below `folder`, which does not have one itself."""
    in_place = len(folder) >= 2 and folder[-2] in KIND_FOLDERS
    below = len(candidate) > len(folder) and candidate[: len(folder)] == folder
    return not in_place and below and len(candidate) >= 2 and candidate[-2] in KIND_FOLDERS


def _address(folder: _Parts, scan: Scan, name: str) -> str:
    if len(folder) >= 2 and folder[-2] in KIND_FOLDERS:
        return "/".join(folder[-2:])
    keys = [registration.key for registration in scan.registrations]
    first = plain_name(re.split(r"[.-]", keys[0])[0]) if keys else ""
    if folder and folder[-1] in KIND_FOLDERS:
        kind, folder_name = folder[-1], plain_name(folder[-2]) if len(folder) >= 2 else ""
    else:
        kind, folder_name = _kind(folder, scan), plain_name(folder[-1]) if folder else ""
    called = folder_name or plain_name(name) or first
    if not called:
        raise UserError(f"the plugin in {_start_of(folder)} has no name", remedy=_SHAPE)
    return f"{kind}/{called}"


def _kind(folder: _Parts, scan: Scan) -> str:
    registries = [registration.registry for registration in scan.registrations]
    registries = registries or [registry for registry, _ in scan.dynamic]
    kinds = list(dict.fromkeys(REGISTRIES[registry] for registry in registries))
    if len(kinds) > 1:
        raise UserError(
            f"{_start_of(folder)} registers in {' and '.join(kinds)}, so that its kind is ambiguous",
            remedy=_SHAPE,
        )
    return kinds[0]


def _unregistered(names: Iterable[str], addresses: Mapping[_Parts, str]) -> list[_Parts]:
    """Folders in the place of plugins that register nothing: they are reported as errors rather than left out."""
    folders: dict[_Parts, None] = {}
    for path in names:
        segments = tuple(path.split("/"))
        if not path.endswith(".py") or any(segments[:end] in addresses for end in range(len(segments))):
            continue
        for index, name in enumerate(segments[:-2]):
            if name in KIND_FOLDERS and not segments[index + 1].startswith(("_", ".")):
                folders[segments[: index + 2]] = None
                break
    return list(folders)


def _add_plugins(layout: Layout, addresses: Mapping[_Parts, str]) -> None:
    for folder, address in addresses.items():
        if address in layout.plugins:
            first, second = "/".join(layout.plugins[address]) or "the top", "/".join(folder) or "the top"
            raise UserError(
                f"the plugin {address} is there twice: in {first} and in {second}", remedy="send it once, or rename one"
            )
        layout.plugins[address] = folder
        original = "/".join(folder)
        if original != address:
            where = f"{original}/" if original else "the top folder"
            file = SubmittedFile(f"{address}/__init__.py")
            layout.findings.append(file.note("layout", None, f"{where} is read as {address}/", ""))


def _start_of(folder: _Parts) -> str:
    return "/".join([*folder, "__init__.py"])
