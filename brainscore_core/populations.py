"""Over what a result generalises: to new stimuli, neuroids or subjects, or only to those of a few groups.

The intervals of scores, comparisons and ranks follow one rule: groups, such as animals or objects, vary if there are at
least :data:`FEWEST_GROUPS`. With fewer, their members vary within them, and results hold for these groups only.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

from brainscore_core.plurals import counted, plural, singular

FEWEST_GROUPS = 5
"""Number of groups, such as animals, from which results are about new groups; with fewer, they are about these only."""

UNRECORDED = "unknown subjects and groups: not recorded"
"""Condition of a result of which it was not stored over what it generalises."""

_THESE = re.compile(r"\b(?:of|for) (this|these \d{1,9}) ([^,;]+?)(?=,| and new | of th| for th|$)")

_MOST_NAMED = 4  # kinds of few units, in a text about many benchmarks


def population(estimates: str | None) -> str:
    """Read from ``ci_estimates`` over what an interval generalises; empty if it does not begin with that.

    Examples
    --------
    >>> population("new stimuli and new neuroids; 120 stimuli, 60 neuroids; the ceiling is taken as exact")
    'new stimuli and new neuroids'
    >>> population("correlation of the RDMs; stimuli vary, neuroids are kept")
    ''
    """
    first = (estimates or "").split(";")[0].strip()
    return first if first.startswith("new ") else ""


def details(estimates: str | None) -> str:
    """Read from ``ci_estimates`` what it says besides the population: numbers of units, and what the value is.

    Examples
    --------
    >>> details("new stimuli and new neuroids; 120 stimuli, 60 neuroids; the ceiling is taken as exact")
    '120 stimuli, 60 neuroids; the ceiling is taken as exact'
    >>> details("correlation of the RDMs; stimuli vary, neuroids are kept")
    'correlation of the RDMs; stimuli vary, neuroids are kept'
    """
    text = estimates or ""
    return text.partition(";")[2].strip() if population(text) else text


def these(number: int, unit: str) -> str:
    """Name units that do not vary because there are too few.

    `unit` names one of them, such as the coordinate that has their names.

    Examples
    --------
    >>> these(2, "mouse"), these(3, "object_name"), these(4, "category"), these(1, "children")
    ('these 2 mice', 'these 3 objects', 'these 4 categories', 'this child')
    """
    noun = re.sub(r"[\W_]+", " ", unit.removesuffix("_name").removesuffix("_id")).strip() or "group"
    return f"this {singular(noun)}" if number == 1 else f"these {counted(number, noun)}"


def condition(estimates: str | None) -> str:
    """Read from ``ci_estimates`` for which few units alone an interval holds, and comparisons and ranks with it.

    Empty if no units are named, or at least :data:`FEWEST_GROUPS`: those are kept by the design of the experiment.

    Examples
    --------
    >>> condition("new stimuli and new neuroids of these 2 subjects; 60 stimuli, 96 neuroids")
    'these 2 subjects only; other subjects: unknown'
    >>> condition("new stimuli of these 3 categories and new neuroids of this subject; 60 stimuli")
    'these 3 categories and this subject only; other categories and subjects: unknown'
    >>> condition("new images of these 24 objects; 240 images"), condition("new stimuli; 60 stimuli")
    ('', '')
    """
    few = []
    for article, noun in _THESE.findall(population(estimates)):
        number = 1 if article == "this" else int(article.removeprefix("these "))
        if number < FEWEST_GROUPS:
            few.append((f"{article} {noun}", plural(noun)))
    if not few:
        return ""
    named, nouns = (" and ".join(texts) for texts in zip(*few, strict=True))
    return f"{named} only; other {nouns}: unknown"


def condition_of_result(*estimates: str | None) -> str:
    """State for which few units alone a result holds, from ``ci_estimates`` of its score and of its raw score.

    As :func:`condition`; :data:`UNRECORDED` if none of the texts begins with a population, as in receipts of earlier
    versions.

    Examples
    --------
    >>> condition_of_result(None, "new neuroids of these 2 subjects; 96 neuroids")
    'these 2 subjects only; other subjects: unknown'
    >>> condition_of_result("new stimuli; 60 stimuli", None), condition_of_result("median over neuroids", None)
    ('', 'unknown subjects and groups: not recorded')
    """
    recorded = [text for text in estimates if population(text)]
    return next(filter(None, map(condition, recorded)), "") if recorded else UNRECORDED


def condition_of_benchmark(conditions: Iterable[str]) -> str:
    """State for which few units alone results on one benchmark hold: what any of them recorded is true of all.

    Examples
    --------
    >>> condition_of_benchmark([UNRECORDED, "this subject only; other subjects: unknown"])
    'this subject only; other subjects: unknown'
    >>> condition_of_benchmark([UNRECORDED, ""]), condition_of_benchmark([UNRECORDED]), condition_of_benchmark([])
    ('', 'unknown subjects and groups: not recorded', '')
    """
    listed = set(conditions)
    few = min(listed - {"", UNRECORDED}, default="")  # the order of results does not matter
    return few or (UNRECORDED if listed == {UNRECORDED} else "")


def condition_of_all(conditions: Iterable[str]) -> str:
    """State for which few units alone a mean over benchmarks holds, from the condition of each.

    Examples
    --------
    >>> few = condition("new stimuli and new neuroids of these 2 subjects")
    >>> condition_of_all([few, few]), condition_of_all(["", ""])
    ('these 2 subjects only; other subjects: unknown', '')
    >>> condition_of_all([few, "", condition("new stimuli and new neuroids of this subject")])
    'these 2 subjects or this subject only, on 2 of 3 benchmarks; others: unknown'
    >>> condition_of_all([UNRECORDED, "", few])
    'these 2 subjects only, on 1 of 3 benchmarks; others: unknown; not recorded for 1 of 3'
    >>> condition_of_all([UNRECORDED, ""])
    'unknown subjects and groups: not recorded for 1 of 2 benchmarks'
    """
    listed = list(conditions)
    few = [text for text in listed if text and text != UNRECORDED]
    unrecorded = listed.count(UNRECORDED)
    if len(set(listed)) < 2:
        return listed[0] if listed else ""
    if not few:
        return f"{UNRECORDED} for {unrecorded:,} of {len(listed):,} benchmarks"
    named = list(dict.fromkeys(text.partition(" only")[0] for text in few))
    units = " or ".join([*named[:_MOST_NAMED], *["others"][: len(named) > _MOST_NAMED]])
    text = f"{units} only, on {len(few):,} of {len(listed):,} benchmarks; others: unknown"
    return f"{text}; not recorded for {unrecorded:,} of {len(listed):,}" if unrecorded else text
