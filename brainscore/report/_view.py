"""What the report shows of a pair: rows, groups, marks, and how durations, hashes and names are written."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable
from dataclasses import dataclass, replace

from markupsafe import Markup

from brainscore_core.formatting import number_text
from brainscore_core.plurals import counted
from brainscore_core.populations import condition_of_all, condition_of_benchmark
from brainscore_core.scoring import CeilingEstimate, Problem, Receipt


def duration(value: float | None) -> str:
    """Write a duration.

    Examples
    --------
    >>> duration(1.234), duration(81.4), duration(7384), duration(None)
    ('1.23 s', '81 s', '2 h 3 min', '–')
    """
    if value is None:
        return "–"
    if value < 600:
        return f"{value:.2f} s" if value < 10 else f"{value:.0f} s"
    minutes = round(value / 60)
    return f"{minutes // 60} h {minutes % 60} min" if minutes >= 60 else f"{minutes} min"


def short(digest: str | None) -> str:
    """The beginning of a hash, enough to compare by eye."""
    return (digest or "unknown")[:12]


STATES = {
    "scored": "scored",
    "undetermined": "undetermined",
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
    raw: str
    seconds: str
    reason: str | None
    no_interval: str | None
    estimates: str | None
    ceiled: bool
    receipt: Receipt

    @property
    def condition(self) -> str:
        """For which few subjects or groups alone the interval holds; empty if it holds for new ones."""
        return self.receipt.condition if self.value is not None else ""


@dataclass(frozen=True)
class Group:
    """One benchmark and its models, the best first; `condition` is that of their scores and ranks."""

    benchmark: str
    version: str
    control: bool
    ceiled: bool
    ceiling: str
    estimates: str | None
    condition: str
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
    def condition(self) -> str:
        """For which few subjects or groups alone means and ranks hold; empty if they hold for new ones."""
        return condition_of_all(group.condition for group in self.ceiled + self.unceiled)

    @property
    def scored(self) -> tuple[str, ...]:
        """Benchmarks on which at least one model has a score, sorted."""
        return tuple(sorted(group.benchmark for group in self.groups if group.rows[0].value is not None))


def view_of(
    receipts: Iterable[Receipt], problems: Iterable[Problem] = (), *, outdated: Collection[tuple[str, str]] = ()
) -> View:
    """Arrange receipts, at most one of each model and benchmark; the order does not depend on theirs.

    `outdated` are the pairs of which only another version was scored: they have no score, but a reason.
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
    all_rows = (_outdated_row(receipt, ceiled) if receipt.id in old else _row(receipt, ceiled) for receipt in receipts)
    rows = sorted(all_rows, key=_best_first)
    estimates = {row.estimates for row in rows if row.estimates}
    return Group(
        benchmark=newest.benchmark.identifier,
        version="" if newest.benchmark.version is None else str(newest.benchmark.version),
        control=newest.benchmark.control,
        ceiled=ceiled,
        ceiling=_ceiling(ceiling),
        estimates=estimates.pop() if len(estimates) == 1 else None,
        condition=condition_of_benchmark(row.condition for row in rows if row.value is not None),
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
    text = ceiling.text(brief=True)
    if ceiling.lower_bound is not None:
        text += f" (lower bound {number_text(ceiling.lower_bound)})"
    if ceiling.meaning in _MEANINGS:
        text += f", {_MEANINGS[ceiling.meaning]}"
    return text


def _row(receipt: Receipt, ceiled: bool) -> Row:
    row = _row_as_computed(receipt, ceiled)
    if receipt.undetermined is None:
        return row
    reason = f"raw score {row.raw}; {receipt.undetermined}"
    return replace(row, state="undetermined", value=None, ci=None, score="", reason=reason)


def _row_as_computed(receipt: Receipt, ceiled: bool) -> Row:
    score = receipt.score
    return Row(
        model=receipt.model.identifier,
        benchmark=receipt.benchmark.identifier,
        state=receipt.state,
        value=score.value if score else None,
        ci=score.ci if score else None,
        score=score.text(brief=True) if score else "",
        raw=receipt.raw.text(brief=True) if receipt.raw else "–",
        seconds=_seconds(receipt.timings.total),
        reason=receipt.reason,
        no_interval=score.ci_reason if score and score.ci is None and not score.finding else None,
        estimates=score.ci_estimates if score and score.ci else None,
        ceiled=ceiled,
        receipt=receipt,
    )


def _outdated_row(receipt: Receipt, ceiled: bool) -> Row:
    row = _row(receipt, ceiled)
    was = row.score or f"{STATES[receipt.state]}{f': {receipt.reason}' if receipt.reason else ''}"
    reason = f"version {receipt.benchmark.version}: {was}"
    return replace(row, state="outdated", value=None, ci=None, score="", raw="–", reason=reason)


def _best_first(row: Row) -> tuple[bool, float, str]:
    return (row.value is None, -(row.value or 0.0), row.model)


def _seconds(seconds: float | None) -> str:
    if seconds is None:
        return "–"
    return f"{seconds:.2f}" if seconds < 10 else f"{seconds:.0f}"


def _summary(groups: list[Group], models: int) -> str:
    states = Counter(row.state for group in groups for row in group.rows)
    counts = ", ".join(f"{states[state]} {name}" for state, name in STATES.items() if states[state])
    pairs = f"{counted(models, 'model')}, {counted(len(groups), 'benchmark')}"
    return f"{pairs}: {counts}" if counts else "no receipts"


LETTERS = {"undetermined": "?", "undefined": "U", "not applicable": "N", "failed": "F", "outdated": "O", "missing": ""}
"""State → how the heat map marks it, beside a pattern."""

_MARK_WIDTH, _MARK_HEIGHT = 220, 18
_MARK_LIMITS = (-0.5, 1.5)  # what lies outside is drawn as an arrow at the edge


@dataclass(frozen=True)
class Scale:
    """Where a value lies in a drawing."""

    low: float
    high: float

    def x(self, value: float) -> float:
        """Distance from the left edge, inside the drawing."""
        share = (min(max(value, self.low), self.high) - self.low) / (self.high - self.low)
        return round(6 + share * (_MARK_WIDTH - 12), 1)

    def axis(self) -> Markup:
        """Draw the numbers above a column of marks."""
        ticks = [value for value in (-0.5, 0.0, 0.5, 1.0, 1.5) if self.low <= value <= self.high]
        texts = "".join(f'<text x="{self.x(value):g}" y="13">{value:g}</text>'.replace("-", "−", 1) for value in ticks)
        return self._drawing(texts, "f axis")

    def mark(
        self, value: float, ci: tuple[float, float] | None, *, filled: bool = True, ceiling: bool = True
    ) -> Markup:
        """Draw a dot and its interval; an arrow where the dot lies outside."""
        middle = _MARK_HEIGHT // 2
        shapes = []
        if self.low <= 0 <= self.high:
            shapes.append(f'<path class="zero" d="M{self.x(0):g} 0V{_MARK_HEIGHT}"/>')
        if ceiling and self.low <= 1 <= self.high:
            shapes.append(f'<path class="one" d="M{self.x(1):g} 0V{_MARK_HEIGHT}"/>')
        if ci is not None:
            start, end = self.x(ci[0]), self.x(ci[1])
            ends = [f"M{x:g} {middle - 3}v6" for x, limit in ((start, ci[0]), (end, ci[1])) if self._holds(limit)]
            shapes.append(f'<path class="ci" d="M{start:g} {middle}H{end:g}{"".join(ends)}"/>')
        hollow = "" if filled else ' class="hollow"'
        if self._holds(value):
            shapes.append(f'<circle{hollow} cx="{self.x(value):g}" cy="{middle}" r="3.6"/>')
        else:
            tip, back = (1, 8) if value < self.low else (_MARK_WIDTH - 1, _MARK_WIDTH - 8)
            shapes.append(f'<path{hollow or " class=arrow"} d="M{tip} {middle}L{back} {middle - 4}V{middle + 4}Z"/>')
        return self._drawing("".join(shapes), "f")

    def _holds(self, value: float) -> bool:
        return self.low <= value <= self.high

    @staticmethod
    def _drawing(content: str, classes: str) -> Markup:
        # numbers and fixed words alone
        size = f'width="{_MARK_WIDTH}" height="{_MARK_HEIGHT}" viewBox="0 0 {_MARK_WIDTH} {_MARK_HEIGHT}"'
        return Markup(f'<svg class="{classes}" {size} aria-hidden="true">{content}</svg>')  # noqa: S704 - numbers and names of classes


def scale_of(rows: Iterable[Row], *, least: tuple[float, float] = (0.0, 1.0)) -> Scale:
    """A scale for all rows, that holds `least`."""
    values = list(least)
    for row in rows:
        if row.value is not None:
            values += [row.value, *(row.ci or ())]
    low, high = max(min(values), _MARK_LIMITS[0]), min(max(values), _MARK_LIMITS[1])
    return Scale(low, high)
