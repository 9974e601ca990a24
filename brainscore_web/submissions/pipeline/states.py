"""State machine of submissions: pure functions over the states of a submission and its steps."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import Enum
from typing import Any

from brainscore_web.submissions.models import Step, Submission

__all__ = ["Change", "Event", "change_after"]

_S: Any = Submission.State
_T: Any = Step.State
_K: Any = Step.Kind

_AUTOMATIC = (_K.CHECK, _K.TEST, _K.PUBLISH)
_STATE_OF = {_K.CHECK: _S.QUEUED, _K.TEST: _S.QUEUED, _K.PUBLISH: _S.PUBLISHING}
"""The state of a submission while one of its steps waits or runs."""
_UNENDED = (_T.WAITING, _T.RUNNING)


class Event(Enum):
    """An event in the processing of a submission."""

    STARTED = "started"
    STARTED_WITH_ERRORS = "started with errors"
    PASSED = "passed"
    FAILED = "failed"
    APPROVED = "approved"
    CHANGES = "changes"
    REJECTED = "rejected"
    WITHDRAWN = "withdrawn"
    RETRIED = "retried"
    CANCELLED = "cancelled"
    SCORED = "scored"


@dataclass(frozen=True)
class Change:
    """The result of an event.

    Attributes
    ----------
    state : str
        The new state of the submission.
    steps : dict of str
        Kind → new state, for the steps that change.
    due : str
        Kind of the automatic step that is due now; empty if none is.
    """

    state: str
    steps: Mapping[str, str] = field(default_factory=dict)
    due: str = ""


def change_after(
    event: Event, state: str, steps: Mapping[str, str], *, kind: str = "", review: bool = True
) -> Change | None:
    """Return the change that an event causes.

    Parameters
    ----------
    event : Event
        The event.
    state : str
        The state of the submission.
    steps : mapping of str
        Kind → state of the newest revision's steps.
    kind : str
        Kind of the step that passed, failed, or is to be retried.
    review : bool
        Whether the revision needs review.

    Returns
    -------
    Change or None
        None if the event is not possible in this state; nothing changes then.
    """
    match event:
        case Event.STARTED if state in (_S.QUEUED, _S.CHANGES, _S.REVIEW):
            return Change(_S.QUEUED, due=_K.CHECK)
        case Event.STARTED_WITH_ERRORS if state in (_S.QUEUED, _S.CHANGES, _S.REVIEW):
            return Change(_S.CHANGES, {_K.CHECK: _T.FAILED})
        case Event.PASSED if steps.get(kind) == _T.RUNNING and state == _STATE_OF.get(_K(kind)):
            return _passed(kind, review)
        case Event.FAILED if steps.get(kind) == _T.RUNNING and state == _STATE_OF.get(_K(kind)):
            return Change(_S.CHANGES, {kind: _T.FAILED})
        case Event.APPROVED if _in_review(state, steps):
            return Change(_S.PUBLISHING, {_K.REVIEW: _T.PASSED}, due=_K.PUBLISH)
        case Event.CHANGES if _in_review(state, steps):
            return Change(_S.CHANGES, {_K.REVIEW: _T.FAILED})
        case Event.REJECTED if state in (_S.QUEUED, _S.CHANGES, _S.REVIEW):
            return Change(_S.REJECTED, {**_ended(steps), _K.REVIEW: _T.FAILED})
        case Event.WITHDRAWN if state in (_S.QUEUED, _S.CHANGES, _S.REVIEW, _S.PUBLISHING):
            return Change(_S.WITHDRAWN, _ended(steps))
        case Event.RETRIED:
            return _retried(state, steps, kind)
        case Event.CANCELLED:
            return _cancelled(state, steps)
        case Event.SCORED if state == _S.SCORING:
            return Change(_S.DONE, {_K.SCORE: _T.PASSED})
    return None


def _passed(kind: str, review: bool) -> Change:
    if kind == _K.CHECK:
        return Change(_S.QUEUED, {kind: _T.PASSED}, due=_K.TEST)
    if kind == _K.TEST and review:
        return Change(_S.REVIEW, {kind: _T.PASSED})
    if kind == _K.TEST:
        return Change(_S.PUBLISHING, {kind: _T.PASSED, _K.REVIEW: _T.SKIPPED}, due=_K.PUBLISH)
    return Change(_S.SCORING, {kind: _T.PASSED, _K.SCORE: _T.RUNNING})


def _in_review(state: str, steps: Mapping[str, str]) -> bool:
    return state == _S.REVIEW and steps.get(_K.REVIEW) == _T.WAITING


def _ended(steps: Mapping[str, str]) -> dict[str, str]:
    return {kind: _T.CANCELLED for kind, state in steps.items() if state in _UNENDED}


def _retried(state: str, steps: Mapping[str, str], kind: str) -> Change | None:
    if kind == _K.SCORE:  # its jobs have the results
        return Change(_S.SCORING, {kind: _T.RUNNING}) if state == _S.DONE else None
    if state != _S.CHANGES or kind not in _AUTOMATIC or steps.get(kind) not in (_T.FAILED, _T.CANCELLED):
        return None
    return Change(_STATE_OF[_K(kind)], {kind: _T.WAITING}, due=kind)


def _cancelled(state: str, steps: Mapping[str, str]) -> Change | None:
    """Cancel the automatic step in progress; it can be retried."""
    if state == _S.SCORING:
        return Change(_S.DONE, {_K.SCORE: _T.CANCELLED})
    if state not in (_S.QUEUED, _S.PUBLISHING):
        return None
    turn = next((kind for kind in _AUTOMATIC if steps.get(kind) in _UNENDED), None)
    return None if turn is None else Change(_S.CHANGES, {turn: _T.CANCELLED})
