"""Every metric and ceiling has one value, whatever the order of presentations on either side."""

import sys
import warnings

import numpy as np
import pytest

from brainscore_core.metric_helpers.alignment import canonical_rows
from brainscore_core.supported_data_standards.brainio.assemblies import (
    BehavioralAssembly,
    DataAssembly,
    NeuroidAssembly,
)
from brainscore_vision import load_metric, metric_registry
from brainscore_vision.benchmark_helpers.measurements import average_repetition
from brainscore_vision.testing import stand_in

CEILINGS = [
    *(f"{name}.ceiling" for name in ("i1", "i1n", "i2", "i2n", "o1", "o2", "error_consistency", "accuracy_distance")),
    *(f"{name}.ceiling" for name in ("confusion_similarity", "tasks_consistency", "shape_bias")),
]
WITHOUT_PRESENTATIONS = {"value_delta", "ks_similarity", "property_ceiling"}  # of scores, or of properties
CLASSES = {cls.__name__: cls for cls in (BehavioralAssembly, DataAssembly, NeuroidAssembly)}


def _odd_one_out(make):
    """Some triplets occur twice."""
    rng = np.random.default_rng(0)
    shown = np.array([f"image{i}" for i in range(6)])[np.argsort(rng.random((40, 6)), axis=1)[:, :3]]
    shown[30:] = shown[:10]
    columns = {f"stimulus_id_{k}": ("presentation", shown[:, k]) for k in range(3)}
    source = make("BehavioralAssembly", rng.integers(0, 3, 40), columns, ["presentation"])
    columns = {f"image_{k + 1}": ("presentation", shown[:, k]) for k in range(3)}
    return load_metric("odd_one_out")(source, make("BehavioralAssembly", shown[:, 2], columns, ["presentation"]))


def _pairs_of_a_factor(make):
    sides = np.random.default_rng(0).standard_normal((2, 30, 8)) + np.random.default_rng(1).standard_normal((30, 8))
    columns = {
        "factor": ("presentation", np.repeat(["shape", "texture"], 15)),
        "pair_id": ("presentation", np.arange(30)),
    }
    dims = ["presentation", "neuroid"]
    return load_metric("factor_dimensionality", factor="shape")(
        *(make("NeuroidAssembly", side, columns, dims) for side in sides)
    )


def _rsa_ceiling(make):
    rng = np.random.default_rng(0)
    values = rng.standard_normal((15, 6)) + rng.standard_normal((4, 15, 6))
    columns = {
        "stimulus_id": ("presentation", np.tile([f"s{i:02}" for i in range(15)], 4)),
        "subject": ("presentation", np.repeat(list("abcd"), 15)),
    }
    assembly = make("NeuroidAssembly", values.reshape(60, 6), columns, ["presentation", "neuroid"])
    return load_metric("rsa_ceiling")(assembly)


def _trials_of_strength(make):
    rng = np.random.default_rng(0)
    strength = np.repeat(np.arange(1.0, 13), 20)
    right = rng.random(len(strength)) < 0.5 + 0.5 / (1 + np.exp(5 - strength))
    side = rng.integers(0, 2, len(strength))
    chosen = np.where(right, side, 1 - side)
    columns = {"offset": ("presentation", strength), "image_label": ("presentation", np.array(["left", "right"])[side])}
    columns["choice"] = ("choice", ["left", "right"])
    return make("BehavioralAssembly", np.eye(2)[chosen], columns, ["presentation", "choice"])


def _threshold(make):
    metric = load_metric("threshold", "offset", threshold_accuracy=0.75)
    return metric(_trials_of_strength(make), [4.0, 5.0, 6.0, 9.0])


def _threshold_elevation(make):
    metric = load_metric("threshold_elevation", "offset", "alone", "flanked", threshold_accuracy=0.75)
    return metric({"alone": _trials_of_strength(make), "flanked": _trials_of_strength(make)}, [0.7, 1.0, 1.3, 1.5])


def _read_out(readout):
    def score(make):
        rng = np.random.default_rng(0)
        n, starts = 60, [70, 80, 90]
        truth = np.arange(n) % 3
        late = rng.random(n) < 0.5
        signal = np.array([[0.3, 1.0, 2.0], [0.1, 0.3, 2.0]])[late.astype(int)]  # image × time bin
        features = np.eye(3)[truth][:, :, None] * signal[:, None] + 0.5 * rng.standard_normal((n, 3, 3))
        ids = ("presentation", [f"s{i:02}" for i in range(n)])
        columns = {"stimulus_id": ids, "image_label": ("presentation", truth), "time_bin_start": ("time_bin", starts)}
        source = make("NeuroidAssembly", features, columns, ["presentation", "neuroid", "time_bin"])
        columns = {"stimulus_id": ids, "i1": ("presentation", np.full(n, 0.8))}
        times = 90 + 10 * late + 5 * rng.standard_normal(n)
        return load_metric("ost", readout=readout)(source, make("DataAssembly", times, columns, ["presentation"]))

    return score


def _recordings(make, repetitions=1):
    """Features and responses to 60 objects of four kinds, sorted by none of their coordinates."""
    rng = np.random.default_rng(0)
    features = rng.standard_normal((60, 12))
    responses = features @ rng.standard_normal((12, 8)) + rng.standard_normal((repetitions, 60, 8))
    columns = {
        "object_name": ("presentation", [f"object{i % 4}" for i in rng.permutation(60)]),
        "stimulus_id": ("presentation", [f"s{i:02}" for i in rng.permutation(60)]),
    }
    dims = ["presentation", "neuroid"]
    source = make("NeuroidAssembly", features, columns, dims)
    columns = {name: (dim, np.tile(values, repetitions)) for name, (dim, values) in columns.items()}
    columns |= {"subject": ("neuroid", np.repeat(["a", "b"], 4))}
    if repetitions > 1:
        columns["repetition"] = ("presentation", np.repeat(np.arange(repetitions), 60))
    return source, make("NeuroidAssembly", responses.reshape(-1, 8), columns, dims)


def _of_objects(name, repetitions=1, **options):
    def score(make):
        source, target = _recordings(make, repetitions)
        metric = load_metric(name, **options)
        return metric(target) if name.startswith(("internal", "predictor", "ncsnr")) else metric(source, target)

    return score


def _splits(**options):
    return {"crossvalidation_kwargs": options}


OWN = {
    "odd_one_out": _odd_one_out,
    "factor_dimensionality": _pairs_of_a_factor,
    "rsa_ceiling": _rsa_ceiling,
    "threshold": _threshold,
    "threshold_elevation": _threshold_elevation,
    "ost, logistic": _read_out("logistic"),
    "ost, softmax": _read_out("softmax"),
    "pls of objects": _of_objects("pls", regression_kwargs={"n_components": 5}),
    "ridge of objects": _of_objects("ridge"),
    "ridge, folds": _of_objects("ridge", **_splits(kfold=True, splits=4)),
    "ridge, groups": _of_objects(
        "ridge", **_splits(group_coord="object_name", stratification_coord=None, splits=4, train_size=0.5)
    ),
    "ridge, groups as values": _of_objects(
        "ridge", **_splits(split_coord="object_name", unique_split_values=True, stratification_coord=None, splits=4)
    ),
    "ridge, chosen by position": _of_objects(
        "ridge", **_splits(preprocess_indices=lambda train, test, source: (train[source.values[train, 0] > -1], test))
    ),
    "ridgecv of objects": _of_objects("ridgecv"),
    "dual_ridgecv of objects": _of_objects("dual_ridgecv"),
    "neuron_to_neuron of objects": _of_objects("neuron_to_neuron"),
    "reverse_ridge of objects": _of_objects("reverse_ridge"),
    "rdm of objects": _of_objects("rdm"),
    "rdm_cv of objects": _of_objects("rdm_cv"),
    "rdm_crossnobis of objects": _of_objects("rdm_crossnobis", repetitions=3),
    "cka of objects": _of_objects("cka"),
    "internal_consistency of objects": _of_objects("internal_consistency", repetitions=4),
    "predictor_consistency of objects": _of_objects("predictor_consistency", repetitions=4),
    "ncsnr of objects": _of_objects("ncsnr", repetitions=4),
}
NAMES = sorted({*metric_registry, *CEILINGS, *OWN} - WITHOUT_PRESENTATIONS)


class _Shuffling:
    """Makes assemblies, their presentations in another order each."""

    def __init__(self, seed):
        self._rng = None if seed is None else np.random.default_rng(seed)
        self.shuffled = 0

    def __call__(self, name, values, coords, dims):
        assembly = CLASSES[name](values, coords=coords, dims=dims)
        if self._rng is None or "presentation" not in assembly.dims:
            return assembly
        self.shuffled += 1
        return assembly.isel(presentation=self._rng.permutation(assembly.sizes["presentation"]))


@pytest.fixture
def score_of(perf, monkeypatch):
    """``score_of(name, make)`` is the score of an experiment of perf/coverage.py, or of this file."""
    (cases,) = perf("coverage_cases")
    modules = [module for name, module in sys.modules.items() if name.startswith("coverage_cases.")]
    regression = sys.modules["coverage_cases.regression"]

    def score(name, make):
        if name in OWN:
            return OWN[name](make)
        for module in modules:
            for cls in CLASSES.keys() & vars(module).keys():
                monkeypatch.setattr(module, cls, lambda values, coords, dims, cls=cls: make(cls, values, coords, dims))
        case = next(case for group in cases.GROUPS.values() for case in group if name in case.names)
        draw = regression.experiment(name) if case in regression.CASES else case.draw
        return draw(np.random.default_rng(0), 50 if name == "ost" else 20)

    return score


def _numbers(score):
    """All numbers of a score that do not belong to single presentations; those of single ones sorted."""
    attrs = score.attrs
    found = {name: attrs[name] for name in ("error", "ci", "split_error", "bias", "undefined") if name in attrs}
    found["value"] = score.values
    for name in ("raw", "influence", "further_influence"):
        values = attrs.get(name)
        if values is not None and np.asarray(values).dtype.kind in "fiub":
            sort = name != "raw" or "presentation" in values.dims
            found[name] = np.sort(np.ravel(values)) if sort else values
    return {name: np.asarray(values, dtype=float) for name, values in found.items()}


@pytest.mark.sampled(4)
@pytest.mark.parametrize(
    "name",
    [
        pytest.param(name, marks=pytest.mark.slow(reason="fits by gradient descent"))
        if name == "mask_regression"
        else name
        for name in NAMES
    ],
)
def test_any_order_has_the_same_score(score_of, name):
    if name in ("mask_regression", "ost, softmax"):
        pytest.importorskip("torch")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of few stimuli
        expected = _numbers(score_of(name, _Shuffling(None)))
        for seed in (1, 2):
            make = _Shuffling(seed)
            found = _numbers(score_of(name, make))
            assert make.shuffled
            assert found.keys() == expected.keys()
            for key, values in expected.items():
                np.testing.assert_allclose(found[key], values, rtol=1e-8, atol=1e-8, err_msg=key)
            assert np.isfinite(found["value"]).all()


@pytest.mark.parametrize("name", ["MajajHong2015.public", "MajajHong2015.private", "FreemanZiemba2013.public"])
def test_published_averages_are_in_the_order_of_their_folds(name, tmp_path, monkeypatch):
    """Stand-ins have the coordinates of the published data: the folds of their averages stay."""
    monkeypatch.setenv("BRAINSCORE_HOME", str(tmp_path))
    averaged = average_repetition(stand_in(name))
    np.testing.assert_array_equal(canonical_rows(averaged), np.arange(averaged.sizes["presentation"]))
