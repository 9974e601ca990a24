"""Forms of the profile: display name, API tokens, deletion of the account."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

from django import forms
from django.utils import timezone

from brainscore_web.accounts.adapter import clean_name
from brainscore_web.accounts.forms import ReauthenticateForm
from brainscore_web.accounts.models import SCOPES, ApiToken, User
from brainscore_web.profile.personal_data import PrivateModels

_MOST_TOKENS = 50


class NameForm(forms.ModelForm):
    """Change the display name."""

    class Meta:
        """The editable field."""

        model = User
        fields = ("display_name",)

    def clean_display_name(self) -> str:
        """Normalise the display name."""
        return clean_name(self.cleaned_data["display_name"])


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
