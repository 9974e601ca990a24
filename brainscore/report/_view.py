"""Receipts grouped by benchmark, with every number as text."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable
from dataclasses import dataclass, replace

from brainscore.report._numbers import interval, number
from brainscore_core.scoring import CeilingEstimate, Problem, Receipt

__all__ = ["STATES", "Group", "Row", "View", "view_of"]

STATES = {
    "scored": "scored",
    "undefined": "NaN",
    "not applicable": "not applicable",
    "failed": "failed",
    "outdated": "outdated",
    "missing": "missing",
}
"""What a pair can be → how it is called."""

_MEANINGS = {
    "reliability": "reliability of the measurements",
    "upper bound": "upper bound from the agreement between subjects",
    "human-human": "agreement between people",
}


@dataclass(frozen=True, slots=True)
class Row:
    """One model on one benchmark."""

    model: str
    benchmark: str
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
    ceiled: bool
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
    """Receipts by benchmark: ceiled ones, those without a ceiling, controls."""

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

    @property
    def scored(self) -> tuple[str, ...]:
        """Benchmarks on which at least one model has a score, sorted."""
        return tuple(sorted(group.benchmark for group in self.groups if group.rows[0].value is not None))


def view_of(
    receipts: Iterable[Receipt], problems: Iterable[Problem] = (), *, outdated: Collection[tuple[str, str]] = ()
) -> View:
    """Arrange receipts for showing.

    Parameters
    ----------
    receipts : iterable of Receipt
        At most one of each model and benchmark.
    problems : iterable of Problem
        Receipts that could not be read.
    outdated : collection of (model, benchmark)
        Pairs of which only another version of the benchmark was scored: they have no score, but a reason.

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
    groups = [_group(by_benchmark[name], outdated) for name in sorted(by_benchmark)]
    models = tuple(sorted({receipt.model.identifier for receipt in receipts}))
    return View(
        ceiled=tuple(group for group in groups if group.ceiled and not group.control),
        unceiled=tuple(group for group in groups if not group.ceiled and not group.control),
        controls=tuple(group for group in groups if group.control),
        models=models,
        summary=_summary(groups, len(models)),
        newest=max((receipt.created for receipt in receipts), default="")[:16].replace("T", " "),
        problems=tuple(sorted(problems, key=str)),
    )


def _group(receipts: list[Receipt], outdated: Collection[tuple[str, str]]) -> Group:
    old = {receipt.id for receipt in receipts if (receipt.model.identifier, receipt.benchmark.identifier) in outdated}
    present = [receipt for receipt in receipts if receipt.id not in old] or receipts
    newest = max(present, key=lambda receipt: receipt.id)
    with_ceiling = [receipt for receipt in present if receipt.ceiling is not None and receipt.score is not None]
    ceiling = max(with_ceiling, key=lambda receipt: receipt.id).ceiling if with_ceiling else newest.ceiling
    ceiled = _is_ceiled(with_ceiling) if with_ceiling else ceiling is not None and ceiling.value is not None
    made = (_outdated_row(receipt, ceiled) if receipt.id in old else _row(receipt, ceiled) for receipt in receipts)
    rows = sorted(made, key=_best_first)
    estimates = {row.estimates for row in rows if row.estimates}
    return Group(
        benchmark=newest.benchmark.identifier,
        version="" if newest.benchmark.version is None else str(newest.benchmark.version),
        control=newest.benchmark.control,
        ceiled=ceiled,
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


def _row(receipt: Receipt, ceiled: bool) -> Row:
    score = receipt.score
    return Row(
        model=receipt.model.identifier,
        benchmark=receipt.benchmark.identifier,
        state=receipt.state,
        value=score.value if score else None,
        ci=score.ci if score else None,
        score=number(score.value, score.error) if score else "",
        interval=interval(score),
        raw=number(receipt.raw.value, receipt.raw.error) if receipt.raw else "–",
        seconds=_seconds(receipt.timings.total),
        reason=receipt.reason,
        missing_error=score.error_reason if score and score.error is None else None,
        estimates=score.ci_estimates if score and score.ci else None,
        ceiled=ceiled,
        receipt=receipt,
    )


def _outdated_row(receipt: Receipt, ceiled: bool) -> Row:
    row = _row(receipt, ceiled)
    was = row.score or f"{STATES[receipt.state]}{f': {receipt.reason}' if receipt.reason else ''}"
    reason = f"version {receipt.benchmark.version}: {was}"
    return replace(row, state="outdated", value=None, ci=None, score="", interval="", raw="–", reason=reason)


def _best_first(row: Row) -> tuple[bool, float, str]:
    return (row.value is None, -(row.value or 0.0), row.model)


def _seconds(seconds: float | None) -> str:
    if seconds is None:
        return "–"
    return f"{seconds:.2f}" if seconds < 10 else f"{seconds:.0f}"


def _summary(groups: list[Group], models: int) -> str:
    states = Counter(row.state for group in groups for row in group.rows)
    counts = ", ".join(f"{states[state]} {name}" for state, name in STATES.items() if states[state])
    pairs = f"{models} {'model' if models == 1 else 'models'}, "
    pairs += f"{len(groups)} {'benchmark' if len(groups) == 1 else 'benchmarks'}"
    return f"{pairs}: {counts}" if counts else "no receipts"
