"""Comparisons of geometry in splits: what is refused, and what is undefined."""

import numpy as np
import pytest

from brainscore_core.metric_helpers.alignment import MetricInputError
from brainscore_core.numerics import combined_interval
from brainscore_core.numerics.deletion import deletion_influence
from brainscore_core.supported_data_standards.brainio.assemblies import NeuroidAssembly
from brainscore_vision import load_metric


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


def test_without_a_formula_the_influence_is_that_of_leaving_out_each_stimulus():
    rng = np.random.default_rng(2)
    X = rng.normal(size=(40, 5))
    source, target = recording(X), recording(np.hstack([X, rng.normal(size=(40, 3))]))
    order = rng.permutation(40)
    with_formula = load_metric("cka")

    class WithoutFormula(type(with_formula)):
        def compare(self, first, second):
            return super().compare(first, second)._replace(influence=np.empty(0))

    scores = [metric(source, target[order]) for metric in (with_formula, WithoutFormula())]
    influences = [score.attrs["influence"] for score in scores]
    assert [list(influence["stimulus_id"].values) for influence in influences] == [[f"s{i}" for i in order]] * 2
    assert np.corrcoef(*(influence.values for influence in influences))[0, 1] > 0.99
    assert float(scores[1]) == float(scores[0])
    assert scores[1].attrs["error"] == pytest.approx(scores[0].attrs["error"], rel=0.15)


@pytest.mark.parametrize("name", ["rdm", "cka"])
def test_variance_that_few_groups_of_stimuli_share_with_neuroids_counts_once(name):
    rng = np.random.default_rng(1)
    stimuli, neuroids = np.arange(24) % 6, np.arange(8) % 4
    X = rng.normal(size=(24, 5))
    Y = np.hstack([X, rng.normal(size=(24, 3))]) + rng.normal(size=(24, 8))
    metric = load_metric(name)
    first, second = metric.geometry(X), metric.geometry(Y)

    def without(row, column):
        kept, seen = stimuli != row, neuroids != column
        similarity = metric.compare(metric.geometry(X[kept]), metric.geometry(Y[np.ix_(kept, seen)]))
        return similarity.value - similarity.bias

    left_out = np.array([[without(row, column) for column in range(4)] for row in range(6)])
    mixed = left_out - left_out.mean(axis=0) - left_out.mean(axis=1, keepdims=True) + left_out.mean()
    shared = metric.shared_variance(first, second, Y, stimuli, neuroids)
    assert shared == pytest.approx(np.sum(mixed**2) * 5 / 6 * 3 / 4)
    of_stimuli, of_neuroids = (deletion_influence(left_out.mean(axis=axis)) for axis in (1, 0))
    parts = [part.var(ddof=1) / len(part) for part in (of_stimuli, of_neuroids)]
    interval = combined_interval(0.5, [of_stimuli, of_neuroids], shared=shared)
    assert interval.error**2 == pytest.approx(max(sum(parts) - shared, *parts))
    assert interval.error < combined_interval(0.5, [of_stimuli, of_neuroids]).error
