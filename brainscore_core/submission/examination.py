"""Examination of a submission without running it: its identifiers, code, tests, metadata and requirements."""

from __future__ import annotations

import ast
import re
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
    SubmittedFile,
    SubmittedPlugin,
    sort_findings,
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
    with package.on_disk() as root:
        for plugin in package.plugins:
            if not _NAME.fullmatch(plugin.name):
                message = f"a plugin's folder cannot be called {plugin.name!r}: Python could not import it"
                findings.append(
                    plugin.start.error("name", None, message, "use letters, digits, '_' and '-' in its name")
                )
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
            yield plugin.start.error("domain", None, message, remedy)


def _findings_or_error(file: str, check: Callable[[], Iterable[Finding]]) -> list[Finding]:
    """Return the findings of a check, or an error if the check cannot process the code."""
    try:
        return list(check())
    except (ArithmeticError, RecursionError, ValueError) as error:
        message = f"the code cannot be examined: {type(error).__name__}: {str(error)[:200]}"
        return [SubmittedFile(file).error("syntax", None, message, "simplify the code")]


def _check_files(package: Package, plugin: SubmittedPlugin) -> Iterator[Finding]:
    for path, content in package.of(plugin).items():
        if not path.endswith(".py"):
            continue
        file = SubmittedFile(path)
        if (problem := syntax_problem(content)) is not None:
            line, reason = problem
            yield file.error("syntax", line, f"Python cannot parse the file: {reason}", "fix it")
        for number, text in enumerate(content.split(b"\n"), 1):
            if number <= 2 and _CODING.match(text):
                message = "an encoding other than UTF-8 hides the text"
                yield file.error("encoding", number, message, "save the file as UTF-8, and remove the line")
            if _BIDIRECTIONAL.search(text):
                message = "invisible characters change the direction of the text: it runs differently than it looks"
                yield file.error("encoding", number, message, "write the character as an escape: '\\u202e'")


def _check_registrations(package: Package, plugin: SubmittedPlugin) -> Iterator[Finding]:
    init_file, noun = f"{plugin.path}/__init__.py", _NOUNS[plugin.kind]
    scan = package.scans[plugin.path]
    own_registries = [registry for registry, kind in REGISTRIES.items() if kind == plugin.kind]
    of = domain(plugin.domain)
    example = f"from {of.package} import {own_registries[0]}, then {own_registries[0]}['identifier'] = …"
    if init_file not in package.files:
        yield plugin.start.error("registration", None, "there is no __init__.py to register the plugin", example)
        return
    if scan.error is not None and syntax_problem(package.files[init_file]) is None:
        message = f"registrations cannot be read: {scan.error.partition(': ')[2]}"
        yield plugin.start.error("registration", None, message, example)
    for registry, line in scan.dynamic:
        message = f"the identifier registered in {registry} is only known when the code runs"
        remedy = f"write the identifier as a literal: {registry}['identifier'] = …"
        yield plugin.start.error("registration", line, message, remedy)
    for registration in plugin.registrations:
        if registration.registry not in of.plugin_index.registries:
            message = f"{of.name} has no {registration.registry}"
            yield plugin.start.error("registration", registration.line, message, example)
        elif REGISTRIES[registration.registry] != plugin.kind:
            message = f"a {noun} plugin registers in {registration.registry}"
            remedy = f"put the registration into a plugin of its own: {REGISTRIES[registration.registry]}/{plugin.name}"
            yield plugin.start.error("registration", registration.line, message, remedy)
    registers = any(registration.registry in own_registries for registration in plugin.registrations)
    if scan.error is None and not scan.dynamic and not registers:
        yield plugin.start.error("registration", None, f"the plugin registers no {noun}", example)


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
        for registry, key, line in ((item.registry, item.key, item.line) for item in plugin.registrations):
            problems = [*_invalid_identifier(key)]
            first_file, similar = seen.setdefault((registry, similar_form(key)), (plugin.start.path, key))
            if first_file != plugin.start.path and key != similar:  # a plugin may have several spellings of its name
                problems.append((f"{key!r} looks like {similar!r}, which {first_file} registers", _ANOTHER))
            elif first_file != plugin.start.path:
                problems.append((f"{key!r} is also registered in {first_file}", "register each identifier once"))
            if (existing := taken(plugin.domain, registry, key)) is not None:
                problems.append((f"{key!r} is taken: {existing}", _ANOTHER))
            for message, remedy in problems:
                yield plugin.start.error("identifier", line, message, remedy)


_ANOTHER = "choose another identifier"


def _invalid_identifier(key: str) -> Iterator[tuple[str, str]]:
    """Why an identifier cannot be registered, and what to do."""
    prefix = key.partition(":")[0]
    if (problem := identifier_problem(key)) is not None:
        allowed = "begin with a letter or digit, continue with letters, digits and . _ : + @ / -"
        yield problem, f"{allowed}; at most {MAX_LENGTH} characters"
    elif ".py:" in key:
        yield f"{key!r} looks like the path of a file and the name of a function in it", "remove '.py:'"
    elif split_name(key)[0] is not None:
        yield f"{prefix}: stands for a domain in front of a name", "begin it with another word"
    elif any(each.offers("names a model") and each.feature("names a model")(key) for each in domains()):
        yield f"{key!r} means a model of the library {prefix}, which needs no plugin", "begin it with another word"


def _check_tests(plugin: SubmittedPlugin, folder: Path) -> Iterator[Finding]:
    file, noun = SubmittedFile(f"{plugin.path}/test.py"), _NOUNS[plugin.kind]
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
        yield file.error("tests", None, f"there is no test.py{similar}", "write the tests into test.py")
    if tests is None:
        return
    if not tests.tests:
        report = file.warning if plugin.kind == "models" else file.error
        message = f"there is no test of the {noun}: no function has a name that begins with test"
        yield report("tests", None, message, "write def test_…(): …")
        return
    if plugin.kind in _LOADERS:
        kind, loader = _LOADERS[plugin.kind]
        if kind not in tests.loads:
            remedy = f"write def test_loads(): …, with {loader}('identifier')"
            yield file.error("tests", None, f"no test loads the {noun} by its identifier", remedy)
    if plugin.kind == "benchmarks":
        yield from _check_benchmark_tests(file, tests, domain(plugin.domain).examples[0])


def _check_benchmark_tests(file: SubmittedFile, tests: TestsRead, example: str) -> Iterator[Finding]:
    if not tests.ceiling:
        remedy = "write assert 0 < load_benchmark('identifier').ceiling <= 1"
        yield file.error("tests", None, "no test checks the ceiling", remedy)
    if not tests.runs:
        remedy = f"write score = load_benchmark('identifier')(load_model({example!r}))"
        yield file.error("tests", None, "no test runs the benchmark on a model", remedy)
    elif not tests.score:
        remedy = "document the score of one model: assert float(score) == pytest.approx(0.212, abs=0.005)"
        yield file.warning("tests", None, "no test compares a score with a number", remedy)


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
    if plugin.kind == "models" and not source.is_test:
        for node in source.nodes(ast.Name, ast.Attribute, ast.alias):
            name = (
                node.id if isinstance(node, ast.Name) else node.attr if isinstance(node, ast.Attribute) else node.name
            )
            if name in REGISTRIES and name != "model_registry":
                message = f"a model must not use {name}"
                yield source.error("confinement", node.lineno, message, "remove it from the model's code")
    for statement in source.nodes(ast.Assign, ast.Delete) if source.path != plugin.start.path else ():
        for target in statement.targets:
            if isinstance(target, ast.Subscript) and expression_text(target.value).rpartition(".")[2] in REGISTRIES:
                message = "a registration outside __init__.py is not found"
                yield source.error("registration", statement.lineno, message, "move it to __init__.py")


def _check_imports(source: Source, plugin: SubmittedPlugin, package: Package) -> Iterator[Finding]:
    depth = source.path.count("/") - 1  # relative imports with up to this many dots stay within the plugin's folder
    for node in source.nodes(ast.Import, ast.ImportFrom):
        if isinstance(node, ast.ImportFrom) and node.level > depth:
            message = "a relative import leaves the plugin's folder"
            remedy = f"write from {domain(plugin.domain).package}.… import …, or copy the module into the folder"
            yield source.error("confinement", node.lineno, message, remedy)
        elif isinstance(node, ast.Import):
            for alias in node.names:
                yield from _check_import(alias.name, source, node.lineno, plugin, package)
        elif node.level == 0:
            module = node.module or ""
            names = [f"{module}.{alias.name}" for alias in node.names if module.count(".") == 1]
            for name in (module, *names):
                yield from _check_import(name, source, node.lineno, plugin, package)


def _check_import(
    module: str, source: Source, line: int, plugin: SubmittedPlugin, package: Package
) -> Iterator[Finding]:
    top, *names = module.split(".")
    if top not in PACKAGES or len(names) < 2 or names[0] not in KIND_FOLDERS:
        if not source.is_test and top in _PROGRAM_MODULES:
            message = f"the code uses {top}, which starts other programs or loads native code"
            yield source.warning("programs", line, message, "remove it if it is not needed")
        return
    path = f"{names[0]}/{names[1]}"
    if path == plugin.path:
        return
    if plugin.kind == "models" and names[0] in ("benchmarks", "data") and not source.is_test:
        message = f"a model imports {path}, but must not know what it is scored on"
        yield source.error("confinement", line, message, "remove the import from the model's code")
    elif path not in {submitted.path for submitted in package.plugins} and not _is_on_platform(top, *names[:2]):
        message = f"the code imports {path}, which is neither in this submission nor part of the platform"
        yield source.warning(
            "confinement", line, message, "submit both plugins together, or copy the code into this plugin"
        )


def _is_on_platform(package: str, kind: str, name: str) -> bool:
    """Whether the platform has a plugin or module of this name in the package of a kind, or exports this name there."""
    folder = Path(__file__).resolve().parents[2] / package / kind
    if (folder / name).is_dir() or (folder / f"{name}.py").is_file():
        return True
    start = folder / "__init__.py"  # such as that of ``benchmarks``, which exports BenchmarkBase
    return start.is_file() and re.search(rf"\b{re.escape(name)}\b", start.read_text(encoding="utf-8")) is not None


def _check_programs(source: Source) -> Iterator[Finding]:
    """Find starts of other programs, installations of packages, and execution of text as code."""
    aliases = {
        alias.asname or alias.name: f"{node.module}.{alias.name}" if isinstance(node, ast.ImportFrom) else alias.name
        for node in source.nodes(ast.Import, ast.ImportFrom)
        for alias in node.names
    }
    for node in source.nodes(ast.Call):
        first, dot, attribute = expression_text(node.func).partition(".")
        text = f"{aliases.get(first, first)}{dot}{attribute}"
        starts_program = _PROGRAM_CALLS.fullmatch(text) is not None
        if (starts_program or text.startswith("get_ipython")) and _installs_packages(_words_of(node)):
            message = f"{text} installs packages at run time"
            yield source.error("programs", node.lineno, message, "list them in requirements.txt")
        elif starts_program:
            message = f"{text} starts another program"
            yield source.warning("programs", node.lineno, message, "remove it if it is not needed")
        elif text in _DYNAMIC_CODE and text == first:
            message = f"{text} runs code that reviewers cannot see"
            yield source.warning("programs", node.lineno, message, "write the code directly")


def _words_of(call: ast.Call) -> str:
    constants = (node.value for node in ast.walk(call) if isinstance(node, ast.Constant))
    return " ".join(value for value in constants if isinstance(value, str))


def _installs_packages(text: str) -> bool:
    installer = _INSTALLER.search(text)
    return installer is not None and _INSTALL.search(text, installer.end()) is not None


def _check_paths(source: Source) -> Iterator[Finding]:
    docstrings = {id(node.value) for node in source.nodes(ast.Expr)}  # and other expressions without effect
    findings: dict[int, Finding] = {}  # one for each line: calls come before their arguments
    for node in source.nodes(ast.Call, ast.Constant):
        if isinstance(node, ast.Call) and _writes_to_fixed_path(node):
            message, remedy = "the code writes to a fixed path outside its folder", "use tempfile, or BRAINSCORE_HOME"
            findings.setdefault(node.lineno, source.warning("paths", node.lineno, message, remedy))
        elif isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in docstrings:
            match = _MACHINE_PATHS.match(node.value)
            if match or is_absolute_path(node.value):
                message = f"{(match[0] if match else node.value)[:80]} exists only on particular machines"
                remedy = "fetch the file by its hash, or read it from the plugin's folder: Path(__file__).parent"
                findings.setdefault(node.lineno, source.warning("paths", node.lineno, message, remedy))
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
    for node in source.nodes(ast.Import, ast.ImportFrom, ast.Call):
        message = ""
        if isinstance(node, ast.Call):
            name, text = called_name(node), expression_text(node.func)
            keywords = {keyword.arg: keyword.value for keyword in node.keywords}
            pretrained, weights = keywords.get("pretrained"), keywords.get("weights")
            if name in _DOWNLOADERS or text in ("torch.hub.load", "hub.load"):
                message = f"{text} downloads files at run time"
            elif name == "from_pretrained" or getattr(pretrained, "value", None) is True or _is_weights(weights):
                message = f"{text} downloads pretrained weights at run time"
        else:
            names = [alias.name for alias in node.names] if isinstance(node, ast.Import) else [node.module or ""]
            used = _NETWORK_MODULES.intersection(name.partition(".")[0] for name in names)
            message = f"the code uses {', '.join(sorted(used))}" if used else ""
        if message:
            yield source.warning("network", node.lineno, message, _NO_NETWORK)


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
    for registration in plugin.registrations:
        if registration.registry == "benchmark_registry":
            yield from _check_benchmark_name(registration.key, plugin.start, registration.line)
    sources = [source for source in sources_of(package, plugin) if not source.is_test]
    calls = [(source, call) for source in sources for call in source.nodes(ast.Call) if _makes_benchmark(call)]
    for source, call in calls:
        yield from _check_arguments(source, call)
    nodes = (node for source in sources for node in source.nodes(ast.Name, ast.alias))
    names = (node.id if isinstance(node, ast.Name) else node.name for node in nodes)
    if not calls and plugin.registrations and not any(map(_BENCHMARK_CLASSES.fullmatch, names)):
        remedy = f"let the benchmark inherit from brainscore_core.benchmarks.BenchmarkBase; {_SEE_PAGE}"
        yield plugin.start.warning("benchmark", None, "the benchmark does not use BenchmarkBase", remedy)


def _check_benchmark_name(key: str, file: SubmittedFile, line: int) -> Iterator[Finding]:
    if not _BENCHMARK_NAME.fullmatch(key):
        message = f"{key!r} is not written as AuthorYear-metric or AuthorYear.subset-metric"
        remedy = "use letters, digits and '_'; '.' before a subset; '-' before the metric: MajajHong2015.IT-pls"
        yield file.warning("benchmark", line, message, remedy)
    elif not _AUTHOR_YEAR.match(key):
        message = f"{key!r} does not begin with an author and a year"
        yield file.note("benchmark", line, message, "name the study AuthorYear, such as MajajHong2015")


def _makes_benchmark(call: ast.Call) -> bool:
    """Whether a call of a benchmark class, or of its ``__init__``, passes an identifier."""
    name = called_name(call)
    is_class = name == "__init__" or _BENCHMARK_CLASSES.fullmatch(name)
    return bool(is_class) and any(keyword.arg == "identifier" for keyword in call.keywords)


def _check_arguments(source: Source, call: ast.Call) -> Iterator[Finding]:
    keywords = {keyword.arg for keyword in call.keywords}
    if None in keywords or call.args:  # the content of **arguments is only known at run time
        return
    for name, remedy in _REQUIRED_ARGUMENTS.items():
        if name not in keywords and f"{name.removesuffix('_func')}" not in keywords:
            message = f"this call passes no {name.removesuffix('_func')}"
            yield source.warning("benchmark", call.lineno, message, f"pass {remedy}")
    for keyword in call.keywords:
        value = keyword.value.value if isinstance(keyword.value, ast.Constant) else None
        if keyword.arg == "identifier" and isinstance(value, str) and not _BENCHMARK_NAME.fullmatch(value):
            yield from _check_benchmark_name(value, source, keyword.value.lineno)


def _check_metadata(package: Package, plugin: SubmittedPlugin, root: Path) -> Iterator[Finding]:
    """Find missing and invalid metadata of a plugin."""
    of = domain(plugin.domain)
    if plugin.kind == "models" and of.offers("metadata of a model"):
        metadata_class = of.feature("metadata of a model")
    elif plugin.kind == "benchmarks":
        metadata_class = BenchmarkMetadata
    else:
        return
    file = SubmittedFile(f"{plugin.path}/{_METADATA_FILE}")
    path, keys = root / file.path, {registration.key for registration in plugin.registrations}
    if file.path in package.files and of.offers("metadata file"):
        try:
            metadata = of.feature("metadata file")(path)
        except UserError as error:
            message = error.message.replace(f"{path}", _METADATA_FILE)
            yield file.warning("metadata", None, message, error.remedy or "fix it")
            return
        for problem in metadata.problems:
            yield file.warning("metadata", None, problem.removeprefix(f"{path}: "), "fix it")
        missing = sorted(keys - set(metadata.models if plugin.kind == "models" else metadata.benchmarks))
        if missing and not _has_python_metadata(package, plugin):
            shown = ", ".join(missing[:5]) + (", …" if len(missing) > 5 else "")
            yield file.note("metadata", None, f"{_METADATA_FILE} does not describe {shown}", "add an entry for each")
    elif keys and not _has_python_metadata(package, plugin):
        message = f"there is no METADATA, so the site cannot describe this {plugin.kind.removesuffix('s')}"
        example = f"METADATA = {{'identifier': {metadata_class.__name__}(…)}}"
        fields = ", ".join(described_fields(metadata_class))
        remedy = f"write {example} with {fields} into __init__.py, or a {_METADATA_FILE}"
        yield plugin.start.warning("metadata", None, message, remedy)


def _has_python_metadata(package: Package, plugin: SubmittedPlugin) -> bool:
    paths = (plugin.start.path, f"{plugin.path}/metadata.py")
    return any(
        (isinstance(child, ast.Name) and child.id == "METADATA")
        or (
            isinstance(child, ast.alias)
            and isinstance(node, ast.ImportFrom)
            and (child.asname or child.name) == "METADATA"
        )
        for source in sources_of(package, plugin)
        if source.path in paths
        for node in source.tree.body
        for child in ast.walk(node)
    )


_MAX_LINES = 200
_PLATFORM_PACKAGES = frozenset(
    {"brainscore", "brain-score", "brainscore-core", "brain-score-core", "brainio"}
    | {f"{brain}-{name}" for brain in ("brainscore", "brain-score") for name in DOMAINS}
)
_OUR_REPOSITORY = re.compile(
    r"[/:]brain-score/(?:brain-score|brainscore|vision|language|core|brainio)(?:\.git)?(?:[@/#\s]|$)"
)
_PLATFORM: tuple[Severity, str, str]
_PLATFORM = "note", "is the platform itself, which is installed already", "leave the line out"
_RELEASE_REMEDY = "require a released version that has wheels: name==1.2"


def _check_requirements(package: Package, plugin: SubmittedPlugin, root: Path) -> Iterator[Finding]:
    """Find requirements that the site does not install: repositories, URLs, paths, options, invalid lines."""
    file = SubmittedFile(f"{plugin.path}/{FILE_NAME}")
    if file.path not in package.files:
        for path in package.of(plugin):
            name = path.rpartition("/")[2]
            if name in ("setup.py", "environment.yml", "environment.yaml", "pyproject.toml"):
                remedy = f"list the requirements in {FILE_NAME}"
                yield SubmittedFile(path).warning("requirements", None, f"{name} is ignored", remedy)
        return
    refusals = Refusals(plugin.path)
    try:
        lines = read_lines([root / file.path], refusals)
    except (RequirementsError, OSError, RecursionError) as error:
        yield file.error("requirements", None, str(error).splitlines()[0], "write one requirement per line")
        return
    problems: list[tuple[Line, Severity, str, str]]
    problems = [(line, "error", reason, remedy) for line, reason, remedy in refusals.entries]
    if len(lines) > _MAX_LINES:
        message = f"there are {len(lines)} lines of requirements; {_MAX_LINES} are allowed"
        yield file.error("requirements", None, message, "list only packages that the code imports")
    else:
        problems += [(line, *problem) for line in lines for problem in _requirement_problems(line)]
    for line, severity, problem, remedy in problems:
        path, message = _file_of(line, root), f"{line.shown}: {problem}"
        yield Finding(severity, "requirements", path, line.number, message, remedy)


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
        yield _PLATFORM
        return
    if line.text.startswith((".", "/", "~")) or line.text.endswith((".whl", ".tar.gz", ".zip")):
        yield "error", "paths and files are not installed, only released packages", _RELEASE_REMEDY
        return
    if "://" in line.text or line.text.startswith("git+"):
        problem = "URLs and repositories are not installed, only wheels from the package index"
        yield "error", problem, _RELEASE_REMEDY
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
        yield _PLATFORM
