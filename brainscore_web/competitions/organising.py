"""Pages of organisers."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any, TypeVar, cast

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.db import IntegrityError, transaction
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from brainscore_core.errors import UserError
from brainscore_web.accounts.models import User
from brainscore_web.competitions import settling
from brainscore_web.competitions._shown import competition_with_all
from brainscore_web.competitions.computing import public_identifiers, taking_part
from brainscore_web.competitions.forms import (
    SECTIONS,
    AddEntryForm,
    CompetitionForm,
    TrackForm,
    awards_formset,
    section_formset,
)
from brainscore_web.competitions.models import Competition, Track, manages_competitions

__all__ = [
    "add_entry",
    "announce",
    "awards",
    "freeze",
    "manage",
    "new",
    "new_track",
    "publish",
    "section",
    "take_winners",
    "texts",
    "track",
]

View = TypeVar("View", bound=Callable[..., HttpResponse])
_FORMS = require_http_methods(["GET", "HEAD", "POST"])


def _organises(view: View) -> View:
    """Let in who organises competitions; for others there is nothing."""

    @functools.wraps(view)
    def wrapped(request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponse:
        if not manages_competitions(request.user):
            raise Http404("for organisers only")
        return view(request, *args, **kwargs)

    return cast(View, never_cache(login_required(wrapped)))


def _one(slug: str) -> Competition:
    return get_object_or_404(Competition, slug=slug)


def _of(slug: str, key: int) -> Track:
    return get_object_or_404(Track.objects.select_related("competition"), competition__slug=slug, pk=key)


def _form(request: HttpRequest, form: Any, title: str, competition: Competition | None, **more: Any) -> HttpResponse:
    context = {"form": form, "title": title, "competition": competition, "button": "Save", **more}
    return render(request, "competitions/form.html", context, status=200 if request.method != "POST" else 400)


def _to(competition: Competition) -> HttpResponse:
    return redirect("competitions:manage", competition.slug)


@_organises
@_FORMS
def new(request: HttpRequest) -> HttpResponse:
    """Begin a competition: a draft that others do not see."""
    form = CompetitionForm(request.POST or None)
    if request.method == "POST" and form.is_valid():
        competition = form.save()
        messages.success(request, f"{competition} is a draft: only organisers see it.")
        return _to(competition)
    return _form(request, form, "New competition", None)


@_organises
@require_safe
def manage(request: HttpRequest, slug: str) -> HttpResponse:
    """What there is to do."""
    competition = competition_with_all(slug, request.user)
    if competition is None:
        raise Http404("there is no such competition")
    tracks = list(competition.tracks.all())
    public = public_identifiers([entry.identifier for one in tracks for entry in one.entries.all()])
    rows = [
        {
            "track": one,
            # what is private stays so, for organisers too
            "entries": [
                {"entry": entry, "shown": taking_part(entry, one.competes, public)} for entry in one.entries.all()
            ],
            "n_awards": len(one.awards.all()),
        }
        for one in tracks
    ]
    context = {
        "competition": competition,
        "phase": competition.phase,
        "lacks": settling.what_lacks(competition),
        "rows": rows,
        "sections": [(name, title) for name, (title, _, _) in SECTIONS.items()],
        "snapshots": list(competition.snapshots.all()),
        "settled": competition.is_settled,
    }
    return render(request, "competitions/manage.html", context)


@_organises
@_FORMS
def texts(request: HttpRequest, slug: str) -> HttpResponse:
    """Name and texts."""
    competition = _one(slug)
    form = CompetitionForm(request.POST or None, instance=_one(slug))  # it changes its own, also where it is wrong
    if competition.published:  # others know the address
        form.fields["slug"].disabled = True
    if request.method == "POST" and form.is_valid():
        return _to(form.save())
    return _form(request, form, "Texts", competition)


@_organises
@_FORMS
def section(request: HttpRequest, slug: str, name: str) -> HttpResponse:
    """A list: dates, people, the programme, questions."""
    if name not in SECTIONS:
        raise Http404("there is no such list")
    competition = _one(slug)
    rows = section_formset(name)(request.POST or None, instance=competition)
    if request.method == "POST" and rows.is_valid():
        rows.save()
        return _to(competition)
    return _form(request, None, SECTIONS[name][0], competition, rows=rows)


@_organises
@_FORMS
def new_track(request: HttpRequest, slug: str) -> HttpResponse:
    """Add a track."""
    competition = _one(slug)
    return _edit_track(request, Track(competition=competition, order=competition.tracks.count() + 1), "New track")


@_organises
@_FORMS
def track(request: HttpRequest, slug: str, key: int) -> HttpResponse:
    """Edit a track, or remove one that nothing has entered."""
    row = _of(slug, key)
    if request.method == "POST" and "remove" in request.POST:
        with transaction.atomic():
            competition = settling.locked(row.competition)
            if competition.is_settled or row.entries.exists():
                messages.error(request, f"{row} has entries, or is settled: it stays.")
            else:
                row.delete()
                messages.success(request, f"{row} is removed.")
        return _to(row.competition)
    return _edit_track(request, row, str(row), removable=not row.entries.exists())


def _edit_track(request: HttpRequest, row: Track, title: str, *, removable: bool = False) -> HttpResponse:
    competition = row.competition
    form = TrackForm(request.POST or None, instance=row)
    if competition.is_settled:
        messages.info(request, "The standings are settled: rules change no more.")
        return _to(competition)
    if request.method == "POST" and form.is_valid():
        form.save()
        return _to(competition)
    return _form(request, form, title, competition, removable=removable)


@_organises
@_FORMS
def awards(request: HttpRequest, slug: str, key: int) -> HttpResponse:
    """The winners of a track."""
    row = _of(slug, key)
    rows = awards_formset()(request.POST or None, instance=row)
    if request.method == "POST" and rows.is_valid():
        rows.save()
        return _to(row.competition)
    return _form(request, None, f"Winners: {row}", row.competition, rows=rows)


@_organises
@_FORMS
def add_entry(request: HttpRequest, slug: str, key: int) -> HttpResponse:
    """Add an entry that came by another way."""
    row = _of(slug, key)
    form = AddEntryForm(request.POST or None)
    if request.method == "POST" and form.is_valid():
        form.instance.track, form.instance.known = row, True
        try:
            with transaction.atomic():
                if settling.locked(row.competition).is_settled:
                    form.add_error(None, "The standings are settled: nothing enters any more.")
                else:
                    form.save()
        except IntegrityError:
            form.add_error("identifier", "It has entered this track already.")
        if form.is_valid():
            return _to(row.competition)
    return _form(request, form, f"Add an entry: {row}", row.competition)


def _do(request: HttpRequest, slug: str, act: Callable[[Competition, User], str]) -> HttpResponse:
    """Do something with a competition, and say what came of it."""
    competition = _one(slug)
    try:
        messages.success(request, act(competition, cast(User, request.user)))
    except UserError as error:
        messages.error(request, f"{error.message}: {error.remedy}.")
    return _to(competition)


@_organises
@require_POST
def publish(request: HttpRequest, slug: str) -> HttpResponse:
    """Open it."""

    def act(competition: Competition, _by: User) -> str:
        settling.publish(competition)
        return f"Everybody sees {competition} now."

    return _do(request, slug, act)


@_organises
@_FORMS
def freeze(request: HttpRequest, slug: str) -> HttpResponse:
    """Ask, and freeze."""
    if request.method != "POST":
        competition = _one(slug)
        return render(request, "competitions/freeze.html", {"competition": competition, "phase": competition.phase})

    def act(competition: Competition, by: User) -> str:
        made = settling.freeze(competition, by)
        return f"The standings are frozen: {made.digest[:12]}."

    return _do(request, slug, act)


@_organises
@require_POST
def take_winners(request: HttpRequest, slug: str) -> HttpResponse:
    """Make awards of frozen standings."""

    def act(competition: Competition, _by: User) -> str:
        made = settling.take_winners(competition)
        return f"Winners taken over from the frozen standings: {made}. Others do not see them yet."

    return _do(request, slug, act)


@_organises
@require_POST
def announce(request: HttpRequest, slug: str) -> HttpResponse:
    """Show the winners."""

    def act(competition: Competition, _by: User) -> str:
        settling.announce(competition)
        return "Everybody sees the winners now."

    return _do(request, slug, act)
