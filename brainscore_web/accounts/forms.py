"""Forms of accounts: those of django-allauth without placeholders, and the site's own."""

from __future__ import annotations

from typing import Any

from allauth.account import forms as account
from allauth.mfa.base import forms as second_factor
from allauth.mfa.recovery_codes import forms as recovery_codes
from allauth.mfa.totp import forms as totp
from django import forms
from django.db import IntegrityError, transaction
from django.http import HttpRequest
from django.utils.safestring import mark_safe

from brainscore_web.accounts.adapter import clean_name
from brainscore_web.accounts.models import User, clean_address

_LABELS = {
    "Email": "E-mail address",
    "Remember Me": "Stay logged in for two weeks",
    "Password (again)": "Password, again",
    "Current Password": "Current password",
    "New Password": "New password",
    "New Password (again)": "New password, again",
}
_ADDRESSES = {"email", "login"}  # names of fields


class _Plain(forms.Form):
    """A form without placeholders, with the site's labels; e-mail addresses lose invisible characters."""

    data: Any

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        if self.is_bound:
            self.data = self.data.copy()
            for name in _ADDRESSES & self.data.keys():
                self.data[name] = clean_address(self.data[name])
        self.label_suffix = ""
        for field in self.fields.values():
            field.widget.attrs.pop("placeholder", None)
            field.label = _LABELS.get(str(field.label), field.label)


class SignupForm(_Plain, account.SignupForm):
    """Sign up. The response and its timing do not reveal whether an address already has an account."""

    field_order = ("email", "display_name", "password1", "consent")
    account_already_exists: bool
    display_name = forms.CharField(
        label="Display name", max_length=100, required=False, help_text="Shown with your models and benchmarks."
    )
    consent = forms.BooleanField(
        label=mark_safe(
            'I agree to the <a href="/terms/" target="_blank">terms of use</a>, and to what the page on '
            '<a href="/privacy/" target="_blank">privacy</a> says.'
        ),
        error_messages={"required": "You need to agree to sign up."},
    )  # not stored: every account has agreed when it signed up

    def clean_display_name(self) -> str:
        """Normalise the display name."""
        return clean_name(self.cleaned_data["display_name"])

    def try_save(self, request: HttpRequest) -> Any:
        """Create the user, unless the address already has an account."""
        if not self.account_already_exists:
            try:
                with transaction.atomic():
                    return super().try_save(request)
            except IntegrityError:  # another request created the account first
                self.account_already_exists = True
        User().set_password(self.cleaned_data["password1"])  # takes as long as creating a user
        return super().try_save(request)


class LoginForm(_Plain, account.LoginForm):
    """Log in."""


class AddEmailForm(_Plain, account.AddEmailForm):
    """Change the e-mail address."""


class ChangePasswordForm(_Plain, account.ChangePasswordForm):
    """Change the password."""


class SetPasswordForm(_Plain, account.SetPasswordForm):
    """Set a first password."""


class ResetPasswordForm(_Plain, account.ResetPasswordForm):
    """Request a link for a new password."""


class ResetPasswordKeyForm(_Plain, account.ResetPasswordKeyForm):
    """Set a new password with a link."""


class ReauthenticateForm(_Plain, account.ReauthenticateForm):
    """Enter the password again."""


class AuthenticateForm(_Plain, second_factor.AuthenticateForm):
    """Enter a code of the second factor."""


class ReauthenticateCodeForm(_Plain, second_factor.ReauthenticateForm):
    """Enter a code of the second factor again."""


class ActivateTOTPForm(_Plain, totp.ActivateTOTPForm):
    """Activate a second factor."""


class DeactivateTOTPForm(_Plain, totp.DeactivateTOTPForm):
    """Deactivate the second factor."""


class GenerateRecoveryCodesForm(_Plain, recovery_codes.GenerateRecoveryCodesForm):
    """Generate new recovery codes."""
