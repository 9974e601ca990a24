"""Benchmarks that receipts name, and their versions."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Any

from brainscore_vision.leaderboard import listed_benchmark
from brainscore_web.leaderboard.ingest._models import chunks
from brainscore_web.leaderboard.ingest._rows import Row
from brainscore_web.leaderboard.models import Benchmark, BenchmarkVersion
from brainscore_web.leaderboard.nodes import nodes, placement
from brainscore_web.leaderboard.synced import fill_in

__all__ = ["benchmarks_of", "keep_versions"]

_CEILING = (
    *("ceiling", "ceiling_error", "ceiling_low", "ceiling_high", "ceiling_level"),
    *("ceiling_meaning", "ceiling_estimates", "ceiling_reason", "lower_bound"),
)


def benchmarks_of(rows: Sequence[Row]) -> dict[str, Benchmark]:
    """Benchmarks and means by the identifiers of some rows; benchmarks not known yet are made."""
    rows = sorted(rows, key=lambda row: row.created)
    newest = {row.benchmark: row for row in rows}
    oldest = {row.benchmark: row for row in reversed(rows)}
    found = _found(newest)
    missing = [name for name in newest if name not in found]
    if missing:
        means = nodes().ids
        made = []
        for name in missing:
            if name in means:
                continue  # was made just now
            benchmark = Benchmark(identifier=name, created=oldest[name].created)
            fill_in(benchmark, _values(newest[name], means))
            made.append(benchmark)
        Benchmark.objects.bulk_create(made, ignore_conflicts=True)
        found |= _found(missing)
    return found


def keep_versions(benchmarks: Mapping[str, Benchmark], rows: Iterable[Row]) -> None:
    """Keep what receipts say of versions: since when there is one, and the ceiling of the newest receipt.

    Of benchmarks that the installed package does not know, the newest version counts from now on.
    """
    seen: dict[tuple[str, str], list[Row]] = {}
    for row in rows:
        if row.version:
            seen.setdefault((row.benchmark, row.version), []).append(row)
    kept = _kept({benchmarks[name].pk for name, _ in seen})
    changed = []
    for (name, version), ones in seen.items():
        pk, first = benchmarks[name].pk, min(row.created for row in ones)
        known = kept.get((pk, version))
        one = known or BenchmarkVersion(benchmark_id=pk, version=version, since=first)
        earlier = first < one.since
        if earlier:
            one.since = first
        if _tell_ceiling(one, ones) or earlier or known is None:
            changed.append(one)
            kept[pk, version] = one
    BenchmarkVersion.objects.bulk_create(
        changed,
        update_conflicts=True,
        unique_fields=["benchmark", "version"],
        update_fields=["since", "synced", *_CEILING],
    )
    _choose_versions(benchmarks, seen, kept)


def _found(names: Collection[str]) -> dict[str, Benchmark]:
    return {row.identifier: row for part in chunks(names) for row in Benchmark.objects.filter(identifier__in=part)}


def _kept(benchmarks: Collection[int]) -> dict[tuple[int, str], BenchmarkVersion]:
    return {
        (row.benchmark_id, row.version): row
        for part in chunks(benchmarks)
        for row in BenchmarkVersion.objects.filter(benchmark__in=part)
    }


def _values(row: Row, means: Mapping[str, int]) -> dict[str, Any]:
    place = placement(row.benchmark, means, parent=row.parent, control=row.control, version=row.version)
    return {**place._asdict(), "bibtex": row.bibtex, "plugin": row.benchmark_plugin}


def _tell_ceiling(version: BenchmarkVersion, rows: Iterable[Row]) -> bool:
    """Whether the ceiling is another one now; one that somebody edited stays."""
    newest = max((row for row in rows if row.ceiling is not None), key=lambda row: row.created, default=None)
    if newest is None:
        return False
    moment, written = newest.created.isoformat(timespec="microseconds"), version.synced
    edited = any(getattr(version, name) not in (written.get(name), None, "") for name in _CEILING)
    if edited or moment <= written.get("created", ""):
        return False
    for name in _CEILING:
        setattr(version, name, getattr(newest, name))
    version.synced = {**{name: getattr(newest, name) for name in _CEILING}, "created": moment}
    return True


def _choose_versions(
    benchmarks: Mapping[str, Benchmark],
    seen: Mapping[tuple[str, str], Sequence[Row]],
    kept: Mapping[tuple[int, str], BenchmarkVersion],
) -> None:
    of: dict[int, list[BenchmarkVersion]] = {}
    for (pk, _), version in kept.items():
        of.setdefault(pk, []).append(version)
    for name in {name for name, _ in seen}:
        benchmark = benchmarks[name]
        newest = _newest(of[benchmark.pk]).version
        if listed_benchmark(name) is not None or newest == benchmark.version:
            continue
        values = {"version": newest}
        if (name, newest) in seen:
            values = _values(max(seen[name, newest], key=lambda row: row.created), nodes().ids)
        if changed := fill_in(benchmark, values):
            Benchmark.objects.filter(pk=benchmark.pk).update(**{name: getattr(benchmark, name) for name in changed})


def _newest(versions: Sequence[BenchmarkVersion]) -> BenchmarkVersion:
    """By number where all are numbers, else the one that was seen first latest."""
    if all(one.version.isascii() and one.version.isdigit() for one in versions):
        return max(versions, key=lambda one: int(one.version))
    return max(versions, key=lambda one: one.since)
