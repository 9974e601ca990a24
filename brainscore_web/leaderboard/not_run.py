"""Pairs that the site could not run: data, weights, a server, space or software was missing, and nothing was scored.

Their receipts have the state *failed*, since a receipt only knows that an error ended the pair. The site shows them as
*not run*: the error says nothing about the model.
"""

from __future__ import annotations

import re

from brainscore_core.receipts.receipt import ErrorInfo
from brainscore_core.scoring import Receipt

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
