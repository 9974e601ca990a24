"""Principal components of layers that are on disk."""

import logging
import tracemalloc

import numpy as np
import pytest

from brainscore_core.activation_store import ActivationStore
from brainscore_core.errors import UserError
from brainscore_core.provenance import recording
from brainscore_core.supported_data_standards.brainio.stimuli import StimulusSet
from brainscore_vision.model_helpers.activations import PytorchWrapper, reduction
from brainscore_vision.model_helpers.activations import recording as _components
from brainscore_vision.model_helpers.activations.core import ActivationsExtractorHelper
from brainscore_vision.model_helpers.activations.memory_plan import plan

torch = pytest.importorskip("torch")
K = 3


@pytest.fixture(params=["store", "no store"])
def anywhere(request, store):
    return store if request.param == "store" else None


@pytest.fixture
def extract(network, preprocessing, stimuli, store):
    def run(layers=("conv",), shown=stimuli, reduction=f"pca:{K}", **options):
        options = {"store": store, **options}
        wrapper = PytorchWrapper(network, preprocessing, "net", reduction=reduction, **options)
        network.seen.clear()
        found = wrapper(shown, list(layers))
        return found, sum(network.seen)

    return run


def expected(values, components=K):
    """scikit-learn's components of the distinct rows, signs as here: the largest weight is positive."""
    PCA = pytest.importorskip("sklearn.decomposition").PCA
    distinct = np.delete(values, 5, axis=0).astype(np.float64)  # the sixth stimulus is the third again
    pca = PCA(components, svd_solver="full").fit(distinct)
    largest = pca.components_[np.arange(components), np.abs(pca.components_).argmax(axis=1)]
    return pca.transform(values.astype(np.float64)) * np.sign(largest)


def test_as_scikit_learn_from_one_pass(extract, anywhere, monkeypatch, stimuli):
    plain, _ = extract(reduction=None, store=None)
    monkeypatch.setattr(_components, "_CHUNK", 2 * plain.shape[1] * 4)  # two rows at a time
    found, passed = extract(store=anywhere)
    assert passed == 7
    np.testing.assert_allclose(found.values, expected(plain.values), rtol=1e-4, atol=1e-5)
    assert found["stimulus_id"].values.tolist() == stimuli["stimulus_id"].tolist()
    assert found["neuroid_id"].values.tolist() == [f"net.conv.{number}" for number in range(K)]
    again, _ = extract(store=anywhere)
    np.testing.assert_array_equal(again.values, found.values)


def test_narrow_layers_stay_and_several_stand_side_by_side(extract, anywhere):
    plain, _ = extract(["conv", "logits"], reduction=None, store=None)
    found, passed = extract(["logits", "conv"], reduction="pca:5", store=anywhere)
    assert passed == 7
    np.testing.assert_allclose(found.values[:, :5], plain.values[:, 196:], rtol=1e-5)
    np.testing.assert_allclose(found.values[:, 5:], expected(plain.values[:, :196], 5), rtol=1e-4, atol=1e-5)


def test_the_second_call_finds_them(extract, store):
    with recording() as record:
        first, _ = extract()
    hits = [item["hit"] for item in record.items if item["kind"] == "cache"]
    assert hits == [False, False]  # neither the components nor the layer
    whole, reduced = sorted(store.entries(), key=lambda entry: -entry.manifest.shape[1])
    assert (whole.manifest.shape, reduced.manifest.shape) == ((6, 196), (6, K))
    assert whole.key != reduced.key
    different = {name for name, part in reduced.manifest.parts.items() if part != whole.manifest.parts[name]}
    assert different == {"reduction"}
    described = reduced.manifest.parts["reduction"]
    assert (described["kind"], described["components"]) == ("pca", K)
    assert described["fitted_on"] == whole.manifest.parts["stimuli"]
    store.remove([whole.key])
    with recording() as record:
        again, passed = extract()
    assert passed == 3  # to compare
    assert [item["hit"] for item in record.items if item["kind"] == "cache"] == [True]
    np.testing.assert_array_equal(again.values, first.values)


def test_a_stored_layer_is_enough(extract):
    extract(reduction=None)
    assert extract()[1] == 3
    found, passed = extract(reduction="pca:2")
    assert passed == 3
    assert found.shape == (7, 2)


def test_learning_is_refused_where_memory_does_not_suffice(extract):
    extract(reduction=None)
    with pytest.raises(UserError, match=r"of memory needed, 1\.0 MB allowed"):
        extract(max_memory="1MB")


def test_other_stimuli_are_other_components(extract, stimuli, store):
    extract()
    extract(shown=StimulusSet(stimuli.iloc[:5]))
    assert len({entry.key for entry in store.entries()}) == 4


def test_a_model_that_changed_unseen_is_computed_anew(extract, network, store, caplog, tmp_path):
    factor = tmp_path / "factor"
    factor.write_text("1")
    network.conv.register_forward_hook(lambda _m, _i, output: output * float(factor.read_text()))
    before, _ = extract()
    factor.write_text("2")
    with caplog.at_level(logging.WARNING):
        after, passed = extract()
    assert passed == 11
    assert "stored activations of net, layer conv, differ" in caplog.text
    assert len(store.entries()) == 2
    np.testing.assert_allclose(after.values, 2 * before.values, rtol=1e-4, atol=1e-5)


def test_what_cannot_be_learnt_says_so(stimuli, store):
    def features(images, layers):
        return {"alike": np.ones((len(images), 20)), "nan": np.full((len(images), 20), np.nan)}

    def ones(paths):
        return np.zeros((len(paths), 3, 4, 4), dtype=np.float32)

    extractor = ActivationsExtractorHelper(features, ones, "f", 3, store=store, reduction="pca:2")
    with pytest.raises(UserError, match="'alike' responds equally to all stimuli"):
        extractor(stimuli, ["alike"])
    with pytest.raises(UserError, match=r"layer 'nan': .*not finite"):
        extractor(stimuli, ["nan"])
    with pytest.raises(UserError, match="from one stimulus"):
        extractor(StimulusSet(stimuli.iloc[:1]), ["alike"])


def test_each_trial_counts(network, preprocessing, stimuli, store):
    wrapper = PytorchWrapper(network, preprocessing, "net", store=store, reduction=f"pca:{K}")
    wrapper.set_visual_degrees(8)
    found = wrapper(stimuli, ["conv"], number_of_trials=2, require_variance=True)
    assert found.shape == (14, K)
    assert sorted(entry.manifest.shape for entry in store.entries()) == [(12, K), (12, 196)]
    np.testing.assert_allclose(np.delete(found.values, [10, 11], axis=0).mean(axis=0), 0, atol=1e-4)


def test_the_plan_counts_them(tmp_path):
    store = ActivationStore(tmp_path, max_bytes="20GB")
    options = {"limit": "8GB", "process_bytes": 500_000_000}
    layers, n = {"conv": 100_000, "fc": 100}, 3000
    reduced = plan(layers, n, reduction="pca:300", store=store, **options)
    whole = plan(layers, n, store=store, **options)
    assert reduced.reduction == "pca:300"
    assert reduced.disk == n * 4 * (100_000 + 100 + 300) == whole.disk + n * 4 * 300
    assert reduced.numbers["reduction"] > 4 * 2 * 300 * 100_000
    assert reduced.numbers["coordinates of neuroids"] == 800 * 300
    assert reduced.predicted_peak >= 500_000_000 + reduced.numbers["reduction"]
    without = plan(layers, n, reduction="pca:300", **options)
    assert without.numbers["activations kept in memory"] == n * 4 * 400
    assert without.disk == n * 4 * 100_000
    assert without.room > 0
    with pytest.raises(UserError, match="reduction"):
        plan(layers, n, reduction="pca:3000", store=store, limit="2GB", process_bytes=500_000_000)


class Steps:
    """Outputs are stimuli × time × features already."""

    def arrange(self, layer, output):
        return output

    def bins(self, steps):
        return [(float(step), float(step + 1)) for step in range(steps)]


def over_time(images, layers):
    return {layer: np.cumsum(images[:, :, :4, :3].reshape(len(images), 3, -1), axis=1) for layer in layers}


def read(paths):
    from PIL import Image

    return np.stack([np.moveaxis(np.asarray(Image.open(path), dtype=np.float64), 2, 0) for path in paths])


def test_time_steps_share_components(stimuli, anywhere):
    whole = ActivationsExtractorHelper(over_time, read, "t", 3, store=None, timeline=Steps())(stimuli, ["one"])
    found = ActivationsExtractorHelper(over_time, read, "t", 3, store=anywhere, timeline=Steps(), reduction="pca:9")(
        stimuli, ["one"]
    )
    assert found.dims == ("presentation", "neuroid", "time_bin")
    assert found.shape == (7, 9, 3)
    rows = np.moveaxis(whole.values, 1, 2)
    PCA = pytest.importorskip("sklearn.decomposition").PCA
    pca = PCA(9, svd_solver="full").fit(np.delete(rows, 5, axis=0).reshape(18, 12))
    wanted = pca.transform(rows.reshape(21, 12)).reshape(7, 3, 9)
    np.testing.assert_allclose(np.abs(np.moveaxis(found.values, 1, 2)), np.abs(wanted), rtol=1e-6, atol=1e-6)


def test_one_layer_after_the_other_within_what_is_planned(tmp_path, monkeypatch):
    rows, features, components = 200, 20_000, 60
    for module in (_components, reduction):
        monkeypatch.setattr(module, "_CHUNK", 1 << 20)
    layers = {}
    for name in ("one", "two"):
        layers[name] = np.lib.format.open_memmap(tmp_path / f"{name}.npy", "w+", np.float32, (rows, features))
        layers[name][:] = np.random.default_rng(len(layers)).standard_normal((rows, features))
    tracemalloc.start()
    try:
        values = [np.empty((rows, components), np.float32) for _ in layers]
        for (name, layer), target in zip(layers.items(), values, strict=True):
            _components._transform(layer, _components._fitted(layer, components, name), target)
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert [array.shape for array in values] == [(rows, components), (rows, components)]
    results = sum(array.nbytes for array in values)
    assert peak - results < reduction.learning_bytes(components, features, rows)
