import sys

import numpy as np
import pytest

from brainscore_core.errors import UserError
from brainscore_core.metric_helpers.alignment import MetricInputError
from brainscore_core.supported_data_standards.brainio.assemblies import NeuroidAssembly
from brainscore_vision import load_metric
from brainscore_vision.metrics.mask_regression.regression import MaskRegression


@pytest.fixture(autouse=True)
def _torch(request):
    if "without_torch" not in request.node.name:
        pytest.importorskip("torch")


def _layer(n=300, side=3, channels=4, q=5, *, seed=0, shuffle=True):
    """Responses that are a mask times channel weights, with a little noise."""
    rng = np.random.default_rng(seed)
    maps = rng.standard_normal((n, side, side, channels)) + 2
    masks, weights = rng.standard_normal((side, side, q)) ** 3, rng.standard_normal((channels, q))
    responses = np.einsum("nxyc,xyq,cq->nq", maps, masks, weights)
    responses = 5 + responses / responses.std(axis=0) + 0.1 * rng.standard_normal((n, q))
    x, y, c = (part.ravel() for part in np.meshgrid(*map(np.arange, (side, side, channels)), indexing="ij"))
    order = rng.permutation(len(x)) if shuffle else np.arange(len(x))
    ids = [f"s{i:03}" for i in range(n)]
    source = NeuroidAssembly(
        maps.reshape(n, -1)[:, order],
        coords={
            "stimulus_id": ("presentation", ids),
            "neuroid_id": ("neuroid", np.arange(len(x))),
            "channel": ("neuroid", c[order]),
            "channel_x": ("neuroid", x[order]),
            "channel_y": ("neuroid", y[order]),
        },
        dims=["presentation", "neuroid"],
    )
    target = NeuroidAssembly(
        responses,
        coords={
            "stimulus_id": ("presentation", ids),
            "neuroid_id": ("neuroid", np.arange(q)),
            "region": ("neuroid", ["V1"] * q),
        },
        dims=["presentation", "neuroid"],
    )
    return source, target


def _metric(**regression_kwargs):
    return load_metric(
        "mask_regression",
        crossvalidation_kwargs={"splits": 2, "stratification_coord": None},
        regression_kwargs=regression_kwargs,
    )


def test_factorised_responses_are_recovered():
    source, target = _layer()
    score = _metric(ls=1e-3, ld=1e-3, tol=0)(source, target)
    assert float(score) > 0.97
    assert score.attrs["raw"].dims == ("split", "neuroid")
    assert score.attrs["scale"] == "correlation"
    low, high = score.attrs["ci"]
    assert low <= float(score) <= high
    assert float(_metric()(source, target)) > 0.7  # the published penalties shrink, and still predict


@pytest.mark.parametrize(
    ("ls", "ld"), [(0.1, 0.1), pytest.param(0.4, 0.1, marks=pytest.mark.slow(reason="2500 epochs"))]
)
def test_optimum_of_a_single_feature(ls, ld):
    """One position, one channel: min over u v of mean (y − u v x)² + (λ_s u² + λ_d v²)/2 shrinks by √(λ_s λ_d)/2."""
    rng = np.random.default_rng(0)
    x = rng.standard_normal((400, 1))
    y = 3 * x + rng.standard_normal((400, 1)) + 7
    regression = MaskRegression(ls=ls, ld=ld, tol=0, batch_size=400, max_epochs=2500, decay_rate=2000)
    fitted = regression.fit(x, y)
    a, b = (x - x.mean()) / x.std(), (y - y.mean()) / y.std()
    slope = (np.mean(a * b) - np.sqrt(ls * ld) / 2) * y.std() / x.std()
    expected = y.mean() + slope * (x - x.mean())
    np.testing.assert_allclose(fitted.predict(x), expected, atol=2e-3)
    assert abs(fitted.spatial[0, 0] * fitted.depth[0, 0]) == pytest.approx(slope, abs=1e-3)


def test_prediction_is_mask_times_channels():
    source, target = _layer(n=60, shuffle=False)
    regression = MaskRegression(max_epochs=2)
    regression.arrange(np.arange(36).reshape(9, 4))
    fitted = regression.fit(source.values, target.values)
    weights = np.einsum("sq,cq->scq", fitted.spatial, fitted.depth).reshape(36, 5)
    np.testing.assert_allclose(fitted.predict(source.values), source.values @ weights + fitted.offset, atol=1e-10)


def test_order_of_features_and_seed():
    plain, target = _layer(shuffle=False)
    shuffled, _ = _layer()
    shuffled = shuffled.isel(neuroid=np.random.default_rng(9).permutation(36))
    values = {}
    for name, source in (("plain", plain), ("again", plain)):
        values[name] = float(_metric(max_epochs=3)(source, target))
    assert values["plain"] == values["again"] != float(_metric(max_epochs=3, seed=1)(plain, target))
    order = np.lexsort([shuffled[name].values for name in ("channel", "channel_y", "channel_x")])
    sorted_again = shuffled.isel(neuroid=order)
    one, other = (float(_metric(max_epochs=3)(source, target)) for source in (shuffled, sorted_again))
    assert one == pytest.approx(other, abs=1e-4)


def test_constant_neuroids_are_undefined():
    source, target = _layer()
    target.values[:, 1] = 2.0
    score = _metric(max_epochs=2)(source, target)
    assert score.attrs["undefined"] == 2
    assert np.isfinite(float(score))


def test_what_is_no_feature_map_is_refused():
    source, target = _layer()
    with pytest.raises(MetricInputError, match="no coordinate 'channel'"):
        _metric()(source.drop_vars(["channel"]), target)
    with pytest.raises(MetricInputError, match=r"35 features, but 3 × 3 positions and 4 channels"):
        _metric()(source.isel(neuroid=slice(1, None)), target)
    with pytest.raises(UserError, match="batch_size is 0"):
        _metric(batch_size=0)
    source.values[0, 0] = np.nan
    with pytest.raises(MetricInputError, match="source holds NaN"):
        _metric()(source, target)


def test_without_torch_the_remedy_is_named(monkeypatch):
    monkeypatch.setitem(sys.modules, "torch", None)
    with pytest.raises(UserError, match=r"needs PyTorch(.|\n)*brainscore\[torch\]"):
        _metric()(*_layer(n=40))
