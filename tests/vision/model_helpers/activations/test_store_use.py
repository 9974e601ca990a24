"""What is kept, when it is found again, and that nothing stale or partial ever is."""

import errno
import functools
import logging
import os

import numpy as np
import pytest
from PIL import Image

from brainscore_core.activation_store import LayerWriter
from brainscore_core.errors import UserError
from brainscore_core.provenance import recording
from brainscore_core.supported_data_standards.brainio.stimuli import StimulusSet
from brainscore_vision.model_helpers.activations import Pooling, PytorchWrapper, memory_plan
from brainscore_vision.model_helpers.activations import recording as recording_module
from brainscore_vision.model_helpers.activations.fingerprints import weights_fingerprint
from brainscore_vision.model_helpers.activations.preprocessing import load_preprocess_images

torch = pytest.importorskip("torch")


@pytest.fixture
def extract(network, preprocessing, stimuli, store):
    """Extract anew; how many stimuli passed the network, and how many layers the store then holds."""

    def run(layers=("conv",), shown=stimuli, wrapper=None, trials=1, vary=False, **options):
        wrapper = wrapper or PytorchWrapper(
            network, options.pop("prepare", preprocessing), "net", store=store, **options
        )
        wrapper.set_visual_degrees(8)
        network.seen.clear()
        values = wrapper(shown, list(layers), number_of_trials=trials, require_variance=vary).values
        return np.array(values), sum(network.seen), len(store.entries())

    return run


def test_what_is_there_is_read_after_three_stimuli_were_compared(extract):
    values, passed, stored = extract()
    assert (passed, stored) == (7, 1)
    again, passed, stored = extract()
    assert (passed, stored) == (3, 1)
    np.testing.assert_array_equal(again, values)


def test_only_what_is_missing_is_computed(extract):
    extract(["conv", "block-t0"])
    with recording() as record:
        _, passed, stored = extract(["conv", "block-t0", "logits"])
    assert (passed, stored) == (9, 3)  # of six stimuli, one is shown alone first, and two to compare them
    assert [item["hit"] for item in record.items if item["kind"] == "cache"] == [True, True, False]


def test_a_single_layer_stays_on_disk(network, preprocessing, stimuli, store):
    distinct = StimulusSet(stimuli.iloc[:5])
    wrapper = PytorchWrapper(network, preprocessing, "net", store=store)
    for activations in (wrapper(distinct, ["conv"]), wrapper.by_layer(distinct, ["conv", "logits"])["logits"]):
        base = activations.values
        while base is not None and not isinstance(base, np.memmap):
            base = base.base
        assert isinstance(base, np.memmap)
        assert not activations.values.flags.writeable


@pytest.mark.parametrize("trials", [1, 2])
def test_several_layers_in_memory_are_what_is_stored(extract, trials):
    layers, options = ["conv", "block-t0", "logits"], {"trials": trials, "vary": trials > 1}
    values, _, stored = extract(layers, **options)
    assert stored == 3
    again, passed, _ = extract(layers, **options)
    assert passed == 3
    np.testing.assert_array_equal(again, values)


def test_a_full_disk_ends_an_extraction_into_memory(extract, store, monkeypatch):
    def full(writer, position, content):
        if position >= len(writer._header):
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        written(writer, position, content)

    written = LayerWriter._write
    monkeypatch.setattr(LayerWriter, "_write", full)
    with pytest.raises(UserError, match="no space for activations"):
        extract(["conv", "logits"])
    assert list(store.folder.iterdir()) == []


def test_an_error_of_the_disk_while_the_network_runs_ends_the_extraction(extract, store, monkeypatch):
    def fail(*_):
        raise OSError(errno.EIO, os.strerror(errno.EIO))

    monkeypatch.setattr(recording_module, "_FLUSHED", 1)
    monkeypatch.setattr(LayerWriter, "_commit", lambda writer: None)
    monkeypatch.setattr(os, "fsync", fail)
    with pytest.raises(UserError, match=r"activations cannot be written to .*Input/output error"):
        extract(["conv", "logits"])
    assert list(store.folder.iterdir()) == []


def test_rows_wait_for_the_store_for_one_batch_of_one_trial(network, preprocessing, stimuli, store, monkeypatch):
    waiting = []

    class Rows(recording_module._StoredRows):
        def write(self, threads):
            waiting.append(sum(len(values) for _, values in self._kept))
            super().write(threads)

    monkeypatch.setattr(recording_module, "_StoredRows", Rows)
    wrapper = PytorchWrapper(network, preprocessing, "net", store=store, batch_size=2)
    wrapper.set_visual_degrees(8)
    values = wrapper.by_layer(stimuli, ["conv"], number_of_trials=3, require_variance=True)["conv"].values
    # six images in three trials; the first response was known before
    assert waiting == [2, 2, 2, 2, 2, 2, 2, 2, 2, 0]
    again = wrapper.by_layer(stimuli, ["conv"], number_of_trials=3, require_variance=True)["conv"].values
    np.testing.assert_array_equal(again, values)


def changed_weights(network, **_):
    with torch.no_grad():
        network.conv.weight[0, 0, 0, 0] += 1e-3
    return {}


def changed_weights_behind_torch(network, **_):
    network.conv.weight.data[0, 0, 0, 0] += 1e-3
    return {}


def changed_buffer(network, **_):
    network.register_buffer("scale", torch.ones(1), persistent=False)
    return {}


def changed_settings(network, **_):
    network.conv.padding = (1, 1)
    network.head[1] = torch.nn.Linear(4 * 64, 5)
    return {}


def changed_code(network, **_):
    plain = network.conv.forward
    network.conv.forward = lambda images: plain(images) * 2
    return {}


def changed_preprocessing(**_):
    return {"prepare": functools.partial(load_preprocess_images, image_size=16, normalize_mean=(0.5, 0.5, 0.5))}


def changed_content(stimuli, **_):
    path = stimuli.get_stimulus("s4")
    pixels = np.array(Image.open(path))
    pixels[0, 0, 0] ^= 1
    Image.fromarray(pixels).save(path)
    return {}


def changed_order(stimuli, **_):
    return {"shown": StimulusSet(stimuli.iloc[::-1])}


CHANGES = [
    changed_weights,
    changed_weights_behind_torch,
    changed_buffer,
    changed_settings,
    changed_code,
    changed_preprocessing,
    changed_content,
    changed_order,
    lambda **_: {"dtype": "float64"},
    lambda **_: {"autocast": True},
    lambda **_: {"pooling": Pooling(spatial="mean")},
    lambda **_: {"reduction": "projection:50"},
    lambda **_: {"trials": 2, "vary": True},
]


@pytest.mark.parametrize("change", CHANGES)
def test_a_change_is_another_layer(change, extract, network, stimuli):
    extract()
    options = change(network=network, stimuli=stimuli)
    _, passed, stored = extract(**options)
    assert (passed > 1, stored) == (True, 2)
    _, passed, stored = extract(**options)
    assert (passed, stored) == (3, 2)


def test_number_of_trials_and_visual_degrees_count_where_trials_differ(extract, network, preprocessing, store, stimuli):
    assert extract(trials=3)[2] == 1
    assert extract(trials=5)[1:] == (3, 1)  # without variance the model responds once
    assert extract(trials=3, vary=True)[1:] == (19, 2)
    assert extract(trials=3, vary=True)[1:] == (3, 2)
    assert extract(trials=2, vary=True)[1:] == (13, 3)
    wrapper = PytorchWrapper(network, preprocessing, "net", store=store)
    wrapper.set_visual_degrees(4)
    wrapper(stimuli, ["conv"], number_of_trials=2, require_variance=True)
    assert len(store.entries()) == 4
    assert extract(trials=1, vary=True)[1:] == (3, 4)  # one trial is not displaced


def test_the_code_of_a_plugin_counts(monkeypatch, tmp_path, network, preprocessing, stimuli, store):
    import sys

    import brainscore_vision.models as models

    plugin = tmp_path / "plugins" / "plugin_that_changes"
    plugin.mkdir(parents=True)
    monkeypatch.setattr(models, "__path__", [*models.__path__, str(plugin.parent)])
    monkeypatch.setitem(sys.modules, "brainscore_vision.models.plugin_that_changes", None)  # gone afterwards

    def load(text):
        (plugin / "__init__.py").write_text(text)
        for name in [name for name in sys.modules if name == "brainscore_vision.models.plugin_that_changes"]:
            monkeypatch.delitem(sys.modules, name)
        import importlib

        importlib.invalidate_caches()
        module = importlib.import_module("brainscore_vision.models.plugin_that_changes")
        network.seen.clear()
        module.make(network, preprocessing, store)(stimuli, ["conv"])
        return sum(network.seen), len(store.entries())

    source = (
        "from brainscore_vision.model_helpers.activations import PytorchWrapper\n\n\n"
        "def make(network, preprocessing, store):\n"
        "    return PytorchWrapper(network, preprocessing, 'net', store=store)\n"
    )
    assert load(source) == (7, 1)
    assert load(source) == (3, 1)
    assert load(source + "\n# another day\n") == (7, 2)


def test_names_do_not_count(extract, network, preprocessing, stimuli, store):
    extract()
    renamed = StimulusSet(stimuli)
    renamed.identifier = "another name"
    wrapper = PytorchWrapper(network, preprocessing, "another net", store=store)
    assert extract(shown=renamed, wrapper=wrapper)[1:] == (3, 1)


def test_logits_by_any_name_are_one_layer(extract):
    extract(["logits"])
    assert extract(["head.1"])[1:] == (3, 1)


def test_what_no_hash_sees_is_found_by_comparing_and_replaced(extract, network, caplog, tmp_path):
    factor = tmp_path / "factor"
    factor.write_text("1")
    network.conv.register_forward_hook(lambda _m, _i, output: output * float(factor.read_text()))
    before, _, _ = extract()
    factor.write_text("2")
    with caplog.at_level(logging.WARNING):
        after, passed, stored = extract()
    assert (passed, stored) == (9, 1)
    assert "differ from the model's current responses" in caplog.text
    np.testing.assert_allclose(after, 2 * before, rtol=1e-5)


@pytest.mark.parametrize("reduction", [None, "pca:3"])
def test_the_same_wrapper_compares_several_stimuli_once(reduction, extract, network, preprocessing, store):
    first = PytorchWrapper(network, preprocessing, "net", store=store, reduction=reduction)
    assert [extract(wrapper=first)[1] for _ in range(2)] == [7, 1]
    other = PytorchWrapper(network, preprocessing, "net", store=store, reduction=reduction)
    assert [extract(wrapper=other)[1] for _ in range(2)] == [3, 1]


@pytest.mark.parametrize("reduction", [None, "pca:3"])
@pytest.mark.parametrize("name", ["png", "bmp"])
def test_blank_screens_hide_no_change(name, reduction, extract, stimuli, tmp_path):
    gain = tmp_path / "gain"
    paths = {}
    for number, identifier in enumerate(stimuli["stimulus_id"]):
        pixels = np.asarray(Image.open(stimuli.get_stimulus(identifier)))
        blank = number in (0, 2)
        paths[identifier] = tmp_path / f"{number}.{name}"
        Image.fromarray(np.full_like(pixels, 128) if blank else pixels).save(paths[identifier])
    stimuli.stimulus_paths = paths

    def prepare(files):
        levels = load_preprocess_images(files, image_size=16, normalize_mean=[128 / 255] * 3, normalize_std=[1] * 3)
        return levels * np.float32(gain.read_text())

    gain.write_text("1")
    before, _, _ = extract(prepare=prepare, reduction=reduction)
    gain.write_text("0.5")
    after, passed, _ = extract(prepare=prepare, reduction=reduction)
    assert passed > 3
    assert not np.allclose(before, after)


@pytest.mark.parametrize("error", [KeyboardInterrupt, RuntimeError])
def test_interrupted_nothing_partial_is_found_and_the_next_run_is_whole(error, extract, network, store):
    extract(["conv"])

    def broken(_module, inputs):
        if sum(network.seen) > 3:
            raise error("stop")

    handle = network.head.register_forward_pre_hook(broken)
    with pytest.raises(error):
        extract(["conv", "block-t1", "logits"], batch_size=2)
    assert len(store.entries()) == 1
    assert not store.leftovers()
    handle.remove()
    values, passed, stored = extract(["conv", "block-t1", "logits"], batch_size=2)
    assert (passed, stored) == (9, 3)
    np.testing.assert_array_equal(values, extract(["conv", "block-t1", "logits"])[0])


def test_nothing_is_kept_unasked(network, preprocessing, stimuli, store):
    wrapper = PytorchWrapper(network, preprocessing, "net", store=store)
    wrapper(stimuli, ["conv"], stimuli_identifier=False)
    handle = wrapper.register_batch_activations_hook(lambda batch: batch)
    wrapper(stimuli, ["conv"])
    assert not store.entries()
    handle.remove()
    wrapper.identifier = False
    wrapper(stimuli, ["conv"])
    assert not store.entries()
    wrapper.identifier = "net"
    wrapper(stimuli, ["conv"])
    assert len(store.entries()) == 1


def test_the_default_store_is_used(network, preprocessing, stimuli, monkeypatch, tmp_path):
    from brainscore_core.activation_store import ActivationStore

    monkeypatch.setenv("BRAINSCORE_ACTIVATIONS", str(tmp_path / "here"))
    PytorchWrapper(network, preprocessing, "net")(stimuli, ["conv"])
    (entry,) = ActivationStore(tmp_path / "here").entries()
    assert [entry.named(name) for name in ("model", "layer", "stimulus_set")] == ["net", "conv", "seven"]
    monkeypatch.setenv("BRAINSCORE_ACTIVATIONS", "off")
    network.seen.clear()
    PytorchWrapper(network, preprocessing, "net")(stimuli, ["conv"])
    assert sum(network.seen) == 7


def test_use_of_the_store_is_noted(extract):
    with recording() as record:
        extract(["conv"])
        extract(["conv", "logits"])
    hits = [item["hit"] for item in record.items if item["kind"] == "cache"]
    assert hits == [False, True, False]


def test_reduced_layers(extract, stimuli):
    plain, _, _ = extract(["conv", "logits"])
    reduced, _, _ = extract(["conv", "logits"], reduction="projection:50")
    assert reduced.shape == (7, 55)
    np.testing.assert_allclose(reduced[:, 50:], plain[:, 196:])  # narrow layers stay
    again, passed, _ = extract(["conv", "logits"], reduction="projection:50")
    assert passed == 3
    np.testing.assert_array_equal(again, reduced)


@pytest.mark.parametrize("stored", [True, False])
def test_weights_and_seconds_are_noted(network, preprocessing, stimuli, store, stored):
    wrapper = PytorchWrapper(network, preprocessing, "net", store=store if stored else None)
    with recording() as record:
        wrapper(stimuli, ["conv"])
    noted = {item["kind"]: item for item in record.items}
    assert noted["weights"] == {"kind": "weights", "identifier": "net", "sha256": weights_fingerprint(network)}
    assert noted["time"]["step"] == "extraction"
    assert noted["time"]["seconds"] > 0


def test_expected_regions_are_recorded_from_the_same_pass(network, preprocessing, stimuli, store):
    from brainscore_vision.model_helpers.brain_transformation import ModelCommitment

    def subject(kept):
        wrapper = PytorchWrapper(network, preprocessing, "net", store=kept)
        layers = {"V1": "conv", "IT": ["block-t0", "logits"], "V4": "conv"}
        return ModelCommitment("net", wrapper, layers=["conv", "block-t0", "logits"], region_layer_map=layers)

    passes = []

    class Counts:  # has no state, which would be part of what the network is
        def append(self, count):
            passes.append(count)

    network.seen = Counts()

    def recorded(model, region):
        model.start_recording(region, [(70, 170)])
        passes.clear()
        return model.look_at(stimuli), sum(passes)

    plain, expecting = subject(None), subject(store)
    expecting.expect_recordings(["V1", "IT", "V2"])  # it has no V2
    for region, most in (("V1", 10), ("IT", 6)):  # six stimuli are distinct; three are compared with what is stored
        ours, passed = recorded(expecting, region)
        theirs, _ = recorded(plain, region)
        assert passed <= most
        np.testing.assert_allclose(ours.values, theirs.values, rtol=1e-5, atol=1e-6)
        assert ours["neuroid_id"].values.tolist() == theirs["neuroid_id"].values.tolist()
    assert len(store.entries()) == 3


def test_nothing_is_recorded_along_without_a_store_or_a_region(network, preprocessing, stimuli, store):
    from brainscore_vision.model_helpers.brain_transformation import ModelCommitment

    wrapper = PytorchWrapper(network, preprocessing, "net", store=None)
    model = ModelCommitment("net", wrapper, layers=["conv"], region_layer_map={"V1": "conv", "IT": "logits"})
    model.expect_recordings(["V1", "IT"])
    model.start_recording("V1", [(70, 170)])
    network.seen.clear()
    model.look_at(stimuli)
    assert sum(network.seen) == 7
    assert not store.entries()


def test_the_device_is_noted(network, preprocessing, stimuli, store):
    with recording() as record:
        PytorchWrapper(network, preprocessing, "net", store=store, device="cpu")(stimuli, ["conv"])
    assert {"kind": "device", "name": "cpu"} in record.items


class Random:
    """Preprocessing that cannot be hashed: a generator has neither code nor readable state."""

    def __init__(self):
        self.rng = np.random.default_rng(0)

    def __call__(self, paths):
        noise = self.rng.normal(size=(len(paths), 1, 1, 1)).astype("f4")
        return load_preprocess_images(paths, image_size=16) + noise


def test_a_model_that_cannot_be_hashed_is_planned_without_a_store(network, stimuli, store, monkeypatch):
    """Its activations stay in memory, so that the free disk space must not count."""
    stores = []

    def planned(*arguments, **options):
        stores.append(options["store"])
        return memory_plan.plan(*arguments, **options)

    monkeypatch.setattr("brainscore_vision.model_helpers.activations.recording.plan", planned)
    for preprocessing in (Random(), functools.partial(load_preprocess_images, image_size=16)):
        PytorchWrapper(network, preprocessing, "net", store=store, reduction="auto")(stimuli, ["conv"])
    assert stores == [None, None, store, store]


def test_a_model_that_cannot_be_hashed_shows_no_stimulus_twice(network, stimuli, store):
    """Expected recordings of other regions change nothing if activations cannot be stored."""
    from brainscore_vision.model_helpers.brain_transformation import ModelCommitment

    wrapper = PytorchWrapper(network, Random(), "net", store=store)
    assert not wrapper.keeps_activations()
    model = ModelCommitment("net", wrapper, layers=["conv"], region_layer_map={"V1": "conv", "IT": "logits"})
    model.expect_recordings(["V1", "IT"])
    model.start_recording("V1", [(70, 170)])
    network.seen.clear()
    model.look_at(stimuli)
    assert network.seen == [1, 6]
