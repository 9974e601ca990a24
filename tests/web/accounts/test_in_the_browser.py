"""Accounts in a browser: the way of a newcomer, and every page for everybody's eyes."""

import re

import pytest
from allauth.account.models import EmailAddress
from django.contrib.auth.tokens import default_token_generator
from django.test import Client

from brainscore_web._environment import mail

PASSWORD = "correct horse battery"


def links(mailbox):
    return re.findall(r"http://[^/\s]+(/\S+)", mailbox[-1].body)


def test_a_newcomer(board, page, mailoutbox, browser, live_server):
    """Sign up, confirm, find the profile, make a token, and withdraw a model from everybody else's eyes."""
    from brainscore_web.accounts.models import ApiToken, User
    from brainscore_web.leaderboard.models import VisionModel

    page.goto("/vision/leaderboard/")
    page.click("text=Sign up")
    page.fill("[name=email]", "newcomer@example.org")
    page.fill("[name=display_name]", "Nora Newcomer")
    page.fill("[name=password1]", PASSWORD)
    page.click("main button")
    page.wait_for_url("**/accounts/confirm-email/")
    page.goto(links(mailoutbox)[0])
    page.click("text=This is my address")
    page.wait_for_url("**/accounts/profile/")
    assert page.inner_text("h1") == "Nora Newcomer"

    page.click("text=New token")
    page.fill("[name=name]", "laptop")
    page.click("main button")
    text = page.inner_text("#token")
    user = User.objects.get(email="newcomer@example.org")
    assert ApiToken.find(text).user == user

    model = VisionModel.objects.get(identifier=board.models[0])
    model.owner = user
    model.save()
    visitor = browser.new_context(base_url=live_server.url).new_page()
    try:
        visitor.goto("/vision/leaderboard/")
        assert model.identifier in visitor.content()
        page.click("header >> text=Nora Newcomer")
        page.click(f"button:has-text('Make private {model.identifier}')")
        page.wait_for_selector("text=is private now")
        visitor.reload()
        assert model.identifier not in visitor.content()
        assert visitor.goto(f"/vision/model/{model.identifier}/").status == 404
        page.goto("/vision/leaderboard/")
        assert model.identifier in page.content()  # its owner still sees it
    finally:
        visitor.context.close()
    page.click("text=Log out")
    page.wait_for_selector("text=Log in")


ADDRESSES = {
    False: [
        "login/", "signup/", "confirm-email/", "inactive/", "password/reset/", "password/reset/done/",
        "password/reset/key/done/", "confirm-email/x:y:z/", "password/reset/key/1-x-y/",
    ],
    True: [
        "profile/", "name/", "tokens/", "delete/", "email/", "password/change/", "logout/", "2fa/",
        "2fa/totp/activate/", "reauthenticate/",
    ],
}  # fmt: skip


@pytest.fixture
def shown(browser, live_server, board, owner):
    """Opens pages in a narrow, dark or light window, logged in or not; says what is wrong with each."""
    axe = pytest.importorskip("axe_playwright_python.sync_playwright").Axe()
    contexts = []

    def page_of(width, scheme, logged_in):
        context = browser.new_context(
            base_url=live_server.url, viewport={"width": width, "height": 700}, color_scheme=scheme, bypass_csp=True
        )
        contexts.append(context)
        if logged_in:
            client = Client()
            client.force_login(owner)
            session = client.session  # the password was given just now
            session["account_authentication_methods"] = [{"method": "password", "at": 9e9, "reauthenticated": True}]
            session["account_authentication_methods_user"] = str(owner.pk)
            session.save()
            context.add_cookies([{"name": "sessionid", "value": session.session_key, "url": live_server.url}])
        opened = context.new_page()
        opened.set_default_timeout(10_000)
        return opened

    def wrong_with(page, address=None):
        """Of an address, or of what is open."""
        if address is not None:
            page.goto(address)
        found = [f"{one['id']}: {one['nodes'][0]['html']}" for one in axe.run(page).response["violations"]]
        too_wide = page.evaluate("document.documentElement.scrollWidth - document.documentElement.clientWidth")
        inline = page.evaluate("document.querySelectorAll('script:not([src]), style, [style]').length")
        if too_wide > 0:
            found.append(f"{too_wide} pixels too wide")
        if inline:
            found.append(f"{inline} scripts or styles in the page")
        return [f"{page.url}: {one}" for one in found]

    yield page_of, wrong_with
    for context in contexts:
        context.close()


@pytest.mark.parametrize("logged_in", [False, True])
@pytest.mark.parametrize(("width", "scheme"), [(360, "light"), (1280, "dark")])
def test_every_page(shown, owner, width, scheme, logged_in):
    page_of, wrong_with = shown
    EmailAddress.objects.create(user=owner, email=owner.email, verified=True, primary=True)
    owner.display_name = "A name that is so long that it would not fit on any phone that was ever made"
    owner.save()
    page = page_of(width, scheme, logged_in)
    wrong = [one for address in ADDRESSES[logged_in] for one in wrong_with(page, f"/accounts/{address}")]
    assert not wrong, "\n".join(wrong)


def test_pages_of_a_second_factor(shown, owner):
    """The QR code can be read, and the codes page and the question for a code are for everybody."""
    from allauth.mfa.models import Authenticator
    from allauth.mfa.recovery_codes.internal.auth import RecoveryCodes
    from allauth.mfa.totp.internal.auth import TOTP, generate_totp_secret

    page_of, wrong_with = shown
    EmailAddress.objects.create(user=owner, email=owner.email, verified=True, primary=True)
    page = page_of(360, "dark", True)
    page.goto("/accounts/2fa/totp/activate/")
    assert page.evaluate("document.querySelector('img.code').naturalWidth") > 0
    TOTP.activate(owner, generate_totp_secret())
    RecoveryCodes.activate(owner)
    assert Authenticator.objects.count() == 2
    addresses = ["", "recovery-codes/", "recovery-codes/generate/", "totp/deactivate/", "reauthenticate/"]
    wrong = [one for address in addresses for one in wrong_with(page, f"/accounts/2fa/{address}")]
    asked = page_of(360, "light", False)
    asked.goto("/accounts/login/")
    asked.fill("[name=login]", owner.email)
    asked.fill("[name=password]", "wrong password")
    asked.click("main button")
    asked.wait_for_selector(".errorlist")
    asked.fill("[name=login]", owner.email)
    asked.fill("[name=password]", PASSWORD)
    asked.click("main button")
    asked.wait_for_url("**/2fa/authenticate/")
    wrong += wrong_with(asked, "/accounts/2fa/authenticate/")
    assert not wrong, "\n".join(wrong)


def test_what_forms_answer_with(shown, owner, settings):
    """Errors, a new token, a waiting address, too many attempts, no mail server, a closed sign-up, good-bye."""
    page_of, wrong_with = shown
    EmailAddress.objects.create(user=owner, email=owner.email, verified=True, primary=True)
    EmailAddress.objects.create(user=owner, email="waiting@example.org")
    page = page_of(360, "light", True)
    wrong = wrong_with(page, "/accounts/email/")
    assert page.is_visible("text=Forget this change")
    page.goto("/accounts/tokens/")
    page.fill("[name=name]", "a laptop")
    page.click("main button")
    page.wait_for_selector("#token")
    wrong += wrong_with(page)
    page.goto("/accounts/delete/")
    page.fill("[name=password]", "wrong password")
    page.click("main button")
    page.wait_for_selector(".errorlist")
    wrong += wrong_with(page)
    page.fill("[name=password]", PASSWORD)
    page.click("main button")
    page.wait_for_selector("h1:has-text('Your account is deleted')")
    wrong += wrong_with(page)

    visitor = page_of(360, "dark", False)
    settings.ACCOUNT_RATE_LIMITS = {"signup": "1/h/ip"}
    for name, value in mail("smtp://127.0.0.1:1").items():
        setattr(settings, name, value)
    for heading in ("The mail could not be sent", "Too many attempts"):
        visitor.goto("/accounts/signup/")
        visitor.fill("[name=email]", "newcomer@example.org")
        visitor.fill("[name=password1]", PASSWORD)
        visitor.click("main button")
        visitor.wait_for_selector(f"h1:has-text('{heading}')")
        wrong += wrong_with(visitor)
    settings.SIGNUP_OPEN = False
    wrong += wrong_with(visitor, "/accounts/signup/")
    assert visitor.is_visible("text=no new members")
    assert not wrong, "\n".join(wrong)


def test_a_form_to_set_a_new_password(shown, owner):
    page_of, wrong_with = shown
    EmailAddress.objects.create(user=owner, email=owner.email, verified=True, primary=True)
    from allauth.account.forms import default_token_generator as generator
    from allauth.account.utils import user_pk_to_url_str

    assert generator is not default_token_generator
    page = page_of(360, "light", False)
    wrong = wrong_with(page, f"/accounts/password/reset/key/{user_pk_to_url_str(owner)}-{generator.make_token(owner)}/")
    assert page.inner_text("main button") == "Set password"
    assert not wrong, "\n".join(wrong)
