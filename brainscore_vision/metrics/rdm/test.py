import numpy as np
import pytest
import scipy.io
from scipy.spatial.distance import pdist, squareform
from scipy.stats import spearmanr

from brainscore_core.numerics import compare_rdms
from brainscore_core.supported_data_standards.brainio.assemblies import NeuroidAssembly
from brainscore_vision import load_metric
from brainscore_vision.metric_helpers.alignment import MetricInputError
from brainscore_vision.metrics.rdm.metric import RDM, RDMSimilarity


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
        assert "stimuli vary" in score.attrs["ci_estimates"]
        influence = score.attrs["influence"]
        assert influence["stimulus_id"].values.tolist() == [f"s{i:03}" for i in range(40)]
        assert influence.values.std(ddof=1) / np.sqrt(40) == pytest.approx(score.attrs["error"])


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
