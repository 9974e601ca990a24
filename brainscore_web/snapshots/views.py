"""Pages that cite a view of the leaderboard and freeze it, and the permanent pages and files of snapshots."""

from __future__ import annotations

import math
import uuid
from collections.abc import Callable
from datetime import UTC, datetime
from typing import Any

from django import forms
from django.conf import settings
from django.contrib.auth.decorators import login_required
from django.core.paginator import Paginator
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.urls import reverse
from django.utils import timezone
from django.utils.html import format_html
from django.utils.http import content_disposition_header
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_http_methods, require_safe

from brainscore_core.domains import Domain
from brainscore_core.errors import UserError
from brainscore_web.accounts.adapter import clean_name
from brainscore_web.accounts.callers import current_user, has_confirmed_email
from brainscore_web.accounts.models import User
from brainscore_web.jobs.workers import MISSED_AFTER, heartbeat_ages
from brainscore_web.leaderboard.cards.formatting import STATES, estimate
from brainscore_web.leaderboard.exposure import VERIFICATIONS, mark_html, verification_mark
from brainscore_web.leaderboard.http import public_answer, user_errors
from brainscore_web.leaderboard.payload import counts_text
from brainscore_web.leaderboard.state import BoardState
from brainscore_web.snapshots import citing
from brainscore_web.snapshots.freezing import INTERRUPTED, private_models, public_board, queue_snapshot, tasks_of
from brainscore_web.snapshots.models import FrozenView

_PAGE_SIZE = 50
_COLUMNS_SHOWN = 25
_MOST_AUTHORS, _LONGEST_NAME = 50, 100


class FreezeForm(forms.Form):
    """The title and the authors of a snapshot."""

    title = forms.CharField(max_length=150, help_text="Say what the view shows, such as: Models of area IT.")
    authors = forms.CharField(
        label="Authors of the snapshot",
        max_length=_MOST_AUTHORS * _LONGEST_NAME,
        widget=forms.Textarea(attrs={"rows": 3}),
        help_text="One name on each line, as they are to be cited, such as: Lovelace, Ada. They stay public.",
    )

    def clean_title(self) -> str:
        """Normalise the title."""
        return clean_name(self.cleaned_data["title"])

    def clean_authors(self) -> list[str]:
        """Return the names."""
        names = [name for line in self.cleaned_data["authors"].splitlines() if (name := clean_name(line))]
        if not 0 < len(names) <= _MOST_AUTHORS or max(map(len, names)) > _LONGEST_NAME:
            raise forms.ValidationError(f"Give 1 to {_MOST_AUTHORS} names of at most {_LONGEST_NAME} characters.")
        return names


@never_cache
@user_errors
@require_http_methods(["GET", "HEAD", "POST"])
def cite(request: HttpRequest, domain: Domain) -> HttpResponse:
    """How to cite a view of the leaderboard; members can freeze it."""
    state = BoardState.from_query(request.GET).changed(errors=False)
    board = public_board(domain, state)
    user = request.user if isinstance(request.user, User) else None
    if request.method == "POST" and user is None:
        return redirect("account_login")
    may_freeze = user is not None and has_confirmed_email(user)
    form = FreezeForm(request.POST or None, initial={"authors": getattr(user, "display_name", "")}, label_suffix="")
    if request.method == "POST" and user is not None and may_freeze and form.is_valid():
        values = form.cleaned_data
        try:
            waiting = queue_snapshot(user, domain, state.changed(), title=values["title"], authors=values["authors"])
            return redirect("snapshots:task", waiting.pk)
        except UserError as error:
            form.add_error(None, f"{error.line()}.")
    context = {
        "form": form,
        "may_freeze": may_freeze,
        "query": state.query(),
        "counts": counts_text(board),
        "private": private_models(request.user, domain, state),
        **_citation(domain, state),
    }
    return render(request, "snapshots/cite.html", context, status=400 if request.method == "POST" else 200)


def _citation(domain: Domain, state: BoardState) -> dict[str, str]:
    """Return the URL of a view on a day, and its BibTeX."""
    today = datetime.now(UTC).date()
    day = state.at or today
    path = f"{reverse('leaderboard:board', args=[domain])}?{state.changed(at=day).query()}"
    url, title = settings.ADDRESS + path, f"Brain-Score: leaderboard of {domain.name}, as of {day}"
    bibtex = citing.bibtex_entry(
        f"brainscore_{domain.name}_{day:%Y%m%d}", title=title, authors=["Brain-Score"], year=f"{day:%Y}", url=url,
        note="Scores can change", accessed=f"{today}",
    )  # fmt: skip
    return {"cited_path": path, "cited_url": url, "cited_title": title, "bibtex": bibtex}


@never_cache
@login_required
@require_safe
def progress(request: HttpRequest, key: uuid.UUID) -> HttpResponse:
    """Lead to a snapshot that the visitor has ordered once it is made; status 204 for the script that waits for it."""
    task = get_object_or_404(tasks_of(current_user(request)), pk=key)
    domain, query = task.args_kwargs["args"][1:3]
    result = task.return_value or {}
    if "key" in result:
        address = reverse("snapshots:show", args=[result["key"]])
        return (
            HttpResponse(headers={"HX-Redirect": address}) if request.headers.get("HX-Request") else redirect(address)
        )
    ended = bool(task.finished_at) or (task.started_at is not None and timezone.now() - task.started_at > INTERRUPTED)
    if request.headers.get("HX-Request"):
        return HttpResponse(headers={"HX-Refresh": "true"}) if ended else HttpResponse(status=204)
    context = {"ended": ended, "problem": result.get("problem"), "title": task.args_kwargs["args"][3]}
    context["waits"] = heartbeat_ages().get("worker", math.inf) > MISSED_AFTER.total_seconds()
    context["again"] = f"{reverse('citing:cite', args=[domain])}?{query}"
    return render(request, "snapshots/task.html", context)


@require_safe
def overview(request: HttpRequest) -> HttpResponse:
    """All snapshots, newest first."""
    rows = FrozenView.objects.defer("archive").select_related("by")
    return render(request, "snapshots/overview.html", {"rows": Paginator(rows, 30).get_page(request.GET.get("page"))})


@require_safe
def show(request: HttpRequest, key: str) -> HttpResponse:
    """A snapshot, with fifty models on a page."""
    row = _snapshot(key)
    document = row.document
    columns = [place for place, column in enumerate(document["columns"]) if column["shown"]]
    models = Paginator(document["models"], _PAGE_SIZE).get_page(request.GET.get("page"))
    context = {
        "row": row,
        "document": document,
        "citation": citing.citation_of(row, document),
        "bibtex": citing.bibtex_of(row, document),
        "url": citing.url_of(row),
        "models": models,
        "columns": [document["columns"][place] for place in columns[:_COLUMNS_SHOWN]],
        "lines": [(model, [_cell(row.domain, model, place) for place in columns[:_COLUMNS_SHOWN]]) for model in models],
        "n_columns": len(document["columns"]),
    }
    return render(request, "snapshots/show.html", context)


def _cell(domain: str, model: dict[str, Any], place: int) -> str:
    """Return what a column of a model shows: a value with its receipt and the marks of the leaderboard, or a state."""
    state = model["states"][place]
    if model["values"][place] is None:
        return STATES[state].word if state in STATES else state
    exposure, verification = model["exposure"][place], model["verification"][place]
    value, receipt = (
        estimate(*(model[name][place] for name in ("values", "errors", "low", "high"))),
        model["receipts"][place],
    )
    if receipt:
        value = format_html('<a href="{}">{}</a>', reverse("cards:receipt", args=[domain, receipt]), value)
    return format_html(
        "{}{}{}",
        value,
        mark_html(exposure) if exposure else "",
        verification_mark(VERIFICATIONS.index(verification)) if verification else "",
    )


def _snapshot(key: str) -> FrozenView:
    row = FrozenView.objects.filter(key=key).first()
    if row is None:
        raise Http404("there is no such snapshot")
    return row


def _file(kind: str, content_type: str, content_of: Callable[[FrozenView], bytes]) -> Callable[..., HttpResponse]:
    """Return the view of a file of snapshots."""

    @require_safe
    def view(request: HttpRequest, key: str) -> HttpResponse:
        row = _snapshot(key)

        def make() -> HttpResponse:
            response = HttpResponse(content_of(row), content_type=content_type)
            name = f"brain-score-{row.domain}-{row.key}{kind}"
            response["Content-Disposition"] = content_disposition_header(True, name)
            return response

        return public_answer(request, f'W/"{row.sha256}{kind}"', make)

    return view


as_json = _file(".json", "application/json", lambda row: row.file("snapshot.json"))
as_csv = _file(".csv", "text/csv; charset=utf-8", lambda row: row.file("snapshot.csv"))
as_bibtex = _file(".bib", "application/x-bibtex", lambda row: row.file("snapshot.bib"))
deposit = _file("-deposit.zip", "application/zip", lambda row: bytes(row.archive))
