"""What has a leading underscore is imported within its own package only."""

import ast
from pathlib import Path

from .test_names_in_text import PACKAGES, ROOT, _files

# published plugins import these
EXEMPT = {
    ("brainscore_vision.metric_helpers._draws", "shuffle_splits"),
}


def _product_files():
    for name in _files(".py"):
        parts = name.split("/")
        if parts[0] in PACKAGES and "migrations" not in parts and parts[-1] not in ("test.py", "conftest.py"):
            yield name


def _module(name):
    return name.removesuffix(".py").replace("/", ".").removesuffix(".__init__")


def _owner(path):
    """The package or module that a private part of a dotted path belongs to."""
    parts = path.split(".")
    for number, part in enumerate(parts):
        if part.startswith("_") and not part.startswith("__"):
            return ".".join(parts[:number])
    return None


def test_private_names_stay_in_their_package():
    seen = []
    files = list(_product_files())
    modules = {_module(name) for name in files if not name.endswith("__init__.py")}
    assert len(modules) > 400
    for name in files:
        here = _module(name)
        for node in ast.walk(ast.parse((ROOT / name).read_text(encoding="utf-8"))):
            if not isinstance(node, ast.ImportFrom) or node.level or node.module.split(".")[0] not in PACKAGES:
                continue
            for alias in node.names:
                owner = _owner(f"{node.module}.{alias.name}")
                if owner is None or (node.module, alias.name) in EXEMPT:
                    continue
                inside = here == owner or (owner not in modules and here.startswith(f"{owner}."))
                if not inside:
                    seen.append(f"{Path(name)}:{node.lineno}: {alias.name} of {node.module}")
    assert seen == []
