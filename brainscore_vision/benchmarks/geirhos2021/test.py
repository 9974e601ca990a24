import time
from itertools import combinations

import numpy as np
import pytest
from PIL import Image

from brainscore_core.errors import DataUnavailable, NotApplicable, UserError
from brainscore_core.supported_data_standards.brainio.assemblies import BehavioralAssembly
from brainscore_core.supported_data_standards.brainio.s3 import load_file_from_s3
from brainscore_vision import (
    load_benchmark,
    load_dataset,
    load_metric,
    load_model,
    load_stimulus_set,
)
from brainscore_vision.benchmark_helpers import PrecomputedFeatures, RecordedDecisions
from brainscore_vision.benchmark_helpers.screen import place_on_screen
from brainscore_vision.benchmarks.geirhos2021 import benchmark as module
from brainscore_vision.benchmarks.geirhos2021.benchmark import DATASETS, EXCLUDED, cast_coordinate_type, is_excluded
from brainscore_vision.data.geirhos2019.data_packaging import STIMULI_VARIABLE as STIMULI_VARIABLE_2019
from brainscore_vision.data.geirhos2021.data_packaging import STIMULI_VARIABLE
from brainscore_vision.model_interface import BrainModel
from brainscore_vision.testing import small_labeller

CEILINGS = {
    "colour": 0.41543,
    "contrast": 0.43703,
    "cue-conflict": 0.33105,
    "edge": 0.31844,
    "eidolonI": 0.38634,
    "eidolonII": 0.45402,
    "eidolonIII": 0.45953,
    "false-colour": 0.44405,
    "high-pass": 0.44014,
    "low-pass": 0.46888,
    "phase-scrambling": 0.44667,
    "power-equalisation": 0.51063,
    "rotation": 0.43851,
    "silhouette": 0.47571,
    "sketch": 0.36962,
    "stylized": 0.50058,
    "uniform-noise": 0.43406,
}


ACCURACIES = {  # of ResNet-50, as published
    "colour": 0.96875,
    "contrast": 0.81625,
    "cue-conflict": 0.18203,
    "edge": 0.13750,
    "eidolonI": 0.53375,
    "eidolonII": 0.56719,
    "eidolonIII": 0.58542,
    "false-colour": 0.94286,
    "high-pass": 0.33437,
    "low-pass": 0.43875,
    "phase-scrambling": 0.62031,
    "power-equalisation": 0.73214,
    "rotation": 0.68438,
    "silhouette": 0.54375,
    "sketch": 0.59625,
    "stylized": 0.37125,
    "uniform-noise": 0.44500,
}
CONSISTENCIES = {  # of ResNet-50, raw, as published
    "colour": 0.21135,
    "contrast": 0.22546,
    "cue-conflict": 0.06800,
    "edge": 0.03626,
    "eidolonI": 0.21029,
    "eidolonII": 0.25090,
    "eidolonIII": 0.15806,
    "false-colour": 0.29431,
    "high-pass": 0.20300,
    "low-pass": 0.16741,
    "phase-scrambling": 0.26879,
    "power-equalisation": 0.29293,
    "rotation": 0.16892,
    "silhouette": 0.42805,
    "sketch": 0.10537,
    "stylized": 0.25430,
    "uniform-noise": 0.19839,
}
MEAN_CONSISTENCIES = {"resnet-50-pytorch-3deg": 0.20834, "resnet-50-pytorch-8deg": 0.10256}


@pytest.fixture(autouse=True)
def _surroundings(tmp_path, monkeypatch):
    monkeypatch.setenv("BRAINSCORE_HOME", str(tmp_path / "brainscore"))
    monkeypatch.delenv(STIMULI_VARIABLE, raising=False)
    monkeypatch.delenv(STIMULI_VARIABLE_2019, raising=False)


def _load(test, metric="error_consistency"):
    return load_benchmark(f"Geirhos2021{test.replace('-', '')}-{metric}")


class Looker(BrainModel):
    """Names each image by a hash of its pixels: it cannot answer without looking."""

    identifier = "looker"

    def __init__(self, degrees=3):
        self.degrees = degrees

    def visual_degrees(self):
        return self.degrees

    def start_recording(self, recording_target, time_bins, **kwargs):
        raise NotApplicable("it has no regions")

    def start_task(self, task, fitting_stimuli=None):
        self.task, self.choices = task, list(fitting_stimuli)

    def look_at(self, stimuli, number_of_trials=1, require_variance=False):
        self.stimuli, self.trials, labels = stimuli, number_of_trials, []
        for name in stimuli["stimulus_id"]:
            with Image.open(stimuli.get_stimulus(name)) as image:
                self.size = image.size
                labels.append(self.choices[int(np.asarray(image, dtype=np.int64).sum()) % len(self.choices)])
        return BehavioralAssembly(
            np.array(labels)[:, np.newaxis],
            coords={
                "stimulus_id": ("presentation", list(stimuli["stimulus_id"])),
                "truth": ("presentation", list(stimuli["truth"])),
                "choice": ("choice", ["label"]),
            },
            dims=["presentation", "choice"],
        )


class Silent(Looker):
    def start_task(self, task, fitting_stimuli=None):
        raise NotApplicable("it has no words")


def test_published_values_are_complete():
    assert len(DATASETS) == 17
    assert set(CEILINGS) == set(ACCURACIES) == set(CONSISTENCIES) == set(DATASETS)


@pytest.mark.parametrize("test", DATASETS)
def test_identifier_is_the_key(test):
    consistency, accuracy = _load(test), _load(test, "top1")
    assert consistency.identifier == f"Geirhos2021{test.replace('-', '')}-error_consistency"
    assert consistency.parent == "Geirhos2021"
    assert accuracy.identifier == f"Geirhos2021{test.replace('-', '')}-top1"
    assert (accuracy.version, accuracy.parent) == (1, "Geirhos2021-top1")
    assert "geirhos2021partial" in accuracy.bibtex
    assert float(accuracy.ceiling) == 1


@pytest.mark.sampled(4)
@pytest.mark.parametrize("test", DATASETS)
def test_without_stimuli(mirror, test, monkeypatch):
    """The ceiling, and that a model cannot label."""

    def no_stimuli(identifier):
        raise AssertionError(f"stimuli of {identifier} were loaded")

    monkeypatch.setattr(module, "load_stimulus_set", no_stimuli)
    benchmark = _load(test)
    assert float(benchmark.ceiling) == pytest.approx(CEILINGS[test], abs=5e-6)
    assert benchmark.ceiling.attrs["meaning"] == "human-human"
    with pytest.raises(NotApplicable, match="no words"):
        benchmark(Silent())


def test_mean_ceiling():
    assert np.mean(list(CEILINGS.values())) == pytest.approx(0.43122, abs=5e-6)


@pytest.mark.sampled(4)
@pytest.mark.parametrize("test", sorted(EXCLUDED))
def test_every_excluded_condition_was_there(mirror, test):
    before = {str(condition) for condition in load_dataset(f"Geirhos2021_{test}")["condition"].values}
    scored = module.load_assembly(test)
    after = {str(condition) for condition in scored["condition"].values}
    assert len(before - after) == len(EXCLUDED[test])
    assert {str(condition) for condition in scored.stimulus_set["condition"]} == after
    assert set(scored.stimulus_set["stimulus_id"]) == set(scored["stimulus_id"].values)


@pytest.mark.parametrize(
    ("condition", "excluded", "expected"),
    [
        ("0.00", (0.0,), True),
        ("0", (0,), True),
        ("10", (0,), False),
        (".55", (0.55,), True),
        ("inf", ("inf", 0.4), True),
        ("3", ("inf", 0.4), False),
        ("c10", ("c100",), False),
        ("1-10-10", ("1-10-10",), True),
        ("true", ("true",), True),
        ("nan", (0,), False),
    ],
)
def test_is_excluded(condition, excluded, expected):
    assert is_excluded(condition, excluded) is expected


@pytest.mark.sampled(5)
@pytest.mark.parametrize(
    ("network", "expected"),
    [
        ("alexnet", {"edge": 0.1104, "silhouette": 0.2827, "cue-conflict": 0.1132}),
        ("googlenet", {"edge": 0.0774, "silhouette": 0.3348, "cue-conflict": 0.0875}),
        ("vgg16", {"edge": 0.0710, "silhouette": 0.3292, "cue-conflict": 0.0602}),
        ("resnet50", {"cue-conflict": 0.0674}),
    ],
)
def test_replayed_decisions(mirror, network, expected):
    model = load_model(f"{network}-recorded2019")
    for test, kappa in expected.items():
        score = _load(test)(model)
        assert float(score.attrs["raw"]) == pytest.approx(kappa, abs=5e-5)
        assert float(score) == pytest.approx(float(score.attrs["raw"]) / CEILINGS[test], abs=5e-5)
        assert score.attrs["stimuli_shown"] == score.attrs["stimuli_of_experiment"]
        assert "comment" not in score.attrs
        assert score.attrs["error"] > 0
        low, high = score.attrs["ci"]
        assert low < float(score) < high


def test_one_of_the_observers_scores_about_the_ceiling(mirror):
    assembly = module.load_assembly("silhouette")
    own = assembly[{"presentation": assembly["subject"].values == "subject-03"}]
    decisions = dict(zip(own["stimulus_id"].values.tolist(), own.values.tolist(), strict=True))
    score = _load("silhouette")(RecordedDecisions("subject-03", decisions, visual_degrees=3))
    assert 0.8 < float(score) <= 1  # it is among those that it is compared with


def test_guessing_scores_about_0(mirror):
    score = _load("silhouette")(Looker())
    assert abs(float(score.attrs["raw"])) < 0.1
    assert 0 <= float(score) < 0.2
    assert score.attrs["unclamped"] == pytest.approx(float(score.attrs["raw"]) / CEILINGS["silhouette"], abs=1e-4)


def test_task_is_the_experiments(mirror):
    model = Looker(degrees=6)
    _load("edge")(model)
    assert model.task == "label"
    assert model.choices == sorted(set(load_dataset("Geirhos2021_edge")["truth"].values))
    assert len(model.choices) == 16
    assert model.size == (448, 448)
    assert model.trials == 1
    assert len(model.stimuli) == 160


def test_cue_conflict_says_on_how_many_images_it_scores(mirror):
    benchmark = _load("cue-conflict")
    score = benchmark(Looker())
    # as the documentation says: people agree on these 160 about as much as on all 1,280
    ceiling, labels = score.attrs["ceiling"], load_stimulus_set("Geirhos2021_cue-conflict")["stimulus_id"]
    assembly = module.load_assembly("cue-conflict")
    at_hand = assembly[{"presentation": np.isin(assembly["stimulus_id"].values, labels)}]
    assert float(ceiling) == float(load_metric("error_consistency").ceiling(at_hand)) == pytest.approx(0.304, abs=5e-4)
    assert abs(float(ceiling) - float(benchmark.ceiling)) < ceiling.attrs["error"]
    assert (score.attrs["stimuli_shown"], score.attrs["stimuli_of_experiment"]) == (160, 1280)
    assert "160 of the experiment's 1280" in score.attrs["comment"]


def test_a_model_cannot_choose_its_images(mirror):
    class Picky(Looker):
        def look_at(self, stimuli, number_of_trials=1, require_variance=False):
            return super().look_at(stimuli).isel(presentation=slice(0, 100))

    with pytest.raises(UserError, match="60 stimuli"):
        _load("edge")(Picky())


def test_images_that_cannot_be_had(mirror, monkeypatch):
    for name in ("HTTPS_PROXY", "https_proxy"):
        monkeypatch.setenv(name, "http://127.0.0.1:9")
    monkeypatch.setattr(time, "sleep", lambda seconds: None)
    with pytest.raises(DataUnavailable, match=r"sketch\.tar\.gz"):
        _load("sketch")(Looker())


def test_images_of_a_folder_are_shown_in_the_scored_conditions_only(mirror, tmp_path, monkeypatch):
    stimuli = load_dataset("Geirhos2021_power-equalisation").stimulus_set
    folder = tmp_path / "stimuli" / "power-equalisation" / "dnn" / "session-1"
    folder.mkdir(parents=True)
    for number, stimulus in enumerate(stimuli["stimulus_id"], start=1):
        prefix, _, rest = stimulus.partition("_")
        Image.new("L", (2, 2), number % 256).save(folder / f"{number:04}_{prefix}_dnn_{rest}")
    monkeypatch.setenv(STIMULI_VARIABLE, str(tmp_path / "stimuli"))
    model = Looker()
    score = _load("power-equalisation")(model)
    assert len(model.stimuli) == 560
    assert set(model.stimuli["condition"]) == {"pow"}
    assert score.attrs["stimuli_shown"] == score.attrs["stimuli_of_experiment"] == 560


def test_cast_coordinate_type():
    trials = BehavioralAssembly(
        ["cat", "dog"],
        coords={"stimulus_id": ("presentation", ["a", "b"]), "condition": ("presentation", [0.5, 1.0])},
        dims=["presentation"],
        attrs={"identifier": "pets"},
    )
    cast = cast_coordinate_type(trials, "condition", str)
    assert list(cast["condition"].values) == ["0.5", "1.0"]
    assert list(cast["stimulus_id"].values) == ["a", "b"]
    assert list(cast.values) == ["cat", "dog"]
    assert cast.attrs == {"identifier": "pets"}
    assert trials["condition"].dtype.kind == "f"
    assert list(cast_coordinate_type(cast, "condition", float)["condition"].values) == [0.5, 1.0]


@pytest.mark.parametrize(("test", "network", "right"), [("edge", "alexnet", 64), ("silhouette", "vgg16", None)])
def test_top1_of_replayed_decisions(mirror, test, network, right):
    score = _load(test, "top1")(load_model(f"{network}-recorded2019"))
    networks = load_dataset("Geirhos2019_networks")
    name = {"vgg16": "vgg"}.get(network, network)
    own = (networks["subject"].values == name) & (networks["test"].values == test)
    correct = networks.values[own] == networks["truth"].values[own]
    assert right in {None, correct.sum()}
    assert float(score) == float(score.attrs["raw"]) == pytest.approx(correct.mean(), abs=1e-12)
    low, high = score.attrs["ci"]
    assert low < float(score) < high
    assert score.attrs["ci_estimates"].startswith("new groups of images (truth); 16 groups of 160 images; ")
    assert score.attrs["error"] > np.sqrt(correct.mean() * (1 - correct.mean()) / 160)


def test_top1_shows_images_as_they_are_ten_times(mirror):
    model = Looker(degrees=6)
    _load("edge", "top1")(model)
    assert model.size == (224, 224)
    assert model.trials == 10


class Brightness(Looker):
    """Takes the mean level of a picture for the object: right on most stand-ins."""

    identifier = "brightness"

    def look_at(self, stimuli, number_of_trials=1, require_variance=False):
        self.trials, chosen = number_of_trials, []
        for name in stimuli["stimulus_id"]:
            with Image.open(stimuli.get_stimulus(name)) as image:
                chosen.append(self.choices[min(int(np.asarray(image.convert("L")).mean() / 15), 15)])
        coords = {"stimulus_id": ("presentation", list(stimuli["stimulus_id"])), "choice": ("choice", ["label"])}
        return BehavioralAssembly(np.array(chosen)[:, np.newaxis], coords=coords, dims=["presentation", "choice"])


def _kappa(one, other):
    expected = one.mean() * other.mean() + (1 - one.mean()) * (1 - other.mean())
    return (np.mean(one == other) - expected) / (1 - expected)


def _consistency(assembly, chosen):
    """Score and ceiling from the published definition, with loops."""
    stimuli = assembly["stimulus_id"].values
    right, condition = assembly.values == assembly["truth"].values, assembly["condition"].values
    subjects, conditions = np.unique(assembly["subject"].values), np.unique(condition)
    ours = np.array([chosen[name] for name in stimuli]) == assembly["truth"].values
    raw, pairs = [], []
    for subject in subjects:
        rows = [(assembly["subject"].values == subject) & (condition == one) for one in conditions]
        raw.append(np.mean([_kappa(ours[row], right[row]) for row in rows]))
    for one in conditions:
        by_subject = {}
        for subject in subjects:
            row = np.flatnonzero((assembly["subject"].values == subject) & (condition == one))
            by_subject[subject] = right[row][np.argsort(stimuli[row])]
        pairs.append(np.mean([_kappa(by_subject[a], by_subject[b]) for a, b in combinations(subjects, 2)]))
    return abs(np.mean(raw)), abs(np.mean(pairs))


@pytest.mark.sampled(6)
@pytest.mark.parametrize("test", DATASETS)
@pytest.mark.parametrize("model", ["brightness", "small-labeller"])
def test_platforms_data_equal_the_published_definition(stand_ins, test, model):
    """On stand-ins for what the platform published, whose names and conditions are not the authors'."""
    if model == "small-labeller":
        pytest.importorskip("torch")
    candidate = Brightness() if model == "brightness" else small_labeller()
    score, accuracy = _load(test)(candidate), _load(test, "top1")(candidate)
    assembly, stimuli = module.load_assembly(test), load_stimulus_set(f"Geirhos2021_{test}")
    if test in EXCLUDED:  # the first condition of a stand-in is one that does not enter the score
        kept = stimuli["condition"].astype(str) != str(stimuli["condition"].iloc[0])
        stimuli = stimuli[kept.to_numpy()]
        assert len(kept) > kept.sum() > 0
    assert sorted(set(assembly["stimulus_id"].values)) == sorted(stimuli["stimulus_id"])
    assert assembly["condition"].values.dtype.kind in "UO"
    candidate.start_task(BrainModel.Task.label, sorted(set(stimuli["truth"])))
    for found, degrees in ((score, 3), (accuracy, None)):
        shown = stimuli if degrees is None else place_on_screen(stimuli, candidate.visual_degrees(), degrees)
        labels = candidate.look_at(shown).squeeze()
        chosen = dict(zip(labels["stimulus_id"].values, labels.values, strict=True))
        if degrees is None:
            right = [chosen[n] == truth for n, truth in zip(stimuli["stimulus_id"], stimuli["truth"], strict=True)]
            assert float(found) == pytest.approx(np.mean(right), abs=1e-12)
            continue
        raw, ceiling = _consistency(assembly, chosen)
        assert float(found.attrs["raw"]) == pytest.approx(raw, abs=1e-12)
        assert float(found.attrs["ceiling"]) == pytest.approx(ceiling, abs=1e-12)
        assert found.attrs["unclamped"] == pytest.approx(raw / ceiling, abs=1e-12)
    if model == "brightness":
        assert float(accuracy) > 0.5
        assert 0 < float(score) <= 1


def test_recorded_networks_know_the_platforms_names(mirror):
    stimuli = load_stimulus_set("Geirhos2021_edge")
    short = stimuli.assign(
        stimulus_id=[name.rpartition("_")[2].removesuffix(".png") for name in stimuli["stimulus_id"]]
    )
    model = load_model("alexnet-recorded2019")
    model.start_task(BrainModel.Task.label, sorted(set(stimuli["truth"])))
    ours, theirs = model.look_at(stimuli), model.look_at(short)
    np.testing.assert_array_equal(theirs.values, ours.values)
    assert list(theirs["stimulus_id"].values) == list(short["stimulus_id"])


@pytest.fixture
def _platforms_data(monkeypatch):
    """What the platform published, whether or not the authors' files are at hand."""
    monkeypatch.setattr("brainscore_vision.data.geirhos2021.data_packaging._are_the_authors", lambda test: False)


def _features(name, folder):
    path = load_file_from_s3("brain-score-tests", f"tests/test_benchmarks/{name}.nc", folder / f"{name}.nc")
    return cast_coordinate_type(BehavioralAssembly.from_files(file_path=path), "condition", str)


@pytest.mark.private_access
@pytest.mark.usefixtures("_platforms_data")
@pytest.mark.parametrize("test", DATASETS)
def test_published_scores(test, tmp_path):
    model = PrecomputedFeatures(_features(f"resnet-50-pytorch-3deg-Geirhos2021_{test}", tmp_path), visual_degrees=8)
    consistency = _load(test)
    assert float(consistency.ceiling) == pytest.approx(CEILINGS[test], abs=0.001)
    assert float(consistency(model).attrs["raw"]) == pytest.approx(CONSISTENCIES[test], abs=0.001)
    assert float(_load(test, "top1")(model)) == pytest.approx(ACCURACIES[test], abs=0.001)


@pytest.mark.private_access
@pytest.mark.usefixtures("_platforms_data")
@pytest.mark.parametrize("model", MEAN_CONSISTENCIES)
def test_published_mean_scores(model, tmp_path):
    raw = []
    for test in DATASETS:
        features = _features(f"{model}-Geirhos2021_{test}", tmp_path)
        raw.append(float(_load(test)(PrecomputedFeatures(features, visual_degrees=8)).attrs["raw"]))
    assert np.mean(raw) == pytest.approx(MEAN_CONSISTENCIES[model], abs=0.001)
