import json
import math
import re
from dataclasses import replace
from pathlib import Path

import jsonschema
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from brainscore_core.benchmarks import ceil_score
from brainscore_core.metrics import Score, attach_uncertainty
from brainscore_core.receipts.output import scrub_text, scrub_url
from brainscore_core.receipts.receipt import CeilingEstimate, ScoreAtAngle, VisualAngle, summary
from brainscore_core.scoring import (
    BenchmarkInfo,
    ErrorInfo,
    Estimate,
    ModelInfo,
    Receipt,
    ReceiptError,
    RunInfo,
    Timings,
    WeightsItem,
    receipt_schema,
)
from brainscore_core.strict_json import plain

FINITE = st.floats(allow_nan=False, allow_infinity=False)


def receipt(**changes):
    fields = {
        "model": ModelInfo(identifier="model"),
        "benchmark": BenchmarkInfo(identifier="benchmark"),
        "state": "scored",
        "score": Estimate(value=0.5, ci=(0.4, 0.6)),
    }
    return Receipt(**(fields | changes)).identified()


def test_the_schema_is_a_schema():
    jsonschema.Draft202012Validator.check_schema(receipt_schema())


@given(value=FINITE, low=FINITE, text=st.text(), version=st.integers() | st.text())
def test_round_trip_is_exact(value, low, text, version):
    original = receipt(
        score=Estimate(value=value, ci=(low, value), ci_estimates=text),
        benchmark=BenchmarkInfo(identifier="b" + text, version=version, bibtex=text),
    )
    text = original.to_json()
    again = Receipt.from_json(text.encode("utf-8"))
    assert again.to_json() == text
    assert again.score.value == value


@pytest.mark.parametrize(
    ("change", "where"),
    [
        ({"score": None}, "score"),
        ({"score": Estimate(value=float("nan"))}, "score.value"),
        ({"state": "failed", "score": None, "reason": "x"}, "error"),
        ({"state": "not applicable", "score": None}, "reason"),
        ({"state": "done"}, "state"),
        ({"state": "undefined", "score": None}, "reason"),
        ({"state": "undefined", "reason": "the ceiling is 0"}, "score"),
        ({"run": RunInfo(id="")}, "run"),
        ({"weights": (WeightsItem(identifier="net", sha256="1" * 40),)}, "weights"),
        ({"device": ""}, "device"),
        ({"score": Estimate(value=0.5, error=-1.0)}, "score"),
    ],
)
def test_nonsense_is_not_written(change, where):
    with pytest.raises(ReceiptError, match=where):
        receipt(**change).to_json()


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "not valid JSON"),
        ("{", "not valid JSON"),
        ("[" * 100_000, "not valid JSON"),
        ("[]", "it must be a JSON object"),
        ("{}", "not a valid receipt"),
        ('{"schema_version": NaN}', "NaN is not valid in JSON"),
        ('{"schema_version": 5}', "written by a newer Brain-Score"),
        ('{"schema_version": 0}', "not a valid receipt"),
        ('{"schema_version": true}', "not a valid receipt"),
        ('{"schema_version": "1"}', "not a valid receipt"),
        (b"\xff\xfe\x00", "not valid JSON"),
    ],
)
def test_nonsense_is_not_read(text, message):
    with pytest.raises(ReceiptError, match=message):
        Receipt.from_json(text)


def test_unknown_fields_are_refused():
    data = receipt().to_dict()
    data["scores"] = 1
    with pytest.raises(ReceiptError, match="scores"):
        Receipt.from_dict(data)


def test_a_million_errors_are_not_all_looked_for():
    data = {**receipt().to_dict(), "notes": [1] * 1_000_000}
    with pytest.raises(ReceiptError, match="and many more"):
        Receipt.from_dict(data)


def test_a_failed_receipt_round_trips():
    failed = receipt(
        state="failed", score=None, reason="boom", error=ErrorInfo(type="ValueError", message="boom", traceback="…")
    )
    assert Receipt.from_json(failed.to_json()) == failed


def test_everything_of_a_run_round_trips():
    original = receipt(
        state="undefined",
        score=None,
        reason="the ceiling is 0",
        raw=Estimate(value=0.1, unclamped=1.1, unclamped_ci=(0.9, 1.2)),
        weights=(WeightsItem(identifier="net", sha256="1" * 64),),
        run=RunInfo(id="run-1", isolated=True, environment="abc", packages={"torch": "2.4"}),
        timings=Timings(score=2.0, extraction=1.5, total=3.0),
    )
    assert Receipt.from_json(original.to_json()) == original


@pytest.mark.parametrize("limits", [(0.2, math.inf), (-math.inf, 0.2), (-math.inf, math.inf)])
def test_unbounded_limits_round_trip(limits):
    score = ceil_score(uncertain(0.3, 0.05), uncertain(0.1, 0.06))
    score.attrs["ci"] = limits
    original = receipt(score=Estimate.from_score(score), ceiling=CeilingEstimate.from_score(score.attrs["ceiling"]))
    stored = original.to_dict()["score"]
    assert stored["ci"] == [limit if math.isfinite(limit) else None for limit in limits]
    assert stored["error"] is None
    assert stored["error_reason"].startswith("the limits are unbounded")
    again = Receipt.from_json(original.to_json())
    assert again == original
    assert again.score.ci == limits
    assert re.search(r"no (upper limit|lower limit|limits); new stimuli\)$", again.score.text())
    assert re.match("no limits|0.200 and (more|less), no (upper|lower) limit", dict(summary(again))["interval"])


def uncertain(value, error):
    limits = (value - 1.96 * error, value + 1.96 * error)
    return attach_uncertainty(Score(value), error=error, ci=limits, estimates="new stimuli", method="t")


def test_a_score_relative_to_an_uncertain_ceiling_is_undetermined():
    score = ceil_score(uncertain(0.3, 0.05), uncertain(0.1, 0.06))
    estimates = {"score": Estimate.from_score(score), "raw": Estimate.from_score(score.attrs["raw"])}
    found = receipt(**estimates, ceiling=CeilingEstimate.from_score(score.attrs["ceiling"]))
    assert found.undetermined == score.attrs["undetermined"]
    assert found.score.value == pytest.approx(3)  # as computed, for programs
    assert dict(summary(found))["score"] == f"undetermined (raw 0.300): {found.undetermined}"
    clear = CeilingEstimate.from_score(uncertain(0.1, 0.01))
    assert replace(found, ceiling=clear).undetermined is None
    assert replace(found, score=replace(found.score, scale="unceiled")).undetermined is None
    assert replace(found, ceiling=None).undetermined is None


def test_the_published_schema_is_the_one_in_use():
    published = Path(__file__).parents[3] / "docs" / "schemas" / "receipt-4.json"
    assert json.loads(published.read_text(encoding="utf-8")) == receipt_schema()
    assert receipt_schema()["$id"].endswith("/schemas/receipt-4.json")


@pytest.mark.parametrize("stated", [True, False])
def test_the_visual_angle_travels_and_is_asked_for_if_it_was_never_stated(stated):
    others = (ScoreAtAngle(degrees=4, value=0.24), ScoreAtAngle(degrees=16, value=None, reason="too small"))
    angle = VisualAngle(degrees=8, stated=stated)
    made = receipt(model=ModelInfo(identifier="model", visual_angle=replace(angle, others=others)))
    assert Receipt.from_json(made.to_json()) == made
    line = dict(summary(receipt(model=ModelInfo(identifier="model", visual_angle=angle))))["visual angle"]
    assert ("state visual_degrees" in line) is not stated
    assert ("not stated by the model: a default" in line) is not stated
    assert dict(summary(made))["visual angle"].endswith("score 0.240 at 4°, no score at 16°")
    assert "visual angle" not in dict(summary(receipt()))


def test_ids_sort_by_time_and_follow_the_content():
    first = receipt(created="2026-01-02T03:04:05.000006Z")
    later = receipt(created="2026-01-02T03:04:05.000007Z")
    other = receipt(created="2026-01-02T03:04:05.000006Z", device="cuda")
    assert first.id < later.id
    assert first.id.startswith("20260102T030405000006Z-")
    assert first.id != other.id
    assert first.id == receipt(created="2026-01-02T03:04:05.000006Z").id
    assert replace(first, id="").identified() == first


def test_numpy_and_nan_become_plain_json():
    value = {
        "a": np.float64("nan"),
        "b": np.arange(2),
        "c": np.bool_(True),
        1: (np.inf, {"x"}),
        "d": Score(1.0).attrs,
        "e": "\udcff",
    }
    text = json.dumps(plain(value), allow_nan=False)
    assert json.loads(text) == {"a": None, "b": [0, 1], "c": True, "1": [None, ["x"]], "d": {}, "e": "?"}


def test_an_estimate_needs_a_single_value():
    with pytest.raises(ValueError, match="shape"):
        Estimate.from_score(Score([1.0, 2.0], dims=["neuroid"]))


@pytest.mark.parametrize("ci", [(np.nan, 1.0), (1.0,), "0 to 1", 3.0, None])
def test_half_an_interval_is_none(ci):
    score = Score(0.5)
    score.attrs["ci"] = ci
    estimate = Estimate.from_score(score)
    assert estimate.ci is None
    assert estimate.ci_reason == "none was attached"


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("ratio 1/2 of layers/conv1/weight", "ratio 1/2 of layers/conv1/weight"),
        ("and/or", "and/or"),
        ("see https://example.org/a/b/c.html for more", "see https://example.org/a/b/c.html for more"),
        ("open('/data/lab/x y/z.nc')", "open('…/z.nc')"),
        (r"D:\lab\x.nc is gone", "…/x.nc is gone"),
        ('File "/opt/x/lib.py", line 3', 'File "…/lib.py", line 3'),
        ("path=/mnt/lab/a.nc", "path=…/a.nc"),
    ],
)
def test_paths_are_cut(text, expected):
    assert scrub_text(text) == expected


@pytest.mark.parametrize(
    ("url", "expected"),
    [
        ("https://example.org:8443/a/b.nc", "https://example.org:8443/a/b.nc"),
        ("https://u:p@example.org/b.nc", "https://example.org/b.nc"),
        ("s3://bucket/folder/b.nc?versionId=1&sig=2", "s3://bucket/folder/b.nc?versionId=1"),
        ("/home/x/b.nc", "file:b.nc"),
        ("C:\\Users\\x\\b.nc", "file:b.nc"),
        ("file:///home/x/with%20space.nc", "file:with space.nc"),
        ("https://[bad", "not an address"),
    ],
)
def test_addresses_are_cut(url, expected):
    assert scrub_url(url) == expected
