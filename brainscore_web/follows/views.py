"""Pages on which members follow models, benchmarks and labs, and choose what they get e-mails about."""

from __future__ import annotations

from django import forms
from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.core.paginator import Paginator
from django.db import transaction
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.views.decorators.cache import never_cache
from django.views.decorators.csrf import csrf_exempt
from django.views.decorators.http import require_http_methods, require_POST

from brainscore_core.domains import Domain
from brainscore_web.accounts.callers import current_user, has_confirmed_email
from brainscore_web.accounts.models import Lab, User
from brainscore_web.follows import digests
from brainscore_web.follows.models import Follow, Notifications
from brainscore_web.leaderboard.models import Benchmark, VisionModel

MOST_FOLLOWS = 500
"""Models, benchmarks and labs that a member may follow."""

_PAGE_SIZE = 50
_page_or_form = require_http_methods(["GET", "HEAD", "POST"])


class NotificationsForm(forms.ModelForm):
    """What a member gets e-mails about, and how often."""

    class Meta:
        """All settings."""

        model = Notifications
        fields = ("frequency", "scores", "versions", "news")
        widgets = {"frequency": forms.RadioSelect}  # noqa: RUF012 # as Django's classes


@never_cache
@login_required
@_page_or_form
def home(request: HttpRequest) -> HttpResponse:
    """The models, benchmarks and labs that the visitor follows, and the settings of e-mails."""
    user = current_user(request)
    settings = Notifications.objects.filter(user=user).first()
    if request.method == "POST":
        settings = digests.notifications_of(user)
    form = NotificationsForm(request.POST or None, instance=settings, label_suffix="")
    if request.method == "POST" and form.is_valid():
        form.instance.save(update_fields=NotificationsForm.Meta.fields)
        messages.success(request, "The settings are saved.")
        return redirect("follows:home")
    follows = Follow.objects.filter(user=user).visible_to(user).select_related("model", "benchmark", "lab")
    context = {
        "form": form,
        "follows": Paginator(follows, _PAGE_SIZE).get_page(request.GET.get("page")),
        "confirmed": has_confirmed_email(user),
    }
    return render(request, "follows/home.html", context, status=400 if form.errors else 200)


@never_cache
@_page_or_form
def follow(request: HttpRequest, domain: Domain, kind: str, identifier: str) -> HttpResponse:
    """Follow a model or benchmark, or no longer; visitors without an account find its feeds here."""
    rows = VisionModel.objects.visible_to(request.user) if kind == "model" else Benchmark.objects.all()
    row = rows.filter(domain=domain.name, identifier=identifier).first()
    if row is None:
        raise Http404(f"there is no {kind} {identifier[:80]!r}")
    user = request.user if isinstance(request.user, User) else None
    if request.method == "POST":
        if user is None:
            return redirect("account_login")
        _change(request, user, kind, row)
        return redirect(request.path)
    context = {
        "row": row,
        "kind": kind,
        "is_public": kind == "benchmark" or row.visibility == "public",
        "followed": user is not None and Follow.objects.filter(user=user, **{kind: row}).exists(),
        "notifications": None if user is None else Notifications.objects.filter(user=user).first(),
    }
    return render(request, "follows/follow.html", context)


@never_cache
@login_required
@require_POST
def follow_lab(request: HttpRequest, slug: str) -> HttpResponse:
    """Follow a lab, or no longer."""
    lab = get_object_or_404(Lab, slug=slug)
    _change(request, current_user(request), "lab", lab)
    return redirect(lab.page)


def _change(request: HttpRequest, user: User, kind: str, row: VisionModel | Benchmark | Lab) -> None:
    """Store or delete a follow; several requests at a time cannot exceed the limit."""
    with transaction.atomic():
        User.objects.select_for_update().get(pk=user.pk)
        follows = Follow.objects.filter(user=user)
        if request.POST.get("change") == "unfollow":
            follows.filter(**{kind: row}).delete()
            messages.success(request, f"You no longer follow {row}.")
        elif not follows.filter(**{kind: row}).exists() and follows.count() >= MOST_FOLLOWS:
            messages.error(request, f"You follow {MOST_FOLLOWS} models, benchmarks and labs. Unfollow one first.")
        else:
            digests.notifications_of(user)
            Follow.objects.get_or_create(user=user, **{kind: row})
            messages.success(request, f"You follow {row}.")


@csrf_exempt  # mail programs send a POST request without a cookie (RFC 8058); the signed token authorises it
@never_cache
@_page_or_form
def unsubscribe(request: HttpRequest, token: str) -> HttpResponse:
    """End the e-mails of the member whom the link was sent to: by POST, since programs follow links in e-mails."""
    user = digests.subscriber(token)
    if user is None:
        raise Http404("this link is not valid")
    if request.method == "POST":
        digests.unsubscribe(user)
    return render(request, "follows/unsubscribe.html", {"ended": request.method == "POST"})
