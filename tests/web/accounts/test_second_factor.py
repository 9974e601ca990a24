"""Second factors."""

import re
import time

import pytest
from allauth.mfa.models import Authenticator
from allauth.mfa.totp.internal.auth import format_hotp_value, hotp_value
from django.test import Client

PASSWORD = "correct horse battery"


class Phone:
    """An app for one-time codes, and the clock."""

    def __init__(self, monkeypatch):
        self.now = 1_800_000_000.0
        monkeypatch.setattr("allauth.mfa.totp.internal.auth.time.time", lambda: self.now)
        self.secret = ""

    def code(self, later=0):
        self.now += later
        return format_hotp_value(hotp_value(self.secret, int(self.now // 30)))


@pytest.fixture
def phone(monkeypatch):
    class Time:
        """The module, with the clock of the phone."""

        def __getattr__(self, name):
            return getattr(time, name)

    stopped = Time()
    monkeypatch.setattr("allauth.mfa.totp.internal.auth.time", stopped)
    return Phone(monkeypatch)


def again(client, answer):
    """Give the password where it is asked for."""
    while answer.status_code == 302:
        address = answer["Location"]
        if address.startswith("/accounts/reauthenticate/"):
            answer = client.post(address, {"password": PASSWORD})
        else:
            answer = client.get(address)
    return answer


@pytest.fixture
def ada(client, known, log_in, phone):
    """Ada, with a second factor that she has just set up."""
    user = known()
    log_in(client)
    page = again(client, client.get("/accounts/2fa/totp/activate/")).content.decode()
    assert 'src="data:image/svg+xml;base64,' in page
    phone.secret = re.search(r"secret: <code>(\w+)</code>", page)[1]
    wrong = client.post("/accounts/2fa/totp/activate/", {"code": "000000"})
    assert "Incorrect code" in wrong.content.decode()
    answer = client.post("/accounts/2fa/totp/activate/", {"code": phone.code()})
    assert answer["Location"] == "/accounts/2fa/recovery-codes/"
    phone.now += 30
    return user


def begun(log_in):
    """A browser that gave the right password."""
    browser = Client()
    assert log_in(browser)["Location"] == "/accounts/2fa/authenticate/"
    assert browser.get("/accounts/profile/").status_code == 302  # not logged in with the password alone
    return browser


def give(browser, code):
    return browser.post("/accounts/2fa/authenticate/", {"code": code})


def logged_in(browser):
    return "_auth_user_id" in browser.session


def test_log_in_needs_the_code(ada, phone, log_in):
    browser = begun(log_in)
    assert "Incorrect code" in give(browser, "123456").content.decode()
    assert not logged_in(browser)
    assert give(browser, phone.code())["Location"] == "/accounts/profile/"
    assert logged_in(browser)


def test_codes_are_not_guessed(ada, phone, log_in):
    browser = begun(log_in)
    for _ in range(5):
        give(browser, "000001")
    assert "Too many failed" in give(browser, phone.code()).content.decode()
    assert not logged_in(browser)


def test_the_administration_asks_for_it_too(client, ada, phone, log_in):
    ada.is_staff = ada.is_superuser = True
    ada.save()
    browser = Client()
    assert log_in(browser, next="/admin/")["Location"] == "/accounts/2fa/authenticate/"
    assert browser.get("/admin/").status_code == 302
    assert give(browser, phone.code())["Location"] == "/admin/"
    assert browser.get("/admin/").status_code == 200


def test_a_forgotten_password_does_not_get_around_it(client, ada, mailoutbox, link, log_in):
    browser = Client()
    browser.post("/accounts/password/reset/", {"email": ada.email})
    form = browser.get(link(mailoutbox))["Location"]
    browser.post(form, {"password1": PASSWORD + "2", "password2": PASSWORD + "2"})
    answer = log_in(browser, password=PASSWORD + "2")
    assert answer["Location"] == "/accounts/2fa/authenticate/"
    assert not logged_in(browser)


def test_turn_it_off(client, ada, mailoutbox, log_in):
    assert "passkeys</a>: on" in client.get("/accounts/profile/").content.decode()
    client.post("/accounts/2fa/totp/deactivate/")
    assert not Authenticator.objects.exists()
    assert "deactivated" in mailoutbox[-1].body
    assert log_in(Client())["Location"] == "/accounts/profile/"


def test_turning_it_off_needs_the_password(client, ada, log_in, phone):
    browser = begun(log_in)
    give(browser, phone.code())
    answer = browser.post("/accounts/2fa/totp/deactivate/")
    assert answer["Location"].startswith("/accounts/reauthenticate/")
    assert Authenticator.objects.exists()


def test_the_secret_is_kept_encrypted(ada, phone, settings, log_in):
    kept = {one.type: str(one.data) for one in Authenticator.objects.all()}
    assert phone.secret not in kept["totp"]
    settings.SECRET_KEY_FALLBACKS = [settings.SECRET_KEY]
    settings.SECRET_KEY = "another secret that is quite long enough for it"
    browser = begun(log_in)
    assert give(browser, phone.code()).status_code == 302  # the earlier secret still reads it
    settings.SECRET_KEY_FALLBACKS = []
    answer = give(begun(log_in), phone.code(later=30))
    assert "Ask an administrator to remove it" in answer.content.decode()


def test_an_address_that_is_not_confirmed_gets_none(client, ada, known):
    from allauth.account.models import EmailAddress

    other = known("grace@example.org")
    EmailAddress.objects.filter(user=other).update(verified=False)
    browser = Client()
    browser.force_login(other)
    assert browser.get("/accounts/2fa/totp/activate/")["Location"] == "/accounts/2fa/"
