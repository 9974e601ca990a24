"""Claims in a bucket: one object for a pair, ``.claim.json``, and every write on the condition of what is there."""

import json
from collections.abc import Iterator
from typing import Any

from brainscore_core.scoring._claims import Held, parsed
from brainscore_core.scoring._errors import StoreError
from brainscore_core.scoring._s3 import Bucket, Occupied

__all__ = ["BucketClaims"]

_NAME = ".claim.json"


class BucketClaims:
    """Claims below a prefix of a bucket."""

    def __init__(self, bucket: Bucket) -> None:
        self._bucket = bucket

    def found(self, pair: str) -> Held | None:
        """Give the claim of a pair, free or not."""
        return self._held(f"{pair}/{_NAME}")

    def take(self, pair: str, content: dict[str, Any], over: Held | None) -> str | None:
        """Write a claim in place of `over`; None if somebody else was faster."""
        return self._write(pair, content, None if over is None else over.mark)

    def renew(self, pair: str, content: dict[str, Any], mark: str) -> str | None:
        """Write a claim anew; None if it is another's by now."""
        return self._write(pair, content, mark)

    def release(self, pair: str, content: dict[str, Any], mark: str) -> None:
        """Remove a claim, if it is still the one that was taken."""
        name = f"{pair}/{_NAME}"
        try:
            self._bucket.delete(name, only=mark)
        except Occupied:
            return
        except StoreError:
            # a server that removes without conditions only; nobody takes a claim that holds
            if self._bucket.head(name) == mark:
                self._bucket.delete(name)

    def all(self) -> Iterator[Held]:
        """Go through all claims."""
        for entry in self._bucket.listed(""):
            if entry.name.endswith(f"/{_NAME}") and entry.name.count("/") == 2:
                held = self._held(entry.name)
                if held is not None:
                    yield held

    def _held(self, name: str) -> Held | None:
        found = self._bucket.get(name)
        return None if found is None else Held(parsed(found.data), found.age, found.etag)

    def _write(self, pair: str, content: dict[str, Any], over: str | None) -> str | None:
        name = f"{pair}/{_NAME}"
        try:
            return self._bucket.put(name, json.dumps(content).encode(), over=over)
        except Occupied:
            # the answer to a write that went well may be lost, and the write sent again
            held = self._held(name)
            return held.mark if held is not None and held.content == content else None
