import numpy as np
import pytest
from PIL import Image

from brainscore_core.errors import NotApplicable, UserError
from brainscore_core.supported_data_standards.brainio.assemblies import BehavioralAssembly
from brainscore_core.supported_data_standards.brainio.s3 import load_file_from_s3
from brainscore_vision import load_benchmark, load_model
from brainscore_vision.benchmark_helpers import PrecomputedFeatures
from brainscore_vision.benchmarks.baker2022.benchmark import Baker2022AccuracyDelta
from brainscore_vision.model_interface import BrainModel
from brainscore_vision.testing import small_labeller

CASES = {  # data set, orientation, distortion, published ceiling
    "Baker2022frankenstein-accuracy_delta": ("normal", "f", 0.8498),
    "Baker2022fragmented-accuracy_delta": ("normal", "o", 0.9385),
    "Baker2022inverted-accuracy_delta": ("inverted", "f", 0.6538),
}
PUBLISHED_SCORES = [  # raw, ceiled
    ("Baker2022frankenstein-accuracy_delta", "resnet-50-pytorch", 0.2847, 0.3350),
    ("Baker2022fragmented-accuracy_delta", "resnet-50-pytorch", 0.8452, 0.9005),
    ("Baker2022inverted-accuracy_delta", "resnet-50-pytorch", 0.0, 0.0),
    ("Baker2022frankenstein-accuracy_delta", "resnet50-SIN", 0.6823, 0.8029),
    ("Baker2022fragmented-accuracy_delta", "resnet50-SIN", 0.9100, 0.9696),
    ("Baker2022inverted-accuracy_delta", "resnet50-SIN", 0.7050, 1.0),
]


class MiddleLevel(BrainModel):
    """Takes the level in the middle of a picture for the animal: right on whole stand-ins, often wrong on others."""

    identifier = "middle-level"

    def visual_degrees(self):
        return 8.8

    def start_recording(self, recording_target, time_bins=None, **kwargs):
        raise NotApplicable("it has no regions")

    def start_task(self, task, fitting_stimuli=None):
        self.task, self.choices = task, list(fitting_stimuli)

    def look_at(self, stimuli, number_of_trials=1, require_variance=False):
        self.shown, self.trials, chosen = stimuli, number_of_trials, []
        for name in stimuli["stimulus_id"]:
            with Image.open(stimuli.get_stimulus(name)) as image:
                level = int(np.asarray(image.convert("L"))[16, 16])
            chosen.append(self.choices[min(max((level - 24) // 24, 0), len(self.choices) - 1)])
        coords = {name: ("presentation", list(stimuli[name])) for name in stimuli.columns}
        return BehavioralAssembly(
            np.array(chosen)[:, np.newaxis],
            coords=coords | {"choice": ("choice", ["label"])},
            dims=["presentation", "choice"],
        )


def _answers(model, stimuli):
    """Name of each picture."""
    labels = model.look_at(stimuli).squeeze()
    return dict(zip(labels["stimulus_id"].values.tolist(), labels.values.tolist(), strict=True))


def _published_definition(assembly, answers, distortion):
    """Raw score, ceiling: loops over halves of the people as Baker & Elder's benchmark was published."""
    stimuli = assembly.attrs["stimulus_set"].set_index("stimulus_id")
    loss = {}
    for subject in sorted(set(assembly["subject"].values)):
        right = {}
        for kind in ("w", distortion):
            mine = (assembly["subject"].values == subject) & (assembly["image_type"].values == kind)
            right[kind] = np.count_nonzero(assembly.values[mine]) / mine.sum()
        loss[subject] = right["w"] - right[distortion]
    by_kind = {}
    for kind in ("w", distortion):
        per_animal = []
        for animal in sorted(set(stimuli["animal"])):
            shown = [name for name in answers if tuple(stimuli.loc[name, ["animal", "image_type"]]) == (animal, kind)]
            per_animal.append(np.mean([answers[name] == animal for name in shown]))
        by_kind[kind] = np.mean(per_animal)
    model = by_kind["w"] - by_kind[distortion]

    def mean_loss(subjects):
        return np.mean([loss[subject] for subject in subjects])

    raw, corrected, n, stream = [], [], len(loss), np.random.RandomState(0)
    for seed in range(100):
        half = np.random.RandomState(seed).choice(range(1, n), n // 2, replace=False)
        raw.append(max(1 - abs(mean_loss(half) - model) / mean_loss(half), 0))
        half = stream.choice(range(1, n), n // 2, replace=False)
        rest = mean_loss([subject for subject in loss if subject not in half])
        agreement = max(1 - abs(mean_loss(half) - rest) / rest, 0)
        corrected.append(2 * agreement / (1 + agreement))
    return np.mean(raw), np.median(corrected)


def test_unknown_orientation_is_refused():
    with pytest.raises(UserError, match="'upside'"):
        Baker2022AccuracyDelta("upside")


@pytest.mark.sampled(5)
@pytest.mark.parametrize("identifier", CASES)
@pytest.mark.parametrize("model", ["middle-level", "small-labeller"])
def test_equals_the_published_definition(stand_ins, identifier, model):
    orientation, distortion, _ = CASES[identifier]
    if model == "small-labeller":
        pytest.importorskip("torch")
    candidate = MiddleLevel() if model == "middle-level" else small_labeller()
    benchmark = load_benchmark(identifier)
    score = benchmark(candidate)
    assembly = benchmark._assembly.content
    assert (benchmark.identifier, benchmark.version, benchmark.parent) == (identifier, 1, "Baker2022")
    assert "BAKER2022104913" in benchmark.bibtex
    stimuli = assembly.attrs["stimulus_set"]
    shown = stimuli[stimuli["orientation"] == orientation]
    if model == "middle-level":  # the other shows itself what is on the screen
        assert sorted(candidate.shown["stimulus_id"]) == sorted(shown["stimulus_id"])
        assert (candidate.task, candidate.trials, len(candidate.choices)) == ("label", 1, 9)
        answers = _answers(candidate, shown)
    else:
        from brainscore_vision.benchmark_helpers.screen import place_on_screen

        answers = _answers(candidate, place_on_screen(shown, candidate.visual_degrees(), 8.8))
    raw, ceiling = _published_definition(assembly, answers, distortion)
    assert float(score.attrs["raw"]) == pytest.approx(raw, abs=1e-12)
    assert float(score.attrs["ceiling"]) == float(benchmark.ceiling) == pytest.approx(ceiling, abs=1e-12)
    assert score.attrs["unclamped"] == pytest.approx(raw / ceiling, abs=1e-12)
    assert float(score) == pytest.approx(min(raw / ceiling, 1), abs=1e-12)
    if model == "middle-level":
        assert 0 < float(score) <= 1
        low, high = score.attrs["ci"]
        assert low <= float(score) <= high
        assert score.attrs["error"] > 0


def test_a_model_that_cannot_label(stand_ins):
    with pytest.raises(NotApplicable):
        load_benchmark("Baker2022fragmented-accuracy_delta")(load_model("pixels"))


@pytest.mark.private_access
@pytest.mark.parametrize("identifier", CASES)
def test_published_ceiling(identifier):
    assert float(load_benchmark(identifier).ceiling) == pytest.approx(CASES[identifier][2], abs=0.001)


@pytest.mark.private_access
@pytest.mark.parametrize(("identifier", "model", "raw", "ceiled"), PUBLISHED_SCORES)
def test_published_score(identifier, model, raw, ceiled, tmp_path):
    name = f"{model}-{identifier}.nc"
    path = load_file_from_s3("brainscore-vision", f"benchmarks/Baker2022/{name}", tmp_path / name)
    features = BehavioralAssembly.from_files(file_path=path)
    score = load_benchmark(identifier)(PrecomputedFeatures(features, visual_degrees=8))
    assert float(score.attrs["raw"]) == pytest.approx(raw, abs=0.0001)
    assert float(score) == pytest.approx(ceiled, abs=0.0001)
