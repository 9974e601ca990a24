import hashlib

import numpy as np
import pandas as pd
import pytest
from PIL import Image

from brainscore_core.errors import DataUnavailable, NotApplicable
from brainscore_core.supported_data_standards.brainio.assemblies import BehavioralAssembly
from brainscore_vision import load_benchmark, load_model
from brainscore_vision.benchmark_helpers import RecordedDecisions
from brainscore_vision.benchmarks.imagenet import benchmark as module
from brainscore_vision.benchmarks.imagenet.benchmark import IMAGES_VARIABLE, NUMBER_OF_TRIALS, Imagenet2012
from brainscore_vision.data_sources.tables import Source
from brainscore_vision.model_helpers.images import load_rgb
from brainscore_vision.model_helpers.static_features import FeatureModel
from brainscore_vision.stimuli.labels import imagenet_synsets

IDENTIFIER = "ImageNet-top1"
N = 40


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """Forty images of ten classes, and a table of them in the place of that of all 50,000."""
    rng, synsets = np.random.default_rng(0), imagenet_synsets()
    rows = []
    for number in rng.permutation(N):
        label = int(number) % 10 * 100
        name = f"ILSVRC2012_val_{number + 1:08}.JPEG"
        place = tmp_path / "images" / synsets[label]
        place.mkdir(parents=True, exist_ok=True)
        pixels = np.full((8, 8, 3), 25 * (label // 100), dtype=np.uint8)
        pixels[:4] += rng.integers(0, 30, dtype=np.uint8)  # makes some look like the next class
        Image.fromarray(pixels).save(place / name, format="PNG")
        sha1 = hashlib.sha1((place / name).read_bytes()).hexdigest()
        rows.append((name, f"/nowhere/{name}", sha1, name, label, synsets[label]))
    table = pd.DataFrame(rows, columns=["filename", "filepath", "image_file_sha1", "image_id", "label", "synset"])
    path = tmp_path / "imagenet2012.csv"
    table.to_csv(path)
    source = Source(path.as_uri(), hashlib.sha256(path.read_bytes()).hexdigest(), path.stat().st_size, "")
    monkeypatch.setattr(module, "read_sources", lambda folder: [source])
    monkeypatch.setenv("BRAINIO_HOME", str(tmp_path / "brainio"))
    monkeypatch.setenv(IMAGES_VARIABLE, str(tmp_path / "images"))
    return tmp_path / "images"


def logits(images, statistic):
    """A class for each hundred is the likelier the closer its grey level."""
    levels = np.array([statistic(image) for image in images], dtype=float)
    values = np.full((len(images), 1000), -1000.0)
    values[:, ::100] = -np.abs(levels[:, np.newaxis] - 25 * np.arange(10))
    return values


class Watched(FeatureModel):
    def look_at(self, stimuli, number_of_trials=1, require_variance=False):
        self.shown, self.trials = stimuli, number_of_trials
        return super().look_at(stimuli, number_of_trials=number_of_trials)


def model(statistic):
    return Watched("grey", {"logits": lambda images: logits(images, statistic)}, load=load_rgb)


def test_is_as_published():
    benchmark = load_benchmark(IDENTIFIER)
    assert (benchmark.identifier, benchmark.version, benchmark.parent) == (IDENTIFIER, 1, "ImageNet")
    assert float(benchmark.ceiling) == 1
    assert "5206848" in benchmark.bibtex
    assert NUMBER_OF_TRIALS == 10


def test_two_models_score_as_computed_by_hand(folder):
    benchmark, scores = load_benchmark(IDENTIFIER), []
    for statistic in (np.mean, np.max):
        right = []
        for path in sorted(folder.rglob("*.JPEG")):
            level = statistic(np.asarray(Image.open(path)))
            nearest = int(np.argmin(np.abs(level - 25 * np.arange(10)))) * 100
            right.append(path.parent.name == imagenet_synsets()[nearest])
        score = benchmark(model(statistic))
        assert float(score) == np.mean(right)
        assert score.attrs["ceiling"] == 1
        assert score.attrs["ci_estimates"].startswith("new groups of images (truth); ")
        scores.append(float(score))
    assert 0.2 < scores[1] < scores[0] < 1


def test_the_model_is_not_told_the_classes(folder):
    watched = model(np.mean)
    load_benchmark(IDENTIFIER)(watched)
    assert watched.trials == 10
    assert set(watched.shown.columns) == {"stimulus_id", "filename", "filepath"}
    assert watched.shown["filename"].is_monotonic_increasing
    assert Image.open(watched.shown.get_stimulus(watched.shown["stimulus_id"].iloc[0])).size == (8, 8)


def ground_truth(table):
    synset = dict(zip(table["stimulus_id"], table["synset"], strict=True))

    class GroundTruth(RecordedDecisions):
        def start_task(self, task, fitting_stimuli=None):
            assert (task, fitting_stimuli) == ("label", "imagenet")
            super().start_task(task, fitting_stimuli)

        def look_at(self, stimuli, number_of_trials=1, require_variance=False):
            shuffled = stimuli.sample(frac=1, random_state=0)
            return BehavioralAssembly(
                np.array([[synset[name] for name in shuffled["stimulus_id"]]]),
                coords={
                    "stimulus_id": ("presentation", list(shuffled["stimulus_id"])),
                    "choice": ("choice", ["dummy"]),
                },
                dims=["choice", "presentation"],
            )

    return GroundTruth("ground-truth", synset, visual_degrees=8)


def test_ground_truth(folder):
    assert float(Imagenet2012()(ground_truth(module.read_table()))) == 1


def test_images_that_are_not_at_hand(folder, monkeypatch):
    next(folder.rglob("ILSVRC2012_val_00000007.JPEG")).unlink()
    with pytest.raises(DataUnavailable, match=r"1 of 40 .*ILSVRC2012_val_00000007\.JPEG"):
        load_benchmark(IDENTIFIER)(model(np.mean))
    monkeypatch.delenv(IMAGES_VARIABLE)
    with pytest.raises(DataUnavailable, match=f"40 of 40 .*{IMAGES_VARIABLE} is not set"):
        load_benchmark(IDENTIFIER)(model(np.mean))


def test_not_applicable_before_any_image_is_looked_for():
    with pytest.raises(NotApplicable, match="logits"):
        load_benchmark(IDENTIFIER)(load_model("pixels"))


@pytest.mark.network
def test_published_ground_truth(monkeypatch):
    table = module.read_table()
    assert len(table) == 50_000
    assert table["synset"].value_counts().eq(50).all()
    assert set(table["synset"]) == set(imagenet_synsets())
    monkeypatch.setattr("brainscore_vision.benchmarks.imagenet.benchmark.load_images", lambda table: table)
    assert float(Imagenet2012()(ground_truth(table))) == 1
