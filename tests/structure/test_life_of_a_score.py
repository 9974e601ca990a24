"""How many files a score passes through, and that calls between packages only go down; see `traces`."""

import tomllib

import pytest

from . import traces

_THROUGH = ("benchmarks/measurements", "domains", "plugins/registry", "runner/pair")
THROUGH = {f"brainscore_core/{name}.py" for name in _THROUGH}
MOST_FILES = 35
MOST_WITH_LIBRARIES = 59

pytestmark = pytest.mark.slow(reason="scores a pair twice in a process of its own, the second time traced")


@pytest.fixture(scope="module")
def calls():
    return traces.calls_of_a_score()


def test_few_files(calls):
    files = traces.files_of(calls)
    assert len(files) <= MOST_FILES, traces.as_list(files)
    with_libraries = traces.files_of(calls, libraries=True)
    assert len(with_libraries) <= MOST_WITH_LIBRARIES, traces.as_list(with_libraries)


def test_the_page_shows_the_files(calls):
    traces.require_list_on_page("score", traces.files_of(calls))


def test_calls_between_packages_go_down(calls):
    """Core calls the package above it only through registries, descriptions of domains, and models and benchmarks."""
    contracts = tomllib.loads((traces.ROOT / "pyproject.toml").read_text())["tool"]["importlinter"]["contracts"]
    # within a package, a benchmark calls the model that it was given
    levels = [_levels(layers) for layers in contracts if layers["type"] == "layers" and "containers" not in layers]
    up = [
        f"{caller.file}: {caller.name} calls {called.file}: {called.name}"
        for caller, called in calls
        if caller is not None and not traces.PLUGIN.match(called.file) and caller.file not in THROUGH
        for level in levels
        if _level(called, level) < _level(caller, level)
    ]
    assert levels
    assert up == []


def _levels(contract):
    """Module → its level, 0 is the highest."""
    return {
        name.strip(" ()"): number
        for number, layer in enumerate(contract["layers"])
        for name in layer.replace(":", "|").split("|")
    }


def _level(function, levels):
    """Level of a function's module; not a number, which compares as neither above nor below, if there is none."""
    module = function.file.removesuffix(".py").removesuffix("/__init__").replace("/", ".")
    found = [number for name, number in levels.items() if f"{module}.".startswith(f"{name}.")]
    return found[0] if found else float("nan")
