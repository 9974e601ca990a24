"""Standings: the mean of every entry over what the track lists, and why an entry has no place."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from decimal import Decimal
from enum import StrEnum

from brainscore_web.competitions.rules._ranking import places, prizes_of

__all__ = ["Cell", "Direction", "Entered", "NotApplicable", "Rule", "Standing", "StandingRow", "standings", "team_key"]

_SCORED, _NOT_APPLICABLE = "scored", "not applicable"


class Direction(StrEnum):
    """Which mean wins."""

    LOWEST = "lowest"
    HIGHEST = "highest"


class NotApplicable(StrEnum):
    """What a pair means that cannot be run, such as a model without behaviour on a behavioural benchmark."""

    LEAVE_OUT = "leave out"
    ZERO = "zero"
    EXCLUDE = "exclude"


class Standing(StrEnum):
    """Whether an entry has a place, or why it has none."""

    RANKED = "ranked"
    NOT_BEST = "not the team's best"
    INCOMPLETE = "incomplete"
    LATE = "late"
    WITHDRAWN = "withdrawn"


@dataclass(frozen=True)
class Cell:
    """What came of a pair: a state as in receipts (or ``'missing'``, ``'outdated'``), a score, why there is none."""

    state: str
    value: float | None = None
    error: float | None = None
    reason: str = ""


@dataclass(frozen=True)
class Entered:
    """An entry: who, what, when. `withdrawn` says why it was taken back, None that it was not."""

    key: str
    team: str
    identifier: str
    entered: datetime | None = None
    withdrawn: str | None = None


@dataclass(frozen=True)
class Rule:
    """What counts in a track.

    Attributes
    ----------
    direction : Direction
        Which mean wins.
    listed : tuple of str
        What each entry is scored on: models where benchmarks compete, benchmarks where models do.
    deadline : datetime or None
        What came at that moment or later is late.
    not_applicable : NotApplicable
        What a pair counts that cannot be run. Left out: the mean is that of the others, if they are at least half.
    floor : float or None
        A score below it counts as this.
    one_a_team : bool
        Whether only the best entry of a team has a place.
    prizes : tuple of Decimal
        Of the first place, the second, ….
    split : bool
        Whether those who share a place share its prizes evenly; else the organisers decide.
    """

    direction: Direction
    listed: tuple[str, ...]
    deadline: datetime | None = None
    not_applicable: NotApplicable = NotApplicable.LEAVE_OUT
    floor: float | None = None
    one_a_team: bool = True
    prizes: tuple[Decimal, ...] = ()
    split: bool = True

    @property
    def problems(self) -> tuple[str, ...]:
        """What is wrong with the rule itself."""
        found = []
        if self.direction == Direction.LOWEST and self.not_applicable == NotApplicable.ZERO:
            found.append("where the lowest mean wins, what cannot be run must not count as 0: it would win")
        if len(set(self.listed)) != len(self.listed):
            found.append("something is listed twice")
        return tuple(found)


@dataclass(frozen=True)
class StandingRow:
    """An entry in the standings, and everything that explains where it stands.

    Attributes
    ----------
    entry : Entered
        Which.
    standing : Standing
        Whether it has a place.
    why : tuple of str
        Why not, all reasons; remarks, where it has one.
    cells : tuple of Cell
        In the order of what is listed.
    mean, error : float or None
        Mean over what counts, and its standard error, where all scores have one; None where there is none.
    n_counted : int
        How many scores the mean is over.
    place : int or None
        From 1; entries that are equal share one.
    prize : Decimal or None
        What it wins by the rule; None: nothing, or the organisers decide (`decide`).
    decide : bool
        Whether the organisers decide on the prizes of a shared place.
    """

    entry: Entered
    standing: Standing
    why: tuple[str, ...]
    cells: tuple[Cell, ...]
    mean: float | None
    error: float | None
    n_counted: int
    place: int | None = None
    prize: Decimal | None = None
    decide: bool = False


def team_key(team: str) -> str:
    """By what teams are told apart: neither case nor spaces."""
    return " ".join(team.split()).casefold()


def standings(
    entries: Sequence[Entered], rule: Rule, cells_of: Callable[[str], Sequence[Cell]]
) -> tuple[StandingRow, ...]:
    """Who stands where.

    Parameters
    ----------
    entries : sequence of Entered
        All of a track, late and withdrawn ones too.
    rule : Rule
        What counts.
    cells_of : callable
        An entry's identifier → what came of it on each that `rule` lists, in that order.

    Returns
    -------
    tuple of StandingRow
        Those with a place first, by place; then those that are not their team's best, those that lack scores, late
        ones, withdrawn ones.
    """
    lowest = rule.direction == Direction.LOWEST
    rows = [_row(entry, rule, tuple(cells_of(entry.identifier))) for entry in entries]
    if rule.one_a_team:
        rows = _best_of_teams(rows, lowest)
    ranked = [row for row in rows if row.standing == Standing.RANKED]
    means = [row.mean for row in ranked if row.mean is not None]
    taken = places(means, lowest_wins=lowest)
    won = prizes_of(taken, rule.prizes, split=rule.split)
    placed = [
        replace(row, place=place, prize=prize or None, decide=prize is None)
        for row, place, prize in zip(ranked, taken, won, strict=True)
    ]
    order = list(Standing)
    apart = [row for row in rows if row.standing != Standing.RANKED]
    return tuple(
        sorted(placed + apart, key=lambda row: (order.index(row.standing), row.place or 0, _by_mean(row, lowest)))
    )


def _by_mean(row: StandingRow, lowest: bool) -> tuple[float, str, str]:
    mean = math.inf if row.mean is None else row.mean if lowest else -row.mean
    return mean, team_key(row.entry.team), row.entry.identifier


def _row(entry: Entered, rule: Rule, cells: tuple[Cell, ...]) -> StandingRow:
    if len(cells) != len(rule.listed):
        raise ValueError(f"{entry.identifier}: {len(cells)} cells for {len(rule.listed)} that are listed")
    lacking = _lacking(rule, cells)
    remarks: list[str] = []
    mean = error = None
    counted: list[Cell] = []
    if not lacking:
        counted = [
            Cell(_SCORED, 0.0, 0.0) if cell.state == _NOT_APPLICABLE else cell
            for cell in cells
            if cell.state == _SCORED or rule.not_applicable == NotApplicable.ZERO
        ]
        values = [_at_least(cell.value or 0.0, rule.floor) for cell in counted]
        mean = math.fsum(values) / len(values)
        errors = [cell.error for cell in counted]
        if all(one is not None and math.isfinite(one) for one in errors):
            error = math.sqrt(math.fsum((one or 0.0) ** 2 for one in errors)) / len(errors)
        remarks = _remarks(rule, cells)
    why = [*lacking]
    standing = Standing.INCOMPLETE if lacking else Standing.RANKED
    if rule.deadline is not None and entry.entered is not None and entry.entered >= rule.deadline:
        why.insert(0, f"entered after the deadline, {entry.entered:%Y-%m-%d %H:%M} UTC")
        standing = Standing.LATE
    if entry.withdrawn is not None:
        why.insert(0, f"withdrawn: {entry.withdrawn}" if entry.withdrawn else "withdrawn")
        standing = Standing.WITHDRAWN
    return StandingRow(entry, standing, (*why, *remarks), cells, mean, error, len(counted))


def _lacking(rule: Rule, cells: tuple[Cell, ...]) -> list[str]:
    """Why there is no mean: each pair that has neither a score nor may be passed over."""
    if not rule.listed:
        return ["the track lists nothing to be scored on"]
    gaps: dict[tuple[str, str], list[str]] = {}
    for name, cell in zip(rule.listed, cells, strict=True):
        state = cell.state
        if state == _SCORED and (cell.value is None or not math.isfinite(cell.value)):
            state = "undefined"
        if state != _SCORED and (state != _NOT_APPLICABLE or rule.not_applicable == NotApplicable.EXCLUDE):
            gaps.setdefault((state, cell.reason), []).append(name)
    found = []
    for (state, reason), names in gaps.items():
        which = f"all {len(names)}" if len(names) == len(rule.listed) > 1 else ", ".join(names)
        found.append(f"{state}: {which}" + (f" ({reason})" if reason else ""))
    scored = sum(cell.state == _SCORED for cell in cells)
    if not found and rule.not_applicable == NotApplicable.LEAVE_OUT and 2 * scored < len(cells):
        found.append(f"applicable to {scored} of {len(cells)} only: at least half must be")
    return found


def _remarks(rule: Rule, cells: tuple[Cell, ...]) -> list[str]:
    outside = [name for name, cell in zip(rule.listed, cells, strict=True) if cell.state == _NOT_APPLICABLE]
    counts = "counts as 0" if rule.not_applicable == NotApplicable.ZERO else "left out of the mean"
    found = [f"{', '.join(outside)}: not applicable, {counts}"] if outside else []
    if rule.floor is not None:
        low = [
            name
            for name, cell in zip(rule.listed, cells, strict=True)
            if cell.state == _SCORED and cell.value is not None and cell.value < rule.floor
        ]
        found += [f"{', '.join(low)}: below {rule.floor:g}, counts as {rule.floor:g}"] if low else []
    return found


def _best_of_teams(rows: list[StandingRow], lowest: bool) -> list[StandingRow]:
    best: dict[str, StandingRow] = {}
    for row in rows:
        if row.standing != Standing.RANKED:
            continue
        team = team_key(row.entry.team)
        if not team:  # nobody knows whose it is: it competes for itself
            continue
        if team not in best or _by_mean(row, lowest) < _by_mean(best[team], lowest):
            best[team] = row
    return [
        replace(
            row,
            standing=Standing.NOT_BEST,
            why=(f"the team's best counts: {best[team_key(row.entry.team)].entry.identifier}", *row.why),
        )
        if row.standing == Standing.RANKED and best.get(team_key(row.entry.team), row) is not row
        else row
        for row in rows
    ]


def _at_least(value: float, floor: float | None) -> float:
    return value if floor is None else max(value, floor)
