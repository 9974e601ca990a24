"""What a snapshot is made of, read from the database: models, benchmarks, their tree, and columns of scores."""

from __future__ import annotations

import math
from collections.abc import Iterable
from datetime import datetime
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from brainscore_core.scoring.aggregates import LEAF_STATES, Tree, TreeNode
from brainscore_web.leaderboard._rows import BenchmarkRow, ModelRow
from brainscore_web.leaderboard.models import (
    Benchmark,
    BenchmarkVersion,
    Score,
    Visibility,
    VisionModel,
    Visitor,
)

__all__ = ["NUMBERS", "Scores", "Structure", "load_models", "load_scores", "load_structure"]

NUMBERS = ("value", "error", "low", "high", "raw", "raw_error", "raw_low", "raw_high")
"""Columns of scores that hold numbers."""

_STATE_CODES = {state: code for code, state in enumerate(LEAF_STATES)}


class Structure(NamedTuple):
    """Benchmarks: those in means in the tree's order, those that stand apart, controls; and the tree of the first."""

    tree: Tree
    benchmarks: tuple[BenchmarkRow, ...]


class Scores(NamedTuple):
    """Columns, one row a receipt, the oldest first."""

    pk: NDArray[np.int64]
    model: NDArray[np.int64]
    benchmark: NDArray[np.int64]
    version: NDArray[np.object_]
    state: NDArray[np.int8]
    numbers: dict[str, NDArray[np.float64]]


def load_models(visitor: Visitor, *, all_seen: bool) -> list[ModelRow]:
    """Models that the visitor may see, by identifier."""
    fields = (
        "pk", "identifier", "title", "visibility", "architecture", "family", "parameters", "size_mb",
        "training_data", "runnable",
    )  # fmt: skip
    rows = VisionModel.objects.visible_to(visitor).order_by("identifier").values(*fields)
    found = []
    for row in rows:
        private = row.pop("visibility") != Visibility.PUBLIC
        row["title"] = row["title"] or row["identifier"]
        found.append(ModelRow(private=private, mine=private and not all_seen, **row))
    return sorted(found, key=lambda row: row.identifier)  # as Python sorts, whatever the database's collation


def load_structure(until: datetime | None) -> Structure:
    """Benchmarks and their tree, in the versions of now or of a moment."""
    rows = list(
        Benchmark.objects.order_by().values(
            "pk", "identifier", "title", "version", "parent_id", "is_mean", "order", "control", "in_tree", "access",
            "region", "species", "task", "stimuli", "metric", "created",
        )
    )  # fmt: skip
    versions = _versions(rows, until)
    names = {row["pk"]: row["identifier"] for row in rows}
    means = {row["identifier"] for row in rows if row["is_mean"]}
    nodes = [
        TreeNode(
            identifier=row["identifier"],
            parent=names[row["parent_id"]] if names.get(row["parent_id"]) in means else None,
            order=row["order"],
            title=row["title"] or None,
        )
        for row in rows
        if row["is_mean"]
    ]
    made: dict[str, BenchmarkRow] = {}
    for row in rows:
        if row["is_mean"] or row["pk"] not in versions:
            continue
        version, ceiling = versions[row["pk"]]
        parent = names.get(row["parent_id"], "")
        counts = row["in_tree"] and not row["control"] and parent in means
        made[row["identifier"]] = BenchmarkRow(
            **{name: row[name] for name in ("pk", "identifier", "access", "control")},
            **{name: row[name] for name in ("region", "species", "task", "stimuli", "metric")},
            title=row["title"] or row["identifier"],
            version=version,
            parent=parent if counts else "",
            in_tree=counts,
            **ceiling,
        )
        if counts:
            nodes.append(
                TreeNode(
                    identifier=row["identifier"],
                    parent=parent,
                    benchmark=True,
                    version=version or None,
                    order=row["order"],
                    title=row["title"] or None,
                )
            )
    tree = Tree(nodes)
    apart = sorted((row for row in made.values() if not row.in_tree), key=lambda row: (row.control, row.identifier))
    return Structure(tree, (*(made[name] for name in tree.benchmarks), *apart))


def load_scores(visitor: Visitor, until: datetime | None) -> Scores:
    """Scores of models that the visitor may see, those of now or up to a moment."""
    query = Score.objects.visible_to(visitor)
    if until is not None:
        query = query.filter(created__lte=until)
    query = query.order_by("created", "pk")
    rows = query.values_list("pk", "model_id", "benchmark_id", "version", "state", *NUMBERS)
    return _columns(rows.iterator(chunk_size=20_000))


def _columns(rows: Iterable[tuple[Any, ...]]) -> Scores:
    columns = list(zip(*rows, strict=True)) or [()] * (5 + len(NUMBERS))
    pk, model, benchmark = (np.array(column, dtype=np.int64) for column in columns[:3])
    state = np.fromiter((_STATE_CODES[one] for one in columns[4]), dtype=np.int8, count=len(columns[4]))
    numbers = {name: np.array(column, dtype=np.float64) for name, column in zip(NUMBERS, columns[5:], strict=True)}
    return Scores(pk, model, benchmark, np.array(columns[3], dtype=object), state, numbers)


def _versions(rows: list[dict[str, Any]], until: datetime | None) -> dict[int, tuple[str, dict[str, Any]]]:
    """Of each benchmark that is there, the version that counts and its ceiling."""
    known: dict[int, list[dict[str, Any]]] = {}
    fields = ("ceiling", "ceiling_error", "ceiling_low", "ceiling_high")
    query = BenchmarkVersion.objects.order_by("-since", "-version")
    for one in query.values("benchmark_id", "version", "since", "ceiling_meaning", *fields):
        one.update({name: math.nan if one[name] is None else one[name] for name in fields})
        known.setdefault(one["benchmark_id"], []).append(one)
    none = dict.fromkeys(fields, math.nan) | {"ceiling_meaning": ""}
    found = {}
    for row in rows:
        all_of_it, counts = known.get(row["pk"], []), row["version"]
        if until is not None:
            if min([row["created"], *(one["since"] for one in all_of_it)]) > until:
                continue
            current = next((place for place, one in enumerate(all_of_it) if one["version"] == counts), 0)
            all_of_it = [one for one in all_of_it[current:] if one["since"] <= until]
            counts = counts and (all_of_it[0]["version"] if all_of_it else counts)
        of = next((one for one in all_of_it if one["version"] == counts or not counts), none)
        found[row["pk"]] = counts, {name: of[name] for name in none}
    return found
