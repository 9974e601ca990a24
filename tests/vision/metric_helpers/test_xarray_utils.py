import numpy as np
import pytest
import scipy.stats
from sklearn.linear_model import LinearRegression

from brainscore_core.metric_helpers.alignment import MetricInputError, as_table, match_rows
from brainscore_core.metric_helpers.xarray_utils import XarrayCorrelation, XarrayRegression
from brainscore_core.numerics import PLS, Ridge, pearson
from brainscore_core.supported_data_standards.brainio.assemblies import NeuroidAssembly


def _assembly(values, *, prefix="n", order=None):
    order = np.arange(len(values)) if order is None else order
    return NeuroidAssembly(
        np.asarray(values)[order],
        coords={
            "stimulus_id": ("presentation", [f"s{i:03}" for i in order]),
            "neuroid_id": ("neuroid", [f"{prefix}{i}" for i in range(np.shape(values)[1])]),
            "region": ("neuroid", ["IT"] * np.shape(values)[1]),
        },
        dims=["presentation", "neuroid"],
    )


@pytest.fixture
def data():
    rng = np.random.default_rng(0)
    X = rng.standard_normal((50, 8))
    return X, X[:, :3] + 0.1 * rng.standard_normal((50, 3))


@pytest.mark.parametrize("regression", [LinearRegression(), Ridge(), PLS(4)])
def test_fit_matches_by_stimulus(data, regression):
    X, Y = data
    order = np.random.default_rng(1).permutation(50)
    straight = XarrayRegression(regression).fit(_assembly(X, prefix="m"), _assembly(Y)).predict(_assembly(X))
    shuffled = (
        XarrayRegression(regression).fit(_assembly(X, prefix="m", order=order), _assembly(Y)).predict(_assembly(X))
    )
    np.testing.assert_allclose(shuffled.values, straight.values, atol=1e-10)
    assert straight["neuroid_id"].values.tolist() == ["n0", "n1", "n2"]
    assert straight["region"].values.tolist() == ["IT"] * 3
    assert straight["stimulus_id"].values.tolist() == [f"s{i:03}" for i in range(50)]


@pytest.mark.parametrize("regression", [LinearRegression(), Ridge(), PLS(4)])
def test_cross_predictions_equal_fit_and_predict(data, regression):
    X, Y = data
    order = np.random.default_rng(1).permutation(50)
    source, target = _assembly(X, prefix="m", order=order), _assembly(Y)
    splits = [(np.arange(30), np.arange(30, 50)), (np.arange(10, 50), np.arange(9, -1, -1))]
    adapter = XarrayRegression(regression)
    for (train, test), predicted in zip(splits, adapter.cross_predict(source, target, splits), strict=True):
        adapter.fit(_assembly(X).isel(presentation=train), target.isel(presentation=train))
        expected = adapter.predict(_assembly(X).isel(presentation=test))
        np.testing.assert_allclose(predicted.values, expected.values, atol=1e-10)
        np.testing.assert_array_equal(predicted["stimulus_id"].values, target["stimulus_id"].values[test])


def test_regression_refuses_what_it_cannot_use(data):
    X, Y = data
    adapter = XarrayRegression(Ridge())
    with pytest.raises(MetricInputError, match="is not fitted yet"):
        adapter.predict(_assembly(X))
    bad = X.copy()
    bad[4, 2] = np.nan
    with pytest.raises(MetricInputError, match=r"neuroid 'm2'.*stimulus 's004'"):
        adapter.fit(_assembly(bad, prefix="m"), _assembly(Y))
    with pytest.raises(MetricInputError, match=r"25 components(.|\n)*n_components"):
        XarrayRegression(PLS(25)).fit(_assembly(X), _assembly(Y))
    with pytest.raises(MetricInputError, match="empty"):
        adapter.fit(_assembly(X).isel(neuroid=[]), _assembly(Y))
    with pytest.raises(MetricInputError, match="numbers are needed"):
        adapter.fit(_assembly(X.astype(str)), _assembly(Y))


@pytest.mark.parametrize(
    "correlation", [XarrayCorrelation(scipy.stats.pearsonr), XarrayCorrelation(pearson, columnwise=True)]
)
def test_correlation_of_each_neuroid(data, correlation):
    Y = data[1]
    noisy = Y + np.random.default_rng(0).standard_normal(Y.shape)
    order = np.random.default_rng(1).permutation(50)
    score = correlation(_assembly(noisy, order=order), _assembly(Y))
    expected = [scipy.stats.pearsonr(a, b)[0] for a, b in zip(noisy.T, Y.T, strict=True)]
    np.testing.assert_allclose(score.values, expected, atol=1e-12)
    assert score["neuroid_id"].values.tolist() == ["n0", "n1", "n2"]
    with pytest.raises(MetricInputError, match="different neuroids"):
        correlation(_assembly(noisy, prefix="x"), _assembly(Y))
    with pytest.raises(MetricInputError, match="prediction and target hold different values"):
        correlation(_assembly(noisy[1:]), _assembly(Y))


def test_dimensions_of_length_1_are_dropped_and_longer_ones_refused(data):
    timed = NeuroidAssembly(
        data[1][:, :, None],
        coords={
            "stimulus_id": ("presentation", [f"s{i:03}" for i in range(50)]),
            "neuroid_id": ("neuroid", [0, 1, 2]),
            "time_bin_start": ("time_bin", [70]),
            "time_bin_end": ("time_bin", [170]),
        },
        dims=["presentation", "neuroid", "time_bin"],
    )
    dims = ("presentation", "neuroid")
    assert as_table(timed, dims, role="target").dims == dims
    assert as_table(timed.transpose("time_bin", "neuroid", "presentation"), dims, role="target").dims == dims
    twice = timed.isel(time_bin=[0, 0])
    with pytest.raises(MetricInputError, match=r"time_bin: 2(.|\n)*isel\(time_bin=0\)"):
        as_table(twice, dims, role="target")
    with pytest.raises(MetricInputError, match="presentation × neuroid are needed"):
        as_table(timed.isel(neuroid=0), dims, role="target")


def test_ids_of_different_types_do_not_match(data):
    numbers = _assembly(data[0])
    numbers = numbers.assign_coords(stimulus_id=("presentation", np.arange(50)))
    with pytest.raises(MetricInputError, match=r"50 only in the target \('s000'.*50 only in the source \(0, 1, 2, …"):
        match_rows(numbers, _assembly(data[0]))
