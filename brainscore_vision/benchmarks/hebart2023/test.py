import numpy as np
import pytest
from PIL import Image
from scipy.stats import binomtest

from brainscore_core.errors import NotApplicable, UserError
from brainscore_core.supported_data_standards.brainio.assemblies import BehavioralAssembly
from brainscore_core.supported_data_standards.brainio.stimuli import StimulusSet
from brainscore_vision import load_benchmark, load_dataset, load_model, load_stimulus_set
from brainscore_vision.benchmark_helpers import RecordedDecisions
from brainscore_vision.benchmarks.hebart2023.benchmark import shown_images, triplets_of
from brainscore_vision.model_helpers.images import load_grey
from brainscore_vision.model_helpers.static_features import FeatureModel

IDENTIFIER = "Hebart2023-match"


@pytest.fixture
def simulated(stand_ins, tmp_path, monkeypatch):
    monkeypatch.setenv("BRAINSCORE_HOME", str(tmp_path / "brainscore"))


def features(images):
    """Eight by eight grey levels, less the mean level."""
    levels = [np.reshape(im, (8, 4, 8, 4)).mean(axis=(1, 3)).ravel() for im in images]
    return np.stack([level - level.mean() for level in levels])


def brightness(images):
    return np.stack([[float(np.mean(im))] for im in images])


class Watched(FeatureModel):
    """Keeps what it was shown."""

    def look_at(self, stimuli, number_of_trials=1, require_variance=False):
        self.shown, self.trials = stimuli, number_of_trials
        return super().look_at(stimuli, number_of_trials=number_of_trials)


def model(function, degrees=8):
    return Watched(function.__name__, {"layer": function}, visual_degrees=degrees, load=load_grey, dtype=np.float64)


def straight_line(function):
    """Share of triplets in which the image outside the pair with the largest dot product is the one people chose."""
    assembly, stimuli = load_dataset("Hebart2023"), load_stimulus_set("Hebart2023")
    vectors = {
        name: function([np.asarray(Image.open(stimuli.get_stimulus(name)).convert("L"))])[0]
        for name in stimuli["stimulus_id"]
    }
    matches = []
    for triplet in zip(*(assembly[f"image_{place}"].values for place in (1, 2, 3)), strict=True):
        first, second, third = (vectors[str(image)] for image in triplet)
        alike = [first @ second, first @ third, second @ third]
        matches.append(2 - int(np.argmax(alike)) == 2)
    return matches


def test_is_as_published():
    benchmark = load_benchmark(IDENTIFIER)
    assert (benchmark.identifier, benchmark.version, benchmark.parent) == (IDENTIFIER, 1, "behavior_vision")
    assert "10.7554/eLife.82580" in benchmark.bibtex


def test_ceiling():
    ceiling = load_benchmark(IDENTIFIER).ceiling
    assert float(ceiling) == 0.6767
    assert ceiling.attrs["meaning"] == "human-human"
    assert "published" in ceiling.attrs["error_reason"]


@pytest.mark.parametrize("function", [features, brightness])
def test_two_models_score_as_computed_by_hand(simulated, function):
    score = load_benchmark(IDENTIFIER)(model(function))
    matches = straight_line(function)
    share = np.mean(matches)
    assert float(score.attrs["raw"]) == pytest.approx(share)
    expected = (share - 1 / 3) / (0.6767 - 1 / 3)
    assert score.attrs["unclamped"] == pytest.approx(expected)
    assert float(score) == pytest.approx(min(max(expected, 0), 1))
    assert float(score) > 0.05
    np.testing.assert_array_equal(score.attrs["raw"].attrs["raw"].values, matches)
    wilson = binomtest(sum(matches), len(matches)).proportion_ci(method="wilson")
    limits = [(limit - 1 / 3) / (0.6767 - 1 / 3) for limit in (wilson.low, wilson.high)]
    assert score.attrs["unclamped_ci"] == pytest.approx(limits)


def test_the_experiment(simulated):
    watched = model(features, degrees=8)
    load_benchmark(IDENTIFIER)(watched)
    assembly = load_dataset("Hebart2023")
    assert watched.trials == 1
    expected = np.stack([assembly[f"image_{place}"].values for place in (1, 2, 3)], axis=1)
    np.testing.assert_array_equal(watched.shown["stimulus_id"].to_numpy().reshape(-1, 3), expected.astype(str))
    # a row for each image of each triplet holds no more than its name: there are 1.4 million of them
    assert list(watched.shown.columns) == ["stimulus_id"]
    assert len(watched.shown.stimulus_paths) == 24


def test_each_image_is_placed_on_screen_once(simulated):
    wide = Watched("wide", {"layer": lambda images: brightness(images)}, visual_degrees=16, load=load_grey)
    load_benchmark(IDENTIFIER)(wide)
    assert len(wide.shown) == 3 * load_dataset("Hebart2023").sizes["presentation"]
    paths = {wide.shown.get_stimulus(name) for name in wide.shown["stimulus_id"]}
    assert len(paths) == 24
    assert {Image.open(path).size for path in paths} == {(64, 64)}
    assert set(wide.shown["degrees"]) == {16}


def test_number_of_triplets(simulated):
    benchmark = load_benchmark(IDENTIFIER)
    benchmark.set_number_of_triplets(50)
    score = benchmark(model(features))
    assert float(score.attrs["raw"]) == np.mean(straight_line(features)[:50])
    assert score.attrs["comment"] == "scored on the first 50 of 600 triplets"
    benchmark.set_number_of_triplets(600)
    assert "comment" not in benchmark(model(features)).attrs
    with pytest.raises(UserError, match="0"):
        benchmark.set_number_of_triplets(0)


def test_choices_by_name(simulated):
    class Names(FeatureModel):
        def look_at(self, stimuli, number_of_trials=1, require_variance=False):
            choices = super().look_at(stimuli).values
            names = stimuli["stimulus_id"].to_numpy().reshape(-1, 3)[np.arange(len(choices)), choices]
            return BehavioralAssembly(names, dims=["presentation"])

    named = Names("names", {"layer": features}, load=load_grey, dtype=np.float64)
    benchmark = load_benchmark(IDENTIFIER)
    assert float(benchmark(named)) == float(benchmark(model(features)))


def test_the_best_possible_and_the_guessing_model(simulated):
    class Constant(FeatureModel):
        def look_at(self, stimuli, number_of_trials=1, require_variance=False):
            return BehavioralAssembly(np.full(len(stimuli) // 3, self.answer), dims=["presentation"])

    oracle, other = (Constant(name, {"layer": features}, load=load_grey) for name in ("oracle", "other"))
    oracle.answer, other.answer = 2, 0  # the third is the one that people chose
    benchmark = load_benchmark(IDENTIFIER)
    assert float(benchmark(oracle)) == 1
    assert benchmark(oracle).attrs["unclamped"] > 1
    assert float(benchmark(other)) == 0


def test_not_applicable_before_anything_is_fetched():
    with pytest.raises(NotApplicable, match="label"):
        load_benchmark(IDENTIFIER)(RecordedDecisions("labels", {"a": "b"}, visual_degrees=8))


@pytest.mark.parametrize("values", [[3, 11, 20], [3.0, 11.0, 20.0], ["3", "11", "20"]])
def test_images_are_named_as_in_the_stimulus_set(values):
    coords = {f"image_{place + 1}": ("presentation", [values[place], values[place]]) for place in range(3)}
    triplets = triplets_of(BehavioralAssembly([0, 0], coords=coords, dims=["presentation"]))
    assert triplets.names[triplets.rows].tolist() == [["3", "11", "20"]] * 2


def test_images_that_are_not_in_the_stimulus_set():
    stimuli = StimulusSet({"stimulus_id": ["1", "2"]})
    with pytest.raises(UserError, match=r"1 images .* '3'"):
        shown_images(stimuli, np.array(["1", "3"], dtype=object))


@pytest.mark.private_access
def test_published_score():
    benchmark = load_benchmark(IDENTIFIER)
    benchmark.set_number_of_triplets(1000)
    assert float(benchmark(load_model("alexnet"))) == pytest.approx(0.38, abs=0.02)
