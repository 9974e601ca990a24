"""Standings of a competition as a document and as CSV, computed from public scores only."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable, Sequence
from typing import Any

from django.contrib.auth.models import AnonymousUser
from django.utils import timezone

from brainscore_core.formatting import harmless
from brainscore_core.populations import UNRECORDED, condition_of_all
from brainscore_web.competitions.models import Competition, Entry, Track
from brainscore_web.competitions.rules import Cell, Entered, StandingRow, standings
from brainscore_web.leaderboard.clean import finite
from brainscore_web.leaderboard.models import Benchmark, Score, Visibility, VisionModel
from brainscore_web.leaderboard.reasons import withheld_reason
from brainscore_web.leaderboard.snapshot import STATES, snapshot_for
from brainscore_web.leaderboard.snapshot import Snapshot as Board

SCHEMA = 1
_LONGEST = 200


def public_identifiers(names: Sequence[str]) -> dict[str, set[str]]:
    """Return which of these names are public models, and which are benchmarks, by `Track.competes`."""
    public = VisionModel.objects.filter(identifier__in=names, visibility=Visibility.PUBLIC).order_by()
    benchmarks = Benchmark.objects.filter(identifier__in=names).order_by()
    return {
        Track.Competes.MODELS: set(public.values_list("identifier", flat=True)),
        Track.Competes.BENCHMARKS: set(benchmarks.values_list("identifier", flat=True)),
    }


def is_shown(entry: Entry, competes: str, public: dict[str, set[str]]) -> bool:
    """Whether an entry is public: its model or benchmark is public, or the organisers have published its name."""
    return entry.known or entry.identifier in public[competes]


def standings_document(competition: Competition) -> dict[str, Any]:
    """Compute the current standings."""
    tracks = list(competition.tracks.all())
    names = [entry.identifier for track in tracks for entry in track.entries.all() if entry.identifier]
    public = public_identifiers(names)
    cells = _Cells(snapshot_for(AnonymousUser(), competition.domain))
    computed = []
    for track in tracks:
        entries = [entry for entry in track.entries.all() if is_shown(entry, track.competes, public)]
        computed.append((track, cells.standings(track, entries, competition)))
    receipts = cells.receipts()
    return {
        "schema": SCHEMA,
        "competition": {"slug": competition.slug, "year": competition.year, "title": competition.title},
        "computed": timezone.now().isoformat(),
        "deadline": competition.deadline_end.isoformat() if competition.deadline_end else None,
        "currency": competition.currency,
        "tracks": [_track(track, rows, receipts, cells) for track, rows in computed],
    }


class _Cells:
    """Scores of the leaderboard as cells, with the score that each comes from."""

    def __init__(self, board: Board) -> None:
        self.board = board
        self.used: set[int] = set()
        self.places: dict[tuple[str, str, str], int] = {}
        self.reasons: dict[int, str] = {}

    def standings(
        self, track: Track, entries: Sequence[Entry], competition: Competition
    ) -> list[tuple[Entry, StandingRow]]:
        """Return the standings of a track."""
        by_key = {str(entry.pk): entry for entry in entries}
        pairs = [self._place(track, entry.identifier, names) for entry in entries for names in track.listed_names]
        self._read_reasons([index for index in pairs if index is not None])
        rows = standings(
            [
                Entered(
                    key=str(entry.pk),
                    team=entry.team,
                    identifier=entry.identifier or entry.title,
                    entered=entry.entered,
                    withdrawn=None if entry.withdrawn is None else entry.withdrawn_because,
                )
                for entry in entries
            ],
            track.rule(competition.deadline_end),
            lambda identifier: [self._cell(track, identifier, names) for names in track.listed_names],
        )
        return [(by_key[row.entry.key], row) for row in rows]

    def _place(self, track: Track, entered: str, names: tuple[str, ...]) -> tuple[int, int] | None:
        """Return row and column of a pair, with the first name that the leaderboard has."""
        board = self.board
        if track.competes == Track.Competes.BENCHMARKS:
            rows = [board.model_index[name] for name in names if name in board.model_index]
            columns = [board.benchmark_index[entered]] if entered in board.benchmark_index else []
        else:
            rows = [board.model_index[entered]] if entered in board.model_index else []
            columns = [board.benchmark_index[name] for name in names if name in board.benchmark_index]
        pairs = [(row, column) for row in rows for column in columns]
        return next((pair for pair in pairs if board.score[pair] >= 0), pairs[0] if pairs else None)

    def _cell(self, track: Track, entered: str, names: tuple[str, ...]) -> Cell:
        board, index = self.board, self._place(track, entered, names)
        if index is None:
            models = track.competes == Track.Competes.MODELS
            is_listed = entered in (board.model_index if models else board.benchmark_index)
            return Cell("missing", reason="" if is_listed else f"this site has no public scores of {entered or 'it'}")
        score, state = int(board.score[index]), STATES[int(board.state[index])]
        if score >= 0:
            self.places[track.competes, entered, names[0]] = score
        if state == "scored":
            return Cell(state, finite(board.value[index]), finite(board.error[index]))
        if state == "outdated":
            return Cell(state, reason="only for an outdated version of the benchmark")
        return Cell(state, reason=self.reasons.get(score, ""))

    def _read_reasons(self, places: list[tuple[int, int]]) -> None:
        keys = {int(self.board.score[index]) for index in places if STATES[int(self.board.state[index])] != "scored"}
        if not keys:
            return
        # standings are public, so they give only reasons that any visitor may read
        rows = Score.objects.filter(pk__in=keys - {-1}).with_shows_data(AnonymousUser()).order_by()
        for pk, state, full_reason, shown in rows.values_list("pk", "state", "reason", "shows_data"):
            reason = full_reason if shown else withheld_reason(state, full_reason)
            first = (reason or "").strip().splitlines()[:1]
            self.reasons[pk] = first[0][:_LONGEST] if first else ""

    def condition(self, benchmarks: Iterable[Sequence[str]]) -> str:
        """Return for which few subjects or groups alone scores on benchmarks hold; each may have several names."""
        index, rows = self.board.benchmark_index, self.board.benchmarks
        known = (next((index[name] for name in names if name in index), None) for names in benchmarks)
        return condition_of_all(rows[column].condition for column in known if column is not None)

    def receipts(self) -> dict[tuple[str, str, str], tuple[str, str]]:
        """Return receipt and version of every score used."""
        rows = Score.objects.filter(pk__in=set(self.places.values())).order_by()
        receipt_and_version = {
            pk: (receipt, version) for pk, receipt, version in rows.values_list("pk", "receipt", "version")
        }
        return {pair: receipt_and_version.get(score, ("", "")) for pair, score in self.places.items()}


def _track(
    track: Track,
    rows: list[tuple[Entry, StandingRow]],
    receipts: dict[tuple[str, str, str], tuple[str, str]],
    cells: _Cells,
) -> dict[str, Any]:
    listed = [names[0] for names in track.listed_names]
    return {
        "key": track.pk,
        "title": track.title,
        "competes": track.competes,
        "wins": track.wins,
        "listed": listed,
        "components": [list(path) for path in track.components],
        "not_applicable": track.inapplicable,
        "floor": track.floor,
        "one_a_team": track.one_a_team,
        "split_ties": track.split_ties,
        "condition": cells.condition(track.listed_names) if track.competes == Track.Competes.MODELS else "",
        "prizes": [str(amount) for amount in track.amounts],
        "rows": [
            {
                "entry": entry.pk,
                "place": row.place,
                "standing": row.standing.value,
                "team": entry.team,
                "title": entry.title,
                "identifier": entry.identifier,
                "entered": entry.entered.isoformat() if entry.entered else None,
                "mean": row.mean,
                "error": row.error,
                "n_counted": row.n_counted,
                "condition": "" if track.competes == Track.Competes.MODELS else cells.condition([(entry.identifier,)]),
                "components": [{"name": name, "mean": mean} for name, mean in row.components],
                "prize": None if row.prize is None else str(row.prize),
                "prize_undecided": row.decide,
                "why": list(row.why),
                "cells": [
                    {
                        "name": name,
                        "state": cell.state,
                        "value": cell.value,
                        "error": cell.error,
                        "reason": cell.reason,
                        **dict(
                            zip(
                                ("receipt", "version"),
                                receipts.get((track.competes, entry.identifier, name), ("", "")),
                                strict=True,
                            )
                        ),
                    }
                    for name, cell in zip(listed, row.cells, strict=True)
                ],
            }
            for entry, row in rows
        ],
    }


_COLUMNS = (
    "place",
    "standing",
    "team",
    "title",
    "identifier",
    "entered",
    "mean",
    "error",
    "n_counted",
    "prize",
    "why",
    "condition",
)


def standings_as_csv(document: dict[str, Any]) -> str:
    """Write standings as CSV: one row per entry, with a column for each listed model or benchmark.

    Text that a spreadsheet would read as a formula gets an apostrophe in front. Pairs without a score show their state.
    """
    listed = list(dict.fromkeys(name for track in document["tracks"] for name in track["listed"]))
    file = io.StringIO()
    writer = csv.writer(file, lineterminator="\n")
    writer.writerow(["track", *_COLUMNS, *map(harmless, listed)])
    for track in document["tracks"]:
        for row in track["rows"]:
            cells = {cell["name"]: cell for cell in row["cells"]}
            values = [row[name] if name != "why" else "; ".join(row["why"]) for name in _COLUMNS[:-1]]
            values.append(row.get("condition") or track.get("condition", UNRECORDED))
            scores = [
                ""
                if name not in cells
                else cells[name]["state"]
                if cells[name]["value"] is None
                else cells[name]["value"]
                for name in listed
            ]
            writer.writerow([_cell(value) for value in (track["title"], *values, *scores)])
    return file.getvalue()


def _cell(value: Any) -> Any:
    if value is None:
        return ""
    return harmless(value) if isinstance(value, str) else value
