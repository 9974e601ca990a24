"""Checks of subjects that read text; each raises an error with an explanation, or `NotApplicable`."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from brainscore_core.errors import NotApplicable
from brainscore_core.plugins.conformance import Failed
from brainscore_core.plugins.conformance.models import check_same

_PARTS = ("The quiet", "river ran", "past the", "old mill.")
_OTHERS = ("A dog", "barked twice,", "then slept.")
_RECORDING = ("language_system", "fMRI")
_TASKS = ("reading_times", "next_word")
_UNSUPPORTED = (NotImplementedError, NotApplicable, KeyError)

Make = Callable[[], Any]
"""Makes the subject anew: recordings accumulate in a subject."""


def _identifier(make: Make) -> None:
    identifier = getattr(make(), "identifier", None)
    name = identifier() if callable(identifier) else identifier
    if not isinstance(name, str) or not name.strip():
        raise Failed(f"identifier is {name!r}; it must be a text that names the subject")


def _does_something(make: Make) -> None:
    if not _tasks(make) and not _is_recorded(make):
        raise Failed("it does no task and cannot be recorded from: no benchmark could score it")


def _reading_times(make: Make) -> None:
    if "reading_times" not in _tasks(make):
        raise NotApplicable("it has no reading times")
    _check_presentations(_read(make, "reading_times", _PARTS), "reading times", ("presentation",))


def _next_words(make: Make) -> None:
    if "next_word" not in _tasks(make):
        raise NotApplicable("it predicts no words")
    words = _read(make, "next_word", _PARTS)
    _check_presentations(words, "next words", ("presentation",))
    if not all(isinstance(word, str) for word in words.values.tolist()):
        raise Failed("next words must be texts")


def _recordings(make: Make) -> None:
    _require_recording(make)
    recording = _record(make, _PARTS)
    _check_presentations(recording, "recordings", ("presentation", "neuroid"))
    missing = {"neuroid_id", "layer"} - set(map(str, recording.coords))
    if missing:
        raise Failed(f"the recordings lack the coordinate {', '.join(sorted(missing))}")
    neuroids = recording["neuroid_id"].values
    if len(set(neuroids)) < len(neuroids):
        raise Failed("neuroid_id is not unique in the recordings")
    if not np.isfinite(recording.values).all():
        raise Failed("recordings must be finite numbers")


def _repeatable(make: Make) -> None:
    _compare(_answers(make, _PARTS), _answers(make, _PARTS), "the same text, read twice, has different answers")


def _calls_share_nothing(make: Make) -> None:
    subject = _started(make)
    _digest(subject, _OTHERS)
    _compare(_answers(make, _PARTS), _digest(subject, _PARTS), "answers depend on texts that were read before")


def _later_parts(make: Make) -> None:
    whole, beginning = _answers(make, _PARTS), _answers(make, _PARTS[:2])
    first = {name: answer[:2] for name, answer in whole.items()}
    _compare(beginning, first, "answers to the first parts depend on the parts after them")


def _check_presentations(answer: Any, subject: str, dims: tuple[str, ...]) -> None:
    if tuple(getattr(answer, "dims", ())) != dims:
        raise Failed(f"{subject} have the dims {getattr(answer, 'dims', ())}; they must be {dims}")
    missing = {"stimulus", "part_number"} - set(map(str, answer.coords))
    if missing:
        raise Failed(f"the {subject} lack the coordinate {', '.join(sorted(missing))}")
    if list(answer["stimulus"].values) != list(_PARTS):
        raise Failed(f"{subject} must have one presentation a part, in the order of the parts")
    if list(answer["part_number"].values) != list(range(len(_PARTS))):
        raise Failed("part_number must count the parts from 0")


def _compare(expected: Mapping[str, Any], given: Mapping[str, Any], problem: str) -> None:
    for name, values in expected.items():
        check_same(values, given[name], f"{problem}: {name}")


def _tasks(make: Make) -> tuple[str, ...]:
    def supports(task: str) -> bool:
        try:
            _read(make, task, _PARTS[:1])
        except _UNSUPPORTED:
            return False
        return True

    return tuple(task for task in _TASKS if supports(task))


def _is_recorded(make: Make) -> bool:
    try:
        make().start_neural_recording(*_RECORDING)
    except _UNSUPPORTED:
        return False
    return True


def _require_recording(make: Make) -> None:
    if not _is_recorded(make):
        raise NotApplicable("its language system cannot be recorded from by fMRI")


def _read(make: Make, task: str, parts: tuple[str, ...]) -> Any:
    subject = make()
    subject.start_behavioral_task(task)
    return subject.digest_text(list(parts))["behavior"]


def _record(make: Make, parts: tuple[str, ...]) -> Any:
    subject = make()
    subject.start_neural_recording(*_RECORDING)
    return subject.digest_text(list(parts))["neural"]


def _started(make: Make) -> Any:
    """A subject that answers by numbers: reading times, recordings, or both."""
    subject = make()
    started = False
    if "reading_times" in _tasks(make):
        subject.start_behavioral_task("reading_times")
        started = True
    if _is_recorded(make):
        subject.start_neural_recording(*_RECORDING)
        started = True
    if not started:
        raise NotApplicable("it answers by no numbers")
    return subject


def _digest(subject: Any, parts: tuple[str, ...]) -> dict[str, Any]:
    answers = subject.digest_text(list(parts))
    given = {name: answers.get(name) for name in ("behavior", "neural")}
    return {name: np.asarray(value, dtype=float) for name, value in given.items() if value is not None and len(value)}


def _answers(make: Make, parts: tuple[str, ...]) -> dict[str, Any]:
    return _digest(_started(make), parts)


CHECKS: dict[str, Callable[[Make], None]] = {
    "has an identifier": _identifier,
    "does a task or can be recorded from": _does_something,
    "reading times have one presentation a part, in order": _reading_times,
    "next words are texts, one a part": _next_words,
    "recordings have the dims and coordinates that metrics need": _recordings,
    "answers are reproducible": _repeatable,
    "calls share no context": _calls_share_nothing,
    "parts are read one after the other": _later_parts,
}
