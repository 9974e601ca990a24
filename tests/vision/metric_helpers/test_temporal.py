import numpy as np
import pytest
from sklearn.linear_model import Ridge as SklearnRidge

from brainscore_core.metric_helpers.alignment import MetricInputError
from brainscore_core.metric_helpers.xarray_utils import XarrayCorrelation, XarrayRegression
from brainscore_core.metrics import Score
from brainscore_core.numerics import Ridge
from brainscore_core.supported_data_standards.brainio.assemblies import NeuroidAssembly
from brainscore_vision.metric_helpers.temporal import PerTime, SpanTimeRegression, matching_time_bins


def _assembly(values, starts=None):
    n, q = values.shape[:2]
    coords = {"stimulus_id": ("presentation", np.arange(n)), "neuroid_id": ("neuroid", np.arange(q))}
    if starts is not None:
        coords |= {"time_bin_start": ("time_bin", starts), "time_bin_end": ("time_bin", np.asarray(starts) + 10)}
    return NeuroidAssembly(values, coords=coords, dims=["presentation", "neuroid", "time_bin"])


RNG = np.random.default_rng(0)
X, Y = RNG.standard_normal((30, 8, 4)), RNG.standard_normal((30, 5, 4))


def test_per_time_applies_bin_by_bin():
    one, other = _assembly(Y, [0, 10, 20, 30]), _assembly((Y + 1)[..., ::-1], [30, 20, 10, 0])
    correlation = XarrayCorrelation(lambda a, b: np.corrcoef(a, b)[0, 1])
    result = PerTime(correlation)(one, other)
    assert result.dims == ("neuroid", "time_bin")
    np.testing.assert_allclose(result.values, 1)
    assert result["time_bin_start"].values.tolist() == [30, 20, 10, 0]
    values = PerTime(lambda part: Score(part.values.sum()))(one)
    np.testing.assert_allclose(values.values, Y.sum(axis=(0, 1)))


def test_span_time_regression_wraps_any_regression():
    for inner in (SklearnRidge(), Ridge(), XarrayRegression(SklearnRidge())):
        fitted = SpanTimeRegression(inner).fit(_assembly(X), _assembly(Y))
        pooled = [np.moveaxis(values, -1, 0).reshape(-1, values.shape[1]) for values in (X, Y)]
        expected = SklearnRidge().fit(*pooled)
        predicted = fitted.predict(_assembly(X[:7, :, :2], [0, 10]))
        assert predicted.dims == ("presentation", "neuroid", "time_bin")
        for i in range(2):
            np.testing.assert_allclose(predicted.values[..., i], expected.predict(X[:7, :, i]), atol=1e-9)
        splits = [(np.arange(20), np.arange(25, 30)), (np.arange(10, 30), np.array([3, 1]))]
        for (train, test), found in zip(
            splits, SpanTimeRegression(inner).cross_predict(_assembly(X), _assembly(Y), splits), strict=True
        ):
            pooled = [np.concatenate([values[train, :, i] for i in range(4)]) for values in (X, Y)]
            expected = SklearnRidge().fit(*pooled)
            np.testing.assert_array_equal(found["stimulus_id"].values, test)
            for i in range(4):
                np.testing.assert_allclose(found.values[..., i], expected.predict(X[test, :, i]), atol=1e-9)


@pytest.mark.parametrize(
    ("source", "target", "message"),
    [
        (_assembly(X[..., :3]), _assembly(Y), "3 time bins but the target 4"),
        (_assembly(X, [0, 10, 20, 30]), _assembly(Y, [0, 10, 20, 40]), "different time bins, such as '30–40', '40–50'"),
        (_assembly(X, [0, 0, 20, 30]), _assembly(Y, [0, 10, 20, 30]), "time bins of the source occur more than once"),
        (_assembly(X).isel(time_bin=0, drop=True), _assembly(Y), "source has no dimension 'time_bin'"),
    ],
)
def test_other_time_bins_are_named(source, target, message):
    with pytest.raises(MetricInputError, match=message) as caught:
        matching_time_bins(source, target)
    assert caught.value.remedy


def test_missing_values_are_named():
    broken = Y.copy()
    broken[3, 2, 1] = np.nan
    with pytest.raises(MetricInputError, match="target holds NaN"):
        SpanTimeRegression(Ridge()).fit(_assembly(X), _assembly(broken))
    with pytest.raises(MetricInputError, match="is not fitted yet"):
        SpanTimeRegression(Ridge()).predict(_assembly(X))
