"""The rules of competitions as pure functions: phases, eligibility, standings, places and prizes.

They know neither the site nor its database.
"""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, date, datetime, time, timedelta
from decimal import ROUND_DOWN, Decimal
from enum import StrEnum
from typing import Literal, NamedTuple

__all__ = [
    "REGIONS",
    "TASKS",
    "Cell",
    "Direction",
    "Entered",
    "EntryFacts",
    "Finding",
    "NotApplicable",
    "Phase",
    "Rule",
    "Standing",
    "StandingRow",
    "Terms",
    "check_entry",
    "deadline_end",
    "phase_of",
    "places",
    "prizes_of",
    "species_group",
    "standings",
    "task_kind",
    "team_key",
]


class Phase(StrEnum):
    """How far a competition is."""

    DRAFT = "draft"
    ANNOUNCED = "announced"
    OPEN = "open"
    CLOSED = "closed"
    FROZEN = "frozen"
    AWARDED = "awarded"


def deadline_end(day: date | None) -> datetime | None:
    """The moment at which a day is over everywhere on Earth (12:00 UTC of the next one)."""
    return None if day is None else datetime.combine(day + timedelta(days=1), time(12), UTC)


def phase_of(
    now: datetime, *, published: bool, opens: date | None, deadline: date | None, frozen: bool, awarded: bool
) -> Phase:
    """How far a competition is at a moment.

    Parameters
    ----------
    now : datetime
        With a time zone.
    published : bool
        Whether others see it.
    opens, deadline : date or None
        First and last day of entries, as announced last. It opens at the start of that day (UTC); without a first day
        at once, without a last day it does not close by itself.
    frozen, awarded : bool
        Whether its standings are frozen; whether the winners are announced.
    """
    if not published:
        return Phase.DRAFT
    if awarded:
        return Phase.AWARDED
    if frozen:
        return Phase.FROZEN
    end = deadline_end(deadline)
    if end is not None and now >= end:
        return Phase.CLOSED
    if opens is not None and now < datetime.combine(opens, time(), UTC):
        return Phase.ANNOUNCED
    return Phase.OPEN


_DIGITS = 10
_CENT = Decimal("0.01")


def places(values: Sequence[float], *, lowest_wins: bool) -> tuple[int, ...]:
    """Places from 1; who is equal (to ten decimals) shares one, and the places after it stay empty: 1, 1, 3."""
    keys = [round(value if lowest_wins else -value, _DIGITS) for value in values]
    return tuple(1 + sum(other < key for other in keys) for key in keys)


def prizes_of(taken: Sequence[int], prizes: Sequence[Decimal], *, split: bool = True) -> tuple[Decimal | None, ...]:
    """What each place wins.

    Parameters
    ----------
    taken : sequence of int
        Places as `places` gives them.
    prizes : sequence of Decimal
        Of the first place, the second, ….
    split : bool
        Whether those who share a place share evenly, to the cent, rounded down, what it and the places that it takes up
        win together. Else the organisers decide.

    Returns
    -------
    tuple
        None: the organisers decide; 0: nothing.
    """
    shared = Counter(taken)
    found: list[Decimal | None] = []
    for place in taken:
        pool = sum(prizes[place - 1 : place - 1 + shared[place]], Decimal(0))
        if shared[place] == 1 or not pool:
            found.append(pool)
        else:
            found.append((pool / shared[place]).quantize(_CENT, ROUND_DOWN) if split else None)
    return tuple(found)


REGIONS = ("V1", "V2", "V4", "IT")
"""Regions that models record from."""

TASKS = {"label": "labels", "probabilities": "class probabilities", "odd_one_out": "odd one out"}
"""Behavioural tasks that models engage on, and in words."""

_MONKEYS = ("macaque", "macaca", "rhesus", "monkey", "marmoset", "chimpanzee", "baboon", "non-human primate")
_PLACES = {"models": "model", "benchmarks": "benchmark"}


class Finding(NamedTuple):
    """What was found: an ``'error'`` keeps the entry out, a ``'warning'`` is for the organisers to look at."""

    severity: Literal["error", "warning"]
    check: str
    message: str
    remedy: str


@dataclass(frozen=True)
class EntryFacts:
    """What is known of what competes. None: it is not known.

    Attributes
    ----------
    competes : str
        ``'models'`` or ``'benchmarks'``: what it is.
    identifier : str
        Of it.
    here : bool
        Whether the site has it; else it comes with a submission.
    public : bool
        Whether everybody sees it.
    mean : bool
        Whether it is a mean over benchmarks.
    regions, species, tasks : frozenset of str or None
        What a benchmark tests; the tasks of one without behaviour are an empty set.
    static_images : bool or None
        Whether its stimuli are such.
    time_bins : int or None
        How many of them it records.
    """

    competes: str
    identifier: str
    here: bool = True
    public: bool = True
    mean: bool = False
    regions: frozenset[str] | None = None
    species: frozenset[str] | None = None
    tasks: frozenset[str] | None = None
    static_images: bool | None = None
    time_bins: int | None = None


@dataclass(frozen=True)
class Terms:
    """What a track asks for. Empty sets: anything.

    Attributes
    ----------
    competes : str
        ``'models'`` or ``'benchmarks'``.
    regions, species, tasks : frozenset of str
        What benchmarks may test.
    static_images, single_time_bin : bool
        Whether it must be so.
    open : bool
        Whether entries are taken.
    entered, listed : frozenset of str
        Identifiers that have entered already; those that entries are scored on.
    """

    competes: str
    regions: frozenset[str] = frozenset()
    species: frozenset[str] = frozenset()
    tasks: frozenset[str] = frozenset()
    static_images: bool = False
    single_time_bin: bool = False
    open: bool = True
    entered: frozenset[str] = frozenset()
    listed: frozenset[str] = frozenset()


def check_entry(facts: EntryFacts, terms: Terms) -> tuple[Finding, ...]:
    """Everything that speaks against an entry, not only the first; nothing, if nothing does."""
    found: list[Finding] = []
    if not terms.open:
        found.append(_error("time", "no entries are taken now", "ask the organisers"))
    if facts.identifier in terms.entered:
        found.append(_error("entered", f"{facts.identifier} has entered this track already", "enter another one"))
    if facts.competes != terms.competes:
        found.append(
            _error(
                "kind",
                f"{facts.identifier} is a {_PLACES[facts.competes]}; {terms.competes} compete in this track",
                "choose the track that it belongs to",
            )
        )
    if facts.identifier in terms.listed:
        found.append(_error("listed", f"{facts.identifier} is what entries are scored on", "enter another one"))
    if facts.mean:
        found.append(_error("mean", f"{facts.identifier} is a mean of benchmarks", "enter the benchmarks below it"))
    if not facts.here:
        found.append(
            _warning("published", f"{facts.identifier} is not published yet", "it takes part once its submission is")
        )
    elif not facts.public:
        found.append(
            _warning("private", f"{facts.identifier} is private", "make it public: until then it is in no standings")
        )
    if facts.competes == "benchmarks" == terms.competes:
        found += _of_benchmark(facts, terms)
    return tuple(found)


def _of_benchmark(facts: EntryFacts, terms: Terms) -> list[Finding]:
    found: list[Finding] = []
    for check, words, has, allowed in (
        ("regions", "region", facts.regions, terms.regions),
        ("species", "species", facts.species, terms.species),
        ("tasks", "task", facts.tasks, terms.tasks),
    ):
        if not allowed:
            continue
        wanted = ", ".join(TASKS.get(one, one) for one in sorted(allowed, key=_in_order))
        if has is None:
            found.append(_warning(check, f"its {words} is not known", f"say so in the benchmark's metadata: {wanted}"))
        elif not has:
            found.append(_error(check, f"it has no {words}", f"this track is for: {wanted}"))
        elif has - allowed:
            others = ", ".join(TASKS.get(one, one) for one in sorted(has - allowed))
            found.append(_error(check, f"{words} {others} is not of this track", f"this track is for: {wanted}"))
    if terms.static_images and facts.static_images is None:
        found.append(_warning("stimuli", "it is not known whether its stimuli are static images", "say what they are"))
    elif terms.static_images and not facts.static_images:
        found.append(_error("stimuli", "its stimuli are not static images", "use static images"))
    if terms.single_time_bin and facts.time_bins is None:
        found.append(_warning("time_bins", "it is not known how many time bins it records", "say how many"))
    elif terms.single_time_bin and facts.time_bins is not None and facts.time_bins > 1:
        found.append(
            _error(
                "time_bins", f"it records {facts.time_bins} time bins", "record a single one: temporal dynamics are out"
            )
        )
    return found


def species_group(text: str) -> str:
    """``'human'``, ``'non-human primate'``, or the species itself; empty where there is none."""
    known = text.strip().casefold()
    if re.search(r"\b(humans?|homo sapiens)\b", known) and "non-human" not in known:
        return "human"
    return "non-human primate" if any(word in known for word in _MONKEYS) else known


def task_kind(text: str) -> str | None:
    """The task that a text names: a key of `TASKS`, an empty text where there is none, None where it is not known."""
    known = re.sub(r"[\s_-]+", " ", text.strip().casefold())
    if re.search(r"\bodd one out\b", known):
        return "odd_one_out"
    if re.search(r"\bprobabilit|\bchoice\b", known):
        return "probabilities"
    if re.search(r"\blabel|\bnaming\b", known):
        return "label"
    return "" if re.search(r"\bpassive\b|\bfixation\b", known) else None


def _in_order(name: str) -> tuple[int, str]:
    return (REGIONS.index(name) if name in REGIONS else len(REGIONS), name)


def _error(check: str, message: str, remedy: str) -> Finding:
    return Finding("error", check, message, remedy)


def _warning(check: str, message: str, remedy: str) -> Finding:
    return Finding("warning", check, message, remedy)


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
