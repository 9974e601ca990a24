"""What is said instead of what a model may have said: it sees stimuli while it is scored, and could print them."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from brainscore_web.leaderboard.clean import objects_in

__all__ = ["WITHHELD", "withheld_document", "withheld_reason"]

WITHHELD = "withheld"

_TAIL = "its text is withheld since the benchmark's data are private"
_SENTENCES = {
    "not applicable": f"The model cannot do what the benchmark asks of it; {_TAIL}",
    "undefined": f"The score is no number; {_TAIL}",
}
_FAILED = (
    (re.compile(r"(SubjectOutOfMemory|OutOfMemory|MemoryError)\b"), "The model ran out of memory"),
    (re.compile(r"PairTimeout\b|\w+: the subject '[^']*' (gave no answer|was not ready) within "), "It took too long"),
    (
        re.compile(r"ProcessDied\b|\w+: the subject '[^']*' ended (by|with exit status \d+, as after) signal "),
        "The model's process ended by a signal",
    ),
    (re.compile(r"\w+: the subject '[^']*' ended with "), "The model's process ended by itself"),
    (re.compile(r"\w+: the subject '[^']*' printed more than "), "The model printed too much"),
    (re.compile(r"WorkerLost\b"), "What scored it ended in the midst"),
)
_RAISED = f"It raised an error; {_TAIL}"
_CAGED = "the model ran in a cage"


def withheld_reason(state: str, reason: str) -> str:
    """Why there is no score, in words of the site's own, for those to whom the benchmark's data are not shown.

    Parameters
    ----------
    state : str
        Of the pair, as in receipts.
    reason : str
        As the receipt says it; only what kind of end it tells of is used.

    Examples
    --------
    >>> withheld_reason("failed", "SubjectFailed: the subject 'net' ended by signal 11 (segmentation fault)")
    "The model's process ended by a signal"
    >>> withheld_reason("failed", "ValueError: stimuli [0.1 0.7 0.3]")
    "It raised an error; its text is withheld since the benchmark's data are private"
    >>> withheld_reason("scored", "")
    ''
    """
    if not reason:
        return ""
    if state == "failed":
        return next((said for pattern, said in _FAILED if pattern.match(reason)), _RAISED)
    return _SENTENCES.get(state, _TAIL.capitalize())


def withheld_document(document: Mapping[str, Any]) -> dict[str, Any]:
    """A receipt without anything in which stimuli may stand, for those to whom the benchmark's data are not shown.

    Addresses of files go, reason and error are in the site's own words, and notes and what was printed are left out.
    Of a model that ran in a cage, so that nobody vouches for it, also all goes that it says of itself: which weights,
    files, seeds and device it used.
    """
    told = withheld_reason(str(document.get("state") or ""), str(document.get("reason") or ""))
    error = document.get("error")
    found = {
        **document,
        "reason": told or None,
        "error": {**error, "message": told or WITHHELD, "traceback": WITHHELD} if isinstance(error, dict) else None,
        "files": [{**item, "url": WITHHELD} for item in objects_in(document, "files")],
        "attachments": [item for item in objects_in(document, "attachments") if item.get("kind") != "log"],
        "notes": [],
    }
    notes = document.get("notes")
    if any(str(note).startswith(_CAGED) for note in (notes if isinstance(notes, list | tuple) else ())):
        timings = document.get("timings")
        found |= {"files": [], "weights": [], "data": [], "seeds": {}, "device": WITHHELD}
        found |= {"cache": {"hits": 0, "misses": 0}}
        found |= {"timings": {**timings, "extraction": None} if isinstance(timings, dict) else {}}
    return found
