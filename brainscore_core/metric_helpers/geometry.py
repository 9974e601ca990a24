"""Helpers for metrics that compare the geometry of two representations."""

import math
from abc import abstractmethod
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple, get_args

import numpy as np
from numpy.typing import NDArray

from brainscore_core.metric_helpers.alignment import MetricInputError, also_named, as_table, finite_values, match_rows
from brainscore_core.metric_helpers.transformations import TestOnlyCrossValidation, merge_splits
from brainscore_core.metric_helpers.uncertainty import (
    Units,
    attach_influence,
    attach_interval,
    attach_varied,
    unit_ids,
    units_along,
    units_of_stimuli,
)
from brainscore_core.metrics import Metric, Score, amend_uncertainty, attach_uncertainty
from brainscore_core.numerics import (
    Interval,
    Similarity,
    combined_interval,
    compare_rdms,
    influence_interval,
    square_rdm,
)
from brainscore_core.numerics.deletion import deletion_influence
from brainscore_core.numerics.dissimilarity import Dissimilarity, condensed
from brainscore_core.numerics.resampling import SMALL
from brainscore_core.populations import these
from brainscore_core.progress import track
from brainscore_core.supported_data_standards.brainio.assemblies import DataAssembly, coords_for_dim
from brainscore_core.supported_data_standards.brainio.stimulus_groups import DECLARED

Array = NDArray[np.float64]

_DIMS = ("presentation", "neuroid")
_BLOCKS = 20
_FEW = 10
"""Number of groups below which the variance that two kinds of units share is computed: there it costs most power."""

_MOST_DELETIONS = 5_000_000
"""Number of pairs of stimuli × deletions up to which it is computed, which takes about a second."""

_FEWEST_NEUROIDS = 3
"""With fewer, the neuroids are taken as fixed."""


class Matched(NamedTuple):
    """Two recordings of the same stimuli.

    - `source`, `target` (DataAssembly, presentation × neuroid): each in its own order.
    - `X`, `Y` (stimuli × neuroids): finite values of source and target, both in the source's order: wide features stay
      where they are.
    - `order`: rows of the two in the target's order.
    """

    source: DataAssembly
    target: DataAssembly
    X: NDArray
    Y: NDArray
    order: NDArray[np.intp]


class Varied(NamedTuple):
    """Units along one dimension of the target, and their influence on a similarity."""

    units: Units  # what varies
    influence: Array  # units: influence of each unit
    name: str  # ``'stimuli'``, ``'neuroids'``, or the coordinate of the groups
    ids: NDArray[Any]  # units: which units these are
    # Variance of what depends on these and the first units at once, which is in the variance of both; None if unknown
    shared: float | None = None


def matched(source: DataAssembly, target: DataAssembly, *, fewest: int, what: str) -> Matched:
    """Match two recordings by ``stimulus_id``.

    Raises
    ------
    MetricInputError
        If the two hold different stimuli, a stimulus twice, NaN, or fewer than `fewest` stimuli for `what`.
    """
    source, target = (as_table(a, _DIMS, role=role) for a, role in ((source, "source"), (target, "target")))
    order = match_rows(source, target)
    if len(order) < fewest:
        raise MetricInputError(
            f"{len(order)} stimuli are too few for {what}", remedy=f"use at least {fewest} stimuli"
        )  # fmt: skip
    Y = finite_values(target, role="target")
    X = finite_values(source, role="source")
    in_source_order = np.empty_like(Y)
    in_source_order[order] = Y
    return Matched(source, target, X, in_source_order, order)


def numbered(assembly: DataAssembly) -> NDArray[np.intp]:
    """Rank of each presentation by ``stimulus_id``, so that groups of stimuli do not depend on any other order."""
    return np.argsort(np.argsort(assembly["stimulus_id"].values.astype(str), kind="stable"))


def geometry_score(
    similarity: Similarity,
    *,
    estimates: str,
    names: Mapping[str, str],
    varied: Sequence[Varied],
    interval: Interval | None = None,
    enough: int = SMALL,
) -> Score:
    """A similarity with its interval, and ``attrs['influence']`` of stimuli in the target's order, or of their groups.

    The interval is around the value minus its bias (``attrs['bias']``), and need not contain the score.

    Parameters
    ----------
    similarity : Similarity
        Value, bias and reason.
    estimates : str
        What the value is.
    names : mapping
        What the parts of a reason are called for users.
    varied : sequence of Varied
        Stimuli, or their groups, and neuroids.
    interval : Interval, optional
        Used instead of the interval from the influences.
    enough : int
        Stimuli below which a bias cannot be corrected, so that there is no interval.
    """
    score = Score(similarity.value)
    score.attrs[Score.RAW_VALUES_KEY] = Score(similarity.value)
    score.attrs["scale"] = "similarity"
    return _attach(score, similarity, varied, estimates=estimates, names=names, interval=interval, enough=enough)


def stimuli_that_vary(pair: Matched, influence: Array, units: Units) -> Varied:
    """Influence of the target's stimuli, or of their groups, where the neuroids are kept.

    `influence` is in the source's order; `units` are those of the target's stimuli.
    """
    values, name, ids = influence[pair.order], "stimuli", pair.target["stimulus_id"].values
    if units.grouped:
        values = np.bincount(units.codes, values, units.number) * units.number / len(values)
        name, ids = str(units.group), unit_ids(units, ids)
    return Varied(units._replace(plural=f"{units.plural} for these neuroids"), values, name, ids)


def codes_in_source_order(pair: Matched, units: Units) -> NDArray[np.intp]:
    """Group of each of the source's stimuli; if they are not grouped, the rank of each."""
    if not units.grouped:
        return numbered(pair.source)
    codes = np.empty_like(units.codes)
    codes[pair.order] = units.codes
    return codes


def _attach(
    score: Score,
    similarity: Similarity,
    varied: Sequence[Varied],
    *,
    estimates: str,
    names: Mapping[str, str],
    interval: Interval | None = None,
    enough: int = SMALL,
) -> Score:
    """Attach influences and interval; the similarity's value may differ from the score."""
    bias = similarity.bias
    score.attrs["bias"] = bias
    for variation in varied:
        further = variation is not varied[0]
        attach_influence(
            score,
            variation.influence,
            units=variation.name,
            ids=variation.ids,
            bias=0.0 if further else bias,
            further=further,
            stimuli=None if further else variation.units,
        )
    if interval is None:
        centre = min(max(float(score) - bias, -1.0), 1.0)
        interval = combined_interval(
            centre, [variation.influence for variation in varied], shared=varied[-1].shared, correlation=True
        )
        if interval.reason is not None:
            interval = interval._replace(reason="too few stimuli, or undefined when one of the units is left out")
    if similarity.reason is not None:
        interval = interval._replace(reason=_renamed(similarity.reason, names))
    interval = _if_enough(interval, bias, len(varied[0].units.codes), enough)
    return attach_varied(score, interval, [variation.units for variation in varied], estimates=estimates)


def _renamed(reason: str, names: Mapping[str, str]) -> str:
    for numeric, name in names.items():
        reason = reason.replace(numeric, name)
    return reason


class GeometryMetric(Metric):
    """Compares matrices of all pairs of stimuli: dissimilarities or kernels.

    A subclass implements :meth:`geometry` and :meth:`compare`, sets `fewest`, `what`, `estimates`, `names` and
    `matrices`, and may override `without_stimuli` and `neuroid_influence` where there is a faster way. Scores are
    similarities.

    Attributes
    ----------
    fewest : int
        Stimuli that are needed.
    what : str
        Name of the geometry in messages.
    estimates : str
        What the value is, for ``attrs['ci_estimates']``.
    names : mapping
        What the parts of a reason are called for users.
    stimulus_groups, neuroid_groups : str or None
        Coordinates of the target in whose groups stimuli and neuroids were drawn
        (:func:`~brainscore_core.supported_data_standards.brainio.stimulus_groups.grouping_of`,
        :func:`~brainscore_core.metric_helpers.uncertainty.units_along`).
    blocks : bool
        Whether more than 20 single neuroids are left out in 20 blocks, as leaving out each would take too long.
    """

    scale = "similarity"
    compares = "recordings"
    fewest: int
    what: str
    estimates: str
    names: Mapping[str, str]
    stimulus_groups: str | None = DECLARED
    neuroid_groups: str | None = "subject"
    blocks = True

    @abstractmethod
    def geometry(self, X: NDArray) -> Array:
        """Stimuli × stimuli matrix of the rows of X; selecting stimuli must select the same entries of the matrix."""

    @abstractmethod
    def compare(self, first: Array, second: Array) -> Similarity:
        """Similarity of two matrices of the same stimuli, with the influence of each stimulus if a formula gives it.

        Without influences (``Similarity(value)``), this is called again without each stimulus. By default it is also
        called without each group of stimuli and each block of neuroids.
        """

    def without_stimuli(self, first: Array, second: Array, codes: NDArray[np.intp]) -> Array:
        """Values, less their bias, without each group of stimuli; `codes` number the groups from 0."""
        left_out, number = [], int(codes.max()) + 1
        for group in track(range(number), "leaving out", number, unit="stimuli or groups"):
            remaining = np.ix_(codes != group, codes != group)
            left_out.append(self.compare(first[remaining], second[remaining]))
        return np.array([similarity.value - similarity.bias for similarity in left_out])

    def neuroid_influence(self, first: Array, second: Array, Y: NDArray, units: Units) -> Array:
        """Influence of each unit of the target's neuroids; `first` and `second` are the two matrices."""
        left_out = [self.compare(first, self.geometry(Y[:, units.codes != unit])) for unit in range(units.number)]
        return deletion_influence([similarity.value - similarity.bias for similarity in left_out])

    def varied(self, pair: Matched, first: Array, second: Array, similarity: Similarity) -> list[Varied]:
        """Influence of the target's stimuli and neuroids, or of their groups, on the similarity of two matrices."""
        target = pair.target
        stimuli = units_of_stimuli(target, self.stimulus_groups)
        name, ids = "stimuli", target["stimulus_id"].values
        if similarity.influence.size and not stimuli.grouped:
            influence = similarity.influence[pair.order]
        else:
            influence = np.full(stimuli.number, np.nan)
            if similarity.reason is None:
                codes = codes_in_source_order(pair, stimuli)
                influence = deletion_influence(self.without_stimuli(first, second, codes))
            if stimuli.grouped:
                name, ids = str(stimuli.group), unit_ids(stimuli, ids)
            else:
                influence = influence[numbered(target)]
        variations = [Varied(stimuli, influence, name, ids)]
        neuroids = units_along(target, "neuroid", self.neuroid_groups, default="subject")
        if neuroids.number < _FEWEST_NEUROIDS:
            plural = f"{stimuli.plural} for {these(neuroids.number, 'neuroid')}"
            variations[0] = variations[0]._replace(units=stimuli._replace(plural=plural))
            return variations
        name, ids = "neuroids", np.arange(neuroids.number)
        if self.blocks and not neuroids.grouped and neuroids.number > _BLOCKS:
            details = f"{neuroids.details} in {_BLOCKS} blocks"
            neuroids = neuroids._replace(codes=neuroids.codes % _BLOCKS, number=_BLOCKS, details=details)
            name, ids = "block of neuroids", np.arange(_BLOCKS)
        elif neuroids.grouped:
            name = str(self.neuroid_groups)
            ids = unit_ids(neuroids, ids)
        elif "neuroid_id" in target.coords and len(set(target["neuroid_id"].values.tolist())) == neuroids.number:
            ids = target["neuroid_id"].values
        influence = np.full(neuroids.number, np.nan)
        if np.isfinite(variations[0].influence).all():
            influence = self.neuroid_influence(first, second, pair.Y, neuroids)
        shared = None
        few = any(kind.grouped and kind.number < _FEW for kind in (stimuli, neuroids))
        if few and similarity.reason is None and np.isfinite(influence).all():
            codes = np.empty_like(stimuli.codes)
            codes[pair.order] = stimuli.codes
            shared = self.shared_variance(first, second, pair.Y, codes % _BLOCKS, neuroids.codes % _BLOCKS)
        variations.append(Varied(neuroids, influence, name, ids, shared))
        return variations

    def shared_variance(
        self, first: Array, second: Array, Y: NDArray, stimuli: NDArray[np.intp], neuroids: NDArray[np.intp]
    ) -> float | None:
        """Variance of what depends on stimuli and neuroids at once, by leaving out both; None if that takes too long.

        Parameters
        ----------
        first, second : array, stimuli × stimuli
            The two matrices.
        Y : array, stimuli × neuroids
            What the second one is of.
        stimuli, neuroids : array of int
            Unit, or block of units, of each, numbered from 0.
        """
        rows, columns, n = int(stimuli.max()) + 1, int(neuroids.max()) + 1, len(stimuli)
        if n * (n - 1) // 2 * rows * columns > _MOST_DELETIONS:
            return None
        left_out = np.empty((rows, columns))
        for column in range(columns):
            reduced = self.geometry(Y[:, neuroids != column])
            left_out[:, column] = self.without_stimuli(first, reduced, stimuli)
        # the effects of a single kind do not differ by units of the other kind
        mixed = left_out - left_out.mean(axis=0) - left_out.mean(axis=1, keepdims=True) + left_out.mean()
        shared = float(np.sum(mixed**2)) * (rows - 1) * (columns - 1) / (rows * columns)
        return shared if math.isfinite(shared) else None

    def value(self, source: DataAssembly, target: DataAssembly) -> float:
        """The score alone: its interval takes most of the time, and simulations of many experiments do not use it."""
        if type(self).__call__ is not GeometryMetric.__call__:
            return float(self(source, target))
        pair = matched(source, target, fewest=self.fewest, what=self.what)
        return self.compare(self.geometry(pair.X), self.geometry(pair.Y)).value

    @also_named(assembly1="source", assembly2="target")
    def __call__(self, source: DataAssembly, target: DataAssembly) -> Score:
        """Compare the geometries of `source` and `target`.

        `source`, `target` (NeuroidAssembly, presentation × neuroid): with the same ``stimulus_id``, in any order, each
        once. Returns: at most 1; NaN with a reason where undefined. Raises MetricInputError if the two hold different
        stimuli, a stimulus twice, NaN, or too few stimuli.
        """
        pair = matched(source, target, fewest=self.fewest, what=self.what)
        first, second = self.geometry(pair.X), self.geometry(pair.Y)
        similarity = self.compare(first, second)
        varied = self.varied(pair, first, second, similarity)
        return geometry_score(similarity, estimates=self.estimates, names=self.names, varied=varied)


class CrossValidatedGeometry(Metric):
    """Apply a geometry metric, which fits nothing, to the test part of each split of the stimuli.

    Each test part holds 90 % of the stimuli (``test_size=0.9``), as on the existing platform, whose comment speaks of
    leaving out 10 %. The parts overlap, so the published error (standard deviation over splits, ddof 0, over √splits:
    ``attrs['split_error']``) tells how much the score depends on a tenth of the stimuli, and is far below the standard
    error. ``error`` and ``ci`` are those of the metric on all stimuli.

    Parameters
    ----------
    metric : GeometryMetric
        Its matrices are computed once for all splits.
    crossvalidation_kwargs : mapping, optional
        Arguments of :class:`~brainscore_core.metric_helpers.transformations.TestOnlyCrossValidation`; takes the
        place of ``test_size=0.9`` if it contains `train_size`, `test_size` or `kfold`.
    """

    scale = "similarity"
    compares = "recordings"

    def __init__(self, metric: GeometryMetric, *, crossvalidation_kwargs: Mapping[str, Any] | None = None) -> None:
        self.metric = metric
        self.matrices, self.min_neuroids = metric.matrices, metric.min_neuroids
        self.from_products = metric.from_products
        options = dict(crossvalidation_kwargs or {})
        if not {"train_size", "test_size", "kfold"} & options.keys():
            options["test_size"] = 0.9
        self.subsets: Any = TestOnlyCrossValidation(**options)  # has split_rows and aggregate

    @also_named(assembly1="source", assembly2="target")
    def __call__(self, source: DataAssembly, target: DataAssembly) -> Score:
        """Compare `source` and `target` in each split.

        `source`, `target` (NeuroidAssembly, presentation × neuroid): with the same ``stimulus_id``, in any order, each
        once; ``object_name`` of the target stratifies. Returns: mean over splits. ``raw`` (split), ``split_error`` as
        published, ``error``, ``ci`` and ``influence`` as for the metric itself, on all stimuli, or the first defined
        split where that is NaN; NaN splits are left out and counted in ``attrs['undefined']``. Raises MetricInputError:
        as the metric itself; also if a split's test part has too few stimuli.
        """
        metric = self.metric
        pair = matched(source, target, fewest=metric.fewest, what=metric.what)
        splits = [rows.test for rows in self.subsets.split_rows(pair.source, pair.target)]
        smallest = min(len(test) for test in splits)
        if smallest < metric.fewest:
            raise MetricInputError(
                f"a split tests {smallest} stimuli, too few for {metric.what}",
                remedy=f"use more stimuli or a larger test_size, so that each split has at least {metric.fewest}",
            )
        first, second = metric.geometry(pair.X), metric.geometry(pair.Y)
        values, reasons, biases = [], [], []
        for test in track(splits, "comparing", len(splits), unit="splits"):
            rows = np.ix_(pair.order[test], pair.order[test])
            similarity = metric.compare(first[rows], second[rows])
            values.append(Score(similarity.value))
            reasons.append(similarity.reason)
            biases.append(similarity.bias)
        score = self.subsets.aggregate(merge_splits(values))
        score.attrs["scale"] = self.scale
        undefined = np.isnan(score.attrs[Score.RAW_VALUES_KEY].values)
        score.attrs["undefined"] = int(undefined.sum())
        if undefined.all():
            return attach_uncertainty(
                score, reason=f"undefined in every split: {_renamed(str(reasons[0]), metric.names)}"
            )
        whole = metric.compare(first, second)
        if whole.reason is not None:  # by a stimulus that some splits do not test
            test = splits[int(np.flatnonzero(~undefined)[0])]
            chosen = pair.order[test]
            tested = pair.target.isel(presentation=test)
            pair = Matched(pair.source, tested, pair.X[chosen], pair.Y[chosen], np.arange(len(chosen)))
            first, second = first[np.ix_(chosen, chosen)], second[np.ix_(chosen, chosen)]
            whole = metric.compare(first, second)
        varied = metric.varied(pair, first, second, whole)
        bias = float(np.mean([b for b, none in zip(biases, undefined, strict=True) if not none]))
        return _attach(
            score,
            whole._replace(bias=bias),
            varied,
            estimates=f"{metric.estimates} (mean over splits, which are kept)",
            names=metric.names,
        )


def _if_enough(interval: Interval, bias: float, stimuli: int, enough: int) -> Interval:
    """Remove the limits of a biased value if there are too few stimuli to estimate the bias."""
    if bias == 0 or stimuli >= enough or interval.reason is not None:
        return interval
    reason = f"{stimuli} stimuli: at least {enough} are needed to correct the value's bias"
    return interval._replace(low=math.nan, high=math.nan, reason=reason)


class RDM:
    """Turns recordings into their representational dissimilarity matrix.

    Parameters
    ----------
    dissimilarity : ``'correlation'``, ``'cosine'``, ``'euclidean'`` or ``'sqeuclidean'``
        See :func:`brainscore_core.numerics.rdm`.

    Examples
    --------
    >>> from brainscore_core.supported_data_standards.brainio.assemblies import NeuroidAssembly
    >>> assembly = NeuroidAssembly(
    ...     [[1.0, 2.0, 3.0], [2.0, 4.0, 6.0], [3.0, 2.0, 1.0]],
    ...     coords={"stimulus_id": ("presentation", list("abc")), "neuroid_id": ("neuroid", [0, 1, 2])},
    ...     dims=["presentation", "neuroid"],
    ... )
    >>> RDM()(assembly).values.round(6).tolist()
    [[0.0, 0.0, 2.0], [0.0, 0.0, 2.0], [2.0, 2.0, 0.0]]
    """

    def __init__(self, dissimilarity: Dissimilarity = "correlation") -> None:
        self._dissimilarity = known_dissimilarity(dissimilarity)

    def __call__(self, assembly: DataAssembly) -> DataAssembly:
        """Dissimilarities of all pairs of presentations.

        Returns: presentation × presentation_other; the levels of the second have the prefix ``other_``. NaN in rows and
        columns of presentations to which all neuroids respond alike.
        """
        assembly = as_table(assembly, ("presentation", "neuroid"), role="assembly")
        values = square_rdm(finite_values(assembly, role="assembly"), dissimilarity=self._dissimilarity)
        coords = coords_for_dim(assembly, "presentation")
        second_coords = {f"other_{name}": ("presentation_other", np.asarray(assembly[name].values)) for name in coords}
        return DataAssembly(values, coords=coords | second_coords, dims=["presentation", "presentation_other"])


class RDMSimilarity:
    """Spearman correlation of the upper triangles of two dissimilarity matrices of the same stimuli, in one order."""

    def __call__(self, first: DataAssembly, second: DataAssembly) -> Score:
        """Compare two presentation × presentation matrices.

        Returns: in [−1, 1], with ``error`` and ``ci`` over stimuli.
        """
        similarity = compare_rdms(*(condensed(np.asarray(m.values, dtype=np.float64)) for m in (first, second)))
        score = Score(similarity.value)
        score.attrs[Score.RAW_VALUES_KEY] = Score(similarity.value)
        amend_uncertainty(score, influence=similarity.influence)
        interval = influence_interval(similarity.value, similarity.influence, correlation=True)
        if similarity.reason is not None:
            interval = interval._replace(reason=similarity.reason)
        return attach_interval(score, interval, units="stimuli for these neuroids", estimates="correlation of the RDMs")


def known_dissimilarity(dissimilarity: Dissimilarity) -> Dissimilarity:
    """`dissimilarity`, or a ValueError that lists the known ones."""
    if dissimilarity not in get_args(Dissimilarity):
        names = ", ".join(map(repr, get_args(Dissimilarity)))
        raise ValueError(f"unknown dissimilarity {dissimilarity!r}; known: {names}")
    return dissimilarity
