"""Why a pair has no score: what the site could not run, and replacements for texts that could reveal withheld data."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from brainscore_core.receipts.receipt import ErrorInfo
from brainscore_core.scoring import Receipt
from brainscore_web.leaderboard.clean import objects_in

NOT_RUN = "not run"

NOT_RUN_REASONS = {
    "data": "This could not be run: data or weights that it needs were not available",
    "network": "This could not be run: a server that it needs could not be reached",
    "storage": "This could not be run: there was no space to store what it needs",
    "software": "This could not be run: software that it needs was not installed",
}
"""What was missing → the sentence for readers. What operators can do is in the receipt's error."""

_MISSING = {
    **dict.fromkeys(("DataUnavailable", "NotFound", "AccessDenied", "SeveralUnavailable", "NoCredentials"), "data"),
    **dict.fromkeys(("HashMismatch", "SeveralFailures", "FetchError"), "data"),
    **dict.fromkeys(("Offline", "IncompleteDownload"), "network"),
    "StorageError": "storage",
    **dict.fromkeys(("RequirementsError", "RequirementsUnavailable", "MissingRequirementError"), "software"),
}
"""Type of the error in a receipt → what was missing."""
_NO_SPACE = re.compile(r"\[Errno (28|122)\]")  # the disk, or the quota, is full
_NOT_STARTED = re.compile(r"the subject '[^']*' (did not start|was not ready within )")
"""The interpreter of the model's process ended, or was too slow, before it read any code of the model."""
_SANDBOX_NOTE = "the model ran in a cage"  # first words of a note in stored receipts
_FROM_MODEL = "In the subject's process:"  # heading of a model's own traceback in that of the pair


def lacks_data(error: ErrorInfo | None) -> bool:
    """Whether an error in a receipt means that data or weights were not available, or their server not reachable."""
    return error is not None and _MISSING.get(error.type) in ("data", "network")


def not_run_reason(receipt: Receipt) -> str:
    """Return why the site could not run a pair; empty if the pair was run, with or without a score.

    Errors that a submitted model raises in its sandbox are its own: its files were fetched, and its requirements
    installed, before it was published.
    """
    error = receipt.error
    if receipt.state != "failed" or error is None:
        return ""
    sandboxed = any(note.startswith(_SANDBOX_NOTE) for note in receipt.notes)
    if sandboxed and _FROM_MODEL in (error.traceback or ""):
        return ""
    missing = _MISSING.get(error.type, "")
    if error.type == "OSError" and _NO_SPACE.search(error.message):
        missing = "storage"
    elif error.type == "SubjectFailed" and _NOT_STARTED.match(error.message):
        missing = "software"
    return NOT_RUN_REASONS.get(missing, "")


WITHHELD = "withheld"

_TAIL = "its text is withheld since the benchmark's data are private"
_SENTENCES = {
    "not applicable": f"The model cannot do what the benchmark asks of it; {_TAIL}",
    "undefined": f"The score is not a number; {_TAIL}",
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
    (re.compile(r"WorkerLost\b"), "The process that scored it ended unexpectedly"),
)
_PUBLIC = frozenset(NOT_RUN_REASONS.values())
"""Reasons in the site's own words, which are never withheld."""
_RAISED = f"It raised an error; {_TAIL}"


def withheld_reason(state: str, reason: str) -> str:
    """Return why there is no score, in the site's own words, for visitors who may not see the benchmark's data.

    Examples
    --------
    >>> withheld_reason("failed", "SubjectFailed: the subject 'net' ended by signal 11 (segmentation fault)")
    "The model's process ended by a signal"
    >>> withheld_reason("failed", "ValueError: stimuli [0.1 0.7 0.3]")
    "It raised an error; its text is withheld since the benchmark's data are private"
    >>> withheld_reason("scored", "")
    ''
    """
    if not reason or (state == NOT_RUN and reason in _PUBLIC):
        return reason
    if state == "failed":
        return next((text for pattern, text in _FAILED if pattern.match(reason)), _RAISED)
    return _SENTENCES.get(state, _TAIL.capitalize())


def withheld_document(document: Mapping[str, Any]) -> dict[str, Any]:
    """Return a receipt without anything that may reveal stimuli, for visitors who may not see the benchmark's data.

    URLs of files, notes and printed text are removed; reason and error are in the site's own words. A model that ran in
    the sandbox is not trusted, so everything that it reports about itself is removed, too: weights, files, seeds and
    device.
    """
    reason = withheld_reason(str(document.get("state") or ""), str(document.get("reason") or ""))
    error = document.get("error")
    public = {
        **document,
        "reason": reason or None,
        "error": {**error, "message": reason or WITHHELD, "traceback": WITHHELD} if isinstance(error, dict) else None,
        "files": [{**item, "url": WITHHELD} for item in objects_in(document, "files")],
        "attachments": [item for item in objects_in(document, "attachments") if item.get("kind") != "log"],
        "notes": [],
        "features": [{**item, "layers": []} for item in objects_in(document, "features")],
    }
    notes = document.get("notes")
    if any(str(note).startswith(_SANDBOX_NOTE) for note in (notes if isinstance(notes, list | tuple) else ())):
        timings = document.get("timings")
        public |= {"files": [], "weights": [], "data": [], "seeds": {}, "device": WITHHELD, "features": []}
        public |= {"cache": {"hits": 0, "misses": 0}}
        public |= {"timings": {**timings, "extraction": None} if isinstance(timings, dict) else {}}
    return public


_NOT_ASSESSED = f"This part is not defined for the benchmark; {_TAIL}"
_STIMULI = {"examples", "pairs"}
"""Lists that name single stimuli."""
_NAMES = {
    *("id", "created", "part", "kind", "identifier", "version", "sha256", "state", "code"),
    *("benchmark", "model", "name", "best", "candidates", "generators", "generator", "first", "second"),
    *("description", "rule", "order", "recordings", "within", "units", "reliability_source"),
}
"""Fields whose texts are names of the platform, of models, or of columns of the benchmark's stimuli."""


def withheld_assessment(document: Mapping[str, Any]) -> dict[str, Any]:
    """Return an assessment without anything that may reveal stimuli, for visitors who may not see the benchmark's data.

    Numbers and names of models and methods remain; single stimuli, reasons, notes and printed text are removed.

    Examples
    --------
    >>> pair = {"first": "tiger", "second": "cat", "r": 0.99}
    >>> result = {"clean": False, "pairs": [pair], "tests": [{"kind": "drift", "p": 0.01}], "notes": ["see tiger"]}
    >>> withheld_assessment({"part": "audit", "state": "assessed", "text": "tiger", "result": result})["result"]
    {'clean': False, 'pairs': [], 'tests': [{'kind': 'drift', 'p': 0.01}], 'notes': ['withheld']}
    """
    reason, state, error = document.get("reason"), str(document.get("state") or ""), document.get("error")
    if reason:
        reason = _NOT_ASSESSED if state == "not applicable" else withheld_reason(state, str(reason))
    return {
        **document,
        "settings": _named(document.get("settings"), ""),
        "reason": reason or None,
        "error": {**error, "message": reason or WITHHELD, "traceback": WITHHELD} if isinstance(error, dict) else None,
        "result": _named(document.get("result"), ""),
        "text": "",
    }


def _named(value: Any, field: str) -> Any:
    if isinstance(value, dict):
        return {name: _named(item, name) for name, item in value.items()}
    if isinstance(value, list):
        return [] if field in _STIMULI else [_named(item, field) for item in value]
    return WITHHELD if isinstance(value, str) and field not in _NAMES else value
