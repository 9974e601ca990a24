"""Averages of results along a tree of benchmarks."""

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, fields
from typing import TYPE_CHECKING, Literal, NamedTuple, get_args

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import special

from brainscore_core.errors import UserError
from brainscore_core.numerics.influence import ScoreInfluence, shared_variances, variance_of_mean
from brainscore_core.results.tree import (
    LEAF_STATES,
    Counting,
    LeafState,
    ResultState,
    Tree,
    TreeError,
    TreeNode,
    counting,
)

if TYPE_CHECKING:
    from brainscore_core.receipts.receipt import Receipt

__all__ = [
    "LEAF_STATES",
    "Aggregate",
    "Averages",
    "Counting",
    "Coverage",
    "LeafResult",
    "LeafState",
    "ModelAggregates",
    "Over",
    "ResultState",
    "Tree",
    "TreeError",
    "TreeNode",
    "aggregate",
    "averages",
    "counting",
    "results_of",
]

Over = Literal["all", "scored"]
"""Whether a mean is taken over all children, or over those that have a value."""


class Averages(NamedTuple):
    """Means of every model at every node."""

    nodes: tuple[str, ...]  # identifiers of benchmarks and of nodes with a benchmark below, depth first
    values: NDArray[np.float64]  # score of a benchmark, mean of any other node; NaN if nothing was scored here or below
    # standard errors; NaN if there is no value, if the only contributing score has no error, or if one of several has
    # no influence of units
    errors: NDArray[np.float64]
    df: NDArray[np.float64]  # degrees of freedom of the errors of means of several scores; NaN elsewhere
    n_all: NDArray[np.int64]  # number of benchmarks here and below
    n_scored: NDArray[np.int64]  # number of those that have a score

    def limits(self) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """95 % limits of the means by Student's t; NaN without a standard error.

        Returns `low, high`: of benchmarks, and of means of one score, 1.96 standard errors from the value.
        """
        spread = self.errors * special.stdtrit(np.where(np.isnan(self.df), np.inf, self.df), 0.975)
        return self.values - spread, self.values + spread


Influences = Sequence[Sequence[ScoreInfluence | None]]
"""For each model and benchmark, how units influence the score; None if nothing is stored."""


def averages(
    tree: Tree,
    values: ArrayLike,
    errors: ArrayLike,
    *,
    influences: Influences | None = None,
    over: Over = "all",
) -> Averages:
    """Average the scores of many models along a tree, by the rule of :func:`aggregate`.

    Parameters
    ----------
    tree : Tree
        Benchmarks and the nodes above them.
    values : array (models, benchmarks)
        Scores, with benchmarks in the order of ``tree.benchmarks``. A value that is not finite is a missing score.
    errors : array (models, benchmarks)
        Standard errors of the scores; a value that is not finite is missing.
    influences : sequence (models) of sequence (benchmarks), optional
        How each stimulus, neuroid or subject influences each score; by default none is known.
    over : str
        ``'all'`` counts missing values as 0, ``'scored'`` leaves them out.

    Returns
    -------
    Averages
        A model's row does not depend on the other rows.

    Raises
    ------
    UserError
        If `over` is neither of the two.
    ValueError
        If `values` or `errors` have another shape.

    See Also
    --------
    counting : chooses the results that count.
    Tree.pruned : makes a tree of some of the benchmarks.

    Notes
    -----
    For the standard error of a mean see :func:`aggregate`. Sums are compensated for rounding.

    Examples
    --------
    >>> from brainscore_core.results.aggregates import TreeNode
    >>> tree = Tree([TreeNode(identifier="IT"),
    ...              TreeNode(identifier="A2026.IT-pls", parent="IT", benchmark=True),
    ...              TreeNode(identifier="B2026.IT-rdm", parent="IT", benchmark=True)])
    >>> means = averages(tree, [[0.5, np.nan], [0.5, 0.25]], [[0.1, np.nan], [0.1, 0.1]])
    >>> means.nodes
    ('IT', 'A2026.IT-pls', 'B2026.IT-rdm')
    >>> means.values[:, 0].tolist(), means.errors[:, 0].tolist(), means.n_scored[:, 0].tolist()
    ([0.25, 0.375], [0.05, nan], [1, 2])
    >>> from brainscore_core.numerics.influence import unit_influence
    >>> stimuli = unit_influence("stimuli", "A2026", ["a", "b"], [0.1, -0.1])
    >>> scores = [ScoreInfluence(value, (stimuli,)) for value in (0.5, 0.25)]
    >>> means = averages(tree, [[0.5, 0.25]], [[0.14, 0.14]], influences=[scores])
    >>> means.errors[:, 0].round(2).tolist()  # both scores rise and fall with the same stimuli
    [0.14]
    >>> averages(tree, [[0.5, np.nan]], [[0.1, np.nan]], over="scored").values.tolist()
    [[0.5, 0.5, nan]]
    """
    if over not in get_args(Over):
        raise UserError(f"means can be taken over 'all' or 'scored', not over {over!r}")
    scores, spreads = (_checked(tree, array, name) for array, name in ((values, "values"), (errors, "errors")))
    if scores.shape != spreads.shape:
        raise ValueError(f"values are of {len(scores)} models, but errors of {len(spreads)}")
    below, leaf = _structure(tree)
    nodes = tuple(below)
    index = {identifier: number for number, identifier in enumerate(nodes)}

    shape = len(nodes), len(scores)  # one row per node, so that the values of a node are contiguous
    value, error, df = np.zeros(shape), np.zeros(shape), np.full(shape, np.nan)  # 0 if missing
    unsure = np.zeros(shape, dtype=bool)  # a contributing score has no error
    n_all, n_scored = np.zeros(len(nodes), dtype=np.int64), np.zeros(shape, dtype=np.int64)
    for at, identifier in reversed(list(enumerate(nodes))):  # children before their parents
        if identifier in leaf:
            score, spread = scores[:, leaf[identifier]], spreads[:, leaf[identifier]]
            is_scored, sure = np.isfinite(score), np.isfinite(spread)
            value[at] = np.where(is_scored, score, 0.0)
            error[at] = np.where(is_scored & sure, spread, 0.0)
            unsure[at] = is_scored & ~sure
            n_all[at], n_scored[at] = 1, is_scored
            continue
        children = [index[child] for child in below[identifier]]
        scored = n_scored[children]
        n = len(children) if over == "all" else np.maximum((scored > 0).sum(axis=0), 1)
        value[at] = _compensated_sum(value[children]) / n
        error[at] = error[children].sum(axis=0) / n  # of one score; of several see below
        unsure[at] = unsure[children].any(axis=0)
        n_all[at], n_scored[at] = n_all[children].sum(), scored.sum(axis=0)
    value[n_scored == 0] = np.nan
    error[(n_scored == 0) | unsure] = np.nan
    error[n_scored > 1] = np.nan
    if influences is not None:
        _set_errors_of_means(error, df, (below, leaf), np.isfinite(scores), influences, over)
    return Averages(nodes, value.T, error.T, df.T, n_all, n_scored.T)


def _weights(
    below: Mapping[str, Sequence[str]], leaf: Mapping[str, int], scored: NDArray[np.bool_] | None
) -> NDArray[np.float64]:
    """Weights of the benchmarks in each node, over all, or over those that are scored."""
    index = {identifier: number for number, identifier in enumerate(below)}
    weights = np.zeros((len(below), len(leaf)))
    for at, identifier in reversed(list(enumerate(below))):
        if identifier in leaf:
            weights[at, leaf[identifier]] = scored is None or scored[leaf[identifier]]
            continue
        below_weights = weights[[index[child] for child in below[identifier]]]
        n = len(below_weights) if scored is None else max(int(below_weights.any(axis=1).sum()), 1)
        weights[at] = below_weights.sum(axis=0) / n
    return weights


def _set_errors_of_means(
    error: NDArray[np.float64],
    df: NDArray[np.float64],
    structure: tuple[Mapping[str, Sequence[str]], Mapping[str, int]],
    scored: NDArray[np.bool_],
    influences: Influences,
    over: Over,
) -> None:
    """Fill in standard errors and degrees of freedom (nodes × models) where all of several scores have influences."""
    of_all = _weights(*structure, None)
    by_pattern: dict[bytes, NDArray[np.float64]] = {}
    for model, of_model in enumerate(influences):
        has_influence = np.array([score is not None for score in of_model], dtype=bool)
        pattern = scored[model]
        if not (has_influence & pattern).any():
            continue
        weights = of_all * pattern
        if over == "scored":
            key = pattern.tobytes()
            if key not in by_pattern:
                by_pattern[key] = _weights(*structure, pattern)
            weights = by_pattern[key]
        contributing = weights > 0
        nodes = np.flatnonzero((contributing.sum(axis=1) > 1) & ~(contributing & ~has_influence).any(axis=1))
        if not len(nodes):
            continue
        shared = shared_variances(
            [score if counts else None for score, counts in zip(of_model, pattern.tolist(), strict=True)]
        )
        variance, own_df = variance_of_mean(shared, weights[nodes])
        error[nodes, model], df[nodes, model] = np.sqrt(variance), own_df


def _checked(tree: Tree, array: ArrayLike, name: str) -> NDArray[np.float64]:
    checked = np.asarray(array, dtype=np.float64)
    if checked.ndim != 2 or checked.shape[1] != len(tree.benchmarks):
        raise ValueError(
            f"{name} has the shape {checked.shape}; it must be models × {len(tree.benchmarks)} benchmarks of the tree"
        )
    return checked


def _structure(tree: Tree) -> tuple[dict[str, list[str]], dict[str, int]]:
    """Return the children of each node with benchmarks below, depth first, and the index of each benchmark."""
    leaf = {identifier: number for number, identifier in enumerate(tree.benchmarks)}
    shown: set[str] = set(leaf)
    for identifier in reversed(tuple(tree)):
        parent = tree[identifier].parent
        if identifier in shown and parent is not None:
            shown.add(parent)
    below = {identifier: [child for child in tree.children(identifier) if child in shown] for identifier in tree}
    return {identifier: children for identifier, children in below.items() if identifier in shown}, leaf


def _compensated_sum(rows: NDArray[np.float64]) -> NDArray[np.float64]:
    """Sum over rows with compensation of rounding errors [Neumaier 1974, doi:10.1002/zamm.19740540106]."""
    total, lost = np.zeros(rows.shape[1]), np.zeros(rows.shape[1])
    for row in rows:
        new = total + row
        gained = new - total
        lost += (total - (new - gained)) + (row - gained)
        total = new
    return total + lost


@dataclass(frozen=True, kw_only=True, slots=True)
class LeafResult:
    """Result of one model on one version of one benchmark."""

    # identifiers
    model: str
    benchmark: str
    state: ResultState  # ``'scored'``, ``'undefined'`` (NaN), ``'not applicable'`` or ``'failed'``
    score: float | None = None  # Score of a scored pair. If it is not finite, the result is ``'undefined'``.
    error: float | None = None  # standard error of the score
    ci: tuple[float, float] | None = None  # confidence interval; shown, not averaged
    version: int | str | None = None  # version of the benchmark
    created: str = ""  # time in UTC, ISO 8601; of several results the newest counts
    reason: str | None = None  # why there is no score
    # why a score relative to its ceiling says nothing, if so; it is averaged as computed
    undetermined: str | None = None
    # how units influence the score, from :func:`~brainscore_core.statistics.units.read_influence`
    influence: ScoreInfluence | None = field(default=None, repr=False, compare=False)
    receipt: str | None = None  # id of the receipt


@dataclass(frozen=True, kw_only=True, slots=True)
class Coverage:
    """Numbers of benchmarks below a node by state; every benchmark is in one of the last six."""

    n_all: int = 0  # all benchmarks
    # those with a score; with NaN; not applicable to the model; with an error
    n_scored: int = 0
    n_undefined: int = 0
    n_not_applicable: int = 0
    n_failed: int = 0
    # those scored only in another version, and those never scored
    n_outdated: int = 0
    n_missing: int = 0

    @property
    def n_applicable(self) -> int:
        """Number of benchmarks except those that are not applicable."""
        return self.n_all - self.n_not_applicable

    @property
    def share(self) -> float:
        """Share of scored benchmarks; NaN if there are no benchmarks."""
        return self.n_scored / self.n_all if self.n_all else math.nan

    @property
    def unscored_text(self) -> str:
        """Numbers of benchmarks without a score, by state.

        Examples
        --------
        >>> Coverage(n_all=12, n_scored=5, n_failed=1, n_missing=6).unscored_text
        '1 failed, 6 missing'
        """
        states = ("undefined", "not applicable", "failed", "outdated", "missing")
        counts = ((getattr(self, f"n_{state.replace(' ', '_')}"), state) for state in states)
        return ", ".join(f"{count} {'NaN' if state == 'undefined' else state}" for count, state in counts if count)


@dataclass(frozen=True, kw_only=True, slots=True)
class Aggregate:
    """One node of the tree for one model."""

    identifier: str  # identifier of the node
    value: float | None  # score of a benchmark, mean of any other node; None if nothing was scored here or below
    # standard error; None if there is no value, if the only contributing score has no error, or if one of several has
    # no influence of units
    error: float | None
    error_reason: str | None  # why a value has no standard error
    coverage: Coverage  # coverage of the benchmarks here and below
    state: LeafState | None = None  # for a benchmark: :data:`LeafState`
    result: LeafResult | None = None  # for a benchmark: its result, of the newest other version if it is outdated
    # 95 % interval of a mean; the interval of a benchmark's score that its receipt has. None if there is none.
    ci: tuple[float, float] | None = None


@dataclass(frozen=True)
class ModelAggregates(Mapping[str, Aggregate]):
    """All nodes for one model, by identifier, depth first; nodes without any benchmark below are left out."""

    model: str  # identifier
    over: Over  # ``'all'`` or ``'scored'``
    nodes: dict[str, Aggregate]  # identifier → Aggregate
    # benchmark outside the tree → newest result of this model, sorted
    outside: Mapping[str, LeafResult] = field(default_factory=dict)

    def __getitem__(self, identifier: str) -> Aggregate:
        return self.nodes[identifier]

    def __iter__(self) -> Iterator[str]:
        return iter(self.nodes)

    def __len__(self) -> int:
        return len(self.nodes)


def aggregate(tree: Tree, results: Iterable[LeafResult], *, over: Over = "all") -> tuple[ModelAggregates, ...]:
    """Average the results of every model along a tree.

    A node's value is the mean over its children with equal weights, from the leaves up. A child without a value counts
    as 0, whatever the reason: never scored, another version, failed, NaN, not applicable. This is the rule of the
    published leaderboard, so that leaving out weak benchmarks gains nothing. With ``over='scored'`` only children with
    a value count. If nothing was scored, there is no value, not 0. Roots are independent: benchmarks below
    ``engineering_vision`` never change ``average_vision``.

    The newest result of the tree's version of a benchmark counts. A failed or inapplicable result without a version,
    from before the benchmark was loaded, counts for any version.

    Parameters
    ----------
    tree : Tree
        Benchmarks and the nodes above them.
    results : iterable of LeafResult
        Of any number of models, in any order; the order does not matter.
    over : str
        ``'all'`` counts missing values as 0, ``'scored'`` leaves them out.

    Returns
    -------
    tuple of ModelAggregates
        One per model, sorted by identifier. It does not depend on the other models.

    Raises
    ------
    UserError
        If `over` is neither of the two.

    Notes
    -----
    A mean is about these benchmarks, not about benchmarks like these. Its standard error is due to the stimuli,
    neuroids and subjects of all of them: the influences of each unit are weighted and summed over the benchmarks that
    share it, and squared, and the squares are summed over units, as are the variances of ceilings. There is none if the
    influence of units is not stored of a contributing score, unless it is the only one, whose error is then that of the
    mean. Missing values that count as 0 add no error.

    Examples
    --------
    >>> tree = Tree([TreeNode(identifier="IT"),
    ...              TreeNode(identifier="A2026.IT-pls", parent="IT", benchmark=True, version=2),
    ...              TreeNode(identifier="B2026.IT-rdm", parent="IT", benchmark=True, version=1)])
    >>> results = [LeafResult(model="pixels", benchmark="A2026.IT-pls", state="scored", score=0.5,
    ...                       error=0.1, version=2),
    ...            LeafResult(model="pixels", benchmark="B2026.IT-rdm", state="failed")]
    >>> (pixels,) = aggregate(tree, results)
    >>> pixels["IT"].value, pixels["IT"].error, pixels["IT"].coverage.share
    (0.25, 0.05, 0.5)
    >>> (pixels,) = aggregate(tree, results, over="scored")
    >>> pixels["IT"].value, pixels["B2026.IT-rdm"].state, pixels["IT"].coverage.n_failed
    (0.5, 'failed', 1)
    """
    ordered = sorted(results, key=_age)
    models = sorted({result.model for result in ordered})
    counted = _counting(tree, models, ordered)
    influences = [
        [
            ordered[row].influence if row >= 0 and math.isfinite(value) else None
            for row, value in zip(rows, of_model, strict=True)
        ]
        for rows, of_model in zip(counted.rows.tolist(), counted.values.tolist(), strict=True)
    ]
    means = averages(tree, counted.values, counted.errors, influences=influences, over=over)
    outside: dict[str, dict[str, LeafResult]] = {model: {} for model in models}
    benchmarks = set(tree.benchmarks)
    for result in ordered:
        if result.benchmark not in benchmarks:
            outside[result.model][result.benchmark] = result
    return tuple(
        ModelAggregates(
            model, over, _of_model(tree, ordered, counted, means, over, number), dict(sorted(outside[model].items()))
        )
        for number, model in enumerate(models)
    )


def results_of(
    receipts: "Iterable[Receipt]", *, influences: Mapping[str, ScoreInfluence] | None = None
) -> tuple[LeafResult, ...]:
    """Read results from receipts.

    Results are in the order of the receipts. `influences` say how units influence the scores, by id of the receipt;
    without them, means of several scores have no error.

    Examples
    --------
    >>> from brainscore_core.scoring import BenchmarkInfo, Estimate, ModelInfo, Receipt
    >>> benchmark = BenchmarkInfo(identifier="A2026-pls", version=2)
    >>> receipt = Receipt(model=ModelInfo(identifier="pixels"), benchmark=benchmark, state="scored",
    ...                   score=Estimate(value=0.25, error=0.1))
    >>> results_of([receipt])[0].score, results_of([receipt])[0].version
    (0.25, 2)
    """
    return tuple(
        LeafResult(
            model=receipt.model.identifier,
            benchmark=receipt.benchmark.identifier,
            state=receipt.state,
            score=receipt.score.value if receipt.score else None,
            error=receipt.score.error if receipt.score else None,
            ci=receipt.score.ci if receipt.score else None,
            version=receipt.benchmark.version,
            created=receipt.created,
            reason=receipt.reason,
            undetermined=receipt.undetermined,
            influence=None if influences is None else influences.get(receipt.id),
            receipt=receipt.id,
        )
        for receipt in receipts
    )


def _counting(tree: Tree, models: Sequence[str], ordered: Sequence[LeafResult]) -> Counting:
    of_model = {model: number for number, model in enumerate(models)}
    of_benchmark = {benchmark: number for number, benchmark in enumerate(tree.benchmarks)}
    return counting(
        tree,
        np.array([of_model[result.model] for result in ordered], dtype=np.intp),
        np.array([of_benchmark.get(result.benchmark, -1) for result in ordered], dtype=np.intp),
        n_models=len(models),
        versions=[result.version for result in ordered],
        states=np.array([LEAF_STATES.index(result.state) for result in ordered], dtype=np.int8),
        created=np.arange(len(ordered)),
        scores=[math.nan if result.score is None else result.score for result in ordered],
        errors=[math.nan if result.error is None else result.error for result in ordered],
    )


_OF_ONE = {state: Coverage(n_all=1, **{f"n_{state.replace(' ', '_')}": 1}) for state in LEAF_STATES}


def _of_model(
    tree: Tree, results: Sequence[LeafResult], counted: Counting, averaged: Averages, over: Over, number: int
) -> dict[str, Aggregate]:
    rows = dict(zip(tree.benchmarks, counted.rows[number].tolist(), strict=True))
    states = dict(zip(tree.benchmarks, counted.states[number].tolist(), strict=True))
    coverages: dict[str, Coverage] = {}
    without_error: dict[str, list[str]] = {}
    without_influence: dict[str, list[str]] = {}
    nodes: dict[str, Aggregate] = {}
    limits = (limit[number].tolist() for limit in averaged.limits())
    means = zip(
        averaged.nodes, averaged.values[number].tolist(), averaged.errors[number].tolist(), *limits, strict=True
    )
    for identifier, value, error, low, high in reversed(list(means)):  # children before their parents
        state = result = None
        if identifier in rows:
            state, row = LEAF_STATES[states[identifier]], rows[identifier]
            result = results[row] if row >= 0 else None
            coverages[identifier] = _OF_ONE[state]
            scored = not math.isnan(value)
            ci = result.ci if scored and result is not None else None
            without_error[identifier] = [identifier] if scored and math.isnan(error) else []
            unknown = scored and (result is None or result.influence is None)
            without_influence[identifier] = [identifier] if unknown else []
        else:
            children = [child for child in tree.children(identifier) if child in nodes]
            coverages[identifier] = _sum_coverage([coverages[child] for child in children])
            share = 1 / len(children) if over == "all" else 1.0
            for names in (without_error, without_influence):
                names[identifier] = [name for child in children for name in names[child]]
        several = coverages[identifier].n_scored > 1
        if several:
            ci = None if math.isnan(low) else (low, high)
        elif identifier not in rows:  # of one score, whose interval it has
            ci = next((_times(nodes[child].ci, share) for child in children if nodes[child].value is not None), None)
        nodes[identifier] = Aggregate(
            identifier=identifier,
            value=None if math.isnan(value) else value,
            error=None if math.isnan(error) else error,
            error_reason=_error_reason(
                "no standard error: no influence known of" if several else "no standard error of",
                (without_influence if several else without_error)[identifier],
            ),
            coverage=coverages[identifier],
            state=state,
            result=result,
            ci=ci,
        )
    return {identifier: nodes[identifier] for identifier in averaged.nodes}


def _times(ci: tuple[float, float] | None, factor: float) -> tuple[float, float] | None:
    return None if ci is None else (factor * ci[0], factor * ci[1])


def _error_reason(text: str, benchmarks: Sequence[str]) -> str | None:
    if not benchmarks:
        return None
    more = f" and {len(benchmarks) - 3} more" if len(benchmarks) > 3 else ""
    return f"{text} {', '.join(benchmarks[:3])}{more}"


def _sum_coverage(parts: Sequence[Coverage]) -> Coverage:
    names = [field.name for field in fields(Coverage)]
    return Coverage(**{name: sum(getattr(coverage, name) for coverage in parts) for name in names})


def _age(result: LeafResult) -> tuple[str, str]:
    return result.created, repr(result)  # for equal times, a fixed order that does not depend on the input
