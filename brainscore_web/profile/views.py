"""Pages of a user's own account, and their forms."""

from __future__ import annotations

import functools
from collections.abc import Callable
from datetime import timedelta
from typing import Any, TypeVar, cast

from allauth.account.adapter import get_adapter
from allauth.account.models import EmailAddress
from allauth.mfa.utils import is_mfa_enabled
from django import forms
from django.conf import settings
from django.contrib import messages
from django.contrib.auth import logout
from django.contrib.auth.decorators import login_required
from django.core.paginator import Paginator
from django.db import transaction
from django.db.models import Count, Model, Q, QuerySet
from django.http import HttpRequest, HttpResponse, HttpResponseBadRequest, HttpResponseRedirect, JsonResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.utils import timezone
from django.views.decorators.debug import sensitive_post_parameters

from brainscore_core.errors import UserError
from brainscore_web.accounts.adapter import ReauthenticateForm, clean_name
from brainscore_web.accounts.callers import current_user
from brainscore_web.accounts.models import SCOPES, ApiToken, Invitation, User, owned_by
from brainscore_web.leaderboard.models import Benchmark, Visibility, VisionModel
from brainscore_web.leaderboard.revision import exclusive_write
from brainscore_web.profile.personal_data import PrivateModels, delete_account, personal_data_of
from brainscore_web.submissions.models import Submission
from brainscore_web.uploads.files import bytes_used, limits
from brainscore_web.uploads.models import Upload

_MOST_TOKENS = 50


class NameForm(forms.ModelForm):
    """Change the display name, and what else others see."""

    class Meta:
        """The editable fields."""

        model = User
        fields = ("display_name", "affiliation", "orcid", "public_page")

    def clean_display_name(self) -> str:
        """Normalise the display name."""
        return clean_name(self.cleaned_data["display_name"])

    def clean_affiliation(self) -> str:
        """Normalise the affiliation."""
        return clean_name(self.cleaned_data["affiliation"])


class TokenForm(forms.Form):
    """Create an API token.

    Scopes without effect for the user are not offered.
    """

    name = forms.CharField(max_length=100, help_text="What the token is used for.")
    scopes = forms.MultipleChoiceField(widget=forms.CheckboxSelectMultiple, label="Permissions")
    days = forms.TypedChoiceField(
        label="Expires",
        choices=(("30", "in 30 days"), ("90", "in 90 days"), ("365", "in a year"), ("0", "never")),
        coerce=int,
        initial="90",
    )

    def __init__(self, *args: Any, user: User, **kwargs: Any) -> None:
        super().__init__(*args, label_suffix="", **kwargs)
        self.user = user
        offered = dict(SCOPES)
        if not user.has_perm("leaderboard.add_score"):
            offered.pop("receipts:write")
        if not user.has_perm("scoring.run_jobs"):
            offered.pop("jobs:run")
        field = self.fields["scopes"]
        assert isinstance(field, forms.MultipleChoiceField)
        field.choices = tuple(offered.items())
        field.initial = ["read"]

    def clean(self) -> dict[str, Any] | None:
        """Limit the number of valid tokens."""
        if self.user.tokens.filter(revoked=False).count() >= _MOST_TOKENS:
            raise forms.ValidationError(f"You have {_MOST_TOKENS} tokens. Revoke one first.")
        return super().clean()

    def issue(self) -> tuple[ApiToken, str]:
        """Create the token; its text is returned only once."""
        data = self.cleaned_data
        expires = timezone.now() + timedelta(days=data["days"]) if data["days"] else None
        return ApiToken.issue(self.user, data["name"], data["scopes"], expires=expires)


class DeleteForm(ReauthenticateForm):
    """Delete the account: asks for the password and, if the user has private models, what happens to them."""

    leftover = forms.ChoiceField(
        label="Your private models",
        choices=PrivateModels.choices,
        initial=PrivateModels.KEEP,
        widget=forms.RadioSelect,
    )
    field_order = ("leftover", "password")

    def __init__(self, *args: Any, user: User, **kwargs: Any) -> None:
        super().__init__(*args, user=user, **kwargs)
        if not user.models.filter(visibility="private").exists():
            del self.fields["leftover"]

    @property
    def chosen(self) -> PrivateModels:
        """What happens to private models."""
        return PrivateModels(self.cleaned_data.get("leftover", PrivateModels.KEEP))


_PAGE_SIZE = 50


View = TypeVar("View", bound=Callable[..., HttpResponse])


def _post_only(view: View) -> View:
    """Require a login, and redirect requests other than POST to the profile."""

    @functools.wraps(view)
    def wrapped(request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponse:
        return view(request, *args, **kwargs) if request.method == "POST" else redirect("accounts:profile")

    return cast(View, login_required(wrapped))


@login_required
def home(request: HttpRequest) -> HttpResponse:
    """Redirect to the profile."""
    return redirect("accounts:profile")


@login_required
def profile(request: HttpRequest) -> HttpResponse:
    """Show the user's models, benchmarks, tokens and account settings."""
    user = current_user(request)
    models = VisionModel.objects.filter(owned_by(user)).order_by("identifier")
    benchmarks = Benchmark.objects.filter(owned_by(user), is_mean=False).order_by("identifier")
    pending = EmailAddress.objects.get_new(user)
    context = {
        "user": user,
        "models": Paginator(models, _PAGE_SIZE).get_page(request.GET.get("models", "1")),
        "benchmarks": Paginator(benchmarks, _PAGE_SIZE).get_page(request.GET.get("benchmarks", "1")),
        "submissions": _numbers_of_submissions(user),
        "uploads": Upload.objects.filter(owner=user).exclude(state=Upload.State.WITHDRAWN).count(),
        "uploaded": {"bytes": bytes_used(user), "limit": limits().person},
        "memberships": user.memberships.select_related("lab"),
        "invitations": Invitation.objects.of(user).select_related("lab", "by"),
        "tokens": user.tokens.filter(Q(expires=None) | Q(expires__gt=timezone.now()), revoked=False),
        "providers": bool(settings.SOCIALACCOUNT_PROVIDERS),
        "second_factor": is_mfa_enabled(user),
        "pending": pending.email if pending and pending.email != user.email else "",
    }
    return render(request, "accounts/profile.html", context)


def _numbers_of_submissions(user: User) -> dict[str, int]:
    return Submission.objects.filter(owned_by(user)).aggregate(
        all=Count("pk"),
        open=Count("pk", filter=~Q(state__in=Submission.CLOSED)),
        changes=Count("pk", filter=Q(state=Submission.State.CHANGES)),
    )


@login_required
def name(request: HttpRequest) -> HttpResponse:
    """Change the display name, and what the user's public page shows."""
    form = NameForm(request.POST or None, instance=User.objects.get(pk=current_user(request).pk), label_suffix="")
    if request.method == "POST" and form.is_valid():
        form.instance.save(update_fields=list(form.fields))
        return redirect("accounts:profile")
    return render(request, "accounts/name.html", {"form": form})


@_post_only
def model_visibility(request: HttpRequest) -> HttpResponse:
    """Make one of the user's models public or private."""
    return _switch(request, VisionModel.objects.filter(owned_by(current_user(request))), "visibility")


@_post_only
def benchmark_access(request: HttpRequest) -> HttpResponse:
    """Make stimuli and measurements of one of the user's benchmarks public or private; its scores are always public."""
    return _switch(request, Benchmark.objects.filter(owned_by(current_user(request)), is_mean=False), "access")


def _switch(request: HttpRequest, own: QuerySet[Any], field: str) -> HttpResponse:
    """Set the visibility of a row of the user; rows of others are not found."""
    chosen = request.POST.get(field)
    if chosen not in Visibility.values:
        return HttpResponseBadRequest(f"{field} must be one of: {', '.join(Visibility.values)}")
    with exclusive_write():  # the same order of locks as ingestion: first the revision, then the row
        row: Model = get_object_or_404(own, identifier=request.POST.get("identifier", ""))
        setattr(row, field, chosen)
        row.save(update_fields=[field])  # also bumps the revision, which invalidates caches
    messages.success(request, f"{row} {'is' if field == 'visibility' else 'has data that are'} now {chosen}.")
    following = request.POST.get("next", "")
    if following and get_adapter().is_safe_url(following):
        return HttpResponseRedirect(following)
    return redirect("accounts:profile")


@login_required
def new_token(request: HttpRequest) -> HttpResponse:
    """Create a token and show it once."""
    user = current_user(request)
    form, issued = TokenForm(request.POST or None, user=user), None
    if request.method == "POST":
        with transaction.atomic():
            User.objects.select_for_update().get(pk=user.pk)  # of several requests, each counts those before it
            issued = form.issue() if form.is_valid() else None
    if issued is not None:
        token, text = issued
        get_adapter().send_notification_mail("accounts/email/token_made", token.user, {"token": token})
        return render(request, "accounts/token_made.html", {"token": token, "text": text})
    return render(request, "accounts/token.html", {"form": form})


@_post_only
def revoke_token(request: HttpRequest, key: int) -> HttpResponse:
    """Revoke one of the user's tokens."""
    token = get_object_or_404(ApiToken, pk=key, user=current_user(request))
    token.revoked = True
    token.save(update_fields=["revoked"])
    messages.success(request, f"The token {token.name} is revoked.")
    return redirect("accounts:profile")


@login_required
def own_data(request: HttpRequest) -> HttpResponse:
    """Download everything that the site stores about the user."""
    response = JsonResponse(
        personal_data_of(current_user(request)), json_dumps_params={"indent": 1, "ensure_ascii": False}
    )
    response["Content-Disposition"] = f'attachment; filename="brain-score-{timezone.now():%Y-%m-%d}.json"'
    return response


@sensitive_post_parameters("password")
@login_required
def delete(request: HttpRequest) -> HttpResponse:
    """Delete the user's account."""
    user = current_user(request)
    form = DeleteForm(request.POST or None, user=user)
    if request.method == "POST" and form.is_valid():
        address = user.email
        try:
            delete_account(user, form.chosen)
        except UserError as error:
            form.add_error(None, error.line())
        else:
            logout(request)
            get_adapter().send_notification_mail("accounts/email/deleted", user, email=address)
            return render(request, "accounts/deleted.html")
    counts = {"models": user.models.count(), "benchmarks": user.benchmarks.count()}
    return render(request, "accounts/delete.html", {"form": form, "counts": counts})
