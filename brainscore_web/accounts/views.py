"""A person's own pages. Logging in, addresses, passwords and second factors are django-allauth's views."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any, TypeVar, cast

from allauth.account.adapter import get_adapter
from django.contrib import messages
from django.contrib.auth import logout
from django.contrib.auth.decorators import login_required
from django.db.models import Model, QuerySet
from django.http import HttpRequest, HttpResponse, HttpResponseBadRequest, HttpResponseRedirect, JsonResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.utils import timezone
from django.views.decorators.debug import sensitive_post_parameters

from brainscore_core.errors import UserError
from brainscore_web.accounts.forms import DeleteForm, NameForm, TokenForm
from brainscore_web.accounts.leaving import leave
from brainscore_web.accounts.models import ApiToken, User
from brainscore_web.accounts.own_data import everything_about
from brainscore_web.accounts.profile import profile_of
from brainscore_web.leaderboard.models import Benchmark, Visibility, VisionModel
from brainscore_web.leaderboard.writing import writing_alone

__all__ = [
    "benchmark_access",
    "delete",
    "home",
    "model_visibility",
    "name",
    "new_token",
    "own_data",
    "profile",
    "revoke_token",
]

View = TypeVar("View", bound=Callable[..., HttpResponse])


def _changes(view: View) -> View:
    """Let a view change something for who is logged in; who only looks there is led to the profile."""

    @functools.wraps(view)
    def wrapped(request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponse:
        return view(request, *args, **kwargs) if request.method == "POST" else redirect("accounts:profile")

    return cast(View, login_required(wrapped))


def _me(request: HttpRequest) -> User:
    assert isinstance(request.user, User)  # these views are for who is logged in
    return request.user


@login_required
def home(request: HttpRequest) -> HttpResponse:
    """Lead to the profile."""
    return redirect("accounts:profile")


@login_required
def profile(request: HttpRequest) -> HttpResponse:
    """Own models, benchmarks, tokens, and what belongs to the account."""
    asked = request.GET
    shown = profile_of(_me(request), models_page=asked.get("models", "1"), benchmarks_page=asked.get("benchmarks", "1"))
    return render(request, "accounts/profile.html", {"profile": shown})


@login_required
def name(request: HttpRequest) -> HttpResponse:
    """Change the display name."""
    form = NameForm(request.POST or None, instance=User.objects.get(pk=_me(request).pk), label_suffix="")
    if request.method == "POST" and form.is_valid():
        form.instance.save(update_fields=["display_name"])
        return redirect("accounts:profile")
    return render(request, "accounts/name.html", {"form": form})


@_changes
def model_visibility(request: HttpRequest) -> HttpResponse:
    """Make an own model public or private."""
    return _switch(request, VisionModel.objects.filter(owner=_me(request)), "visibility")


@_changes
def benchmark_access(request: HttpRequest) -> HttpResponse:
    """Make stimuli and measurements of an own benchmark public or private; its scores always are public."""
    return _switch(request, Benchmark.objects.filter(owner=_me(request), is_mean=False), "access")


def _switch(request: HttpRequest, own: QuerySet[Any], field: str) -> HttpResponse:
    """Set a visibility; what belongs to others is not found."""
    chosen = request.POST.get(field)
    if chosen not in Visibility.values:
        return HttpResponseBadRequest(f"{field} must be one of: {', '.join(Visibility.values)}")
    with writing_alone():  # locks in the order of who ingests: first the revision, then the row
        row: Model = get_object_or_404(own, identifier=request.POST.get("identifier", ""))
        setattr(row, field, chosen)
        row.save(update_fields=[field])  # which makes a new revision: nothing remembered outlives it
    messages.success(request, f"{row} {'is' if field == 'visibility' else 'has data that are'} {chosen} now.")
    following = request.POST.get("next", "")
    if following and get_adapter().is_safe_url(following):
        return HttpResponseRedirect(following)
    return redirect("accounts:profile")


@login_required
def new_token(request: HttpRequest) -> HttpResponse:
    """Make a token and show it, once."""
    form = TokenForm(request.POST or None, user=_me(request))
    if request.method == "POST" and form.is_valid():
        token, text = form.issue()
        get_adapter().send_notification_mail("accounts/email/token_made", token.user, {"token": token})
        return render(request, "accounts/token_made.html", {"token": token, "text": text})
    return render(request, "accounts/token.html", {"form": form})


@_changes
def revoke_token(request: HttpRequest, key: int) -> HttpResponse:
    """End an own token."""
    token = get_object_or_404(ApiToken, pk=key, user=_me(request))
    token.revoked = True
    token.save(update_fields=["revoked"])
    messages.success(request, f"The token {token.name} is revoked.")
    return redirect("accounts:profile")


@login_required
def own_data(request: HttpRequest) -> HttpResponse:
    """Everything that the site holds on who asks."""
    answer = JsonResponse(everything_about(_me(request)), json_dumps_params={"indent": 1, "ensure_ascii": False})
    answer["Content-Disposition"] = f'attachment; filename="brain-score-{timezone.now():%Y-%m-%d}.json"'
    return answer


@sensitive_post_parameters("password")
@login_required
def delete(request: HttpRequest) -> HttpResponse:
    """Leave the site."""
    user = _me(request)
    form = DeleteForm(request.POST or None, user=user)
    if request.method == "POST" and form.is_valid():
        address = user.email
        try:
            leave(user, form.chosen)
        except UserError as error:
            form.add_error(None, f"{error.message}: {error.remedy}")
        else:
            logout(request)
            get_adapter().send_notification_mail("accounts/email/deleted", user, email=address)
            return render(request, "accounts/deleted.html")
    counts = {"models": user.models.count(), "benchmarks": user.benchmarks.count()}
    return render(request, "accounts/delete.html", {"form": form, "counts": counts})
