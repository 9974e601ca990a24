"""Receipts in a bucket of S3 or of a server that speaks its protocol.

The server must list right after a write, and refuse a write on the condition ``If-None-Match: *`` where there is an
object, and one on ``If-Match`` where the object is another; Amazon's and MinIO do.
"""

import os
import tempfile
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, suppress
from functools import lru_cache
from pathlib import Path
from uuid import uuid4

from brainscore_core.files import STALE, file_digest
from brainscore_core.scoring._claims_s3 import BucketClaims
from brainscore_core.scoring._errors import StoreError
from brainscore_core.scoring._s3 import Bucket, Occupied

__all__ = ["BucketBackend"]

_AT_ONCE = 10  # requests; as many connections as boto3 keeps
_PROBE = ".brain-score-results"


class BucketBackend:
    """Files of receipts below a prefix of a bucket.

    Parameters
    ----------
    address : str
        ``s3://bucket`` or ``s3://bucket/prefix``.
    """

    def __init__(self, address: str) -> None:
        self._bucket = Bucket(address)
        self._is_writable = False
        self.claims = BucketClaims(self._bucket)

    @property
    def address(self) -> str:
        """Bucket and prefix."""
        return self._bucket.address

    def address_of(self, name: str) -> str:
        """Give the address of a file."""
        return self._bucket.address_of(name)

    def require_writable(self) -> None:
        """See whether the bucket can be written and listed: writes a small object, ``.brain-score-results``."""
        if not self._is_writable:
            self._bucket.put(_PROBE, b"Brain-Score keeps receipts here.\n")
            next(iter(self._bucket.listed("", at_most=1)), None)
            self._is_writable = True

    def names(self, benchmark: str | None, model: str | None) -> list[str]:
        """List receipts and attachments, sorted."""
        prefix = "" if benchmark is None else f"{benchmark}/" if model is None else f"{benchmark}/{model}/"
        parts = ((entry.name, entry.name.split("/")) for entry in self._bucket.listed(prefix))
        return sorted(
            name
            for name, path in parts
            if len(path) == 3 and model in {None, path[1]} and not any(part.startswith(".") for part in path)
        )

    def read(self, names: Sequence[str]) -> Iterator[tuple[str, bytes | OSError]]:
        """Read objects, several at once, in the order of `names`."""

        def read_one(name: str) -> bytes | OSError:
            found = self._bucket.get(name)
            return FileNotFoundError(name) if found is None else found.data

        if len(names) == 1:
            yield names[0], read_one(names[0])
            return
        with ThreadPoolExecutor(_AT_ONCE) as pool:
            yield from zip(names, pool.map(read_one, names), strict=True)

    @contextmanager
    def writing(self, pair: str) -> Iterator["_BucketWriting"]:
        """Write files of a pair: attachments are uploaded first and the receipt last, over nothing."""
        with tempfile.TemporaryDirectory(prefix="brainscore-") as folder:
            place = _BucketWriting(self._bucket, pair, Path(folder))
            try:
                yield place
            except BaseException:
                place.undo()
                raise

    def local_file(self, name: str, digest: str) -> Path:
        """Download a file once; the copy is removed when this process ends."""
        path = _downloads(os.getpid()) / f"{digest}{Path(name).suffix}"
        if path.is_file() and file_digest(path, "sha256") == digest:
            return path
        part = path.with_name(f".{uuid4().hex}")
        try:
            if not self._bucket.download(name, part):
                raise FileNotFoundError(name)
            os.replace(part, path)
        finally:
            part.unlink(missing_ok=True)
        return path

    def remove(self, name: str) -> bool:
        """Remove an object; False if there is none."""
        if self._bucket.head(name) is None:
            return False
        self._bucket.delete(name)
        return True

    def sweep(self, pair: str) -> None:
        """Remove attachments without a receipt that killed writers left a day ago."""
        try:
            entries = [(entry.name.rpartition("/")[2], entry) for entry in self._bucket.listed(f"{pair}/")]
            receipts = {file.partition(".")[0] for file, _ in entries if file.endswith(".json")}
            for file, entry in entries:
                if not file.startswith(".") and file.partition(".")[0] not in receipts and entry.age > STALE:
                    self._bucket.delete(entry.name)
        except StoreError:
            return  # who may write may not be allowed to delete


class _BucketWriting:
    """Files of one receipt, made here and uploaded."""

    def __init__(self, bucket: Bucket, pair: str, folder: Path) -> None:
        self._bucket, self._pair, self._folder = bucket, pair, folder
        self._uploaded: list[str] = []
        self._receipt: tuple[str, bytes] | None = None

    def new_file(self) -> Path:
        """Name a file that may be written, on this machine."""
        return self._folder / uuid4().hex

    def keep(self, path: Path, name: str) -> None:
        """Upload a written file."""
        key = f"{self._pair}/{name}"
        self._uploaded.append(key)
        self._bucket.upload(path, key)

    def finish(self, name: str, text: str) -> None:
        """Write the receipt, over nothing."""
        self._receipt = key, data = f"{self._pair}/{name}", text.encode()
        try:
            self._bucket.put(key, data, over=None)
        except Occupied as error:
            found = self._bucket.get(key)  # an answer may be lost, and the request sent again
            if found is None or found.data != data:
                raise StoreError(f"there is another {self._bucket.address_of(key)}", remedy="score again") from error

    def undo(self) -> None:
        """Remove what was uploaded, unless the receipt is there already."""
        with suppress(StoreError):  # what interrupted is told
            found = self._bucket.get(self._receipt[0]) if self._receipt else None
            if found is None:
                for key in self._uploaded:
                    self._bucket.delete(key)


@lru_cache(maxsize=1)
def _temporary(process: int) -> "tempfile.TemporaryDirectory[str]":
    return tempfile.TemporaryDirectory(prefix="brainscore-attachments-")


def _downloads(process: int) -> Path:
    """A folder of this process's own that is removed when it ends."""
    return Path(_temporary(process).name)
