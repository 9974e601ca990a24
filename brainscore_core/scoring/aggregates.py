"""Averages of results along a tree of benchmarks.

Pure functions: nothing is read, fetched or loaded here. Whoever shows averages calls :func:`aggregate`.
"""

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, fields
from typing import TYPE_CHECKING, Literal

from brainscore_core.errors import UserError
from brainscore_core.scoring._tree import Tree, TreeError, TreeNode

if TYPE_CHECKING:
    from brainscore_core.scoring._receipt import Receipt

__all__ = [
    "Aggregate",
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
    "results_of",
]

Over = Literal["all", "scored"]
"""What a mean is taken over: all children, or those that have a value."""

ResultState = Literal["scored", "undefined", "not applicable", "failed"]
"""What came of scoring; ``'undefined'`` is a score that is NaN."""

LeafState = Literal["scored", "undefined", "not applicable", "failed", "outdated", "missing"]
"""What a benchmark contributes; ``'outdated'``: only other versions were scored, ``'missing'``: none was."""


@dataclass(frozen=True, kw_only=True)
class LeafResult:
    """One model on one version of one benchmark.

    Attributes
    ----------
    model, benchmark : str
        Identifiers.
    state : str
        ``'scored'``, ``'undefined'`` (NaN), ``'not applicable'`` or ``'failed'``.
    score : float or None
        Only of what is scored. One that is not finite makes the result ``'undefined'``.
    error : float or None
        Standard error of the score.
    ci : (float, float) or None
        Confidence interval; shown, not averaged.
    version : int, str or None
        Of the benchmark.
    created : str
        Time in UTC, ISO 8601: of several results the newest counts.
    reason : str or None
        Why there is no score.
    """

    model: str
    benchmark: str
    state: ResultState
    score: float | None = None
    error: float | None = None
    ci: tuple[float, float] | None = None
    version: int | str | None = None
    created: str = ""
    reason: str | None = None


@dataclass(frozen=True, kw_only=True)
class Coverage:
    """How many benchmarks are below a node, and what became of them; every benchmark is in one of the last six.

    Attributes
    ----------
    n_all : int
        All benchmarks.
    n_scored, n_undefined, n_not_applicable, n_failed : int
        Those with a number; NaN; the model cannot do what is asked; an error.
    n_outdated, n_missing : int
        Those of which only another version was scored, and those never scored.
    """

    n_all: int = 0
    n_scored: int = 0
    n_undefined: int = 0
    n_not_applicable: int = 0
    n_failed: int = 0
    n_outdated: int = 0
    n_missing: int = 0

    @property
    def n_applicable(self) -> int:
        """All benchmarks but those that are not applicable."""
        return self.n_all - self.n_not_applicable

    @property
    def share(self) -> float:
        """Scored benchmarks, relative to all; NaN if there are none."""
        return self.n_scored / self.n_all if self.n_all else math.nan


@dataclass(frozen=True, kw_only=True)
class Aggregate:
    """One node of the tree for one model.

    Attributes
    ----------
    identifier : str
        Of the node.
    value : float or None
        Score of a benchmark, mean of any other node; None if nothing was scored here or below.
    error : float or None
        Standard error; None if there is no value, or a score that entered it has none.
    error_reason : str or None
        Why a value has no standard error.
    coverage : Coverage
        Of the benchmarks here and below.
    state : str or None
        Only of a benchmark: :data:`LeafState`.
    result : LeafResult or None
        Only of a benchmark: what was found, the newest other version if it is outdated.
    """

    identifier: str
    value: float | None
    error: float | None
    error_reason: str | None
    coverage: Coverage
    state: LeafState | None = None
    result: LeafResult | None = None


@dataclass(frozen=True)
class ModelAggregates(Mapping[str, Aggregate]):
    """All nodes for one model, by identifier, depth first; nodes without any benchmark below are left out.

    Attributes
    ----------
    model : str
        Identifier.
    over : str
        ``'all'`` or ``'scored'``.
    nodes : dict
        From identifier to Aggregate.
    outside : tuple of str
        Benchmarks that this model has results of but that are not in the tree, sorted.
    """

    model: str
    over: Over
    nodes: dict[str, Aggregate]
    outside: tuple[str, ...] = ()

    def __getitem__(self, identifier: str) -> Aggregate:
        return self.nodes[identifier]

    def __iter__(self) -> Iterator[str]:
        return iter(self.nodes)

    def __len__(self) -> int:
        return len(self.nodes)


def aggregate(tree: Tree, results: Iterable[LeafResult], *, over: Over = "all") -> tuple[ModelAggregates, ...]:
    """Average the results of every model along a tree.

    A node's value is the mean over its children, each with the same weight, from the leaves up. Whatever has no value
    counts as 0, for whichever reason: never scored, of another version, failed, NaN, not applicable. This is the rule
    of the published leaderboard, so that leaving out what a model is bad at gains nothing. With ``over='scored'``
    only children that have a value enter. Where nothing was scored there is no value, not 0. Roots do not enter each
    other: what stands below ``engineering_vision`` never changes ``average_vision``.

    Of a benchmark, the newest result of the tree's version counts; failures and inapplicability without a version,
    from before the benchmark was loaded, are of every version.

    Parameters
    ----------
    tree : Tree
        Benchmarks and what they are gathered under.
    results : iterable of LeafResult
        Of any number of models, in any order; the order does not matter.
    over : str
        ``'all'`` counts what has no value as 0, ``'scored'`` leaves it out.

    Returns
    -------
    tuple of ModelAggregates
        One of each model, sorted by identifier. A model's does not depend on the other models.

    Raises
    ------
    UserError
        If `over` is neither.

    Notes
    -----
    The standard error of a mean of *n* children is the root of the sum of their squared errors, divided by *n*. This
    takes the errors of benchmarks to be independent; those of benchmarks that share stimuli or subjects are not, and it
    is then too small. What counts as 0 adds no error.

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
    if over not in ("all", "scored"):
        raise UserError(f"means can be taken over 'all' or 'scored', not over {over!r}")
    by_model: dict[str, dict[str, list[LeafResult]]] = {}
    for result in results:
        by_model.setdefault(result.model, {}).setdefault(result.benchmark, []).append(result)
    benchmarks = set(tree.benchmarks)
    return tuple(
        ModelAggregates(
            model,
            over,
            _of_model(tree, by_model[model], over),
            tuple(sorted(name for name in by_model[model] if name not in benchmarks)),
        )
        for model in sorted(by_model)
    )


def results_of(receipts: "Iterable[Receipt]") -> tuple[LeafResult, ...]:
    """Read results from receipts.

    Parameters
    ----------
    receipts : iterable of Receipt
        In any order.

    Returns
    -------
    tuple of LeafResult
        In the same order.

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
        )
        for receipt in receipts
    )


def _of_model(tree: Tree, results: Mapping[str, Sequence[LeafResult]], over: Over) -> dict[str, Aggregate]:
    found: dict[str, Aggregate] = {}
    without_error: dict[str, list[str]] = {}
    for identifier in reversed(tuple(tree)):  # what is below a node comes first
        node = tree[identifier]
        if node.benchmark:
            found[identifier] = made = _leaf(node, results.get(identifier, ()))
            without_error[identifier] = [identifier] if made.value is not None and made.error is None else []
            continue
        children = [child for child in tree.children(identifier) if child in found]
        if children:
            missing = [name for child in children for name in without_error[child]]
            without_error[identifier] = missing
            found[identifier] = _mean(identifier, [found[child] for child in children], missing, over)
    return {identifier: found[identifier] for identifier in tree if identifier in found}


def _mean(identifier: str, children: Sequence[Aggregate], without_error: Sequence[str], over: Over) -> Aggregate:
    coverage = _sum([child.coverage for child in children])
    values = [child.value for child in children if child.value is not None]
    if not values:
        return Aggregate(identifier=identifier, value=None, error=None, error_reason=None, coverage=coverage)
    n = len(children) if over == "all" else len(values)
    error = reason = None
    if without_error:
        more = f" and {len(without_error) - 3} more" if len(without_error) > 3 else ""
        reason = f"no standard error of {', '.join(without_error[:3])}{more}"
    else:
        error = math.hypot(*(child.error for child in children if child.error is not None)) / n
    return Aggregate(
        identifier=identifier, value=math.fsum(values) / n, error=error, error_reason=reason, coverage=coverage
    )


def _sum(parts: Sequence[Coverage]) -> Coverage:
    names = [field.name for field in fields(Coverage)]
    return Coverage(**{name: sum(getattr(part, name) for part in parts) for name in names})


def _leaf(node: TreeNode, results: Sequence[LeafResult]) -> Aggregate:
    state, result = _counting(node, results)
    scored = result if state == "scored" else None
    error = scored.error if scored is not None else None
    if error is not None and not math.isfinite(error):
        error = None
    return Aggregate(
        identifier=node.identifier,
        value=scored.score if scored is not None else None,
        error=error,
        error_reason=f"no standard error of {node.identifier}" if scored is not None and error is None else None,
        coverage=Coverage(n_all=1, **{f"n_{state.replace(' ', '_')}": 1}),
        state=state,
        result=result,
    )


def _counting(node: TreeNode, results: Sequence[LeafResult]) -> tuple[LeafState, LeafResult | None]:
    if not results:
        return "missing", None
    current = [result for result in results if _is_current(node, result)]
    if not current:
        return "outdated", max(results, key=_age)
    newest = max(current, key=_age)
    if newest.state == "scored" and (newest.score is None or not math.isfinite(newest.score)):
        return "undefined", newest
    return newest.state, newest


def _is_current(node: TreeNode, result: LeafResult) -> bool:
    if node.version is None:
        return True
    if result.version is None:
        return result.state in ("failed", "not applicable")
    return str(result.version) == str(node.version)


def _age(result: LeafResult) -> tuple[str, str]:
    return result.created, repr(result)  # of the same moment: any fixed order, whatever that of the input
