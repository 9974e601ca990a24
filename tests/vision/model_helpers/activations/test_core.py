"""The extractor with any function in the place of a network; hooks; deep names."""

import subprocess
import sys

import numpy as np
import pytest

from brainscore_core.errors import UserError
from brainscore_core.supported_data_standards.brainio.stimuli import StimulusSet
from brainscore_vision.model_helpers.activations.core import ActivationsExtractorHelper


def read(paths):
    from PIL import Image

    return np.stack([np.moveaxis(np.asarray(Image.open(path), dtype=np.float32), 2, 0) for path in paths])


def means(images, layers):
    return {layer: images.mean((2, 3)) * (number + 1) for number, layer in enumerate(layers)}


@pytest.fixture
def extractor():
    return ActivationsExtractorHelper(means, read, "means", 3, store=None)


def test_any_function_can_be_the_network(extractor, stimuli):
    found = extractor(stimuli, ["one", "two"])
    wanted = read([stimuli.get_stimulus(one) for one in stimuli["stimulus_id"]]).mean((2, 3))
    np.testing.assert_allclose(found.values, np.hstack([wanted, 2 * wanted]), rtol=1e-6)
    assert found["model"].values[0] == "means"


def test_published_arguments_are_positional():
    extractor = ActivationsExtractorHelper(means, None, False, 2)
    assert extractor.identifier is False
    with pytest.raises(UserError, match="batch_size is 0"):
        ActivationsExtractorHelper(means, None, "x", 0)
    with pytest.raises(UserError, match="no reduction 'pca:0'"):
        ActivationsExtractorHelper(means, None, "x", reduction="pca:0")


def test_batch_hooks_can_be_removed_disabled_and_enabled(extractor, stimuli):
    plain = extractor(stimuli, ["one"]).values
    seen = []

    def hook(batch):
        seen.append(list(batch))
        return {layer: values[:, :2] for layer, values in batch.items()}

    handle = extractor.register_batch_activations_hook(hook)
    np.testing.assert_array_equal(extractor(stimuli, ["one"]).values, plain[:, :2])
    assert all(batch == ["one"] for batch in seen)
    handle.disable()
    np.testing.assert_array_equal(extractor(stimuli, ["one"]).values, plain)
    handle.enable()
    assert extractor(stimuli, ["one"]).shape == (7, 2)
    assert handle.remove() is hook
    assert extractor(stimuli, ["one"]).shape == (7, 3)
    handle.remove()


def test_stimulus_set_hooks_change_what_is_shown(extractor, stimuli):
    handle = extractor.register_stimulus_set_hook(lambda shown: StimulusSet(shown.iloc[:2]))
    assert list(extractor(stimuli, ["one"])["stimulus_id"].values) == ["s0", "s1"]
    handle.remove()
    assert len(extractor(stimuli, ["one"])) == 7


def test_wrappers_get_the_methods(extractor, stimuli):
    class Wrapper:
        pass

    wrapper = Wrapper()
    extractor.insert_attrs(wrapper)
    wrapper.set_visual_degrees(8)
    paths = [str(stimuli.get_stimulus(one)) for one in stimuli["stimulus_id"]]
    from_paths = wrapper.from_paths(stimuli_paths=paths, layers=["one"], stimuli_identifier="mine")
    from_set = wrapper.from_stimulus_set(stimulus_set=stimuli, layers=["one"])
    np.testing.assert_array_equal(from_paths.values, from_set.values)
    assert from_paths.attrs["stimulus_set_identifier"] == "mine"
    assert wrapper.register_batch_activations_hook(dict).remove() is dict
    assert wrapper.register_stimulus_set_hook(list).remove() is list


def test_each_layer_by_itself(extractor, stimuli):
    apart = extractor.by_layer(stimuli, ["one", "two"])
    together = extractor(stimuli, ["one", "two"])
    for layer, assembly in apart.items():
        assert assembly.equals(together.sel(layer=layer))


def test_what_a_function_may_not_return(stimuli):
    def extract(function):
        return ActivationsExtractorHelper(function, read, "x", 3, store=None)(stimuli, ["one", "two"])

    with pytest.raises(UserError, match="returned nothing for two"):
        extract(lambda images, layers: {"one": images})
    with pytest.raises(UserError, match="'one' returned 1 responses to 3 stimuli"):
        extract(lambda images, layers: {"one": np.zeros((1, 2)), "two": images})
    with pytest.raises(UserError, match="'one' returned 5 responses to 3 stimuli"):
        extract(lambda images, layers: dict.fromkeys(layers, np.zeros(5 if len(images) > 1 else (1, 5))))
    with pytest.raises(UserError, match="number_of_trials is 0"):
        ActivationsExtractorHelper(means, read, "x")(stimuli, ["one"], number_of_trials=0)


def test_a_response_to_one_stimulus_without_an_axis_of_stimuli(stimuli):
    def squeezed(images, layers):
        return {layer: np.squeeze(values) for layer, values in means(images, layers).items()}

    for batch_size in (1, 2, 3):  # the last batch of two has one stimulus
        plain, without = (
            ActivationsExtractorHelper(function, read, "x", batch_size, store=None)(stimuli, ["one"])
            for function in (means, squeezed)
        )
        np.testing.assert_array_equal(without.values, plain.values)


def test_a_function_without_code_or_state_is_not_stored(stimuli, store):
    def numbers():
        yield from range(100)

    count = numbers()  # what comes next can neither be seen nor repeated

    def drifting(images, layers):
        return {layer: images.mean((2, 3)) + next(count) for layer in layers}

    ActivationsExtractorHelper(drifting, read, "x", store=store)(stimuli, ["one"])
    assert not store.entries()


@pytest.mark.parametrize(
    ("module", "name"),
    [
        ("activations", "PytorchWrapper"),
        ("activations.core", "ActivationsExtractorHelper"),
        ("activations.pytorch", "PytorchWrapper"),
        ("activations.pytorch", "load_preprocess_images"),
        ("activations.pytorch", "load_images"),
        ("activations.pytorch", "preprocess_images"),
        ("activations.temporal.model", "PytorchWrapper"),
        ("activations.temporal.model.pytorch", "PytorchWrapper"),
        ("activations.temporal.utils", "get_specified_layers"),
        ("activations.temporal.utils", "download_weight_file"),
        ("utils", "fullname"),
    ],
)
def test_published_deep_names(module, name):
    import importlib

    assert callable(getattr(importlib.import_module(f"brainscore_vision.model_helpers.{module}"), name))


def test_importing_does_not_import_torch():
    code = "import sys, brainscore_vision.model_helpers.activations; print('torch' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "False"


def test_weights_are_downloaded_into_a_folder(monkeypatch, tmp_path):
    import hashlib

    from brainscore_vision.model_helpers import download_weights

    content = b"weights"
    folder = tmp_path / "mirror" / "some-bucket.s3.amazonaws.com" / "models" / "mine"
    folder.mkdir(parents=True)
    (folder / "a.pth").write_bytes(content)
    monkeypatch.setenv("BRAINSCORE_MIRROR", str(tmp_path / "mirror"))
    sha1 = hashlib.sha1(content).hexdigest()
    download_weights("some-bucket", "models/mine", [("a.pth", None, sha1)], tmp_path / "here")
    assert (tmp_path / "here" / "a.pth").read_bytes() == content
