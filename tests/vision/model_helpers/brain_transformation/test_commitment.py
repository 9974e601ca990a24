import json

import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression
from sklearn.preprocessing import StandardScaler

from brainscore_core.errors import NotApplicable, UserError
from brainscore_core.supported_data_standards.brainio.assemblies import BehavioralAssembly, NeuroidAssembly
from brainscore_vision.model_helpers.brain_transformation import ModelCommitment
from brainscore_vision.model_interface import BrainModel

IDS = [f"im{number}" for number in range(9)]


def tables(*layers, width=4, seed=0):
    rng = np.random.default_rng(seed)
    return {layer: {name: rng.standard_normal(width) for name in IDS} for layer in layers}


@pytest.fixture
def shown(stimuli_of):
    return stimuli_of(IDS, image_label=list("aabbccaab"))


@pytest.fixture
def network(network_of):
    made = tables("conv1", "conv2", "block.0", "block.1", "fc")
    made["logits"] = tables("logits", width=1000, seed=1)["logits"]
    return network_of(made)


def commitment(network, **options):
    arguments = {
        "layers": ["conv*", "block.?", "fc"],
        "region_layer_map": {"V1": "conv1", "IT": ["block.*", "fc"]},
        "behavioral_readout_layer": "fc",
    }
    return ModelCommitment("net", network, **arguments | options)


def test_recordings(network, shown):
    model = commitment(network)
    model.start_recording("IT", time_bins=[(70, 170)])
    recordings = model.look_at(shown)
    assert isinstance(recordings, NeuroidAssembly)
    assert recordings.dims == ("presentation", "neuroid")
    assert recordings["layer"].values.tolist() == ["block.0"] * 4 + ["block.1"] * 4 + ["fc"] * 4
    assert set(recordings["region"].values) == {"IT"}
    expected = np.hstack([[network.tables[layer][name] for name in IDS] for layer in ("block.0", "block.1", "fc")])
    np.testing.assert_array_equal(recordings.values, expected)
    assert recordings["image_label"].values.tolist() == shown["image_label"].tolist()
    assert recordings.attrs["layers_from"] == "region_layer_map"
    assert model.look_at(shown.iloc[[4, 2]])["stimulus_id"].values.tolist() == ["im4", "im2"]


def test_the_later_of_task_and_recording_decides_and_variance_reaches_recordings(network, shown):
    model = commitment(network)
    with pytest.raises(UserError, match="has neither a task nor a recording"):
        model.look_at(shown)
    model.start_task(BrainModel.Task.label, "imagenet")
    assert isinstance(model.look_at(shown), BehavioralAssembly)
    model.start_recording("V1", [(70, 170)])
    assert isinstance(model.look_at(shown), NeuroidAssembly)
    trials = model.look_at(shown, number_of_trials=3, require_variance=True)
    assert network.calls[-1][2:] == (3, True)
    assert trials.shape == (27, 4)
    for row, (name, repetition) in enumerate(
        zip(trials["stimulus_id"].values, trials["repetition"].values, strict=True)
    ):
        np.testing.assert_array_equal(trials.values[row], network.tables["conv1"][name] + 1000 * repetition)
    assert model.look_at(shown, number_of_trials=3).shape == (9, 4)  # nothing of it stays
    assert network.calls[-1][2:] == (3, False)
    model.start_task(BrainModel.Task.odd_one_out)
    assert model.look_at(shown).shape == (3,)
    model.start_task(BrainModel.Task.passive)
    assert set(model.look_at(shown)["region"].values) == {"V1"}
    with pytest.raises(UserError, match="number_of_trials is 0"):
        model.look_at(shown, number_of_trials=0)


def test_passive_without_a_recording(network, shown):
    model = commitment(network)
    model.start_task("probabilities", shown)
    model.start_task("passive")
    with pytest.raises(UserError, match="nothing is recorded"):
        model.look_at(shown)


def test_a_refused_call_changes_nothing(network, shown):
    model = commitment(network)
    model.start_recording("V1", [(70, 170)])
    with pytest.raises(NotApplicable, match="no region 'V4'; it has V1, IT"):
        model.start_recording("V4", [(70, 170)])
    with pytest.raises(NotApplicable, match="'juggling'; it can do label, probabilities, odd_one_out, passive"):
        model.start_task("juggling")
    with pytest.raises(UserError, match="time_bins"):
        model.start_recording("IT", [])
    assert model.look_at(shown).shape == (9, 4)


def test_trials_of_extracted_activations_are_labelled_rightly(shown):
    """With a batch of several images, each trial's response stands under the stimulus that evoked it."""
    from brainscore_vision.model_helpers.activations.core import ActivationsExtractorHelper

    extractor = ActivationsExtractorHelper(
        get_activations=lambda images, layers: {layer: np.asarray(images).mean(axis=(2, 3)) for layer in layers},
        preprocessing=lambda paths: np.stack([np.full((1, 8, 8), float(path.stem.split("im")[-1])) for path in paths]),
        identifier=False,
        batch_size=4,
    )  # fmt: skip
    model = ModelCommitment("grey", extractor, ["mean"], region_layer_map={"V1": "mean"})
    model.start_recording("V1", [(70, 170)])
    trials = model.look_at(shown, number_of_trials=3, require_variance=True)
    expected = [int(name.removeprefix("im")) for name in trials["stimulus_id"].values]
    np.testing.assert_allclose(trials.values[:, 0], expected)
    assert model.look_at(shown, number_of_trials=5).shape == (9, 1)
    assert model.look_at(shown, number_of_trials=2, require_variance=True).shape == (18, 1)


def test_probabilities_equal_scikit_learn(network, shown):
    model = commitment(network)
    model.start_task("probabilities", shown)
    result = model.look_at(shown)
    features = np.array([network.tables["fc"][name] for name in IDS])
    scaler = StandardScaler().fit(features)
    reference = LogisticRegression(C=1e-3, solver="newton-cg").fit(scaler.transform(features), shown["image_label"])
    assert result["choice"].values.tolist() == list(reference.classes_) == ["a", "b", "c"]
    np.testing.assert_allclose(result.values, reference.predict_proba(scaler.transform(features)), atol=1e-6)


def test_readout_is_the_last_layer_by_default(network, shown):
    model = commitment(network, behavioral_readout_layer=None, layers=["conv1", "block.1"])
    model.start_task("odd_one_out")
    model.look_at(shown)
    assert network.calls[-1][1] == ["block.1"]


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"layers": ["conv3"]}, "no layer conv3; it has conv1.*\nnearest: conv2, conv1"),
        ({"layers": ["block.?.relu"]}, "no layer that matches block.?.relu"),
        ({"region_layer_map": {"V1": "blok.0"}}, "no layer blok.0;.*\nnearest: block.0"),
        ({"behavioral_readout_layer": "fd"}, "no layer fd"),
        ({"layers": []}, "no layers of 'net' are named"),
        ({"visual_degrees": 0}, "visual_degrees of 'net' is 0"),
        ({"visual_degrees": float("nan")}, "visual_degrees"),
        ({"visual_degrees": "eight"}, "visual_degrees"),
    ],
)  # fmt: skip
def test_what_cannot_be_built(network, options, message):
    import re

    with pytest.raises(UserError, match=re.compile(message.replace("?", r"\?"), re.DOTALL)):
        commitment(network, **options)


def test_names_are_not_checked_where_they_are_not_known(shown):
    class Plain:
        identifier = "plain"

        def __call__(self, stimuli, layers, **options):
            raise AssertionError

    assert ModelCommitment("plain", Plain(), ["anything"]).layers == ["anything"]
    with pytest.raises(UserError, match="name each layer"):
        ModelCommitment("plain", Plain(), ["any*"])


def test_torch_names_blocks_and_logits():
    torch = pytest.importorskip("torch")
    from brainscore_vision.model_helpers.activations import PytorchWrapper

    block = torch.nn.Sequential(torch.nn.Linear(3, 3), torch.nn.ReLU())
    wrapper = PytorchWrapper(torch.nn.Sequential(block, torch.nn.Linear(3, 2)), None)
    model = ModelCommitment("net", wrapper, ["0", "0.*", "logits", "0.1-t0"])
    assert model.layers == ["0", "0.0", "0.1", "logits", "0.1-t0"]
    with pytest.raises(UserError, match=r"no layer 0\.2"):
        ModelCommitment("net", wrapper, ["0.2"])


def test_subjects_that_share_a_network_keep_their_visual_angle(network, shown):
    wide, narrow = commitment(network, visual_degrees=16), commitment(network, visual_degrees=4)
    for model in (wide, narrow, wide):
        model.start_recording("V1", [(70, 170)])
        model.look_at(shown)
    assert network.degrees == [16, 4, 16]
    assert (wide.visual_degrees(), narrow.visual_degrees()) == (16, 4)


# -- maps in files ---------------------------------------------------------------------------------------------------


@pytest.fixture
def registered(tmp_path, monkeypatch):
    """``registered({"V1": …})`` registers 'filed-net' with a map from region to layer."""
    import brainscore_vision

    folder = tmp_path / "lab" / "models" / "filed"
    (folder / "region_layer_map").mkdir(parents=True)
    (folder / "__init__.py").write_text(
        "from brainscore_vision import model_registry\nmodel_registry['filed-net'] = lambda: None\n"
    )
    monkeypatch.setenv("BRAINSCORE_PLUGINS", str(tmp_path / "lab"))
    brainscore_vision.plugin_index.refresh()

    def write(text):
        (folder / "region_layer_map" / "filed-net.json").write_text(text)

    yield write
    monkeypatch.delenv("BRAINSCORE_PLUGINS")
    brainscore_vision.plugin_index.refresh()


def test_the_map_of_a_plugin(registered, network, shown):
    registered(json.dumps({"V1": "conv1", "IT": ["block.0", "fc"]}))
    model = ModelCommitment("filed-net", network, ["conv1", "fc"])
    assert model.region_layer_map == {"V1": ["conv1"], "IT": ["block.0", "fc"]}
    model.start_recording("IT", [(70, 170)])
    recordings = model.look_at(shown)
    assert recordings.shape == (9, 8)
    assert recordings.attrs["layers_from"] == "filed/region_layer_map/filed-net.json"
    with pytest.raises(NotApplicable, match="no region 'V2'"):
        model.start_recording("V2", [(70, 170)])
    given = ModelCommitment("filed-net", network, ["conv1", "fc"], region_layer_map={"V2": "fc"})
    assert given.region_layer_map == {"V2": ["fc"]}


def test_an_unknown_layer_names_the_version_of_the_library(registered, network, tmp_path, monkeypatch):
    registered("{}")
    (tmp_path / "lab" / "models" / "filed" / "requirements.txt").write_text("torch\ntorchvision>=0.9,<0.15\n")
    network._model = type("OldNetwork", (), {"__module__": "torchvision.models.old"})()
    monkeypatch.setattr("importlib.metadata.version", lambda name: "1.2.3")
    with pytest.raises(UserError, match="no layer conv_1") as error:
        ModelCommitment("filed-net", network, ["conv_1"])
    assert "nearest: conv1" in error.value.remedy
    assert "of torchvision 1.2.3; other versions may name its layers differently" in error.value.remedy
    assert "(required by the plugin: torchvision>=0.9,<0.15)" in error.value.remedy


@pytest.mark.parametrize("text", ["{", "[]", '{"V1": 3}', '{"V1": []}', '{"V1": "nowhere"}'])
def test_a_broken_map_is_said(registered, network, text):
    registered(text)
    model = ModelCommitment("filed-net", network, ["conv1", "fc"])
    with pytest.raises(UserError, match=r"filed-net"):
        model.start_recording("V1", [(70, 170)])


# -- time ------------------------------------------------------------------------------------------------------------

MAPPING = {"V1": {0: (50, 150)}, "IT": {0: (100, 200), 1: (200, 300)}}


@pytest.fixture
def recurrent(network_of):
    return network_of(tables("V1.output-t0", "IT.output-t0", "IT.output-t1", "decoder.avgpool-t0"), "cor")


def timed(network, **options):
    return ModelCommitment("cor", network, network.layers(), time_mapping=MAPPING, **options)


def test_time_steps_become_time_bins(recurrent, shown):
    model = timed(recurrent)
    assert model.region_layer_map == {"V1": ["V1.output-t0"], "IT": ["IT.output-t0", "IT.output-t1"]}
    model.start_recording("IT", [(90, 110), (70, 170), (149, 160), (151, 160), (210, 310)])
    recordings = model.look_at(shown)
    assert recordings.dims == ("presentation", "neuroid", "time_bin")
    steps = ["t0", "t0", "t0", "t1", "t1"]  # the step that starts nearest to the bin's start; 150 is the middle
    for number, step in enumerate(steps):
        expected = [recurrent.tables[f"IT.output-{step}"][name] for name in IDS]
        np.testing.assert_array_equal(recordings.values[..., number], expected)
    assert recordings["time_bin_start"].values.tolist() == [90, 70, 149, 151, 210]
    assert recordings["neuroid_id"].values.tolist() == [f"cor.IT.output.{number}" for number in range(4)]
    assert set(recordings["layer"].values) == {"IT.output"}
    assert len(recurrent.calls) == 1


def test_one_time_bin_is_squeezed_and_only_its_step_is_recorded(recurrent, shown):
    model = timed(recurrent)
    model.start_recording("IT", [(70, 170)])
    recordings = model.look_at(shown)
    assert recordings.dims == ("presentation", "neuroid")
    assert recurrent.calls[-1][1] == ["IT.output-t0"]
    model.start_recording("IT")
    assert model.look_at(shown)["time_bin_end"].values.tolist() == [200, 300]


def test_time_mappings_that_cannot_be(recurrent):
    with pytest.raises(UserError, match="time step 2"):
        ModelCommitment("cor", recurrent, recurrent.layers(), time_mapping={"IT": {2: (0, 1)}})
    with pytest.raises(UserError, match="named after V4"):
        ModelCommitment("cor", recurrent, recurrent.layers(), time_mapping={"V4": {0: (0, 1)}})
    with pytest.raises(UserError, match="has no time step"):
        ModelCommitment(
            "cor", recurrent, recurrent.layers(), time_mapping={"V1": {0: (0, 1)}}, region_layer_map={"V1": "V1.output"}
        )


def test_static_output_in_several_bins_is_a_view(network, shown):
    model = commitment(network)
    model.start_recording("V1", [(0, 50), (50, 100)])
    recordings = model.look_at(shown)
    assert recordings.shape == (9, 4, 2)
    assert (recordings.values[..., 0] == recordings.values[..., 1]).all()
    assert not recordings.values.flags.writeable


def test_output_over_time_is_averaged_into_bins(network_of, shown):
    table = {"conv": {name: np.arange(6.0).reshape(2, 3) + index for index, name in enumerate(IDS)}}
    network = network_of(table, times=[(0, 100), (100, 200), (200, 300)])
    model = ModelCommitment("video", network, ["conv"], region_layer_map={"IT": "conv"})
    model.start_recording("IT", [(50, 150), (100, 300)])
    recordings = model.look_at(shown)
    np.testing.assert_allclose(recordings.values[0], [[0.5, 1.5], [3.5, 4.5]])
    model.start_recording("IT", [(100, 200)])
    assert model.look_at(shown).dims == ("presentation", "neuroid")
    model.start_task("odd_one_out")
    assert model.look_at(shown).shape == (3,)
