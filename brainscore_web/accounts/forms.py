"""Forms of accounts: those of django-allauth without placeholders, and the site's own."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

from allauth.account import forms as account
from allauth.mfa.base import forms as second_factor
from allauth.mfa.recovery_codes import forms as recovery_codes
from allauth.mfa.totp import forms as totp
from django import forms
from django.db import IntegrityError, transaction
from django.http import HttpRequest
from django.utils import timezone

from brainscore_web.accounts.adapter import clean_name
from brainscore_web.accounts.models import SCOPES, ApiToken, User
from brainscore_web.accounts.personal_data import PrivateModels

__all__ = ["DeleteForm", "NameForm", "TokenForm"]

_LABELS = {
    "Email": "E-mail address",
    "Remember Me": "Stay logged in for two weeks",
    "Password (again)": "Password, again",
    "Current Password": "Current password",
    "New Password": "New password",
    "New Password (again)": "New password, again",
}
_MOST_TOKENS = 50


class _Plain(forms.Form):
    """No placeholders, labels as on the rest of the site."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.label_suffix = ""
        for field in self.fields.values():
            field.widget.attrs.pop("placeholder", None)
            field.label = _LABELS.get(str(field.label), field.label)


class SignupForm(_Plain, account.SignupForm):
    """Sign up. Whether there is an account of an address already shows in nothing, not even in the time it takes."""

    field_order = ("email", "display_name", "password1")
    account_already_exists: bool
    display_name = forms.CharField(
        label="Display name", max_length=100, required=False, help_text="Shown with your models and benchmarks."
    )

    def clean_display_name(self) -> str:
        """Bring it to one line."""
        return clean_name(self.cleaned_data["display_name"])

    def try_save(self, request: HttpRequest) -> Any:
        """Make the person, unless there is one already."""
        if not self.account_already_exists:
            try:
                with transaction.atomic():
                    return super().try_save(request)
            except IntegrityError:  # somebody was quicker
                self.account_already_exists = True
        User().set_password(self.cleaned_data["password1"])  # takes as long as making a person
        return super().try_save(request)


class LoginForm(_Plain, account.LoginForm):
    """Log in."""


class AddEmailForm(_Plain, account.AddEmailForm):
    """Change the address."""


class ChangePasswordForm(_Plain, account.ChangePasswordForm):
    """Change the password."""


class SetPasswordForm(_Plain, account.SetPasswordForm):
    """Set a password where there is none."""


class ResetPasswordForm(_Plain, account.ResetPasswordForm):
    """Ask for a link."""


class ResetPasswordKeyForm(_Plain, account.ResetPasswordKeyForm):
    """Set a password by a link."""


class ReauthenticateForm(_Plain, account.ReauthenticateForm):
    """Give the password again."""


class AuthenticateForm(_Plain, second_factor.AuthenticateForm):
    """Give a code."""


class ReauthenticateCodeForm(_Plain, second_factor.ReauthenticateForm):
    """Give a code again."""


class ActivateTOTPForm(_Plain, totp.ActivateTOTPForm):
    """Begin with a second factor."""


class DeactivateTOTPForm(_Plain, totp.DeactivateTOTPForm):
    """End it."""


class GenerateRecoveryCodesForm(_Plain, recovery_codes.GenerateRecoveryCodesForm):
    """Make recovery codes anew."""


class NameForm(forms.ModelForm):
    """Change the display name."""

    class Meta:
        """One field."""

        model = User
        fields = ("display_name",)

    def clean_display_name(self) -> str:
        """Bring it to one line."""
        return clean_name(self.cleaned_data["display_name"])


class TokenForm(forms.Form):
    """Make a token.

    Parameters
    ----------
    user : User
        Whose it is: scopes that do nothing for them are not offered.
    """

    name = forms.CharField(max_length=100, help_text="What it is for.")
    scopes = forms.MultipleChoiceField(widget=forms.CheckboxSelectMultiple, label="It may")
    days = forms.TypedChoiceField(
        label="It ends",
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
        field = self.fields["scopes"]
        assert isinstance(field, forms.MultipleChoiceField)
        field.choices = tuple(offered.items())
        field.initial = ["read"]

    def clean(self) -> dict[str, Any] | None:
        """Refuse more tokens than anybody needs."""
        if self.user.tokens.filter(revoked=False).count() >= _MOST_TOKENS:
            raise forms.ValidationError(f"You have {_MOST_TOKENS} tokens. Revoke one first.")
        return super().clean()

    def issue(self) -> tuple[ApiToken, str]:
        """Make the token; its text cannot be had again."""
        asked = self.cleaned_data
        expires = timezone.now() + timedelta(days=asked["days"]) if asked["days"] else None
        return ApiToken.issue(self.user, asked["name"], asked["scopes"], expires=expires)


class DeleteForm(ReauthenticateForm):
    """Leave: the password, and what becomes of private models, if there are any."""

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
        """What becomes of private models."""
        return PrivateModels(self.cleaned_data.get("leftover", PrivateModels.KEEP))
