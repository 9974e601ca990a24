import numpy as np
import pytest

from brainscore_core.benchmarks import BenchmarkBase
from brainscore_core.errors import DataUnavailable, UserError
from brainscore_core.metric_helpers.alignment import MetricInputError
from brainscore_core.metrics import Score
from brainscore_core.supported_data_standards.brainio.assemblies import DataAssembly
from brainscore_vision import load_ceiling, load_metric
from brainscore_vision.benchmark_helpers.measurements import VisualMeasurements
from brainscore_vision.benchmark_helpers.multi_subject import MultiSubjectNeuralBenchmark
from brainscore_vision.benchmark_helpers.neural_checks import neural_findings
from brainscore_vision.benchmark_helpers.neural_common import (
    NeuralBenchmark,
    RSABenchmark,
    TrainTestNeuralBenchmark,
    average_repetition,
)
from brainscore_vision.utils import LazyLoad

IDS = [f"s{i:02d}" for i in range(40)]


@pytest.fixture
def repeated(tmp_path, experiment):
    """Recordings of 40 stimuli, each shown three times."""
    rng = np.random.default_rng(0)
    return experiment.recordings(
        np.repeat(rng.standard_normal((40, 6)), 3, axis=0) + 0.5 * rng.standard_normal((120, 6)),
        [name for name in IDS for _ in range(3)],
        stimuli=experiment.stimulus_set(tmp_path, IDS),
        repetition=[0, 1, 2] * 40,
    )


def make(repeated, **kwargs):
    given = {
        "identifier": "Author2024.IT-pls",
        "version": 1,
        "assembly": average_repetition(repeated),
        "similarity_metric": load_metric("pls"),
        "visual_degrees": 8,
        "number_of_trials": 3,
        "ceiling_func": lambda: load_ceiling("internal_consistency")(repeated),
        "parent": "IT",
    }
    return NeuralBenchmark(**(given | kwargs))


def checks(findings):
    return [finding.check for finding in findings]


def only(findings, check):
    """The one finding, which is of this check."""
    assert checks(findings) == [check], findings
    assert findings[0].severity == "error"
    return f"{findings[0].culprit}\n{findings[0].remedy}"


def test_nothing_is_wrong(repeated):
    assert neural_findings(make(repeated)) == []


def test_what_is_no_neural_benchmark_is_let_be():
    class Silent(BenchmarkBase):
        def __call__(self, candidate):
            return Score(1)

    class Behaviour(Silent):
        def measurements(self):
            return VisualMeasurements(
                benchmark=self.identifier,
                measured=DataAssembly([1.0], dims=["presentation"]),
                compares="choices",
                visual_degrees=8,
            )

    assert neural_findings(Behaviour("Author2024-accuracy", lambda: 1, 1)) == []
    with pytest.raises(UserError, match="'Author2024-sum' does not say what it measures"):
        neural_findings(Silent("Author2024-sum", lambda: 1, 1))


class TestRecordings:
    def test_dimensions(self, repeated):
        averaged = average_repetition(repeated)
        wrong = DataAssembly(averaged.values, coords=averaged.coords, dims=averaged.dims, attrs=averaged.attrs)
        assert "DataAssembly" in only(neural_findings(make(repeated, assembly=wrong)), "neuroid assembly")

    def test_repetitions_not_averaged(self, repeated):
        findings = neural_findings(make(repeated, assembly=repeated))
        assert checks(findings) == ["repetitions are not averaged", "cross-validation"]
        assert "40 of 40 stimuli" in findings[0].culprit
        assert "average_repetition" in findings[0].remedy
        assert findings[0].source == "recordings"

    @pytest.mark.parametrize("name", ["neuroid_id", "stimulus_id"])
    def test_missing_coordinates(self, repeated, name):
        wrong = average_repetition(repeated).drop_vars(name)
        assert "missing coordinate" in checks(neural_findings(make(repeated, assembly=wrong)))

    def test_regions(self, repeated):
        averaged = average_repetition(repeated)
        mixed = averaged.assign_coords(region=("neuroid", ["V4", "IT"] * 3))
        assert "sel(region='IT')" in only(neural_findings(make(repeated, assembly=mixed)), "region")
        assert "no coordinate" in only(neural_findings(make(repeated, assembly=averaged.drop_vars("region"))), "region")

    def test_missing_values(self, repeated):
        averaged = average_repetition(repeated)
        averaged.values[3, 2] = np.nan
        assert "1 of 240 values" in only(neural_findings(make(repeated, assembly=averaged)), "missing values")

    def test_other_stimuli_than_the_stimulus_set(self, repeated):
        averaged = average_repetition(repeated).isel(presentation=slice(1, None))
        text = only(neural_findings(make(repeated, assembly=averaged)), "stimulus_id alignment")
        assert "'s00'" in text
        del averaged.attrs["stimulus_set"]
        assert checks(neural_findings(make(repeated, assembly=averaged))) == ["stimulus set"]

    def test_time_bins(self, repeated, experiment):
        averaged = average_repetition(repeated)
        twice = experiment.recordings(
            np.stack([averaged.values] * 2, axis=2),
            averaged["stimulus_id"].values,
            time_bins=[(70, 120), (120, 170)],
            stimuli=averaged.stimulus_set,
        )
        metric = load_metric("spantime_ridge")
        assert neural_findings(make(repeated, assembly=twice, similarity_metric=metric)) == []
        text = only(
            neural_findings(make(repeated, assembly=twice, similarity_metric=metric, timebins=[(70, 170)])),
            "time bins not found",
        )
        assert "1 time bins, the recordings have 2" in text
        unnamed = twice.drop_vars(["time_bin_start", "time_bin_end"])
        text = only(neural_findings(make(repeated, assembly=unnamed, similarity_metric=metric)), "time bins not found")
        assert "time_bin_start" in text

    def test_data_that_cannot_be_loaded(self, repeated):
        def fail(error):
            raise error

        wrong = LazyLoad(lambda: fail(UserError("no region 'V9'", remedy="there are V4, IT")))
        text = only(neural_findings(make(repeated, assembly=wrong)), "recordings cannot be loaded")
        assert text == "no region 'V9'\nthere are V4, IT"
        away = LazyLoad(lambda: fail(DataUnavailable("the bucket is private", remedy="use the public variant")))
        with pytest.raises(DataUnavailable, match="the bucket is private"):
            neural_findings(make(repeated, assembly=away))
        with pytest.raises(DataUnavailable, match="the bucket is private"):
            neural_findings(make(repeated, ceiling_func=lambda: away.content))


class TestMetric:
    def test_too_few_presentations_for_pls(self, repeated):
        few = repeated.isel(presentation=slice(0, 60))
        few.attrs["stimulus_set"] = repeated.stimulus_set[:20]
        text = only(neural_findings(make(few)), "too few presentations for PLS")
        assert "25 components are fitted on 18 stimuli" in text
        assert "'ridge'" in text
        assert neural_findings(make(few, similarity_metric=load_metric("ridge"))) == []
        smaller = load_metric("pls", regression_kwargs={"n_components": 5})
        assert neural_findings(make(few, similarity_metric=smaller)) == []

    def test_the_metric_itself_says_the_same(self, repeated):
        averaged = average_repetition(repeated).isel(presentation=slice(0, 20))
        with pytest.raises(MetricInputError, match=r"at least as many stimuli(.|\n)*'ridge'"):
            load_metric("pls")(averaged, averaged)


class TestCeiling:
    def test_of_averaged_recordings(self, repeated):
        averaged = average_repetition(repeated)
        benchmark = make(repeated, ceiling_func=lambda: load_ceiling("internal_consistency")(averaged))
        assert "assembly_repetition" in only(neural_findings(benchmark), "ceiling")

    def test_greater_than_1(self, repeated, experiment):
        benchmark = make(repeated, ceiling_func=lambda: 1.2)
        assert "assembly_repetition" in only(neural_findings(benchmark), "ceiling is greater than 1")
        features = dict(zip(IDS, np.random.default_rng(0).standard_normal((40, 30)), strict=True))
        with pytest.raises(ValueError, match=r"ceiling is 1\.2(.|\n)*with its repetitions"):
            benchmark(experiment.Knowing(features))

    @pytest.mark.parametrize("value", [0.0, -0.3, np.nan])
    def test_not_positive(self, repeated, value):
        assert "check the labels of stimuli" in only(
            neural_findings(make(repeated, ceiling_func=lambda: value)), "ceiling"
        )

    def test_none_is_declared(self, repeated):
        def none():
            score = Score(np.nan)
            score.attrs["meaning"] = "none"
            return score

        assert neural_findings(make(repeated, ceiling_func=none)) == []

    def test_several_values(self, repeated):
        benchmark = make(repeated, ceiling_func=lambda: Score([0.5, 0.6], dims=["region"]))
        assert "single value" in only(neural_findings(benchmark), "ceiling")

    def test_another_scale(self, repeated):
        text = only(neural_findings(make(repeated, similarity_metric=load_metric("rdm"))), "ceiling")
        assert "share of variance" in text


def test_settings(repeated):
    assert only(neural_findings(make(repeated, visual_degrees=0)), "visual_degrees")
    assert only(neural_findings(make(repeated, number_of_trials=0)), "number_of_trials")


def test_training_and_test_recordings(repeated):
    train = average_repetition(repeated).isel(presentation=slice(0, 25))
    train.attrs["stimulus_set"] = repeated.stimulus_set[:25]
    test = repeated.isel(presentation=slice(75, None))
    test.attrs["stimulus_set"] = repeated.stimulus_set[25:]

    def benchmark(**kwargs):
        given = {
            "identifier": "Author2024.IT-ridge",
            "version": 1,
            "train_assembly": train,
            "test_assembly": average_repetition(test),
            "similarity_metric": load_metric("ridge_split"),
            "ceiling_func": lambda: load_ceiling("internal_consistency")(test),
            "visual_degrees": 8,
            "number_of_trials": 1,
        }
        return TrainTestNeuralBenchmark(**(given | kwargs))

    assert neural_findings(benchmark()) == []
    other = average_repetition(test).isel(neuroid=[1, 0, 2, 3, 4, 5])
    assert "neuroid_id" in only(neural_findings(benchmark(test_assembly=other)), "neuroid alignment")
    both = neural_findings(benchmark(test_assembly=train))
    assert [(finding.check, finding.severity) for finding in both] == [("shared stimuli", "warning")]
    pls = neural_findings(benchmark(similarity_metric=load_metric("pls_split", regression_kwargs={"n_components": 26})))
    assert "26 components are fitted on 25 stimuli" in only(pls, "too few presentations for PLS")


def test_similarity_of_several_subjects(repeated):
    averaged = average_repetition(repeated)
    averaged["subject"] = "neuroid", ["a", "a", "b", "b", "c", "c"]
    assert neural_findings(RSABenchmark("Author2024.IT-rdm", 1, averaged.drop_vars("region"), "IT", 8, 3)) == []
    alone = averaged.drop_vars("subject")
    assert "no coordinate 'subject'" in only(
        neural_findings(RSABenchmark("Author2024.IT-rdm", 1, alone, "IT", 8, 3)), "ceiling"
    )


def test_of_a_mean_the_first_part_is_checked(repeated):
    def of(subject):
        return make(repeated, visual_degrees=200 if subject == "a" else 8)

    benchmark = MultiSubjectNeuralBenchmark("Author2024.IT-ridge", ["a", "b"], of)
    assert only(neural_findings(benchmark), "visual_degrees")


class TestWhatAModelReturns:
    """Errors of a run, which no check can foresee."""

    @pytest.fixture
    def run(self, repeated, experiment):
        features = dict(zip(IDS, np.random.default_rng(0).standard_normal((40, 30)), strict=True))

        def run(change, **kwargs):
            return make(repeated, **kwargs)(experiment.Knowing(features, change=change))

        return run

    def test_recordings_will_do_in_any_order(self, run):
        again = run(lambda result: result.isel(presentation=slice(None, None, -1)))
        assert again.attrs["unclamped"] == pytest.approx(run(None).attrs["unclamped"], abs=1e-9)

    def test_misaligned_stimuli(self, run):
        def renamed(result):
            result["stimulus_id"] = "presentation", [f"other_{name}" for name in result["stimulus_id"].values]
            return result

        with pytest.raises(UserError) as caught:
            run(renamed)
        message = str(caught.value)
        assert "'knowing' recorded from IT for 'Author2024.IT-pls'" in message
        assert "40 were shown but not recorded: s00, s01" in message
        assert "40 were never shown: other_s00" in message
        assert "negative" in message

    def test_no_stimulus_ids(self, run):
        with pytest.raises(UserError, match="no coordinate 'stimulus_id'"):
            run(lambda result: result.drop_vars("stimulus_id"))

    @pytest.mark.parametrize(
        "change",
        [
            lambda result: result.isel(neuroid=slice(0, 0)),
            lambda result: result.isel(neuroid=0),
            lambda result: result.rename({"neuroid": "channel"}),
        ],
    )
    def test_shape_mismatch_names_the_layer_map(self, run, change):
        with pytest.raises(UserError, match=r"is empty along neuroid(.|\n)*maps to 'IT'(.|\n)*flattened"):
            run(change)

    def test_no_assembly(self, run):
        with pytest.raises(UserError, match="is a ndarray, not a NeuroidAssembly"):
            run(lambda result: result.values)

    def test_time_bins_not_found(self, run):
        with pytest.raises(
            UserError, match=r"time bins not found(.|\n)*1 of the 2 requested time bins(.|\n)*70–120 ms"
        ):
            run(None, timebins=[(70, 120), (120, 170)])
