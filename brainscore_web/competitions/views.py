"""Pages of competitions that everybody sees, and those on which members take part."""

from __future__ import annotations

from typing import Any

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.http import Http404, HttpRequest, HttpResponse, HttpResponseRedirect, JsonResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_http_methods, require_safe

from brainscore_core.errors import UserError
from brainscore_web.accounts.models import User
from brainscore_web.competitions._shown import competition_with_all, page_of
from brainscore_web.competitions.computing import document_of
from brainscore_web.competitions.exports import csv_of
from brainscore_web.competitions.forms import EnterForm, WithdrawForm
from brainscore_web.competitions.models import Competition, Entry, Snapshot, Track, manages_competitions
from brainscore_web.competitions.participation import enter as enter_it
from brainscore_web.competitions.participation import take_back

__all__ = ["enter", "frozen", "of_year", "overview", "show", "standings_csv", "standings_json", "withdraw"]


@require_safe
def overview(request: HttpRequest) -> HttpResponse:
    """All competitions."""
    rows = Competition.objects.visible_to(request.user).prefetch_related("milestones", "tracks", "snapshots")
    context = {"competitions": rows, "organises": manages_competitions(request.user)}
    return render(request, "competitions/overview.html", context)


@require_safe
def of_year(request: HttpRequest, year: int) -> HttpResponse:
    """The competition that is called like its year."""
    return _page(request, str(year))


@require_safe
def show(request: HttpRequest, slug: str) -> HttpResponse:
    """A competition; one that is called like a year has another address."""
    competition = get_object_or_404(Competition.objects.visible_to(request.user), slug=slug)
    address = competition.get_absolute_url()
    return _page(request, slug) if address == request.path else redirect(address)


def _page(request: HttpRequest, slug: str) -> HttpResponse:
    now = request.GET.get("standings") == "now"
    return render(request, "competitions/show.html", page_of(_found(request, slug), request.user, now=now))


def _found(request: HttpRequest, slug: str) -> Competition:
    competition = competition_with_all(slug, request.user)
    if competition is None:
        raise Http404("there is no such competition")
    return competition


def _document(request: HttpRequest, slug: str) -> dict[str, Any]:
    competition = _found(request, slug)
    snapshot = None if request.GET.get("standings") == "now" else competition.frozen
    return document_of(competition) if snapshot is None else snapshot.document


@require_safe
def standings_csv(request: HttpRequest, slug: str) -> HttpResponse:
    """The standings that the page shows, as CSV."""
    answer = HttpResponse(csv_of(_document(request, slug)), content_type="text/csv; charset=utf-8")
    answer["Content-Disposition"] = f'attachment; filename="{slug}-standings.csv"'
    return answer


@require_safe
def standings_json(request: HttpRequest, slug: str) -> HttpResponse:
    """The standings that the page shows, with every score and its receipt."""
    return _as_file(_document(request, slug), f"{slug}-standings.json")


@require_safe
def frozen(request: HttpRequest, slug: str, key: int) -> HttpResponse:
    """Standings as they were frozen once."""
    rows = Snapshot.objects.filter(competition__in=Competition.objects.visible_to(request.user), competition__slug=slug)
    snapshot = get_object_or_404(rows, pk=key)
    told = {"sha256": snapshot.digest, "frozen": snapshot.created, "standings": snapshot.document}
    return _as_file(told, f"{slug}-frozen-{key}.json")


def _as_file(told: dict[str, Any], name: str) -> HttpResponse:
    answer = JsonResponse(told, json_dumps_params={"indent": 1, "ensure_ascii": False})
    answer["Content-Disposition"] = f'attachment; filename="{name}"'
    return answer


@never_cache
@login_required
@require_http_methods(["GET", "HEAD", "POST"])
def enter(request: HttpRequest, slug: str, track: int) -> HttpResponse:
    """Enter an own model or benchmark."""
    row = get_object_or_404(
        Track.objects.select_related("competition").filter(
            competition__in=Competition.objects.visible_to(request.user), competition__slug=slug
        ),
        pk=track,
    )
    assert isinstance(request.user, User)  # login_required
    form = EnterForm(request.POST or None, user=request.user, track=row)
    findings: tuple[Any, ...] = ()
    if request.method == "POST" and form.is_valid():
        told = form.cleaned_data
        made, findings = enter_it(
            request.user, row, form.candidate, team=told["team"], title=told["title"], declared=form.declared
        )
        if made is not None:
            messages.success(request, f"{made} has entered {row}.")
            for one in findings:
                messages.warning(request, f"{one.message}: {one.remedy}.")
            return HttpResponseRedirect(f"{row.competition.get_absolute_url()}#track_{row.pk}")
    context = {"form": form, "track": row, "competition": row.competition, "findings": findings}
    return render(request, "competitions/enter.html", context, status=200 if request.method != "POST" else 400)


@never_cache
@login_required
@require_http_methods(["GET", "HEAD", "POST"])
def withdraw(request: HttpRequest, slug: str, entry: int) -> HttpResponse:
    """Take an own entry back; organisers take back any that they see."""
    competitions = Competition.objects.visible_to(request.user)
    row = get_object_or_404(
        Entry.objects.select_related("track__competition").filter(
            track__competition__in=competitions, track__competition__slug=slug
        ),
        pk=entry,
    )
    own = row.by_id == request.user.pk
    if not own and not manages_competitions(request.user):
        raise Http404("it is somebody else's")
    form = WithdrawForm(request.POST if request.method == "POST" else None, own=own)
    if request.method == "POST" and form.is_valid():
        competition = row.track.competition
        try:
            take_back(row, because=form.cleaned_data["because"] or ("" if own else "by the organisers"))
        except UserError as error:
            form.add_error(None, f"{error.message}: {error.remedy}.")
        else:
            messages.success(request, f"{row} is withdrawn.")
            return redirect(competition.get_absolute_url())
    context = {"form": form, "entry": row, "competition": row.track.competition}
    return render(request, "competitions/withdraw.html", context, status=200 if request.method != "POST" else 400)
