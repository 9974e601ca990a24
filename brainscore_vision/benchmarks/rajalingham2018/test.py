import functools
import itertools

import numpy as np
import pytest
from PIL import Image
from scipy.stats import norm
from sklearn.linear_model import LogisticRegression
from sklearn.preprocessing import StandardScaler

from brainscore_core.benchmarks import BenchmarkBase
from brainscore_core.errors import NotApplicable, UserError
from brainscore_core.supported_data_standards.brainio.assemblies import BehavioralAssembly
from brainscore_core.supported_data_standards.brainio.fetch import fetch
from brainscore_vision import load_benchmark, load_dataset, load_metric, load_model
from brainscore_vision import load_stimulus_set as load_stimuli
from brainscore_vision.benchmark_helpers import PrecomputedFeatures, RecordedDecisions
from brainscore_vision.benchmark_helpers.screen import place_on_screen
from brainscore_vision.benchmarks.rajalingham2018.benchmark import load_assembly
from brainscore_vision.model_helpers.images import load_grey
from brainscore_vision.model_helpers.static_features import FeatureModel
from brainscore_vision.model_interface import BrainModel
from brainscore_vision.utils import LazyLoad

BENCHMARKS = {"Rajalingham2018-i2n": "private", "Rajalingham2018public-i2n": "public"}


def grid(images, cells):
    """Mean grey level in each of cells × cells parts of an image."""
    return np.stack([np.reshape(im, (cells, 32 // cells, cells, 32 // cells)).mean(axis=(1, 3)) for im in images])


def model(cells, degrees=8):
    return FeatureModel(
        f"grid{cells}", {"grid": lambda images: grid(images, cells)}, visual_degrees=degrees, load=load_grey
    )


@pytest.fixture
def simulated(stand_ins, tmp_path, monkeypatch):
    monkeypatch.setenv("BRAINSCORE_HOME", str(tmp_path / "brainscore"))


def probabilities(stimuli, fitting, cells):
    """Image → object → probability, by multinomial logistic regression on standardised features."""

    def features(images):
        return grid([np.asarray(Image.open(images.get_stimulus(i)).convert("L")) for i in images["stimulus_id"]], cells)

    scaler, regression = StandardScaler(), LogisticRegression(C=1e-3, max_iter=1000, tol=1e-8)
    regression.fit(scaler.fit_transform(features(fitting).reshape(len(fitting), -1)), fitting["image_label"])
    predicted = regression.predict_proba(scaler.transform(features(stimuli).reshape(len(stimuli), -1)))
    return {
        image: dict(zip(regression.classes_, row, strict=True))
        for image, row in zip(stimuli["stimulus_id"], predicted, strict=True)
    }


def dprimes(rates, truth):
    """(image, distractor) → d′ less the mean over the images of the same object; rates of choosing the distractor."""
    mean = {}
    for pair in {(truth[image], other) for image, other in rates}:
        mean[pair] = np.mean([rate for (image, other), rate in rates.items() if (truth[image], other) == pair])
    result = {}
    for (image, other), rate in rates.items():
        if (other, truth[image]) in mean:
            result[image, other] = np.clip(norm.ppf(1 - rate) - norm.ppf(mean[other, truth[image]]), -5, 5)
    result = {key: value for key, value in result.items() if not np.isnan(value)}
    for pair in {(truth[image], other) for image, other in result}:
        same = [key for key in result if (truth[key[0]], key[1]) == pair]
        own_mean = np.mean([result[key] for key in same])
        result.update({key: result[key] - own_mean for key in same})
    return result


def human_rates(trials):
    asked = {}
    for image, choice, _, other in trials:
        asked.setdefault((image, other), []).append(choice == other)
    return {key: np.mean(values) for key, values in asked.items()}


def correlation(first, second):
    common = sorted(first.keys() & second.keys())
    return np.corrcoef([first[key] for key in common], [second[key] for key in common])[0, 1]


def straight_line(assembly, cells):
    """Score, raw score and ceiling as published, trial by trial."""
    stimuli = assembly.stimulus_set
    columns = (assembly["stimulus_id"].values, assembly.values, assembly["sample_obj"].values)
    trials = list(zip(*columns, assembly["dist_obj"].values, strict=True))
    truth = {image: sample for image, _, sample, _ in trials}
    answers = probabilities(stimuli, load_stimuli("objectome.public"), cells)
    rates = {
        (image, other): answers[image][other] / (answers[image][other] + answers[image][truth[image]])
        for image, other in itertools.product(truth, set(truth.values()))
        if other != truth[image]
    }
    ours, random, raw, ceiling = dprimes(rates, truth), np.random.RandomState(0), [], []
    for _ in range(2):
        order = random.permutation(len(trials))
        halves = np.split(order, [len(trials) // 2])
        first, second = (dprimes(human_rates([trials[i] for i in half]), truth) for half in halves)
        raw.append(correlation(ours, first))
        ceiling.append(correlation(first, second))
    return np.mean(np.array(raw) / np.sqrt(ceiling)), np.mean(raw), np.mean(ceiling)


@pytest.mark.parametrize("identifier", BENCHMARKS)
def test_metadata(identifier):
    benchmark = load_benchmark(identifier)  # nothing is loaded for that
    assert (benchmark.identifier, benchmark.version, benchmark.parent) == ("Rajalingham2018-i2n", 2, "behavior")
    assert "Rajalingham240614" in benchmark.bibtex


@pytest.mark.parametrize("identifier", BENCHMARKS)
def test_two_models_score_as_computed_by_hand(simulated, identifier):
    benchmark, assembly = load_benchmark(identifier), load_dataset(f"Rajalingham2018.{BENCHMARKS[identifier]}")
    scores = []
    for cells in (8, 2):
        score = benchmark(model(cells))
        expected, raw, ceiling = straight_line(assembly, cells)
        assert score.attrs["unclamped"] == pytest.approx(expected, abs=1e-5)
        assert float(score) == pytest.approx(min(max(expected, 0), 1), abs=1e-5)
        assert float(score.attrs["raw"]) == pytest.approx(raw, abs=1e-5)
        assert float(score.attrs["ceiling"]) == float(benchmark.ceiling) == pytest.approx(ceiling)
        assert score.attrs["error"] > 0
        low, high = score.attrs["ci"]
        assert low <= float(score) <= high
        scores.append(float(score))
    assert scores[0] != scores[1]
    assert max(scores) > 0.2


def test_few_trials_an_image(simulated):
    # of the public images some d′ can be computed from one half only, which the metric refuses unless told otherwise
    ceiling = load_benchmark("Rajalingham2018public-i2n").ceiling
    assert ceiling.attrs["undefined"] > 0
    with pytest.raises(UserError, match="skipna=True"):
        load_metric("i2n").ceiling(load_dataset("Rajalingham2018.public"))
    assert load_benchmark("Rajalingham2018-i2n").ceiling.attrs["undefined"] == 0


def test_correct(simulated):
    assembly = load_assembly("private")
    expected = [choice == sample for choice, sample in zip(assembly.values, assembly["sample_obj"].values, strict=True)]
    assert assembly["correct"].values.tolist() == expected
    assert 0.5 < np.mean(expected) < 1
    assert assembly["correct"].dims == ("presentation",)


class Spy(BrainModel):
    """Keeps what it is asked and shown; says that everything is equally likely, but for the first object."""

    identifier = "spy"

    def __init__(self, degrees):
        self.degrees = degrees

    def visual_degrees(self):
        return self.degrees

    def start_recording(self, recording_target, time_bins, **kwargs):
        raise NotApplicable("it has no regions")

    def start_task(self, task, fitting_stimuli=None):
        self.task, self.fitting = task, fitting_stimuli

    def look_at(self, stimuli, number_of_trials=1, require_variance=False):
        self.stimuli, self.trials = stimuli, number_of_trials
        labels = sorted(set(self.fitting["image_label"]))
        values = np.random.default_rng(0).uniform(0.1, 1, (len(stimuli), len(labels)))
        return BehavioralAssembly(
            values / values.sum(axis=1, keepdims=True),
            coords={"stimulus_id": ("presentation", list(stimuli["stimulus_id"])), "choice": ("choice", labels)},
            dims=["presentation", "choice"],
        )


def test_the_experiment(simulated):
    spy = Spy(degrees=16)
    load_benchmark("Rajalingham2018-i2n")(spy)
    assert spy.task == "probabilities"
    assert spy.trials == 2
    assert spy.fitting.identifier.startswith("objectome.public")
    assert spy.stimuli.identifier.startswith("objectome.private")
    for shown in (spy.fitting, spy.stimuli):  # at 8 of 16 degrees
        assert Image.open(shown.get_stimulus(shown["stimulus_id"].iloc[0])).size == (64, 64)


def test_order_of_answers_does_not_matter(simulated):
    class Shuffled(Spy):
        def look_at(self, stimuli, number_of_trials=1, require_variance=False):
            answers = super().look_at(stimuli, number_of_trials)
            return answers.isel(presentation=np.arange(len(stimuli))[::-1], choice=[2, 0, 1, 5, 4, 3])

    benchmark = load_benchmark("Rajalingham2018-i2n")
    assert benchmark(Shuffled(8)).attrs["unclamped"] == pytest.approx(benchmark(Spy(8)).attrs["unclamped"])


def test_a_model_without_probabilities_is_not_applicable(simulated):
    with pytest.raises(NotApplicable):
        load_benchmark("Rajalingham2018-i2n")(RecordedDecisions("labels", {"a": "b"}, visual_degrees=8))


class AuthorYearI2n(BenchmarkBase):
    """A benchmark as tutorials write it."""

    def __init__(self):
        self._metric = load_metric("i2n")
        self._fitting_stimuli = LazyLoad(lambda: load_stimuli("objectome.public"))
        self._assembly = LazyLoad(lambda: load_dataset("Rajalingham2018.private"))
        super().__init__(
            identifier="AuthorYear-i2n", version=1, ceiling_func=lambda: self._metric.ceiling(self._assembly)
        )

    def __call__(self, candidate):
        degrees = candidate.visual_degrees()
        fitting = place_on_screen(self._fitting_stimuli, target_visual_degrees=degrees, source_visual_degrees=8)
        candidate.start_task(BrainModel.Task.probabilities, fitting)
        stimuli = place_on_screen(self._assembly.stimulus_set, target_visual_degrees=degrees, source_visual_degrees=8)
        return self._metric.ceil_score(
            self._metric(candidate.look_at(stimuli, number_of_trials=2), self._assembly), self.ceiling
        )


def test_as_tutorials_write_it(simulated):
    expected = load_benchmark("Rajalingham2018-i2n")(model(8))
    assert float(AuthorYearI2n()(model(8))) == expected.attrs["unclamped"]


_RESOURCES = (
    "https://raw.githubusercontent.com/brain-score/vision/c642dbe42aae3ed064bc0b66f70a80b264021164/brainscore_vision/"
    "benchmarks/rajalingham2018/test_resources/"
)


@pytest.mark.private_access
class TestPublished:
    def test_ceiling(self):
        assert float(load_benchmark("Rajalingham2018-i2n").ceiling) == pytest.approx(0.479, abs=0.0064)

    @pytest.mark.parametrize(
        ("network", "raw", "sha256"),
        [
            ("alexnet", 0.253, "eff812ac9c66d8b4ec6f9f80fd3179940efd7b2f3a8364469fd29cba48d0556c"),
            ("resnet34", 0.37787, "18f95cfb3780908f62f711a281d12f6a3849b209bc573679d85eac313374e69b"),
            ("resnet18", 0.3638, "d7095c2edf9fc2fdccafd52d23255e3fd3e00c995e8eea4dae319a538965ba0d"),
        ],
    )
    def test_published_probabilities(self, network, raw, sha256):
        benchmark = load_benchmark("Rajalingham2018-i2n")
        path = fetch(f"{_RESOURCES}{network}-probabilities.nc", sha256=sha256)
        answers = BehavioralAssembly.from_files(path)
        score = benchmark(PrecomputedFeatures({"objectome.private": answers}, visual_degrees=8))
        assert float(score.attrs["raw"]) == pytest.approx(raw, abs=0.005)
        assert float(score) == pytest.approx(raw / np.sqrt(0.479), abs=0.005)

    @pytest.mark.parametrize(("identifier", "raw"), [("alexnet", 0.253), ("pixels", 0.0139)])
    def test_models(self, identifier, raw):
        score = load_benchmark("Rajalingham2018-i2n")(load_model(identifier))
        assert float(score.attrs["raw"]) == pytest.approx(raw, abs=0.005)

    def test_resnet50_of_the_tutorial(self, torchvision):
        from brainscore_vision.model_helpers.activations.pytorch import PytorchWrapper, load_preprocess_images
        from brainscore_vision.model_helpers.brain_transformation import ModelCommitment

        wrapper = PytorchWrapper(
            identifier="resnet50_tutorial",
            model=torchvision.models.resnet50(weights="IMAGENET1K_V1"),
            preprocessing=functools.partial(load_preprocess_images, image_size=224),
        )
        layers = ["conv1", "layer1", "layer2", "layer3", "layer4", "fc"]
        score = load_benchmark("Rajalingham2018-i2n")(ModelCommitment("resnet50_tutorial", wrapper, layers))
        assert float(score.attrs["raw"]) == pytest.approx(0.348, abs=0.005)

    def test_number_of_trials(self):
        benchmark = load_benchmark("Rajalingham2018-i2n")
        spy = Spy(8)
        benchmark(spy)
        assert len(spy.fitting) == 2160
        assert len(spy.stimuli) == 240


@pytest.mark.network
def test_published_public_score(tmp_path):
    from urllib.request import urlopen

    path = tmp_path / "CORnetZ-rajalingham2018public.nc"
    address = "https://brain-score-tests.s3.amazonaws.com/tests/test_benchmarks/CORnetZ-rajalingham2018public.nc"
    with urlopen(address, timeout=60) as stream:
        path.write_bytes(stream.read())
    benchmark = load_benchmark("Rajalingham2018public-i2n")
    answers = BehavioralAssembly.from_files(path)
    score = benchmark(PrecomputedFeatures({"objectome.public": answers}, visual_degrees=8))
    assert float(score.attrs["raw"]) == pytest.approx(0.136923, abs=0.005)


@pytest.mark.parametrize(
    ("stimulus_set", "degrees", "stimulus_id", "expected"),
    [
        pytest.param(*case, marks=pytest.mark.private_access if "private" in case[0] else pytest.mark.network)
        for case in (
            ("objectome.private", 14, "0223bf9e5db0edad21976b16494fe9396a5ef145", 0.225023),
            ("objectome.private", 6, "0223bf9e5db0edad21976b16494fe9396a5ef145", 0.002244),
            ("objectome.public", 14, "0020cef91bd626e9fbbabd853494ee444e5c9ecb", 0.22486),
            ("objectome.public", 6, "0020cef91bd626e9fbbabd853494ee444e5c9ecb", 0.00097),
        )
    ],
)
def test_published_share_of_grey(stimulus_set, degrees, stimulus_id, expected):
    stimuli = load_stimuli(stimulus_set)
    one = stimuli[stimuli["stimulus_id"] == stimulus_id]
    one.stimulus_paths, one.identifier = stimuli.stimulus_paths, stimuli.identifier
    shown = place_on_screen(one, target_visual_degrees=degrees, source_visual_degrees=8)
    pixels = np.asarray(Image.open(shown.get_stimulus(stimulus_id)).convert("RGB"))
    grey = (pixels == 128).all(axis=-1).sum() / pixels.size
    assert grey == pytest.approx(expected, abs=0.0001)
