"""Where receipts are kept: a folder or a part of a bucket."""

import os
import re
from pathlib import Path

from brainscore_core.errors import UserError
from brainscore_core.scoring._backend import Backend
from brainscore_core.scoring._store_folder import FolderBackend

__all__ = ["backend_of", "default_results_address"]

_S3 = re.compile(r"s3:/{1,2}(?!/)")  # a path object has lost one of the two slashes


def default_results_address() -> str:
    """Where receipts go when nobody says otherwise.

    Returns
    -------
    str
        ``$BRAINSCORE_RESULTS``, a folder or ``s3://bucket/prefix``; else ``$BRAINSCORE_HOME/results``, else
        ``~/.brain-score/results``.

    Examples
    --------
    >>> Path(default_results_address()).name
    'results'
    """
    if address := os.environ.get("BRAINSCORE_RESULTS"):
        return address if _S3.match(address) else str(Path(address).expanduser())
    return str(Path(os.environ.get("BRAINSCORE_HOME") or "~/.brain-score").expanduser() / "results")


def backend_of(address: str | os.PathLike[str]) -> Backend:
    """Give what reads and writes files at an address.

    Raises
    ------
    UserError
        If it is neither a folder nor ``s3://bucket/prefix``.
    """
    address = os.fspath(address)
    if match := _S3.match(address):
        from brainscore_core.scoring._store_s3 import BucketBackend

        return BucketBackend(f"s3://{address[match.end() :]}")
    if "://" in address:
        raise UserError(f"receipts cannot be kept at {address}", remedy="name a folder or s3://bucket/folder")
    return FolderBackend(Path(address).expanduser())
