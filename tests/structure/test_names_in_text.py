"""Every module can be imported, and dotted names in code, documentation and configuration lead somewhere."""

import ast
import importlib
import re
import subprocess
from functools import cache
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PACKAGES = ("brainio", "brainscore", "brainscore_core", "brainscore_language", "brainscore_vision", "brainscore_web")
DOTTED = re.compile(
    r"(?<![\w./@-])(?:brainscore_core|brainscore_vision|brainscore_web|brainscore|brainio)(?:\.\w+)+(?::\w+)?(?![\w/-])"
)
IN_FILES = re.compile(
    r"(?<![\w./@-])(?:brainscore_core|brainscore_vision|brainscore_web|brainscore|brainio)/[\w./-]*\w\.(?:py|html|json)\b"
)
PLUGIN = re.compile(r"brainscore_vision/(?:benchmarks|data|metrics|models)/\w+/")  # often the reader's own
# what others have, what a reader is to write, an entry point, and keys of logs, sessions, checks and caches
ELSEWHERE = re.compile(
    r"brainscore\.(org|css|js|service|env|example|svg|html|query)\b"
    r"|brainscore_vision\.(stimuli|assemblies|lookup|knownfile|data_helpers|submission|plugins)\b"
    r"|brainscore_vision\.\w+\.my\w+"
    r"|brainscore_core\.(plugin_management|submission)\b"
    r"|brainscore_web\.(second_factor|cache|W001|E00\d|etag|requests)\b"
)


def _files(*suffixes):
    listed = subprocess.run(
        ["git", "-C", str(ROOT), "ls-files"], capture_output=True, text=True, check=False
    ).stdout.split("\n")
    if listed == [""]:
        pytest.skip("needs a checkout")
    return [name for name in listed if name.endswith(suffixes) and (ROOT / name).is_file()]


def _modules():
    for name in _files(".py"):
        parts = name.removesuffix(".py").split("/")
        if parts[0] in PACKAGES and parts[-1] not in ("test", "conftest", "__main__", "wsgi"):
            yield ".".join(parts).removesuffix(".__init__")


def test_every_module_can_be_imported():
    pytest.importorskip("torch")
    for module in _modules():
        importlib.import_module(module)


@cache
def _leads_somewhere(name):
    path, _, attributes = name.partition(":")
    parts = path.split(".")
    for length in range(len(parts), 0, -1):
        try:
            found = importlib.import_module(".".join(parts[:length]))
        except ImportError:
            continue
        for attribute in [*parts[length:], *([attributes] if attributes else [])]:
            found = getattr(found, attribute, None) or getattr(found, "__annotations__", {}).get(attribute)
            if found is None:
                return False
        return True
    return False


def _texts():
    """Names that stand in strings of the code as a whole, and anywhere in other files."""
    for name in _files(".py"):
        if not name.startswith((*(f"{package}/" for package in PACKAGES), "perf/", ".ci/", "conftest.py")):
            continue
        for node in ast.walk(ast.parse((ROOT / name).read_text(encoding="utf-8"))):
            if isinstance(node, ast.Constant) and isinstance(node.value, str) and DOTTED.fullmatch(node.value):
                yield name, node.value
    for name in _files(".md", ".toml", ".html", ".yml", ".service", ".j2"):
        if not name.startswith(("tests/", "docs/coming_from_2.md", "docs/earlier_names.md", "CHANGELOG.md")):
            for match in DOTTED.finditer((ROOT / name).read_text(encoding="utf-8")):
                yield name, match[0]


def test_dotted_names_lead_somewhere():
    """Among them those used at run time: scorers, tasks, apps and middleware of the site, modules that are run."""
    pytest.importorskip("torch")
    names = {(file, name) for file, name in _texts() if not ELSEWHERE.match(name)}
    assert len(names) > 200
    assert sorted((file, name) for file, name in names if not _leads_somewhere(name)) == []


def test_files_that_the_design_names_exist():
    """Its paths begin at any folder."""
    files = [f"/{name}" for name in _files("")]
    text = (ROOT / "docs/design.md").read_text(encoding="utf-8")
    named = set(re.findall(r"`([\w./-]+\.(?:py|md|js|json))`", text))
    assert len(named) > 100
    assert sorted(name for name in named if not any(file.endswith(f"/{name}") for file in files)) == []


def test_files_that_texts_name_exist():
    lost = []
    for name in _files(".md", ".toml", ".py", ".yml", "Makefile"):
        if name.startswith("tests/") or name == "CHANGELOG.md":
            continue
        lost += [
            (name, match[0])
            for match in IN_FILES.finditer((ROOT / name).read_text(encoding="utf-8"))
            if not PLUGIN.match(match[0]) and not (ROOT / match[0]).exists()
        ]
    assert lost == []
