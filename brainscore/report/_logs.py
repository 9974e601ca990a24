"""The end of what failed pairs printed."""

from __future__ import annotations

from collections.abc import Iterable

from brainscore_core.errors import UserError
from brainscore_core.scoring import Receipt, ResultsStore

__all__ = ["log_ends"]

_MOST = 500
_LENGTH = 3000  # characters of each


def log_ends(store: ResultsStore, receipts: Iterable[Receipt]) -> dict[str, str]:
    """Read the last of the logs that failed pairs left; of the newest 500, so that a page stays a page.

    Parameters
    ----------
    store : ResultsStore
        Where the receipts are from.
    receipts : iterable of Receipt
        Any; those that did not fail and those without a log are passed over.

    Returns
    -------
    dict
        Receipt's id → text. Of a log that cannot be read, the reason.
    """
    failed = [
        receipt
        for receipt in receipts
        if receipt.state == "failed" and any(item.kind == "log" for item in receipt.attachments)
    ]
    failed.sort(key=lambda receipt: receipt.id, reverse=True)
    ends = {}
    for receipt in failed[:_MOST]:
        try:
            text = store.read_log(receipt) or ""
        except (OSError, UserError) as error:
            ends[receipt.id] = f"(the log cannot be read: {getattr(error, 'message', error)})"
        else:
            ends[receipt.id] = text if len(text) <= _LENGTH else f"…{text[-_LENGTH:]}"
    return ends
