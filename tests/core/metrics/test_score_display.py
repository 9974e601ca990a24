"""What scores show of themselves in a terminal and a notebook."""

import math
import pickle
from xml.etree import ElementTree

import numpy as np
import pandas as pd
import pytest
import xarray as xr

from brainscore_core.benchmarks import bound_score, normalise
from brainscore_core.metrics import Score, attach_uncertainty, declare_no_error


def estimate(value, low, high, **attrs):
    score = Score(value)
    score.attrs.update(attrs)
    described = "new stimuli and new neuroids; 120 stimuli, 60 neuroids"
    return attach_uncertainty(score, error=0.03, ci=(low, high), estimates=described, method="t")


@pytest.fixture
def score():
    raw = estimate(0.6, 0.53, 0.66, scale="correlation")
    result = bound_score(normalise(raw, estimate(0.8, 0.74, 0.86, meaning="reliability")))
    result.attrs.update(model_identifier="pixels", benchmark_identifier="<script>alert(1)</script>\x1b[31m")
    return result


def test_text(score):
    title, *rows = repr(score).splitlines()
    assert title == "Score 0.450 (95 %: 0.348–0.553; new stimuli and new neuroids)"
    names = [row.split()[0] for row in rows]
    assert names == ["interval", "raw", "ceiling", "model", "benchmark"]
    assert "0.600 (95 %: 0.530–0.660; new stimuli and new neuroids) (correlation)" in rows[1]
    assert "0.800 (95 %: 0.740–0.860; new stimuli and new neuroids) (reliability)" in rows[2]
    assert "\x1b" not in repr(score)


def test_html_is_escaped_and_contains_what_xarray_shows(score):
    html = score._repr_html_()
    assert "0.450 (95 %: 0.348–0.553; new stimuli and new neuroids)" in html
    assert "<script>" not in html
    assert "\x1b" not in html.split("<details>")[0]
    assert "xr-attrs" in html  # the section of attributes


def test_undetermined():
    raw = estimate(0.6, 0.53, 0.66, scale="correlation")
    score = normalise(raw, estimate(0.1, -0.01, 0.21, meaning="reliability"))
    title, interval, *_ = repr(score).splitlines()
    assert title.startswith("Score undetermined (raw 0.600): the interval of the ceiling 0.100")
    assert "no upper limit" in interval or "no limits" in interval
    svg = score.plot().svg
    assert "undetermined" in svg
    assert f"{float(score):.3f}" not in svg


def test_missing_interval_and_missing_value():
    assert "interval  none: only one subject" in repr(declare_no_error(Score(0.4), "only one subject"))
    failed = declare_no_error(Score(np.nan), "no V4")
    failed.attrs.update(state="not applicable", reason="it has no region V4")
    assert repr(failed).splitlines()[0] == "Score not applicable: it has no region V4"
    score = Score(0.4)
    score.attrs["ci"] = None  # as others may write it
    assert repr(score).startswith("Score 0.400\n  interval  none")


def test_several_values():
    values = Score(
        [[0.1, np.nan, 0.5], [0.2, 0.4, 0.3]],
        coords={"neuroid_id": ("neuroid", ["a", "b", "c"]), "split": ("split", [0, 1])},
        dims=["split", "neuroid"],
    )
    title, *rest = repr(values).splitlines()
    assert title == "Score (split: 2, neuroid: 3): median 0.300, 0.100–0.500, 6 values, 1 missing"
    assert any("neuroid_id" in line for line in rest)
    assert "split × neuroid, sorted by value" in values.plot().svg
    empty = values.isel(split=slice(0))
    assert "no values" in repr(empty)
    assert empty.plot().svg


def test_nothing_else_changes(score):
    copied = pickle.loads(pickle.dumps(score))
    assert float(copied) == float(score)
    assert repr(copied) == repr(score)
    assert callable(score.plot.hist)
    assert isinstance(score, xr.DataArray)
    assert repr(xr.DataArray(0.5)).startswith("<xarray.DataArray")


@pytest.mark.parametrize("value", ["text", ["a"], {}, None, np.array([1, 2]), xr.DataArray(["a", "b"])])
def test_attributes_of_others(value):
    keys = ("raw", "ceiling", "unclamped", "undetermined", "ci", "ci_level", "ci_method", "error", "reason", "state")
    for score in (Score(0.5), Score(np.nan), Score([0.1, 0.2], dims=["x"])):
        for key in (*keys, "model_identifier", "readout", "scale"):
            score.attrs = {key: value}
            assert repr(score).startswith("Score ")
            assert score._repr_html_()
            assert score.plot().svg


def test_comparisons_are_shown_as_by_xarray(score):
    assert "array(True)" in repr(score > 0.4)
    assert "xr-wrap" in (score > 0.4)._repr_html_()


def test_figure(score, tmp_path):
    plot = score.plot()
    assert plot._repr_svg_().startswith("<svg ")
    assert "<script>" not in plot.svg
    for name, start in (("a.svg", b"<?xml"), ("a.png", b"\x89PNG"), ("a.pdf", b"%PDF")):
        assert plot.save(tmp_path / "new" / name).read_bytes().startswith(start)
    with pytest.raises(ValueError, match="cannot draw"):
        plot.save(tmp_path / "a.jpg")


def test_infinite_limits():
    score = attach_uncertainty(Score(0.4), ci=(0.1, math.inf), reason="no limit", estimates="new stimuli", method="t")
    assert "0.100 and more, no upper limit" in repr(score)
    bars = [one for one in ElementTree.fromstring(score.plot().svg).iter() if "chart-bar" in one.get("class", "")]
    interval, arrow = ([part.split()[0] for part in one.get("d").split("L")] for one in bars)
    assert interval[1] == arrow[1]  # the interval ends at the tip
    assert float(arrow[0][1:]) < float(arrow[1])


def test_few_named_values_have_a_row_each():
    names = ["conv1", "<b>层</b>", "fc"]
    values = Score([0.2, np.nan, np.inf], coords={"layer": names}, dims=["layer"])
    svg = values.plot().svg
    assert "conv1" in svg
    assert "&lt;b&gt;层&lt;/b&gt;" in svg
    assert svg.count("no number") == 2
    numbered = Score([0.2, 0.4], coords={"split": [0, 1]}, dims=["split"])
    assert "split, sorted by value" in numbered.plot().svg
    assert "no values" in Score([], coords={"layer": []}, dims=["layer"]).plot().svg


def test_to_pandas(score):
    table = pd.concat([score.to_pandas(), declare_no_error(Score(np.nan), "no V4").to_pandas()])
    row = table.iloc[0]
    assert (row["model"], row["state"], row["ci_estimates"].partition(";")[0]) == (
        "pixels",
        "scored",
        "new stimuli and new neuroids",
    )
    assert (row["score"], row["raw"], row["ceiling"]) == (float(score), 0.6, 0.8)
    assert (row["ci_low"], row["ci_high"]) == score.attrs["ci"]
    assert (row["raw_ci_low"], row["ceiling_ci_high"], row["ceiling_error"]) == (0.53, 0.86, 0.03)
    assert (table.iloc[1]["state"], table.dtypes["score"]) == ("undefined", "float64")
    values = Score([0.1, 0.2], coords={"layer": ["a", "b"]}, dims=["layer"])
    assert values.to_pandas().to_dict() == {"a": 0.1, "b": 0.2}
