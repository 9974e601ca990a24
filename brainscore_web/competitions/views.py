"""Pages of competitions: public pages, pages for members who enter, and pages of organisers."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any, TypeVar, cast

from django.conf import settings
from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.db import IntegrityError, transaction
from django.http import Http404, HttpRequest, HttpResponse, HttpResponseRedirect, JsonResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.urls import reverse
from django.views.decorators.cache import never_cache
from django.views.decorators.csrf import csrf_exempt
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from brainscore_core.domain_names import DOMAINS
from brainscore_core.errors import UserError
from brainscore_web.accounts.callers import current_user
from brainscore_web.accounts.models import User
from brainscore_web.competitions import actions
from brainscore_web.competitions.actions import create_entry, withdraw_entry
from brainscore_web.competitions.forms import (
    SECTIONS,
    AddEntryForm,
    AnnouncementForm,
    CompetitionForm,
    EnterForm,
    TeamForm,
    TrackForm,
    WithdrawForm,
    awards_formset,
    section_formset,
)
from brainscore_web.competitions.models import (
    Competition,
    Entry,
    Membership,
    Snapshot,
    Team,
    Track,
    manages_competitions,
)
from brainscore_web.competitions.standings import (
    competition_for_page,
    competition_page,
    is_shown,
    markdown_to_html,
    public_identifiers,
    standings_as_csv,
    standings_document,
)
from brainscore_web.leaderboard.models import domain_choices
from brainscore_web.pages.navigation import MenuLink


@require_safe
def overview(request: HttpRequest) -> HttpResponse:
    """List all competitions, or those of a domain."""
    rows = Competition.objects.visible_to(request.user).prefetch_related("milestones", "tracks", "snapshots")
    chosen = request.GET.get("domain", "")
    if chosen:
        if chosen not in DOMAINS:
            raise Http404("unknown domain")
        rows = rows.filter(domain=chosen)
    links = [MenuLink("All", "?", not chosen)]
    links += [MenuLink(title, f"?domain={name}", name == chosen) for name, title in domain_choices()]
    context = {"competitions": rows, "organises": manages_competitions(request.user), "domain_links": links}
    return render(request, "competitions/overview.html", context)


@require_safe
def of_year(request: HttpRequest, year: int) -> HttpResponse:
    """Show the competition that is named after a year."""
    return _competition_page(request, str(year))


@require_safe
def show(request: HttpRequest, slug: str) -> HttpResponse:
    """Show a competition; those named after a year redirect to their short address."""
    competition = get_object_or_404(Competition.objects.visible_to(request.user), slug=slug)
    address = competition.get_absolute_url()
    return _competition_page(request, slug) if address == request.path else redirect(address)


def _competition_page(request: HttpRequest, slug: str) -> HttpResponse:
    now = request.GET.get("standings") == "now"
    return render(
        request, "competitions/show.html", competition_page(_visible_competition(request, slug), request.user, now=now)
    )


def _visible_competition(request: HttpRequest, slug: str) -> Competition:
    competition = competition_for_page(slug, request.user)
    if competition is None:
        raise Http404("this competition does not exist")
    return competition


def _document(request: HttpRequest, slug: str) -> dict[str, Any]:
    competition = _visible_competition(request, slug)
    snapshot = None if request.GET.get("standings") == "now" else competition.frozen
    return standings_document(competition) if snapshot is None else snapshot.document


@require_safe
def standings_csv(request: HttpRequest, slug: str) -> HttpResponse:
    """Download the standings of the page as CSV."""
    response = HttpResponse(standings_as_csv(_document(request, slug)), content_type="text/csv; charset=utf-8")
    response["Content-Disposition"] = f'attachment; filename="{slug}-standings.csv"'
    return response


@require_safe
def standings_json(request: HttpRequest, slug: str) -> HttpResponse:
    """Download the standings of the page as JSON, with every score and its receipt."""
    return _json_download(_document(request, slug), f"{slug}-standings.json")


@require_safe
def frozen(request: HttpRequest, slug: str, key: int) -> HttpResponse:
    """Download frozen standings."""
    rows = Snapshot.objects.filter(competition__in=Competition.objects.visible_to(request.user), competition__slug=slug)
    snapshot = get_object_or_404(rows, pk=key)
    document = {"sha256": snapshot.digest, "frozen": snapshot.created, "standings": snapshot.document}
    return _json_download(document, f"{slug}-frozen-{key}.json")


def _json_download(document: dict[str, Any], name: str) -> HttpResponse:
    response = JsonResponse(document, json_dumps_params={"indent": 1, "ensure_ascii": False})
    response["Content-Disposition"] = f'attachment; filename="{name}"'
    return response


@never_cache
@login_required
@require_http_methods(["GET", "HEAD", "POST"])
def enter(request: HttpRequest, slug: str, track: int) -> HttpResponse:
    """Enter one of the user's models or benchmarks."""
    row = get_object_or_404(
        Track.objects.select_related("competition").filter(
            competition__in=Competition.objects.visible_to(request.user), competition__slug=slug
        ),
        pk=track,
    )
    user = current_user(request)
    form = EnterForm(request.POST or None, user=user, track=row)
    findings: tuple[Any, ...] = ()
    if request.method == "POST" and form.is_valid():
        data = form.cleaned_data
        try:
            created, findings = create_entry(
                user,
                row,
                form.candidate,
                team=data["team"],
                title=data["title"],
                declared=form.declared,
                accepted=form.terms,
            )
        except UserError as error:
            created = None
            form.add_error(None, f"{error.line()}.")
        if created is not None:
            messages.success(request, f"{created} has entered {row}.")
            for finding in findings:
                messages.warning(request, f"{finding.message}: {finding.remedy}.")
            return HttpResponseRedirect(f"{row.competition.get_absolute_url()}#track_{row.pk}")
    terms = None if form.terms is None else markdown_to_html(form.terms.text, "Terms", below=2)
    context = {"form": form, "track": row, "competition": row.competition, "findings": findings, "terms": terms}
    return render(request, "competitions/enter.html", context, status=200 if request.method != "POST" else 400)


@never_cache
@login_required
@require_http_methods(["GET", "HEAD", "POST"])
def withdraw(request: HttpRequest, slug: str, entry: int) -> HttpResponse:
    """Withdraw an entry of the user or their team; organisers may withdraw any."""
    competitions = Competition.objects.visible_to(request.user)
    row = get_object_or_404(
        Entry.objects.select_related("track__competition").filter(
            track__competition__in=competitions, track__competition__slug=slug
        ),
        pk=entry,
    )
    is_own = actions.is_of(current_user(request), row)
    if not is_own and not manages_competitions(request.user):
        raise Http404("the visitor may not withdraw this entry")
    form = WithdrawForm(request.POST if request.method == "POST" else None, own=is_own)
    if request.method == "POST" and form.is_valid():
        competition = row.track.competition
        try:
            withdraw_entry(row, because=form.cleaned_data["because"] or ("" if is_own else "by the organisers"))
        except UserError as error:
            form.add_error(None, f"{error.line()}.")
        else:
            messages.success(request, f"{row} is withdrawn.")
            return redirect(competition.get_absolute_url())
    context = {"form": form, "entry": row, "competition": row.track.competition}
    return render(request, "competitions/withdraw.html", context, status=200 if request.method != "POST" else 400)


@never_cache
@login_required
@require_http_methods(["GET", "HEAD", "POST"])
def team(request: HttpRequest, slug: str) -> HttpResponse:
    """The user's team: its members and invitation, or a form for a new one."""
    competition = get_object_or_404(Competition.objects.visible_to(request.user), slug=slug)
    user = current_user(request)
    membership = competition.memberships.filter(user=user).select_related("team").first()
    form = TeamForm(request.POST if "create" in request.POST else None, instance=Team(competition=competition))
    if request.method == "POST":
        try:
            if _change_team(request, competition, membership, form):
                return redirect("competitions:team", slug)
        except UserError as error:
            messages.error(request, f"{error.line()}.")
    context: dict[str, Any] = {
        "competition": competition,
        "membership": membership,
        "form": form,
        "settled": competition.is_settled,
    }
    if membership is not None:
        members = list(membership.team.memberships.select_related("user"))
        context |= {
            "members": members,
            "is_captain": members[0] == membership,
            "entries": membership.team.entries.select_related("track"),
            "invitation": settings.ADDRESS + reverse("competitions:join", args=[slug, membership.team.invitation]),
        }
    return render(request, "competitions/team.html", context, status=400 if request.method == "POST" else 200)


def _change_team(request: HttpRequest, competition: Competition, membership: Membership | None, form: TeamForm) -> bool:
    """Do what a button of the team's page says; return whether it was done."""
    if membership is None:
        if not form.is_valid():
            return False
        with transaction.atomic():
            actions.lock_unsettled(competition, remedy="teams can no longer change")
            actions.create_team(current_user(request), competition, form.cleaned_data["name"])
        return True
    is_captain = membership.team.memberships.first() == membership
    if "leave" in request.POST:
        actions.leave_team(membership)
        messages.success(request, f"You have left {membership.team}.")
    elif "mail" in request.POST:
        membership.receives_mail = not membership.receives_mail
        membership.save(update_fields=["receives_mail"])
    elif "renew" in request.POST and is_captain:
        membership.team.renew_invitation()
    elif "remove" in request.POST and is_captain:
        key = request.POST["remove"]
        rows = membership.team.memberships.exclude(pk=membership.pk)
        actions.leave_team(get_object_or_404(rows, pk=key if key.isdecimal() and len(key) < 10 else None))
    else:
        return False
    return True


@never_cache
@login_required
@require_http_methods(["GET", "HEAD", "POST"])
def join(request: HttpRequest, slug: str, invitation: str) -> HttpResponse:
    """Join the team of an invitation, after confirmation."""
    competitions = Competition.objects.visible_to(request.user)
    row = get_object_or_404(
        Team.objects.select_related("competition"), competition__in=competitions, competition__slug=slug,
        invitation=invitation,
    )  # fmt: skip
    if request.method == "POST":
        try:
            actions.join_team(current_user(request), row)
        except UserError as error:
            messages.error(request, f"{error.line()}.")
        return redirect("competitions:team", slug)
    return render(request, "competitions/join.html", {"team": row, "competition": row.competition})


@csrf_exempt  # mail programs send the form without a page before (RFC 8058); the key is signed
@never_cache
@require_http_methods(["GET", "HEAD", "POST"])
def unsubscribe(request: HttpRequest, slug: str, key: str) -> HttpResponse:
    """End the e-mails of the organisers to a member of a team, without a login."""
    membership = actions.membership_of(key)
    if membership is None or membership.competition.slug != slug:
        raise Http404("the address is invalid, or the member has left the team")
    if request.method == "POST":
        membership.receives_mail = False
        membership.save(update_fields=["receives_mail"])
    context = {"competition": membership.competition, "subscribed": membership.receives_mail}
    return render(request, "competitions/unsubscribe.html", context)


View = TypeVar("View", bound=Callable[..., HttpResponse])
_FORMS = require_http_methods(["GET", "HEAD", "POST"])


def _organisers_only(view: View) -> View:
    """Allow only organisers of competitions; others get 404."""

    @functools.wraps(view)
    def wrapped(request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponse:
        if not manages_competitions(request.user):
            raise Http404("for organisers only")
        return view(request, *args, **kwargs)

    return cast(View, never_cache(login_required(wrapped)))


def _competition_or_404(slug: str) -> Competition:
    return get_object_or_404(Competition, slug=slug)


def _track_or_404(slug: str, key: int) -> Track:
    return get_object_or_404(Track.objects.select_related("competition"), competition__slug=slug, pk=key)


def _form(request: HttpRequest, form: Any, title: str, competition: Competition | None, **more: Any) -> HttpResponse:
    context = {"form": form, "title": title, "competition": competition, "button": "Save", **more}
    return render(request, "competitions/form.html", context, status=200 if request.method != "POST" else 400)


def _redirect_to_management(competition: Competition) -> HttpResponse:
    return redirect("competitions:manage", competition.slug)


@_organisers_only
@_FORMS
def new(request: HttpRequest) -> HttpResponse:
    """Create a competition as a draft that only organisers see."""
    form = CompetitionForm(request.POST or None)
    if request.method == "POST" and form.is_valid():
        competition = form.save()
        messages.success(request, f"{competition} is a draft that only organisers can see.")
        return _redirect_to_management(competition)
    return _form(request, form, "New competition", None)


@_organisers_only
@require_safe
def manage(request: HttpRequest, slug: str) -> HttpResponse:
    """Show the management page of a competition."""
    competition = _visible_competition(request, slug)
    tracks = list(competition.tracks.all())
    public = public_identifiers([entry.identifier for row in tracks for entry in row.entries.all()])
    rows = [
        {
            "track": row,
            # private entries stay hidden, also from organisers
            "entries": [
                {"entry": entry, "shown": is_shown(entry, row.competes, public)} for entry in row.entries.all()
            ],
            "n_awards": len(row.awards.all()),
            "undecided": [award.title for award in row.awards.all() if row.amounts and award.place and not award.prize],
        }
        for row in tracks
    ]
    context = {
        "competition": competition,
        "phase": competition.phase,
        "lacks": actions.missing_parts(competition),
        "rows": rows,
        "sections": [(name, title) for name, (title, _, _) in SECTIONS.items()],
        "snapshots": list(competition.snapshots.all()),
        "settled": competition.is_settled,
        "announcements": list(competition.announcements.select_related("by")),
    }
    return render(request, "competitions/manage.html", context)


@_organisers_only
@_FORMS
def texts(request: HttpRequest, slug: str) -> HttpResponse:
    """Edit name and texts."""
    competition = _competition_or_404(slug)
    form = CompetitionForm(
        request.POST or None, instance=_competition_or_404(slug)
    )  # the form changes its own instance, even if it is invalid
    if competition.published:  # the address is public
        form.fields["slug"].disabled = True
    if request.method == "POST" and form.is_valid():
        return _redirect_to_management(form.save())
    return _form(request, form, "Texts", competition)


@_organisers_only
@_FORMS
def mail(request: HttpRequest, slug: str) -> HttpResponse:
    """Send an e-mail to the members of all teams."""
    competition = _competition_or_404(slug)
    form = AnnouncementForm(request.POST or None)
    if request.method == "POST" and form.is_valid():
        form.instance.competition, form.instance.by = competition, current_user(request)
        try:
            number = actions.mail_participants(form.instance)
        except UserError as error:
            form.add_error(None, f"{error.line()}.")
        else:
            messages.success(request, f"E-mails are on their way to participants: {number}.")
            return _redirect_to_management(competition)
    return _form(request, form, "E-mail to participants", competition, button="Send")


@_organisers_only
@_FORMS
def section(request: HttpRequest, slug: str, name: str) -> HttpResponse:
    """Edit a list: dates, people, the programme, or questions."""
    if name not in SECTIONS:
        raise Http404("this list does not exist")
    competition = _competition_or_404(slug)
    rows = section_formset(name)(request.POST or None, instance=competition)
    if request.method == "POST" and rows.is_valid():
        rows.save()
        return _redirect_to_management(competition)
    return _form(request, None, SECTIONS[name][0], competition, rows=rows)


@_organisers_only
@_FORMS
def new_track(request: HttpRequest, slug: str) -> HttpResponse:
    """Add a track."""
    competition = _competition_or_404(slug)
    return _edit_track(request, Track(competition=competition, order=competition.tracks.count() + 1), "New track")


@_organisers_only
@_FORMS
def track(request: HttpRequest, slug: str, key: int) -> HttpResponse:
    """Edit a track, or remove one without entries."""
    row = _track_or_404(slug, key)
    if request.method == "POST" and "remove" in request.POST:
        with transaction.atomic():
            competition = actions.lock_competition(row.competition)
            if competition.is_settled or row.entries.exists():
                messages.error(request, f"{row} has entries or frozen standings and cannot be removed.")
            else:
                row.delete()
                messages.success(request, f"{row} has been removed.")
        return _redirect_to_management(row.competition)
    return _edit_track(request, row, str(row), removable=not row.entries.exists())


def _edit_track(request: HttpRequest, row: Track, title: str, *, removable: bool = False) -> HttpResponse:
    competition = row.competition
    form = TrackForm(request.POST or None, instance=row)
    if competition.is_settled:
        messages.info(request, "The standings are frozen; rules can no longer change.")
        return _redirect_to_management(competition)
    if request.method == "POST" and form.is_valid():
        form.save()
        return _redirect_to_management(competition)
    return _form(request, form, title, competition, removable=removable)


@_organisers_only
@_FORMS
def awards(request: HttpRequest, slug: str, key: int) -> HttpResponse:
    """Edit the winners of a track."""
    row = _track_or_404(slug, key)
    rows = awards_formset()(request.POST or None, instance=row)
    if request.method == "POST" and rows.is_valid():
        rows.save()
        return _redirect_to_management(row.competition)
    return _form(request, None, f"Winners: {row}", row.competition, rows=rows)


@_organisers_only
@_FORMS
def add_entry(request: HttpRequest, slug: str, key: int) -> HttpResponse:
    """Add an entry that organisers received by other means."""
    row = _track_or_404(slug, key)
    form = AddEntryForm(request.POST or None)
    if request.method == "POST" and form.is_valid():
        form.instance.track, form.instance.known = row, True
        try:
            with transaction.atomic():
                if actions.lock_competition(row.competition).is_settled:
                    form.add_error(None, "The standings are frozen; entries are no longer possible.")
                else:
                    form.save()
        except IntegrityError:
            form.add_error("identifier", "It has already entered this track.")
        if form.is_valid():
            return _redirect_to_management(row.competition)
    return _form(request, form, f"Add an entry: {row}", row.competition)


def _action(act: Callable[[Competition, User], str]) -> Callable[..., HttpResponse]:
    """Make the view of an action of organisers, which shows the message that the action returns."""

    @_organisers_only
    @require_POST
    @functools.wraps(act)
    def view(request: HttpRequest, slug: str) -> HttpResponse:
        competition = _competition_or_404(slug)
        try:
            messages.success(request, act(competition, current_user(request)))
        except UserError as error:
            messages.error(request, f"{error.line()}.")
        return _redirect_to_management(competition)

    return view


@_action
def publish(competition: Competition, by: User) -> str:
    """Publish a competition."""
    actions.publish(competition)
    return f"{competition} is now public."


@_action
def close(competition: Competition, by: User) -> str:
    """Close a competition before its last day."""
    actions.close(competition)
    return f"{competition} is closed: entries are no longer accepted."


@_action
def reopen(competition: Competition, by: User) -> str:
    """Accept entries again."""
    actions.reopen(competition)
    return f"{competition} is open: entries are accepted until the deadline."


@_organisers_only
@_FORMS
def freeze(request: HttpRequest, slug: str) -> HttpResponse:
    """Freeze the standings after confirmation."""
    if request.method == "POST":
        return _freeze(request, slug)
    competition = _competition_or_404(slug)
    return render(request, "competitions/freeze.html", {"competition": competition, "phase": competition.phase})


@_action
def _freeze(competition: Competition, by: User) -> str:
    snapshot = actions.freeze(competition, by)
    return f"The standings are frozen: {snapshot.digest[:12]}."


@_action
def take_winners(competition: Competition, by: User) -> str:
    """Create awards from frozen standings."""
    count = actions.take_winners(competition)
    undecided = actions.undecided_awards(competition)
    decide = f" Decide on the prizes of {', '.join(undecided)} under Winners." if undecided else ""
    return f"Awards created from the frozen standings: {count}. They are not public yet.{decide}"


@_action
def announce(competition: Competition, by: User) -> str:
    """Announce the winners."""
    actions.announce(competition)
    return "The winners are now public."
