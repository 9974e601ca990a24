import numpy as np
import pytest
from scipy.stats import pearsonr
from sklearn.linear_model import Ridge, RidgeCV

from brainscore_core.errors import NotApplicable, UserError
from brainscore_core.metric_helpers.alignment import MetricInputError
from brainscore_core.metrics import Score
from brainscore_vision import load_ceiling, load_metric
from brainscore_vision.benchmark_helpers.neural_common import (
    TrainTestNeuralBenchmark,
    average_repetition,
    neuroid_wise_explained_var,
)
from brainscore_vision.utils import LazyLoad

TRAIN, TEST = [f"train{i:02d}" for i in range(30)], [f"test{i:02d}" for i in range(20)]
SUBJECTS = ["f"] * 4 + ["n"] * 3
REPETITIONS = 4
ALPHAS = [0.1, 10.0, 1000.0]


@pytest.fixture
def data(tmp_path, experiment):
    """Features of all stimuli, and recordings that are linear in them, with noise; neuroids of the two subjects mix."""
    rng = np.random.default_rng(0)
    features = {name: rng.standard_normal(8) for name in TRAIN + TEST}
    weights, mixed = rng.standard_normal((8, 7)), rng.permutation(7)

    def measure(ids, repetitions, identifier):
        shown = [name for name in ids for _ in range(repetitions)]
        signal = np.stack([features[name] for name in shown]) @ weights
        values = signal + np.linspace(0.5, 4, 7) * rng.standard_normal((len(shown), 7))
        return experiment.recordings(
            values[:, mixed],
            shown,
            stimuli=experiment.stimulus_set(tmp_path, ids, identifier),
            neuroid_ids=mixed,
            subject=np.array(SUBJECTS)[mixed],
            repetition=list(range(repetitions)) * len(ids),
        )

    return features, measure(TRAIN, 1, "Author2024_train"), measure(TEST, REPETITIONS, "Author2024_test")


def make(train, test, metric="ridge_split", *, metric_kwargs=None, **kwargs):
    given = {
        "identifier": "Author2024.IT-ridge",
        "version": 1,
        "train_assembly": train,
        "test_assembly": average_repetition(test),
        "similarity_metric": load_metric(metric, **(metric_kwargs or {})),
        "ceiling_func": lambda: load_ceiling("internal_consistency")(test),
        "visual_degrees": 8,
        "number_of_trials": 1,
        "parent": "IT",
    }
    return TrainTestNeuralBenchmark(**(given | kwargs))


def correlations(features, train, test, rows, regression):
    """Pearson correlation of each of these neuroids, by scikit-learn and SciPy."""
    X, X_test = (np.stack([features[name] for name in ids]) for ids in (TRAIN, TEST))
    Y = np.stack([train.values[train["stimulus_id"].values == name].mean(axis=0) for name in TRAIN])[:, rows]
    Y_test = np.stack([test.values[test["stimulus_id"].values == name].mean(axis=0) for name in TEST])[:, rows]
    predicted = regression.fit(X, Y).predict(X_test)
    return np.array([pearsonr(a, b)[0] for a, b in zip(predicted.T, Y_test.T, strict=True)])


def test_all_neuroids_at_once(data, experiment):
    features, train, test = data
    benchmark = make(train, test)
    score = benchmark(experiment.Knowing(features))
    expected = correlations(features, train, test, slice(None), Ridge(alpha=1))
    assert float(score.attrs["raw"]) == pytest.approx(np.median(expected), abs=1e-9)
    np.testing.assert_allclose(score.attrs["raw"].attrs["raw"].values, expected, atol=1e-9)
    assert float(score) == pytest.approx(np.median(expected) ** 2 / float(benchmark.ceiling), abs=1e-9)
    assert score.attrs["error"] > 0


def test_each_subject_has_its_own_mapping_and_ceiling(data, experiment):
    features, train, test = data
    benchmark = make(train, test, "ridgecv_split", metric_kwargs={"alphas": ALPHAS}, alpha_coord="subject")
    score = benchmark(experiment.Knowing(features))
    reliabilities = benchmark.ceiling.attrs["raw"]
    ceiled, raws = [], []
    for subject in ("f", "n"):
        rows = np.flatnonzero(train["subject"].values == subject)
        regression = RidgeCV(alphas=ALPHAS)
        raw = np.median(correlations(features, train, test, rows, regression))
        ceiling = np.median(reliabilities.values[:, rows], axis=1).mean()
        own = score.attrs[subject]
        assert float(own) == pytest.approx(raw**2 / ceiling, abs=1e-9)
        assert own.attrs["raw"].attrs["raw"].attrs["alpha"] == regression.alpha_
        assert float(own.attrs["ceiling"]) == pytest.approx(ceiling, abs=1e-9)
        assert own.attrs["ceiling"].attrs["meaning"] == "reliability"
        ceiled.append(raw**2 / ceiling)
        raws.append(raw)
    assert score.attrs["unclamped"] == pytest.approx(np.mean(ceiled), abs=1e-9)
    np.testing.assert_allclose(score.attrs["raw_subjects"].values, ceiled, atol=1e-9)
    assert score.attrs["raw_subjects"]["subject"].values.tolist() == ["f", "n"]
    assert float(score.attrs["raw"]) == pytest.approx(np.mean(raws), abs=1e-9)
    assert score.attrs["raw"].attrs["scale"] == "correlation"
    assert score.attrs["raw"].attrs["raw"].sizes == {"neuroid": 7}
    assert score.attrs["ceiling"] is benchmark.ceiling


def test_each_neuroid_has_its_own_ceiling(data, experiment):
    features, train, test = data
    benchmark = make(train, test, per_voxel_ceilings=True)
    score = benchmark(experiment.Knowing(features))
    r = correlations(features, train, test, slice(None), Ridge(alpha=1))
    expected = np.sign(r) * r**2 / benchmark.ceiling.attrs["raw"].values.mean(axis=0)
    np.testing.assert_allclose(score.attrs["ceiled_scores"].values, expected, atol=1e-9)
    assert score.attrs["unclamped"] == pytest.approx(expected.mean(), abs=1e-9)
    assert float(score.attrs["raw"]) == pytest.approx(np.median(r), abs=1e-9)
    low, high = score.attrs["unclamped_ci"]
    assert low < expected.mean() < high
    both = make(train, test, per_voxel_ceilings=True, alpha_coord="subject")(experiment.Knowing(features))
    by_subject = [expected[train["subject"].values == subject].mean() for subject in ("f", "n")]
    np.testing.assert_allclose(both.attrs["raw_subjects"].values, by_subject, atol=1e-9)


def test_the_experiment_is_repeated_on_the_model(data, experiment):
    features, train, test = data
    model = experiment.Knowing(features)
    make(train, test)(model)
    assert model.heard == [("IT", [(70, 170)]), (30, 1), (20, 1)]


def test_time_bins_are_the_recordings_own(data, experiment):
    features, train, test = data
    for assembly in (train, test):
        assembly["time_bin_start"], assembly["time_bin_end"] = ((), 50), ((), 200)
    model = experiment.Knowing(features)
    benchmark = make(train, test)
    assert benchmark.timebins == [(50, 200)]
    benchmark(model)
    assert model.heard[0] == ("IT", [(50, 200)])
    assert make(train, test, timebins=[(70, 170)]).timebins == [(70, 170)]


def test_recordings_are_loaded_when_needed(data, experiment):
    features, train, test = data
    loads = []

    def load(assembly):
        loads.append(1)
        return assembly

    benchmark = make(
        train,
        test,
        train_assembly=LazyLoad(lambda: load(train)),
        test_assembly=LazyLoad(lambda: load(average_repetition(test))),
    )
    assert not loads
    assert float(benchmark(experiment.Knowing(features))) == float(make(train, test)(experiment.Knowing(features)))
    assert len(loads) == 2
    assert benchmark.region == "IT"


def test_other_neuroids_are_refused(data, experiment):
    features, train, test = data
    model = experiment.Knowing(features)
    with pytest.raises(MetricInputError, match="different neuroids"):
        make(train, test.isel(neuroid=slice(None, None, -1)))(model)
    with pytest.raises(MetricInputError, match="different neuroids"):
        make(train, test.isel(neuroid=slice(1, None)))(model)
    assert not model.heard  # nothing was shown in vain


def test_other_regions_are_refused(data, experiment):
    features, train, test = data
    test["region"] = "neuroid", ["V4"] * 7
    with pytest.raises(MetricInputError, match="trained on IT and tested on V4"):
        make(train, test)(experiment.Knowing(features))


def test_what_the_metric_refuses_names_the_data(data, experiment):
    features, train, test = data
    train.values[3, 2] = np.nan
    with pytest.raises(MetricInputError, match=r"^Author2024\.IT-ridge, (.|\n)* and (.|\n)*: the target holds NaN"):
        make(train, test)(experiment.Knowing(features))


def test_stimuli_that_cannot_be_shown(data, experiment):
    features, train, test = data
    test.attrs["stimulus_set"] = train.stimulus_set
    with pytest.raises(UserError, match="20 values of the coordinate 'stimulus_id' are not in the stimulus set"):
        make(train, test)(experiment.Knowing(features))


def test_what_alpha_coord_needs(data, experiment):
    features, train, test = data
    with pytest.raises(MetricInputError, match="no coordinate 'animal'"):
        make(train, test, alpha_coord="animal")(experiment.Knowing(features))
    plain = make(train, test, ceiling_func=lambda: Score(0.8), alpha_coord="subject")
    with pytest.raises(MetricInputError, match=r"no values per neuroid(.|\n)*internal_consistency"):
        plain(experiment.Knowing(features))


def test_recordings_of_other_stimuli_are_refused(data, experiment):
    features, train, test = data

    def lose_one(result):
        return result.isel(presentation=slice(1, None))

    with pytest.raises(UserError, match=r"'knowing' recorded from IT(.|\n)*1 were shown but not recorded: train00"):
        make(train, test)(experiment.Knowing(features, change=lose_one))


def test_a_model_without_the_region_is_not_applicable(data, experiment):
    features, train, test = data

    class WithoutIT(experiment.Knowing):
        def start_recording(self, recording_target, time_bins, **kwargs):
            raise NotApplicable("no IT")

    with pytest.raises(NotApplicable, match="no IT"):
        make(train, test)(WithoutIT(features))


class TestNeuroidWiseExplainedVariance:
    def of(self, values, ids=(0, 1, 2), splits=None):
        values = np.asarray(values, dtype=float)
        coords = {"neuroid_id": ("neuroid", list(ids))}
        dims = ["neuroid"] if values.ndim == 1 else ["split", "neuroid"]
        score = Score(np.median(values))
        raw = Score(values, coords=coords, dims=dims)
        score.attrs = {"raw": raw, "scale": "correlation", "meaning": "reliability"}
        return score

    @pytest.mark.parametrize(("role", "name"), [("score", "scale"), ("ceiling", "meaning")])
    def test_what_is_not_declared_is_said_and_what_does_not_fit_refused(self, role, name):
        made = {"score": self.of([0.5, 0.4, 0.3]), "ceiling": self.of([0.5, 0.8, 0.9])}
        made[role].attrs[name] = None
        with pytest.warns(UserWarning, match=f"does not declare its {name}: the score is taken as a correlation"):
            neuroid_wise_explained_var(**made)
        made[role].attrs[name] = "similarity"
        with pytest.raises(MetricInputError, match="only a correlation"):
            neuroid_wise_explained_var(**made)

    def test_signs_stay(self):
        result = neuroid_wise_explained_var(self.of([0.5, -0.4, 0.3]), self.of([[0.4, 0.7, 0.8], [0.6, 0.9, 1.0]]))
        np.testing.assert_allclose(result.attrs["ceiled_scores"].values, [0.25 / 0.5, -0.16 / 0.8, 0.09 / 0.9])
        assert float(result) == pytest.approx(np.mean([0.5, -0.2, 0.1]))
        assert "new neuroids for these stimuli; " in result.attrs["ci_estimates"]
        assert "undetermined" not in result.attrs

    def test_a_ceiling_that_may_be_0(self):
        ceiling = self.of([0.1, 0.2, 0.3])
        ceiling.attrs["ci"] = (-0.1, 0.5)
        result = neuroid_wise_explained_var(self.of([0.5, 0.4, 0.3]), ceiling)
        assert result.attrs["undetermined"] == "the interval of the ceiling 0.200, -0.100 to 0.500, includes 0"

    def test_undefined_neuroids_are_left_out_and_counted(self):
        result = neuroid_wise_explained_var(self.of([0.5, np.nan, 0.3]), self.of([0.5, 0.8, -0.1]))
        assert float(result) == pytest.approx(0.5)
        assert result.attrs["undefined"] == 2
        nothing = neuroid_wise_explained_var(self.of([np.nan] * 3), self.of([0.5, 0.8, 0.1]))
        assert np.isnan(float(nothing))
        assert nothing.attrs["error_reason"]

    def test_other_aggregates(self):
        score = self.of([0.5, 0.4, 0.3])
        ceiling = Score([0.5, 0.8, 0.9], coords={"neuroid_id": ("neuroid", [0, 1, 2])}, dims=["neuroid"])
        assert float(neuroid_wise_explained_var(score, ceiling, np.median)) == pytest.approx(0.2)
        assert float(neuroid_wise_explained_var(score, ceiling, np.max)) == pytest.approx(0.5)

    def test_neuroids_must_be_the_same(self):
        with pytest.raises(MetricInputError, match="3 neuroids, the ceiling 2"):
            neuroid_wise_explained_var(self.of([0.5, 0.4, 0.3]), self.of([0.5, 0.8], ids=[0, 1]))
        with pytest.raises(MetricInputError, match="another order: 'neuroid_id' is 1"):
            neuroid_wise_explained_var(self.of([0.5, 0.4, 0.3]), self.of([0.5, 0.8, 0.9], ids=[0, 2, 1]))
        with pytest.raises(MetricInputError, match="the ceiling has no values per neuroid"):
            neuroid_wise_explained_var(self.of([0.5, 0.4, 0.3]), Score(0.8))
