import numpy as np
import pytest
from PIL import Image

from brainscore_core.errors import NotApplicable, UserError
from brainscore_core.supported_data_standards.brainio.assemblies import BehavioralAssembly, NeuroidAssembly
from brainscore_core.supported_data_standards.brainio.stimuli import StimulusSet
from brainscore_vision.model_helpers.images import load_contrast, load_grey, load_rgb
from brainscore_vision.model_helpers.static_features import FeatureModel
from brainscore_vision.model_interface import BrainModel


@pytest.fixture
def stimuli(tmp_path):
    """Seven images; image i is filled with grey level 10 · i."""
    paths = {}
    for number in range(7):
        paths[f"im{number}"] = tmp_path / f"im{number}.png"
        Image.fromarray(np.full((4, 4), 10 * number, dtype=np.uint8)).save(paths[f"im{number}"])
    result = StimulusSet({"stimulus_id": list(paths), "image_label": list("aabbaba"), "size": np.linspace(0, 1, 7)})
    result.stimulus_paths = paths
    result.identifier = "greys"
    return result


def model_of(**kwargs):
    arguments = {
        "layers": {
            "first": lambda images: np.stack([image[:2, :2, :] for image in images]),
            "last": lambda images: np.stack([[image.mean(), -image.mean()] for image in images]),
        },
        "region_layer_map": {"V1": "first", "IT": ["first", "last"]},
        "load": load_rgb,
        "batch_size": 3,
    } | kwargs
    return FeatureModel("test-model", **arguments)


def test_recordings(stimuli):
    model = model_of()
    model.start_recording("V1", time_bins=[(70, 170)])
    recordings = model.look_at(stimuli, number_of_trials=50)
    assert isinstance(recordings, NeuroidAssembly)
    assert recordings.dims == ("presentation", "neuroid")
    assert recordings.shape == (7, 12)
    assert recordings.dtype == np.float32
    np.testing.assert_array_equal(recordings.values, np.arange(7)[:, np.newaxis] * 10 * np.ones(12))
    for column in stimuli.columns:
        np.testing.assert_array_equal(recordings[column].values, stimuli[column].to_numpy())
    assert recordings["neuroid_id"].values[:2].tolist() == ["test-model.first.0", "test-model.first.1"]
    assert set(recordings["region"].values) == {"V1"}
    assert set(recordings["model"].values) == {"test-model"}
    assert recordings.attrs["stimulus_set_identifier"] == "greys"


def test_several_layers_of_a_region(stimuli):
    model = model_of()
    model.start_recording("IT", time_bins=[(70, 170)])
    recordings = model.look_at(stimuli)
    assert recordings.shape == (7, 14)
    assert recordings["layer"].values.tolist() == ["first"] * 12 + ["last"] * 2
    assert recordings["neuroid_num"].values.tolist() == [*range(12), 0, 1]
    assert len(set(recordings["neuroid_id"].values)) == 14
    assert recordings.sel(layer="last").values[3].tolist() == [30, -30]


def test_several_time_bins_repeat_the_response(stimuli):
    model = model_of()
    model.start_recording("V1", time_bins=[(0, 50), (50, 100), (100, 150)])
    recordings = model.look_at(stimuli)
    assert dict(recordings.sizes) == {"presentation": 7, "neuroid": 12, "time_bin": 3}
    assert recordings["time_bin_end"].values.tolist() == [50, 100, 150]
    assert (recordings.values == recordings.values[..., :1]).all()
    assert recordings["stimulus_id"].values.tolist() == stimuli["stimulus_id"].tolist()


def test_variance_keeps_trials_apart_and_rightly_labelled(stimuli):
    model = model_of()
    model.start_recording("V1", time_bins=[(70, 170)])
    trials = model.look_at(stimuli, number_of_trials=4, require_variance=True)
    assert trials.shape == (28, 12)
    expected = {identifier: 10 * number for number, identifier in enumerate(stimuli["stimulus_id"])}
    for row, identifier in enumerate(trials["stimulus_id"].values):
        assert (trials.values[row] == expected[identifier]).all()
    assert sorted(trials.sel(stimulus_id="im3")["repetition"].values.tolist()) == [0, 1, 2, 3]
    # nothing of it stays
    assert model.look_at(stimuli, number_of_trials=4).shape == (7, 12)


def test_the_later_call_decides(stimuli):
    model = model_of()
    with pytest.raises(UserError, match="has neither a task nor a recording"):
        model.look_at(stimuli)
    model.start_task(BrainModel.Task.probabilities, stimuli)
    assert isinstance(model.look_at(stimuli), BehavioralAssembly)
    model.start_recording("V1", [(70, 170)])
    assert isinstance(model.look_at(stimuli), NeuroidAssembly)
    model.start_task(BrainModel.Task.passive)
    assert isinstance(model.look_at(stimuli), NeuroidAssembly)
    model.start_task(BrainModel.Task.odd_one_out)
    assert model.look_at(stimuli[:6]).shape == (2,)
    model.start_recording("IT", [(70, 170)])
    assert model.look_at(stimuli).shape == (7, 14)


def test_labels_that_differ_in_capitals_or_blanks_are_remarked(stimuli):
    labelled = stimuli.assign(image_label=["cat", "Cat ", *["dog"] * (len(stimuli) - 2)])
    with pytest.warns(UserWarning, match="labels 'cat' and 'Cat ', which count as different"):
        model_of().start_task(BrainModel.Task.probabilities, labelled)


def test_a_refused_call_changes_nothing(stimuli):
    model = model_of()
    model.start_recording("V1", [(70, 170)])
    for refused in (
        lambda: model.start_task(BrainModel.Task.label, ["a", "b"]),
        lambda: model.start_recording("V4", [(70, 170)]),
        lambda: model.start_task("juggling"),
    ):
        with pytest.raises(NotApplicable):
            refused()
    assert model.look_at(stimuli).shape == (7, 12)


def test_reasons_of_not_applicable():
    with pytest.raises(NotApplicable, match="no logits"):
        model_of().start_task(BrainModel.Task.label, ["a"])
    with pytest.raises(NotApplicable, match="no region 'V4'; it has V1, IT"):
        model_of().start_recording("V4", [(70, 170)])


def test_files_are_read_once_and_in_bounded_batches(stimuli):
    read, batches = [], []

    def load(path):
        read.append(path)
        return load_rgb(path)

    def count(images):
        batches.append(len(images))
        return np.stack(images)

    model = model_of(load=load, layers={"one": count, "two": count}, region_layer_map={"V1": ["one", "two"]})
    model.start_recording("V1", [(70, 170)])
    shown_twice = StimulusSet({"stimulus_id": ["x", "y", "z"]})
    shown_twice.stimulus_paths = {"x": stimuli.stimulus_paths["im1"], "y": stimuli.stimulus_paths["im2"],
                                  "z": stimuli.stimulus_paths["im1"]}  # fmt: skip
    shown_twice.identifier = "twice"
    recordings = model.look_at(shown_twice)
    assert recordings.values[:, 0].tolist() == [10, 20, 10]
    assert len(read) == 3  # one of two is shown alone first
    read.clear(), batches.clear()
    model.look_at(stimuli)
    assert sorted({*read}) == sorted(stimuli.stimulus_paths.values())
    assert len(read) == 8
    assert batches == [1, 1, 3, 3, 3, 3, 1, 1]  # the first stimulus alone tells the layers' sizes


def test_order_and_batch_size_do_not_matter(stimuli):
    one, many = model_of(batch_size=1), model_of(batch_size=100)
    for model in (one, many):
        model.start_recording("IT", [(70, 170)])
    shuffled = stimuli.iloc[[3, 0, 6, 1, 2, 5, 4]]
    np.testing.assert_array_equal(one.look_at(stimuli).values, many.look_at(stimuli).values)
    np.testing.assert_array_equal(one.look_at(shuffled).values, many.look_at(stimuli).values[[3, 0, 6, 1, 2, 5, 4]])


def test_changed_files_give_changed_features(stimuli):
    model = model_of()
    model.start_recording("V1", [(70, 170)])
    model.look_at(stimuli)
    Image.fromarray(np.full((4, 4), 99, dtype=np.uint8)).save(stimuli.stimulus_paths["im0"])
    assert model.look_at(stimuli).values[0, 0] == 99


def test_one_layer_serves_every_region():
    model = FeatureModel("small", layers={"only": np.stack}, load=load_rgb)
    assert model.region_layer_map == {region: ["only"] for region in ("V1", "V2", "V4", "IT")}


def test_layers_are_selected_where_no_map_is_given():
    model = model_of(region_layer_map=None)
    assert model.region_layer_map.regions == ["V1", "V2", "V4", "IT"]
    assert len(model.region_layer_map) == 0  # none before it is recorded from


def test_what_cannot_be_built():
    with pytest.raises(ValueError, match="has no layer middle; it has first, last"):
        model_of(region_layer_map={"V1": "middle"})
    with pytest.raises(ValueError, match="has no layer middle"):
        model_of(behavioral_readout_layer="middle")
    with pytest.raises(ValueError, match="no layers"):
        FeatureModel("none", layers={})


@pytest.mark.parametrize(
    ("function", "message"),
    [
        (lambda images: np.zeros((1, 5)), "first axis must be the stimuli"),
        (lambda images: [np.zeros(number) for number, _ in enumerate(images, 1)], "of different lengths"),
        (lambda images: ["a"] * len(images), "features of type <U1"),
    ],
)
def test_functions_that_do_not_return_features_are_refused(stimuli, function, message):
    model = model_of(layers={"one": function}, region_layer_map=None)
    model.start_recording("V1", [(70, 170)])
    with pytest.raises(UserError, match=message):
        model.look_at(stimuli)


def test_missing_and_broken_files(stimuli):
    model = model_of()
    model.start_recording("V1", [(70, 170)])
    stimuli.stimulus_paths["im2"].write_bytes(b"no image")
    with pytest.raises(UserError, match=r"im2\.png cannot be read"):
        model.look_at(stimuli)
    stimuli.stimulus_paths["im2"].unlink()
    with pytest.raises(UserError, match="im2"):
        model.look_at(stimuli)
    with pytest.raises(UserError, match="number_of_trials is 0"):
        model.look_at(stimuli, number_of_trials=0)


def test_images(tmp_path):
    levels = np.array([[0, 64], [128, 255]], dtype=np.uint8)
    Image.fromarray(levels).save(tmp_path / "grey.png")
    np.testing.assert_array_equal(load_grey(tmp_path / "grey.png"), levels)
    np.testing.assert_array_equal(load_rgb(tmp_path / "grey.png"), np.stack([levels] * 3, axis=-1))
    np.testing.assert_allclose(load_contrast(tmp_path / "grey.png"), [[-1, -0.5], [0, 127 / 128]])
    assert load_rgb(tmp_path / "grey.png", size=5).shape == (5, 5, 3)
    coloured = np.zeros((1, 1, 4), dtype=np.uint8)
    coloured[...] = 200, 0, 0, 255
    Image.fromarray(coloured).save(tmp_path / "red.png")
    assert load_rgb(tmp_path / "red.png")[0, 0].tolist() == [200, 0, 0]
    assert load_grey(tmp_path / "red.png")[0, 0] == 60  # 0.299 · 200
