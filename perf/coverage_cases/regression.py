"""Intervals over neuroids of metrics that fit a map from features to responses."""

from functools import cache

import numpy as np

from brainscore_core.metrics import Score
from brainscore_core.supported_data_standards.brainio.assemblies import NeuroidAssembly
from brainscore_vision import load_metric

from .case import Case, coords, pooled_median

__all__ = ["CASES", "experiment"]

STIMULI, FEATURES = 80, 40
TRUTH = "median over the neuroids of all experiments, same stimuli"


def _assembly(values, stimuli=None, **neuroid):
    stimuli = np.arange(len(values)) if stimuli is None else stimuli
    columns = coords("presentation", stimulus_id=[f"s{i:03}" for i in stimuli])
    columns |= coords("neuroid", neuroid_id=np.arange(values.shape[1]), **neuroid)
    dims = ["presentation", "neuroid", "time_bin"][: values.ndim]
    if values.ndim > 2:
        columns |= coords("time_bin", time_bin_start=[70, 120], time_bin_end=[120, 170])
    return NeuroidAssembly(values, coords=columns, dims=dims)


@cache
def _fixed(bins=1):
    """Features that all experiments share."""
    rng = np.random.default_rng(0)
    return np.squeeze(rng.standard_normal((STIMULI, FEATURES, bins)) / np.sqrt(np.arange(1, FEATURES + 1))[:, None])


def _neuroids(rng, n, bins=1):
    """Responses of neuroids with weights and noise of their own."""
    features = _fixed(bins).reshape(STIMULI, FEATURES, bins)
    signal = np.einsum("sft,fn->snt", features, rng.standard_normal((FEATURES, n)))
    noise = rng.standard_normal((STIMULI, n, bins)) * rng.uniform(0.3, 2, (n, 1))
    return np.squeeze(signal + noise, axis=2) if bins == 1 else signal + noise


def _cross_validated(name):
    metric = load_metric(name)

    def draw(rng, n) -> Score:
        source, target = _fixed(), _neuroids(rng, n)
        if name.startswith("reverse"):  # the features vary, the responses are those of the same neuroids
            source, target = target, source
        return metric(_assembly(source), _assembly(target))

    return draw


def _split(name):
    metric = load_metric(name)
    train, test = np.arange(60), np.arange(60, STIMULI)

    def draw(rng, n) -> Score:
        sides = [_fixed(), _neuroids(rng, n)]
        if name.startswith("reverse"):
            sides.reverse()
        return metric(*(_assembly(side[rows], rows) for side in sides for rows in (train, test)))

    return draw


def _over_time(name):
    metric = load_metric(name)

    def draw(rng, n) -> Score:
        return metric(_assembly(_fixed(2)), _assembly(_neuroids(rng, n, 2)))

    return draw


def _mask():
    metric = load_metric("mask_regression", crossvalidation_kwargs={"splits": 2})
    x, y, channel = (part.ravel() for part in np.meshgrid(range(2), range(2), range(10), indexing="ij"))
    source = _assembly(_fixed(), channel_x=x, channel_y=y, channel=channel)

    def draw(rng, n) -> Score:
        return metric(source, _assembly(_neuroids(rng, n)))

    return draw


def experiment(name):
    """Experiments of any of these metrics."""
    if name == "mask_regression":
        return _mask()
    if name.startswith("spantime"):
        return _over_time(name)
    return _split(name) if name.endswith("_split") else _cross_validated(name)


def _case(*names, sizes=(20, 50, 100, 200), simulations=200):
    return Case(names, "neuroids", TRUTH, experiment(names[0]), pooled_median, sizes=sizes, simulations=simulations)


CASES = [
    _case("pls", "pls_cv", sizes=(10, 20, 50, 100, 200), simulations=300),
    _case("ridge", "ridge_cv", "dual_ridge", "dual_ridge_cv"),  # the same code, and so below
    _case("linear_predictivity", "linear_predictivity_cv"),
    _case("neuron_to_neuron", "neuron_to_neuron_cv"),
    _case("ridgecv", "ridgecv_cv", "dual_ridgecv", "dual_ridgecv_cv"),
    _case("pls_split"),
    _case("ridge_split", "dual_ridge_split"),
    _case("linear_predictivity_split"),
    _case("neuron_to_neuron_split"),
    _case("ridgecv_split", "dual_ridgecv_split"),
    _case("reverse_pls", "reverse_pls_cv"),
    _case("reverse_ridge", "reverse_ridge_cv"),
    _case("reverse_linear_predictivity", "reverse_linear_predictivity_cv"),
    _case("reverse_neuron_to_neuron", "reverse_neuron_to_neuron_cv"),
    _case("reverse_ridgecv", "reverse_ridgecv_cv"),
    *(
        _case(f"reverse_{name}_split")
        for name in ("pls", "ridge", "linear_predictivity", "neuron_to_neuron", "ridgecv")
    ),
    *(
        _case(name, sizes=(20, 50, 100), simulations=100)
        for name in ("spantime_pls", "spantime_ridge", "mask_regression")
    ),
]
