"""Finds submissions by the beginning of their identifier, and watches them."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

from brainscore.cli._submission_view import echo_submission, told_of_steps
from brainscore_core.errors import DataUnavailable, UserError

if TYPE_CHECKING:
    from brainscore.web import Client, SubmissionCard

__all__ = ["find", "watch"]

_WHOLE = 36
_PATIENCE = 5
_AT_REST = ("changes", "done", "rejected", "withdrawn")
"""States in which nothing more comes by itself."""


def find(client: Client, identifier: str) -> str:
    """The whole identifier of one of your submissions.

    Parameters
    ----------
    client : Client
        Of the site.
    identifier : str
        Its beginning, or all of it.
    """
    identifier = identifier.strip().lower()
    if len(identifier) >= _WHOLE:
        return identifier
    found = [one for one in client.submissions() if one.id.startswith(identifier)]
    if len(found) == 1:
        return found[0].id
    said = ", ".join(f"{one.id[:13]} ({one.title})" for one in found)
    message = f"{identifier!r} may be {said}" if found else f"no submission of yours begins with {identifier!r}"
    raise UserError(message, remedy="list them with: brainscore status")


def watch(client: Client, identifier: str, *, every: float, until_review: bool) -> SubmissionCard:
    """Print a submission whenever it has changed, until nothing more comes by itself.

    Parameters
    ----------
    client : Client
        Of the site.
    identifier : str
        The submission.
    every : float
        Seconds between questions.
    until_review : bool
        Whether to stop where somebody must review it, which may take days.
    """
    before, failures = None, 0
    while True:
        try:
            card = client.submission(identifier)
            failures = 0
        except DataUnavailable:
            failures += 1
            if failures > _PATIENCE:
                raise
            time.sleep(every)
            continue
        if (told := told_of_steps(card)) != before:
            before = told
            echo_submission(card)
        if card.state in _AT_REST or (until_review and card.state == "review"):
            return card
        time.sleep(every)
