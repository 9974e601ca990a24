import numpy as np
import pytest
from PIL import Image
from scipy.special import softmax
from scipy.stats import norm, spearmanr
from sklearn.model_selection import ShuffleSplit

from brainscore_core.errors import NotApplicable, UserError
from brainscore_core.supported_data_standards.brainio.assemblies import DataAssembly, NeuroidAssembly
from brainscore_core.supported_data_standards.brainio.fetch import fetch_all
from brainscore_core.supported_data_standards.brainio.remote_files import object_request
from brainscore_vision import load_benchmark, load_dataset, run_pair
from brainscore_vision.benchmark_helpers import PrecomputedFeatures, RecordedDecisions
from brainscore_vision.benchmark_helpers.test_helper import NumberOfTrialsTests, VisualDegreesTests
from brainscore_vision.benchmarks.kar2019 import DicarloKar2019OST
from brainscore_vision.model_interface import BrainModel

STARTS = np.arange(70, 250, 10)
IMAGE = "6d19b24c29832dfb28360e7731e3261c13a4287f"


_SLOW = pytest.mark.slow(reason="ten regressions a time bin, here and in the benchmark")


@pytest.fixture
def _one_thread():
    """Thousands of small steps: threads would wait for each other longer than they compute."""
    torch = pytest.importorskip("torch")
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(before)


class Settling(BrainModel):
    """Its IT is noise at first, and the picture in the end; notes what it is told."""

    def __init__(self, time_constant=60.0, degrees=8):
        self.time_constant, self.degrees, self.heard = time_constant, degrees, []

    identifier = "settling"

    def visual_degrees(self):
        return self.degrees

    def start_task(self, task, fitting_stimuli=None):
        raise NotApplicable("it cannot behave")

    def start_recording(self, recording_target, time_bins, **kwargs):
        self.bins = time_bins
        self.heard.append((str(recording_target), list(time_bins)))

    def look_at(self, stimuli, number_of_trials=1, require_variance=False):
        self.heard.append((len(stimuli), number_of_trials))
        ids = list(stimuli["stimulus_id"])
        pictures = []
        for name in ids:
            with Image.open(stimuli.get_stimulus(name)) as image:
                pictures.append(np.asarray(image.convert("L").resize((30, 30)), dtype=float).ravel() / 128 - 1)
        noise = np.stack([np.random.default_rng(list(name.encode())).standard_normal(900) for name in ids])
        share = 1 - np.exp(-(np.array([start for start, _ in self.bins]) - 50) / self.time_constant)
        values = np.stack(pictures)[:, :, np.newaxis] * share + 0.6 * noise[:, :, np.newaxis] * (1 - share)
        return self.assembly(values, stimuli)

    def assembly(self, values, stimuli):
        starts, ends = zip(*self.bins, strict=True)
        return NeuroidAssembly(
            values,
            coords={
                "stimulus_id": ("presentation", list(stimuli["stimulus_id"])),
                "image_label": ("presentation", list(stimuli["image_label"])),
                "neuroid_id": ("neuroid", np.arange(values.shape[1])),
                "time_bin_start": ("time_bin", list(starts)),
                "time_bin_end": ("time_bin", list(ends)),
            },
            dims=["presentation", "neuroid", "time_bin"],
        )


class Static(Settling):
    identifier = "static"

    def look_at(self, stimuli, number_of_trials=1, require_variance=False):
        recordings = super().look_at(stimuli, number_of_trials)
        return recordings.copy(data=np.repeat(recordings.values[:, :, -1:], recordings.shape[2], axis=2))


def _softmax_regression(X, y, X_test):
    """Adam (rate 1e-4) for 40 epochs in batches of 64 on z-scored features, L2 penalty .463."""
    import torch

    mean, scale = X.mean(axis=0), X.std(axis=0)
    Z, labels = torch.tensor((X - mean) / scale, dtype=torch.float32), torch.tensor(y)
    chance = torch.Generator().manual_seed(0)
    layer = torch.nn.Linear(X.shape[1], y.max() + 1)
    with torch.no_grad():
        bound = np.sqrt(6 / (layer.in_features + layer.out_features))
        layer.weight.copy_(((2 * torch.rand(tuple(layer.weight.shape)[::-1], generator=chance) - 1) * bound).T)
        layer.bias.zero_()
    adam = torch.optim.Adam(layer.parameters(), lr=1e-4)
    for _ in range(40):
        shuffled = torch.randperm(len(labels), generator=chance)
        for start in range(0, len(labels), 64):
            rows = shuffled[start : start + 64]
            adam.zero_grad()
            penalty = 0.463 / 2 * (layer.weight**2).sum()
            (torch.nn.functional.cross_entropy(layer(Z[rows]), labels[rows]) + penalty).backward()
            adam.step()
    weights, bias = layer.weight.detach().double().numpy(), layer.bias.detach().double().numpy()
    return softmax((X_test - mean) / scale @ weights.T + bias, axis=1)


def _i1(probabilities, truth):
    result = []
    for own, mine in zip(probabilities, truth, strict=True):
        values = []
        for other in set(truth) - {mine}:
            hit = own[mine] / (own[mine] + own[other])
            false_alarms = [
                p[mine] / (p[mine] + p[other]) for p, its in zip(probabilities, truth, strict=True) if its == other
            ]
            values.append(np.clip(norm.ppf(hit) - norm.ppf(np.mean(false_alarms)), -5, 5))
        result.append(np.mean(values))
    return np.array(result)


def _solution_time(course, threshold, starts):
    reached = np.flatnonzero(course >= threshold)
    if not reached.size:
        return np.nan
    if reached[0] == 0:
        return starts[0]
    before = np.argmax(course[: reached[0]])
    return np.interp(threshold, course[[before, reached[0]]], starts[[before, reached[0]]])


def _published_definition(model, starts):
    times = load_dataset("Kar2019").sel(decoder="svm")
    _, first = np.unique(times["stimulus_id"].values, return_index=True)
    times = times.isel(presentation=first)
    model.start_recording("IT", [(start, start + 10) for start in starts])
    stimuli = times.stimulus_set.set_index("stimulus_id", drop=False).loc[times["stimulus_id"].values]
    recordings = model.look_at(stimuli).values
    _, truth = np.unique(times["image_label"].values, return_inverse=True)
    correlations = []
    for train, test in ShuffleSplit(10, train_size=0.9, random_state=1).split(truth):
        courses = []
        for b in range(len(starts)):
            probabilities = _softmax_regression(recordings[train, :, b], truth[train], recordings[test, :, b])
            courses.append(_i1(probabilities, truth[test]))
        thresholds = times["i1"].values[test]
        predicted = np.array(
            [_solution_time(*pair, starts) for pair in zip(np.transpose(courses), thresholds, strict=True)]
        )
        both = ~(np.isnan(predicted) | np.isnan(times.values[test]))
        correlations.append(spearmanr(predicted[both], times.values[test][both])[0])
    return np.array(correlations)


def test_is_as_published():
    benchmark = load_benchmark("Kar2019-ost")
    assert isinstance(benchmark, DicarloKar2019OST)
    assert (benchmark.identifier, benchmark.version, benchmark.parent) == ("Kar2019-ost", 2, "IT")
    assert float(benchmark.ceiling) == 0.79
    assert "published no error" in benchmark.ceiling.attrs["error_reason"]
    assert "10.1038/s41593-019-0392-5" in benchmark.bibtex


def test_the_experiment_is_repeated_on_the_model(stand_ins):
    model = Static(degrees=16)
    load_benchmark("Kar2019-ost")(model)
    assert model.heard == [("IT", [(start, start + 10) for start in range(70, 250, 10)]), (1, 44)]


def test_each_image_is_there_once(stand_ins):
    benchmark = load_benchmark("Kar2019-ost")
    assert load_dataset("Kar2019").shape == (2, 72)
    assembly = benchmark._assembly
    assert assembly.dims == ("presentation",)
    assert len(assembly["stimulus_id"]) == len(set(assembly["stimulus_id"].values)) == len(assembly.stimulus_set) == 70
    np.testing.assert_array_equal(assembly["truth"].values, assembly["image_label"].values)
    assert list(assembly.stimulus_set["truth"]) == list(assembly.stimulus_set["image_label"])


@pytest.mark.slow
@pytest.mark.parametrize(("time_constant", "every"), [(60.0, 6), pytest.param(25.0, 3, marks=_SLOW)])
@pytest.mark.usefixtures("_one_thread")
def test_equals_the_published_definition(stand_ins, time_constant, every):
    benchmark = load_benchmark("Kar2019-ost")
    benchmark._time_bins = benchmark._time_bins[::every]
    score = benchmark(Settling(time_constant))
    expected = _published_definition(Settling(time_constant), STARTS[::every])
    raw = score.attrs["raw"]
    np.testing.assert_allclose(raw.attrs["raw"].values, expected, atol=1e-6)
    assert float(raw) == pytest.approx(np.nanmean(expected), abs=1e-6)
    assert float(score) == pytest.approx(np.nanmean(expected) / 0.79, abs=1e-6)
    assert 0 < float(score) <= 1
    assert score.attrs["error"] == pytest.approx(raw.attrs["error"] / 0.79)
    low, high = score.attrs["unclamped_ci"]
    assert low < score.attrs["unclamped"] < high


def test_a_static_model_has_no_solution_times(stand_ins):
    model = Static()
    score = load_benchmark("Kar2019-ost")(model)
    assert np.isnan(float(score))
    assert np.isnan(float(score.attrs["raw"]))
    assert float(score.attrs["ceiling"]) == 0.79
    assert "do not change over time" in score.attrs["error_reason"]
    assert model.heard[1:] == [(1, 44)]  # the other images were not shown


def test_a_static_models_score_is_undefined(stand_ins):
    outcome = run_pair("pixels", "Kar2019-ost")
    assert outcome.receipt.state == "undefined"
    assert "do not change over time" in outcome.receipt.reason


def _random(stimuli, bins):
    starts, ends = zip(*bins, strict=True)
    return PrecomputedFeatures(
        DataAssembly(
            np.random.RandomState(0).rand(len(stimuli), 5, len(bins)),
            coords={
                "stimulus_id": ("presentation", stimuli["stimulus_id"].to_numpy()),
                "image_label": ("presentation", stimuli["image_label"].to_numpy()),
                "truth": ("presentation", stimuli["truth"].to_numpy()),
                "neuroid_id": ("neuroid", list(range(5))),
                "layer": ("neuroid", ["test"] * 5),
                "time_bin_start": ("time_bin", list(starts)),
                "time_bin_end": ("time_bin", list(ends)),
            },
            dims=["presentation", "neuroid", "time_bin"],
        ),
        visual_degrees=8,
    )


def test_precomputed_features_without_time_are_static(stand_ins):
    benchmark = DicarloKar2019OST()
    score = benchmark(_random(benchmark._assembly.stimulus_set, [(70, 170)]))
    assert np.isnan(float(score))


def test_a_model_without_it_is_not_applicable(stand_ins):
    with pytest.raises(NotApplicable):
        load_benchmark("Kar2019-ost")(RecordedDecisions("observer", {"a": "b"}, visual_degrees=8))


def test_missing_coordinates_are_named(stand_ins, monkeypatch):
    assembly = load_dataset("Kar2019").drop_vars("i1")
    monkeypatch.setattr("brainscore_vision.benchmarks.kar2019.benchmark.load_dataset", lambda _: assembly)
    with pytest.raises(UserError, match=r"Kar2019.*no coordinate 'i1' on presentation"):
        load_benchmark("Kar2019-ost")(Static())


def test_images_span_8_degrees(stand_ins):
    last = load_dataset("Kar2019").stimulus_set["stimulus_id"].iloc[-1]
    # of a screen of twice the angle a quarter is image; grey pixels are counted a channel
    VisualDegreesTests().amount_gray_test("Kar2019-ost", 16, last, pytest.approx(0.75 / 3, abs=1e-3))


def test_stimuli_are_shown_44_times(stand_ins):
    NumberOfTrialsTests().repetitions_test("Kar2019-ost")


@pytest.mark.private_access
@pytest.mark.parametrize(("degrees", "expected"), [(14, 0.225021), (6, 0.001248)])
def test_published_amount_of_gray(degrees, expected):
    VisualDegreesTests().amount_gray_test("Kar2019-ost", degrees, IMAGE, pytest.approx(expected, abs=1e-4))


@pytest.mark.private_access
@pytest.mark.slow
def test_published_score_of_cornet_s():
    request = object_request(
        "brainscore-unittests", "tests/test_benchmarks/cornet_s-kar2019.nc", sha1=None, version_id=None
    )
    benchmark = load_benchmark("Kar2019-ost")
    features = NeuroidAssembly.from_files(fetch_all([request])[0], stimulus_set=benchmark._assembly.stimulus_set)
    score = benchmark(PrecomputedFeatures(features, visual_degrees=8))
    assert float(score.attrs["raw"]) == pytest.approx(0.316, abs=0.005)


@pytest.mark.private_access
@pytest.mark.slow
def test_published_scores_of_random_features():
    benchmark = load_benchmark("Kar2019-ost")
    stimuli = benchmark._assembly.stimulus_set
    for bins in ([(70, 170)], [(start, start + 20) for start in range(70, 170, 20)]):
        assert np.isnan(float(benchmark(_random(stimuli, bins))))
