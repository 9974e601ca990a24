"""What models were trained on, what stimuli are taken from, and whether the one contains the other.

``data_sets.csv`` has the names of data sets. `origin` says where their content is from: ``made`` for the data set
(drawn, rendered, synthesised), ``collected`` from the web by a procedure that is published, ``crawl`` (from the web
at large, which may contain anything published), or empty if it is not known. `contains` and `held_out_of` name
other data sets. Models and benchmarks state in their metadata which of them they use.
"""

from __future__ import annotations

import csv
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import cache
from importlib import resources
from typing import Final, Literal, NamedTuple, get_args

from brainscore_core.errors import nearest

__all__ = [
    "MARKS",
    "DataSet",
    "Exposure",
    "Finding",
    "Mark",
    "Stated",
    "Training",
    "compare",
    "cycle_from",
    "data_sets",
    "explained_signs",
    "inherited",
    "unlisted_names",
]

Exposure = Literal["clean", "unknown", "trained on it"]
"""Whether a model was trained on the stimuli of a benchmark."""


class Mark(NamedTuple):
    """The mark of a score: a sign, what it is called, and what it means."""

    sign: str
    text: str
    meaning: str


MARKS: Final[Mapping[Exposure, Mark]] = {
    "clean": Mark("", "clean", "the model was not trained on the stimuli, by the names of data sets"),
    "unknown": Mark("°", "training unknown", "it is not known whether the model was trained on the stimuli"),
    "trained on it": Mark(
        "†", "trained on it", "the model, or one that it was fine-tuned from, was trained on data that hold the stimuli"
    ),
}
"""How scores are marked in tables; those of clean ones have no sign."""

Origin = Literal["made", "collected", "crawl", ""]


_ORIGINS: Final[Mapping[str, Origin]] = {origin: origin for origin in get_args(Origin)}


class DataSet(NamedTuple):
    """A data set.

    Attributes
    ----------
    name : str
        As its publication calls it; a part that is kept apart has a name of its own.
    origin : {'made', 'collected', 'crawl', ''}
        Where its content is from; empty if it is not known.
    contains, held_out_of : tuple of str
        Data sets of which it contains everything, and those of which it is documented to contain nothing.
    source : str
        URL of its publication; empty if there is none.
    """

    name: str
    origin: Origin = "collected"
    contains: tuple[str, ...] = ()
    held_out_of: tuple[str, ...] = ()
    source: str = ""


class Stated(NamedTuple):
    """What the metadata of one model state.

    Attributes
    ----------
    trained_on : tuple of str or None
        Names of data sets; None if it is not stated.
    fine_tuned_from : str or None
        Identifier of the model with whose weights training began.
    """

    trained_on: tuple[str, ...] | None
    fine_tuned_from: str | None = None


class Training(NamedTuple):
    """What a model was trained on, including the models that it was fine-tuned from.

    Attributes
    ----------
    names : tuple of str
        The data sets that are stated.
    complete : bool
        Whether all of these models state them.
    """

    names: tuple[str, ...]
    complete: bool


class Finding(NamedTuple):
    """Whether a model was trained on the stimuli of a benchmark, and why that is said."""

    state: Exposure
    reason: str


def _names(text: str) -> tuple[str, ...]:
    return tuple(filter(None, text.split(";")))


@cache
def data_sets() -> Mapping[str, DataSet]:
    """Return the data sets of the table, by their names in lower case.

    Examples
    --------
    >>> data_sets()["imagenet-21k"].contains
    ('ImageNet (ILSVRC 2012)',)
    """
    data_sets_by_name: dict[str, DataSet] = {}
    text = resources.files(__package__).joinpath("data_sets.csv").read_text(encoding="utf-8")
    for row in csv.DictReader(text.splitlines()):
        origin: Origin | None = _ORIGINS.get(row["origin"])
        if origin is None:
            raise ValueError(f"data_sets.csv: the origin of {row['name']} is {row['origin']!r}")
        contained, held_out_of = _names(row["contains"]), _names(row["held_out_of"])
        data_sets_by_name[row["name"].lower()] = DataSet(row["name"], origin, contained, held_out_of, row["source"])
    return data_sets_by_name


def unlisted_names(names: Iterable[str]) -> tuple[str, ...]:
    """Return the names that are not in the table of data sets, each with the nearest listed one.

    Examples
    --------
    >>> unlisted_names(["places365", "WIT400M", "Shapes2026"])
    ("'WIT400M' (nearest: 'WIT-400M')", "'Shapes2026'")
    """
    listed_names = {data_set.name for data_set in data_sets().values()}
    texts = []
    for name in names:
        if name.lower() not in data_sets():
            near = nearest(name, listed_names, limit=1)
            texts.append(f"{name!r} (nearest: {near[0]!r})" if near else f"{name!r}")
    return tuple(texts)


def inherited(model: str, stated: Callable[[str], Stated | None]) -> Training:
    """Collect the data sets of a model and of those that it was fine-tuned from.

    Parameters
    ----------
    model : str
        Identifier.
    stated : callable
        Returns what a model's metadata state; None for an unknown model.

    Returns
    -------
    Training
        Not complete if one of the models is unknown or states nothing, or if the models form a cycle.

    Examples
    --------
    >>> models = {"base": Stated(("Places365",)), "tuned": Stated(("Ecoset",), "base")}
    >>> inherited("tuned", models.get)
    Training(names=('Ecoset', 'Places365'), complete=True)
    """
    names: list[str] = []
    passed: set[str] = set()
    current: str | None = model
    while current is not None:
        metadata = None if current in passed else stated(current)
        if metadata is None or metadata.trained_on is None:
            return Training(tuple(dict.fromkeys(names)), False)
        passed.add(current)
        names += metadata.trained_on
        current = metadata.fine_tuned_from
    return Training(tuple(dict.fromkeys(names)), True)


def cycle_from(model: str, stated: Callable[[str], Stated | None]) -> tuple[str, ...]:
    """Return the models that follow each other from a model back to one of them; empty if there is no cycle.

    Examples
    --------
    >>> models = {"a": Stated((), "b"), "b": Stated((), "a"), "c": Stated((), None)}
    >>> cycle_from("a", models.get), cycle_from("c", models.get)
    (('a', 'b', 'a'), ())
    """
    passed: list[str] = []
    current: str | None = model
    while current is not None:
        if current in passed:
            return (*passed, current)
        passed.append(current)
        metadata = stated(current)
        current = None if metadata is None else metadata.fine_tuned_from
    return ()


def compare(training: Training, taken_from: Sequence[str] | None) -> Finding:
    """Compare what a model was trained on with what stimuli are taken from, by the names of data sets.

    Parameters
    ----------
    training : Training
        What the model was trained on.
    taken_from : sequence of str or None
        Data sets that contain the stimuli, or what they were made from; empty if there are none, None if
        it is not known.

    Returns
    -------
    Finding
        ``'trained on it'`` if a data set of the stimuli is among those of the model, or part of one. ``'clean'`` if the
        model was trained on nothing, the stimuli are in no other data set, or none of the data sets is known to share
        content with them. Otherwise ``'unknown'``: something is not stated, only a part of a data set is shared, or
        one of the data sets is a crawl of the web, or of unknown origin. No content is compared.

    Examples
    --------
    >>> supervised = Training(("ImageNet (ILSVRC 2012)",), complete=True)
    >>> compare(supervised, ["ImageNet (ILSVRC 2012)"]).state
    'trained on it'
    >>> print(*compare(supervised, ["ImageNet (ILSVRC 2012), validation"]), sep=": ")
    clean: the stimuli are from ImageNet (ILSVRC 2012), validation, held out of ImageNet (ILSVRC 2012)
    >>> compare(Training(("WIT-400M",), complete=True), ["ImageNet-Sketch"])
    Finding(state='unknown', reason='whether WIT-400M has content of ImageNet-Sketch is not known')
    """
    if training.complete and not training.names:
        return Finding("clean", "the model was trained on nothing")
    if taken_from is None:
        return Finding("unknown", "it is not known what the stimuli are taken from")
    if not taken_from:
        return Finding("clean", "the stimuli are in no other data set")
    findings = [_compare(training, name) for name in taken_from]
    return max(findings, key=lambda finding: get_args(Exposure).index(finding.state))


def _compare(training: Training, stimuli: str) -> Finding:
    of_stimuli = _listed(stimuli)
    containing = [name for name in training.names if of_stimuli.name.lower() in _with_parts(name)]
    if containing:
        of = of_stimuli.name
        return Finding("trained on it", f"the stimuli are from {of}" + _which(containing[0], of))
    if not training.complete:
        return Finding("unknown", "it is not known what the model was trained on")
    contained = [name for name in training.names if name.lower() in _with_parts(of_stimuli.name)]
    if contained:
        return Finding(
            "unknown", f"the stimuli are from {of_stimuli.name}, and the model was trained on a part, {contained[0]}"
        )
    if of_stimuli.origin == "made":
        return Finding("clean", f"the model was not trained on {of_stimuli.name}")
    held_out = [superset.lower() for superset in of_stimuli.held_out_of]
    for name in training.names:
        data_set = _listed(name)
        if data_set.origin != "made" and name.lower() not in held_out and "" in (of_stimuli.origin, data_set.origin):
            unclear = of_stimuli if not of_stimuli.origin else data_set
            return Finding("unknown", f"it is not known where {unclear.name} is from")
        if data_set.origin == "crawl" and name.lower() not in held_out:
            return Finding("unknown", f"whether {data_set.name} has content of {of_stimuli.name} is not known")
    apart = [name for name in training.names if name.lower() in held_out]
    if apart:
        return Finding("clean", f"the stimuli are from {of_stimuli.name}, held out of {_listed(apart[0]).name}")
    return Finding("clean", f"the model was not trained on {of_stimuli.name}")


def explained_signs(states: Iterable[str]) -> tuple[str, ...]:
    """Return what the signs of scores mean, for those that occur.

    Examples
    --------
    >>> explained_signs(["clean", "trained on it", ""])
    ('† trained on it: the model, or one that it was fine-tuned from, was trained on data that hold the stimuli',)
    """
    occurring = set(states)
    return tuple(
        f"{mark.sign} {mark.text}: {mark.meaning}" for state, mark in MARKS.items() if mark.sign and state in occurring
    )


def _which(containing: str, part: str) -> str:
    name = _listed(containing).name
    return ", which the model was trained on" if name == part else f", a part of {name}, which the model was trained on"


def _listed(name: str) -> DataSet:
    return data_sets().get(name.lower(), DataSet(name))


def _with_parts(name: str) -> set[str]:
    names: set[str] = set()
    remaining = [name.lower()]
    while remaining:
        current = remaining.pop()
        if current not in names:
            names.add(current)
            remaining += [contained.lower() for contained in _listed(current).contains]
    return names
