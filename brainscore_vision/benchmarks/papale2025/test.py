import numpy as np
import pytest
from sklearn.linear_model import Ridge, RidgeCV
from sklearn.model_selection import ShuffleSplit

from brainscore_core.errors import NotApplicable, UserError
from brainscore_vision import load_benchmark, load_dataset, load_model
from brainscore_vision.benchmark_helpers import RecordedDecisions
from brainscore_vision.benchmark_helpers.neural_checks import neural_findings
from brainscore_vision.benchmark_helpers.screen import place_on_screen
from brainscore_vision.benchmarks.papale2025.benchmark import Papale2025, load_assembly
from brainscore_vision.metrics.regression_correlation.metric import ALPHA_LIST
from brainscore_vision.model_helpers.images import load_grey
from brainscore_vision.model_helpers.static_features import FeatureModel
from brainscore_vision.testing import serve_stand_ins

REGIONS, SUBJECTS = ("V1", "V4", "IT"), ("monkeyF", "monkeyN")
IDENTIFIERS = [f"Papale2025.{region}-{metric}" for region in REGIONS for metric in ("ridge", "ridgecv")]


def coarse(degrees=18):
    """Means over a grid; with 18° it sees the pictures as the animals did, with 8° only the middle of each."""
    return FeatureModel(
        f"coarse-{degrees}",
        layers={"grid": lambda images: np.stack([image.reshape(8, 4, 8, 4).mean(axis=(1, 3)) for image in images])},
        visual_degrees=degrees,
        load=lambda path: load_grey(path, size=32),
    )


MODELS = {"cropped": lambda: coarse(8), "coarse": coarse}


def _recorded(model, region, stimuli):
    model.start_recording(region, [(70, 170)])
    on_screen = place_on_screen(stimuli, target_visual_degrees=model.visual_degrees(), source_visual_degrees=18)
    recordings = model.look_at(on_screen)
    rows = {name: row for row, name in enumerate(recordings["stimulus_id"].values)}
    return recordings.values[[rows[name] for name in stimuli["stimulus_id"]]].astype(float)


def _correlations(x, y):
    return np.array([np.corrcoef(a, b)[0, 1] for a, b in zip(x.T, y.T, strict=True)])


def _reliability(trials):
    """Stimuli × repetitions × neuroids → split × neuroid."""
    values = []
    for first, second in ShuffleSplit(10, train_size=0.5, random_state=1).split(np.arange(trials.shape[1])):
        r = _correlations(trials[:, first].mean(axis=1), trials[:, second].mean(axis=1))
        values.append(2 * r / (1 + r))
    return np.array(values)


def _published_definition(model, region, metric):
    """Raw correlation, ceiling and score of each animal."""
    train, test = load_dataset("Papale2025_train"), load_dataset("Papale2025_test")
    X, X_test = (_recorded(model, region, one.stimulus_set) for one in (train, test))
    ids = list(test.stimulus_set["stimulus_id"])
    result = []
    for subject in SUBJECTS:
        kept = (
            (train["subject"].values == subject)
            & (train["region"].values == region)
            & (train["reliability"].values > 0.3)
        )
        Y = np.stack([train.values[train["stimulus_id"].values == one][0, kept, 0]
                      for one in train.stimulus_set["stimulus_id"]])  # fmt: skip
        trials = np.stack([test.values[test["stimulus_id"].values == one][:, kept, 0] for one in ids])
        regression = Ridge(alpha=1) if metric == "ridge" else RidgeCV(alphas=ALPHA_LIST)
        predicted = regression.fit(X, Y).predict(X_test)
        raw = np.median(_correlations(predicted, trials.mean(axis=1)))
        ceiling = np.median(_reliability(trials), axis=1).mean()
        result.append((raw, ceiling, np.sign(raw) * raw**2 / ceiling))
    return np.array(result)


@pytest.mark.parametrize("identifier", IDENTIFIERS)
def test_is_as_published(identifier):
    benchmark = load_benchmark(identifier)
    assert benchmark.identifier == identifier
    assert benchmark.version == 3
    assert benchmark.parent == identifier.partition(".")[2].partition("-")[0]
    assert benchmark._visual_degrees == 18
    assert benchmark._number_of_trials == 1
    assert benchmark.alpha_coord == "subject"
    assert "10.1016/j.neuron.2024.12.003" in benchmark.bibtex


@pytest.mark.sampled(3)
@pytest.mark.parametrize("model", MODELS)
@pytest.mark.parametrize("identifier", ["Papale2025.V1-ridgecv", "Papale2025.IT-ridge"])
def test_equals_the_published_definition(stand_ins, identifier, model):
    region, metric = identifier.removeprefix("Papale2025.").split("-")
    score = load_benchmark(identifier)(MODELS[model]())
    expected = _published_definition(MODELS[model](), region, metric)
    for subject, (raw, ceiling, ceiled) in zip(SUBJECTS, expected, strict=True):
        own = score.attrs[subject]
        assert float(own) == pytest.approx(ceiled, rel=1e-4)
        assert float(own.attrs["raw"]) == pytest.approx(raw, rel=1e-4)
        assert float(own.attrs["ceiling"]) == pytest.approx(ceiling, rel=1e-6)
    assert float(score.attrs["raw"]) == pytest.approx(expected[:, 0].mean(), rel=1e-4)
    assert score.attrs["unclamped"] == pytest.approx(expected[:, 2].mean(), rel=1e-4)
    np.testing.assert_allclose(score.attrs["raw_subjects"].values, expected[:, 2], rtol=1e-4)
    assert float(score) == pytest.approx(np.clip(expected[:, 2].mean(), 0, 1), rel=1e-4)
    assert 0 < float(score) < 1


def test_the_score_says_what_it_is_made_of(stand_ins):
    score = load_benchmark("Papale2025.V4-ridgecv")(coarse())
    raw = score.attrs["raw"]
    assert list(raw.attrs["raw"]["subject"].values) == ["monkeyF"] * 3 + ["monkeyN"] * 4  # one of each is unreliable
    assert raw.attrs["predictions"].shape == raw.attrs["targets"].shape == (20, 7)
    assert set(raw.attrs["targets"]["region"].values) == {"V4"}
    for subject in SUBJECTS:
        assert score.attrs[subject].attrs["raw"].attrs["raw"].attrs["alpha"] in ALPHA_LIST
    # the interval is of the two animals' own ones, which are independent
    own = [score.attrs[subject] for subject in SUBJECTS]
    assert score.attrs["error"] == pytest.approx(np.hypot(*(one.attrs["error"] for one in own)) / 2)
    down = np.hypot(*(float(one) - one.attrs["ci"][0] for one in own)) / 2
    assert score.attrs["unclamped_ci"][0] == pytest.approx(score.attrs["unclamped"] - down)
    assert "for these 2 subjects; mean over 2 subjects" in score.attrs["ci_estimates"]


def test_ceiling_is_of_all_reliable_neuroids(stand_ins):
    ceiling = load_benchmark("Papale2025.IT-ridge").ceiling
    assert ceiling.attrs["meaning"] == "reliability"
    assert ceiling.attrs["raw"].shape == (10, 7)
    assert 0.5 < float(ceiling) < 1
    assert ceiling.attrs["error"] > 0


def test_its_data_are_as_neural_benchmarks_need_them(stand_ins):
    assert neural_findings(load_benchmark("Papale2025.V1-ridgecv")) == []


def test_assembly_by_region_and_reliability(stand_ins):
    assembly = load_assembly("V1", split="test", average_repetitions=False)
    assert assembly.dims == ("presentation", "neuroid")
    assert assembly.shape == (80, 7)
    assert load_assembly("V1", "test", True).shape == (20, 7)
    assert load_assembly("V1", "train", True, reliability_threshold=0.05).shape == (60, 9)


def test_a_region_that_was_not_recorded_from(s3_server):
    with (
        serve_stand_ins("Papale2025_test"),
        pytest.raises(UserError, match=r"THINGS_TVSD_test_Assembly.*'region' is 'V2'(.|\n)*IT, V1, V4"),
    ):
        load_assembly("V2", split="test", average_repetitions=True)


def test_what_there_is_not():
    with pytest.raises(UserError, match="no metric 'pls'"):
        Papale2025("V1", "pls")


def test_a_model_without_the_region_is_not_applicable(stand_ins):
    with pytest.raises(NotApplicable):
        load_benchmark("Papale2025.IT-ridge")(RecordedDecisions("observer", {"a": "b"}, visual_degrees=8))


@pytest.mark.private_access
@pytest.mark.slow
@pytest.mark.parametrize(
    ("identifier", "expected"),
    [
        ("Papale2025.V1-ridgecv", 0.75668312),
        ("Papale2025.V4-ridgecv", 0.57444855),
        ("Papale2025.IT-ridgecv", 0.46021319),
    ],
)
def test_published_scores_of_alexnet(identifier, expected):
    assert float(load_benchmark(identifier)(load_model("alexnet"))) == pytest.approx(expected, abs=0.001)
