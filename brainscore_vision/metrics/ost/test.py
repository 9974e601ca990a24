import sys

import numpy as np
import pytest
from scipy.stats import norm, spearmanr
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import ShuffleSplit

from brainscore_core.errors import UserError
from brainscore_core.metric_helpers.alignment import MetricInputError
from brainscore_core.supported_data_standards.brainio.assemblies import DataAssembly, NeuroidAssembly
from brainscore_vision import load_metric
from brainscore_vision.metrics.ost.metric import LogisticReadout, SoftmaxReadout, _resampled, solution_times

STARTS = np.array([70, 80, 90, 100, 120])


class Nearest:
    """Probabilities from distances to the objects' means: quick, without chance."""

    def fit(self, X, y):
        self.means = np.array([X[y == k].mean(axis=0) for k in range(y.max() + 1)])

    def predict_proba(self, X):
        weights = np.exp(-((X[:, None] - self.means) ** 2).mean(axis=2) / 2)
        return weights / weights.sum(axis=1, keepdims=True)


def _experiment(n=150, q=12, k=4, seed=0, *, shuffle=True, noise=1.0):
    """Images of different difficulty, whose object emerges over time; the brain is as slow as the model."""
    rng = np.random.default_rng(seed)
    truth = rng.integers(0, k, n)
    ease = rng.uniform(0.3, 2, n)
    growth = np.linspace(0, 1.2, len(STARTS))
    signal = rng.standard_normal((k, q))[truth] * ease[:, None]
    values = signal[:, :, None] * growth + noise * rng.standard_normal((n, q, 1)) * 0.3
    ids = np.array([f"s{i:03}" for i in range(n)])
    order = rng.permutation(n) if shuffle else np.arange(n)
    source = NeuroidAssembly(
        values[order],
        coords={
            "stimulus_id": ("presentation", ids[order]),
            "image_label": ("presentation", [f"object{t}" for t in truth[order]]),
            "neuroid_id": ("neuroid", np.arange(q)),
            "layer": ("neuroid", ["IT"] * q),
            "time_bin_start": ("time_bin", STARTS),
            "time_bin_end": ("time_bin", STARTS + 10),
        },
        dims=["presentation", "neuroid", "time_bin"],
    )
    times = 70 + 40 / ease + rng.standard_normal(n)
    times[:5] = np.nan
    target = DataAssembly(
        times,
        coords={"stimulus_id": ("presentation", ids), "i1": ("presentation", rng.uniform(0.8, 1.2, n))},
        dims=["presentation"],
    )
    return source, target


def _reference(source, target):
    """The published definition, one image after the other."""
    source = source.isel(presentation=np.argsort(source["stimulus_id"].values))
    labels, thresholds = source["image_label"].values, target["i1"].values
    objects = np.unique(labels)
    codes = np.searchsorted(objects, labels)
    scores = []
    for train, test in ShuffleSplit(10, train_size=0.9, random_state=1).split(labels):
        i1 = np.empty((len(STARTS), len(test)))
        for b in range(len(STARTS)):
            readout = Nearest()
            readout.fit(source.values[train, :, b], codes[train])
            p = readout.predict_proba(source.values[test, :, b])
            for i, own in enumerate(codes[test]):
                values = []
                for other in range(len(objects)):
                    inverse = [p[j, own] / (p[j, own] + p[j, other]) for j in np.flatnonzero(codes[test] == other)]
                    if other != own and inverse:
                        rate = p[i, other] / (p[i, other] + p[i, own])
                        values.append(np.clip(norm.ppf(1 - rate) - norm.ppf(np.mean(inverse)), -5, 5))
                i1[b, i] = np.mean(values)
        times = []
        for i, threshold in enumerate(thresholds[test]):
            reached = np.flatnonzero(i1[:, i] >= threshold)
            if not len(reached):
                times.append(np.nan)
            elif reached[0] == 0:
                times.append(float(STARTS[0]))
            else:
                last, now = int(np.argmax(i1[: reached[0], i])), reached[0]
                times.append(np.interp(threshold, i1[[last, now], i], STARTS[[last, now]]))
        both = ~(np.isnan(times) | np.isnan(target.values[test]))
        scores.append(spearmanr(np.array(times)[both], target.values[test][both])[0])
    return np.array(scores)


def test_equals_the_published_definition():
    source, target = _experiment()
    score = load_metric("ost", Nearest)(source, target)
    expected = _reference(source, target)
    np.testing.assert_allclose(score.attrs["raw"].values, expected, atol=1e-9)
    assert float(score) == pytest.approx(expected.mean(), abs=1e-9)
    assert score.attrs["split_error"] == pytest.approx(expected.std() / np.sqrt(10), abs=1e-9)
    assert score.attrs["scale"] == "correlation"
    assert float(score) > 0.5
    low, high = score.attrs["ci"]
    assert low < float(score) < high
    predictions, targets = score.attrs["predictions"], score.attrs["targets"]
    for split in range(10):
        pair = [side.values[side["split"].values == split] for side in (predictions, targets)]
        both = ~np.isnan(pair).any(axis=0)
        assert spearmanr(pair[0][both], pair[1][both])[0] == pytest.approx(expected[split], abs=1e-9)


def test_solution_times_by_hand():
    starts = np.array([70.0, 80, 95, 110])
    cases = {
        (0.1, 0.3, 0.6, 0.2): 90.0,
        (0.9, 0.9, 0.9, 0.9): 70.0,
        (0.1, 0.1, 0.1, 0.1): np.nan,
        (0.3, 0.2, 0.6, 0.9): 70 + 25 * 2 / 3,
        (0.3, 0.3, 0.6, 0.9): 70 + 25 * 2 / 3,
        (np.nan, 0.7, 0.6, 0.6): 80.0,
        (0.1, np.nan, 0.6, 0.6): 90.0,
        (0.1, 0.4, 0.3, 0.7): 90.0,
        (0.2, 0.5, 0.5, 0.5): 80.0,
        (np.nan, np.nan, np.nan, np.nan): np.nan,
    }
    times = solution_times(np.array(list(cases)).T, np.full(len(cases), 0.5), starts)
    np.testing.assert_allclose(times, list(cases.values()), atol=1e-12)
    assert np.isnan(solution_times(np.ones((4, 1)), np.array([np.nan]), starts)).all()


def test_resampled_correlations_equal_repeating_the_rows():
    rng = np.random.default_rng(0)
    predicted, measured = np.round(rng.standard_normal((2, 3, 30)), 1)
    predicted[rng.random((3, 30)) < 0.3] = np.nan
    drawn = rng.integers(0, 30, (20, 30))
    values = _resampled(predicted, measured)(drawn.astype(float), -1)
    for rows, value in zip(drawn, values, strict=True):
        own = []
        for x, y in zip(predicted[:, rows], measured[:, rows], strict=True):
            both = ~np.isnan(x)
            own.append(spearmanr(x[both], y[both])[0])
        assert value == pytest.approx(np.mean(own), abs=1e-12)


def test_order_of_images_and_time_bins_does_not_matter():
    source, target = _experiment()
    again = source.isel(presentation=slice(None, None, -1), time_bin=[3, 0, 4, 2, 1])
    assert float(load_metric("ost", Nearest)(again, target)) == float(load_metric("ost", Nearest)(source, target))


def test_logistic_readout_is_the_optimum_of_the_published_objective():
    rng = np.random.default_rng(0)
    X, y = 5 * rng.standard_normal((120, 6)) + 3, rng.integers(0, 3, 120)
    X[:, 2] = 1.0
    z = X - X.mean(axis=0)
    z /= np.where(X.std(axis=0) > 0, X.std(axis=0), 1)
    expected = LogisticRegression(C=1 / (0.463 * 120), tol=1e-10, max_iter=5000).fit(z, y).predict_proba(z)
    np.testing.assert_allclose(LogisticReadout().fit(X, y).predict_proba(X), expected, atol=1e-4)


def test_softmax_readout_tends_to_the_optimum_and_is_seeded():
    pytest.importorskip("torch")
    rng = np.random.default_rng(0)
    y = rng.integers(0, 3, 200)
    X = rng.standard_normal((3, 8))[y] * 2 + rng.standard_normal((200, 8))
    optimum = LogisticReadout().fit(X, y).predict_proba(X)
    trained = SoftmaxReadout(learning_rate=0.03, epochs=400, batch_size=200).fit(X, y).predict_proba(X)
    np.testing.assert_allclose(trained, optimum, atol=1e-2)
    short = [SoftmaxReadout(seed=seed, epochs=2).fit(X, y).predict_proba(X) for seed in (0, 0, 1)]
    np.testing.assert_array_equal(short[0], short[1])
    assert np.abs(short[0] - short[2]).max() > 1e-3


@pytest.mark.parametrize("readout", ["softmax", "logistic"])
def test_readouts_by_name(readout):
    if readout == "softmax":
        pytest.importorskip("torch")
    source, target = _experiment(n=80, k=2)
    scores = [load_metric("ost", readout, splits=3)(source, target) for _ in range(2)]
    assert scores[0].attrs["raw"].shape == (3,)
    np.testing.assert_array_equal(scores[0].attrs["raw"].values, scores[1].attrs["raw"].values)


def test_model_without_dynamics_is_undefined():
    source, target = _experiment(noise=0)
    source.values[:] = source.values[:, :, -1:]
    target = target.drop_vars(["i1"]).assign_coords(i1=("presentation", np.full(150, -5.0)))
    score = load_metric("ost", Nearest)(source, target)
    assert np.isnan(float(score))
    assert score.attrs["undefined"] == 10
    assert "solution times is undefined" in score.attrs["error_reason"]


def test_without_torch_the_remedy_is_named(monkeypatch):
    monkeypatch.setitem(sys.modules, "torch", None)
    with pytest.raises(UserError, match=r"needs PyTorch(.|\n)*readout='logistic'"):
        load_metric("ost")(*_experiment(n=40))


def test_what_has_no_solution_time_is_refused():
    source, target = _experiment()
    metric = load_metric("ost", Nearest)
    with pytest.raises(MetricInputError, match="no time bins"):
        metric(source.isel(time_bin=0, drop=True), target)
    with pytest.raises(MetricInputError, match="no coordinate 'i1'"):
        metric(source, target.drop_vars(["i1"]))
    with pytest.raises(MetricInputError, match="no coordinate 'truth'"):
        load_metric("ost", Nearest, label_coord="truth")(source, target)
    with pytest.raises(MetricInputError, match="only in the target"):
        metric(source.isel(presentation=slice(1, None)), target)
    with pytest.raises(MetricInputError, match="same 'image_label'"):
        metric(source.sel(image_label="object0"), target.sel(stimulus_id=source.sel(image_label="object0").stimulus_id))
    with pytest.raises(UserError, match="unknown readout 'svm'"):
        load_metric("ost", "svm")
    source.values[3, 2, 1] = np.nan
    with pytest.raises(MetricInputError, match="source holds NaN"):
        metric(source, target)
