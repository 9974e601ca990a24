"""What can be wrong with a receipt."""

from brainscore_core.errors import UserError

__all__ = ["ReceiptError"]


class ReceiptError(UserError, ValueError):
    """A receipt that is not JSON, does not follow the schema, or was written by a newer version."""
