import numpy as np
import pytest

from brainscore_core.errors import NotApplicable, UserError
from brainscore_core.numerics import participation_ratio
from brainscore_core.provenance import recording
from brainscore_core.supported_data_standards.brainio.assemblies import BehavioralAssembly, NeuroidAssembly
from brainscore_core.supported_data_standards.brainio.stimuli import StimulusSet
from brainscore_vision.benchmark_helpers import PrecomputedFeatures, RecordedDecisions, check_standard_format
from brainscore_vision.model_interface import BrainModel


def features_of(ids, *, offset=0.0, time_bins=0):
    shape = (len(ids), 3, time_bins) if time_bins else (len(ids), 3)
    coords = {
        "stimulus_id": ("presentation", ids),
        "object_name": ("presentation", [name[0] for name in ids]),
        "neuroid_id": ("neuroid", ["n0", "n1", "n2"]),
        "layer": ("neuroid", ["l", "l", "l"]),
    }
    if time_bins:
        coords["time_bin_start"] = ("time_bin", np.arange(time_bins) * 10)
        coords["time_bin_end"] = ("time_bin", np.arange(time_bins) * 10 + 10)
    dims = ["presentation", "neuroid", "time_bin"][: len(shape)]
    return NeuroidAssembly(np.arange(np.prod(shape), dtype=float).reshape(shape) + offset, coords=coords, dims=dims)


def stimuli_of(ids, identifier="set"):
    stimuli = StimulusSet({"stimulus_id": ids})
    stimuli.identifier = identifier
    return stimuli


def test_selects_by_stimulus_id_in_the_order_of_the_stimuli():
    model = PrecomputedFeatures(features_of(["a", "b", "c"]), visual_degrees=8)
    assert model.visual_degrees() == 8
    model.start_recording("IT", time_bins=[(70, 170)])
    recordings = model.look_at(stimuli_of(["c", "a"]), number_of_trials=30)
    assert recordings.dims == ("presentation", "neuroid")
    np.testing.assert_array_equal(recordings.values, [[6, 7, 8], [0, 1, 2]])
    assert recordings["stimulus_id"].values.tolist() == ["c", "a"]
    assert recordings["neuroid_id"].values.tolist() == ["n0", "n1", "n2"]
    assert isinstance(recordings, NeuroidAssembly)


def test_a_stimulus_shown_twice_is_answered_twice():
    model = PrecomputedFeatures(features_of(["a", "b"]), visual_degrees=8)
    np.testing.assert_array_equal(model.look_at(stimuli_of(["b", "a", "b"])).values[:, 0], [3, 0, 3])


def test_several_stimulus_sets_also_on_a_screen():
    model = PrecomputedFeatures({"one": features_of(["a"]), "two": features_of(["a"], offset=100)}, visual_degrees=8)
    model.start_recording("V4", [(70, 170)])
    assert model.look_at(stimuli_of(["a"], "one")).values[0, 0] == 0
    assert model.look_at(stimuli_of(["a"], "two")).values[0, 0] == 100
    assert model.look_at(stimuli_of(["a"], "two--target8.00--source4.00")).values[0, 0] == 100
    with pytest.raises(UserError, match=r"'three'.*'one', 'two'"):
        model.look_at(stimuli_of(["a"], "three"))


def test_missing_stimuli_are_named():
    model = PrecomputedFeatures(features_of(["a", "b"]), visual_degrees=8)
    with pytest.raises(UserError, match=r"lack 2 of 3 stimuli: x, y"):
        model.look_at(stimuli_of(["x", "a", "y"]))


def test_ambiguous_features_are_refused_only_where_they_matter():
    model = PrecomputedFeatures(features_of(["a", "b", "a"]), visual_degrees=8)
    assert model.look_at(stimuli_of(["b"])).values[0, 0] == 3
    with pytest.raises(UserError, match=r"several times: a$|several times: a\n"):
        model.look_at(stimuli_of(["a"]))


def test_features_without_stimulus_ids():
    with pytest.raises(UserError, match="stimulus_id"):
        PrecomputedFeatures(
            NeuroidAssembly(
                np.zeros((1, 1)), coords={"neuroid_id": ("neuroid", [0])}, dims=["presentation", "neuroid"]
            ),
            visual_degrees=8,
        )


def test_one_time_bin_is_squeezed_several_are_kept():
    one = PrecomputedFeatures(features_of(["a", "b"], time_bins=1), visual_degrees=8)
    assert one.look_at(stimuli_of(["a"])).dims == ("presentation", "neuroid")
    two = PrecomputedFeatures(features_of(["a", "b"], time_bins=2), visual_degrees=8)
    assert dict(two.look_at(stimuli_of(["a"])).sizes) == {"presentation": 1, "neuroid": 3, "time_bin": 2}


@pytest.mark.parametrize("time_bins", [0, 2])
def test_recorded_features_are_noted(time_bins):
    features = features_of(["a", "b", "c"], time_bins=time_bins)
    features.values = np.random.default_rng(0).standard_normal(features.shape)
    model = PrecomputedFeatures(features, visual_degrees=8)
    with recording() as record:
        model.look_at(stimuli_of(["a", "b"]))  # nothing is recorded
        model.start_recording("IT", time_bins=[(0, 10), (10, 20)])
        model.look_at(stimuli_of(["a", "b", "c"]))
        model.look_at(stimuli_of(["a"]))
    bins = [features.values] if time_bins == 0 else [features.values[:, :, place] for place in range(time_bins)]
    value = np.mean([participation_ratio(each).value for each in bins])
    noted = {"kind": "features", "region": "IT", "layers": ["l"], "features": 3}
    assert record.items == [
        {**noted, "stimuli": 3, "effective_dimensionality": pytest.approx(value)},
        {**noted, "stimuli": 1, "effective_dimensionality": None},
    ]


def test_recordings_are_no_behaviour_and_the_reverse():
    recordings = PrecomputedFeatures(features_of(["a"]), visual_degrees=8)
    with pytest.raises(NotApplicable, match="has recordings, not behavior"):
        recordings.start_task(BrainModel.Task.label, ["a"])
    behaviour = PrecomputedFeatures(
        BehavioralAssembly(["dog"], coords={"stimulus_id": ("presentation", ["a"])}, dims=["presentation"]),
        visual_degrees=8,
    )
    behaviour.start_task(BrainModel.Task.label, ["dog"])
    assert behaviour.look_at(stimuli_of(["a"])).values.tolist() == ["dog"]
    with pytest.raises(NotApplicable, match="has behavior, not recordings"):
        behaviour.start_recording("IT", [(70, 170)])


def test_decisions_are_replayed():
    model = RecordedDecisions("observer", {"a": "dog", "b": "cat", "c": "dog"}, visual_degrees=3)
    assert model.identifier == "observer"
    assert model.visual_degrees() == 3
    with pytest.raises(UserError, match="start_task"):
        model.look_at(stimuli_of(["a"]))
    model.start_task(BrainModel.Task.label, ["cat", "dog"])
    choices = model.look_at(stimuli_of(["b", "c"]), number_of_trials=5)
    assert choices.dims == ("presentation", "choice")
    assert choices.values.tolist() == [["cat"], ["dog"]]
    assert choices["stimulus_id"].values.tolist() == ["b", "c"]
    with pytest.raises(UserError, match="lack 1 of 1 stimuli: z"):
        model.look_at(stimuli_of(["z"]))


def test_decisions_from_an_assembly():
    decisions = BehavioralAssembly(
        ["dog", "cat"], coords={"stimulus_id": ("presentation", ["a", "b"])}, dims=["presentation"]
    )
    model = RecordedDecisions("observer", decisions, visual_degrees=3)
    model.start_task("label")
    assert model.look_at(stimuli_of(["b", "a"])).values.ravel().tolist() == ["cat", "dog"]


def test_decisions_are_all_there_is():
    model = RecordedDecisions("observer", {"a": "dog"}, visual_degrees=3)
    with pytest.raises(NotApplicable, match="only recorded decisions"):
        model.start_recording("IT", [(70, 170)])
    with pytest.raises(NotApplicable, match="'label' only"):
        model.start_task(BrainModel.Task.probabilities, stimuli_of(["a"]))


def test_standard_format():
    good = features_of(["a", "b"])
    good.attrs["stimulus_set"] = stimuli_of(["a", "b"])
    good.attrs["stimulus_set_identifier"] = "set"
    check_standard_format(good)
    with_nan = good.copy()
    with_nan.values[0, 0] = np.nan
    check_standard_format(with_nan, nans_expected=True)
    with pytest.raises(UserError, match="NaN"):
        check_standard_format(with_nan)
    check_standard_format(good.transpose("neuroid", "presentation"))
    over_time = features_of(["a", "b"], time_bins=2)
    over_time.attrs = dict(good.attrs)
    check_standard_format(over_time.transpose("neuroid", "presentation", "time_bin"))
    with pytest.raises(UserError, match=r"dimensions are \('presentation',\)"):
        check_standard_format(good.isel(neuroid=0))
    with pytest.raises(UserError, match="a BehavioralAssembly, not a NeuroidAssembly"):
        check_standard_format(BehavioralAssembly(good.values, coords=good.coords, dims=good.dims, attrs=good.attrs))
    bad = NeuroidAssembly(
        np.zeros((1, 1)), coords={"stimulus_id": ("presentation", ["q"])}, dims=["presentation", "neuroid"]
    )
    with pytest.raises(UserError, match=r"'neuroid_id'.*'stimulus_set'.*'stimulus_set_identifier'"):
        check_standard_format(bad)
    bad.attrs["stimulus_set"] = stimuli_of(["a"])
    with pytest.raises(UserError, match="stimulus set lacks q"):
        check_standard_format(bad)
