"""The tree's means, and where benchmarks stand among them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

from brainscore_vision.leaderboard import leaderboard_tree, listed_benchmark, node_name
from brainscore_web.leaderboard.models import Benchmark
from brainscore_web.leaderboard.synced import fill_in

__all__ = ["Nodes", "Placement", "nodes", "placement"]


class Nodes(NamedTuple):
    """The means of the tree.

    Attributes
    ----------
    ids : dict of str to int
        Primary keys by identifier.
    added, changed : list of str
        Identifiers of those that are new, and of those that were changed.
    """

    ids: dict[str, int]
    added: list[str]
    changed: list[str]


class Placement(NamedTuple):
    """Where a benchmark stands; attributes of `Benchmark`."""

    parent_id: int | None
    in_tree: bool
    control: bool
    version: str


def nodes() -> Nodes:
    """Make the means of the leaderboard's tree that are missing, and bring the others up to date.

    A benchmark of the same name stays what it is; nothing can be placed below it.
    """
    tree = leaderboard_tree()
    means = [tree[name] for name in tree if not tree[name].benchmark]  # parents come first
    rows = {row.identifier: row for row in Benchmark.objects.filter(is_mean=True)}
    taken = set(
        Benchmark.objects.filter(identifier__in=[node.identifier for node in means], is_mean=False).values_list(
            "identifier", flat=True
        )
    )
    added, changed = [], []
    for node in means:
        if node.identifier in taken:
            continue
        parent = rows.get(node.parent or "")
        row = rows.get(node.identifier) or Benchmark(identifier=node.identifier, is_mean=True)
        values = {"parent_id": parent and parent.pk, "order": node.order, "title": node.title or ""}
        different = fill_in(row, values)
        if row.pk is None:
            Benchmark.objects.bulk_create([row])  # no signals: who calls this counts the revision
            added.append(node.identifier)
            rows[node.identifier] = row
        elif different:
            Benchmark.objects.filter(pk=row.pk).update(**{name: getattr(row, name) for name in different})
            changed.append(node.identifier)
    return Nodes({identifier: row.pk for identifier, row in rows.items()}, added, changed)


def placement(
    identifier: str, means: Mapping[str, int], *, parent: str | None = None, control: bool = False, version: str = ""
) -> Placement:
    """Where a benchmark stands: as the installed package says, else as its receipt does.

    Parameters
    ----------
    identifier : str
        Of the benchmark.
    means : dict of str to int
        Primary keys of the tree's means.
    parent, control, version
        What the receipt says.
    """
    known = listed_benchmark(identifier)
    if known is not None:
        parent, control, version = known.parent, known.control, str(known.version)
    place = means.get(node_name(parent) or "")
    return Placement(place, place is not None and not control, control, version)
