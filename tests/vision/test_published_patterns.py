"""Patterns of plugins and scripts for brain-score 2.x, each written by us in ``plugins_of_others``, run unmodified."""

import runpy
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from brainscore_core.supported_data_standards.brainio.assemblies import NeuroidAssembly
from brainscore_core.supported_data_standards.brainio.fetch import UnverifiedFileWarning
from brainscore_core.supported_data_standards.brainio.stimuli import StimulusSet, StimulusSetLoader
from brainscore_vision import load_benchmark, load_metric, load_model, metric_registry, plugin_index
from brainscore_vision.model_interface import BrainModel

torch = pytest.importorskip("torch")

SOURCE = Path(__file__).parents[1] / "plugins_of_others"


@pytest.fixture
def plugins(monkeypatch, tmp_path):
    monkeypatch.setenv("BRAINSCORE_PLUGINS", str(SOURCE))
    monkeypatch.setenv("BRAINSCORE_HOME", str(tmp_path))
    plugin_index.refresh()
    yield SOURCE
    monkeypatch.delenv("BRAINSCORE_PLUGINS")
    plugin_index.refresh()


class Features:
    """A model whose features for the simulated stimuli are random."""

    identifier = "features"

    def visual_degrees(self):
        return 8

    def start_recording(self, region, time_bins):
        self.region = region

    def look_at(self, stimuli, number_of_trials=1):
        names = list(stimuli["stimulus_id"])
        values = np.random.default_rng(len(names)).standard_normal((len(names), 30))
        return NeuroidAssembly(
            values,
            coords={"stimulus_id": ("presentation", names), "neuroid_id": ("neuroid", np.arange(30))},
            dims=["presentation", "neuroid"],
        )


@pytest.mark.parametrize(
    ("metric", "warns"), [("ridge", True), ("dual_ridge", True), ("pls", True), ("ridgecv", False)]
)
def test_penalties_are_passed_to_every_metric_with_fixed_splits(plugins, metric, warns, recwarn):
    benchmark = load_benchmark(f"FixedSplit2022.IT-{metric}")
    fixed = [str(warning.message) for warning in recwarn if "alphas has no effect" in str(warning.message)]
    assert bool(fixed) is warns
    raw = benchmark(Features()).attrs["raw"]
    assert np.isfinite(float(raw))
    if metric == "ridge":
        plain = benchmark
        plain._similarity_metric = load_metric("ridge_split")
        assert float(raw) == float(plain(Features()).attrs["raw"])


@pytest.mark.filterwarnings("ignore:alphas has no effect")
def test_every_metric_with_fixed_splits_takes_penalties_and_options():
    names = [name for name in metric_registry if name.endswith("_split")]
    assert len(names) >= 12
    for name in names:
        load_metric(name, alphas=[1.0, 10.0], regression_kwargs={})


NEEDS_A_BUCKET = {"precomputed_file"}  # run by test_a_file_that_is_fetched_once
SCRIPTS = sorted(path for path in (SOURCE / "scripts").glob("*.py") if path.stem not in NEEDS_A_BUCKET)


@pytest.mark.parametrize("script", SCRIPTS, ids=lambda path: path.stem)
def test_scripts(script, monkeypatch, tmp_path):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("BRAINSCORE_HOME", str(tmp_path / "home"))
    runpy.run_path(str(script), run_name="__main__")


def test_a_file_that_is_fetched_once(tmp_path, monkeypatch):
    mirror = tmp_path / "mirror"
    stored = mirror / "group-storage.s3.amazonaws.com" / "tests" / "features.nc"
    stored.parent.mkdir(parents=True)
    stored.write_bytes(b"features")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("BRAINSCORE_MIRROR", str(mirror))
    monkeypatch.setenv("BRAINIO_HOME", str(tmp_path / "cache"))
    with pytest.warns(UnverifiedFileWarning, match=r"features\.nc has sha1"):
        runpy.run_path(str(SOURCE / "scripts" / "precomputed_file.py"))


def test_the_earlier_form_of_the_loader_of_stimuli(tmp_path):
    (tmp_path / "set.csv").write_text("stimulus_id\na\n")
    with pytest.warns(DeprecationWarning, match="pass the class first"):
        stimulus_set = StimulusSetLoader(tmp_path / "set.csv").load()
    assert type(stimulus_set) is StimulusSet


@pytest.fixture
def stimuli(tmp_path):
    random = np.random.default_rng(0)
    images = StimulusSet({"stimulus_id": [f"im{i}" for i in range(6)], "image_label": list("aabbcc")})
    images.stimulus_paths = {name: tmp_path / f"{name}.png" for name in images["stimulus_id"]}
    for path in images.stimulus_paths.values():
        Image.fromarray(random.integers(0, 256, (20, 20, 3), dtype=np.uint8)).save(path)
    images.identifier = "simulated"
    return images


@pytest.mark.parametrize("name", ["register_hook", "tensor_to_numpy", "get_activations"])
def test_wrappers_read_layers_by_their_own_methods(plugins, stimuli, name):
    model = load_model(f"own_hooks-{name}")
    activations = model.activations(stimuli, ["conv", "block"])
    plain = type(model.activations_model).__mro__[1](
        model.activations_model.model, model.activations_model._extractor.preprocess, "plain", store=None
    )
    np.testing.assert_allclose(activations.values, plain(stimuli, layers=["conv", "block"]).values, atol=1e-5)
    assert model.activations(stimuli, ["block"]).sizes["neuroid"] == 16
    model.start_task("label", "imagenet")
    assert model.look_at(stimuli).shape == (6, 1)


def test_a_wrapper_that_drops_a_background_class(plugins, stimuli):
    model = load_model("own_hooks-call")
    model.start_task(BrainModel.Task.label, "imagenet")
    logits = model.activations_model(stimuli, layers=["logits"])
    assert logits.sizes["neuroid"] == 1000
    assert model.look_at(stimuli)["logit"].values.tolist() == logits.values.argmax(axis=1).tolist()


def test_layers_are_those_of_the_regions(plugins, stimuli):
    model = load_model("own_hooks-no_layers")
    assert model.layers == ["conv", "block"]
    model.start_recording("IT", time_bins=[(70, 170)])
    assert set(model.look_at(stimuli)["layer"].values) == {"conv", "block"}


def test_a_commitment_that_maps_steps_to_time(plugins, stimuli):
    model = load_model("recurrent_commitment")
    assert model.do_behavior is False
    model.start_recording("IT", time_bins=[(90, 190), (190, 290)])
    recordings = model.look_at(stimuli)
    assert dict(recordings.sizes) == {"time_bin": 2, "presentation": 6, "neuroid": 12}
    assert recordings["time_bin_start"].values.tolist() == [90, 190]
    assert recordings["stimulus_id"].values.tolist() == stimuli["stimulus_id"].tolist()
    network = model.activations_model.model
    images = model.activations_model.example_input
    with torch.no_grad():
        first = network.V1(images(stimuli.get_stimulus("im3")).flatten(1))
        steps = [network.IT(first), network.IT(first + network.IT(first))]
    found = recordings.transpose("time_bin", "presentation", "neuroid").values[:, 3]
    np.testing.assert_allclose(found, torch.cat(steps).numpy(), atol=1e-6)
    model.start_task(BrainModel.Task.probabilities, stimuli)
    assert model.do_behavior is True
    assert model.look_at(stimuli).shape == (6, 3)


def test_wrappers_of_networks_of_films(plugins, stimuli):
    for name, features in (("forward", 2 * 2 * 3), ("steps", 5)):
        model = load_model(f"video_wrapper-{name}")
        model.start_recording("IT", time_bins=[(0, 250), (500, 750)])
        assert dict(model.look_at(stimuli).sizes) == {"presentation": 6, "neuroid": features, "time_bin": 2}
