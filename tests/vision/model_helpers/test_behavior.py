"""Readouts against definitions that are written out here."""

import itertools

import numpy as np
import pytest
from scipy.optimize import minimize

from brainscore_core.errors import NotApplicable, UserError
from brainscore_core.supported_data_standards.brainio.assemblies import NeuroidAssembly
from brainscore_core.supported_data_standards.brainio.stimuli import StimulusSet
from brainscore_vision.model_helpers.brain_transformation import BehaviorArbiter, OddOneOut, ProbabilitiesMapping
from brainscore_vision.model_helpers.brain_transformation.behavior import odd_one_out


class Activations:
    """Looks features up by stimulus id."""

    def __init__(self, features):
        self.features = features

    def __call__(self, stimuli, layers, *, number_of_trials=1, require_variance=False):
        assert layers == ["readout"]
        values = np.stack([self.features[identifier] for identifier in stimuli["stimulus_id"]])
        coords = {str(column): ("presentation", stimuli[column].to_numpy()) for column in stimuli.columns}
        coords["neuroid_id"] = ("neuroid", np.arange(values.shape[1]))
        return NeuroidAssembly(values, coords=coords, dims=["presentation", "neuroid"])


def stimuli_of(ids, **columns):
    stimuli = StimulusSet({"stimulus_id": ids, **columns})
    stimuli.identifier = "set"
    return stimuli


def features_of(number, width=6, seed=0):
    values = np.random.default_rng(seed).standard_normal((number, width)) * np.arange(1, width + 1) + 3
    return {f"im{index:02d}": values[index] for index in range(number)}


def published(train, labels, test, *, penalty=1e-3):
    """Multinomial logistic regression on standardised features, minimised from its definition."""
    names = list(dict.fromkeys(labels))
    mean, spread = train.mean(axis=0), train.std(axis=0)
    X, Z = (train - mean) / spread, (test - mean) / spread
    Y = np.array([[label == name for name in names] for label in labels], dtype=float)
    shape = (len(names), X.shape[1] + 1)

    def loss(flat):
        W = flat.reshape(shape)
        scores = X @ W[:, :-1].T + W[:, -1]
        log_total = np.logaddexp.reduce(scores, axis=1)
        probabilities = np.exp(scores - log_total[:, np.newaxis])
        value = 0.5 * (W[:, :-1] ** 2).sum() + penalty * (log_total.sum() - (Y * scores).sum())
        slope = penalty * (probabilities - Y).T @ np.hstack([X, np.ones((len(X), 1))])
        slope[:, :-1] += W[:, :-1]
        return value, slope.ravel()

    W = minimize(loss, np.zeros(shape).ravel(), jac=True, method="L-BFGS-B", options={"gtol": 1e-10, "ftol": 1e-14})
    W = W.x.reshape(shape)
    scores = Z @ W[:, :-1].T + W[:, -1]
    return np.exp(scores - np.logaddexp.reduce(scores, axis=1)[:, np.newaxis])


@pytest.mark.parametrize("names", [["dog", "ant"], ["dog", "ant", "cow"], ["z", "y", "x", "w"]])
def test_probabilities_as_published(names):
    features = features_of(40)
    ids = list(features)
    labels = [names[index % len(names)] for index in range(30)]
    for index, label in enumerate(labels):  # something to learn
        features[ids[index]] = features[ids[index]] + 3 * names.index(label)
    mapping = ProbabilitiesMapping("model", Activations(features), "readout")
    mapping.start_task("probabilities", stimuli_of(ids[:30], image_label=labels))
    result = mapping.look_at(stimuli_of(ids[30:], object_name=["o"] * 10))
    assert result.dims == ("presentation", "choice")
    assert result["choice"].values.tolist() == names
    assert result["stimulus_id"].values.tolist() == ids[30:]
    assert result["object_name"].values.tolist() == ["o"] * 10
    train, test = (np.stack([features[name] for name in part]) for part in (ids[:30], ids[30:]))
    expected = published(train, labels, test)
    assert expected.std(axis=0).max() > 0.002  # otherwise the comparison would say nothing
    np.testing.assert_allclose(result.values, expected, atol=1e-4)  # the solver stops there, as published
    np.testing.assert_allclose(result.values.sum(axis=1), 1)


def test_huge_activations_do_not_overflow():
    features = {name: value * 1e6 for name, value in features_of(10).items()}
    mapping = ProbabilitiesMapping("model", Activations(features), "readout")
    mapping.start_task("probabilities", stimuli_of(list(features), image_label=list("ababababab")))
    assert np.isfinite(mapping.look_at(stimuli_of(list(features))).values).all()


def test_fitting_needs_labels():
    features = features_of(4)
    mapping = ProbabilitiesMapping("model", Activations(features), "readout")
    with pytest.raises(UserError, match="start_task"):
        mapping.look_at(stimuli_of(["im00"]))
    with pytest.raises(UserError, match="image_label"):
        mapping.start_task("probabilities", stimuli_of(list(features)))
    with pytest.raises(UserError, match="image_label"):
        mapping.start_task("probabilities", None)
    with pytest.raises(UserError, match="at least two labels"):
        mapping.start_task("probabilities", stimuli_of(list(features), image_label=["a"] * 4))
    with pytest.raises(UserError, match="no 'image_label'"):
        mapping.start_task("probabilities", stimuli_of(list(features), image_label=["a", None, "b", "b"]))
    with pytest.raises(NotApplicable):
        mapping.start_task("label", ["a"])


@pytest.mark.parametrize("similarity", ["dot", "cosine"])
def test_odd_one_out_is_not_in_the_most_similar_pair(similarity):
    features = features_of(9, width=4, seed=3)
    ids = list(features)
    triplets = [list(np.random.default_rng(seed).permutation(ids)[:3]) for seed in range(60)]
    model = OddOneOut("model", Activations(features), "readout", similarity=similarity)
    model.start_task("odd_one_out")
    result = model.look_at(stimuli_of(list(itertools.chain(*triplets))))
    assert result.dims == ("presentation",)

    def compare(one, two):
        product = features[one] @ features[two]
        if similarity == "cosine":
            product /= np.linalg.norm(features[one]) * np.linalg.norm(features[two])
        return product

    expected = []
    for i, j, k in triplets:
        best = max([(compare(i, j), 2), (compare(i, k), 1), (compare(j, k), 0)])
        expected.append(best[1])
    assert result.values.tolist() == expected
    assert set(expected) == {0, 1, 2}
    assert result["stimulus_id"].values.tolist() == ["|".join(triplet) for triplet in triplets]
    assert result["stimulus_id_2"].values.tolist() == [triplet[2] for triplet in triplets]


def test_dot_and_cosine_differ_where_lengths_do():
    features = np.array([[1.0, 0.0], [0.9, 0.1], [0.0, 10.0]])
    triplet = np.array([[0, 1, 2]])
    assert odd_one_out(features, triplet).tolist() == [0]
    assert odd_one_out(features, triplet, cosine=True).tolist() == [2]
    assert odd_one_out(np.zeros((3, 2)), triplet, cosine=True).tolist() == [2]


def test_stimuli_that_make_no_triplets():
    model = OddOneOut("model", Activations(features_of(4)), "readout")
    with pytest.raises(UserError, match="4 stimuli are not triplets"):
        model.look_at(stimuli_of([f"im{number:02d}" for number in range(4)]))
    with pytest.raises(ValueError, match="similarity"):
        OddOneOut("model", Activations({}), "readout", similarity="correlation")


def test_arbiter_hands_tasks_on():
    features = features_of(6)
    arbiter = BehaviorArbiter(
        {
            "probabilities": ProbabilitiesMapping("model", Activations(features), "readout"),
            "odd_one_out": OddOneOut("model", Activations(features), "readout"),
        }
    )
    with pytest.raises(UserError, match="no task"):
        arbiter.look_at(stimuli_of(list(features)))
    with pytest.raises(NotApplicable, match="'label'"):
        arbiter.start_task("label", ["a"])
    arbiter.start_task("probabilities", stimuli_of(list(features), image_label=list("ababab")))
    assert arbiter.look_at(stimuli_of(list(features))).shape == (6, 2)
    arbiter.start_task("odd_one_out")
    assert arbiter.look_at(stimuli_of(list(features))).shape == (2,)
