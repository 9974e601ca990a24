"""Pairs that the site could not run: data, weights, a server, space or software was missing, and nothing was scored.

Their receipts have the state *failed*, since a receipt only knows that an error ended the pair. The site shows them as
*not run*: the error says nothing about the model.
"""

from __future__ import annotations

import re

from brainscore_core.scoring import Receipt

__all__ = ["NOT_RUN", "NOT_RUN_REASONS", "not_run_reason"]

NOT_RUN = "not run"

NOT_RUN_REASONS = {
    "data": "The site could not run this: data or weights that it needs are not available here",
    "network": "The site could not run this: a server that it needs could not be reached",
    "storage": "The site could not run this: there was no space to store what it needs",
    "software": "The site could not run this: software that it needs is not installed here",
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
_SANDBOX_NOTE = "the model ran in a cage"  # first words of a note in stored receipts
_FROM_MODEL = "In the subject's process:"  # heading of a model's own traceback in that of the pair


def not_run_reason(receipt: Receipt) -> str:
    """Return why the site could not run a pair; empty if the pair was run, with or without a score.

    Errors that a submitted model raises in its sandbox are its own: its files were fetched, and its requirements
    installed, before it was published.

    Parameters
    ----------
    receipt : Receipt
        The receipt of the pair.
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
    return NOT_RUN_REASONS.get(missing, "")
