import numpy as np
import pandas as pd
import pytest
from PIL import Image
from scipy.stats import sem
from sklearn.linear_model import LogisticRegression
from sklearn.preprocessing import StandardScaler

from brainscore_core.errors import NotApplicable, UserError
from brainscore_vision import load_benchmark, load_dataset, load_model, load_stimulus_set
from brainscore_vision.benchmark_helpers import RecordedDecisions
from brainscore_vision.benchmarks.coggan2024_behavior.benchmark import consistency, mean_by_condition, similarity
from brainscore_vision.model_helpers.images import load_grey
from brainscore_vision.model_helpers.static_features import FeatureModel

IDENTIFIER = "tong.Coggan2024_behavior-ConditionWiseAccuracySimilarity"


@pytest.fixture
def simulated(stand_ins, tmp_path, monkeypatch):
    monkeypatch.setenv("BRAINSCORE_HOME", str(tmp_path / "brainscore"))


def grid(images, cells):
    """Mean grey level in each of cells × cells parts of an image."""
    return np.stack([np.reshape(im, (cells, 32 // cells, cells, 32 // cells)).mean(axis=(1, 3)) for im in images])


def model(cells, degrees=10):
    return FeatureModel(
        f"grid{cells}", {"grid": lambda images: grid(images, cells)}, visual_degrees=degrees, load=load_grey
    )


def labels(stimuli, fitting, cells):
    """Name of each stimulus, by multinomial logistic regression on standardised features."""

    def features(images):
        pixels = [np.asarray(Image.open(images.get_stimulus(i)).convert("L")) for i in images["stimulus_id"]]
        return grid(pixels, cells).reshape(len(images), -1)

    scaler, regression = StandardScaler(), LogisticRegression(C=1e-3, max_iter=1000, tol=1e-8)
    regression.fit(scaler.fit_transform(features(fitting)), fitting["image_label"])
    return dict(zip(stimuli["stimulus_id"], regression.predict(scaler.transform(features(stimuli))), strict=True))


def accuracies(assembly, named):
    """One row a subject and condition."""
    columns = ("stimulus_id", "subject", "object_class", "occluder_type", "occluder_color", "visibility")
    table = pd.DataFrame({name: assembly[name].values for name in columns})
    table["human"] = assembly["human_accuracy"].values
    table["model"] = [float(named[i] == truth) for i, truth in zip(table.stimulus_id, table.object_class, strict=True)]
    table = table[table.visibility < 1]
    return table.groupby(["subject", "occluder_type", "occluder_color"])[["human", "model"]].mean().reset_index()


def with_others(table):
    result = []
    for subject in sorted(set(table.subject)):
        own, others = table[table.subject == subject], table[table.subject != subject]
        mean = others.groupby(["occluder_type", "occluder_color"])[["human"]].mean().reset_index()
        both = own.merge(mean, on=["occluder_type", "occluder_color"])
        result.append(np.corrcoef(both.human_x, both.human_y)[0, 1])
    return result


def test_is_as_published():
    benchmark = load_benchmark(IDENTIFIER)
    assert (benchmark.identifier, benchmark.version, benchmark.parent) == (IDENTIFIER, 1, "behavior")
    assert "Tong.Coggan2024.behavior" in benchmark.bibtex


def test_two_models_score_as_computed_by_hand(simulated):
    benchmark = load_benchmark(IDENTIFIER)
    assembly, fitting = load_dataset("Coggan2024_behavior"), load_stimulus_set("Coggan2024_behavior_fitting")
    scores = []
    for cells in (8, 4):
        table = accuracies(assembly, labels(assembly.stimulus_set, fitting, cells))
        raw = [np.corrcoef(own.human, own.model)[0, 1] for _, own in table.groupby("subject")]
        ceiling = with_others(table)
        score = benchmark(model(cells))
        assert float(score) == pytest.approx((np.mean(raw) / np.mean(ceiling)) ** 2)
        assert float(score.attrs["raw"]) == pytest.approx(np.mean(raw))
        np.testing.assert_allclose(score.attrs["raw"].attrs["raw"].values, raw)
        assert score.attrs["raw"].attrs["error"] == pytest.approx(sem(raw))
        assert float(score.attrs["ceiling"]) == float(benchmark.ceiling) == pytest.approx(np.mean(ceiling))
        np.testing.assert_allclose(benchmark.ceiling.attrs["raw"].values, ceiling)
        assert score.attrs["error"] > 0
        assert score.attrs["ci"][0] <= float(score) <= score.attrs["ci"][1]
        scores.append(float(score))
    assert 0.05 < min(scores) < max(scores) <= 1


def test_a_negative_correlation_is_not_rewarded(simulated):
    class Contrary(FeatureModel):
        """Wrong where people are right."""

        def look_at(self, stimuli, number_of_trials=1, require_variance=False):
            self.shown, self.trials = stimuli, number_of_trials
            answers = super().look_at(stimuli).copy()
            truth = np.asarray(stimuli["object_class"])[:, np.newaxis] == answers["choice"].values
            right = load_dataset("Coggan2024_behavior")["human_accuracy"].values[:, np.newaxis] == 0
            answers.values[...] = np.where(truth == right, 0.9, 0.1)
            return answers

    contrary = Contrary("contrary", {"grid": lambda images: grid(images, 4)}, visual_degrees=10, load=load_grey)
    benchmark = load_benchmark(IDENTIFIER)
    score = benchmark(contrary)
    assert float(score.attrs["raw"]) == pytest.approx(-1)
    assert float(score) == 0
    assert score.attrs["unclamped"] < -1
    assert "undetermined" not in score.attrs
    benchmark.ceiling.attrs["ci"] = (-0.1, 0.9)
    assert benchmark(contrary).attrs["undetermined"].endswith("-0.100 to 0.900, includes 0")
    assert contrary.trials == 1


def test_a_model_that_is_always_right_has_no_score(simulated):
    class Knowing(FeatureModel):
        def look_at(self, stimuli, number_of_trials=1, require_variance=False):
            answers = super().look_at(stimuli).copy()
            answers.values[...] = np.asarray(stimuli["object_class"])[:, np.newaxis] == answers["choice"].values
            return answers

    score = load_benchmark(IDENTIFIER)(
        Knowing("knowing", {"grid": lambda images: grid(images, 4)}, visual_degrees=10, load=load_grey)
    )
    assert np.isnan(float(score))
    assert score.attrs["raw"].attrs["undefined"] == 4
    assert np.isnan(score.attrs["error"])
    assert "equally often" in score.attrs["raw"].attrs["error_reason"]


def test_images_are_placed_at_the_angle_of_the_experiment(simulated):
    sizes = set()
    wide = FeatureModel(
        "wide",
        {"size": lambda images: sizes.update(im.shape for im in images) or grid([im[:32, :32] for im in images], 4)},
        visual_degrees=20,
        load=load_grey,
    )
    load_benchmark(IDENTIFIER)(wide)
    assert sizes == {(64, 64)}


def test_forgotten_images_are_refused(simulated):
    class Forgetful(FeatureModel):
        def look_at(self, stimuli, number_of_trials=1, require_variance=False):
            return super().look_at(stimuli).isel(presentation=slice(1, None))

    forgetful = Forgetful("forgetful", {"grid": lambda images: grid(images, 4)}, visual_degrees=10, load=load_grey)
    with pytest.raises(UserError, match="no choice for 1 stimuli"):
        load_benchmark(IDENTIFIER)(forgetful)


def test_a_model_without_probabilities_is_not_applicable(simulated):
    with pytest.raises(NotApplicable):
        load_benchmark(IDENTIFIER)(RecordedDecisions("labels", {"a": "b"}, visual_degrees=10))


def test_mean_by_condition_is_that_of_pandas():
    rng = np.random.default_rng(0)
    table = pd.DataFrame({name: rng.choice(list("abc"), 200) for name in ("subject", "kind", "colour")})
    table["right"] = rng.integers(0, 2, 200)
    table = table[(table.subject != "b") | (table.kind != "c")]  # a subject without some conditions
    means, names = mean_by_condition(
        table.right.to_numpy(), table.subject.to_numpy(), table.kind.to_numpy(), table.colour.to_numpy()
    )
    expected = table.groupby(["subject", "kind", "colour"]).right.mean().unstack(["kind", "colour"])
    expected = expected.sort_index(axis=1)
    np.testing.assert_allclose(means, expected.to_numpy())
    assert names.tolist() == list("abc")
    assert np.isnan(means).sum() == 3


def test_subjects_without_variation_are_left_out():
    people = np.array([[0.1, 0.5, 0.9], [1.0, 1.0, 1.0], [0.2, 0.4, 0.5]])
    model = np.array([[0.0, 0.5, 0.7], [0.0, 0.5, 1.0], [0.3, 0.2, 0.6]])
    score = similarity(people, model, subjects=np.array(list("abc")))
    expected = [np.corrcoef(people[row], model[row])[0, 1] for row in (0, 2)]
    assert float(score) == pytest.approx(np.mean(expected))
    assert score.attrs["undefined"] == 1
    assert np.isnan(score.attrs["error"])  # of two subjects
    ceiling = consistency(people, subjects=np.array(list("abc")))
    assert ceiling.attrs["undefined"] == 1
    assert ceiling.attrs["meaning"] == "human-human"


@pytest.mark.private_access
def test_published_score():
    assert float(load_benchmark(IDENTIFIER)(load_model("alexnet"))) == pytest.approx(0.1318, abs=0.001)
