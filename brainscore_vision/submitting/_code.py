"""What a plugin's code does beyond its folder, as far as its source shows."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

from brainscore_vision.submitting._findings import Finding
from brainscore_vision.submitting._package import REGISTRIES, Package, SubmittedPlugin
from brainscore_vision.submitting._source import Source, called, sources_of, written

__all__ = ["check_code"]

_OWN_MACHINE = re.compile(
    r"(?:/home/|/Users/|/mnt/|/scratch/|/data/|/om\d?/|/gpfs/|/lustre/|/nfs/|/braintree/|[A-Za-z]:\\)[^\s'\"]*"
)
_WRITERS = frozenset({"write_text", "write_bytes", "mkdir", "makedirs", "to_csv", "to_netcdf", "save", "savez", "dump"})
_NETWORK = frozenset({"requests", "urllib3", "httpx", "aiohttp", "socket", "ftplib", "gdown", "wget", "boto3"})
_DOWNLOADERS = frozenset({"urlretrieve", "urlopen", "load_state_dict_from_url", "snapshot_download", "hf_hub_download"})
_PROGRAMS = frozenset({"subprocess", "multiprocessing", "ctypes", "cffi", "pty", "pip"})
_STARTERS = re.compile(r"os\.(system|popen|fork|forkpty|exec\w+|spawn\w+|posix_spawnp?)|subprocess\.\w+|pip\.main")
_INSTALLER = re.compile(r"\b(pip3?|conda|mamba|uv|apt|apt-get|easy_install)\b")
_INSTALL = re.compile(r"\binstall\b")
_MAKERS = frozenset({"eval", "exec", "compile", "__import__"})
_NO_NETWORK = (
    "models run without a network: upload the weights, and load them with load_weight_file(bucket, path, version_id, "
    "sha1)"
)
_KINDS = frozenset(REGISTRIES.values())


def check_code(package: Package, plugin: SubmittedPlugin) -> Iterator[Finding]:
    """Find what leads out of the plugin: imports of others, paths of a machine, the network, other programs."""
    for source in sources_of(package, plugin):
        yield from _registries(source, plugin)
        yield from _imports(source, plugin, package)
        yield from _paths(source)
        if not source.is_test:
            yield from _programs(source)
        if plugin.kind == "models" and not source.is_test:
            yield from _fetches(source)


def _registries(source: Source, plugin: SubmittedPlugin) -> Iterator[Finding]:
    """Registrations that the index does not see, and registries that are no model's business."""
    start = source.path == f"{plugin.path}/__init__.py"
    for node in ast.walk(source.tree):
        if isinstance(node, ast.Name):
            name, line = node.id, node.lineno
        elif isinstance(node, ast.Attribute):
            name, line = node.attr, node.lineno
        elif isinstance(node, ast.alias):
            name, line = node.name, node.lineno
        else:
            continue
        foreign = name in REGISTRIES and name != "model_registry"
        if plugin.kind == "models" and foreign and not source.is_test:
            what = f"a model has no business with {name}"
            yield Finding("error", "confinement", source.path, line, what, "leave it out of the model's code")
    if start:
        return
    for node in ast.walk(source.tree):
        if not isinstance(node, ast.Assign | ast.Delete):
            continue
        for target in node.targets:
            if isinstance(target, ast.Subscript) and written(target.value).rpartition(".")[2] in REGISTRIES:
                what = "what is registered outside of __init__.py is not found"
                yield Finding("error", "registration", source.path, node.lineno, what, "register it in __init__.py")


def _imports(source: Source, plugin: SubmittedPlugin, package: Package) -> Iterator[Finding]:
    depth = source.path.count("/") - 1  # how many dots stay within the plugin's folder
    for node in ast.walk(source.tree):
        if isinstance(node, ast.Import):
            modules = [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom) and node.level == 0:
            modules = [node.module or ""]
            modules += [
                f"{node.module}.{alias.name}" for alias in node.names if node.module and node.module.count(".") == 1
            ]
        elif isinstance(node, ast.ImportFrom) and node.level > depth:
            what = "a relative import leads out of the plugin's folder"
            remedy = "write from brainscore_vision.… import …, or put a copy into the folder"
            yield Finding("error", "confinement", source.path, node.lineno, what, remedy)
            continue
        else:
            continue
        for module in modules:
            yield from _import(module, source, node.lineno, plugin, package)


def _import(module: str, source: Source, line: int, plugin: SubmittedPlugin, package: Package) -> Iterator[Finding]:
    top, *rest = module.split(".")
    if top != "brainscore_vision" or len(rest) < 2 or rest[0] not in _KINDS:
        if not source.is_test and top in _PROGRAMS:
            what = f"it uses {top}, which starts other programs or calls into them"
            yield Finding("warning", "programs", source.path, line, what, "leave it out if it is not needed")
        return
    path = f"{rest[0]}/{rest[1]}"
    if path == plugin.path:
        return
    if plugin.kind == "models" and rest[0] in ("benchmarks", "data") and not source.is_test:
        what = f"a model imports {path}: it must not know what it is scored on"
        yield Finding("error", "confinement", source.path, line, what, "leave it out of the model's code")
    elif path not in {one.path for one in package.plugins} and not _is_here(rest[0], rest[1]):
        what = f"it imports {path}, which is neither in this submission nor part of the platform"
        remedy = "send both together, or put a copy into its folder"
        yield Finding("warning", "confinement", source.path, line, what, remedy)


def _is_here(kind: str, name: str) -> bool:
    folder = Path(__file__).resolve().parent.parent / kind
    return (folder / name).is_dir() or (folder / f"{name}.py").is_file() or _exports(folder, name)


def _exports(folder: Path, name: str) -> bool:
    """Whether a name stands in the kind's own ``__init__.py``, such as BenchmarkBase in that of benchmarks."""
    try:
        return re.search(rf"\b{re.escape(name)}\b", (folder / "__init__.py").read_text(encoding="utf-8")) is not None
    except OSError:
        return False


def _programs(source: Source) -> Iterator[Finding]:
    """Programs that it starts, packages that it installs, code that it makes while it runs."""
    aliases = {
        alias.asname or alias.name: f"{node.module}.{alias.name}" if isinstance(node, ast.ImportFrom) else alias.name
        for node in ast.walk(source.tree)
        if isinstance(node, ast.Import | ast.ImportFrom)
        for alias in node.names
    }
    for node in ast.walk(source.tree):
        if not isinstance(node, ast.Call):
            continue
        text = written(node.func)
        first, dot, rest = text.partition(".")
        text = f"{aliases.get(first, first)}{dot}{rest}"
        starts = _STARTERS.fullmatch(text) is not None
        if (starts or text.startswith("get_ipython")) and _installs(" ".join(_words(node))):
            what, remedy = f"{text} installs packages while it runs", "name them in requirements.txt"
            yield Finding("error", "programs", source.path, node.lineno, what, remedy)
        elif starts:
            what = f"{text} starts another program"
            yield Finding("warning", "programs", source.path, node.lineno, what, "leave it out if it is not needed")
        elif text in _MAKERS and text == first:
            what = f"{text} runs what no reviewer sees"
            yield Finding("warning", "programs", source.path, node.lineno, what, "write the code out")


def _installs(text: str) -> bool:
    installer = _INSTALLER.search(text)
    return installer is not None and _INSTALL.search(text, installer.end()) is not None


def _words(call: ast.Call) -> list[str]:
    """Texts among its arguments."""
    return [one.value for one in ast.walk(call) if isinstance(one, ast.Constant) and isinstance(one.value, str)]


def _paths(source: Source) -> Iterator[Finding]:
    documented = _docstrings(source.tree)
    for node in ast.walk(source.tree):
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in documented:
            if match := _OWN_MACHINE.match(node.value):
                what = f"{match[0][:80]} is a path of one machine"
                remedy = "fetch the file by its hash, or look for it beside the code: Path(__file__).parent"
                yield Finding("warning", "paths", source.path, node.lineno, what, remedy)
        elif isinstance(node, ast.Call) and _writes_outside(node):
            what, remedy = "it writes to a fixed place outside of its folder", "use tempfile, or BRAINSCORE_HOME"
            yield Finding("warning", "paths", source.path, node.lineno, what, remedy)


def _docstrings(tree: ast.Module) -> set[int]:
    return {id(node.value) for node in ast.walk(tree) if isinstance(node, ast.Expr)}


def _writes_outside(call: ast.Call) -> bool:
    name = called(call)
    first = call.args[0] if call.args else None
    if name == "open":
        modes = [*call.args[1:2], *(word.value for word in call.keywords if word.arg == "mode")]
        if not any(isinstance(mode, ast.Constant) and set(str(mode.value)) & set("wax+") for mode in modes):
            return False
    elif name not in _WRITERS:
        return False
    places = [first, *(ast.walk(call.func) if isinstance(call.func, ast.Attribute) else ())]
    return any(
        isinstance(one, ast.Constant) and isinstance(one.value, str) and one.value.startswith(("/", "~"))
        and len(one.value) > 1
        for one in places
    )  # fmt: skip


def _fetches(source: Source) -> Iterator[Finding]:
    """What a model would fetch while it runs, when there is no network."""
    for node in ast.walk(source.tree):
        what = ""
        if isinstance(node, ast.Import | ast.ImportFrom):
            names = [alias.name for alias in node.names] if isinstance(node, ast.Import) else [node.module or ""]
            used = _NETWORK.intersection(name.partition(".")[0] for name in names)
            what = f"it uses {', '.join(sorted(used))}" if used else ""
        elif isinstance(node, ast.Call):
            name = called(node)
            words = {word.arg: word.value for word in node.keywords}
            text = written(node.func)
            if name in _DOWNLOADERS or text in ("torch.hub.load", "hub.load"):
                what = f"{text} fetches while it runs"
            elif name == "from_pretrained" or _is_true(words.get("pretrained")) or _is_weights(words.get("weights")):
                what = f"{text} fetches pretrained weights while it runs"
        if what and isinstance(node, ast.stmt | ast.expr):
            yield Finding("warning", "network", source.path, node.lineno, what, _NO_NETWORK)


def _is_true(node: ast.expr | None) -> bool:
    return isinstance(node, ast.Constant) and node.value is True


def _is_weights(node: ast.expr | None) -> bool:
    """Whether it names published weights, such as ``'IMAGENET1K_V1'`` or ``ResNet50_Weights.DEFAULT``."""
    if isinstance(node, ast.Constant):
        return isinstance(node.value, str) and bool(re.fullmatch(r"DEFAULT|IMAGENET1K\w*|imagenet", node.value))
    return isinstance(node, ast.Attribute) and "Weights" in written(node)
