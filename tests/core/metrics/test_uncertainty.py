import copy
import math
import pickle
from dataclasses import FrozenInstanceError

import numpy as np
import pytest
import xarray as xr

from brainscore_core.benchmarks import bound_score
from brainscore_core.metrics import Score, Uncertainty, declare_no_error
from brainscore_core.receipts.receipt import Estimate

KNOWN = Uncertainty(error=0.1, ci=(0.3, 0.6), ci_level=0.9, ci_estimates="new stimuli; 60 stimuli", ci_method="t")


@pytest.fixture
def score():
    score = Score(0.5)
    score.attrs["uncertainty"] = KNOWN
    return score


def test_object_and_attributes_are_one(score):
    assert dict(score.attrs) == KNOWN.attributes()
    assert score.uncertainty == score.attrs.get("uncertainty") == KNOWN
    score.attrs["uncertainty"] = Uncertainty(error=0.2)
    assert score.attrs == {"error": 0.2}
    del score.attrs["uncertainty"]
    assert score.attrs == {}
    assert score.attrs["uncertainty"] == Uncertainty.of(0.5) == Uncertainty()
    with pytest.raises(FrozenInstanceError):
        KNOWN.error = 1


def test_what_a_plugin_writes_last_counts(score):
    score.attrs["error"] = 0.25
    assert score.attrs["uncertainty"].error == Estimate.from_score(score).error == 0.25
    score = Score(0.5, attrs={"uncertainty": KNOWN, "error": 0.25})
    assert (score.attrs["error"], score.attrs["ci"]) == (0.25, (0.3, 0.6))
    score = Score(0.5)
    score.attrs["error"] = 0.25
    uncertainty = score.attrs["uncertainty"]
    assert (uncertainty.standard_error, uncertainty.level) == (0.25, 0.95)
    assert all(map(math.isnan, uncertainty.limits))
    assert math.isnan(Uncertainty(error="0.1", ci=0.2).standard_error + Uncertainty(ci=0.2).limits[0])


@pytest.mark.parametrize(
    "keep",
    [
        copy.copy,
        copy.deepcopy,
        lambda score: pickle.loads(pickle.dumps(score)),
        lambda score: score.expand_dims("subject").isel(subject=0),
        lambda score: Score(score.values, attrs=dict(score.attrs)),
        lambda score: Score(xr.DataArray(score.variable)),
        lambda score: xr.merge([score.rename("value")])["value"],
        lambda score: score * 1,
    ],
)
def test_copies_keep_it(score, keep):
    assert Uncertainty.of(keep(score)) == KNOWN


def test_files_keep_it(score, tmp_path):
    score.to_netcdf(tmp_path / "score.nc")
    with xr.open_dataarray(tmp_path / "score.nc") as stored:
        uncertainty = Uncertainty.of(stored)
    assert (uncertainty.limits, uncertainty.level, uncertainty.ci_method) == ((0.3, 0.6), 0.9, "t")


def test_a_constant_scales_all_of_it():
    score = bound_score(declare_no_error(Score(1.5), "a constant"))
    score.attrs["split_error"], score.attrs["unclamped_ci"] = 0.2, (1.0, 2.0)
    uncertainty = (score * -2).attrs["uncertainty"]
    assert (uncertainty.unclamped, uncertainty.unclamped_ci, uncertainty.split_error) == (-3.0, (-4.0, -2.0), 0.4)


def test_a_mean_drops_all_of_it():
    scores = Score([0.2, 0.4], dims=["subject"], attrs=KNOWN.attributes())
    scores.attrs["influence"] = np.zeros(3)
    assert set(scores.mean("subject", keep_attrs=True).attrs) == {"error", "error_reason", "ci", "ci_reason"}
