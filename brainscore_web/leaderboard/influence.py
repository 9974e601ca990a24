"""Influence of units on scores, kept in the database in a compact form, by which models are compared."""

from __future__ import annotations

import logging
import math
from collections.abc import Iterable, Sequence
from dataclasses import replace
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from brainscore_core.errors import UserError
from brainscore_core.numerics.influence import SUMS, UNKNOWN, ScoreInfluence, UnitInfluence
from brainscore_core.scoring import Receipt, ResultsStore
from brainscore_core.statistics.units import Incomparable, read_influence
from brainscore_web.leaderboard import revision
from brainscore_web.leaderboard.models import Score, StoredInfluence, chunks
from brainscore_web.leaderboard.revision import Cache

MOST_BYTES = 64_000
"""Largest content of a row; units of which there are more than 512 are summed in blocks, so few come near it."""

MOST_NAMES = 50
"""Largest number of names of data in a row: models may make receipts name any number."""

_log = logging.getLogger(__name__)
_KINDS_WITH_UNITS = {"influence", "predictions"}


def pack(influence: ScoreInfluence | None) -> StoredInfluence:
    """Make a row, without its score; without parts for None, or if the content would be too large."""
    if influence is None:
        return StoredInfluence()
    parts = [_single(part) for part in influence.compact().parts]
    content = b"".join(
        part.codes.astype("<u8").tobytes()
        + part.values.astype("<f4").tobytes()
        + (b"" if part.twice is None else part.twice.astype("<f4").tobytes())
        for part in parts
    )
    numbers = (influence.bias, influence.ceiling)
    if len(content) > MOST_BYTES or not all(map(math.isfinite, numbers)):
        return StoredInfluence()
    return StoredInfluence(
        bias=influence.bias,
        ceiling=influence.ceiling,
        ceiling_id=influence.ceiling_id[:300],
        parts=[
            [
                part.kind,
                [name[:200] for name in part.data[:MOST_NAMES]],
                len(part.codes),
                part.blocked,
                part.paired,
                0 if part.twice is None else SUMS,
            ]
            for part in parts
        ],
        content=content,
    )


def unpack(row: StoredInfluence, value: float) -> ScoreInfluence | None:
    """Read a row; None if it has no parts, or is damaged, so that its score is not tested."""
    if not row.parts:
        return None
    content, start, parts = bytes(row.content), 0, []
    described = [[*part, 0] if len(part) == 5 else part for part in row.parts]  # those of earlier versions have 5 items
    if len(content) != sum(12 * n + 4 * sums for _, _, n, _, _, sums in described):
        _log.error(
            "The influences of score %d are damaged: delete the row, and ingest its results again.", row.score_id
        )
        return None
    for kind, data, n, blocked, paired, sums in described:
        codes = _codes(content[start : start + 8 * n])
        values = np.frombuffer(content, "<f4", n, start + 8 * n).astype(np.float64)
        names = _names(data, UNKNOWN) if isinstance(data, str) else _names(*data)  # a text in rows of earlier versions
        start += 12 * n
        twice = np.frombuffer(content, "<f4", sums, start).astype(np.float64) if sums else None
        parts.append(UnitInfluence(kind, names, codes, values, blocked, paired, twice))
        start += 4 * sums
    return ScoreInfluence(value - row.bias, tuple(parts), row.bias, row.ceiling, row.ceiling_id)


@lru_cache(maxsize=4096)
def _names(*names: str) -> tuple[str, ...]:
    """Names of data. Most scores of a benchmark have the same ones, which are kept in memory once."""
    return names


@lru_cache(maxsize=1024)
def _codes(content: bytes) -> NDArray[np.uint64]:
    """Read codes of units. All scores of a benchmark have the same ones, which are kept in memory once."""
    codes = np.frombuffer(content, "<u8").astype(np.uint64)
    codes.flags.writeable = False
    return codes


def _single(part: UnitInfluence) -> UnitInfluence:
    """The same with values that single precision can hold."""
    largest = float(np.finfo(np.float32).max)
    return replace(part, values=np.clip(part.values, -largest, largest))


def read_compact(store: ResultsStore, receipt: Receipt) -> StoredInfluence | None:
    """Read what is stored beside a receipt; None if it is not a score, or its files cannot be read at present."""
    if receipt.state != "scored" or not _KINDS_WITH_UNITS & {item.kind for item in receipt.attachments}:
        return None
    try:
        return pack(read_influence(store, receipt))
    except Incomparable:
        return pack(None)  # what is stored does not belong to the score, or is too little
    except (UserError, OSError, ValueError, KeyError):
        return None


def keep_influences(store: ResultsStore, receipts: Iterable[Receipt]) -> int:
    """Read and keep the influences of those scores that the site has and of which none were read so far."""
    by_id = {receipt.id: receipt for receipt in receipts}
    found: list[StoredInfluence] = []
    for some in chunks(by_id):
        missing = Score.objects.order_by().filter(receipt__in=some, state=Score.State.SCORED, influence=None)
        for pk, identifier in missing.values_list("pk", "receipt"):
            row = read_compact(store, by_id[identifier])
            if row is not None:
                row.score_id = pk
                found.append(row)
    write_influences(found)
    return len(found)


def write_influences(rows: Sequence[StoredInfluence]) -> None:
    """Write rows; those of scores that have one are skipped."""
    if not rows:
        return
    with revision.exclusive_write():
        StoredInfluence.objects.bulk_create(rows, ignore_conflicts=True)
        revision.bump()


def _size(influence: ScoreInfluence) -> int:
    return sum(part.values.nbytes + (0 if part.twice is None else part.twice.nbytes) + 500 for part in influence.parts)


# by primary key of a score and its value; rows never change
_cached: Cache[tuple[int, float], ScoreInfluence] = Cache(most=200_000_000, weigh=_size)


def influences_of(scores: dict[int, float]) -> dict[int, ScoreInfluence]:
    """Return the influences on scores, those read before from memory."""
    cached = {pk: _cached.find((pk, value)) for pk, value in scores.items()}
    found = {pk: influence for pk, influence in cached.items() if influence is not None}
    for some in chunks([pk for pk in scores if pk not in found]):
        for row in StoredInfluence.objects.order_by().filter(score__in=some).exclude(parts=[]):
            influence = unpack(row, scores[row.score_id])
            if influence is not None:
                found[row.score_id] = influence
                _cached.put((row.score_id, scores[row.score_id]), influence)
    return found


def clear_influences() -> None:
    """Clear the influences that this process remembers."""
    _cached.clear()
