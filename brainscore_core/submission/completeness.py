"""What only the author of a plugin can add: sentences of templates to be edited, metadata, and files it opens."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator, Mapping
from dataclasses import fields
from typing import Any

from brainscore_core.benchmarks.metadata import (
    BenchmarkMetadata,
    DataMetadata,
    MetricMetadata,
    StimuliMetadata,
    required_fields,
)
from brainscore_core.domains import Domain
from brainscore_core.errors import nearest
from brainscore_core.submission.package import Finding, Package, SubmittedPlugin
from brainscore_core.submission.plugin_source import Source, called_name, expression_text

PLACEHOLDERS: Mapping[str, str] = {
    "say here in": "describe the plugin there",
    "say here what": "describe the plugin there",
    "put your own network in place of": "describe your network, or remove the sentence",
    "an example to start from": "describe the metric, or remove the sentence",
    "what is made here was never measured": "package your own measurements, or remove the sentence",
    "put your own experiment in its place": "package your own measurements, or remove the sentence",
    "what is registered here is generated": "register your own data, or remove the comment",
    "your paper title": "cite the paper",
    "your title": "cite the paper",
    "journal name": "cite the paper",
    "author, a. and coauthor": "cite the paper",
    "your name": "name the authors",
}
"""Phrases of templates that an author should replace → remedy."""

_EXAMPLE_ADDRESS = re.compile(r"https?://(?:www\.)?example\.(?:org|com)/?(?=[\s\"'}]|$)")
_COMMENT = re.compile(r"#\s?(.*)")


def check_template_texts(source: Source, content: bytes) -> Iterator[Finding]:
    """Find sentences of a template that were not edited, in texts and comments."""
    texts = [(node.value, node.lineno) for node in source.nodes(ast.Constant) if isinstance(node.value, str)]
    lines = content.decode("utf-8", "replace").splitlines()
    texts += [(match[1], number) for number, line in enumerate(lines, 1) if (match := _COMMENT.match(line.strip()))]
    findings: dict[tuple[str, int], Finding] = {}
    for text, line in texts:
        plain = " ".join(text.lower().split())
        for phrase, remedy in PLACEHOLDERS.items():
            if phrase in plain and (remedy, line) not in findings:
                message = f"the text still contains {phrase!r} of the template"
                findings[remedy, line] = source.warning("template", line, message, remedy)
        address = _EXAMPLE_ADDRESS.search(text)
        if address and (text == address[0] or "@" in text):  # a field of METADATA, or a citation
            message = f"{address[0]} is the example address of the template"
            remedy = "give the address of the publication or the code"
            findings[remedy, line] = source.warning("template", line, message, remedy)
    yield from findings.values()


_OF_BENCHMARKS = (BenchmarkMetadata, DataMetadata, MetricMetadata, StimuliMetadata)
_WANTED: Mapping[str, frozenset[str]] = {
    "ModelMetadata": frozenset({"architecture", "parameters", "code_licence", "source", "bibtex"}),
    "BenchmarkMetadata": frozenset({"title", "description", "stimuli", "data", "metric"}),
    "DataMetadata": frozenset({"kind", "species", "task", "method", "n_subjects"}),
    "MetricMetadata": frozenset({"name", "ceiling"}),
    "StimuliMetadata": frozenset({"n", "kind"}),
}
"""Fields that readers of a card look for; the others are only shown if they are known."""


def check_metadata_fields(source: Source, of: Domain) -> Iterator[Finding]:
    """Find fields that ``METADATA`` leaves out or leaves unknown."""
    described = [*_OF_BENCHMARKS, *([of.feature("metadata of a model")] if of.offers("metadata of a model") else [])]
    types: dict[str, type] = {each.__name__: each for each in described}
    for node in source.nodes(ast.Call):
        name = called_name(node)
        if name not in types or node.args:
            continue
        if any(keyword.arg is None for keyword in node.keywords):  # the content of **values is only known at run time
            continue
        stated = {keyword.arg: keyword.value for keyword in node.keywords}
        known_fields: tuple[Any, ...] = fields(types[name])
        names = [entry.name for entry in known_fields]
        for field in stated:
            if field not in names:
                near = nearest(str(field), names, limit=2)
                remedy = f"did you mean {' or '.join(near)}?" if near else f"it has {', '.join(names)}"
                yield source.warning("metadata", node.lineno, f"{name} has no field {field}", remedy)
        if left_out := [field for field in required_fields(types[name]) if field not in stated]:
            remedy = "state the fields; None means that a value is not known, or does not apply"
            yield source.warning("metadata", node.lineno, f"{name} lacks {', '.join(left_out)}", remedy)
        unknown = [
            entry.name
            for entry in known_fields
            if entry.name in _WANTED[name] and entry.name not in left_out and _is_none(stated.get(entry.name))
        ]
        if unknown:
            remedy = "fill in what you know: the site shows it on the card"
            yield source.note("metadata", node.lineno, f"{name} does not state {', '.join(unknown)}", remedy)


def _is_none(node: ast.expr | None) -> bool:
    return node is None or (isinstance(node, ast.Constant) and node.value is None)


_ABSOLUTE = re.compile(
    r"/(?:[^/\s:*?\"'<>|{}]+/)+[^\s\"'<>|]*|~/?[\w.-]*/[^\s\"'<>|]*|file:///?[^\s\"'<>|]*|[A-Za-z]:[\\/][^\s\"'<>|]*|\\\\\w[^\s\"'<>|]*"
)
_HARMLESS = re.compile(r"/dev/(?:null|shm)\b|~/\.brain-score\b")
_OPENERS = frozenset(
    {
        "open",
        "read_csv",
        "read_table",
        "read_excel",
        "read_parquet",
        "read_json",
        "read_pickle",
        "read_hdf",
        "genfromtxt",
    }
    | {"loadtxt", "loadmat", "open_dataset", "load_dataset_file", "open_dataarray", "imread", "listdir", "scandir"}
    | {"File", "fromfile", "memmap"}
)
_LOADERS = frozenset({"np.load", "numpy.load", "torch.load", "joblib.load", "xr.load_dataset", "xr.load_dataarray"})
_PATH_READERS = frozenset({"read_text", "read_bytes", "open", "glob", "rglob", "iterdir"})
_PERSONAL = frozenset({"Path.home", "pathlib.Path.home", "Path.cwd", "pathlib.Path.cwd", "os.getcwd"})
_REMEDY = "put a small file into the plugin's folder, and read it from Path(__file__).parent; upload larger ones"


def is_absolute_path(text: str) -> bool:
    r"""Whether a text is an absolute path, or one in a home folder.

    Examples
    --------
    >>> [is_absolute_path(text) for text in ("/srv/lab/x.nc", "~/data/x.nc", "C:\\lab", "/", "a/b", "https://x.org/a")]
    [True, True, True, False, False, False]
    """
    return _ABSOLUTE.fullmatch(text) is not None and not _HARMLESS.match(text)


def check_opened_files(source: Source, plugin: SubmittedPlugin, package: Package) -> Iterator[Finding]:
    """Find files that the code opens and that are not in the plugin: the site and other users do not have them.

    Absolute paths are found by another check.
    """
    folder = source.path.rpartition("/")[0]
    for node in source.nodes(ast.Call, ast.BinOp):
        if isinstance(node, ast.Call):
            text = expression_text(node.func)
            if text in _PERSONAL:
                yield source.warning("files", node.lineno, f"{text}() differs between machines", _REMEDY)
            for path in _opened_paths(node, text):
                if path.startswith(("/", "~", "\\")) or is_absolute_path(path) or "://" in path:
                    continue
                beside = f"{folder}/{path}" in package.files
                message = f"the code opens {path!r} in the folder in which Python is started"
                remedy = f"read it from the plugin's folder: Path(__file__).parent / {path!r}" if beside else _REMEDY
                yield source.warning("files", node.lineno, message, remedy)
        elif isinstance(node.op, ast.Div):
            yield from _beside_the_code(node, source, plugin, package)


def _opened_paths(call: ast.Call, function: str) -> Iterator[str]:
    """Constant relative paths that a call opens for reading."""
    name = called_name(call)
    if name in _PATH_READERS and isinstance(call.func, ast.Attribute) and called_name(call.func.value) == "Path":
        path = call.func.value
        if isinstance(path, ast.Call) and len(path.args) == 1:
            yield from _constant(path.args[0])
    elif (name in _OPENERS or function in _LOADERS) and call.args and not _writes(call):
        first = call.args[0]
        if isinstance(first, ast.Call) and called_name(first) == "Path" and len(first.args) == 1:
            first = first.args[0]
        yield from _constant(first)


def _constant(node: ast.expr) -> Iterator[str]:
    if isinstance(node, ast.Constant) and isinstance(node.value, str) and node.value:
        yield node.value


def _writes(call: ast.Call) -> bool:
    modes = [*call.args[1:2], *(keyword.value for keyword in call.keywords if keyword.arg == "mode")]
    return any(isinstance(mode, ast.Constant) and set(str(mode.value)) & set("wax") for mode in modes)


def _beside_the_code(node: ast.BinOp, source: Source, plugin: SubmittedPlugin, package: Package) -> Iterator[Finding]:
    """Find paths such as ``Path(__file__).parent / "table.csv"`` that are not in the plugin."""
    segments: list[str] = []
    base: ast.expr = node
    while isinstance(base, ast.BinOp) and isinstance(base.op, ast.Div):
        if not (isinstance(base.right, ast.Constant) and isinstance(base.right.value, str)):
            return
        segments.insert(0, base.right.value)
        base = base.left
    levels = _parents_of_file(base)
    if levels is None or levels < 1:
        return
    folders = source.path.split("/")[:-levels] if levels < source.path.count("/") + 1 else []
    for name in "/".join(segments).split("/"):
        folders = folders[:-1] if name == ".." else folders if name in ("", ".") else [*folders, name]
    path = "/".join(folders)
    if not f"{path}/".startswith(f"{plugin.path}/"):
        message = f"the code uses {'/'.join(segments)!r} outside of its plugin"
        yield source.warning("files", node.lineno, message, _REMEDY)
    elif "." in folders[-1] and path not in package.files:
        message = f"{path.removeprefix(f'{plugin.path}/')!r} is not among the files of the plugin"
        yield Finding(
            "warning", "files", source.path, node.lineno, message, "add the file, or upload it if it is large"
        )


def _parents_of_file(node: ast.expr) -> int | None:
    """How many folders above ``__file__`` an expression such as ``Path(__file__).resolve().parents[1]`` is."""
    levels = 0
    while True:
        if isinstance(node, ast.Attribute) and node.attr == "parent":
            levels, node = levels + 1, node.value
        elif isinstance(node, ast.Subscript) and isinstance(node.value, ast.Attribute) and node.value.attr == "parents":
            if not (isinstance(node.slice, ast.Constant) and isinstance(node.slice.value, int)):
                return None
            levels, node = levels + node.slice.value + 1, node.value.value
        elif isinstance(node, ast.Call) and called_name(node) in ("resolve", "absolute") and not node.args:
            node = node.func.value if isinstance(node.func, ast.Attribute) else node
        elif isinstance(node, ast.Call) and called_name(node) == "Path" and len(node.args) == 1:
            return levels if isinstance(node.args[0], ast.Name) and node.args[0].id == "__file__" else None
        else:
            return None
