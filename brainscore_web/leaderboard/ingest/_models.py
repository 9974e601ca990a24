"""Models that receipts name."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from typing import TYPE_CHECKING, TypeVar

from brainscore_web.leaderboard.ingest._rows import Row
from brainscore_web.leaderboard.models import Visibility, VisionModel
from brainscore_web.leaderboard.synced import fill_in

if TYPE_CHECKING:
    from brainscore_web.accounts.models import User

__all__ = ["chunks", "model_ids"]

T = TypeVar("T")
_AT_ONCE = 500  # of SQLite's parameters


def chunks(items: Collection[T], size: int = _AT_ONCE) -> Iterator[Sequence[T]]:
    """Parts of a collection: a query takes so many parameters."""
    rest = list(items)
    for start in range(0, len(rest), size):
        yield rest[start : start + size]


def model_ids(rows: Sequence[Row], *, owner: User | None, visibility: str) -> dict[str, int]:
    """Primary keys of the models of some rows; those not known yet are made.

    A model that is made private belongs to `owner`.
    """
    plugins = {row.model: row.model_plugin for row in rows}
    found = _found(plugins)
    missing = [name for name in plugins if name not in found]
    if missing:
        made = []
        for name in missing:
            model = VisionModel(identifier=name, visibility=visibility)
            model.owner = owner if visibility == Visibility.PRIVATE else None
            fill_in(model, {"plugin": plugins[name]})
            made.append(model)
        VisionModel.objects.bulk_create(made, ignore_conflicts=True)
        found |= _found(missing)
    return found


def _found(names: Collection[str]) -> dict[str, int]:
    return {
        identifier: pk
        for part in chunks(names)
        for identifier, pk in VisionModel.objects.filter(identifier__in=part).values_list("identifier", "pk")
    }
