"""Parsing of the Python source of submitted plugins, and of the files that the source declares."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple

from brainscore_core.errors import UserError
from brainscore_core.plugins.source import UNKNOWN, Literals, parse
from brainscore_core.submission.package import Finding, Package, SubmittedFile, SubmittedPlugin


@dataclass(frozen=True)
class Source(SubmittedFile):
    """A Python file: its path in the submission, and its syntax tree."""

    tree: ast.Module

    def nodes(self, *kinds: type[ast.AST]) -> Iterator[Any]:
        """Return all nodes of some kinds, calls before their arguments."""
        return (node for node in ast.walk(self.tree) if isinstance(node, kinds))

    @property
    def is_test(self) -> bool:
        """Whether it holds tests."""
        return is_test(self.path)


def is_test(path: str) -> bool:
    """Whether a file contains tests, by its name."""
    name = path.rpartition("/")[2]
    return name == "conftest.py" or name == "test.py" or (name.startswith("test_") and name.endswith(".py"))


def sources_of(package: Package, plugin: SubmittedPlugin) -> Iterator[Source]:
    """Python files of a plugin that can be parsed."""
    for path, content in package.of(plugin).items():
        if path.endswith(".py") and (tree := _parsed(content)) is not None:
            yield Source(path, tree)


def _parsed(content: bytes) -> ast.Module | None:
    try:
        return parse(content)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return None


def syntax_problem(content: bytes) -> tuple[int | None, str] | None:
    """Line and reason of the first syntax error; None if there is none."""
    try:
        parse(content)
    except SyntaxError as error:
        return error.lineno, error.msg
    except (ValueError, RecursionError, MemoryError) as error:
        return None, str(error) or "it is nested too deeply"
    return None


def syntax_size(content: bytes) -> tuple[int, int]:
    """Number of syntax nodes in a Python file, and nesting of its expressions; 0 if it cannot be parsed."""
    tree = _parsed(content)
    waiting: list[tuple[ast.AST, int]] = [] if tree is None else [(tree, 0)]
    count = deepest = 0
    while waiting:
        node, depth = waiting.pop()
        count += 1
        deepest = max(deepest, depth)
        waiting += [(child, depth + isinstance(child, ast.expr)) for child in ast.iter_child_nodes(node)]
    return count, deepest


def expression_text(node: ast.AST) -> str:
    """Source of an expression; empty if it cannot be written."""
    try:
        return ast.unparse(node)
    except (ValueError, RecursionError):  # numbers with thousands of digits; nesting that is too deep
        return ""


def called_name(node: ast.AST) -> str:
    """Last part of the name of the called function; empty if it has no name."""
    if not isinstance(node, ast.Call):
        return ""
    if isinstance(node.func, ast.Attribute):
        return node.func.attr
    return node.func.id if isinstance(node.func, ast.Name) else ""


_FORMS: Mapping[str, tuple[str, ...]] = {
    "load_stimulus_set_from_s3": (
        *("identifier", "bucket", "csv_sha1", "zip_sha1", "csv_version_id", "zip_version_id", "filename_prefix"),
    ),
    "load_assembly_from_s3": (
        *("identifier", "version_id", "sha1", "bucket", "cls", "stimulus_set_loader", "merge_stimulus_set_meta"),
        "filename_prefix",
    ),
    "load_file_from_s3": ("bucket", "path", "local_filepath", "sha1", "version_id"),
    "load_folder_from_s3": ("bucket", "folder_path", "filename_version_sha", "save_directory"),
    "load_file": ("bucket", "relative_path", "version_id", "folder_name", "sha1"),
    "load_weight_file": ("bucket", "relative_path", "version_id", "sha1", "folder_name"),
    "load_stimulus_set_from_url": ("identifier", "csv_url", "csv_sha256", "zip_url", "zip_sha256", "files"),
    "load_assembly_from_url": ("identifier", "url", "sha256", "cls", "stimulus_set_loader", "merge_stimulus_set_meta"),
    "load_file_from_url": ("url", "local_filepath", "sha1", "sha256"),
    "fetch": ("url", "sha256", "sha1", "version_id"),
    "download_weight_file": ("url", "folder", "sha256"),
}
"""Loader → its arguments in order."""
_NEEDED = frozenset(
    {"identifier", "bucket", "path", "relative_path", "folder_path", "url", "csv_url", "filename_version_sha"}
)
_COULD_BE_OTHERS = frozenset({"fetch", "load_file"})  # names that plugins may use for functions of their own
_CHECK = "declared files"
_UPLOAD = "register the lines that the upload printed, unchanged"


@dataclass(frozen=True)
class DeclaredFile:
    """A file that a plugin fetches.

    Attributes
    ----------
    url : str
        Address.
    sha1, sha256, version_id : str or None
        Expected hash and version.
    bucket : str
        Bucket of the object, as named by the plugin; empty for other files on the web.
    file, line : str, int
        Where the plugin declares it.
    """

    url: str
    sha1: str | None
    sha256: str | None
    version_id: str | None
    bucket: str
    file: str
    line: int


class _FileArguments(NamedTuple):
    """A file that a call fetches, before its address is known."""

    bucket: str
    key: str
    sha1: object = None
    sha256: object = None
    version_id: object = None
    names: tuple[str, str] = ("sha1", "version_id")
    """Names of the arguments for hash and version."""


def declared_files(package: Package) -> tuple[DeclaredFile, ...]:
    """Files that the plugins fetch, without duplicates, as far as the source declares them with literals.

    Parameters
    ----------
    package : Package
        The submission.

    Returns
    -------
    tuple of DeclaredFile
        Files whose address can be read; a hash that cannot be read is None. `examine` reports what is wrong with them.
    """
    return read_declared(package)[0]


def read_declared(package: Package) -> tuple[tuple[DeclaredFile, ...], list[Finding]]:
    """Declared files, and findings about their declarations."""
    files: dict[tuple[str, object, object, object], DeclaredFile] = {}
    findings: list[Finding] = []
    with package.on_disk(".py") as folder:
        for source in (each for plugin in package.plugins for each in sources_of(package, plugin) if not each.is_test):
            literals = Literals(source.tree, (folder / source.path).parent)
            for call in _calls(source):
                for item in _read(call, literals, source, findings):
                    files.setdefault((item.url, item.sha1, item.sha256, item.version_id), item)
    return tuple(files.values()), findings


def _calls(source: Source) -> Iterator[ast.Call]:
    functions = {node.name for node in source.nodes(ast.FunctionDef)}
    imported = {alias.asname or alias.name for node in source.nodes(ast.ImportFrom) for alias in node.names}
    for node in source.nodes(ast.Call):
        name = called_name(node)
        is_loader = name not in _COULD_BE_OTHERS or (isinstance(node.func, ast.Name) and name in imported)
        if name in _FORMS and name not in functions and is_loader:
            yield node


def _read(call: ast.Call, literals: Literals, source: Source, findings: list[Finding]) -> Iterator[DeclaredFile]:
    form = _FORMS[called_name(call)]
    stated = {name: literals.evaluate(node, {}) for name, node in zip(form, call.args, strict=False)}
    stated |= {word.arg: literals.evaluate(word.value, {}) for word in call.keywords if word.arg}
    unclear = any(word.arg is None for word in call.keywords) or any(isinstance(arg, ast.Starred) for arg in call.args)
    unclear |= any(stated.get(name) is UNKNOWN for name in ("zip_url", "files", "folder_name", "filename_prefix"))
    if unclear or any(name in _NEEDED and not isinstance(stated.get(name), str | list) for name in form):
        message = f"what {called_name(call)} fetches is only known when the code runs, so it is not fetched beforehand"
        remedy = "write its arguments out: buckets, paths, versions and hashes as texts"
        findings.append(source.warning(_CHECK, call.lineno, message, remedy))
        return
    try:
        for arguments in _file_arguments(called_name(call), stated):
            yield _declared(arguments, source, call, findings)
    except (UserError, ValueError, TypeError) as error:
        message = error.message if isinstance(error, UserError) else f"{called_name(call)}: {error}"
        findings.append(source.error(_CHECK, call.lineno, message, _UPLOAD))


def _file_arguments(name: str, arguments: Mapping[str, object]) -> Iterator[_FileArguments]:
    get = arguments.get
    bucket, identifier = str(get("bucket") or ""), str(get("identifier") or "").replace(".", "_")
    if name == "load_stimulus_set_from_s3":
        stem = str(get("filename_prefix", "stimulus_")) + identifier
        for kind in ("csv", "zip"):
            sha1, sha256 = get(f"{kind}_sha1"), get(f"{kind}_sha256")
            names = (f"{kind}_sha1", f"{kind}_version_id")
            if kind == "csv" or "zip_sha1" not in arguments or sha1 is not None or sha256 is not None:
                yield _FileArguments(bucket, f"{stem}.{kind}", sha1, sha256, get(f"{kind}_version_id"), names)
    elif name == "load_assembly_from_s3":
        stem = str(get("filename_prefix", "assy_")) + identifier
        yield _FileArguments(bucket, f"{stem}.nc", get("sha1"), get("sha256"), get("version_id"))
    elif name == "load_file_from_s3":
        yield _FileArguments(bucket, str(get("path")), get("sha1"), get("sha256"), get("version_id"))
    elif name in ("load_file", "load_weight_file"):
        folder = get("folder_name")
        folder = "models" if folder is None else str(folder).strip("/")
        key = f"{folder}/{get('relative_path')}"
        yield _FileArguments(bucket, key, get("sha1"), get("sha256"), get("version_id"))
    elif name == "load_folder_from_s3":
        rows = get("filename_version_sha")
        for file, version, sha1 in rows if isinstance(rows, list) else ():
            yield _FileArguments(bucket, f"{get('folder_path')}/{file}", sha1, None, version)
    elif name == "load_stimulus_set_from_url":
        yield _FileArguments("", str(get("csv_url")), get("csv_sha1"), get("csv_sha256"), None, ("csv_sha256", ""))
        if get("zip_url") is not None:
            yield _FileArguments("", str(get("zip_url")), get("zip_sha1"), get("zip_sha256"), None, ("zip_sha256", ""))
        for file in _listed(get("files")):
            yield _FileArguments("", str(file.get("url")), file.get("sha1"), file.get("sha256"), None, ("sha256", ""))
    else:
        yield _FileArguments("", str(get("url")), get("sha1"), get("sha256"), get("version_id"), ("sha256", ""))


def _listed(files: object) -> list[Mapping[str, object]]:
    """Single files, in place of an archive."""
    if files is None:
        return []
    if not isinstance(files, list) or not all(isinstance(file, dict) for file in files):
        raise UserError("which files belong to the stimuli is only known when the code runs")
    return files


def _declared(arguments: _FileArguments, source: Source, call: ast.Call, findings: list[Finding]) -> DeclaredFile:
    url = arguments.key
    if arguments.bucket:
        from brainscore_core.supported_data_standards.brainio.remote_files import object_request

        url = object_request(arguments.bucket, arguments.key, sha1=None, version_id=None).url
    elif not url.startswith(("https://", "http://")):
        raise UserError(f"{url!r} is not a web address")
    hash_name, version_name = arguments.names
    shown = arguments.key.rpartition("/")[2]
    unknown = "is only known when the code runs"
    hashes: list[str | None] = []
    for name, value, digits in (("sha1", arguments.sha1, 40), ("sha256", arguments.sha256, 64)):
        is_hash = isinstance(value, str) and re.fullmatch(rf"[0-9a-fA-F]{{{digits}}}", value)
        hashes.append(str(value).lower() if is_hash else None)
        if value is UNKNOWN:
            message = f"the hash of {shown} {unknown}"
            findings.append(source.warning(_CHECK, call.lineno, message, "write it out as a text"))
        elif value is not None and not is_hash:
            message = f"the hash of {shown} is {value!r}, which is not a {name}, which has {digits} hexadecimal digits"
            findings.append(source.error(_CHECK, call.lineno, message, "pass the hash that packaging printed"))
    if arguments.sha1 is None and arguments.sha256 is None:
        message, remedy = f"{shown} is fetched without a hash", f"pass {hash_name}, which fetching verifies"
        findings.append(source.error(_CHECK, call.lineno, message, remedy))
    version = arguments.version_id
    if version is UNKNOWN:
        message = f"{version_name} of {shown} {unknown}"
        findings.append(source.warning(_CHECK, call.lineno, message, "write it out as a text"))
    elif arguments.bucket and version_name and not version:
        message = f"{shown} has no {version_name}: a later upload of the same name replaces it"
        findings.append(source.warning(_CHECK, call.lineno, message, "pass the version that the upload printed"))
    text = str(version) if isinstance(version, str) and version else None
    return DeclaredFile(url, hashes[0], hashes[1], text, arguments.bucket, source.path, call.lineno)
