"""Comparisons of geometry in splits: what is refused, and what is undefined."""

import numpy as np
import pytest

from brainscore_core.supported_data_standards.brainio.assemblies import NeuroidAssembly
from brainscore_vision import load_metric
from brainscore_vision.metric_helpers.alignment import MetricInputError


def recording(values):
    stimuli = np.arange(len(values))
    return NeuroidAssembly(
        values,
        coords={
            "stimulus_id": ("presentation", [f"s{number}" for number in stimuli]),
            "object_name": ("presentation", [f"o{number % 2}" for number in stimuli]),
            "neuroid_id": ("neuroid", np.arange(values.shape[1])),
        },
        dims=["presentation", "neuroid"],
    )


VALUES = np.random.default_rng(0).normal(size=(12, 5))


def test_too_few_stimuli_in_all_or_in_a_split_are_refused():
    few = recording(VALUES[:2])
    with pytest.raises(MetricInputError, match="2 stimuli are too few"):
        load_metric("rdm")(few, few)
    metric = load_metric("rdm_cv", crossvalidation_kwargs={"test_size": 2})
    with pytest.raises(MetricInputError, match=r"a split tests 2 stimuli, too few.*[\s\S]*larger test_size"):
        metric(recording(VALUES), recording(VALUES))


def test_responses_that_do_not_vary_have_no_geometry_in_any_split():
    metric = load_metric("rdm_cv", crossvalidation_kwargs={"test_size": 8})
    score = metric(recording(np.ones_like(VALUES)), recording(VALUES))
    assert np.isnan(float(score))
    assert score.attrs["undefined"] == score.attrs["raw"].sizes["split"]
    assert "undefined in every split" in str(score.attrs)
