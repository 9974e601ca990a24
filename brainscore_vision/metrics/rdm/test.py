import numpy as np
import pytest
import scipy.io
from scipy.spatial.distance import pdist, squareform
from scipy.stats import spearmanr

from brainscore_core.metric_helpers.alignment import MetricInputError
from brainscore_core.metric_helpers.rdm import RDM, RDMSimilarity
from brainscore_core.numerics import compare_rdms, compare_rdms_whitened, crossnobis_rdm, mahalanobis_rdm, rdm
from brainscore_core.numerics.deletion import (
    deletion_influence,
    rdm_neuroid_influence,
    rdm_without_neuroids,
    rdm_without_stimuli,
)
from brainscore_core.supported_data_standards.brainio.assemblies import NeuroidAssembly
from brainscore_vision import load_metric


def _assembly(values, order=None):
    order = np.arange(len(values)) if order is None else order
    return NeuroidAssembly(
        np.asarray(values)[order],
        coords={
            "stimulus_id": ("presentation", [f"s{i:03}" for i in order]),
            "object_name": ("presentation", [f"o{i % 3}" for i in order]),
            "neuroid_id": ("neuroid", np.arange(np.shape(values)[1])),
            "region": ("neuroid", ["IT"] * np.shape(values)[1]),
        },
        dims=["presentation", "neuroid"],
    )


@pytest.fixture
def data():
    rng = np.random.default_rng(0)
    X = rng.standard_normal((40, 30))
    return X, X[:, :20] + rng.standard_normal((40, 20))


def test_equals_the_definition_in_any_order(data):
    X, Y = data
    expected = spearmanr(pdist(X, "correlation"), pdist(Y, "correlation"))[0]
    for order in (None, np.random.default_rng(0).permutation(40)):
        score = load_metric("rdm")(_assembly(X, order), _assembly(Y))
        assert float(score) == pytest.approx(expected, abs=1e-12)
        assert score.attrs["scale"] == "similarity"
        low, high = score.attrs["ci"]
        assert low < expected < high
        assert score.attrs["ci_estimates"].startswith("new stimuli of these 3 objects and new neuroids; 40 stimuli")
        influence = score.attrs["influence"]
        assert influence["stimulus_id"].values.tolist() == [f"s{i:03}" for i in range(40)]
        further = score.attrs["further_influence"]
        assert further["neuroid_id"].values.tolist() == list(range(20))
        variance = influence.values.var(ddof=1) / 40 + further.values.var(ddof=1) / 20
        assert np.sqrt(variance) == pytest.approx(score.attrs["error"])


def test_rdm_of_an_assembly(data):
    square = RDM()(_assembly(data[0]))
    np.testing.assert_allclose(square.values, squareform(pdist(data[0], "correlation")), atol=1e-12)
    assert square["other_stimulus_id"].dims == ("presentation_other",)
    score = RDMSimilarity()(square, RDM()(_assembly(data[1])))
    assert float(score) == pytest.approx(float(load_metric("rdm")(_assembly(data[0]), _assembly(data[1]))))


def test_stimulus_without_a_pattern_gives_nan_with_a_reason(data):
    X, Y = data[0].copy(), data[1]
    X[4] = 0
    score = load_metric("rdm")(_assembly(X), _assembly(Y))
    assert np.isnan(float(score))
    assert "RDM of the source holds NaN" in score.attrs["ci_reason"]
    assert "RDM of the target" in load_metric("rdm")(_assembly(Y), _assembly(X)).attrs["error_reason"]


def test_what_cannot_be_compared_is_refused(data):
    X, Y = data
    with pytest.raises(MetricInputError, match="1 only in the target"):
        load_metric("rdm")(_assembly(X[1:], np.arange(39)), _assembly(Y))
    with pytest.raises(MetricInputError, match="2 stimuli"):
        load_metric("rdm")(_assembly(X[:2]), _assembly(Y[:2]))
    with pytest.raises(MetricInputError, match="more than once in the source"):
        load_metric("rdm")(_assembly(X).isel(presentation=[0, 0, 1]), _assembly(Y).isel(presentation=[0, 1, 2]))
    X = X.copy()
    X[0, 0] = np.nan
    with pytest.raises(MetricInputError, match="source holds NaN"):
        load_metric("rdm")(_assembly(X), _assembly(Y))


def test_cross_validated_equals_the_existing_platform():
    """Values of brainscore-vision 2.4.2 on the same assemblies, one a split."""
    rng = np.random.default_rng(0)
    X = rng.standard_normal((60, 30))
    Y = X[:, :20] + rng.standard_normal((60, 20))
    expected = [
        0.40673521341804253, 0.4001244700043055, 0.4097460525256456, 0.3924930848405076, 0.39329775198859207,
        0.4254178641708946, 0.39415813272142985, 0.37702927467341923, 0.3969408716905291, 0.37765236590471124,
    ]  # fmt: skip
    for order in (None, np.random.default_rng(1).permutation(60)):
        score = load_metric("rdm_cv")(_assembly(X, order), _assembly(Y))
        np.testing.assert_allclose(score.attrs["raw"].values, expected, atol=1e-12)
        assert float(score) == pytest.approx(0.3973595081938077, abs=1e-12)
        assert score.attrs["split_error"] == pytest.approx(0.00434573, abs=1e-8)
    whole = load_metric("rdm")(_assembly(X), _assembly(Y))
    assert np.ptp(score.attrs["ci"]) == pytest.approx(np.ptp(whole.attrs["ci"]), rel=0.15)
    assert np.corrcoef(score.attrs["influence"], whole.attrs["influence"])[0, 1] > 0.95


def test_split_with_a_flat_stimulus_is_left_out_and_counted(data):
    X, Y = data[0].copy(), data[1]
    X[4] = 1
    options = {"test_size": 0.5, "stratification_coord": None}
    score = load_metric("rdm_cv", crossvalidation_kwargs=options)(_assembly(X), _assembly(Y))
    raw = score.attrs["raw"].values
    assert 0 < score.attrs["undefined"] == np.isnan(raw).sum() < 10
    assert float(score) == pytest.approx(np.nanmean(raw))
    assert np.isfinite(score.attrs["ci"]).all()


@pytest.mark.parametrize(("name", "kind"), [("rdm_cosine", "cosine"), ("rdm_euclidean", "euclidean")])
def test_other_dissimilarities_equal_scipy(data, name, kind):
    X, Y = data
    order = np.random.default_rng(0).permutation(40)
    score = load_metric(name)(_assembly(X, order), _assembly(Y))
    assert float(score) == pytest.approx(spearmanr(pdist(X, kind), pdist(Y, kind))[0], abs=1e-12)
    low, high = score.attrs["ci"]
    assert low < float(score) < high
    assert score.attrs["scale"] == "similarity"


def test_whitened_comparison_is_linear_cka(data):
    X, Y = map(_assembly, data)
    assert float(load_metric("rdm_whitened")(X, Y)) == pytest.approx(float(load_metric("cka_biased")(X, Y)), abs=1e-12)
    constant = load_metric("rdm_whitened")(_assembly(np.ones((40, 3))), Y)
    assert np.isnan(float(constant))
    assert "RDM of the source are 0" in constant.attrs["ci_reason"]


def test_one_neuroid(data):
    one = _assembly(data[0][:, :1])
    assert "holds NaN" in load_metric("rdm")(one, _assembly(data[1])).attrs["error_reason"]
    assert np.isfinite(float(load_metric("rdm_euclidean")(one, _assembly(data[1]))))


def test_unknown_options_are_refused_early():
    with pytest.raises(ValueError, match="unknown dissimilarity 'manhattan'"):
        load_metric("rdm", dissimilarity="manhattan")
    with pytest.raises(ValueError, match="unknown comparison 'kendall'"):
        load_metric("rdm_crossnobis", comparison="kendall")


def _repeated(folds, order=None):
    """Repetitions × stimuli × neuroids, as presentations."""
    r, n, p = folds.shape
    stimuli, repetition = np.tile(np.arange(n), r), np.repeat(np.arange(r), n)
    order = np.arange(r * n) if order is None else order
    return NeuroidAssembly(
        folds.reshape(r * n, p)[order],
        coords={
            "stimulus_id": ("presentation", [f"s{i:03}" for i in stimuli[order]]),
            "repetition": ("presentation", repetition[order]),
            "neuroid_id": ("neuroid", np.arange(p)),
            "region": ("neuroid", ["IT"] * p),
        },
        dims=["presentation", "neuroid"],
    )


@pytest.fixture
def folds():
    rng = np.random.default_rng(0)
    signal, mix = rng.standard_normal((12, 7)), rng.standard_normal((7, 7))
    return signal + rng.standard_normal((4, 12, 7)) @ mix, signal


def _literal(folds, *, crossvalidated):
    from sklearn.covariance import ledoit_wolf

    r, n, p = folds.shape
    residuals = (folds - folds.mean(axis=0)).reshape(-1, p)
    inverse = np.linalg.inv(ledoit_wolf(residuals, assume_centered=True)[0] * r / (r - 1))
    i, j = np.triu_indices(n, k=1)
    deltas = folds[:, i] - folds[:, j]
    if not crossvalidated:
        deltas = deltas.mean(axis=0, keepdims=True)
    products = np.einsum("ack,kl,bcl->abc", deltas, inverse, deltas)
    if not crossvalidated:
        return products[0, 0] / p
    return products[~np.eye(r, dtype=bool)].mean(axis=0) / p


@pytest.mark.parametrize("crossvalidated", [True, False])
def test_noise_normalised_equals_the_definition_in_any_order(folds, crossvalidated):
    measured, signal = folds
    name = "rdm_crossnobis" if crossvalidated else "rdm_mahalanobis"
    literal = _literal(measured, crossvalidated=crossvalidated)
    expected = spearmanr(pdist(signal, "sqeuclidean"), literal)[0]
    rng = np.random.default_rng(1)
    for source_order, target_order in ((None, None), (rng.permutation(12), rng.permutation(48))):
        target = _repeated(measured, target_order)
        score = load_metric(name)(_assembly(signal, source_order), target)
        assert float(score) == pytest.approx(expected, abs=1e-12)
        found = score.attrs["rdm"]
        by_name = np.argsort(found["stimulus_id"].values)
        np.testing.assert_allclose(
            squareform(found.values[np.ix_(by_name, by_name)], checks=False), literal, atol=1e-12
        )
        assert score.attrs["error"] > 0
        influence = score.attrs["influence"].sortby("stimulus_id").values
        straight = compare_rdms(pdist(signal, "sqeuclidean"), literal).influence
        np.testing.assert_allclose(influence, straight, atol=1e-9)


def test_whitened_crossnobis(folds):
    measured, signal = folds
    score = load_metric("rdm_crossnobis_whitened")(_assembly(signal), _repeated(measured))
    expected = compare_rdms_whitened(pdist(signal, "sqeuclidean"), _literal(measured, crossvalidated=True)).value
    assert float(score) == pytest.approx(expected, abs=1e-12)
    assert np.isfinite(score.attrs["error"])
    assert np.isnan(score.attrs["ci"]).all()
    assert "12 stimuli: at least 20" in score.attrs["ci_reason"]


@pytest.mark.parametrize("name", ["rdm_mahalanobis", "rdm_crossnobis", "rdm_crossnobis_whitened"])
def test_interval_is_about_the_true_noise_covariance(name):
    """Shrinkage lifts the score above all that the interval holds."""
    rng = np.random.default_rng(0)
    X = rng.standard_normal((60, 6))
    spread = np.array([10, 10, 10, 1, 0.1, 0.1])
    folds = X + rng.standard_normal((4, 60, 6)) * spread
    order = rng.permutation(60)
    score = load_metric(name)(_assembly(X, order), _repeated(folds, rng.permutation(240)))
    low, high = score.attrs["ci"]
    straight = load_metric(name)(_assembly(X), _repeated(folds))
    assert straight.attrs["ci"] == pytest.approx((low, high), abs=1e-9)
    centre = float(score) - score.attrs["bias"]
    assert low < centre < high
    true = np.linalg.inv(np.diag(spread**2))
    with_truth = crossnobis_rdm(folds, true) if "crossnobis" in name else mahalanobis_rdm(folds.mean(0), true)
    compare = compare_rdms_whitened if "whitened" in name else compare_rdms
    known = compare(pdist(X, "sqeuclidean"), with_truth)
    assert centre == pytest.approx(known.value - known.bias, abs=score.attrs["error"])
    assert "true noise covariance" in score.attrs["ci_estimates"]
    assert score.attrs["ci_method"] == "jackknife"


def test_no_interval_where_the_noise_covariance_is_too_unsteady():
    rng = np.random.default_rng(0)
    X = rng.standard_normal((30, 8))
    score = load_metric("rdm_crossnobis")(_assembly(X), _repeated(X + rng.standard_normal((2, 30, 8))))
    assert "30 degrees of freedom; 32 are needed" in score.attrs["ci_reason"]
    assert score.attrs["error"] > 0
    folds = X + rng.standard_normal((3, 30, 8))
    folds[:, :, 0] = X[:, 0]  # no noise: some neuroid has a variance of 0
    assert (
        "has no inverse without shrinkage"
        in load_metric("rdm_crossnobis")(_assembly(X), _repeated(folds)).attrs["ci_reason"]
    )


def test_noise_normalisation_refuses_what_has_no_repetitions(folds):
    measured, signal = folds
    metric, source, target = load_metric("rdm_crossnobis"), _assembly(signal), _repeated(measured)
    with pytest.raises(MetricInputError, match="1 value of 'repetition'"):
        metric(source, target.isel(presentation=slice(0, 12)))
    with pytest.raises(MetricInputError, match=r"'s011' is missing in repetition 3"):
        metric(source, target.isel(presentation=slice(0, -1)))
    with pytest.raises(MetricInputError, match="'s000' occurs 2 times in repetition 0"):
        metric(source, target.isel(presentation=[0, *range(48)]))
    with pytest.raises(MetricInputError, match="no coordinate 'run'"):
        load_metric("rdm_crossnobis", repetition_coord="run")(source, target)
    with pytest.raises(MetricInputError, match=r"12 of 24 presentations have exactly.*are copies"):
        metric(source, _repeated(np.stack([signal, signal])))
    with pytest.raises(MetricInputError, match="1 only in the target"):
        metric(source.isel(presentation=slice(1, None)), target)
    with pytest.raises(MetricInputError, match="more than once in the source"):
        metric(target, target)
    measured = measured.copy()
    measured[2, 3, 4] = np.nan
    with pytest.raises(MetricInputError, match="target holds NaN"):
        metric(source, _repeated(measured))


FOLDER = "raw.githubusercontent.com/rsagroup/rsatoolbox/f1f83cadb7243492a1aae7460466e0f0140b20ac/demos/92imageData"


def test_published_rdms(mirror):
    """Kriegeskorte et al. 2008: human IT against monkey IT and models, Spearman."""

    def upper(matrix):
        return matrix[np.triu_indices(92, k=1)] if matrix.shape == (92, 92) else matrix.ravel()

    def load(name):
        return scipy.io.loadmat(mirror / FOLDER / name)

    monkey, human = (
        upper(r) for r in load("Kriegeskorte_Neuron2008_supplementalData.mat")["RDMs_mIT_hIT_fig1"]["RDM"][0]
    )
    assert compare_rdms(monkey, human).value == pytest.approx(0.4389, abs=5e-5)
    models = load("92_modelRDMs.mat")["Models"][0]
    found = {str(m["name"][0]): compare_rdms(upper(m["RDM"]).astype(float), human).value for m in models}
    published = {"animacy": 0.588, "monkeyIT": 0.439, "EVA": 0.354, "HMAX": 0.222, "Silhouette": 0.125, "V1": 0.039}
    assert {name: found[name] for name in published} == pytest.approx(published, abs=5e-4)


@pytest.mark.parametrize(
    ("name", "kind"), [("rdm", "correlation"), ("rdm_cosine", "cosine"), ("rdm_euclidean", "euclidean")]
)
def test_groups_are_left_out_as_a_whole(name, kind):
    rng = np.random.default_rng(0)
    X = rng.standard_normal((40, 30))
    Y = X[:, :24] + rng.standard_normal((40, 24))
    objects, subjects = np.arange(40) % 8, np.arange(24) % 6
    target = _assembly(Y).assign_coords(
        object_name=("presentation", [f"o{i}" for i in objects]), subject=("neuroid", [f"m{i}" for i in subjects])
    )
    order = np.random.default_rng(1).permutation(40)
    score = load_metric(name)(_assembly(X, order), target)

    def value(rows, columns):
        return spearmanr(pdist(X[rows], kind), pdist(Y[rows][:, columns], kind))[0]

    everything = np.arange(40) >= 0, np.arange(24) >= 0
    without = np.array([value(objects != i, everything[1]) for i in range(8)])
    np.testing.assert_allclose(score.attrs["influence"].values, 7 * (without.mean() - without), atol=1e-9)
    assert score.attrs["influence"]["object_name"].values.tolist() == [f"o{i}" for i in range(8)]
    without = np.array([value(everything[0], subjects != i) for i in range(6)])
    np.testing.assert_allclose(score.attrs["further_influence"].values, 5 * (without.mean() - without), atol=1e-9)
    text = "new groups of stimuli (object_name) and new groups of neuroids (subject); "
    assert score.attrs["ci_estimates"].startswith(f"{text}8 groups of 40 stimuli, 6 groups of 24 neuroids")


def test_groups_can_be_chosen(data):
    X, Y = data
    score = load_metric("rdm", stimulus_groups=None)(_assembly(X), _assembly(Y))
    assert score.attrs["ci_estimates"].startswith("new stimuli and new neuroids; 40 stimuli, 20 neuroids")
    with pytest.raises(MetricInputError, match="'session'"):
        load_metric("rdm", neuroid_groups="session")(_assembly(X), _assembly(Y))


@pytest.mark.parametrize("size", [(120, 170), (100, 60)])
def test_derivative_by_neuroids_agrees_with_leaving_them_out(size):
    n, m = size
    rng = np.random.default_rng(0)
    latent = rng.standard_normal((n, 8))
    X = latent @ rng.standard_normal((8, 20))
    Y = latent @ rng.standard_normal((8, m)) + rng.standard_normal((n, m))
    a = rdm(X)
    derivative = rdm_neuroid_influence(a, rdm(Y), Y)
    exact = deletion_influence(rdm_without_neuroids(a, Y))
    assert derivative.std() == pytest.approx(exact.std(), rel=0.12)
    assert np.corrcoef(derivative, exact)[0, 1] > 0.95


def test_many_pairs_are_sorted_into_classes():
    rng = np.random.default_rng(0)
    X = rng.standard_normal((300, 20))
    Y = X + rng.standard_normal((300, 20))
    codes = np.arange(300) % 12
    exact = [compare_rdms(rdm(X[codes != i]), rdm(Y[codes != i])).value for i in range(12)]
    without = rdm_without_stimuli(rdm(X), rdm(Y), codes)
    assert np.abs(without - exact).max() < 0.005 * np.std(exact)
