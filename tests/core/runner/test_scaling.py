"""The extrapolation of docs/performance.md, on numbers that can be checked by hand."""

import importlib.util
import sys
from pathlib import Path

import pytest

SCRIPT = Path(__file__).resolve().parents[3] / "perf" / "scaling.py"


@pytest.fixture(scope="module")
def scaling():
    if not SCRIPT.exists():
        pytest.skip("the measurements do not come with this package")
    before = list(sys.path)
    sys.path.insert(0, str(SCRIPT.parent))
    spec = importlib.util.spec_from_file_location("perf_scaling", SCRIPT)
    module = importlib.util.module_from_spec(spec)
    sys.modules["perf_scaling"] = module
    spec.loader.exec_module(module)
    yield module
    sys.path[:] = before
    del sys.modules["perf_scaling"]


@pytest.fixture(scope="module")
def measured(scaling):
    def pair(model, benchmark, total, extraction):
        return scaling.Pair(model, benchmark, total, extraction, 1.0, 2_000, 50_000)

    pairs = [pair("a", "A-pls", 13, 10), pair("a", "B-rdm", 2, 0), pair("b", "A-pls", 25, 20), pair("b", "B-rdm", 4, 0)]
    layers = [
        scaling.Layer("a", "faces", 100, 4_000),
        scaling.Layer("a", "faces", 100, 8_000),
        scaling.Layer("b", "faces", 200, 6_000),
        scaling.Layer("somebody", "faces", 200, 6_000),
    ]
    return scaling.measure(pairs, layers)


def test_what_is_measured(measured):
    assert measured.extraction == measured.extraction_median == pytest.approx(7.5)  # (10 + 20) / 2 / 2
    assert measured.per_image == pytest.approx(30 / 300)
    assert measured.per_image_and_layer == pytest.approx(30 / 400)
    assert measured.metric == {"pls": (3.0, 3.0, 1), "rdm": (2.0, 2.0, 1)}
    assert measured.activations == pytest.approx(18_000 / 4)
    assert measured.bytes_per_layer == 6_000
    assert measured.largest == pytest.approx(29 / 22)


def test_the_same_size_takes_what_was_measured(scaling, measured):
    scaled = scaling.extrapolate(measured, models=2, benchmarks=2, start=3.0, workers=(1, 2, 1000))
    assert sum(scaled.core_hours.values()) * 3600 == pytest.approx(13 + 2 + 25 + 4 + 2 * 3)
    assert scaled.bytes["activations"] == pytest.approx(18_000)
    assert scaled.bytes["receipts"] == pytest.approx(8_000)
    assert scaled.hours[1] * 3600 == pytest.approx(50)
    # however many workers there are, the largest model takes its time on one
    assert scaled.hours[2] == scaled.hours[1000] == pytest.approx(25 * 29 / 22 / 3600)


def test_work_grows_with_models_benchmarks_and_threads(scaling, measured):
    one = scaling.extrapolate(measured, models=100, benchmarks=30, workers=(1, 16))
    four = scaling.extrapolate(measured, models=200, benchmarks=60, threads=2, workers=(1, 16))
    assert sum(four.core_hours.values()) == pytest.approx(8 * sum(one.core_hours.values()))
    assert four.hours[1] == pytest.approx(4 * one.hours[1])
    assert one.hours[16] == pytest.approx(one.hours[1] / 16)


def test_tables_hold_every_number(scaling, measured):
    goal = {"models": 1000, "benchmarks": 300, "threads": 1, "start": 3.0}
    text = scaling.tables(measured, scaling.extrapolate(measured, **goal), **goal)
    for expected in ("| metric and ceiling, `pls` (1 benchmarks) | 3.00 s | 3.00 s |", "wall time, 256 workers"):
        assert expected in text
    assert scaling.duration(1.5) == "1.5 hours"
    assert scaling.duration(72) == "3.0 days"
