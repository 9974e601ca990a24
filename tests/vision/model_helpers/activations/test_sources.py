"""Activations from functions, files, timm, torchvision and transformers."""

import functools
import logging
import os
import subprocess
import sys
import threading
import types
import weakref
from functools import cached_property

import numpy as np
import pytest

from brainscore_core.errors import UserError
from brainscore_core.supported_data_standards.brainio.assemblies import NeuroidAssembly
from brainscore_core.supported_data_standards.brainio.stimuli import StimulusSet
from brainscore_vision import load_model
from brainscore_vision.model_helpers.activations import fingerprints
from brainscore_vision.model_helpers.activations.features_on_disk import FeaturesOnDisk
from brainscore_vision.model_helpers.activations.fingerprints import Unhashable, code_fingerprint, fingerprint
from brainscore_vision.model_helpers.activations.preprocessing import ImagePreprocessing, load_preprocess_images
from brainscore_vision.model_helpers.activations.pretrained_models import from_huggingface, from_timm, from_torchvision
from brainscore_vision.model_helpers.images import load_rgb
from brainscore_vision.model_helpers.static_features import CallableWrapper


def colour(images):
    return np.stack([image.mean(axis=(0, 1)) for image in images])


@pytest.fixture
def colours(stimuli):
    return np.stack([load_rgb(stimuli.get_stimulus(one)).mean(axis=(0, 1)) for one in stimuli["stimulus_id"]])


def test_functions_of_what_was_loaded_once(stimuli, store, colours):
    loaded = []

    def load(path):
        loaded.append(path)
        return load_rgb(path)

    model = CallableWrapper({"colour": colour, "twice": lambda images: 2 * colour(images)}, "m", load=load, store=store)
    found = model(stimuli, ["colour", "twice"])
    np.testing.assert_allclose(found.values, np.hstack([colours, 2 * colours]))
    assert len(loaded) == 7  # one of six is loaded alone first
    assert model.layers() == ["colour", "twice"]


def test_one_function_that_returns_all_layers(stimuli, colours):
    model = CallableWrapper(
        lambda images: {"colour": colour(images)}, "m", load=load_rgb, layer_names=["colour", "other"], store=None
    )
    np.testing.assert_allclose(model(stimuli, ["colour"]).values, colours)
    with pytest.raises(UserError, match="returned no other"):
        model(stimuli, ["other"])
    with pytest.raises(ValueError, match="has no layer third"):
        model(stimuli, ["third"])
    with pytest.raises(ValueError, match="pass layer_names"):
        CallableWrapper(colour, "m")


def test_functions_of_paths_see_every_path(stimuli, store):
    seen = []

    def names(paths):
        seen.extend(path.name for path in paths)
        return np.array([[float(path.stem[-1])] for path in paths])

    model = CallableWrapper({"number": names}, "m", store=store)
    assert model(stimuli, ["number"]).values.ravel().tolist() == list(range(7))
    assert len(seen) == 8  # one of seven is shown alone first


def test_trials_of_a_function_are_alike(stimuli, colours):
    model = CallableWrapper({"colour": colour}, "m", load=load_rgb, store=None)
    found = model(stimuli, ["colour"], number_of_trials=2, require_variance=True)
    np.testing.assert_allclose(found.values, np.repeat(colours, 2, axis=0))
    assert found["repetition"].values.tolist() == [0, 1] * 7


def test_another_function_is_another_layer(stimuli, store):
    def by(factor):
        return CallableWrapper({"colour": lambda images: factor * colour(images)}, "m", load=load_rgb, store=store)

    by(1)(stimuli, ["colour"])
    by(1)(stimuli, ["colour"])
    assert len(store.entries()) == 1
    by(2)(stimuli, ["colour"])
    assert len(store.entries()) == 2


def test_a_function_must_answer_for_each_stimulus(stimuli):
    model = CallableWrapper({"one": lambda images: np.zeros((1, 3))}, "m", load=load_rgb, store=None)
    with pytest.raises(ValueError, match=r"features of shape \(1, 3\) for 6 stimuli"):
        model(stimuli, ["one"])


def test_fingerprints(monkeypatch):
    monkeypatch.setattr(fingerprints, "_MOST_OBJECTS", 1000)

    def make(value):
        def function(x, default=value):
            return x + value + default

        return function

    assert fingerprint(make(1)) == fingerprint(make(1))
    assert fingerprint(make(1)) != fingerprint(make(2))
    assert fingerprint(np.arange(3)) != fingerprint(np.arange(4))
    assert fingerprint({"a": 1}) != fingerprint({"a": 1.0})
    with pytest.raises(Unhashable):
        fingerprint(iter([]))
    deep = [0]
    for _ in range(100):
        deep = [deep]
    with pytest.raises(Unhashable, match="nested too deeply"):
        fingerprint(deep)
    twice = [0]
    for _ in range(15):
        twice = [twice, twice]
    with pytest.raises(Unhashable, match="more than 1,000 objects"):
        fingerprint(twice)


class Settings:
    gain = 1.0


class Scaling(Settings):
    def __call__(self, x):
        return x * self.gain


GAIN = 1.0
TABLE = {"gain": [1.0]}
OBJECT = types.SimpleNamespace(gain=1.0)
WEIGHTS = np.ones(2)
SEEN: dict = {}
COUNT = 0
ODD = [logging.getLogger(), threading.Lock(), np.random.default_rng(), weakref.WeakKeyDictionary(), os.environ]


def scaled(x):
    return x * GAIN


def nested(x):
    return [scaled(value) for value in x]


def remembering(x):
    global COUNT
    COUNT += 1
    SEEN[x] = SEEN.get(x) or TABLE["gain"][0]
    return SEEN[x], ODD


def from_environment(x):
    return x * float(os.environ["GAIN_OF_A_TEST"]), os.getenv("HOME")


@pytest.mark.parametrize(
    ("code", "owner", "name", "value"),
    [
        (scaled, sys.modules[__name__], "GAIN", 0.5),
        (nested, sys.modules[__name__], "GAIN", 0.5),
        (functools.partial(nested, x=[1]), sys.modules[__name__], "GAIN", 2),
        (remembering, sys.modules[__name__], "TABLE", {"gain": [2.0]}),
        (lambda x: x * OBJECT.gain, OBJECT, "gain", 2.0),
        (lambda x: x * WEIGHTS, sys.modules[__name__], "WEIGHTS", np.zeros(2)),
        (lambda x: (lambda y: y * Settings.gain)(x), Settings, "gain", 2.0),
        (Scaling(), Settings, "gain", 2.0),
        (from_environment, os.environ, "GAIN_OF_A_TEST", "2"),
    ],
)
def test_values_that_code_names_change_a_fingerprint(code, owner, name, value, monkeypatch):
    monkeypatch.setenv("GAIN_OF_A_TEST", "1")
    before = fingerprint(code)
    (monkeypatch.setitem if owner is os.environ else monkeypatch.setattr)(owner, name, value)
    assert fingerprint(code) != before
    monkeypatch.undo()
    monkeypatch.setenv("GAIN_OF_A_TEST", "1")
    assert fingerprint(code) == before


def test_values_that_code_changes_do_not_change_a_fingerprint():
    seen = []

    def remember(x):
        seen.append(x)
        return remembering(x)

    before = fingerprint(remember)
    remember("a stimulus")
    assert (COUNT, len(SEEN), len(seen)) == (1, 1, 1)
    assert fingerprint(remember) == before


def test_fingerprints_of_networks_include_values_that_they_name(monkeypatch):
    torch = pytest.importorskip("torch")

    class Network(torch.nn.Module):
        gain = 1.0

        def __init__(self):
            super().__init__()
            self._mean = torch.ones(3)

        def forward(self, x):
            return scaled(x) * self.gain

    before = code_fingerprint(Network())
    monkeypatch.setattr(Network, "gain", 2.0)
    other = code_fingerprint(Network())
    monkeypatch.setattr(sys.modules[__name__], "GAIN", 2.0)
    assert len({before, other, code_fingerprint(Network())}) == 3


def test_fingerprints_are_equal_in_all_processes(tmp_path):
    (tmp_path / "mine.py").write_text(
        "import numpy as np\nNAMES = {'a', 'b', 'c', 1}\nARRAY = np.arange(3)\n\n\n"
        "class Reader:\n    kinds = frozenset('xyz')\n\n    def __call__(self, x):\n        return NAMES, ARRAY\n"
    )
    code = (
        "from brainscore_vision.model_helpers.activations.fingerprints import fingerprint; import mine; "
        "print(fingerprint(mine.Reader()))"
    )
    digests = set()
    for seed in ("1", "2"):
        paths = os.pathsep.join([str(tmp_path), *filter(None, sys.path)])
        environment = {**os.environ, "PYTHONHASHSEED": seed, "PYTHONPATH": paths}
        digests.add(
            subprocess.run([sys.executable, "-c", code], env=environment, check=True, capture_output=True).stdout
        )
    assert len(digests) == 1


def test_cached_properties_do_not_change_a_fingerprint():
    class Filters:
        def __init__(self, size):
            self.size = size

        @cached_property
        def weights(self):
            return np.ones(self.size)

    filters = Filters(3)
    before = fingerprint(filters)
    assert filters.weights.sum() == 3
    assert fingerprint(filters) == before != fingerprint(Filters(4))


@pytest.mark.parametrize("name", ["gabor", "pixels", "simulated-truth"])
def test_activations_of_models_without_weights_are_stored(name):
    assert load_model(name).activations_model.keeps_activations()


@pytest.fixture
def features():
    return {"conv": np.random.default_rng(0).random((9, 2, 3)), "fc": np.random.default_rng(1).random((9, 4))}


@pytest.mark.parametrize("kind", ["npz", "npy", "nc"])
def test_features_on_disk_are_found_by_stimulus(kind, features, stimuli, tmp_path):
    ids = [f"s{number}" for number in range(8, -1, -1)]
    if kind == "npz":
        np.savez(tmp_path / "features.npz", stimulus_id=ids, **features)
        model = FeaturesOnDisk(tmp_path / "features.npz", "m")
    elif kind == "npy":
        for layer, values in features.items():
            np.save(tmp_path / f"{layer}.npy", values)
        model = FeaturesOnDisk({layer: tmp_path / f"{layer}.npy" for layer in features}, "m", stimulus_ids=ids)
    else:
        flat = np.hstack([values.reshape(9, -1) for values in features.values()])
        NeuroidAssembly(
            flat,
            coords={
                "stimulus_id": ("presentation", ids),
                "layer": ("neuroid", ["conv"] * 6 + ["fc"] * 4),
                "neuroid_num": ("neuroid", range(10)),
            },
            dims=["presentation", "neuroid"],
        ).to_dataset(name="features").reset_index(["presentation", "neuroid"]).to_netcdf(tmp_path / "features.nc")
        model = FeaturesOnDisk(tmp_path / "features.nc", "m")
    assert model.layers() == ["conv", "fc"]
    rows = [ids.index(one) for one in stimuli["stimulus_id"]]
    for layer, values in features.items():
        np.testing.assert_allclose(model(stimuli, [layer]).values, values.reshape(9, -1)[rows])
    both = model(stimuli, ["fc", "conv"], number_of_trials=2, require_variance=True)
    wanted = np.hstack([features["fc"], features["conv"].reshape(9, -1)])[rows]
    np.testing.assert_allclose(both.values, np.repeat(wanted, 2, axis=0))
    assert list(both["stimulus_id"].values) == list(np.repeat(stimuli["stimulus_id"].to_numpy(), 2))
    assert both["neuroid_id"].values[0] == "m.fc.0"


def test_features_that_are_not_there(tmp_path, features):
    np.savez(tmp_path / "nameless.npz", **features)
    with pytest.raises(UserError, match="does not identify its rows"):
        FeaturesOnDisk(tmp_path / "nameless.npz", "m")
    np.savez(tmp_path / "features.npz", stimulus_id=[f"s{number}" for number in range(9)], **features)
    model = FeaturesOnDisk(tmp_path / "features.npz", "m")
    with pytest.raises(UserError, match="no features of 1 of 2 stimuli: s77"):
        model(StimulusSet({"stimulus_id": ["s1", "s77"]}), ["fc"])
    with pytest.raises(UserError, match="no layer fd"):
        model(StimulusSet({"stimulus_id": ["s1"]}), ["fd"])
    np.savez(tmp_path / "twice.npz", stimulus_id=["a", "a"], fc=np.zeros((2, 1)))
    with pytest.raises(UserError, match="occur twice"):
        FeaturesOnDisk(tmp_path / "twice.npz", "m")


@pytest.mark.parametrize("name", ["resnet18", "vit_tiny_patch16_224"])
def test_timm(name, stimuli, torchvision):
    timm = pytest.importorskip("timm")
    model = timm.create_model(name, pretrained=False)
    wrapper = from_timm(model, store=None)
    assert wrapper.identifier == name
    config = timm.data.resolve_model_data_config(model)
    transform = timm.data.create_transform(**config, is_training=False)
    path = stimuli.get_stimulus("s0")
    found = wrapper._extractor.preprocess([path])[0]
    from PIL import Image

    np.testing.assert_allclose(found, transform(Image.open(path)).numpy(), atol=1e-5)
    assert wrapper(StimulusSet(stimuli.iloc[:1]), ["logits"]).shape == (1, 1000)


def test_torchvision(stimuli, torchvision):
    weights = torchvision.models.SqueezeNet1_1_Weights.IMAGENET1K_V1
    wrapper = from_torchvision(torchvision.models.squeezenet1_1(), "squeeze", weights=weights, store=None)
    assert wrapper._extractor.preprocess == ImagePreprocessing(resize=256, crop=224)
    named = from_torchvision("squeezenet1_1", store=None)
    assert named._extractor.preprocess == ImagePreprocessing(resize=(224, 224))
    one = StimulusSet(stimuli.iloc[:1])
    assert named(one, ["features.0", "classifier.1"])["layer"].values[-1] == "classifier.1"
    with pytest.raises(UserError, match="has no weights 'V7'"):
        from_torchvision("squeezenet1_1", weights="V7")


def test_huggingface(stimuli):
    torch = pytest.importorskip("torch")
    transformers = pytest.importorskip("transformers")
    config = transformers.ViTConfig(
        hidden_size=16, num_hidden_layers=2, num_attention_heads=2, intermediate_size=8, image_size=32, patch_size=16
    )
    torch.manual_seed(0)
    model = transformers.ViTModel(config).eval()
    settings = {
        "do_resize": True,
        "size": {"height": 32, "width": 32},
        "resample": 2,
        "do_normalize": True,
        "image_mean": [0.5] * 3,
        "image_std": [0.5] * 3,
    }
    wrapper = from_huggingface(model, settings, "vit", store=None)
    blocks = next(name for name, module in model.named_modules() if isinstance(module, torch.nn.ModuleList))
    found = wrapper(stimuli, [f"{blocks}.1", "layernorm"])
    paths = [stimuli.get_stimulus(one) for one in stimuli["stimulus_id"]]
    inputs = load_preprocess_images(paths, 32, normalize_mean=[0.5] * 3, normalize_std=[0.5] * 3)
    with torch.no_grad():
        wanted = model(torch.from_numpy(inputs), output_hidden_states=True)
    last = found.sel(layer="layernorm")
    np.testing.assert_allclose(last.values, wanted.last_hidden_state.flatten(1).numpy(), rtol=1e-3, atol=1e-4)
    assert last["embedding"].values.max() == 15
    assert last["channel"].values.max() == 4  # the class token and four patches
    with pytest.raises(UserError, match="the preprocessing of images is not known"):
        from_huggingface(model)
