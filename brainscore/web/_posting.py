"""Sending receipts to a site, some at a time."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from brainscore.web._connection import Connection
from brainscore_core.errors import UserError

__all__ = ["Posted", "Refused", "post"]

_BYTES = 1_000_000
_COUNT = 250


@dataclass(frozen=True, kw_only=True)
class Refused:
    """A receipt that was not taken: which, why, and what to do about it."""

    receipt: str
    message: str
    remedy: str | None


@dataclass(frozen=True, kw_only=True)
class Posted:
    """How many receipts are new to the site, how many it had, and which it did not take."""

    added: int
    known: int
    problems: tuple[Refused, ...]


def post(
    connection: Connection,
    receipts: Any,
    *,
    visibility: str,
    progress: Callable[[int, int], None] | None,
) -> Posted:
    """Send receipts: see `Client.post_receipts`."""
    waiting, problems = _gathered(receipts)
    added = known = done = 0
    for batch in _batches(waiting):
        body = b"[" + b",".join(text for _, text in batch) + b"]"
        answer = connection.post("receipts", body, [("visibility", visibility)])
        added, known, done = added + answer["added"], known + answer["known"], done + len(batch)
        problems += [Refused(**{name: one[name] for name in ("receipt", "message", "remedy")})
                     for one in answer["problems"]]  # fmt: skip
        if progress is not None:
            progress(done, len(waiting))
    return Posted(added=added, known=known, problems=tuple(problems))


def _gathered(receipts: Any) -> tuple[list[tuple[str, Any]], list[Refused]]:
    """Names and contents of all receipts, and what cannot be read."""
    from brainscore_core.scoring import Receipt, ResultsStore

    if isinstance(receipts, str | os.PathLike):
        if "://" not in os.fspath(receipts) and not Path(receipts).expanduser().is_dir():
            raise UserError(f"there is no folder {os.fspath(receipts)!r}", remedy="name a folder of receipts")
        receipts = ResultsStore(receipts)
    if isinstance(receipts, Receipt | Mapping):
        receipts = [receipts]
    problems = []
    if isinstance(receipts, ResultsStore):
        listing = receipts.listing()
        problems = [Refused(receipt=one.path, message=one.message, remedy=one.remedy) for one in listing.problems]
        receipts = listing.receipts
    return [(getattr(one, "id", "") or str(place), one) for place, one in enumerate(receipts, 1)], problems


def _batches(waiting: Iterable[tuple[str, Any]]) -> Iterator[list[tuple[str, bytes]]]:
    """So many at a time that the site takes them."""
    batch: list[tuple[str, bytes]] = []
    size = 0
    for name, one in waiting:
        content = one if isinstance(one, Mapping) else one.to_dict()
        try:
            text = json.dumps(content, ensure_ascii=False, allow_nan=False, separators=(",", ":")).encode()
        except (TypeError, ValueError) as error:
            raise UserError(
                f"receipt {name} cannot be sent: {error}", remedy="send what Receipt.to_dict gives"
            ) from error
        if batch and (size + len(text) > _BYTES or len(batch) == _COUNT):
            yield batch
            batch, size = [], 0
        batch.append((name, text))
        size += len(text)
    if batch:
        yield batch
