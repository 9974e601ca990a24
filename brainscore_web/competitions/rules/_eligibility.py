"""Whether something may enter a track."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Literal, NamedTuple

__all__ = ["REGIONS", "TASKS", "EntryFacts", "Finding", "Terms", "check_entry", "species_group", "task_kind"]

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
