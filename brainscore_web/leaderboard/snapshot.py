"""Everything that one kind of visitor may see of the leaderboard, as arrays."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from datetime import UTC, date, datetime, time
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from brainscore_core.results.aggregates import LEAF_STATES, Tree, TreeNode, counting
from brainscore_web.leaderboard import _loading, revision
from brainscore_web.leaderboard._cache import Cache
from brainscore_web.leaderboard._rows import BenchmarkRow, ModelRow
from brainscore_web.leaderboard.models import Visibility, VisionModel, Visitor

__all__ = ["STATES", "BenchmarkRow", "ModelRow", "Snapshot", "SnapshotKey", "forget", "snapshot_for"]

STATES = LEAF_STATES
"""What came of a model on a benchmark; the place of a state is its code."""

_SCORED = STATES.index("scored")
_APART = "\x00apart"  # gathers, for the choice of scores, the benchmarks that count in no mean


class SnapshotKey(NamedTuple):
    """What snapshots differ by."""

    revision: int
    audience: str
    at: date | None


@dataclass(frozen=True, eq=False, repr=False)
class Snapshot:
    """What one kind of visitor may see; arrays are models × benchmarks and cannot be written to.

    Attributes
    ----------
    revision : int
        Of the site's data, when it was read.
    audience : str
        ``'public'``; ``'all'`` for administrators; else a digest of the private models that are seen.
    at : date or None
        The end of which day (UTC) it shows; None: now.
    models : tuple of ModelRow
        Those with at least one receipt, by identifier.
    benchmarks : tuple of BenchmarkRow
        Those that count in means, in the tree's order; those that stand apart; controls.
    tree : Tree
        Of the first of these.
    state : array of int8
        Places in :data:`STATES`.
    value, error, low, high : array
        Scores, ceiled, with standard errors and limits of their intervals; NaN where there is none.
    raw, raw_error, raw_low, raw_high : array
        The same before normalisation by the ceiling.
    score : array of int64
        Primary key of the `Score` that is shown, also where it failed or is outdated; -1 where there is none.
    model_index, benchmark_index : dict
        Rows and columns by identifier.
    """

    revision: int
    audience: str
    at: date | None
    models: tuple[ModelRow, ...]
    benchmarks: tuple[BenchmarkRow, ...]
    tree: Tree
    state: NDArray[np.int8]
    value: NDArray[np.float64]
    error: NDArray[np.float64]
    low: NDArray[np.float64]
    high: NDArray[np.float64]
    raw: NDArray[np.float64]
    raw_error: NDArray[np.float64]
    raw_low: NDArray[np.float64]
    raw_high: NDArray[np.float64]
    score: NDArray[np.int64]
    model_index: dict[str, int]
    benchmark_index: dict[str, int]

    def __repr__(self) -> str:
        when = f", {self.at}" if self.at else ""
        return f"<Snapshot {self.revision}, {self.audience}{when}: {len(self.models)} × {len(self.benchmarks)}>"

    @cached_property
    def digest(self) -> str:
        """Of everything in it but the revision: the same as long as this audience sees the same."""
        made = hashlib.sha256(repr((self.audience, self.at, self.models, self.benchmarks)).encode())
        for identifier in self.tree:
            made.update(repr(self.tree[identifier]).encode())
        for name in ("state", "score", *_loading.NUMBERS):
            made.update(getattr(self, name).tobytes())
        return made.hexdigest()[:32]

    @property
    def key(self) -> SnapshotKey:
        """What it differs from others by."""
        return SnapshotKey(self.revision, self.audience, self.at)


_scores: Cache[int, _loading.Scores] = Cache(most=2)
_snapshots: Cache[SnapshotKey, Snapshot] = Cache(most=8)
_earlier: Cache[SnapshotKey, Snapshot] = Cache(most=4)  # looking back does not displace what is shown to most


def snapshot_for(visitor: Visitor, *, at: date | None = None) -> Snapshot:
    """Everything that this visitor may see; kept until something changes.

    Parameters
    ----------
    visitor : User or AnonymousUser
        Private models of others do not enter.
    at : date, optional
        Show the leaderboard as of the end of this day (UTC): by the receipts made until then, in the benchmarks'
        versions of then. Who may see what, and the tree, are those of today.
    """
    key = SnapshotKey(revision.current(), _audience(visitor), at)

    def make() -> Snapshot:
        _scores.drop(lambda known: known < key.revision)
        for cache in (_snapshots, _earlier):
            cache.drop(lambda known: known.revision < key.revision)
        return _load(visitor, key)

    return (_snapshots if at is None else _earlier).get(key, make)


def forget() -> None:
    """Empty the caches of this process."""
    from brainscore_web.leaderboard import board

    for cache in (_scores, _snapshots, _earlier):
        cache.clear()
    board.forget()


def _audience(visitor: Visitor) -> str:
    if not visitor.is_authenticated:
        return "public"
    if visitor.is_active and visitor.has_perm("leaderboard.view_private"):
        return "all"
    private = VisionModel.objects.visible_to(visitor).exclude(visibility=Visibility.PUBLIC)
    seen = sorted(private.order_by().values_list("pk", flat=True))
    return hashlib.sha256(repr(seen).encode()).hexdigest()[:32] if seen else "public"


def _load(visitor: Visitor, key: SnapshotKey) -> Snapshot:
    until = None if key.at is None else datetime.combine(key.at, time.max, UTC)
    models = _loading.load_models(visitor, all_seen=key.audience == "all")
    tree, benchmarks = _loading.load_structure(until)
    scores = _scores.get(key.revision, _loading.load_scores)
    numbers = dict(zip(_loading.NUMBERS, scores.numbers, strict=True))
    n_made = len(scores.pk) if until is None else int(np.searchsorted(scores.created, _moment(until), side="right"))

    of_model = _places(scores.model[:n_made], [model.pk for model in models])
    of_benchmark = _places(scores.benchmark[:n_made], [one.pk for one in benchmarks])
    has_receipt = np.zeros(len(models), dtype=bool)
    has_receipt[of_model[of_model >= 0]] = True
    models = [model for model, shown in zip(models, has_receipt.tolist(), strict=True) if shown]
    known = np.flatnonzero((of_model >= 0) & (of_benchmark >= 0))
    of_model, of_benchmark = (np.cumsum(has_receipt) - 1)[of_model[known]], of_benchmark[known]

    apart = [
        TreeNode(identifier=one.identifier, parent=_APART, benchmark=True, version=one.version or None, order=place)
        for place, one in enumerate(benchmarks)
        if not one.in_tree
    ]
    everything = tree.extended([TreeNode(identifier=_APART, order=2**62), *apart])
    found = counting(
        everything,
        of_model,
        of_benchmark,
        n_models=len(models),
        versions=scores.version[known],
        states=scores.state[known],
        created=known,  # the oldest first
        scores=numbers["value"][known],
        errors=numbers["error"][known],
    )
    there, counts = found.rows >= 0, found.states == _SCORED
    arrays: dict[str, NDArray[np.float64]] = {}
    for name in _loading.NUMBERS:
        arrays[name] = np.full(found.rows.shape, np.nan)
        arrays[name][counts] = numbers[name][known[found.rows[counts]]]
    score = np.full(found.rows.shape, -1, dtype=np.int64)
    score[there] = scores.pk[known[found.rows[there]]]
    made: list[NDArray[Any]] = [*arrays.values(), score, found.states]
    for array in made:
        array.flags.writeable = False
    return Snapshot(
        revision=key.revision,
        audience=key.audience,
        at=key.at,
        models=tuple(models),
        benchmarks=benchmarks,
        tree=tree,
        state=found.states,
        score=score,
        model_index={model.identifier: place for place, model in enumerate(models)},
        benchmark_index={one.identifier: place for place, one in enumerate(benchmarks)},
        **arrays,
    )


def _places(wanted: NDArray[np.int64], known: list[int]) -> NDArray[np.intp]:
    """The place of each key among those known; -1 where it is none of them."""
    if not known:
        return np.full(len(wanted), -1, dtype=np.intp)
    keys = np.array(known, dtype=np.int64)
    order = np.argsort(keys)
    at = np.minimum(np.searchsorted(keys[order], wanted), len(keys) - 1)
    return np.where(keys[order][at] == wanted, order[at], -1).astype(np.intp)


def _moment(moment: datetime) -> np.datetime64:
    return np.datetime64(moment.astimezone(UTC).replace(tzinfo=None), "us")
