"""Intervals over stimuli and neuroids of metrics that fit a map from features to responses."""

import numpy as np

from brainscore_core.metrics import Score
from brainscore_core.supported_data_standards.brainio.assemblies import NeuroidAssembly
from brainscore_vision import load_metric

from .case import Case, average, coords

__all__ = ["CASES", "assembly", "experiment"]

STIMULI, FEATURES, LATENT = 80, 40, 20
TRUTH = "mean score of the experiments, each with other stimuli and neuroids"

MODEL = np.random.default_rng(0).standard_normal((LATENT, FEATURES)) / np.sqrt(LATENT)
"""The model, which all experiments share: features are a function of what the stimuli contain."""


def assembly(values, stimuli=None, **neuroid):
    """Features or responses, presentation × neuroid [× time bin]."""
    stimuli = np.arange(len(values)) if stimuli is None else stimuli
    columns = coords("presentation", stimulus_id=[f"s{i:03}" for i in stimuli])
    columns |= coords("neuroid", neuroid_id=np.arange(values.shape[1]), **neuroid)
    dims = ["presentation", "neuroid", "time_bin"][: values.ndim]
    if values.ndim > 2:
        columns |= coords("time_bin", time_bin_start=[70, 120], time_bin_end=[120, 170])
    return NeuroidAssembly(values, coords=columns, dims=dims)


def _draw(rng, n, bins=1, fixed=0):
    """Features of new stimuli, and responses of new neuroids with weights and noise of their own.

    The first `fixed` stimuli are the same in all experiments.
    """
    latent = rng.standard_normal((STIMULI, LATENT, bins))
    latent[:fixed] = np.random.default_rng(1).standard_normal((fixed, LATENT, bins))
    latent /= np.sqrt(np.arange(1, LATENT + 1))[:, None]
    features = np.einsum("slt,lf->sft", latent, MODEL)
    features = np.tanh(features) + 0.5 * np.cos(features)
    signal = np.tanh(np.einsum("slt,ln->snt", latent, rng.standard_normal((LATENT, n))))
    shared = rng.standard_normal((STIMULI, 1, bins))
    noise = rng.uniform(0.3, 1.5, (n, 1)) * (0.3 * shared + 0.95 * rng.standard_normal((STIMULI, n, bins)))
    return (np.squeeze(part, axis=2) if bins == 1 else part for part in (features, signal + noise))


def _kwargs(name):
    return {"regression_kwargs": {"n_components": 10}} if name.removeprefix("reverse_").startswith("pls") else {}


def _cross_validated(name):
    metric = load_metric(name, **_kwargs(name))

    def draw(rng, n) -> Score:
        source, target = _draw(rng, n)
        if name.startswith("reverse"):  # the features are predicted from the responses
            source, target = target, source
        return metric(assembly(source), assembly(target))

    return draw


def _split(name):
    metric = load_metric(name, **_kwargs(name))
    train, test = np.arange(40), np.arange(40, STIMULI)

    def draw(rng, n) -> Score:
        sides = [*_draw(rng, n, fixed=len(train))]
        if name.startswith("reverse"):
            sides.reverse()
        return metric(*(assembly(side[rows], rows) for side in sides for rows in (train, test)))

    return draw


def _over_time(name):
    metric = load_metric(name, **({"regression_kwargs": {"n_components": 10}} if "pls" in name else {}))

    def draw(rng, n) -> Score:
        source, target = _draw(rng, n, 2)
        return metric(assembly(source), assembly(target))

    return draw


def _mask():
    metric = load_metric("mask_regression", crossvalidation_kwargs={"splits": 2})
    x, y, channel = (part.ravel() for part in np.meshgrid(range(2), range(2), range(10), indexing="ij"))

    def draw(rng, n) -> Score:
        source, target = _draw(rng, n)
        return metric(assembly(source, channel_x=x, channel_y=y, channel=channel), assembly(target))

    return draw


def experiment(name):
    """Experiments of any of these metrics."""
    if name == "mask_regression":
        return _mask()
    if name.startswith("spantime"):
        return _over_time(name)
    return _split(name) if name.endswith("_split") else _cross_validated(name)


def _case(*names, sizes=(20, 50, 100, 200), simulations=200):
    units = f"{STIMULI} stimuli, and neuroids"
    return Case(names, units, TRUTH, experiment(names[0]), average, sizes=sizes, simulations=simulations)


CASES = [
    _case("pls", "pls_cv", sizes=(10, 20, 50, 100, 200), simulations=300),
    _case("ridge", "ridge_cv", "dual_ridge", "dual_ridge_cv"),  # the same code, and so below
    _case("linear_predictivity", "linear_predictivity_cv"),
    _case("neuron_to_neuron", "neuron_to_neuron_cv"),
    _case("ridgecv", "ridgecv_cv", "dual_ridgecv", "dual_ridgecv_cv"),
    _case("ridgecv_relative", "ridgecv_relative_cv"),
    _case("pls_split"),
    _case("ridge_split", "dual_ridge_split"),
    _case("linear_predictivity_split"),
    _case("neuron_to_neuron_split"),
    _case("ridgecv_split", "dual_ridgecv_split"),
    _case("ridgecv_relative_split"),
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
