import math

import numpy as np
import pytest
from PIL import Image

from brainscore_core.errors import NotApplicable
from brainscore_core.metrics import Score, attach_uncertainty
from brainscore_core.supported_data_standards.brainio.assemblies import NeuroidAssembly
from brainscore_core.supported_data_standards.brainio.stimuli import StimulusSet
from brainscore_vision.benchmark_helpers.neural_common import NeuralBenchmark, average_repetition
from brainscore_vision.utils import LazyLoad

IDS = ["a", "b", "c"]


def recordings(values, *, region=("IT", "IT"), ids=IDS, time_bins=None, repetitions=1):
    coords = {
        "stimulus_id": ("presentation", list(ids) * repetitions),
        "repetition": ("presentation", np.repeat(np.arange(repetitions), len(ids))),
        "neuroid_id": ("neuroid", ["n0", "n1"]),
    }
    if region:
        coords["region"] = ("neuroid", list(region))
    dims = ["presentation", "neuroid"]
    if time_bins:
        coords["time_bin_start"] = ("time_bin", [start for start, _ in time_bins])
        coords["time_bin_end"] = ("time_bin", [end for _, end in time_bins])
        dims.append("time_bin")
    return NeuroidAssembly(values, coords=coords, dims=dims)


@pytest.fixture
def stimuli(tmp_path):
    stimulus_set = StimulusSet({"stimulus_id": IDS})
    paths = {stimulus_id: tmp_path / f"{stimulus_id}.png" for stimulus_id in IDS}
    for path in paths.values():
        Image.new("RGB", (8, 8)).save(path)
    stimulus_set.stimulus_paths = paths
    stimulus_set.name = "Author2024"
    return stimulus_set


@pytest.fixture
def measured(stimuli):
    assembly = recordings(np.arange(6.0).reshape(3, 2, 1), time_bins=[(70, 170)])
    assembly.attrs["stimulus_set"] = stimuli
    return assembly


class Model:
    """Notes what it is told."""

    identifier = "model"

    def __init__(self, degrees=8, time_bins=((70, 170),)):
        self.degrees, self.bins, self.heard = degrees, time_bins, []

    def visual_degrees(self):
        return self.degrees

    def start_recording(self, recording_target, time_bins, **kwargs):
        self.heard.append((recording_target, time_bins))
        if recording_target != "IT":
            raise NotApplicable(f"no {recording_target}")

    def look_at(self, stimuli, number_of_trials=1, require_variance=False):
        self.heard.append((list(stimuli["stimulus_id"]), number_of_trials))
        self.seen = stimuli
        return recordings(np.ones((3, 2, len(self.bins))), time_bins=list(self.bins))


def metric(value, scale="correlation"):
    def call(source, target):
        call.source, call.target = source, target
        score = attach_uncertainty(
            Score(value), error=0.1, ci=(value - 0.2, value + 0.2), estimates="neuroids", method="bootstrap"
        )
        if scale:
            score.attrs["scale"] = scale
        return score

    return call


def ceiling(value, meaning="reliability"):
    score = Score(value)
    if meaning:
        score.attrs["meaning"] = meaning
    return lambda: score


def benchmark(assembly, similarity_metric=None, ceiling_func=None, **kwargs):
    return NeuralBenchmark(
        identifier="Author2024.IT-pls",
        assembly=assembly,
        similarity_metric=similarity_metric or metric(0.6),
        visual_degrees=8,
        number_of_trials=50,
        ceiling_func=ceiling_func or ceiling(0.8),
        version=1,
        parent="IT",
        **kwargs,
    )


def test_the_experiment_is_repeated_on_the_model(measured):
    model, compare = Model(), metric(0.6)
    benchmark(measured, compare)(model)
    assert model.heard == [("IT", [(70, 170)]), (IDS, 50)]
    assert compare.source.dims == compare.target.dims == ("presentation", "neuroid")
    assert "stimulus_id" in compare.source.coords


def test_stimuli_are_placed_on_the_models_screen(measured):
    model = Model(degrees=16)
    benchmark(measured)(model)
    assert Image.open(model.seen.get_stimulus("a")).size == (16, 16)


def test_several_time_bins_stay(stimuli):
    bins = [(70, 80), (80, 90)]
    assembly = recordings(np.ones((3, 2, 2)), time_bins=bins)
    assembly.attrs["stimulus_set"] = stimuli
    model, compare = Model(time_bins=bins), metric(0.6)
    benchmark(assembly, compare, timebins=bins)(model)
    assert model.heard[0] == ("IT", bins)
    assert compare.source.sizes["time_bin"] == compare.target.sizes["time_bin"] == 2


def test_undeclared_scales_and_meanings_are_said(measured):
    for scale, meaning, undeclared in (
        (None, None, "the metric does not declare its scale and the ceiling does not declare its meaning"),
        (None, "upper bound", "the metric does not declare its scale"),
        ("accuracy", None, "the ceiling does not declare its meaning"),
    ):
        with pytest.warns(UserWarning, match=rf"^{undeclared}: the score is taken as a correlation"):
            score = benchmark(measured, metric(0.6, scale), ceiling(0.8, meaning))(Model())
        assert float(score) == pytest.approx(0.6**2 / 0.8)


@pytest.mark.parametrize(
    ("scale", "meaning", "expected"),
    [
        ("correlation", "reliability", 0.6**2 / 0.8),
        ("similarity", "upper bound", 0.6 / 0.8),
        ("similarity", "none", 0.6),
    ],
)
def test_the_ceiling_is_applied_as_declared(measured, scale, meaning, expected):
    score = benchmark(measured, metric(0.6, scale), ceiling(0.8, meaning))(Model())
    assert float(score) == pytest.approx(expected)
    assert float(score.attrs["raw"]) == 0.6
    assert float(score.attrs["ceiling"]) == 0.8
    assert score.attrs["error"] > 0


@pytest.mark.parametrize(("raw", "bounded"), [(0.95, 1), (-0.05, 0)])
def test_the_score_is_clamped_and_nothing_is_lost(measured, raw, bounded):
    score = benchmark(measured, metric(raw))(Model())
    assert float(score) == bounded
    assert score.attrs["unclamped"] == pytest.approx(math.copysign(raw**2, raw) / 0.8)
    low, high = score.attrs["ci"]
    assert 0 <= low <= bounded <= high <= 1


def test_a_model_without_the_region_is_not_applicable(stimuli):
    assembly = recordings(np.ones((3, 2)), region=["V2", "V2"])
    assembly.attrs["stimulus_set"] = stimuli
    model = Model()
    with pytest.raises(NotApplicable, match="no V2"):
        benchmark(assembly)(model)
    assert len(model.heard) == 1  # no stimulus was shown


@pytest.mark.parametrize(
    ("region", "message"), [(["V4", "IT"], r"regions IT, V4(.|\n)*sel\(region"), (None, "no coordinate 'region'")]
)
def test_the_region_must_be_one(stimuli, region, message):
    assembly = recordings(np.ones((3, 2)), region=region)
    assembly.attrs["stimulus_set"] = stimuli
    with pytest.raises(ValueError, match=message):
        benchmark(assembly)(Model())


def test_a_lazy_assembly_is_loaded_when_needed(measured):
    loads = []
    lazy = LazyLoad(lambda: loads.append(1) or measured)
    made = benchmark(lazy)
    assert not loads
    assert float(made(Model())) == pytest.approx(0.45)
    assert len(loads) == 1


class TestAverageRepetition:
    def test_as_a_level(self):
        values = np.arange(12.0).reshape(6, 2)
        assembly = recordings(values, repetitions=2)
        assembly.attrs["identifier"] = "Author2024"
        averaged = average_repetition(assembly)
        assert list(averaged["stimulus_id"].values) == IDS
        np.testing.assert_allclose(averaged.values, (values[:3] + values[3:]) / 2)
        assert averaged.attrs["identifier"] == "Author2024"
        assert "repetition" not in averaged.coords
        assert isinstance(averaged, NeuroidAssembly)

    def test_missing_measurements_are_left_out(self):
        values = np.arange(12.0).reshape(6, 2)
        values[0, 0] = np.nan
        averaged = average_repetition(recordings(values, repetitions=2))
        assert averaged.values[0, 0] == values[3, 0]

    def test_without_repetitions_nothing_happens(self):
        assembly = recordings(np.ones((3, 2))).drop_vars("repetition")
        assert average_repetition(assembly) is assembly
