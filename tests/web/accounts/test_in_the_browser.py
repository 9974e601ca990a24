"""Accounts in a browser: accessibility of every page and of what forms answer with."""

import pytest
from allauth.account.forms import default_token_generator
from allauth.account.models import EmailAddress
from allauth.account.utils import user_pk_to_url_str

from brainscore_web.environment import email_settings

from .._browsing import LOOKS, PHONE, barriers, follow

PASSWORD = "correct horse battery"


ADDRESSES = {
    False: [
        "login/", "signup/", "confirm-email/", "inactive/", "password/reset/", "password/reset/done/",
        "password/reset/key/done/", "confirm-email/x:y:z/", "password/reset/key/1-x-y/",
    ],
    True: [
        "profile/", "name/", "tokens/", "delete/", "email/", "password/change/", "logout/", "2fa/",
        "2fa/totp/activate/", "2fa/webauthn/", "2fa/webauthn/add/", "providers/", "reauthenticate/",
    ],
}  # fmt: skip


GIVEN_NOW = {"account_authentication_methods": [{"method": "password", "at": 9e9, "reauthenticated": True}]}
"""Of a session: the password was given just now."""


@pytest.fixture
def somebody(board, owner):
    """A member with a long name, and an address that is confirmed."""
    EmailAddress.objects.create(user=owner, email=owner.email, verified=True, primary=True)
    owner.display_name = "A name that is so long that it would not fit on any phone that was ever made"
    owner.save()
    return owner


@pytest.fixture
def logged_in(new_page, somebody):
    """A page of this member, who may change everything."""
    return new_page(somebody, session={**GIVEN_NOW, "account_authentication_methods_user": str(somebody.pk)})


def test_every_page(somebody, logged_in, new_page):
    """Of a visitor and of a member; then with a second factor, whose QR code can be read."""
    from allauth.mfa.models import Authenticator
    from allauth.mfa.recovery_codes.internal.auth import RecoveryCodes
    from allauth.mfa.totp.internal.auth import TOTP, generate_totp_secret

    visitor = new_page(refused=True)
    wrong = []
    for page, addresses in ((visitor, ADDRESSES[False]), (logged_in, ADDRESSES[True])):
        for address in addresses:
            wrong += barriers(page, f"/accounts/{address}")
    token = f"{user_pk_to_url_str(somebody)}-{default_token_generator.make_token(somebody)}"
    wrong += barriers(visitor, f"/accounts/password/reset/key/{token}/", looks=LOOKS[:1])
    assert visitor.inner_text("main button") == "Set password"

    logged_in.goto("/accounts/2fa/totp/activate/")
    assert logged_in.evaluate("document.querySelector('img.code').naturalWidth") > 0
    TOTP.activate(somebody, generate_totp_secret())
    RecoveryCodes.activate(somebody)
    assert Authenticator.objects.count() == 2
    for address in ("", "recovery-codes/", "recovery-codes/generate/", "totp/deactivate/", "reauthenticate/"):
        wrong += barriers(logged_in, f"/accounts/2fa/{address}", looks=[(PHONE, "dark")])
    visitor.goto("/accounts/login/")
    visitor.fill("[name=login]", somebody.email)
    visitor.fill("[name=password]", "wrong password")
    follow(visitor.locator("main button").first)
    visitor.wait_for_selector(".errorlist")
    visitor.fill("[name=login]", somebody.email)
    visitor.fill("[name=password]", PASSWORD)
    follow(visitor.locator("main button").first)
    visitor.wait_for_url("**/2fa/authenticate/")
    wrong += barriers(visitor, looks=LOOKS[:1])
    assert not wrong, "\n".join(wrong)


def test_what_forms_answer_with(somebody, logged_in, new_page, settings):
    """Errors, a new token, a waiting address, too many attempts, no mail server, a closed sign-up, good-bye."""
    EmailAddress.objects.create(user=somebody, email="waiting@example.org")
    page, light, dark = logged_in, LOOKS[:1], [(PHONE, "dark")]
    wrong = barriers(page, "/accounts/email/", looks=light)
    assert page.is_visible("text=Cancel this change")
    page.goto("/accounts/tokens/")
    page.fill("[name=name]", "a laptop")
    follow(page.locator("main button").first)
    page.wait_for_selector("#token")
    wrong += barriers(page, looks=light)
    page.goto("/accounts/delete/")
    page.fill("[name=password]", "wrong password")
    follow(page.locator("main button").first)
    page.wait_for_selector(".errorlist")
    wrong += barriers(page, looks=light)
    page.fill("[name=password]", PASSWORD)
    follow(page.locator("main button").first)
    page.wait_for_selector("h1:has-text('Your account has been deleted')")
    wrong += barriers(page, looks=light)

    visitor = new_page(refused=True)
    settings.ACCOUNT_RATE_LIMITS = {"signup": "1/h/ip"}
    for name, value in email_settings("smtp://127.0.0.1:1").items():
        setattr(settings, name, value)
    for heading in ("The e-mail could not be sent", "Too many attempts"):
        visitor.goto("/accounts/signup/")
        visitor.fill("[name=email]", "newcomer@example.org")
        visitor.fill("[name=password1]", PASSWORD)
        visitor.check("[name=consent]")
        follow(visitor.locator("main button").first)
        visitor.wait_for_selector(f"h1:has-text('{heading}')")
        wrong += barriers(visitor, looks=dark)
    settings.SIGNUP_OPEN = False
    wrong += barriers(visitor, "/accounts/signup/", looks=dark)
    assert visitor.is_visible("text=not accept new registrations")
    assert not wrong, "\n".join(wrong)


def test_passkeys(somebody, logged_in):
    """Create one, log in with it alone, then with the password and it, in a virtual authenticator of Chromium."""
    page = logged_in
    devtools = page.context.new_cdp_session(page)
    devtools.send("WebAuthn.enable")
    options = {"protocol": "ctap2", "transport": "internal", "hasResidentKey": True, "hasUserVerification": True}
    authenticator = {**options, "isUserVerified": True, "automaticPresenceSimulation": True}
    key = devtools.send("WebAuthn.addVirtualAuthenticator", {"options": authenticator})["authenticatorId"]

    page.goto("/accounts/2fa/webauthn/add/")
    page.fill("[name=name]", "laptop")
    follow(page.locator("#add-passkey"))
    page.wait_for_selector("h1:has-text('Recovery codes')")
    wrong = barriers(page, "/accounts/2fa/webauthn/")
    assert "laptop logs in alone" in page.inner_text(".rows li")
    (remove,) = page.locator("a:has-text('Remove')").all()
    wrong += barriers(page, remove.get_attribute("href"), looks=LOOKS[:1])

    page.context.clear_cookies()
    page.goto("/accounts/login/")
    follow(page.locator("#use-passkey"))
    page.wait_for_url("**/accounts/profile/")

    page.context.clear_cookies()
    page.goto("/accounts/login/")
    page.fill("[name=login]", somebody.email)
    page.fill("[name=password]", PASSWORD)
    follow(page.locator("main button.main"))
    page.wait_for_url("**/2fa/authenticate/")
    wrong += barriers(page, looks=[(PHONE, "dark")])
    follow(page.locator("#use-passkey"))
    page.wait_for_url("**/accounts/profile/")
    page.goto("/accounts/2fa/webauthn/add/")  # asks again who it is
    page.wait_for_selector("text=Use a passkey instead")
    wrong += barriers(page, page.locator("text=Use a passkey instead").get_attribute("href"), looks=LOOKS[:1])
    follow(page.locator("#use-passkey"))
    page.wait_for_selector("h1:has-text('New passkey')")

    page.context.clear_cookies()
    devtools.send("WebAuthn.clearCredentials", {"authenticatorId": key})
    page.goto("/accounts/login/")
    page.locator("#use-passkey").click()
    page.wait_for_selector("#passkey-failed", state="visible")
    assert not wrong, "\n".join(wrong)


def test_colours_are_chosen(page, db):
    """They stay on the next page, hold before it is drawn, and nothing is offered without scripts."""
    page.emulate_media(color_scheme="light")
    page.goto("/about/")
    paper = "getComputedStyle(document.body).backgroundColor"
    light = page.evaluate(paper)
    page.select_option("#theme", "dark")
    dark = page.evaluate(paper)
    page.goto("/faq/", wait_until="commit")
    page.wait_for_selector("body", state="attached")
    assert (page.evaluate(paper), dark != light) == (dark, True)
    assert page.input_value("#theme") == "dark"
    page.select_option("#theme", "system")
    assert page.evaluate(paper) == light


def test_without_scripts_the_system_decides(new_page, db):
    page = new_page(java_script_enabled=False)
    page.goto("/accounts/login/")
    assert not page.is_visible("#theme")
    assert not page.is_visible("#use-passkey")
