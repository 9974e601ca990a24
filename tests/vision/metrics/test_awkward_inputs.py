"""What each metric of neural similarity does with awkward recordings: never a quiet 0, never an AssertionError."""

import warnings

import numpy as np
import pytest

from brainscore_core.metric_helpers.alignment import MetricInputError
from brainscore_core.supported_data_standards.brainio.assemblies import NeuroidAssembly
from brainscore_vision import load_metric

pytestmark = pytest.mark.sampled(5)  # every metric with everything that may be awkward about its input

N, P, Q, REPETITIONS = 40, 30, 28, 3

REGRESSIONS = ("pls", "ridge", "linear_predictivity", "neuron_to_neuron", "ridgecv", "dual_ridge", "dual_ridgecv")
REVERSED = tuple(f"reverse_{name}" for name in REGRESSIONS[:5])
SPLIT = tuple(f"{name}_split" for name in (*REGRESSIONS, *REVERSED))
CROSS_VALIDATED = (*REGRESSIONS, *REVERSED, "spantime_pls", "spantime_ridge")
RDM = ("rdm", "rdm_cv", "rdm_cosine", "rdm_euclidean", "rdm_whitened")
NOISE_NORMALISED = ("rdm_mahalanobis", "rdm_crossnobis", "rdm_crossnobis_whitened")
CKA = ("cka", "cka_cv", "cka_biased", "cka_rbf")
ALL = (*CROSS_VALIDATED, *SPLIT, *RDM, *NOISE_NORMALISED, *CKA, "procrustes")


def arrays():
    """A model's features and responses that they explain in part."""
    rng = np.random.default_rng(0)
    X = rng.standard_normal((N, P)) + 1
    return X, X[:, :Q] + rng.standard_normal((N, Q))


def _assembly(values, ids=None, prefix="n", **columns):
    n, q = values.shape[:2]
    ids = np.arange(n) if ids is None else np.asarray(ids)
    coords = {
        "stimulus_id": ("presentation", [f"s{i:03}" for i in ids]),
        "object_name": ("presentation", [f"o{i % 2}" for i in ids]),
        "neuroid_id": ("neuroid", [f"{prefix}{i}" for i in range(q)]),
        "region": ("neuroid", ["IT"] * q),
    }
    coords |= {name: ("presentation", column) for name, column in columns.items()}
    dims = ["presentation", "neuroid"]
    if values.ndim == 3:
        coords |= {"time_bin_start": ("time_bin", [0, 10]), "time_bin_end": ("time_bin", [10, 20])}
        dims.append("time_bin")
    return NeuroidAssembly(values, coords=coords, dims=dims)


def score(name, X, Y, source_ids=None, target_ids=None):
    """Score of arrays, whatever a metric needs beside them; warnings are errors."""
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        warnings.filterwarnings("ignore", message="PLS stopped after")  # constant responses have no more components
        warnings.filterwarnings("ignore", message="splits test only")  # few stimuli, as here
        return _score(name, X, Y, source_ids, target_ids)


def _score(name, X, Y, source_ids, target_ids):
    ids = [np.arange(len(values)) if given is None else given for values, given in ((X, source_ids), (Y, target_ids))]
    if name.startswith("spantime"):
        source, target = (_assembly(np.stack([v, v[:, ::-1]], axis=-1), i) for v, i in zip((X, Y), ids, strict=True))
    elif name in NOISE_NORMALISED:
        noise = np.random.default_rng(1).standard_normal((REPETITIONS, *Y.shape)) * (np.ptp(Y, axis=0) > 0)
        repetition = np.repeat(np.arange(REPETITIONS), len(Y))
        values = (Y + noise).reshape(-1, Y.shape[1])
        source = _assembly(X, ids[0])
        target = _assembly(values, np.tile(ids[1], REPETITIONS), repetition=repetition)
    else:
        source, target = _assembly(X, ids[0], prefix="m"), _assembly(Y, ids[1])
    splits = {"crossvalidation_kwargs": {"splits": 3}} if name in CROSS_VALIDATED or name.endswith("_cv") else {}
    metric = load_metric(name, **splits)
    if not name.endswith("_split"):
        return metric(source, target)
    cuts = [3 * part.sizes["presentation"] // 4 for part in (source, target)]
    sides = [
        part.isel(presentation=rows)
        for part, cut in zip((source, target), cuts, strict=True)
        for rows in (slice(0, cut), slice(cut, None))
    ]
    return metric(source_train=sides[0], source_test=sides[1], target_train=sides[2], target_test=sides[3])


@pytest.fixture(scope="module")
def data():
    """Once for all; nobody changes them."""
    return arrays()


@pytest.mark.parametrize("side", ["source", "target"])
@pytest.mark.parametrize("name", ALL)
def test_nan_neuroid_is_refused_and_named(name, side, data):
    values = {"source": data[0].copy(), "target": data[1].copy()}
    values[side][:, 3] = np.nan
    neuroid = "n3" if side == "target" or name in NOISE_NORMALISED or name.startswith("spantime") else "m3"
    with pytest.raises(MetricInputError, match=f"the {side} holds NaN or infinity.*neuroid '{neuroid}'") as caught:
        score(name, values["source"], values["target"])
    assert "dropna" in caught.value.remedy


@pytest.mark.parametrize("side", ["source", "target"])
@pytest.mark.parametrize("name", ALL)
def test_constant_neuroid_counts_as_undefined_where_it_is_predicted(name, side, data):
    """It is left out, and counted, by metrics a neuroid; the others take it as it is."""
    X, Y = (values.copy() for values in data)
    (X if side == "source" else Y)[:, 3] = 1
    found = score(name, X, Y)
    assert np.isfinite(found.values).all()
    assert (found.values != 0).all()
    predicted = "source" if name.startswith("reverse") else "target"
    a_neuroid = name in (*CROSS_VALIDATED, *SPLIT)
    assert bool(found.attrs.get("undefined")) == (a_neuroid and side == predicted)


@pytest.mark.parametrize("side", ["source", "target"])
@pytest.mark.parametrize("name", ALL)
def test_constant_recordings_are_nan_with_a_reason(name, side, data):
    X, Y = (np.ones_like(v) if role == side else v for v, role in zip(data, ("source", "target"), strict=True))
    if side == "target" and name in NOISE_NORMALISED:  # repetitions without noise
        with pytest.raises(MetricInputError, match="noise cannot be estimated"):
            score(name, X, Y)
        return
    found = score(name, X, Y)
    assert np.isnan(found.values).all()
    assert found.attrs["error_reason"]
    assert found.attrs["ci_reason"]


@pytest.mark.parametrize("side", ["source", "target"])
@pytest.mark.parametrize("name", ALL)
def test_one_neuroid(name, side, data):
    """A value, except where it makes none: no pattern to correlate, fewer features than components."""
    X, Y = (v[:, :1] if role == side else v for v, role in zip(data, ("source", "target"), strict=True))
    components = "pls" in name and side == ("target" if name.startswith("reverse") else "source")
    if components:
        with pytest.raises(MetricInputError, match=r"25 components.*\n?.*n_components"):
            score(name, X, Y)
        return
    found = score(name, X, Y)
    assert (found.values != 0).all()
    if name in ("rdm", "rdm_cv"):
        assert np.isnan(found.values)
        assert f"RDM of the {side} holds NaN" in found.attrs["error_reason"]
    else:
        assert np.isfinite(found.values).all()


@pytest.mark.parametrize("name", ALL)
def test_fewer_stimuli_than_components(name, data):
    X, Y = (values[:24] for values in data)
    if "pls" in name and not name.startswith("spantime"):  # that one fits stimuli × time bins
        with pytest.raises(MetricInputError, match="25 components"):
            score(name, X, Y)
    else:
        assert np.isfinite(score(name, X, Y).values).all()


@pytest.mark.parametrize("name", CKA)
def test_unbiased_alignment_needs_four_stimuli(name, data):
    X, Y = (values[:3] for values in data)
    if name == "cka_biased":
        assert np.isfinite(float(score(name, X, Y)))
    else:
        with pytest.raises(MetricInputError, match="3 stimuli"):
            score(name, X, Y)


@pytest.mark.parametrize("name", ALL)
def test_unequal_stimuli_are_refused_and_named(name, data):
    X, Y = data
    with pytest.raises(MetricInputError, match=r"different values of 'stimulus_id'.*'s0\d\d'") as caught:
        score(name, X, Y, source_ids=np.arange(N) + 1)
    assert caught.value.remedy
    with pytest.raises(MetricInputError, match=r"different values of 'stimulus_id'.*'s0\d\d'"):
        score(name, X[:-1], Y)


@pytest.mark.parametrize("name", ALL)
@pytest.mark.parametrize("sides", [("source",), ("target",), ("source", "target")])
def test_duplicate_stimuli_are_refused_and_named(name, sides, data):
    ids = np.arange(N)
    ids[5] = 4
    given = {f"{side}_ids": ids for side in sides}
    with pytest.raises(MetricInputError, match=r"'s004'.*(more than once|occurs \d times)") as caught:
        score(name, *data, **given)
    assert caught.value.remedy
