"""Examination of a submission without running it: its identifiers, code, tests, metadata and requirements."""

from __future__ import annotations

import ast
import re
import tempfile
from collections.abc import Callable, Iterable, Iterator
from functools import partial
from pathlib import Path

from packaging.requirements import InvalidRequirement, Requirement
from packaging.utils import canonicalize_name

from brainscore_core.benchmarks.metadata import BenchmarkMetadata, described_fields
from brainscore_core.domain_names import DOMAINS, PACKAGES, split_name
from brainscore_core.domains import domain, domains
from brainscore_core.errors import UserError, nearest
from brainscore_core.identifiers import MAX_LENGTH, identifier_problem, similar_form
from brainscore_core.plugins.declared_tests import TestsRead, read_tests
from brainscore_core.plugins.environments import RequirementsError
from brainscore_core.plugins.environments.requirements import FILE_NAME, Line, Refusals, read_lines
from brainscore_core.submission.completeness import (
    check_metadata_fields,
    check_opened_files,
    check_template_texts,
    is_absolute_path,
)
from brainscore_core.submission.package import (
    KIND_FOLDERS,
    REGISTRIES,
    Finding,
    Package,
    Severity,
    SubmittedPlugin,
    sort_findings,
    write_files,
)
from brainscore_core.submission.plugin_source import (
    Source,
    called_name,
    expression_text,
    is_test,
    read_declared,
    sources_of,
    syntax_problem,
)

FindRegistration = Callable[[str, str, str], str | None]
"""``taken(domain, registry, key)`` describes who already registers an identifier, or returns None."""

_METADATA_FILE = "metadata.yml"
_UNIQUE = frozenset({"model_registry", "benchmark_registry"})
"""Registries whose identifiers are unique across domains."""

_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9_-]*")
_CODING = re.compile(rb"[ \t\f]*#.*?coding[:=][ \t]*(?!utf-?8\b)[-_.a-zA-Z0-9]+", re.IGNORECASE)
_BIDIRECTIONAL = re.compile(rb"\xe2\x80[\xaa-\xae]|\xe2\x81[\xa6-\xa9]")  # U+202A to U+202E, U+2066 to U+2069
_NOUNS = {"models": "model", "benchmarks": "benchmark", "data": "data", "metrics": "metric"}
_LOADERS = {
    "benchmarks": ("benchmark", "load_benchmark"),
    "data": ("data", "load_dataset"),
    "metrics": ("metric", "load_metric"),
}
_MACHINE_PATHS = re.compile(
    r"(?:/home/|/Users/|/mnt/|/scratch/|/data/|/om\d?/|/gpfs/|/lustre/|/nfs/|/braintree/|[A-Za-z]:\\)[^\s'\"]*"
)
_WRITERS = frozenset({"write_text", "write_bytes", "mkdir", "makedirs", "to_csv", "to_netcdf", "save", "savez", "dump"})
_NETWORK_MODULES = frozenset({"requests", "urllib3", "httpx", "aiohttp", "socket", "ftplib", "gdown", "wget", "boto3"})
_DOWNLOADERS = frozenset({"urlretrieve", "urlopen", "load_state_dict_from_url", "snapshot_download", "hf_hub_download"})
_PROGRAM_MODULES = frozenset({"subprocess", "multiprocessing", "ctypes", "cffi", "pty", "pip"})
_PROGRAM_CALLS = re.compile(r"os\.(system|popen|fork|forkpty|exec\w+|spawn\w+|posix_spawnp?)|subprocess\.\w+|pip\.main")
_INSTALLER = re.compile(r"\b(pip3?|conda|mamba|uv|apt|apt-get|easy_install)\b")
_INSTALL = re.compile(r"\binstall\b")
_DYNAMIC_CODE = frozenset({"eval", "exec", "compile", "__import__"})
_NO_NETWORK = (
    "models run without network access: upload the weights, and load them with "
    "load_weight_file(bucket, path, version_id, sha1)"
)


def registered_here(of: str, registry: str, key: str) -> str | None:
    """Describe where this platform registers an identifier, or one that looks like it; None if nowhere.

    `of`: name of the domain. Models and benchmarks have names that are unique across domains.
    """
    return _registered(of, registry, key, excluded=frozenset())


def registered_elsewhere(package: Package) -> FindRegistration:
    """Make a function like `registered_here` that ignores registrations of plugins of the same kind and name.

    Parameters
    ----------
    package : Package
        Submission with plugins that this platform may already find, for instance in ``BRAINSCORE_PLUGINS``.
    """
    plugin_paths = frozenset(plugin.path for plugin in package.plugins)
    return lambda of, registry, key: _registered(of, registry, key, excluded=plugin_paths)


def _registered(of: str, registry: str, key: str, *, excluded: frozenset[str]) -> str | None:
    """Describe the registration of an identifier outside the plugins ``excluded`` (``kind/name``)."""
    form = similar_form(key)
    for each in DOMAINS if registry in _UNIQUE else [of]:
        registered = domain(each).plugin_index.locations(registry)
        for name in (key, *(name for name in registered if name != key and similar_form(name) == form)):
            for location in registered.get(name, ()):
                folder = location.folder
                if folder is None or f"{folder.parent.name}/{folder.name}" not in excluded:
                    where = f"{location.package} ({location.source})"
                    return where if name == key else f"it looks like {name!r} of {where}"
    return None


def examine(package: Package, *, taken: FindRegistration = registered_here) -> tuple[Finding, ...]:
    """Find problems of a submission without running its code.

    Parameters
    ----------
    package : Package
        The submission.
    taken : callable
        ``taken(domain, registry, key)`` describes who already registers an identifier, or returns None.

    Returns
    -------
    tuple of Finding
        Sorted by file and line; without the problems found when the submission was read (`Package.findings`).
    """
    return sort_findings([*examine_identifiers(package.plugins, taken=taken), *examine_files(package)])


def examine_files(package: Package) -> tuple[Finding, ...]:
    """Find problems of a submission's files; `examine_identifiers` finds those of its identifiers.

    Parameters
    ----------
    package : Package
        The submission.
    """
    findings = [*_findings_or_error("", lambda: read_declared(package)[1]), *_check_domains(package)]
    with tempfile.TemporaryDirectory(prefix="brainscore-read-") as scratch:
        root = Path(scratch)
        write_files(package.files, root)
        for plugin in package.plugins:
            findings += _check_folder_name(plugin)
            findings += _check_files(package, plugin)
            findings += _check_registrations(package, plugin)
            init_file = f"{plugin.path}/__init__.py"
            findings += _findings_or_error(init_file, partial(_check_code, package, plugin))
            findings += _findings_or_error(init_file, partial(_check_tests, plugin, root / plugin.kind / plugin.name))
            findings += _findings_or_error(init_file, partial(_check_requirements, package, plugin, root))
            findings += _findings_or_error(init_file, partial(_check_metadata, package, plugin, root))
            if plugin.kind == "benchmarks":
                findings += _findings_or_error(init_file, partial(_check_benchmarks, package, plugin))
    return sort_findings(findings)


def _check_domains(package: Package) -> Iterator[Finding]:
    """Find plugins of another domain than the first: a submission is of one domain."""
    for plugin in package.plugins:
        first = package.plugins[0]
        if plugin.domain != first.domain:
            message = f"{plugin.path} is of {plugin.domain}, and {first.path} of {first.domain}"
            remedy = "send the plugins of each domain alone"
            yield Finding("error", "domain", f"{plugin.path}/__init__.py", None, message, remedy)


def _findings_or_error(file: str, check: Callable[[], Iterable[Finding]]) -> list[Finding]:
    """Return the findings of a check, or an error if the check cannot process the code."""
    try:
        return list(check())
    except (ArithmeticError, RecursionError, ValueError) as error:
        message = f"the code cannot be examined: {type(error).__name__}: {str(error)[:200]}"
        return [Finding("error", "syntax", file, None, message, "simplify the code")]


def _check_folder_name(plugin: SubmittedPlugin) -> Iterator[Finding]:
    if not _NAME.fullmatch(plugin.name):
        message = f"a plugin's folder cannot be called {plugin.name!r}: Python could not import it"
        remedy = "use letters, digits, '_' and '-' in its name"
        yield Finding("error", "name", f"{plugin.path}/__init__.py", None, message, remedy)


def _check_files(package: Package, plugin: SubmittedPlugin) -> Iterator[Finding]:
    for path, content in package.of(plugin).items():
        if not path.endswith(".py"):
            continue
        if (problem := syntax_problem(content)) is not None:
            line, reason = problem
            yield Finding("error", "syntax", path, line, f"Python cannot parse the file: {reason}", "fix it")
        for number, text in enumerate(content.split(b"\n"), 1):
            if number <= 2 and _CODING.match(text):
                message = "an encoding other than UTF-8 hides the text"
                yield Finding("error", "encoding", path, number, message, "save the file as UTF-8, and remove the line")
            if _BIDIRECTIONAL.search(text):
                message = "invisible characters change the direction of the text: it runs differently than it looks"
                yield Finding("error", "encoding", path, number, message, "write the character as an escape: '\\u202e'")


def _check_registrations(package: Package, plugin: SubmittedPlugin) -> Iterator[Finding]:
    init_file, noun = f"{plugin.path}/__init__.py", _NOUNS[plugin.kind]
    scan = package.scans[plugin.path]
    own_registries = [registry for registry, kind in REGISTRIES.items() if kind == plugin.kind]
    of = domain(plugin.domain)
    example = f"from {of.package} import {own_registries[0]}, then {own_registries[0]}['identifier'] = …"
    if init_file not in package.files:
        message = "there is no __init__.py to register the plugin"
        yield Finding("error", "registration", init_file, None, message, example)
        return
    if scan.error is not None and syntax_problem(package.files[init_file]) is None:
        message = f"registrations cannot be read: {scan.error.partition(': ')[2]}"
        yield Finding("error", "registration", init_file, None, message, example)
    for registry, line in scan.dynamic:
        message = f"the identifier registered in {registry} is only known when the code runs"
        remedy = f"write the identifier as a literal: {registry}['identifier'] = …"
        yield Finding("error", "registration", init_file, line, message, remedy)
    for registration in plugin.registrations:
        if registration.registry not in of.plugin_index.registries:
            message = f"{of.name} has no {registration.registry}"
            yield Finding("error", "registration", init_file, registration.line, message, example)
        elif REGISTRIES[registration.registry] != plugin.kind:
            message = f"a {noun} plugin registers in {registration.registry}"
            remedy = f"put the registration into a plugin of its own: {REGISTRIES[registration.registry]}/{plugin.name}"
            yield Finding("error", "registration", init_file, registration.line, message, remedy)
    registers = any(registration.registry in own_registries for registration in plugin.registrations)
    if scan.error is None and not scan.dynamic and not registers:
        yield Finding("error", "registration", init_file, None, f"the plugin registers no {noun}", example)


def examine_identifiers(plugins: Iterable[SubmittedPlugin], *, taken: FindRegistration) -> Iterator[Finding]:
    """Find identifiers that are invalid, taken, or registered twice.

    Parameters
    ----------
    plugins : iterable of SubmittedPlugin
        The plugins of a submission.
    taken : callable
        ``taken(domain, registry, key)`` describes who already registers an identifier, or returns None.
    """
    seen: dict[tuple[str, str], tuple[str, str]] = {}
    for plugin in plugins:
        file = f"{plugin.path}/__init__.py"
        for registry, key, line in ((item.registry, item.key, item.line) for item in plugin.registrations):
            if (problem := identifier_problem(key)) is not None:
                remedy = (
                    "begin with a letter or digit, continue with letters, digits and . _ : + @ / -; at most "
                    f"{MAX_LENGTH} characters"
                )
                yield Finding("error", "identifier", file, line, problem, remedy)
            elif ".py:" in key:
                message = f"{key!r} looks like the path of a file and the name of a function in it"
                yield Finding("error", "identifier", file, line, message, "remove '.py:'")
            elif split_name(key)[0] is not None:
                message = f"{key.partition(':')[0]}: stands for a domain in front of a name"
                yield Finding("error", "identifier", file, line, message, "begin it with another word")
            elif any(each.offers("names a model") and each.feature("names a model")(key) for each in domains()):
                message = f"{key!r} means a model of the library {key.partition(':')[0]}, which needs no plugin"
                yield Finding("error", "identifier", file, line, message, "begin it with another word")
            first_file, similar = seen.setdefault((registry, similar_form(key)), (file, key))
            if first_file != file and key != similar:  # a plugin may have several spellings of its name
                message = f"{key!r} looks like {similar!r}, which {first_file} registers"
                yield Finding("error", "identifier", file, line, message, "choose another identifier")
            elif first_file != file:
                message = f"{key!r} is also registered in {first_file}"
                yield Finding("error", "identifier", file, line, message, "register each identifier once")
            if (existing := taken(plugin.domain, registry, key)) is not None:
                message = f"{key!r} is taken: {existing}"
                yield Finding("error", "identifier", file, line, message, "choose another identifier")


def _check_tests(plugin: SubmittedPlugin, folder: Path) -> Iterator[Finding]:
    file, noun = f"{plugin.path}/test.py", _NOUNS[plugin.kind]
    if not folder.is_dir():
        return
    try:
        tests = read_tests(folder)
    except (SyntaxError, ValueError, RecursionError):
        return  # another check reports the error
    test_files = sorted(path.relative_to(folder).as_posix() for path in folder.rglob("*.py") if is_test(path.name))
    if tests is None or "test.py" not in test_files:
        near = nearest("test.py", [path for path in test_files if path != "conftest.py"], limit=1)
        similar = f", only {near[0]}" if near else ""
        yield Finding("error", "tests", file, None, f"there is no test.py{similar}", "write the tests into test.py")
    if tests is None:
        return
    if not tests.tests:
        severity: Severity = "warning" if plugin.kind == "models" else "error"
        message = f"there is no test of the {noun}: no function has a name that begins with test"
        yield Finding(severity, "tests", file, None, message, "write def test_…(): …")
        return
    if plugin.kind in _LOADERS:
        kind, loader = _LOADERS[plugin.kind]
        if kind not in tests.loads:
            message = f"no test loads the {noun} by its identifier"
            remedy = f"write def test_loads(): …, with {loader}('identifier')"
            yield Finding("error", "tests", file, None, message, remedy)
    if plugin.kind == "benchmarks":
        yield from _check_benchmark_tests(file, tests, domain(plugin.domain).examples[0])


def _check_benchmark_tests(file: str, tests: TestsRead, example: str) -> Iterator[Finding]:
    if not tests.ceiling:
        remedy = "write assert 0 < load_benchmark('identifier').ceiling <= 1"
        yield Finding("error", "tests", file, None, "no test checks the ceiling", remedy)
    if not tests.runs:
        remedy = f"write score = load_benchmark('identifier')(load_model({example!r}))"
        yield Finding("error", "tests", file, None, "no test runs the benchmark on a model", remedy)
    elif not tests.score:
        remedy = "document the score of one model: assert float(score) == pytest.approx(0.212, abs=0.005)"
        yield Finding("warning", "tests", file, None, "no test compares a score with a number", remedy)


def _check_code(package: Package, plugin: SubmittedPlugin) -> Iterator[Finding]:
    """Find use of anything outside the plugin: other plugins, local paths, the network, other programs."""
    for source in sources_of(package, plugin):
        yield from _check_registries(source, plugin)
        yield from _check_imports(source, plugin, package)
        yield from _check_paths(source)
        yield from check_template_texts(source, package.files[source.path])
        if not source.is_test:
            yield from _check_programs(source)
            yield from check_opened_files(source, plugin, package)
            yield from check_metadata_fields(source, domain(plugin.domain))
        if plugin.kind == "models" and not source.is_test:
            yield from _check_downloads(source)


def _check_registries(source: Source, plugin: SubmittedPlugin) -> Iterator[Finding]:
    """Find registrations that the plugin index misses, and registries that models must not use."""
    is_init_file = source.path == f"{plugin.path}/__init__.py"
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
            message = f"a model must not use {name}"
            yield Finding("error", "confinement", source.path, line, message, "remove it from the model's code")
    if is_init_file:
        return
    for node in ast.walk(source.tree):
        if not isinstance(node, ast.Assign | ast.Delete):
            continue
        for target in node.targets:
            if isinstance(target, ast.Subscript) and expression_text(target.value).rpartition(".")[2] in REGISTRIES:
                message = "a registration outside __init__.py is not found"
                yield Finding("error", "registration", source.path, node.lineno, message, "move it to __init__.py")


def _check_imports(source: Source, plugin: SubmittedPlugin, package: Package) -> Iterator[Finding]:
    depth = source.path.count("/") - 1  # relative imports with up to this many dots stay within the plugin's folder
    for node in ast.walk(source.tree):
        if isinstance(node, ast.Import):
            modules = [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom) and node.level == 0:
            modules = [node.module or ""]
            modules += [
                f"{node.module}.{alias.name}" for alias in node.names if node.module and node.module.count(".") == 1
            ]
        elif isinstance(node, ast.ImportFrom) and node.level > depth:
            message = "a relative import leaves the plugin's folder"
            remedy = f"write from {domain(plugin.domain).package}.… import …, or copy the module into the folder"
            yield Finding("error", "confinement", source.path, node.lineno, message, remedy)
            continue
        else:
            continue
        for module in modules:
            yield from _check_import(module, source, node.lineno, plugin, package)


def _check_import(
    module: str, source: Source, line: int, plugin: SubmittedPlugin, package: Package
) -> Iterator[Finding]:
    top, *names = module.split(".")
    if top not in PACKAGES or len(names) < 2 or names[0] not in KIND_FOLDERS:
        if not source.is_test and top in _PROGRAM_MODULES:
            message = f"the code uses {top}, which starts other programs or loads native code"
            yield Finding("warning", "programs", source.path, line, message, "remove it if it is not needed")
        return
    path = f"{names[0]}/{names[1]}"
    if path == plugin.path:
        return
    if plugin.kind == "models" and names[0] in ("benchmarks", "data") and not source.is_test:
        message = f"a model imports {path}, but must not know what it is scored on"
        yield Finding("error", "confinement", source.path, line, message, "remove the import from the model's code")
    elif path not in {submitted.path for submitted in package.plugins} and not _is_on_platform(top, *names[:2]):
        message = f"the code imports {path}, which is neither in this submission nor part of the platform"
        remedy = "submit both plugins together, or copy the code into this plugin"
        yield Finding("warning", "confinement", source.path, line, message, remedy)


def _is_on_platform(package: str, kind: str, name: str) -> bool:
    """Whether the platform has a plugin or module of this name, or exports this name, in the package of a kind."""
    folder = Path(__file__).resolve().parents[2] / package / kind
    return (folder / name).is_dir() or (folder / f"{name}.py").is_file() or _exports(folder, name)


def _exports(folder: Path, name: str) -> bool:
    """Whether a name occurs in the ``__init__.py`` of a folder, such as BenchmarkBase in that of ``benchmarks``."""
    try:
        return re.search(rf"\b{re.escape(name)}\b", (folder / "__init__.py").read_text(encoding="utf-8")) is not None
    except OSError:
        return False


def _check_programs(source: Source) -> Iterator[Finding]:
    """Find starts of other programs, installations of packages, and execution of text as code."""
    aliases = {
        alias.asname or alias.name: f"{node.module}.{alias.name}" if isinstance(node, ast.ImportFrom) else alias.name
        for node in ast.walk(source.tree)
        if isinstance(node, ast.Import | ast.ImportFrom)
        for alias in node.names
    }
    for node in ast.walk(source.tree):
        if not isinstance(node, ast.Call):
            continue
        text = expression_text(node.func)
        first, dot, attribute = text.partition(".")
        text = f"{aliases.get(first, first)}{dot}{attribute}"
        starts_program = _PROGRAM_CALLS.fullmatch(text) is not None
        if (starts_program or text.startswith("get_ipython")) and _installs_packages(" ".join(_text_arguments(node))):
            message, remedy = f"{text} installs packages at run time", "list them in requirements.txt"
            yield Finding("error", "programs", source.path, node.lineno, message, remedy)
        elif starts_program:
            message = f"{text} starts another program"
            yield Finding("warning", "programs", source.path, node.lineno, message, "remove it if it is not needed")
        elif text in _DYNAMIC_CODE and text == first:
            message = f"{text} runs code that reviewers cannot see"
            yield Finding("warning", "programs", source.path, node.lineno, message, "write the code directly")


def _installs_packages(text: str) -> bool:
    installer = _INSTALLER.search(text)
    return installer is not None and _INSTALL.search(text, installer.end()) is not None


def _text_arguments(call: ast.Call) -> list[str]:
    return [node.value for node in ast.walk(call) if isinstance(node, ast.Constant) and isinstance(node.value, str)]


def _check_paths(source: Source) -> Iterator[Finding]:
    # docstrings, and other expressions without effect
    docstrings = {id(node.value) for node in ast.walk(source.tree) if isinstance(node, ast.Expr)}
    findings: dict[int, Finding] = {}  # one for each line: calls come before their arguments
    for node in ast.walk(source.tree):
        if isinstance(node, ast.Call) and _writes_to_fixed_path(node):
            message, remedy = "the code writes to a fixed path outside its folder", "use tempfile, or BRAINSCORE_HOME"
            findings.setdefault(node.lineno, Finding("warning", "paths", source.path, node.lineno, message, remedy))
        elif isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in docstrings:
            match = _MACHINE_PATHS.match(node.value)
            if match or is_absolute_path(node.value):
                message = f"{(match[0] if match else node.value)[:80]} exists only on particular machines"
                remedy = "fetch the file by its hash, or read it from the plugin's folder: Path(__file__).parent"
                findings.setdefault(node.lineno, Finding("warning", "paths", source.path, node.lineno, message, remedy))
    yield from findings.values()


def _writes_to_fixed_path(call: ast.Call) -> bool:
    """Whether a call writes to an absolute path, or one in the home folder."""
    name = called_name(call)
    first = call.args[0] if call.args else None
    if name == "open":
        modes = [*call.args[1:2], *(keyword.value for keyword in call.keywords if keyword.arg == "mode")]
        if not any(isinstance(mode, ast.Constant) and set(str(mode.value)) & set("wax+") for mode in modes):
            return False
    elif name not in _WRITERS:
        return False
    possible_paths = [first, *(ast.walk(call.func) if isinstance(call.func, ast.Attribute) else ())]
    return any(
        isinstance(node, ast.Constant) and isinstance(node.value, str) and node.value.startswith(("/", "~"))
        and len(node.value) > 1
        for node in possible_paths
    )  # fmt: skip


def _check_downloads(source: Source) -> Iterator[Finding]:
    """Find what a model would download at run time, when it has no network."""
    for node in ast.walk(source.tree):
        message = ""
        if isinstance(node, ast.Import | ast.ImportFrom):
            names = [alias.name for alias in node.names] if isinstance(node, ast.Import) else [node.module or ""]
            used = _NETWORK_MODULES.intersection(name.partition(".")[0] for name in names)
            message = f"the code uses {', '.join(sorted(used))}" if used else ""
        elif isinstance(node, ast.Call):
            name = called_name(node)
            keywords = {keyword.arg: keyword.value for keyword in node.keywords}
            text = expression_text(node.func)
            if name in _DOWNLOADERS or text in ("torch.hub.load", "hub.load"):
                message = f"{text} downloads files at run time"
            elif (
                name == "from_pretrained"
                or _is_true(keywords.get("pretrained"))
                or _is_weights(keywords.get("weights"))
            ):
                message = f"{text} downloads pretrained weights at run time"
        if message and isinstance(node, ast.stmt | ast.expr):
            yield Finding("warning", "network", source.path, node.lineno, message, _NO_NETWORK)


def _is_true(node: ast.expr | None) -> bool:
    return isinstance(node, ast.Constant) and node.value is True


def _is_weights(node: ast.expr | None) -> bool:
    """Whether an expression names published weights, such as ``'IMAGENET1K_V1'`` or ``ResNet50_Weights.DEFAULT``."""
    if isinstance(node, ast.Constant):
        return isinstance(node.value, str) and bool(re.fullmatch(r"DEFAULT|IMAGENET1K\w*|imagenet", node.value))
    return isinstance(node, ast.Attribute) and "Weights" in expression_text(node)


_BENCHMARK_NAME = re.compile(r"[A-Za-z0-9_]+(?:\.[A-Za-z0-9_]+)*-[A-Za-z0-9_.-]+")
_AUTHOR_YEAR = re.compile(r"[A-Z][A-Za-z]*(19|20)\d\d(?!\d)")
_REQUIRED_ARGUMENTS = {
    "version": "version=1, and increase it whenever scores change",
    "ceiling_func": "ceiling_func=lambda: …, which returns a Score",
    "parent": "parent='IT', or another region, or 'behavior'",
    "bibtex": "bibtex='@article{…}', the citation of the measurements",
}
_BENCHMARK_CLASSES = re.compile(r"\w*Benchmark(Base)?")
_SEE_PAGE = "see the page on benchmarks"


def _check_benchmarks(package: Package, plugin: SubmittedPlugin) -> Iterator[Finding]:
    """Find missing arguments of `BenchmarkBase`: identifier, version, ceiling, parent, bibtex."""
    init_file = f"{plugin.path}/__init__.py"
    for registration in plugin.registrations:
        if registration.registry == "benchmark_registry":
            yield from _check_benchmark_name(registration.key, init_file, registration.line)
    sources = [source for source in sources_of(package, plugin) if not source.is_test]
    calls = [(source, call) for source in sources for call in _benchmark_calls(source)]
    for source, call in calls:
        yield from _check_arguments(source, call)
    if not calls and not any(_uses_benchmark_base(source) for source in sources) and plugin.registrations:
        message = "the benchmark does not use BenchmarkBase"
        remedy = f"let the benchmark inherit from brainscore_core.benchmarks.BenchmarkBase; {_SEE_PAGE}"
        yield Finding("warning", "benchmark", init_file, None, message, remedy)


def _check_benchmark_name(key: str, file: str, line: int) -> Iterator[Finding]:
    if not _BENCHMARK_NAME.fullmatch(key):
        message = f"{key!r} is not written as AuthorYear-metric or AuthorYear.subset-metric"
        remedy = "use letters, digits and '_'; '.' before a subset; '-' before the metric: MajajHong2015.IT-pls"
        yield Finding("warning", "benchmark", file, line, message, remedy)
    elif not _AUTHOR_YEAR.match(key):
        message = f"{key!r} does not begin with an author and a year"
        yield Finding("note", "benchmark", file, line, message, "name the study AuthorYear, such as MajajHong2015")


def _benchmark_calls(source: Source) -> Iterator[ast.Call]:
    """Calls of benchmark classes, or of their ``__init__``, that pass an identifier."""
    for node in ast.walk(source.tree):
        if not isinstance(node, ast.Call) or not any(keyword.arg == "identifier" for keyword in node.keywords):
            continue
        if called_name(node) == "__init__" or _BENCHMARK_CLASSES.fullmatch(called_name(node)):
            yield node


def _uses_benchmark_base(source: Source) -> bool:
    return any(
        isinstance(node, ast.Name | ast.alias)
        and _BENCHMARK_CLASSES.fullmatch(node.id if isinstance(node, ast.Name) else node.name)
        for node in ast.walk(source.tree)
    )


def _check_arguments(source: Source, call: ast.Call) -> Iterator[Finding]:
    keywords = {keyword.arg for keyword in call.keywords}
    if None in keywords or call.args:  # the content of **arguments is only known at run time
        return
    for name, remedy in _REQUIRED_ARGUMENTS.items():
        if name not in keywords and f"{name.removesuffix('_func')}" not in keywords:
            message = f"this call passes no {name.removesuffix('_func')}"
            yield Finding("warning", "benchmark", source.path, call.lineno, message, f"pass {remedy}")
    for keyword in call.keywords:
        value = keyword.value.value if isinstance(keyword.value, ast.Constant) else None
        if keyword.arg == "identifier" and isinstance(value, str) and not _BENCHMARK_NAME.fullmatch(value):
            yield from _check_benchmark_name(value, source.path, keyword.value.lineno)


def _check_metadata(package: Package, plugin: SubmittedPlugin, root: Path) -> Iterator[Finding]:
    """Find missing and invalid metadata of a plugin."""
    of = domain(plugin.domain)
    if plugin.kind == "models" and of.offers("metadata of a model"):
        metadata_class = of.feature("metadata of a model")
    elif plugin.kind == "benchmarks":
        metadata_class = BenchmarkMetadata
    else:
        return
    file = f"{plugin.path}/{_METADATA_FILE}"
    keys = {registration.key for registration in plugin.registrations}
    if file in package.files and of.offers("metadata file"):
        try:
            metadata = of.feature("metadata file")(root / file)
        except UserError as error:
            message = error.message.replace(f"{root / file}", _METADATA_FILE)
            yield Finding("warning", "metadata", file, None, message, error.remedy or "fix it")
            return
        for problem in metadata.problems:
            yield Finding("warning", "metadata", file, None, problem.removeprefix(f"{root / file}: "), "fix it")
        described = set(metadata.models if plugin.kind == "models" else metadata.benchmarks)
        if missing := sorted(keys - described):
            shown = ", ".join(missing[:5]) + (", …" if len(missing) > 5 else "")
            if not _has_python_metadata(package, plugin):
                message = f"{_METADATA_FILE} does not describe {shown}"
                yield Finding("note", "metadata", file, None, message, "add an entry for each")
        return
    if keys and not _has_python_metadata(package, plugin):
        message = f"there is no METADATA, so the site cannot describe this {plugin.kind.removesuffix('s')}"
        example = f"METADATA = {{'identifier': {metadata_class.__name__}(…)}}"
        fields = ", ".join(described_fields(metadata_class))
        remedy = f"write {example} with {fields} into __init__.py, or a {_METADATA_FILE}"
        yield Finding("warning", "metadata", f"{plugin.path}/__init__.py", None, message, remedy)


def _has_python_metadata(package: Package, plugin: SubmittedPlugin) -> bool:
    paths = {f"{plugin.path}/__init__.py", f"{plugin.path}/metadata.py"}
    for source in sources_of(package, plugin):
        if source.path in paths:
            for node in source.tree.body:
                if any(isinstance(child, ast.Name) and child.id == "METADATA" for child in ast.walk(node)):
                    return True
                if isinstance(node, ast.ImportFrom) and any(
                    (alias.asname or alias.name) == "METADATA" for alias in node.names
                ):
                    return True
    return False


_MAX_LINES = 200
_PLATFORM_PACKAGES = frozenset(
    {"brainscore", "brain-score", "brainscore-core", "brain-score-core", "brainio"}
    | {f"{brain}-{name}" for brain in ("brainscore", "brain-score") for name in DOMAINS}
)
_OUR_REPOSITORY = re.compile(
    r"[/:]brain-score/(?:brain-score|brainscore|vision|language|core|brainio)(?:\.git)?(?:[@/#\s]|$)"
)
_RELEASE_REMEDY = "require a released version that has wheels: name==1.2"


def _check_requirements(package: Package, plugin: SubmittedPlugin, root: Path) -> Iterator[Finding]:
    """Find requirements that the site does not install: repositories, URLs, paths, options, invalid lines."""
    path = f"{plugin.path}/{FILE_NAME}"
    if path not in package.files:
        for file in package.of(plugin):
            if file.rpartition("/")[2] in ("setup.py", "environment.yml", "environment.yaml", "pyproject.toml"):
                message = f"{file.rpartition('/')[2]} is ignored"
                yield Finding("warning", "requirements", file, None, message, f"list the requirements in {FILE_NAME}")
        return
    refusals = Refusals(plugin.path)
    try:
        lines = read_lines([root / path], refusals)
    except (RequirementsError, OSError, RecursionError) as error:
        yield Finding("error", "requirements", path, None, str(error).splitlines()[0], "write one requirement per line")
        return
    for line, reason, remedy in refusals.entries:
        yield Finding("error", "requirements", _file_of(line, root), line.number, f"{line.shown}: {reason}", remedy)
    if len(lines) > _MAX_LINES:
        message = f"there are {len(lines)} lines of requirements; {_MAX_LINES} are allowed"
        yield Finding("error", "requirements", path, None, message, "list only packages that the code imports")
        return
    for line in lines:
        for severity, problem, remedy in _requirement_problems(line):
            message = f"{line.shown}: {problem}"
            yield Finding(severity, "requirements", _file_of(line, root), line.number, message, remedy)


def _file_of(line: Line, root: Path) -> str:
    """Return the path of a line's file in the submission."""
    try:
        return line.file.relative_to(root.absolute()).as_posix()
    except ValueError:
        return line.file.name


def _requirement_problems(line: Line) -> Iterator[tuple[Severity, str, str]]:
    if line.option:
        yield "error", "only the site sets options of pip", "remove the line"
        return
    if _OUR_REPOSITORY.search(line.text):
        yield "note", "is the platform itself, which is installed already", "leave the line out"
        return
    if line.text.startswith((".", "/", "~")) or line.text.endswith((".whl", ".tar.gz", ".zip")):
        yield "error", "paths and files are not installed, only released packages", _RELEASE_REMEDY
        return
    if "://" in line.text or line.text.startswith("git+"):
        yield (
            "error",
            "URLs and repositories are not installed, only wheels from the package index",
            _RELEASE_REMEDY,
        )
        return
    try:
        requirement = Requirement(line.text)
    except InvalidRequirement as error:
        reason = " ".join(str(error).split("\n")[0].split())
        yield "error", f"not a valid requirement: {reason}", "write one requirement per line: name==1.2"
        return
    if requirement.url is not None:
        yield "error", "URLs are not installed, only wheels from the package index", _RELEASE_REMEDY
    elif canonicalize_name(requirement.name) in _PLATFORM_PACKAGES:
        yield "note", "is the platform itself, which is installed already", "leave the line out"
