"""What the page and the plot show: receipts grouped by benchmark, with every number as text."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass

from brainscore_core.scoring import CeilingEstimate, Estimate, Problem, Receipt

__all__ = ["Group", "Row", "View", "number", "view_of"]

_MEANINGS = {
    "reliability": "reliability of the measurements",
    "upper bound": "upper bound from the agreement between subjects",
    "human-human": "agreement between people",
}


@dataclass(frozen=True)
class Row:
    """One model on one benchmark."""

    model: str
    state: str
    value: float | None
    ci: tuple[float, float] | None
    score: str
    interval: str
    raw: str
    seconds: str
    reason: str | None
    missing_error: str | None
    estimates: str | None
    receipt: Receipt


@dataclass(frozen=True)
class Group:
    """One benchmark and its models, the best first."""

    benchmark: str
    version: str
    control: bool
    ceiled: bool
    ceiling: str
    estimates: str | None
    rows: tuple[Row, ...]


@dataclass(frozen=True)
class View:
    """All that a report shows."""

    ceiled: tuple[Group, ...]
    unceiled: tuple[Group, ...]
    controls: tuple[Group, ...]
    models: tuple[str, ...]
    summary: str
    newest: str
    problems: tuple[Problem, ...]

    @property
    def groups(self) -> tuple[Group, ...]:
        """All benchmarks, controls last."""
        return self.ceiled + self.unceiled + self.controls


def view_of(receipts: Iterable[Receipt], problems: Iterable[Problem] = ()) -> View:
    """Arrange receipts for showing.

    Parameters
    ----------
    receipts : iterable of Receipt
        At most one of each model and benchmark.
    problems : iterable of Problem
        Receipts that could not be read.

    Returns
    -------
    View
        Ceiled benchmarks, those without a ceiling, and controls apart; the order does not depend on that of
        `receipts`.
    """
    receipts = list(receipts)
    by_benchmark: dict[str, list[Receipt]] = {}
    for receipt in receipts:
        by_benchmark.setdefault(receipt.benchmark.identifier, []).append(receipt)
    groups = [_group(by_benchmark[name]) for name in sorted(by_benchmark)]
    models = tuple(sorted({receipt.model.identifier for receipt in receipts}))
    return View(
        ceiled=tuple(group for group in groups if group.ceiled and not group.control),
        unceiled=tuple(group for group in groups if not group.ceiled and not group.control),
        controls=tuple(group for group in groups if group.control),
        models=models,
        summary=_summary(receipts, len(models), len(groups)),
        newest=max((receipt.created for receipt in receipts), default="")[:16].replace("T", " "),
        problems=tuple(sorted(problems, key=lambda problem: str(problem.path))),
    )


def number(value: float | None, error: float | None = None) -> str:
    """Write a number, with its standard error where there is one.

    Examples
    --------
    >>> number(0.41234, 0.0123), number(-0.5), number(None)
    ('0.412 ± 0.012', '−0.500', '–')
    """
    if value is None:
        return "–"
    text = f"{value:.3f}" if abs(value) < 1000 else f"{value:.3g}"
    if error is not None:
        text += f" ± {error:.3f}" if error < 1000 else f" ± {error:.3g}"
    return text.replace("-0.000", "0.000").replace("-", "−")


def _group(receipts: list[Receipt]) -> Group:
    rows = sorted((_row(receipt) for receipt in receipts), key=_best_first)
    newest = max(receipts, key=lambda receipt: receipt.id)
    with_ceiling = [receipt for receipt in receipts if receipt.ceiling is not None and receipt.score is not None]
    ceiling = max(with_ceiling, key=lambda receipt: receipt.id).ceiling if with_ceiling else newest.ceiling
    estimates = {row.estimates for row in rows if row.estimates}
    return Group(
        benchmark=newest.benchmark.identifier,
        version="" if newest.benchmark.version is None else str(newest.benchmark.version),
        control=newest.benchmark.control,
        ceiled=_is_ceiled(with_ceiling) if with_ceiling else ceiling is not None and ceiling.value is not None,
        ceiling=_ceiling(ceiling),
        estimates=estimates.pop() if len(estimates) == 1 else None,
        rows=tuple(rows),
    )


def _is_ceiled(receipts: list[Receipt]) -> bool:
    return all(
        receipt.score is not None
        and receipt.score.scale != "unceiled"
        and receipt.ceiling is not None
        and receipt.ceiling.value is not None
        and receipt.ceiling.meaning != "none"
        for receipt in receipts
    )


def _ceiling(ceiling: CeilingEstimate | None) -> str:
    if ceiling is None or ceiling.value is None or ceiling.meaning == "none":
        reason = ceiling.error_reason if ceiling is not None else None
        return "none" if not reason or reason == "none was attached" else f"none: {reason}"
    text = number(ceiling.value, ceiling.error)
    if ceiling.lower_bound is not None:
        text += f" (lower bound {number(ceiling.lower_bound)})"
    if ceiling.meaning in _MEANINGS:
        text += f", {_MEANINGS[ceiling.meaning]}"
    return text


def _row(receipt: Receipt) -> Row:
    score = receipt.score
    return Row(
        model=receipt.model.identifier,
        state=receipt.state,
        value=score.value if score else None,
        ci=score.ci if score else None,
        score=number(score.value, score.error) if score else "",
        interval=_interval(score),
        raw=number(receipt.raw.value, receipt.raw.error) if receipt.raw else "–",
        seconds=_seconds(receipt.timings.total),
        reason=receipt.reason,
        missing_error=score.error_reason if score and score.error is None else None,
        estimates=score.ci_estimates if score and score.ci else None,
        receipt=receipt,
    )


def _best_first(row: Row) -> tuple[bool, float, str]:
    return (row.value is None, -(row.value or 0.0), row.model)


def _interval(score: Estimate | None) -> str:
    if score is None:
        return ""
    if score.ci is None:
        return f"none: {score.ci_reason}"
    level = "" if score.ci_level in {None, 0.95} else f" ({100 * (score.ci_level or 0):g} %)"
    return f"{number(score.ci[0])} to {number(score.ci[1])}{level}"


def _seconds(seconds: float | None) -> str:
    if seconds is None:
        return "–"
    return f"{seconds:.2f}" if seconds < 10 else f"{seconds:.0f}"


def _summary(receipts: list[Receipt], models: int, benchmarks: int) -> str:
    states = Counter(receipt.state for receipt in receipts)
    counts = ", ".join(f"{states[state]} {state}" for state in ("scored", "not applicable", "failed") if states[state])
    pairs = f"{models} {'model' if models == 1 else 'models'}, "
    pairs += f"{benchmarks} {'benchmark' if benchmarks == 1 else 'benchmarks'}"
    return f"{pairs}: {counts}" if counts else "no receipts"
