"""What can be wrong with a receipt, or with the place where receipts are."""

from brainscore_core.errors import UserError

__all__ = ["ReceiptError", "StoreError"]


class ReceiptError(UserError, ValueError):
    """A receipt that is not JSON, does not follow the schema, or was written by a newer version."""


class StoreError(UserError):
    """Receipts cannot be read or written where they are."""
