import json
from dataclasses import replace

import numpy as np
import pytest
import xarray as xr
from hypothesis import given
from hypothesis import strategies as st

from brainscore_core.errors import UserError
from brainscore_core.receipts.changes import CAUSES, CIRCUMSTANCES
from brainscore_core.scoring import (
    ArrayDifference,
    BenchmarkInfo,
    CacheUse,
    CeilingEstimate,
    DataItem,
    Environment,
    ErrorInfo,
    Estimate,
    FileItem,
    ModelInfo,
    PluginCode,
    Receipt,
    RunInfo,
    Tolerance,
    WeightsItem,
    array_difference,
    difference,
)


def code(name, digit="1", version="0.1.0"):
    return PluginCode(name=name, sha256=digit * 64, distribution="brainscore", version=version)


def environment(**changes):
    fields = {
        "python": "CPython 3.11.4",
        "platform": "Linux 6.1 x86_64",
        "cpu": "Some CPU",
        "cpu_count": 2,
        "packages": {"brainscore": "0.1.0", "numpy": "2.1.0", "scipy": "1.15.0"},
        "code": "e" * 64,
        "threads": 1,
    }
    return Environment(**{**fields, **changes})


FIRST = Receipt(
    model=ModelInfo(identifier="net", plugin=code("net")),
    benchmark=BenchmarkInfo(identifier="Some2026-pls", version=1, plugin=code("some2026")),
    state="scored",
    score=Estimate(value=0.5, error=0.02, ci=(0.46, 0.54), ci_level=0.95, unclamped=0.5),
    raw=Estimate(value=0.4, error=0.016, ci=(0.37, 0.43)),
    ceiling=CeilingEstimate(value=0.8, error=0.01, ci=(0.78, 0.82)),
    data=(
        DataItem(kind="data", identifier="Some2026", plugin=code("some2026")),
        DataItem(kind="metric", identifier="pls", plugin=code("pls")),
    ),
    files=(FileItem(url="https://example.org/a.nc", sha256="a" * 64), FileItem(url="file:b.nc", sha1="b" * 40)),
    weights=(WeightsItem(identifier="net", sha256="c" * 64),),
    environment=environment(),
    seeds={"splits": 1},
).identified()


def with_score(value, **fields):
    return replace(FIRST, id="", created="", score=replace(FIRST.score, value=value), **fields).identified()


def packages(**versions):
    return environment(packages={**FIRST.environment.packages, **versions})


def test_the_same():
    found = difference(FIRST, with_score(0.5))
    assert (found.verdict, found.changes, found.not_recorded, found.parts) == ("same", (), (), ())
    assert found.explanation == "All numbers are the same."
    assert {number.verdict for number in found.numbers} == {"same"}
    names = [number.name for number in found.numbers]
    assert names[:5] == ["score", "score.error", "score.ci_low", "score.ci_high", "score.unclamped"]
    assert names[5:] == [f"{name}{end}" for name in ("raw", "ceiling") for end in ("", ".error", ".ci_low", ".ci_high")]
    assert found.largest is None


CHANGED = {
    "benchmark version": {"benchmark": replace(FIRST.benchmark, version=2)},
    "data": {"files": (replace(FIRST.files[0], sha256="d" * 64), FIRST.files[1])},
    "weights": {"weights": (WeightsItem(identifier="net", sha256="d" * 64),)},
    "model code": {"model": replace(FIRST.model, plugin=code("net", "2"))},
    "benchmark code": {"benchmark": replace(FIRST.benchmark, plugin=code("some2026", "2"))},
    "metric code": {"data": (FIRST.data[0], replace(FIRST.data[1], plugin=code("pls", "2")))},
    "libraries": {"environment": packages(numpy="2.3.0")},
    "seeds": {"seeds": {"splits": 2}},
    "device": {"device": "cuda"},
    "settings": {"notes": ("layers found automatically: conv1",)},
    "python": {"environment": environment(python="CPython 3.12.0")},
    "platform": {"environment": environment(platform="Darwin 23 arm64")},
    "processor": {"environment": environment(cpu="Another CPU")},
    "stored activations": {"cache": CacheUse(hits=2)},
    "other libraries": {"environment": packages(timm="1.0.9")},
}


def test_every_part_is_tried():
    assert tuple(CHANGED) == CAUSES + CIRCUMSTANCES


@pytest.mark.parametrize("part", CHANGED)
def test_one_part_alone_is_named(part):
    found = difference(FIRST, with_score(0.6, **CHANGED[part]))
    assert found.verdict == "different"
    assert found.parts == (part,)
    assert "only" in found.explanation.lower()
    due = "the difference is due to it" if part in CAUSES else "usually changes only the last digits"
    assert due in found.explanation
    assert str(found.changes[0]) in found.explanation
    assert found.explanation.startswith("score: 0.5 and 0.6.")
    back = difference(with_score(0.6, **CHANGED[part]), FIRST)
    assert back.parts == (part,)
    assert (back.changes[0].a, back.changes[0].b) == (found.changes[0].b, found.changes[0].a)
    assert part in json.dumps(found.to_dict())


@pytest.mark.parametrize("part", CHANGED)
def test_a_part_that_differs_without_effect_is_told(part):
    found = difference(FIRST, with_score(0.5, **CHANGED[part]))
    assert found.verdict == "same"
    assert "although" in found.explanation
    assert str(found.changes[0]) in found.explanation


def test_a_library_is_named_with_both_versions():
    found = difference(FIRST, with_score(0.6, environment=packages(numpy="2.3.0")))
    assert [str(change) for change in found.changes] == ["numpy 2.1.0 → 2.3.0"]
    both = difference(FIRST, with_score(0.6, environment=packages(numpy="2.3.0", scipy="1.16")))
    assert "only one part differs, libraries (numpy 2.1.0 → 2.3.0; scipy 1.15.0 → 1.16)" in both.explanation
    assert "due to it" in both.explanation


@pytest.mark.parametrize(
    ("field", "value", "part", "words"),
    [
        ("code", "f" * 64, "libraries", "brainscore's own code eeeeeeeeeeee… → ffffffffffff…"),
        ("threads", 2, "processor", "threads 1 → 2"),
    ],
)
def test_own_code_and_threads_are_told(field, value, part, words):
    found = difference(FIRST, with_score(0.6, environment=environment(**{field: value})))
    assert found.parts == (part,)
    assert words in found.explanation
    unknown = difference(FIRST, with_score(0.6, environment=environment(**{field: None})))
    assert unknown.parts == ()


def test_several_parts_are_candidates():
    second = with_score(0.6, environment=environment(cpu="Another CPU"), **CHANGED["weights"], **CHANGED["model code"])
    found = difference(FIRST, second)
    assert found.parts == ("weights", "model code", "processor")
    assert "Candidates are differences in weights (net cccccccccccc… → dddddddddddd…), model code" in (
        found.explanation
    )
    assert "The computing environment also differs (processor (Some CPU → Another CPU))" in found.explanation
    assert "due to" not in found.explanation


def test_a_machine_alone():
    there = environment(cpu="Another CPU", platform="Darwin 23 arm64")
    found = difference(FIRST, with_score(0.6, environment=there))
    assert "Only the computing environment differs" in found.explanation


def test_nothing_recorded_explains_it():
    found = difference(FIRST, with_score(0.6))
    assert found.verdict == "different"
    assert "do not explain the difference" in found.explanation
    assert "deterministic" in found.explanation


def test_what_is_not_recorded_is_told():
    second = with_score(0.6, weights=(), model=ModelInfo(identifier="net"))
    found = difference(FIRST, second)
    assert found.changes == ()
    assert found.not_recorded == (
        "model code (only the first receipt has its hash)",
        "weights (only the first receipt has their hash)",
    )
    assert "Not compared: model code" in found.explanation


def test_tolerance():
    at_once = difference(FIRST, with_score(0.5 + 1e-5))
    assert at_once.verdict == "within tolerance"  # a thousandth of the standard error is 2e-5
    assert at_once.largest.name == "score"
    assert at_once.largest.apart == pytest.approx(1e-5)
    assert at_once.largest.allowed == pytest.approx(2e-5)
    assert "1e-05" in at_once.explanation
    assert difference(FIRST, with_score(0.5 + 3e-5)).verdict == "different"
    strict = Tolerance(absolute=1e-6, errors=0)
    assert difference(FIRST, with_score(0.5 + 1e-5), tolerance=strict).verdict == "different"
    assert difference(FIRST, with_score(0.5 + 9e-7), tolerance=strict).verdict == "within tolerance"
    assert difference(FIRST, with_score(0.9), tolerance=Tolerance(absolute=1)).verdict == "within tolerance"


def test_tolerance_is_relative_above_one():
    assert Tolerance(absolute=1e-6, errors=0).allowed(-1000, None) == pytest.approx(1e-3)


@pytest.mark.parametrize("wrong", [-1, float("nan"), float("inf")])
def test_an_impossible_tolerance(wrong):
    with pytest.raises(UserError, match="tolerance"):
        Tolerance(absolute=wrong)


def test_an_interval_alone_may_differ():
    second = replace(FIRST, score=replace(FIRST.score, ci=(0.4, 0.54)))
    found = difference(FIRST, second)
    assert found.verdict == "different"
    assert found.largest.name == "score.ci_low"
    assert found.explanation.startswith("score.ci_low: 0.46 and 0.4.")


def test_a_number_that_one_receipt_lacks():
    found = difference(FIRST, replace(FIRST, ceiling=None))
    assert found.verdict == "different"
    assert next((n.name, n.b, n.apart) for n in found.numbers if n.verdict == "different") == ("ceiling", None, None)
    assert found.explanation.startswith("ceiling: 0.8 and none.")


FAILED = replace(
    FIRST,
    state="failed",
    score=None,
    raw=None,
    ceiling=None,
    data=(),
    files=(),
    weights=(),
    seeds={},
    reason="ValueError: boom",
    error=ErrorInfo(type="ValueError", message="boom", traceback="…"),
)


def test_states():
    found = difference(FIRST, FAILED)
    assert found.verdict == "different"
    assert found.explanation.startswith("The first receipt is scored, the second is failed (ValueError: boom).")
    assert found.changes == ()  # that it did not get as far as reading the data is no difference in them
    assert difference(FAILED, FAILED).verdict == "same"
    assert "Neither receipt has a score" in difference(FAILED, FAILED).explanation
    other = replace(FAILED, error=ErrorInfo(type="KeyError", message="boom", traceback="…"), reason="KeyError: boom")
    assert difference(FAILED, other).verdict == "different"
    undefined = replace(FAILED, state="undefined", error=None, reason="no neuroid is reliable")
    assert difference(undefined, FAILED).states == ("undefined", "failed")


def test_files_are_compared_by_content():
    moved = (FileItem(url="https://mirror.example.org/x/a.nc", sha256="a" * 64), FIRST.files[1])
    assert difference(FIRST, with_score(0.6, files=moved)).changes == ()
    fewer = difference(FIRST, with_score(0.6, files=FIRST.files[:1]))
    assert [str(change) for change in fewer.changes] == ["file b.nc bbbbbbbbbbbb…, only in the first"]
    other_kind = (FIRST.files[0], FileItem(url="file:b.nc", sha256="b" * 64))
    found = difference(FIRST, with_score(0.6, files=other_kind))
    assert found.changes == ()
    assert found.not_recorded == ("file b.nc (the receipts have hashes of different kinds)",)
    twice = (*FIRST.files, FIRST.files[0])
    assert len(difference(FIRST, with_score(0.6, files=twice)).changes) == 1


def test_a_data_set_that_only_one_used():
    found = difference(FIRST, with_score(0.6, data=FIRST.data[1:]))
    assert [str(change) for change in found.changes] == ["data Some2026, only in the first"]


def test_many_files_are_counted():
    files = tuple(FileItem(url=f"file:{i}.png", sha256=f"{i:064x}") for i in range(100))
    found = difference(FIRST, with_score(0.6, files=files))
    assert len(found.changes) == 102
    assert "and 96 more" in found.explanation


def test_the_models_own_environment():
    first = replace(FIRST, run=RunInfo(id="r", isolated=True, environment="k", packages={"torch": "2.4"}))
    second = with_score(0.6, run=RunInfo(id="s", isolated=True, environment="l", packages={"torch": "2.5"}))
    (change,) = difference(first, second).changes
    assert str(change) == "torch (of the model's own environment) 2.4 → 2.5"
    found = difference(first, with_score(0.6))
    assert [str(change) for change in found.changes] == ["isolated yes → no"]


def test_other_pairs():
    other_model = replace(FIRST, model=ModelInfo(identifier="other"), score=Estimate(value=0.1))
    found = difference(FIRST, other_model)
    assert found.verdict == "other pair"
    assert {number.name.split(".")[0] for number in found.numbers} == {"ceiling"}
    assert "brainscore compare" in found.explanation
    assert found.changes == ()
    other_benchmark = replace(
        FIRST, benchmark=BenchmarkInfo(identifier="Other2026-pls"), environment=packages(numpy="2.3.0")
    )
    found = difference(FIRST, other_benchmark)
    assert (found.verdict, found.numbers) == ("other pair", ())
    assert [str(change) for change in found.changes] == ["numpy 2.1.0 → 2.3.0"]
    both = replace(other_benchmark, model=ModelInfo(identifier="other"))
    assert "different models and different benchmarks" in difference(FIRST, both).explanation


@given(st.floats(-10, 10), st.floats(-10, 10))
def test_the_verdict_of_two_numbers_does_not_depend_on_their_order_unless_one_is_above_one(a, b):
    forth, back = difference(with_score(a), with_score(b)), difference(with_score(b), with_score(a))
    if max(abs(a), abs(b)) <= 1:
        assert forth.verdict == back.verdict
    assert (forth.verdict == "same") == (a == b)


def array(values, **coords):
    return xr.DataArray(np.asarray(values, dtype=float), dims=["neuroid"], coords=coords)


def test_arrays():
    ids = {"neuroid_id": ("neuroid", ["a", "b", "c"])}
    first = array([0.1, np.nan, 0.3], **ids)
    assert array_difference("raw", first, first).same
    found = array_difference("raw", first, array([0.1, np.nan, 0.2], **ids))
    assert found.largest == pytest.approx(0.1)
    assert found.spread == pytest.approx(0.1)
    assert (found.values, found.same) == (2, False)
    assert "largest difference is 0.1" in str(found)


@pytest.mark.parametrize(
    ("second", "problem"),
    [
        (array([0.1, 0.2]), "differ in shape: 3 neuroid and 2 neuroid"),
        (array([0.1, np.nan, 0.3]), "1 values are undefined in only one"),
        (array([0.1, 0.2, 0.3], neuroid_id=("neuroid", ["a", "b", "d"])), "differ in neuroid_id"),
    ],
)
def test_arrays_that_cannot_be_compared(second, problem):
    found = array_difference("raw", array([0.1, 0.2, 0.3], neuroid_id=("neuroid", ["a", "b", "c"])), second)
    assert found.largest is None
    assert not found.same
    assert problem in str(found)


def test_infinities_of_the_same_sign_are_the_same():
    assert array_difference("raw", array([np.inf, 1.0]), array([np.inf, 1.0])).same


def test_arrays_are_handed_on():
    raw = ArrayDifference(kind="raw", largest=1e-9, spread=0.1, values=3)
    found = difference(FIRST, with_score(0.5), arrays=[raw])
    assert (found.arrays, found.verdict) == ((raw,), "same")
    assert json.loads(json.dumps(found.to_dict()))["arrays"][0]["largest"] == 1e-9
