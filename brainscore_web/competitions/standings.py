"""Standings of a competition, computed from public scores only: as a page, a document and CSV."""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Iterable, Sequence
from datetime import UTC, datetime, time
from decimal import Decimal
from functools import lru_cache
from typing import Any

from django.contrib.auth.models import AnonymousUser
from django.db.models import Prefetch
from django.utils import timezone
from django.utils.safestring import SafeString, mark_safe

from brainscore_core.formatting import harmless
from brainscore_core.populations import UNRECORDED, condition_of_all
from brainscore_web.competitions.models import (
    Award,
    Competition,
    Entry,
    Snapshot,
    Team,
    Track,
    listing,
    manages_competitions,
    team_of,
)
from brainscore_web.competitions.rules import Cell, Entered, Phase, Standing, StandingRow, possible_places, standings
from brainscore_web.leaderboard.clean import finite
from brainscore_web.leaderboard.models import Benchmark, Score, Visibility, VisionModel, Visitor
from brainscore_web.leaderboard.reasons import withheld_reason
from brainscore_web.leaderboard.snapshot import STATES, snapshot_for
from brainscore_web.leaderboard.snapshot import Snapshot as Board
from brainscore_web.pages.documents import rendered

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
                "error_limit": row.error_limit,
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


_HEADING = re.compile(r'<(/?)h([1-6])(?: id="[^"]*")?>')
_TABLE = re.compile(r'aria-label="Table (\d+)"')
_DEEPEST = 6


@lru_cache(maxsize=512)
def markdown_to_html(text: str, name: str = "", *, below: int = 2) -> SafeString:
    """Convert Markdown to HTML."""
    body = rendered("text", text).body
    first = min((int(heading[2]) for heading in _HEADING.finditer(body)), default=1)

    def shifted(heading: re.Match[str]) -> str:
        return f"<{heading[1]}h{min(int(heading[2]) - first + below + 1, _DEEPEST)}>"

    label = re.sub(r"[^\w ]", "", name)
    body = _TABLE.sub(rf'aria-label="{label} table \1"', _HEADING.sub(shifted, body))
    return mark_safe(body)  # noqa: S308 # `rendered` escapes raw HTML


_INAPPLICABLE = {
    "leave out": "What a model cannot do is left out of the mean, if it can do at least half.",
    "zero": "What a model cannot do counts as 0.",
    "exclude": "A model must be able to do everything.",
}


def competition_for_page(slug: str, visitor: Visitor) -> Competition | None:
    """A competition with everything that its page shows, in a fixed number of queries."""
    entries = Entry.objects.order_by("entered", "pk")
    return (
        Competition.objects.visible_to(visitor)
        .filter(slug=slug)
        .prefetch_related(
            "milestones",
            "people",
            "programme",
            "questions",
            "terms_versions",
            Prefetch("snapshots", Snapshot.objects.select_related("by").defer("document")),
            Prefetch("tracks__entries", entries),
            Prefetch("tracks__awards", Award.objects.prefetch_related("entries")),
        )
        .first()
    )


def competition_page(competition: Competition, visitor: Visitor, *, now: bool = False) -> dict[str, Any]:
    """Return the context of a competition's page."""
    snapshot = None if now else competition.frozen
    document = standings_document(competition) if snapshot is None else snapshot.document
    frozen_tracks = {row["key"]: row for row in document["tracks"]}
    names = {entry.identifier for track in competition.tracks.all() for entry in track.entries.all()}
    names |= {name for track in competition.tracks.all() for aliases in track.listed_names for name in aliases}
    public = public_identifiers(sorted(names - {""}))
    phase = competition.phase
    team = team_of(visitor, competition) if visitor.is_authenticated else None
    people = list(competition.people.all())
    questions = [
        (question, markdown_to_html(question.answer, question.question, below=3))
        for question in competition.questions.all()
    ]
    tracks = [
        _track_on_page(track, frozen_tracks.get(track.pk), document["currency"], public, visitor, phase, team)
        for track in competition.tracks.all()
    ]
    return {
        "competition": competition,
        "phase": phase,
        "about": markdown_to_html(competition.about, "About", below=2),
        "answered": markdown_to_html(competition.critiques_answered, "Critiques", below=2),
        "contact_text": markdown_to_html(competition.contact, "Contact", below=2),
        "unknown": markdown_to_html(competition.unknown, "Unknown", below=2),
        "pool": None if competition.pool is None else format_amount(competition.pool, competition.currency),
        "tracks": tracks,
        "organisers": [person for person in people if person.role == person.Role.ORGANISER],
        "sponsors": [person for person in people if person.role == person.Role.SPONSOR],
        "faq": [pair for pair in questions if pair[0].kind == pair[0].Kind.FAQ],
        "critiques": [pair for pair in questions if pair[0].kind == pair[0].Kind.CRITIQUE],
        "has_winners": any(shown["awards"] for shown in tracks),
        "snapshot": snapshot,
        "was_frozen": competition.frozen is not None,
        "organises": manages_competitions(visitor),
        "takes_entries": phase == Phase.OPEN,
        "settled": competition.is_settled,
        "terms": competition.terms,
        "terms_text": markdown_to_html(competition.terms.text, "Terms", below=2) if competition.terms else "",
        "phases": _phases(competition),
        "team": team,
    }


def _phases(competition: Competition) -> list[dict[str, Any]]:
    """Return the phases with the times at which they begin, as far as known."""
    frozen = competition.frozen
    begins = {
        Phase.OPEN: None if competition.opens is None else datetime.combine(competition.opens, time(), UTC),
        Phase.CLOSED: competition.closed or competition.deadline_end,
        Phase.FROZEN: None if frozen is None else frozen.created,
        Phase.AWARDED: competition.awarded,
    }
    return [
        {"phase": phase, "begins": begins.get(phase), "current": phase == competition.phase}
        for phase in (Phase.ANNOUNCED, *begins)
    ]


def _track_on_page(
    track: Track,
    document: dict[str, Any] | None,
    currency: str,
    public: dict[str, set[str]],
    visitor: Visitor,
    phase: Phase,
    team: Team | None,
) -> dict[str, Any]:
    rows = [] if document is None else [dict(row) for row in document["rows"]]
    here = public[track.competes]
    for row in rows:
        row["here"] = row["identifier"] in here
        row["won"] = None if row["prize"] is None else format_amount(row["prize"], currency)
        row["n_listed"] = len(row["cells"])
    ranked = [row for row in rows if row["standing"] == Standing.RANKED]
    _add_possible_places(ranked, track, currency)
    opposite = Track.Competes.MODELS if track.competes == Track.Competes.BENCHMARKS else Track.Competes.BENCHMARKS
    components: list[dict[str, Any]] = []
    for path, names in listing(track.listed):
        if not names:
            continue
        if not components or components[-1]["path"] != path:
            components.append({"path": path, "listed": []})
        public_name = next((name for name in names if name in public[opposite]), None)
        components[-1]["listed"].append({"name": names[0], "known": public_name})
    user_key = visitor.pk if visitor.is_authenticated else None
    awards = list(track.awards.all()) if phase == Phase.AWARDED else []
    for award in awards:
        award.shown = [  # type: ignore[attr-defined] # for the template
            (entry, entry.identifier in here)
            for entry in award.entries.all()
            if is_shown(entry, track.competes, public)
        ]
    return {
        "track": track,
        "text": markdown_to_html(track.text, track.title, below=3),
        "notes": markdown_to_html(track.notes, f"{track.title} unknown", below=3),
        "rules": _rules(track),
        "prizes": [format_amount(amount, currency) for amount in track.amounts],
        "ranked": ranked,
        "undecided": [row for row in ranked if row["possible_prizes"]],
        "unplaced": [row for row in rows if row["standing"] in (Standing.NOT_BEST, Standing.INCOMPLETE)],
        "late_or_withdrawn": [row for row in rows if row["standing"] in (Standing.LATE, Standing.WITHDRAWN)],
        "components": components,
        "condition": "" if document is None else document.get("condition", UNRECORDED),
        "n_listed": len(track.listed_names),
        "awards": awards,
        "mine": [
            entry
            for entry in track.entries.all()
            if user_key is not None
            and (entry.by_id == user_key if entry.belongs_to_id is None else team and entry.belongs_to_id == team.pk)
        ],
    }


def _add_possible_places(ranked: Sequence[dict[str, Any]], track: Track, currency: str) -> None:
    """Add to ranked rows the places that the intervals of their means allow, and prizes of these if they differ."""
    possible = possible_places(
        [row["mean"] for row in ranked],
        [row.get("error_limit", row["error"]) for row in ranked],
        lowest_wins=track.wins == Track.Wins.LOWEST,
    )
    amounts = (*track.amounts, *[Decimal(0)] * len(ranked))
    for row, (first, last) in zip(ranked, possible, strict=True):
        prizes = list(dict.fromkeys(amounts[first - 1 : last]))
        row["first"], row["last"] = first, last
        row["possible_prizes"] = (
            [format_amount(prize, currency) if prize else "none" for prize in prizes] if len(prizes) > 1 else []
        )


def _rules(track: Track) -> list[str]:
    """The rules in words."""
    scored_on = "models" if track.competes == Track.Competes.BENCHMARKS else "benchmarks"
    n = len(track.listed_names)
    rules = [
        f"{track.get_competes_display().title()} compete: {track.get_wins_display()} over {n} {scored_on} wins.",
        f"An entry has a place once it has results on all {n}. A failed run never counts as 0.",
        _INAPPLICABLE[track.inapplicable],
    ]
    outermost = list(dict.fromkeys(path[0] for path in track.components if path))
    if len(outermost) > 1:
        rules.insert(
            1,
            f"The mean is over {', '.join(outermost[:-1])} and {outermost[-1]}, with equal weights. "
            f"Each of them is the mean of the parts and {scored_on} in it.",
        )
    if track.floor is not None:
        rules.append(f"A score below {track.floor:g} counts as {track.floor:g}.")
    if track.most_entries is not None:
        rules.append(f"A team may have at most {track.most_entries} entries in this track.")
    if track.one_a_team:
        rules.append("Only the best entry of a team has a place.")
    for label, text in (("Regions", track.regions), ("Species", track.species), ("Tasks", track.tasks)):
        if text:
            rules.append(f"{label}: {text.replace('_', ' ')}.")
    if track.static_images:
        rules.append("Stimuli are static images.")
    if track.single_time_bin:
        rules.append("Recordings have a single time bin.")
    return rules


def format_amount(amount: Decimal | str, currency: str) -> str:
    """Format an amount of money, such as $3,000 or $666.66."""
    value = Decimal(amount)
    return f"{currency}{value:,.0f}" if value == value.to_integral() else f"{currency}{value:,.2f}"
