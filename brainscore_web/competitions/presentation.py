"""Content of the page of a competition, with Markdown of organisers rendered as safe HTML."""

from __future__ import annotations

import re
from functools import lru_cache
from typing import Any

from django.db.models import Prefetch
from django.utils.safestring import SafeString, mark_safe

from brainscore_core.populations import UNRECORDED
from brainscore_web.competitions.actions import format_amount
from brainscore_web.competitions.models import Award, Competition, Entry, Snapshot, Track, listing, manages_competitions
from brainscore_web.competitions.rules import Phase, Standing
from brainscore_web.competitions.standings import is_shown, public_identifiers, standings_document
from brainscore_web.leaderboard.models import Visitor
from brainscore_web.pages.documents import rendered

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
    people = list(competition.people.all())
    questions = [
        (question, markdown_to_html(question.answer, question.question, below=3))
        for question in competition.questions.all()
    ]
    tracks = [
        _track_on_page(track, frozen_tracks.get(track.pk), document["currency"], public, visitor, phase)
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
    }


def _track_on_page(
    track: Track,
    document: dict[str, Any] | None,
    currency: str,
    public: dict[str, set[str]],
    visitor: Visitor,
    phase: Phase,
) -> dict[str, Any]:
    rows = [] if document is None else [dict(row) for row in document["rows"]]
    here = public[track.competes]
    for row in rows:
        row["here"] = row["identifier"] in here
        row["won"] = None if row["prize"] is None else format_amount(row["prize"], currency)
        row["n_listed"] = len(row["cells"])
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
        "ranked": [row for row in rows if row["standing"] == Standing.RANKED],
        "unplaced": [row for row in rows if row["standing"] in (Standing.NOT_BEST, Standing.INCOMPLETE)],
        "late_or_withdrawn": [row for row in rows if row["standing"] in (Standing.LATE, Standing.WITHDRAWN)],
        "components": components,
        "condition": "" if document is None else document.get("condition", UNRECORDED),
        "n_listed": len(track.listed_names),
        "awards": awards,
        "mine": [entry for entry in track.entries.all() if user_key is not None and entry.by_id == user_key],
    }


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
