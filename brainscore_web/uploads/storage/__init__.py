"""Storage of uploaded files: a folder that the site serves, or an S3 bucket."""

from __future__ import annotations

import functools
from pathlib import Path

from django.conf import settings

from brainscore_core.errors import UserError
from brainscore_web.uploads.storage.base import Grant, LocalFile, Place, Published, Storage, StorageFailure
from brainscore_web.uploads.storage.bucket import BucketStorage
from brainscore_web.uploads.storage.folder import FolderStorage

__all__ = ["Grant", "LocalFile", "Place", "Published", "Storage", "StorageFailure", "storage"]


def storage() -> Storage:
    """Return the storage of the settings."""
    return _made(str(settings.UPLOADS["address"]))


@functools.lru_cache(maxsize=8)
def _made(address: str) -> Storage:
    if address.startswith("s3://"):
        return BucketStorage(address)
    if "://" in address:
        raise UserError(
            f"BRAINSCORE_SITE_UPLOADS is {address!r}", remedy="set it to a folder, or to s3://bucket/prefix"
        )
    return FolderStorage(Path(address).expanduser().absolute())
