"""The rules of competitions as pure functions: phases, eligibility, standings, places and prizes.

They do not depend on the site or its database.
"""

from __future__ import annotations

import math
import re
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, date, datetime, time, timedelta
from decimal import ROUND_DOWN, Decimal
from enum import StrEnum
from fractions import Fraction
from typing import Literal, NamedTuple

from brainscore_core.formatting import time_text


class Phase(StrEnum):
    """The phase of a competition."""

    DRAFT = "draft"
    ANNOUNCED = "announced"
    OPEN = "open"
    CLOSED = "closed"
    FROZEN = "frozen"
    AWARDED = "awarded"


def deadline_end(day: date | None) -> datetime | None:
    """Return the time at which a day has ended everywhere on Earth (12:00 UTC of the next day)."""
    return None if day is None else datetime.combine(day + timedelta(days=1), time(12), UTC)


def phase_of(
    now: datetime,
    *,
    published: bool,
    opens: date | None,
    deadline: date | None,
    frozen: bool,
    awarded: bool,
    closed: bool = False,
) -> Phase:
    """Return the phase of a competition at a time."""
    if not published:
        return Phase.DRAFT
    if awarded:
        return Phase.AWARDED
    if frozen:
        return Phase.FROZEN
    end = deadline_end(deadline)
    if closed or (end is not None and now >= end):
        return Phase.CLOSED
    if opens is not None and now < datetime.combine(opens, time(), UTC):
        return Phase.ANNOUNCED
    return Phase.OPEN


_DIGITS = 10
_CENT = Decimal("0.01")
_TWO_SIDED = 1.96  # standard errors on each side of a 95 % interval


def places(values: Sequence[float], *, lowest_wins: bool) -> tuple[int, ...]:
    """Return places from 1. Equal values (to ten decimals) share a place, and the next ones stay empty: 1, 1, 3."""
    keys = [round(value if lowest_wins else -value, _DIGITS) for value in values]
    return tuple(1 + sum(key_before < key for key_before in keys) for key in keys)


def possible_places(
    values: Sequence[float], errors: Sequence[float | None], *, lowest_wins: bool
) -> tuple[tuple[int, int], ...]:
    """Return the first and last place of each value that its interval and those of the others allow.

    Two values are apart if their difference exceeds 1.96 times the sum of their standard errors, which is at least the
    standard error of the difference, however they depend on each other. A value without an error is apart from none.

    Examples
    --------
    >>> possible_places([0.9, 0.8, 0.2, 0.1], [0.05, 0.05, 0.01, None], lowest_wins=False)
    ((1, 3), (1, 3), (3, 4), (1, 4))
    """
    sign = 1 if lowest_wins else -1
    limits = [math.inf if error is None else _TWO_SIDED * error for error in errors]

    def number_apart(row: int, direction: int) -> int:
        return sum(
            direction * sign * (value - values[row]) > limit + limits[row]
            for value, limit in zip(values, limits, strict=True)
        )

    return tuple((1 + number_apart(row, -1), len(values) - number_apart(row, 1)) for row in range(len(values)))


def prizes_of(taken: Sequence[int], prizes: Sequence[Decimal], *, split: bool = True) -> tuple[Decimal | None, ...]:
    """Return the prize of each place."""
    shared = Counter(taken)
    won: list[Decimal | None] = []
    for rank in taken:
        pool = sum(prizes[rank - 1 : rank - 1 + shared[rank]], Decimal(0))
        if shared[rank] == 1 or not pool:
            won.append(pool)
        else:
            won.append((pool / shared[rank]).quantize(_CENT, ROUND_DOWN) if split else None)
    return tuple(won)


REGIONS = ("V1", "V2", "V4", "IT")
"""Regions that models can record from."""

TASKS = {"label": "labels", "probabilities": "class probabilities", "odd_one_out": "odd one out"}
"""Behavioural tasks that models can do, with their labels."""

_MONKEYS = ("macaque", "macaca", "rhesus", "monkey", "marmoset", "chimpanzee", "baboon", "non-human primate")
_PLACES = {"models": "model", "benchmarks": "benchmark"}


class Finding(NamedTuple):
    """A finding on an entry: an ``'error'`` prevents it, a ``'warning'`` is for the organisers."""

    severity: Literal["error", "warning"]
    check: str
    message: str
    remedy: str


@dataclass(frozen=True)
class EntryFacts:
    """What is known about a model or benchmark; None means not known."""

    competes: str  # its kind: ``'models'`` or ``'benchmarks'``
    identifier: str
    here: bool = True  # whether the site has it; otherwise it is part of a submission
    public: bool = True  # whether it is public
    mean: bool = False  # whether it is a mean over benchmarks
    # regions, species, tasks: what a benchmark tests. Without behaviour, its tasks are an empty set
    regions: frozenset[str] | None = None
    species: frozenset[str] | None = None
    tasks: frozenset[str] | None = None
    static_images: bool | None = None  # whether its stimuli are static images
    time_bins: int | None = None  # number of time bins that it records


@dataclass(frozen=True)
class Terms:
    """Conditions of a track for entries; empty sets allow anything."""

    competes: str  # ``'models'`` or ``'benchmarks'``
    # regions, species, tasks: what benchmarks may test
    regions: frozenset[str] = frozenset()
    species: frozenset[str] = frozenset()
    tasks: frozenset[str] = frozenset()
    # static_images, single_time_bin: whether static images, or a single time bin, are required
    static_images: bool = False
    single_time_bin: bool = False
    open: bool = True  # whether entries are accepted
    # entered, listed: identifiers that have already entered, and those that entries are scored on
    entered: frozenset[str] = frozenset()
    listed: frozenset[str] = frozenset()
    # most, count: the number of entries that a team may have, None without a limit, and that it has
    most: int | None = None
    count: int = 0


def check_entry(facts: EntryFacts, terms: Terms) -> tuple[Finding, ...]:
    """Return all findings on an entry; empty if there are none."""
    return tuple(_findings(facts, terms))


def _findings(facts: EntryFacts, terms: Terms) -> Iterator[Finding]:
    name = facts.identifier
    if not terms.open:
        yield _error("time", "entries are not accepted at the moment", "ask the organisers")
    if name in terms.entered:
        yield _error("entered", f"{name} has already entered this track", "enter another one")
    if terms.most is not None and terms.count >= terms.most:
        message = f"a team may have {terms.most} entries in this track, and yours has {terms.count}"
        yield _error("limit", message, "withdraw one first")
    if facts.competes != terms.competes:
        message = f"{name} is a {_PLACES[facts.competes]}; {terms.competes} compete in this track"
        yield _error("kind", message, "choose the track that it belongs to")
    if name in terms.listed:
        yield _error("listed", f"entries of this track are scored on {name}", "enter another one")
    if facts.mean:
        yield _error("mean", f"{name} is a mean of benchmarks", "enter the benchmarks below it")
    if not facts.here:
        yield _warning("published", f"{name} is not published yet", "it takes part once its submission is published")
    elif not facts.public:
        yield _warning("private", f"{name} is private", "make it public to include it in the standings")
    if facts.competes == "benchmarks" == terms.competes:
        yield from _check_benchmark(facts, terms)


def _check_benchmark(facts: EntryFacts, terms: Terms) -> Iterator[Finding]:
    for check, label, tested, allowed in (
        ("regions", "region", facts.regions, terms.regions),
        ("species", "species", facts.species, terms.species),
        ("tasks", "task", facts.tasks, terms.tasks),
    ):
        if not allowed:
            continue
        texts = ", ".join(TASKS.get(name, name) for name in sorted(allowed, key=_region_order))
        if tested is None:
            yield _warning(check, f"its {label} is not known", f"add it to the benchmark's metadata: {texts}")
        elif not tested:
            yield _error(check, f"it has no {label}", f"this track is for: {texts}")
        elif further := ", ".join(TASKS.get(name, name) for name in sorted(tested - allowed)):
            yield _error(check, f"{label} {further} is not part of this track", f"this track is for: {texts}")
    if terms.static_images and facts.static_images is None:
        yield _warning("stimuli", "it is not known whether its stimuli are static images", "state what they are")
    elif terms.static_images and not facts.static_images:
        yield _error("stimuli", "its stimuli are not static images", "use static images")
    if terms.single_time_bin and facts.time_bins is None:
        yield _warning("time_bins", "it is not known how many time bins it records", "state how many")
    elif terms.single_time_bin and facts.time_bins is not None and facts.time_bins > 1:
        remedy = "record a single time bin: temporal dynamics are not allowed"
        yield _error("time_bins", f"it records {facts.time_bins} time bins", remedy)


def species_group(text: str) -> str:
    """Return ``'human'``, ``'non-human primate'``, or the species itself; empty for empty text."""
    name = text.strip().casefold()
    if re.search(r"\b(humans?|homo sapiens)\b", name) and "non-human" not in name:
        return "human"
    return "non-human primate" if any(word in name for word in _MONKEYS) else name


def task_kind(text: str) -> str | None:
    """Return the task that a text describes: a key of `TASKS`, empty for no task, None if not known."""
    words = re.sub(r"[\s_-]+", " ", text.strip().casefold())
    if re.search(r"\bodd one out\b", words):
        return "odd_one_out"
    if re.search(r"\bprobabilit|\bchoice\b", words):
        return "probabilities"
    if re.search(r"\blabel|\bnaming\b", words):
        return "label"
    return "" if re.search(r"\bpassive\b|\bfixation\b", words) else None


def _region_order(name: str) -> tuple[int, str]:
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
    """How a pair counts that cannot be run, such as a model without behaviour on a behavioural benchmark."""

    LEAVE_OUT = "leave out"
    ZERO = "zero"
    EXCLUDE = "exclude"


class Standing(StrEnum):
    """Whether an entry has a place, or why not."""

    RANKED = "ranked"
    NOT_BEST = "not the team's best"
    INCOMPLETE = "incomplete"
    LATE = "late"
    WITHDRAWN = "withdrawn"


@dataclass(frozen=True)
class Cell:
    """The result of a pair: a state as in receipts (or ``'missing'``, ``'outdated'``), and a score or a reason."""

    state: str
    value: float | None = None
    error: float | None = None
    reason: str = ""


@dataclass(frozen=True)
class Entered:
    """An entry: team, identifier, time. `withdrawn` is the reason for its withdrawal, None if it was not withdrawn."""

    key: str
    team: str
    identifier: str
    entered: datetime | None = None
    withdrawn: str | None = None


@dataclass(frozen=True)
class Rule:
    """The rule for the standings of a track."""

    direction: Direction  # which mean wins
    listed: tuple[str, ...]  # what each entry is scored on: models if benchmarks compete, benchmarks if models do
    deadline: datetime | None = None  # entries at this time or later are late
    # how a pair counts that cannot be run. If left out, the mean is over the others, which must be at least half
    not_applicable: NotApplicable = NotApplicable.LEAVE_OUT
    floor: float | None = None  # lower scores count as this value
    one_a_team: bool = True  # whether only the best entry of a team has a place
    prizes: tuple[Decimal, ...] = ()  # the prizes of the first place, the second, …
    split: bool = True  # whether a shared place shares its prizes evenly; otherwise the organisers decide
    # the components that each of `listed` belongs to, the outermost first. The mean is then one over components, each
    # of which is the mean of the components and names in it. Empty: a plain mean
    components: tuple[tuple[str, ...], ...] = ()

    @property
    def problems(self) -> tuple[str, ...]:
        """Contradictions in the rule."""
        problems = []
        if self.direction == Direction.LOWEST and self.not_applicable == NotApplicable.ZERO:
            problems.append(
                "if the lowest mean wins, a pair that cannot be run must not count as 0, since it would win"
            )
        if len(set(self.listed)) != len(self.listed):
            problems.append("a name is listed twice")
        return tuple(problems)

    @property
    def paths(self) -> tuple[tuple[str, ...], ...]:
        """The components of each of `listed`; empty paths for a plain mean."""
        return self.components or ((),) * len(self.listed)


@dataclass(frozen=True)
class StandingRow:
    """An entry in the standings, with everything that explains its place."""

    entry: Entered
    standing: Standing  # whether it has a place
    why: tuple[str, ...]  # all reasons why it has no place; remarks if it has one
    cells: tuple[Cell, ...]  # the results, in the order of `Rule.listed`
    # mean, error: mean of the scores that count, and its standard error if only one of them is uncertain; otherwise
    # None: scores on the same stimuli are not independent
    mean: float | None
    error: float | None
    n_counted: int  # number of scores in the mean
    place: int | None = None  # the place, from 1; equal entries share one
    prize: Decimal | None = None  # the prize by the rule; None for no prize, or if the organisers decide (`decide`)
    decide: bool = False  # whether the organisers decide on the prize of a shared place
    # the mean of each outermost component; empty for a plain mean, and without a mean
    components: tuple[tuple[str, float], ...] = ()
    # an upper limit of the mean's standard error, however its scores depend on each other; None if one has no error
    error_limit: float | None = None


def team_key(team: str) -> str:
    """Return the key of a team name, which ignores case and spaces."""
    return " ".join(team.split()).casefold()


def standings(
    entries: Sequence[Entered], rule: Rule, cells_of: Callable[[str], Sequence[Cell]]
) -> tuple[StandingRow, ...]:
    """Compute the standings of a track."""
    lowest = rule.direction == Direction.LOWEST
    rows = [_row(entry, rule, tuple(cells_of(entry.identifier))) for entry in entries]
    if rule.one_a_team:
        rows = _best_of_teams(rows, lowest)
    ranked = [row for row in rows if row.standing == Standing.RANKED]
    means = [row.mean for row in ranked if row.mean is not None]
    ranks = places(means, lowest_wins=lowest)
    won = prizes_of(ranks, rule.prizes, split=rule.split)
    placed = [
        replace(row, place=rank, prize=prize or None, decide=prize is None)
        for row, rank, prize in zip(ranked, ranks, won, strict=True)
    ]
    order = list(Standing)
    unplaced = [row for row in rows if row.standing != Standing.RANKED]
    return tuple(
        sorted(placed + unplaced, key=lambda row: (order.index(row.standing), row.place or 0, _by_mean(row, lowest)))
    )


def _by_mean(row: StandingRow, lowest: bool) -> tuple[float, str, str]:
    mean = math.inf if row.mean is None else row.mean if lowest else -row.mean
    return mean, team_key(row.entry.team), row.entry.identifier


def _row(entry: Entered, rule: Rule, cells: tuple[Cell, ...]) -> StandingRow:
    if len(cells) != len(rule.listed):
        raise ValueError(f"{entry.identifier}: {len(cells)} cells for {len(rule.listed)} listed names")
    missing = _missing_results(rule, cells)
    remarks: list[str] = []
    mean = error = limit = None
    components: tuple[tuple[str, float], ...] = ()
    counted: list[Cell] = []
    if not missing:
        counting = [
            (path, Cell(_SCORED, 0.0, 0.0) if cell.state == _NOT_APPLICABLE else cell)
            for path, cell in zip(rule.paths, cells, strict=True)
            if cell.state == _SCORED or rule.not_applicable == NotApplicable.ZERO
        ]
        paths = [path for path, _ in counting]
        counted = [cell for _, cell in counting]
        values = [_at_least(cell.value or 0.0, rule.floor) for cell in counted]
        mean = _weighted_sum(values, weights_of(paths))
        components = _component_means(paths, values)
        errors = [cell.error for cell in counted]
        finite = [value for value in errors if value is not None and math.isfinite(value)]
        if len(finite) == len(errors):
            limit = _weighted_sum(finite, weights_of(paths))
            error = limit if sum(value != 0 for value in finite) <= 1 else None  # several are not independent
        remarks = _remarks(rule, cells)
    why = [*missing]
    standing = Standing.INCOMPLETE if missing else Standing.RANKED
    if rule.deadline is not None and entry.entered is not None and entry.entered >= rule.deadline:
        why.insert(0, f"entered after the deadline, {time_text(entry.entered)}")
        standing = Standing.LATE
    if entry.withdrawn is not None:
        why.insert(0, f"withdrawn: {entry.withdrawn}" if entry.withdrawn else "withdrawn")
        standing = Standing.WITHDRAWN
    why = [*why, *remarks]
    return StandingRow(
        entry, standing, tuple(why), cells, mean, error, len(counted), components=components, error_limit=limit
    )


def weights_of(paths: Sequence[tuple[str, ...]]) -> tuple[Fraction, ...]:
    """Return the weight of each score in a mean over components, which are themselves means.

    Examples
    --------
    >>> [str(weight) for weight in weights_of([("V1", "size"), ("V1", "size"), ("V1",), ("IT",)])]
    ['1/8', '1/8', '1/4', '1/2']
    """
    weights = [Fraction(0)] * len(paths)

    def share(rows: Sequence[int], depth: int, weight: Fraction) -> None:
        groups: dict[str | int, list[int]] = defaultdict(list)
        for row in rows:
            groups[paths[row][depth] if len(paths[row]) > depth else row].append(row)
        for group, members in groups.items():
            if isinstance(group, int):
                weights[group] = weight / len(groups)
            else:
                share(members, depth + 1, weight / len(groups))

    share(range(len(paths)), 0, Fraction(1))
    return tuple(weights)


def _weighted_sum(values: Sequence[float], weights: Sequence[Fraction]) -> float:
    common = math.lcm(*(weight.denominator for weight in weights))  # whole multiples add less rounding than fractions
    return math.fsum(value * int(weight * common) for value, weight in zip(values, weights, strict=True)) / common


def _component_means(paths: Sequence[tuple[str, ...]], values: Sequence[float]) -> tuple[tuple[str, float], ...]:
    rows: dict[str, list[int]] = defaultdict(list)
    for row, path in enumerate(paths):
        if path:
            rows[path[0]].append(row)
    return tuple(
        (name, _weighted_sum([values[row] for row in members], weights_of([paths[row][1:] for row in members])))
        for name, members in rows.items()
    )


def _missing_results(rule: Rule, cells: tuple[Cell, ...]) -> list[str]:
    """Return why there is no mean: the pairs without a score that cannot be left out."""
    if not rule.listed:
        return ["the track does not list what entries are scored on"]
    gaps: dict[tuple[str, str], list[str]] = {}
    for name, cell in zip(rule.listed, cells, strict=True):
        state = cell.state
        if state == _SCORED and (cell.value is None or not math.isfinite(cell.value)):
            state = "undefined"
        if state != _SCORED and (state != _NOT_APPLICABLE or rule.not_applicable == NotApplicable.EXCLUDE):
            gaps.setdefault((state, cell.reason), []).append(name)
    reasons = []
    for (state, reason), names in gaps.items():
        which = f"all {len(names)}" if len(names) == len(rule.listed) > 1 else ", ".join(names)
        reasons.append(f"{state}: {which}" + (f" ({reason})" if reason else ""))
    scored = sum(cell.state == _SCORED for cell in cells)
    if not reasons and rule.not_applicable == NotApplicable.LEAVE_OUT and 2 * scored < len(cells):
        reasons.append(f"applicable to only {scored} of {len(cells)}, but at least half are required")
    return reasons


def _remarks(rule: Rule, cells: tuple[Cell, ...]) -> list[str]:
    outside = [name for name, cell in zip(rule.listed, cells, strict=True) if cell.state == _NOT_APPLICABLE]
    counts = "counts as 0" if rule.not_applicable == NotApplicable.ZERO else "left out of the mean"
    remarks = [f"{', '.join(outside)}: not applicable, {counts}"] if outside else []
    if rule.floor is not None:
        low = [
            name
            for name, cell in zip(rule.listed, cells, strict=True)
            if cell.state == _SCORED and cell.value is not None and cell.value < rule.floor
        ]
        remarks += [f"{', '.join(low)}: below {rule.floor:g}, counts as {rule.floor:g}"] if low else []
    return remarks


def _best_of_teams(rows: list[StandingRow], lowest: bool) -> list[StandingRow]:
    best: dict[str, StandingRow] = {}
    for row in rows:
        if row.standing != Standing.RANKED:
            continue
        team = team_key(row.entry.team)
        if not team:  # the team is not known: the entry counts on its own
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
