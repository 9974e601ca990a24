"""What django-allauth calls: forms, redirects, throttling of logins, failed e-mails, secrets of second factors."""

from __future__ import annotations

import base64
import logging
import unicodedata
from contextlib import suppress
from smtplib import SMTPException
from typing import Any

from allauth.account import forms as account
from allauth.account.adapter import DefaultAccountAdapter
from allauth.core import context as current
from allauth.core import ratelimit
from allauth.core.exceptions import ImmediateHttpResponse
from allauth.core.internal.ratelimit import consume, get_ip
from allauth.mfa.adapter import DefaultMFAAdapter
from allauth.mfa.base import forms as second_factor
from allauth.mfa.recovery_codes import forms as recovery_codes
from allauth.mfa.totp import forms as totp
from allauth.mfa.webauthn import forms as passkeys
from cryptography.fernet import Fernet, InvalidToken, MultiFernet
from django import forms
from django.conf import settings
from django.core.cache import cache
from django.core.exceptions import ValidationError
from django.core.mail import EmailMessage
from django.db import IntegrityError, transaction
from django.http import HttpRequest
from django.shortcuts import render
from django.utils.crypto import salted_hmac
from django.utils.http import url_has_allowed_host_and_scheme
from django.utils.safestring import mark_safe

from brainscore_web.accounts.models import User, clean_address

_log = logging.getLogger(__name__)
_LONGEST_ADDRESS = 254


class EmailNotSent(ImmediateHttpResponse):
    """An e-mail could not be sent; if not caught, the visitor sees a page that says so."""


def clean_name(name: str) -> str:
    """Normalise a display name to one line; refuse invisible characters."""
    name = " ".join(unicodedata.normalize("NFC", name).split())
    if any(unicodedata.category(character).startswith("C") for character in name):
        raise ValidationError("The name contains invisible characters.")
    if "@" in name:
        raise ValidationError("The name is public. Do not use an e-mail address.")
    return name


class AccountAdapter(DefaultAccountAdapter):
    """Accounts of this site."""

    def is_open_for_signup(self, request: HttpRequest) -> bool:
        return settings.SIGNUP_OPEN

    def is_safe_url(self, url: str) -> bool:
        """Whether a redirect stays on this site."""
        request = current.request
        return url_has_allowed_host_and_scheme(url, {request.get_host()}, require_https=request.is_secure())

    def clean_email(self, email: str) -> str:
        if len(email) > _LONGEST_ADDRESS:
            raise ValidationError(f"An e-mail address can have at most {_LONGEST_ADDRESS} characters.")
        try:
            email.rpartition("@")[2].encode("idna")
        except UnicodeError as error:
            raise ValidationError("The domain is not valid.") from error
        return email

    def save_user(self, request: HttpRequest, user: User, form: Any, commit: bool = True) -> User:
        """Save the display name as well."""
        user.display_name = form.cleaned_data.get("display_name", "")
        return super().save_user(request, user, form, commit)

    def get_password_change_redirect_url(self, request: HttpRequest) -> str:
        return self.get_login_redirect_url(request)

    def render_mail(
        self, template_prefix: str, email: str | list[str], context: dict[str, Any], headers: Any = None
    ) -> EmailMessage:
        """Add a header that prevents automatic replies."""
        return super().render_mail(template_prefix, email, context, {"Auto-Submitted": "auto-generated"})

    def send_mail(self, template_prefix: str, email: str, context: dict[str, Any]) -> None:
        """Send an e-mail."""
        try:
            super().send_mail(template_prefix, email, context)
        except (SMTPException, OSError) as error:
            _log.error("E-mail %s could not be sent: %s", template_prefix, error)
            request = current.request
            ratelimit.clear(request, action="confirm_email", key=email.lower())
            signing_up = template_prefix in _AT_SIGN_UP
            response = render(request, "accounts/mail_failed.html", {"signing_up": signing_up}, status=503)
            raise EmailNotSent(response) from error

    def send_notification_mail(self, *args: Any, **kwargs: Any) -> None:
        """Notify the user of a change to the account; the change remains if the e-mail fails."""
        with suppress(EmailNotSent):  # it is logged
            super().send_notification_mail(*args, **kwargs)

    def pre_authenticate(self, request: HttpRequest, **credentials: Any) -> None:
        """Limit attempts to guess a password, without locking out the owner of the account.

        Failed attempts are counted by account and IP address together; and also by account alone, over all IP addresses
        from which the account has never been logged in to.
        """
        super().pre_authenticate(request, **credentials)
        self._elsewhere = None
        if cache.get(_login_key(request, credentials)) is None:
            account = _account_key(credentials)
            self._elsewhere = consume(request, app="allauth.account", action="login_failed_elsewhere", key=account)
            if self._elsewhere is None:
                raise self.validation_error("too_many_login_attempts")

    def authenticate(self, request: HttpRequest, **credentials: Any) -> User | None:
        """Check a password, and remember the IP address of a successful login."""
        user: User | None = super().authenticate(request, **credentials)
        if user is not None:
            if self._elsewhere is not None:
                self._elsewhere.rollback()
            cache.set(_login_key(request, credentials), True, _REMEMBERED_SECONDS)
        return user

    def _get_login_attempts_cache_key(self, request: HttpRequest, **credentials: Any) -> str:
        """The key for counting failed logins; it leaves out host name and port, which the visitor controls."""
        return f"login:{_account_key(credentials)}:{get_ip(request)}"


def _account_key(credentials: dict[str, Any]) -> str:
    return str(credentials.get("email", credentials.get("username", ""))).lower()


def _login_key(request: HttpRequest, credentials: dict[str, Any]) -> str:
    return f"entered:{_account_key(credentials)}:{get_ip(request)}"


_REMEMBERED_SECONDS = 365 * 24 * 3600
_AT_SIGN_UP = ("account/email/email_confirmation_signup", "account/email/account_already_exists")


class SecondFactorAdapter(DefaultMFAAdapter):
    """Encrypts the secrets of second factors with the site's secret key."""

    def get_totp_issuer(self) -> str:
        return "Brain-Score"

    def encrypt(self, text: str) -> str:
        return _cipher().encrypt(text.encode()).decode()

    def decrypt(self, encrypted_text: str) -> str:
        """Decrypt a secret."""
        try:
            return _cipher().decrypt(encrypted_text.encode()).decode()
        except InvalidToken as error:
            raise ValidationError(
                "The site can no longer read your second factor. Ask an administrator to remove it."
            ) from error


def _cipher() -> MultiFernet:
    keys = (settings.SECRET_KEY, *settings.SECRET_KEY_FALLBACKS)
    digests = (
        salted_hmac("brainscore_web.second_factor", "key", secret=key, algorithm="sha256").digest() for key in keys
    )
    return MultiFernet([Fernet(base64.urlsafe_b64encode(digest)) for digest in digests])


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


class SignUp(_Plain):
    """What every new account needs. The response and its timing do not reveal whether an address has an account."""

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
                    return super().try_save(request)  # type: ignore[misc]  # of django-allauth's form
            except IntegrityError:  # another request created the account first
                self.account_already_exists = True
        User().set_password(self.cleaned_data.get("password1"))  # takes as long as creating a user
        return super().try_save(request)  # type: ignore[misc] # as above


class SignupForm(SignUp, account.SignupForm):
    """Sign up with a password."""

    field_order = ("email", "display_name", "password1", "consent")


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


class AddPasskeyForm(_Plain, passkeys.AddWebAuthnForm):
    """Add a passkey; it suffices to log in unless the user wants a second factor only."""

    passwordless = forms.BooleanField(
        label="Log in with it alone, without the password",
        required=False,
        initial=True,
        help_text="It then asks for a fingerprint, your face or a PIN.",
    )


class RenamePasskeyForm(_Plain, passkeys.EditWebAuthnForm):
    """Rename a passkey."""
