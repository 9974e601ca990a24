"""Benchmarks of recordings, on simulated recordings in the published form."""

from functools import partial
from itertools import combinations

import numpy as np
import pytest
from scipy.optimize import curve_fit
from scipy.stats import pearsonr
from sklearn.linear_model import LinearRegression
from sklearn.model_selection import ShuffleSplit

from brainscore_core.errors import UserError
from brainscore_core.metrics import Score
from brainscore_core.questions import ask
from brainscore_core.runner.pair import run_pair
from brainscore_core.supported_data_standards.brainio.assemblies import NeuroidAssembly
from brainscore_language import benchmark_registry, load_benchmark, load_metric
from brainscore_language.benchmark_helpers import manual_merge
from brainscore_language.benchmark_helpers.extrapolation import ExtrapolationCeiling
from brainscore_language.benchmark_helpers.recordings import RecordingBenchmark, read_text
from brainscore_language.benchmarks.futrell2018.benchmark import SplitHalvesConsistency
from brainscore_language.model_helpers.embedding import EmbeddingSubject
from brainscore_language.models.word_properties.model import WordSubject

VECTORS = {f"word{n}": vector for n, vector in enumerate(np.random.default_rng(0).standard_normal((60, 6)))}


def recordings(noise=1.0, subjects="abcd", per_subject=3):
    """Responses to 60 words in 12 stories that are linear in the words' vectors, and noise."""
    random = np.random.default_rng(1)
    neuroids = len(subjects) * per_subject
    values = np.stack(list(VECTORS.values())) @ random.standard_normal((6, neuroids))
    named = np.repeat(list(subjects), per_subject)
    stories = np.repeat(np.arange(12), 5)
    return NeuroidAssembly(
        values + noise * random.standard_normal(values.shape),
        coords={
            "stimulus": ("presentation", list(VECTORS)),
            "stimulus_id": ("presentation", np.arange(60)),
            **dict.fromkeys(("story", "sentence_id", "passage_label", "passage_index"), ("presentation", stories)),
            "neuroid_id": ("neuroid", np.arange(neuroids)),
            "subject": ("neuroid", named),
            **dict.fromkeys(("subject_id", "subject_UID"), ("neuroid", named)),
        },
        dims=["presentation", "neuroid"],
        attrs={"stimulus_groups": "story"},
    )


@pytest.fixture
def subject():
    return EmbeddingSubject("vectors", {**VECTORS, **{name.rstrip("'s"): value for name, value in VECTORS.items()}})


@pytest.mark.parametrize(
    "name",
    ["Blank2014-ridge", "Blank2014-linear-shuffle", "Fedorenko2016-ridge", "Tuckute2024-ridge", "Tuckute2024-rdm"],
)
def test_a_subject_that_predicts_recordings(name, subject):
    benchmark = load_benchmark(name)
    assert benchmark.identifier.startswith(name)
    benchmark._load_data = recordings
    if not name.startswith("Tuckute"):
        benchmark._ceiling = Score(0.9)  # estimated in a test of its own
    score = benchmark(subject)
    assert 0.4 < float(score) <= 1
    assert list(score.attrs["layer_scores"]) == ["projection"]
    assert score.attrs["ci_estimates"].startswith("new groups of stimuli (story) and new neuroids of these 4 subjects")
    assert benchmark.measurements().target() is benchmark.data
    if name.startswith("Tuckute"):
        assert benchmark.ceiling is None
    else:
        assert float(score) == pytest.approx(min(float(score.raw) / 0.9, 1))


def test_layers_and_single_neuroids_have_intervals(subject, monkeypatch):
    one = load_benchmark("Tuckute2024-ridge")
    one._load_data = lambda: recordings().isel(neuroid=[0])
    score = one(subject)
    low, high = score.attrs["ci"]
    assert low < float(score) < high
    assert score.attrs["ci_estimates"].startswith("new groups of stimuli (story) for this neuroid; 12 groups")

    both = load_benchmark("Blank2014-ridge")
    both._load_data, both._ceiling = recordings, Score(0.9)
    monkeypatch.setattr(subject, "digest_text", partial(two_layers, subject.digest_text))
    score = both(subject)
    assert float(score) == pytest.approx(np.mean([float(layer) for layer in score.attrs["layer_scores"].values()]))
    raw = score.raw.attrs
    assert raw["ci"][0] < float(score.raw) < raw["ci"][1]


def two_layers(digest, text):
    first = digest(text)["neural"]
    second = first.assign_coords(layer=("neuroid", ["further"] * first.sizes["neuroid"])) * 2
    return {"neural": manual_merge(first, second)}


@pytest.mark.parametrize(("change", "returned"), [(lambda neural: None, 0), (lambda neural: neural[1:], 4)])
def test_responses_that_are_missing_are_counted(subject, monkeypatch, change, returned):
    digest = subject.digest_text
    monkeypatch.setattr(subject, "digest_text", lambda text: {"neural": change(digest(text)["neural"])})
    subject.start_neural_recording("language_system", "fMRI")
    with pytest.raises(UserError, match=f"responses to {returned} of the 5 parts"):
        read_text(subject, recordings(), text_coord="story")


def test_sentences_of_an_experiment_have_a_stored_ceiling(subject, monkeypatch):
    from brainscore_language.benchmarks.pereira2018 import benchmark as module

    loaded = []

    def load(identifier, **options):
        loaded.append((identifier, options["assembly_prefix"], options["sha1"]))
        return Score(0.5)

    monkeypatch.setattr(module, "load_from_s3", load)
    benchmark = load_benchmark("Pereira2018.243sentences-linear-shuffle")
    benchmark.data = recordings()
    score = benchmark(subject)
    assert float(score) == 1
    assert float(score.raw) > 0.5
    assert float(score.attrs["original_out_of_range_score"]) == pytest.approx(float(score.raw) / 0.5)
    assert [each[1] for each in loaded] == ["ceiling_", "ceiling_raw_", "ceiling_raw_raw_"]
    assert loaded[0][0] == "Pereira2018_243sentences-linear"


def test_extrapolated_ceilings_rise_with_the_quality_of_recordings():
    metric = load_metric("ridge_pearsonr", crossvalidation_kwargs={"splits": 2})
    ceilings = [ExtrapolationCeiling(num_bootstraps=10)(recordings(noise, "abc", 2), metric) for noise in (0.3, 3)]
    good, poor = ceilings
    assert float(good) > 0.8 > 0.2 > float(poor)
    assert float(good) > np.nanmean(good.raw.raw.values) > 0.4  # extrapolated from two and three subjects
    assert good.raw.dims == ("neuroid",)
    assert good.raw.raw.dims == ("sub_subject_id", "num_subjects", "split", "neuroid")
    assert good.raw.raw.shape == (4, 2, 2, 6)  # 3 pairs and all; choices of other sizes are NaN
    assert float(good) == float(good.raw.median())
    low, high = good.attrs["ci"]
    assert low <= float(good) <= high


def defined_ceiling(values, names, splits):
    """The extrapolated ceiling as it is defined, with scikit-learn, NumPy and SciPy."""
    pairs = list(ShuffleSplit(splits, train_size=0.9, random_state=1).split(values))
    ceilings = []
    for target, subject in enumerate(names):
        random, samples = np.random.RandomState(0), []
        for number in range(2, len(set(names)) + 1):
            scores = []
            for group in combinations(sorted(set(names)), number):
                pool = [column for column, name in enumerate(names) if name in group and name != subject]
                for train, test in pairs if subject in group else []:
                    fitted = LinearRegression().fit(values[train][:, pool], values[train, target])
                    scores.append(pearsonr(fitted.predict(values[test][:, pool]), values[test, target]).statistic)
            samples.append(scores)
        parameters = []
        for _ in range(10):
            means = [np.mean(random.choice(scores, len(scores))) for scores in samples]
            bounds = ([0, -np.inf], [1, np.inf])
            curve, _ = curve_fit(lambda x, v0, t: v0 * (1 - np.exp(-x / t)), [2, 3, 4], means, bounds=bounds)
            parameters.append(curve[0])
        ceilings.append(np.median(parameters))
    return np.median(ceilings)


@pytest.mark.filterwarnings("ignore:overflow")
def test_extrapolated_ceilings_are_those_of_their_definition():
    data = recordings(0.8, "abcd", 2)
    metric = load_metric("linear_pearsonr", crossvalidation_kwargs={"splits": 2})
    ceiling = ExtrapolationCeiling(num_bootstraps=10)(data, metric)
    expected = defined_ceiling(data.values, data["subject_id"].values.tolist(), splits=2)
    assert float(ceiling) == pytest.approx(expected, abs=1e-6)


def test_consistency_of_halves_of_people():
    people = np.random.default_rng(3)
    truth = people.standard_normal(400)
    times = NeuroidAssembly(
        truth[:, None] + 3 * people.standard_normal((400, 40)),
        coords={"stimulus_id": ("presentation", np.arange(400)), "subject_id": ("subject", np.arange(40))},
        dims=["presentation", "subject"],
    )
    ceiling = SplitHalvesConsistency(10, "subject_id", load_metric("pearsonr"))(times)
    assert float(ceiling) == pytest.approx(1 / (1 + 9 / 40), abs=0.03)  # reliability of the mean of 40 people
    assert ceiling.raw.dims == ("split",)
    random, corrected = np.random.RandomState(0), []
    for _ in range(10):
        half = np.isin(np.arange(40), random.choice(np.arange(40), 20, replace=False))
        r = abs(pearsonr(times.values[:, half].mean(axis=1), times.values[:, ~half].mean(axis=1)).statistic)
        corrected.append(2 * r / (1 + r))
    assert float(ceiling) == pytest.approx(np.median(corrected), abs=1e-6)


def test_published_correlation_of_reading_times():
    people = np.random.default_rng(4)
    words = ["a" * length for length in people.integers(1, 9, 300)]
    lengths = np.array([len(word) for word in words])
    benchmark = load_benchmark("Futrell2018-pearsonr")
    benchmark.data = NeuroidAssembly(
        lengths[:, None] + people.standard_normal((300, 20)),
        coords={
            "word": ("presentation", words),
            "word_within_sentence_id": ("presentation", np.tile(np.arange(1, 11), 30)),
            "subject_id": ("subject", np.arange(20)),
            "story_id": ("presentation", np.arange(300) // 30),
        },
        dims=["presentation", "subject"],
        attrs={"stimulus_groups": "story_id"},
    )
    score = benchmark(WordSubject("negative", lambda word: -len(word)))
    assert float(score) > 0.95  # the sign does not count
    for part in (score.raw, benchmark.ceiling):
        low, high = part.attrs["ci"]
        assert low < float(part) < high
        assert part.attrs["ci_estimates"].startswith("new stories and new subjects; 10 stories, 20 subjects")


def test_questions_are_answered_without_reading_again(subject, tmp_path):
    name = "Questions2026-ridge"
    benchmark = RecordingBenchmark(
        name,
        version=1,
        parent=None,
        bibtex=None,
        load_data=recordings,
        metric=load_metric("ridge_pearsonr"),
        text_coord="story",
    )
    benchmark_registry[name] = lambda: benchmark
    try:
        run_pair("vectors", name, load_model=lambda _: subject, load_benchmark=load_benchmark, results=tmp_path)
        (whole,) = ask(name, results=tmp_path).items
        assert float(whole.score) == pytest.approx(float(benchmark(subject)), abs=1e-6)
        (some,) = ask(name, stimuli="story < 8", subjects=["a", "b"], metric="rdm", results=tmp_path).items
        read = benchmark.data.isel(presentation=slice(40), neuroid=slice(6))
        subject.start_neural_recording("language_system", "fMRI")
        again = load_metric("rdm")(read_text(subject, read, text_coord="story"), read)
        assert float(some.score) == pytest.approx(float(again), abs=1e-6)
    finally:
        del benchmark_registry[name]
