"""Correlation of object solution times."""

from collections.abc import Callable
from dataclasses import KW_ONLY, dataclass
from typing import Any, Protocol

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from brainscore_core.errors import UserError
from brainscore_core.metric_helpers.alignment import MetricInputError, as_table, coord_values, finite_values, match_rows
from brainscore_core.metric_helpers.transformations import CrossValidation
from brainscore_core.metric_helpers.uncertainty import (
    attach_influence,
    attach_interval,
    clipped,
    note_undefined,
    over_splits,
)
from brainscore_core.metrics import Metric, Score
from brainscore_core.numerics import influence_interval, jackknife_influence, spearman
from brainscore_core.numerics.discrimination import nanmean_rows, pairwise_probabilities, stimulus_dprimes
from brainscore_core.numerics.resampling import mean
from brainscore_core.supported_data_standards.brainio.assemblies import DataAssembly

WEIGHT_DECAY = 0.463
"""Published L2 penalty: this times half the sum of squared weights is added to the mean cross-entropy."""

Floats = NDArray[np.float64]
Codes = NDArray[np.intp]


class Readout(Protocol):
    """What :class:`~brainscore_vision.metrics.ost.OSTCorrelation` asks of a readout."""

    def fit(self, X: Floats, y: Codes) -> Any:
        """Fit labels `y` (numbers from 0 on) from `X`, stimuli × features."""

    def predict_proba(self, X: Floats) -> Floats:
        """Probabilities, stimuli × labels."""


@dataclass(eq=False, kw_only=True)
class SoftmaxReadout:
    """Softmax regression trained by Adam, as published.

    `seed`: of the initial weights (Xavier) and of the batches' order. `device`: where torch computes, such as
    ``'cuda'``.

    Notes
    -----
    Features are z-scored with the training stimuli's mean and standard deviation; constant ones are only centred.
    Training ends after `epochs`, before the optimum: see :class:`LogisticReadout` for that.
    """

    learning_rate: float = 1e-4
    epochs: int = 40
    batch_size: int = 64
    weight_decay: float = WEIGHT_DECAY
    seed: int = 0
    device: str = "cpu"

    def fit(self, X: Floats, y: Codes) -> "SoftmaxReadout":
        """Fit labels from features."""
        torch = _torch()
        self._mean, self._scale = _moments(X)
        features = torch.as_tensor((X - self._mean) / self._scale, dtype=torch.float32, device=self.device)
        labels = torch.as_tensor(np.asarray(y, dtype=np.int64), device=self.device)
        generator = torch.Generator().manual_seed(self.seed)
        p, k = X.shape[1], int(y.max()) + 1
        bound = (6 / (p + k)) ** 0.5
        initial = (2 * torch.rand((p, k), generator=generator) - 1) * bound
        weights = initial.to(self.device).requires_grad_()
        bias = torch.zeros(k, device=self.device, requires_grad=True)
        optimizer = torch.optim.Adam([weights, bias], lr=self.learning_rate)
        for _ in range(self.epochs):
            order = torch.randperm(len(labels), generator=generator).to(self.device)
            for batch in order.split(self.batch_size):
                loss = torch.nn.functional.cross_entropy(features[batch] @ weights + bias, labels[batch])
                loss = loss + self.weight_decay / 2 * weights.square().sum()
                optimizer.zero_grad()
                loss.backward()
                optimizer.step()
        self._weights = weights.detach().cpu().numpy().astype(np.float64)
        self._bias = bias.detach().cpu().numpy().astype(np.float64)
        return self

    def predict_proba(self, X: Floats) -> Floats:
        """Probabilities, stimuli × labels."""
        from scipy.special import softmax

        return np.asarray(softmax((X - self._mean) / self._scale @ self._weights + self._bias, axis=1))


class LogisticReadout:
    """The optimum that :class:`SoftmaxReadout` tends to: multinomial logistic regression by scikit-learn.

    `weight_decay`: penalty, as for :class:`SoftmaxReadout`.
    """

    def __init__(self, *, weight_decay: float = WEIGHT_DECAY) -> None:
        self.weight_decay = weight_decay

    def fit(self, X: Floats, y: Codes) -> "LogisticReadout":
        """Fit labels from features."""
        from sklearn.linear_model import LogisticRegression

        self._mean, self._scale = _moments(X)
        self._n_labels = int(y.max()) + 1
        model = LogisticRegression(C=1 / (self.weight_decay * len(X)), max_iter=1000, tol=1e-6)
        self._model = model.fit((X - self._mean) / self._scale, y)
        return self

    def predict_proba(self, X: Floats) -> Floats:
        """Probabilities, stimuli × labels; 0 for a label that was not fitted."""
        result = np.zeros((len(X), self._n_labels))
        result[:, self._model.classes_] = self._model.predict_proba((X - self._mean) / self._scale)
        return result


def make_readout(name: str, *, seed: int, device: str) -> Readout:
    """A readout by name, ``'softmax'`` or ``'logistic'``."""
    if name == "softmax":
        return SoftmaxReadout(seed=seed, device=device)
    if name == "logistic":
        return LogisticReadout()
    raise UserError(f"unknown readout {name!r}", remedy="pass 'softmax', 'logistic', or a function that makes one")


def _moments(X: Floats) -> tuple[Floats, Floats]:
    scale = X.std(axis=0)
    mean = X.mean(axis=0)
    return mean, np.where(scale > 1e-12 * np.abs(mean), scale, 1.0)


def _torch() -> Any:
    try:
        import torch
    except ImportError as error:
        raise UserError(
            "the published readout needs PyTorch",
            remedy="pip install 'brainscore[torch]', or use load_metric('ost', readout='logistic')",
        ) from error
    return torch


@dataclass(eq=False)
class OSTCorrelation(Metric):
    """Spearman correlation of a model's object solution times with measured ones [1]_.

    In each time bin a readout is trained to name the object; its probabilities for test images give each image's
    discriminability (I1: d′ against each other object, averaged). An image is solved when I1 reaches the threshold that
    the target holds for it; the time is interpolated linearly between this bin and the best one before.

    `readout`: ``'softmax'``: as published, 40 epochs of Adam, with PyTorch. ``'logistic'``: the optimum of the same
    objective, by scikit-learn. A callable makes an object with ``fit(X, y)`` and ``predict_proba(X)``. `label_coord`:
    coordinate of the source that names the object of an image. `threshold_coord`: coordinate of the target with the I1
    at which an image counts as solved. `splits`: number of random divisions into 90 % training and 10 % test images,
    not stratified. `random_state`: seed of the divisions. `seed`: seed of the readout.

    Notes
    -----
    Times are the starts of time bins. An image solved in the first bin has this bin's start; one that is never solved,
    and one whose measured time is NaN, is left out. A split in which fewer than two images are left, or all have the
    same time, is NaN and left out of the mean; ``attrs['undefined']`` counts them.

    ``attrs``: ``raw`` (split); ``split_error``: deviation over splits divided by √splits (ddof 0), as published;
    ``ci``: jackknife over images, readouts kept (Student's t); ``scale``: ``'correlation'``; ``predictions`` and
    ``targets``: the times of the test images of all splits. The published ceiling is 0.79.

    References
    ----------
    .. [1] Kar et al. (2019). Nature Neuroscience 22, 974–983. https://doi.org/10.1038/s41593-019-0392-5
    """

    scale = "correlation"
    compares = "times"

    readout: str | Callable[[], Readout] = "softmax"
    _: KW_ONLY
    label_coord: str = "image_label"
    threshold_coord: str = "i1"
    splits: int = 10
    random_state: int = 1
    seed: int = 0
    device: str = "cpu"

    def __post_init__(self) -> None:
        if not callable(self.readout):
            # an unknown name fails before anything is recorded
            make_readout(self.readout, seed=self.seed, device=self.device)
        self._cross_validation = CrossValidation(
            splits=self.splits, train_size=0.9, random_state=self.random_state, stratification_coord=None
        )

    def __call__(self, source: DataAssembly, target: DataAssembly) -> Score:
        """Compare the model's solution times with the measured ones.

        `source`: presentation × neuroid × time_bin; the model's responses, one presentation an image, with
        `label_coord`. `target`: solution times in ms, with `threshold_coord`. A MetricInputError if the two hold
        different images, the source has no time bins or a single object, or values are missing.
        """
        target = as_table(target, ("presentation",), role="target")
        if "time_bin" not in source.dims:
            raise MetricInputError(
                "the source has no time bins", remedy="record the model in several time bins: start_recording('IT', …)"
            )
        source = as_table(source, ("presentation", "neuroid", "time_bin"), role="source")
        source = source.isel(presentation=match_rows(source, target))
        labels = coord_values(source, self.label_coord, role="source")
        if pd.isna(labels).any():
            raise MetricInputError(f"coordinate {self.label_coord!r} has missing values", remedy="name every object")
        objects, truth = np.unique(labels, return_inverse=True)
        if len(objects) < 2:
            raise MetricInputError(
                f"all images show the same {self.label_coord!r}", remedy="use images of at least two objects"
            )
        thresholds = np.asarray(coord_values(target, self.threshold_coord, role="target"), dtype=np.float64)
        starts = coord_values(source, "time_bin_start", role="source", dim="time_bin").astype(np.float64)
        bins = [
            finite_values(source.isel(time_bin=i, drop=True), role="source").astype(np.float64)
            for i in np.argsort(starts, kind="stable")
        ]
        measured = np.asarray(target.values, dtype=np.float64)
        rows = self._cross_validation.split_rows(source, target)
        predicted = [
            solution_times(
                np.stack([self._discriminability(values, truth, split.train, split.test) for values in bins]),
                thresholds[split.test],
                np.sort(starts),
            )
            for split in rows
        ]
        tests = [split.test for split in rows]
        raw = np.array([_spearman(times, measured[test]) for times, test in zip(predicted, tests, strict=True)])
        return self._score(raw, predicted, tests, target)

    def _discriminability(
        self, values: Floats, truth: NDArray[np.intp], train: NDArray[np.intp], test: NDArray[np.intp]
    ) -> Floats:
        """I1 of the test images in one time bin."""
        if callable(self.readout):
            readout = self.readout()
        else:
            readout = make_readout(self.readout, seed=self.seed, device=self.device)
        fitted, codes = np.unique(truth[train], return_inverse=True)
        readout.fit(values[train], codes)
        probabilities = np.zeros((len(test), int(truth.max()) + 1))
        probabilities[:, fitted] = np.asarray(readout.predict_proba(values[test]))
        rates = pairwise_probabilities(probabilities, truth[test])
        return nanmean_rows(stimulus_dprimes(rates, truth[test]))

    def _score(
        self, raw: Floats, predicted: list[Floats], tests: list[NDArray[np.intp]], target: DataAssembly
    ) -> Score:
        value, spread = over_splits(raw)
        score = Score(value)
        pairs = np.full((2, len(tests), target.sizes["presentation"]), np.nan)
        for i, (times, test) in enumerate(zip(predicted, tests, strict=True)):
            pairs[0, i, test], pairs[1, i, test] = times, target.values[test]
        tested = np.flatnonzero(~np.isnan(pairs).any(axis=0).all(axis=0))
        # the percentiles of resamples, which repeat images, are too far apart where a split has few of them
        influence = jackknife_influence(np.arange(len(tested)), _resampled(*pairs[:, :, tested]))
        interval = clipped(influence_interval(value, influence, units="images")._replace(method="t"))
        rows = np.concatenate(tests)
        coords: dict[str, Any] = {
            "stimulus_id": ("presentation", target["stimulus_id"].values[rows]),
            "split": ("presentation", np.repeat(np.arange(len(tests)), [len(test) for test in tests])),
        }
        score.attrs = {
            Score.RAW_VALUES_KEY: Score(raw, coords={"split": np.arange(len(raw))}, dims=["split"]),
            "scale": self.scale,
            "split_error": spread,
            "predictions": DataAssembly(np.concatenate(predicted), coords=coords, dims=["presentation"]),
            "targets": DataAssembly(np.asarray(target.values)[rows], coords=coords, dims=["presentation"]),
        }
        # images that were not tested, or never solved, do nothing; other models may solve others
        whole = np.zeros(target.sizes["presentation"])
        whole[tested] = influence * (len(whole) / max(len(tested), 1))
        attach_influence(score, whole, units="stimuli", ids=target["stimulus_id"].values)
        attach_interval(
            score,
            interval,
            units="images",
            estimates="Spearman correlation over images (mean over splits); readouts are kept",
        )
        return note_undefined(score, raw, what="the correlation of solution times")


def solution_times(discriminability: Floats, thresholds: Floats, starts: Floats) -> Floats:
    """When each image is first discriminated as well as its threshold asks.

    `discriminability` is time bins × images, and NaN counts as not solved; a threshold of NaN is never reached;
    `starts` ascend. Times are linearly interpolated from the best bin before (the earliest of equally good ones); the
    bin's start where no bin before is defined; NaN where the threshold is never reached.

    Examples
    --------
    >>> solution_times(np.array([[0.1, 0.9], [0.3, 0.9], [0.6, 0.9]]), np.array([0.5, 0.5]), np.array([70.0, 80, 95]))
    array([90., 70.])
    """
    solved = np.full(len(thresholds), np.nan)
    best, when = np.full(len(thresholds), -np.inf), np.full(len(thresholds), np.nan)
    for values, start in zip(discriminability, starts, strict=True):
        now = np.isnan(solved) & (values >= thresholds)
        solved[now] = start
        rising = now & ~np.isnan(when)
        share = (thresholds[rising] - best[rising]) / (values[rising] - best[rising])
        solved[rising] = when[rising] + share * (start - when[rising])
        better = values > best
        best, when = np.where(better, values, best), np.where(better, start, when)
    return solved


def _spearman(x: Floats, y: Floats) -> float:
    both = ~(np.isnan(x) | np.isnan(y))
    return float(spearman(x[both], y[both])) if both.sum() > 1 else np.nan


def _resampled(predicted: Floats, measured: Floats) -> Callable[[Floats, int], Floats]:
    """Mean over splits of the correlation of drawn images, as a statistic of their numbers.

    Both arguments are splits × images, NaN where an image is not in a split.
    """
    there = ~(np.isnan(predicted) | np.isnan(measured))

    def statistic(numbers: Floats, axis: int) -> Floats:
        drawn = numbers.astype(np.intp)
        resamples, n = len(drawn), there.shape[1]
        cells = drawn + n * np.arange(resamples)[:, None]
        times = np.bincount(cells.ravel(), minlength=resamples * n).reshape(resamples, n).astype(np.float64)
        splits = zip(predicted, measured, there, strict=True)
        return mean(np.array([_repeated_spearman(x[rows], y[rows], times[:, rows]) for x, y, rows in splits]), 0)

    return statistic


def _repeated_spearman(x: Floats, y: Floats, times: Floats) -> Floats:
    """Spearman correlation with each pair repeated as often as a row of `times` says; one a row."""
    if len(x) < 2:
        return np.full(len(times), np.nan)
    total = times.sum(axis=1, keepdims=True)
    a, b = [ranks - (total + 1) / 2 for ranks in (_repeated_ranks(side, times) for side in (x, y))]
    spread = np.sqrt((times * a * a).sum(axis=1) * (times * b * b).sum(axis=1))
    return np.asarray((times * a * b).sum(axis=1) / np.where(spread > 0, spread, np.nan))


def _repeated_ranks(x: Floats, times: Floats) -> Floats:
    """Mean ranks of values that are repeated."""
    _, groups = np.unique(x, return_inverse=True)
    order = np.argsort(groups, kind="stable")
    sizes = np.add.reduceat(times[:, order], np.flatnonzero(np.diff(groups[order], prepend=-1)), axis=1)
    return np.asarray((sizes.cumsum(axis=1) - sizes + (sizes + 1) / 2)[:, groups])
