"""Similarity of the distributions of a property."""

import math
import warnings
from collections.abc import Callable
from dataclasses import KW_ONLY, dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from brainscore_core.metric_helpers.alignment import MetricInputError, listed
from brainscore_core.metric_helpers.uncertainty import attach_influence, attach_interval, clipped
from brainscore_core.metrics import Ceiling, Metric, Score, Uncertainty, attach_uncertainty
from brainscore_core.numerics import Interval, influence_interval
from brainscore_core.numerics.resampling import SMALL
from brainscore_core.supported_data_standards.brainio.assemblies import DataAssembly

MAX_UNDEFINED = 0.1
"""Share of empty samples above which the published score is 0."""

_RECORDINGS, _SAMPLES = 200, 100
"""How many recordings, and samples of each, tell how a ceiling varies."""

Similarity = Callable[[Any, Any], Any]


def ks_similarity(p: ArrayLike, q: ArrayLike) -> Any:
    """One minus the Kolmogorov–Smirnov distance of two histograms, relative to the largest that `q` allows.

    1 − KS / KS_max, in [0, 1], with KS = max |P − Q| over cumulative sums and KS_max = max(1 − q₁, 1 − q_last), which
    all mass in the first or in the last bin reaches. `p` is … × bins, and histograms sum to 1. NaN with a single bin.

    Examples
    --------
    >>> float(round(ks_similarity([0.2, 0.3, 0.5], [0.1, 0.1, 0.8]), 4))  # 1 − 0.3 / 0.9
    0.6667
    """
    ours, theirs = np.asarray(p, dtype=np.float64), np.asarray(q, dtype=np.float64)
    distance = np.abs(ours.cumsum(axis=-1) - theirs.cumsum(axis=-1)).max(axis=-1)
    largest = max(1 - theirs[0], 1 - theirs[-1])
    result = 1 - distance / largest if largest > 0 else distance * math.nan
    return result if np.ndim(result) else float(result)


@dataclass(eq=False)
class BootstrapDistributionSimilarity(Metric):
    """How similarly a neuronal property is distributed in a model and in recordings [1]_.

    As many neuroids as were recorded are drawn from the model with replacement, `ns` times; each sample's histogram is
    compared with that of the recordings. The score is the mean over samples.

    Parameters
    ----------
    property_name : str
        Value of the coordinate ``neuronal_property``. The recordings' ``attrs['<property_name>_bins']`` hold the edges
        of the histogram's bins.
    similarity_func : callable
        ``similarity_func(model_histogram, data_histogram)``, histograms summing to 1.
    ns : int
        Number of samples.
    seed : int
        Seed of NumPy's default generator.

    Notes
    -----
    Values outside of the bins count in the nearest one. NaN stands for neuroids to which the property does not apply:
    they are drawn with the others, then left out of the histogram. Where more than 10 % of the samples are empty, the
    score is 0, as published, with a warning; ``attrs['undefined']`` counts them.

    ``attrs``: ``raw`` (sample); ``error``: standard deviation over samples (ddof 0), as published: how much a sample of
    the recordings' size varies; ``ci`` of the mean over samples, from each model neuroid's influence on it (Student's
    t) [2]_, with at least 20 neuroids on both sides; ``scale``: ``'similarity'``. The recordings are held fixed.

    References
    ----------
    .. [1] Marques, Schrimpf & DiCarlo (2021). https://doi.org/10.1101/2021.03.01.433495
    .. [2] Efron (2014). Journal of the American Statistical Association 109, 991–1007.
       https://doi.org/10.1080/01621459.2013.823775

    Examples
    --------
    >>> from brainscore_core.supported_data_standards.brainio.assemblies import PropertyAssembly
    >>> def sizes(values):
    ...     return PropertyAssembly(
    ...         values.reshape(-1, 1),
    ...         coords={"neuroid_id": ("neuroid", np.arange(len(values))),
    ...                 "neuronal_property": ("neuronal_property", ["size"])},
    ...         dims=["neuroid", "neuronal_property"])
    >>> rng = np.random.default_rng(0)
    >>> recorded, model = sizes(rng.uniform(0, 2, 80)), sizes(rng.uniform(1, 3, 500))
    >>> recorded.attrs["size_bins"] = np.linspace(0, 3, 13)
    >>> score = BootstrapDistributionSimilarity("size")(model, recorded)
    >>> float(score.round(1)), round(score.attrs["error"], 2)
    (0.4, 0.04)
    """

    scale = "similarity"
    compares = "properties"

    property_name: str
    similarity_func: Similarity = ks_similarity
    ns: int = 1000
    _: KW_ONLY
    seed: int = 0

    def __post_init__(self) -> None:
        if self.ns < 1:
            raise MetricInputError(f"ns is {self.ns}", remedy="draw at least one sample, such as ns=1000")

    def __call__(self, source: DataAssembly, target: DataAssembly) -> Score:
        """Compare the model's property with the recordings'.

        Parameters
        ----------
        source, target : PropertyAssembly, neuroid × neuronal_property
            The model's and the recordings'; the latter with the bins.

        Returns
        -------
        Score
            In [0, 1].

        Raises
        ------
        MetricInputError
            If the property or its bins are missing, or no neuroid was recorded.
        """
        edges = self._edges(target)
        model = _property_values(source, self.property_name, role="source")
        data = _property_values(target, self.property_name, role="target")
        bins = len(edges) - 1
        codes = _bin_codes(model, edges)  # NaN is the bin after the last
        measured = np.bincount(_bin_codes(data, edges), minlength=bins + 1)[:bins]
        if not measured.any():
            raise MetricInputError(
                f"the target has no value of {self.property_name!r}", remedy="pass the recordings' property"
            )
        if not len(codes):
            raise MetricInputError("the source has no neuroids", remedy="record the model before the comparison")
        counts = self._counts(codes, bins, size=len(data))
        values = self._similarities(counts[:, :bins], measured / measured.sum())
        undefined = int(np.isnan(values).sum())
        raw = Score(values, coords={"sample": ("sample", np.arange(self.ns))}, dims=["sample"])
        if undefined > MAX_UNDEFINED * self.ns:
            reason = f"{undefined} of {self.ns} samples of the model's neuroids have no {self.property_name!r}"
            warnings.warn(f"{reason}; the score is 0", stacklevel=2)
            score = attach_uncertainty(Score(0.0), reason=reason)
        else:
            score = Score(float(np.nanmean(values)))
            units = min(int(measured.sum()), int((codes < bins).sum()))
            influence = _influence(counts, values)[codes]
            attach_influence(score, influence, units="neuroids", paired=False)  # another model has others
            interval = influence_interval(float(score), influence)
            if units < SMALL:
                interval = _none(interval, f"{units} neuroids: at least {SMALL} are needed to tell how much they vary")
            attach_interval(
                score,
                clipped(interval, 0.0),
                units="model neuroids for these recordings",
                estimates=f"mean similarity of samples of {len(data)} model neuroids",
                error=float(np.nanstd(values)),
            )
        score.attrs |= {Score.RAW_VALUES_KEY: raw, "scale": self.scale, "undefined": undefined}
        return score

    def spread_of_ceiling(self, assembly: DataAssembly) -> float:
        """Standard error of the similarity of recordings with samples of themselves, if they were made anew.

        Recordings are drawn from the recorded ones, and samples from these; what the latter add is subtracted.
        """
        edges = self._edges(assembly)
        codes = _bin_codes(_property_values(assembly, self.property_name, role="assembly"), edges)
        n, bins = len(codes), len(edges) - 1
        rng = np.random.default_rng(self.seed)
        means, variances = [], []
        for recorded in rng.multinomial(n, np.bincount(codes, minlength=bins + 1) / n, _RECORDINGS):
            if not recorded[:bins].any():
                continue
            samples = rng.multinomial(n, recorded / n, _SAMPLES)
            values = self._similarities(samples[:, :bins], recorded[:bins] / recorded[:bins].sum())
            means.append(np.nanmean(values))
            variances.append(np.nanvar(values, ddof=1) / _SAMPLES)
        return float(np.sqrt(max(np.var(means, ddof=1) - np.mean(variances), 0.0)))

    def _counts(self, codes: NDArray[np.intp], bins: int, *, size: int) -> NDArray[np.intp]:
        """How many neuroids of each sample are in each bin; those without the property after the last."""
        drawn = codes[np.random.default_rng(self.seed).integers(0, len(codes), (self.ns, size))]
        cells = drawn + (bins + 1) * np.arange(self.ns)[:, None]
        return np.bincount(cells.ravel(), minlength=self.ns * (bins + 1)).reshape(self.ns, -1)

    def _similarities(self, counts: NDArray[np.intp], data: NDArray[np.float64]) -> NDArray[np.float64]:
        """Similarity of each sample; NaN where a sample is empty."""
        filled = counts.any(axis=1)
        histograms = counts[filled] / counts[filled].sum(axis=1, keepdims=True)
        values = np.full(len(counts), np.nan)
        if self.similarity_func is ks_similarity:
            values[filled] = ks_similarity(histograms, data)
        else:
            values[filled] = [float(self.similarity_func(histogram, data)) for histogram in histograms]
        return values

    def _edges(self, target: DataAssembly) -> NDArray[np.float64]:
        key = f"{self.property_name}_bins"
        if key not in target.attrs:
            raise MetricInputError(
                f"the target has no attrs[{key!r}]: the bins of {self.property_name!r} are unknown",
                remedy=f"add their edges, such as target.attrs[{key!r}] = np.linspace(low, high, 13)",
            )
        edges = np.asarray(target.attrs[key], dtype=np.float64).ravel()
        if len(edges) < 3 or not (np.diff(edges) > 0).all():
            raise MetricInputError(
                f"attrs[{key!r}] are {listed(edges)}; the edges of at least two bins are needed, in ascending order",
                remedy="sort them, or add some",
            )
        return edges


class NeuronalPropertyCeiling(Ceiling):
    """How similar the recordings are to samples of themselves, by the same metric as models [1]_.

    Parameters
    ----------
    similarity_metric : Metric or str
        Such as ``load_metric('ks_similarity', property_name='surround_suppression_index')``; or the property's name,
        for this metric.

    Notes
    -----
    ``attrs`` are those of the metric (``raw``, ``error``), and ``meaning``: ``'upper bound'``. ``ci`` tells how the
    ceiling of as many other recorded neuroids would vary (bootstrap of the recordings, Student's t); it is far narrower
    than ``error``, which tells how samples vary. With another metric than ``ks_similarity`` ``ci`` is that metric's.

    References
    ----------
    .. [1] Marques, Schrimpf & DiCarlo (2021). https://doi.org/10.1101/2021.03.01.433495
    """

    meaning = "upper bound"
    compares = "properties"

    def __init__(self, similarity_metric: Metric | str) -> None:
        if isinstance(similarity_metric, str):
            similarity_metric = BootstrapDistributionSimilarity(similarity_metric)
        self.similarity_metric = similarity_metric

    def __call__(self, assembly: DataAssembly) -> Score:
        """Compare `assembly` with samples of itself.

        Parameters
        ----------
        assembly : PropertyAssembly, neuroid × neuronal_property
            The recordings' property, with its bins.

        Returns
        -------
        Score
            In [0, 1].
        """
        metric = self.similarity_metric
        score = metric(assembly, assembly)
        score.attrs["meaning"] = self.meaning
        if isinstance(metric, BootstrapDistributionSimilarity) and not np.isnan(Uncertainty.of(score).limits[0]):
            self._attach(score, metric.spread_of_ceiling(assembly), n=assembly.sizes["neuroid"])
        return score

    def _attach(self, score: Score, spread: float, *, n: int) -> None:
        from scipy.special import stdtrit

        values = score.attrs[Score.RAW_VALUES_KEY].values
        spread = float(np.hypot(spread, np.nanstd(values) / np.sqrt(len(values))))  # samples are finitely many
        half = float(stdtrit(n - 1, 0.975)) * spread
        attach_interval(
            score,
            clipped(Interval(float(score) - half, float(score) + half, spread, "bootstrap", n), 0.0),
            units="recorded neuroids",
            estimates="mean similarity of the recordings with samples of themselves",
            error=Uncertainty.of(score).standard_error,
        )


def _influence(counts: NDArray[np.intp], values: NDArray[np.float64]) -> NDArray[np.float64]:
    """What a neuroid in each bin does to the mean over samples: covariance of similarity and count, over the share."""
    defined = ~np.isnan(values)
    counts, values = counts[defined], values[defined]
    share = counts.mean(axis=0) / counts.sum(axis=1).mean()
    covariance = (values - values.mean()) @ (counts - counts.mean(axis=0)) / len(values)
    return np.asarray(np.where(share > 0, covariance / np.where(share > 0, share, 1), 0.0))


def _none(interval: Interval, reason: str) -> Interval:
    return interval._replace(low=math.nan, high=math.nan, reason=reason)


def _property_values(assembly: DataAssembly, name: str, *, role: str) -> NDArray[np.float64]:
    """One value a neuroid."""
    coord = "neuronal_property"
    if coord not in assembly.coords:
        raise MetricInputError(
            f"the {role} has no coordinate {coord!r}",
            remedy=f"build it with the dimensions neuroid × {coord}, the latter holding {name!r}",
        )
    names = np.atleast_1d(assembly[coord].values)
    matches = np.flatnonzero(names == name)
    if len(matches) != 1:
        raise MetricInputError(
            f"the {role} has {len(matches)} properties {name!r}; it has {listed(names)}",
            remedy="pass property_name=… of one of them",
        )
    (values,) = (
        [assembly.values] if not assembly[coord].dims else [assembly.isel({assembly[coord].dims[0]: matches[0]})]
    )
    try:
        return np.asarray(values, dtype=np.float64).ravel()
    except ValueError as error:
        raise MetricInputError(f"{name!r} of the {role} is not numeric", remedy="pass numbers, or NaN") from error


def _bin_codes(values: NDArray[np.float64], edges: NDArray[np.float64]) -> NDArray[np.intp]:
    """Bin of each value, the last bin with its right edge; values outside are in the nearest; NaN after the last."""
    bins = len(edges) - 1
    codes = np.clip(np.searchsorted(edges, values, side="right") - 1, 0, bins - 1)
    return np.asarray(np.where(np.isnan(values), bins, codes), dtype=np.intp)
