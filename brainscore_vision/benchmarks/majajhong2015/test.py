import numpy as np
import pandas as pd
import pytest
from scipy.stats import pearsonr
from sklearn.cross_decomposition import PLSRegression
from sklearn.model_selection import ShuffleSplit, StratifiedShuffleSplit

from brainscore_core.errors import UserError
from brainscore_core.supported_data_standards.brainio.netcdf import write_netcdf
from brainscore_core.supported_data_standards.brainio.s3 import load_file_from_s3
from brainscore_vision import load_benchmark, load_dataset, load_stimulus_set
from brainscore_vision.benchmark_helpers.test_helper import (
    NumberOfTrialsTests,
    PrecomputedTests,
    StandardizedTests,
    VisualDegreesTests,
)
from brainscore_vision.benchmarks.majajhong2015.benchmark import load_assembly
from brainscore_vision.testing import small_models, stand_in

STATIC = ["MajajHong2015.V4-pls", "MajajHong2015.IT-pls", "MajajHong2015public.V4-pls", "MajajHong2015public.IT-pls"]


def parts_of(identifier):
    """Region and access."""
    return identifier.partition("-")[0].rpartition(".")[2], "public" if "public" in identifier else "private"


def recorded(identifier, data_set):
    """Stimulus × repetition × neuroid × time bin, the stimuli in the order of averages, and their objects."""
    region, _ = parts_of(identifier)
    assembly = load_dataset(data_set)
    values = assembly.transpose("presentation", "neuroid", "time_bin").values
    values = values[:, assembly["region"].values == region]
    ids, repetitions = assembly["stimulus_id"].values, assembly["repetition"].values
    names = [name for name in assembly.coords if assembly[name].dims == ("presentation",)]
    names = [name for name in names if name not in ("presentation", "repetition")]
    table = pd.DataFrame({name: assembly[name].values for name in names})
    order = list(table.drop_duplicates().sort_values(names)["stimulus_id"])
    table = np.stack([values[ids == one][np.argsort(repetitions[ids == one])] for one in order])
    objects = [assembly["object_name"].values[list(ids).index(one)] for one in order]
    return order, table, objects


def features_of(model, order, stimulus_set):
    """The model's responses to the stimuli in this order; its screen is as large as the experiment's."""
    model.start_recording("IT", [(70, 170)])
    recordings = model.look_at(load_stimulus_set(stimulus_set))
    recordings = recordings.isel(time_bin=0) if "time_bin" in recordings.dims else recordings
    ids = list(recordings["stimulus_id"].values)
    return recordings.transpose("presentation", "neuroid").values[[ids.index(one) for one in order]].astype(float)


class ConvergedPLS:
    """PLS regression whose weights are singular vectors, where scikit-learn's power method stops before them."""

    def fit(self, x, y):
        self.x_mean, self.y_mean = x.mean(axis=0), y.mean(axis=0)
        x, y = x - self.x_mean, y - self.y_mean
        weights, x_loadings, y_loadings = [], [], []
        for _ in range(25):
            weights.append(np.linalg.svd(x.T @ y, full_matrices=False)[0][:, 0])
            scores = x @ weights[-1]
            x_loadings.append(x.T @ scores / (scores @ scores))
            y_loadings.append(y.T @ scores / (scores @ scores))
            x, y = x - np.outer(scores, x_loadings[-1]), y - np.outer(scores, y_loadings[-1])
        weights, x_loadings, y_loadings = (np.stack(columns, axis=1) for columns in (weights, x_loadings, y_loadings))
        self.coefficients = weights @ np.linalg.inv(x_loadings.T @ weights) @ y_loadings.T
        return self

    def predict(self, x):
        return (x - self.x_mean) @ self.coefficients + self.y_mean


def predictivity(features, responses, objects, regression):
    """Split × neuroid × time bin: one PLS regression for all time bins, correlations with held-out rates."""
    splitter = StratifiedShuffleSplit(n_splits=10, train_size=0.9, random_state=1)
    result = []
    for train, test in splitter.split(np.zeros(len(objects)), objects):
        n_bins = responses.shape[2]
        fitted = regression.fit(
            np.concatenate([features[train]] * n_bins), np.concatenate(list(np.moveaxis(responses[train], 2, 0)))
        )
        predicted = fitted.predict(features[test])
        result.append(
            [
                [pearsonr(predicted[:, neuroid], responses[test][:, neuroid, time]).statistic for time in range(n_bins)]
                for neuroid in range(responses.shape[1])
            ]
        )
    return np.array(result)


def reliability(table):
    """Split × neuroid × time bin: Spearman–Brown corrected correlations of the means of halves of the repetitions."""
    result = []
    for half, other in ShuffleSplit(n_splits=10, train_size=0.5, random_state=1).split(np.arange(table.shape[1])):
        first, second = table[:, half].mean(axis=1), table[:, other].mean(axis=1)
        r = np.array(
            [
                [
                    pearsonr(first[:, neuroid, time], second[:, neuroid, time]).statistic
                    for time in range(table.shape[3])
                ]
                for neuroid in range(table.shape[2])
            ]
        )
        result.append(2 * r / (1 + r))
    return np.array(result)


@pytest.mark.sampled(4)
@pytest.mark.parametrize("identifier", STATIC)
def test_pls(stand_ins, identifier):
    region, access = parts_of(identifier)
    data_set = f"MajajHong2015.{access}"
    benchmark = load_benchmark(identifier)
    order, table, objects = recorded(identifier, data_set)
    ceiling = np.mean(np.median(reliability(table), axis=1))
    assert float(benchmark.ceiling) == pytest.approx(ceiling, abs=1e-6)
    assert benchmark.region == region
    assert benchmark.timebins == [(70, 170)]
    values, sklearn = [], PLSRegression(n_components=25, scale=False)
    for model in small_models():
        score = benchmark(model)
        features = features_of(model, order, f"hvm-{access}")
        r = np.mean(np.median(predictivity(features, table.mean(axis=1), objects, sklearn), axis=1))
        assert float(score.attrs["raw"]) == pytest.approx(r, abs=2e-3)
        assert score.attrs["unclamped"] == pytest.approx(np.sign(r) * r**2 / ceiling, abs=3e-3)
        assert 0 < score.attrs["error"] < 0.4
        assert score.attrs["ci"][0] <= float(score) <= score.attrs["ci"][1]
        values.append(float(score))
    assert values[0] > values[1] + 0.1  # the simulated neuroids see grey levels


@pytest.mark.slow(reason="ten splits of eleven time bins")
def test_temporal_pls(stand_ins):
    identifier = "MajajHong2015public.IT-temporal-pls"
    benchmark = load_benchmark(identifier)
    order, table, objects = recorded(identifier, "MajajHong2015.temporal.public")
    # bins of 20 ms from -20 ms on are divided into bins of 10 ms, from 0 to before the last 10 ms
    table = np.repeat(table, 2, axis=3)[..., 2:-1]
    bins = [(start, start + 10) for start in range(0, 110, 10)]
    assert benchmark.timebins == bins
    per_bin = np.median(reliability(table), axis=1).mean(axis=0)
    np.testing.assert_allclose(benchmark.ceiling.attrs["raw"].values, per_bin, atol=1e-6)
    assert float(benchmark.ceiling) == pytest.approx(per_bin.mean(), abs=1e-6)
    (model, _) = small_models()
    score = benchmark(model)
    features = features_of(model, order, "hvm-public")
    r = np.median(predictivity(features, table.mean(axis=1), objects, ConvergedPLS()), axis=1).mean(axis=0)
    np.testing.assert_allclose(score.attrs["raw"].attrs["raw"].values, r, atol=1e-6)
    expected = np.mean(np.sign(r) * r**2) / per_bin.mean()
    assert score.attrs["unclamped"] == pytest.approx(expected, abs=1e-6)
    assert 0 < score.attrs["error"] < 0.4
    assert score.attrs["ci"][0] <= float(score) <= score.attrs["ci"][1]
    assert expected > 0.05


@pytest.mark.parametrize(
    ("average", "presentations"), [pytest.param(True, 60, id="averaged"), pytest.param(False, 240, id="repetitions")]
)
def test_load_assembly(stand_ins, average, presentations):
    assembly = load_assembly(average_repetitions=average, region="V4")
    assert assembly.dims == ("presentation", "neuroid")
    assert assembly.shape == (presentations, 5)
    assert set(assembly["region"].values) == {"V4"}
    assert assembly.attrs["stimulus_set_identifier"] == "hvm-private"
    assert len(assembly.stimulus_set) == 60
    assert (int(assembly["time_bin_start"]), int(assembly["time_bin_end"])) == (70, 170)


def test_two_time_bins_where_one_is_meant(monkeypatch):
    two = stand_in("MajajHong2015.temporal.public").isel(time_bin=[0, 1])
    monkeypatch.setattr("brainscore_vision.benchmarks.majajhong2015.benchmark.load_dataset", lambda identifier: two)
    with pytest.raises(
        UserError, match=r"MajajHong2015\.temporal\.public \(.*\.nc\) has 2 time bins .*'time_bin_start' is"
    ):
        load_assembly(average_repetitions=True, region="IT", access="public")


@pytest.mark.parametrize("name", ["region", "object_name", "repetition"])
def test_a_coordinate_is_missing(monkeypatch, name):
    without = stand_in("MajajHong2015.public").drop_vars(name)
    without.encoding["source"] = "assy.nc"
    monkeypatch.setattr("brainscore_vision.benchmarks.majajhong2015.benchmark.load_dataset", lambda identifier: without)
    with pytest.raises(UserError, match=rf"MajajHong2015\.public \(assy\.nc\) has no coordinate '{name}'"):
        load_assembly(average_repetitions=True, region="IT", access="public")


def test_a_region_that_was_not_recorded_from(stand_ins):
    with pytest.raises(UserError, match=r"no neuroid whose coordinate 'region' is 'V1'"):
        load_assembly(average_repetitions=True, region="V1", access="public")


@pytest.mark.private_access
@pytest.mark.parametrize(
    ("identifier", "ceiling", "own"),
    [("MajajHong2015.V4-pls", 0.89503, 0.923713), ("MajajHong2015.IT-pls", 0.821841, 0.823433)],
)
def test_published_private(identifier, ceiling, own):
    StandardizedTests().ceilings_test(identifier, pytest.approx(ceiling, abs=0.001))
    StandardizedTests().self_regression_test(identifier, 8, pytest.approx(own, abs=0.001))
    NumberOfTrialsTests().repetitions_test(identifier)


@pytest.mark.network
@pytest.mark.parametrize(
    ("identifier", "own"), [("MajajHong2015public.V4-pls", 0.897956), ("MajajHong2015public.IT-pls", 0.816251)]
)
def test_published_public(identifier, own):
    StandardizedTests().self_regression_test(identifier, 8, pytest.approx(own, abs=0.001))


@pytest.mark.private_access
@pytest.mark.parametrize(
    ("identifier", "raw"), [("MajajHong2015.V4-pls", 0.490236), ("MajajHong2015.IT-pls", 0.584053)]
)
def test_published_score_of_alexnet(identifier, raw):
    features = load_file_from_s3("brain-score-tests", "tests/test_benchmarks/alexnet-majaj2015.private-features.12.nc")
    PrecomputedTests().run_test(identifier, features, pytest.approx(raw, abs=0.005))


@pytest.mark.parametrize(
    ("identifier", "stimulus_id", "degrees", "expected"),
    [
        pytest.param(identifier, stimulus_id, degrees, expected, marks=mark)
        for identifiers, stimulus_id, values, mark in (
            (STATIC[:2], "40a786ed8e13db10185ddfdbe07759d83a589e1c", (0.251345, 0.0054886), pytest.mark.private_access),
            (STATIC[2:], "8a72e2bfdb8c267b57232bf96f069374d5b21832", (0.25071, 0.0046), pytest.mark.network),
        )
        for identifier in identifiers
        for degrees, expected in zip((14, 6), values, strict=True)
    ],
)
def test_published_amount_of_gray(identifier, stimulus_id, degrees, expected):
    VisualDegreesTests().amount_gray_test(identifier, degrees, stimulus_id, pytest.approx(expected, abs=0.0001))


def test_published_tests_run(stand_ins, tmp_path):
    """The helpers that compare with published values, on the stand-in."""
    identifier, (model, _) = "MajajHong2015.V4-pls", small_models()
    benchmark = load_benchmark(identifier)
    StandardizedTests().ceilings_test(identifier, pytest.approx(float(benchmark.ceiling)))
    NumberOfTrialsTests().repetitions_test(identifier)
    raw = float(benchmark(model).attrs["raw"])
    model.start_recording("V4", [(70, 170)])
    write_netcdf(model.look_at(load_stimulus_set("hvm-private")), tmp_path / "features.nc")
    PrecomputedTests().run_test(identifier, tmp_path / "features.nc", pytest.approx(raw))
    with pytest.raises(AssertionError):
        PrecomputedTests().run_test(identifier, tmp_path / "features.nc", pytest.approx(raw + 0.01))
