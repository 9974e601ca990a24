import numpy as np
import pandas as pd
import pytest
from scipy.stats import pearsonr
from sklearn.cross_decomposition import PLSRegression
from sklearn.model_selection import ShuffleSplit, StratifiedShuffleSplit

from brainscore_core.errors import UserError
from brainscore_core.supported_data_standards.brainio.s3 import load_file_from_s3
from brainscore_vision import load_benchmark, load_dataset, load_stimulus_set
from brainscore_vision.benchmark_helpers.test_helper import (
    NumberOfTrialsTests,
    PrecomputedTests,
    StandardizedTests,
    VisualDegreesTests,
)
from brainscore_vision.benchmarks.freemanziemba2013.benchmarks import benchmark as module
from brainscore_vision.testing import small_models, stand_in

IDENTIFIERS = [
    "FreemanZiemba2013.V1-pls",
    "FreemanZiemba2013.V2-pls",
    "FreemanZiemba2013public.V1-pls",
    "FreemanZiemba2013public.V2-pls",
]


def recorded(identifier, region):
    """Mean rates of 50–200 ms, stimulus × repetition × neuroid, and the stimuli and their types."""
    assembly = load_dataset(identifier)
    values = assembly.transpose("presentation", "neuroid", "time_bin").values
    values = values[:, assembly["region"].values == region][:, :, 50:200].mean(axis=2)
    ids = list(assembly["stimulus_id"].values)
    repetitions = assembly["repetition"].values
    names = [name for name in assembly.coords if assembly[name].dims == ("presentation",)]
    names = [name for name in names if name not in ("presentation", "repetition")]
    table = pd.DataFrame({name: assembly[name].values for name in names})
    order = list(table.drop_duplicates().sort_values(names)["stimulus_id"])
    rows = [[ids.index(one, len(order) * repetition) for repetition in range(repetitions.max() + 1)] for one in order]
    return values[np.array(rows)], order, [assembly["texture_type"].values[ids.index(one)] for one in order]


def reliability(table):
    result = []
    for half, other in ShuffleSplit(n_splits=10, train_size=0.5, random_state=1).split(np.arange(table.shape[1])):
        first, second = table[:, half].mean(axis=1), table[:, other].mean(axis=1)
        r = np.array([pearsonr(one, two).statistic for one, two in zip(first.T, second.T, strict=True)])
        result.append(np.median(2 * r / (1 + r)))
    return np.mean(result)


def predictivity(features, rates, types):
    result = []
    splitter = StratifiedShuffleSplit(n_splits=10, train_size=0.9, random_state=1)
    for train, test in splitter.split(np.zeros(len(types)), types):
        fitted = PLSRegression(n_components=25, scale=False, max_iter=20_000, tol=1e-12)
        predicted = fitted.fit(features[train], rates[train]).predict(features[test])
        columns = zip(predicted.T, rates[test].T, strict=True)
        result.append(np.median([pearsonr(one, two).statistic for one, two in columns]))
    return np.mean(result)


@pytest.mark.sampled(3)
@pytest.mark.parametrize("identifier", IDENTIFIERS)
def test_pls(stand_ins, identifier):
    region, access = identifier.partition("-")[0].rpartition(".")[2], "public" if "public" in identifier else "private"
    benchmark = load_benchmark(identifier)
    table, order, types = recorded(f"FreemanZiemba2013.{access}", region)
    ceiling = reliability(table)
    assert float(benchmark.ceiling) == pytest.approx(ceiling, abs=1e-6)
    assert 0.3 < ceiling < 1
    assert (benchmark.region, benchmark.timebins) == (region, [(50, 200)])
    stimuli = load_stimulus_set(f"FreemanZiemba2013.aperture-{access}")
    for model in small_models(visual_degrees=4):
        score = benchmark(model)
        model.start_recording(region, [(50, 200)])
        recordings = model.look_at(stimuli).transpose("presentation", ...)
        ids = list(recordings["stimulus_id"].values)
        features = recordings.values.reshape(len(ids), -1)[[ids.index(one) for one in order]].astype(float)
        r = predictivity(features, table.mean(axis=1), types)
        assert float(score.attrs["raw"]) == pytest.approx(r, abs=2e-3)
        assert score.attrs["unclamped"] == pytest.approx(np.sign(r) * r**2 / ceiling, abs=3e-3)
        assert 0 < score.attrs["error"] < 0.3
        assert score.attrs["ci"][0] <= float(score) <= score.attrs["ci"][1]
        assert r > 0.05


def test_half_the_screen(stand_ins):
    """A model with a screen twice as large sees the stimuli at half of it, and the score is another."""
    benchmark = load_benchmark("FreemanZiemba2013public.V1-pls")
    near, far = (float(benchmark(small_models(degrees)[0]).attrs["raw"]) for degrees in (4, 8))
    assert near != far


@pytest.mark.parametrize("missing", [slice(0, 1), slice(60, 61), slice(199, 210)])
def test_a_time_bin_is_missing(monkeypatch, missing):
    assembly = stand_in("FreemanZiemba2013.public")
    kept = np.delete(np.arange(assembly.sizes["time_bin"]), missing)
    monkeypatch.setattr(module, "load_dataset", lambda identifier: assembly.isel(time_bin=kept))
    if missing.stop <= 50:  # before the window
        assert module.load_assembly(average_repetitions=True, region="V1").shape == (60, 4)
        return
    with pytest.raises(UserError, match=r"FreemanZiemba2013\.public \(.*\.nc\) has 149 time bins .*'time_bin_start'"):
        module.load_assembly(average_repetitions=True, region="V1")


def test_load_assembly(stand_ins):
    assembly = module.load_assembly(average_repetitions=False, region="V2")
    assert assembly.dims == ("presentation", "neuroid")
    assert assembly.shape == (240, 5)
    assert (int(assembly["time_bin_start"]), int(assembly["time_bin_end"])) == (50, 200)
    assert assembly.attrs["stimulus_set_identifier"] == "FreemanZiemba2013.aperture-private"


@pytest.mark.private_access
@pytest.mark.parametrize(("region", "ceiling", "own"), [("V1", 0.873345, 0.668491), ("V2", 0.824836, 0.553155)])
def test_published_private(region, ceiling, own):
    identifier = f"FreemanZiemba2013.{region}-pls"
    StandardizedTests().ceilings_test(identifier, pytest.approx(ceiling, abs=0.001))
    StandardizedTests().self_regression_test(identifier, 4, pytest.approx(own, abs=0.001))
    NumberOfTrialsTests().repetitions_test(identifier)


@pytest.mark.network
@pytest.mark.parametrize(("region", "own"), [("V1", 0.679954), ("V2", 0.577498)])
def test_published_public(region, own):
    identifier = f"FreemanZiemba2013public.{region}-pls"
    StandardizedTests().self_regression_test(identifier, 4, pytest.approx(own, abs=0.001))


@pytest.mark.private_access
@pytest.mark.parametrize(("region", "raw"), [("V1", 0.466222), ("V2", 0.459283)])
def test_published_score_of_alexnet(region, raw):
    key = "tests/test_benchmarks/alexnet-freemanziemba2013.aperture-private.nc"
    features = load_file_from_s3("brain-score-tests", key)
    PrecomputedTests().run_test(f"FreemanZiemba2013.{region}-pls", features, pytest.approx(raw, abs=0.005))


@pytest.mark.parametrize("region", ["V1", "V2"])
@pytest.mark.parametrize(
    ("prefix", "stimulus_id", "degrees", "expected"),
    [
        pytest.param(prefix, stimulus_id, degrees, expected, marks=mark)
        for prefix, stimulus_id, values, mark in (
            (
                "FreemanZiemba2013",
                "c3a633a13e736394f213ddf44bf124fe80cabe07",
                (0.31429, 0.22966),
                pytest.mark.private_access,
            ),
            (
                "FreemanZiemba2013public",
                "21041db1f26c142812a66277c2957fb3e2070916",
                (0.314561, 0.23113),
                pytest.mark.network,
            ),
        )
        for degrees, expected in zip((14, 6), values, strict=True)
    ],
)
def test_published_amount_of_gray(region, prefix, stimulus_id, degrees, expected):
    identifier = f"{prefix}.{region}-pls"
    VisualDegreesTests().amount_gray_test(identifier, degrees, stimulus_id, pytest.approx(expected, abs=0.0001))
