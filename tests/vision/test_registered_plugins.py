"""Every built-in plugin goes through the checks that authors' plugins go through."""

import warnings
from pathlib import Path

import pytest

import brainscore_vision
from brainscore_core.plugins import check_metric
from brainscore_core.plugins.declared_tests import read_tests
from brainscore_core.submission.checks import check_references, find_references
from brainscore_vision import load_metric, metric_registry
from brainscore_vision.testing import serve_stand_ins, table_tests

ROOT = Path(brainscore_vision.__file__).parent
CONTROLS = {"simulated2026"}  # their scores are compared with the truth, not with a number


def folders(kind):
    found = sorted(path.parent for path in (ROOT / kind).glob("*/__init__.py"))
    return [pytest.param(path, id=path.name) for path in found if not path.name.startswith(("_", "."))]


@pytest.mark.parametrize("folder", folders("benchmarks"))
def test_tests_of_benchmarks(folder):
    tests = read_tests(folder)
    assert tests is not None
    assert "benchmark" in tests.loads
    assert tests.ceiling
    assert tests.runs
    assert tests.score or folder.name in CONTROLS


@pytest.mark.parametrize(
    ("folder", "kind"),
    [
        pytest.param(*parameter.values, kind, id=f"{kind}-{parameter.id}")
        for kind in ("data", "metric")
        for parameter in folders({"data": "data", "metric": "metrics"}[kind])
    ],
)
def test_tests_of_data_and_metrics(folder, kind):
    if table_tests.__name__ in (folder / "test.py").read_text(encoding="utf-8"):
        return
    tests = read_tests(folder)
    assert tests is not None
    assert kind in tests.loads


@pytest.mark.sampled(6)
@pytest.mark.parametrize("key", [key for key in metric_registry if metric_registry.location(key).source == "built in"])
def test_metrics(key):
    try:
        metric = load_metric(key)
    except TypeError:
        pytest.skip("a metric that is made with arguments")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        checks = check_metric(metric, folder=metric_registry.location(key).folder, raise_errors=False)
    assert [str(check) for check in checks if check.result == "failed"] == []


@pytest.mark.slow(reason="every check of a benchmark and of its data")
def test_a_published_benchmark_and_its_data(s3_server):
    with serve_stand_ins("MajajHong2015.public"):
        checked = list(check_references(find_references("benchmark", "MajajHong2015public.IT-pls")))
    assert {(one.kind, one.name) for one in checked} == {
        ("benchmark", "MajajHong2015public.IT-pls"),
        ("data", "MajajHong2015.public"),
        ("stimulus set", "hvm-public"),
    }
    results = {(one.kind, check.name): check for one in checked for check in one.checks}
    assert [str(check) for check in results.values() if check.result == "failed"] == []
    assert results["benchmark", "it scores a model"].result == "passed"
