"""Scripts of perf/, imported by their files: `coverage` is also the name of a package."""

import importlib.util
import sys
from pathlib import Path

import pytest

PERF = Path(__file__).parents[3] / "perf"


@pytest.fixture(scope="module")
def perf():
    """``perf(file, …)`` gives those modules of perf/; skips where there is none, as in a source distribution."""
    if not PERF.is_dir():
        pytest.skip("perf/ is not part of a source distribution")
    loaded = []

    def load(file):
        path = PERF / file
        name = path.stem if file != "coverage.py" else "coverage_script"
        options = {"submodule_search_locations": [str(path)]} if path.is_dir() else {}
        spec = importlib.util.spec_from_file_location(name, path / "__init__.py" if path.is_dir() else path, **options)
        module = importlib.util.module_from_spec(spec)
        sys.modules[name] = module
        loaded.append(name)
        spec.loader.exec_module(module)
        return module

    load("_tables.py")
    yield lambda *files: tuple(map(load, files))
    for name in [name for name in sys.modules if name.split(".")[0] in loaded]:
        del sys.modules[name]
