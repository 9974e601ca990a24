"""Sign up and confirm an address."""

import smtplib
from datetime import timedelta

import pytest
from allauth.account.models import EmailAddress
from django.core.management import CommandError, call_command
from django.test import Client
from django.utils import timezone

from brainscore_web.accounts.adapter import SignupForm
from brainscore_web.accounts.models import User

PASSWORD = "correct horse battery"
FORM = {"email": "Ada@Example.org", "display_name": "  Ada   Lovelace ", "password1": PASSWORD, "consent": "on"}


def sign_up(client, **changes):
    return client.post("/accounts/signup/", {**FORM, **changes})


def test_sign_up_confirm_and_arrive(client, db, mailoutbox, link):
    answer = sign_up(client)
    assert answer.status_code == 302
    assert answer["Location"] == "/accounts/confirm-email/"
    assert "We have sent you an e-mail" in client.get("/accounts/confirm-email/").content.decode()
    assert client.get("/accounts/profile/").status_code == 302  # not logged in yet
    assert mailoutbox[0].to == ["ada@example.org"]
    assert mailoutbox[0].subject == "[Brain-Score] Confirm your e-mail address"
    assert mailoutbox[0].extra_headers["Auto-Submitted"] == "auto-generated"
    assert "Lovelace" not in mailoutbox[0].body  # the form cannot send text to other people
    address = link(mailoutbox)
    page = client.get(address).content.decode()
    assert "This is my address" in page
    assert not EmailAddress.objects.get().verified  # looking at it, as some mail programs do, is not enough
    answer = client.post(address)
    assert answer["Location"] == "/accounts/profile/"
    user = User.objects.get()
    assert (user.email, user.display_name, user.role) == ("ada@example.org", "Ada Lovelace", "member")
    assert not user.is_staff
    page = client.get("/accounts/profile/").content.decode()
    assert "Ada Lovelace" in page
    assert "is confirmed" in page


def test_invisible_characters_do_not_make_another_account(client, db, mailoutbox):
    sign_up(client)
    for email in ("ada@example.org\u200b", "ada\ufeff@example.org", "ada@exa\u00admple.org", "ada@example\u3164.org"):
        assert sign_up(client, email=email).status_code == 302
        assert User.objects.create_user(f"x{email}", None).email == "xada@example.org"
        User.objects.get(email="xada@example.org").delete()
    assert User.objects.get().email == EmailAddress.objects.get().email == "ada@example.org"


def test_the_link_works_once(client, db, mailoutbox, link):
    sign_up(client)
    address = link(mailoutbox)
    stranger = Client()
    answer = stranger.post(address)  # in another browser: confirmed, and not logged in
    assert answer["Location"] == "/accounts/login/"
    assert "_auth_user_id" not in stranger.session
    assert "not valid" in Client().get(address).content.decode()
    assert Client().post(address).status_code == 404
    assert "_auth_user_id" not in client.session


def test_whether_there_is_an_account_shows_nowhere(known, mailoutbox, same):
    known("taken@example.org")
    seen = {}
    for address in ("taken@example.org", "newcome@example.org"):
        browser = Client()
        first = sign_up(browser, email=address)
        then = browser.get(first["Location"])
        seen[address] = (first.status_code, first["Location"], sorted(first.cookies), same(then, address))
    assert seen["taken@example.org"] == seen["newcome@example.org"]
    taken, new = mailoutbox
    assert (taken.to, taken.subject) == (["taken@example.org"], "[Brain-Score] You already have an account")
    assert new.to == ["newcome@example.org"]
    assert User.objects.count() == 2


def test_it_takes_as_long_where_there_is_an_account(client, known, monkeypatch):
    known("taken@example.org")
    hashed = []
    plain = User.set_password
    monkeypatch.setattr(User, "set_password", lambda self, text: (hashed.append(1), plain(self, text))[1])
    sign_up(client, email="taken@example.org")
    assert len(hashed) == 1
    hashed.clear()
    sign_up(Client(), email="newcome@example.org")
    assert len(hashed) == 1


def test_two_at_the_same_moment_are_one(client, known, mailoutbox, monkeypatch):
    known("ada@example.org")
    monkeypatch.setattr(SignupForm, "validate_unique_email", lambda self, value: value)  # looked before the other wrote
    answer = sign_up(client)
    assert answer["Location"] == "/accounts/confirm-email/"
    assert User.objects.count() == 1
    assert mailoutbox[0].subject == "[Brain-Score] You already have an account"


@pytest.mark.parametrize(
    ("changes", "told"),
    [
        ({"password1": "short"}, "too short"),
        ({"password1": "1234567890123"}, "entirely numeric"),
        ({"password1": "ada@example.org"}, "too similar"),
        ({"password1": "passwordpassword"}, None),
        ({"email": "nobody"}, "valid email"),
        ({"email": f"{'a' * 250}@example.org"}, "254"),
        ({"email": f"a@{'ü' * 60}.org"}, "domain is not valid"),
        ({"display_name": "Ada\u202eevil"}, "invisible characters"),
        ({"display_name": "ada@example.org"}, "Do not use an e-mail address"),
        ({"display_name": "x" * 101}, "at most 100"),
    ],
)
def test_what_is_refused(client, db, mailoutbox, changes, told):
    answer = sign_up(client, **changes)
    if told is None:  # long enough, and on no list
        assert answer.status_code == 302
        return
    assert answer.status_code == 200
    assert told in answer.content.decode()
    assert not User.objects.exists()
    assert not mailoutbox


def test_the_addresses_of_an_ipv6_network_count_as_one(client, db, settings):
    settings.ACCOUNT_RATE_LIMITS = {"signup": "1/h/ip"}
    visitors = ("2001:db8:1:2::1", "2001:db8:1:2:3:4:5:6", "2001:db8:1:3::1")
    answers = [client.post("/accounts/signup/", {}, REMOTE_ADDR=visitor).status_code for visitor in visitors]
    assert answers == [200, 429, 200]


def test_sign_up_is_throttled(client, db):
    for _ in range(20):
        client.post("/accounts/signup/", {})
    answer = client.post("/accounts/signup/", {})
    assert answer.status_code == 429
    assert "Too many attempts" in answer.content.decode()


def test_a_site_that_takes_no_members(client, db, settings):
    settings.SIGNUP_OPEN = False
    assert "not accept new registrations" in client.get("/accounts/signup/").content.decode()
    sign_up(client)
    assert not User.objects.exists()


class Broken:
    """A mail server that is down."""

    def __init__(self, *_, **__):
        pass

    def send_messages(self, messages):
        raise smtplib.SMTPServerDisconnected("please run connect() first")


def test_a_mail_server_that_is_down_loses_nothing(client, db, settings, monkeypatch, mailoutbox, link, log_in):
    monkeypatch.setattr("django.core.mail.backends.locmem.EmailBackend.send_messages", Broken.send_messages)
    answer = sign_up(client)
    assert answer.status_code == 503
    assert "Your account has been created" in answer.content.decode()
    assert User.objects.get().display_name == "Ada Lovelace"
    again = sign_up(Client())  # an account that there is: alike
    assert again.status_code == 503
    assert "Your account has been created" in again.content.decode()
    monkeypatch.undo()
    settings.PASSWORD_HASHERS = ["django.contrib.auth.hashers.MD5PasswordHasher"]
    answer = log_in(client)
    assert answer["Location"] == "/accounts/confirm-email/"
    assert client.post(link(mailoutbox)).status_code == 302
    assert EmailAddress.objects.get().verified


def test_who_never_confirms_is_forgotten(client, member, known, board, owner, capsys):
    """Accounts created by administrators, with logins or with contributions stay."""
    known("confirmed@example.org")
    sign_up(client)
    sign_up(Client(), email="late@example.org")
    EmailAddress.objects.create(user=owner, email=owner.email)
    everybody = User.objects.exclude(email="late@example.org")
    everybody.update(date_joined=timezone.now() - timedelta(days=31))
    call_command("forget_unconfirmed")
    assert capsys.readouterr().out == "1 accounts deleted.\n"
    assert not User.objects.filter(email="ada@example.org").exists()
    assert User.objects.count() == 4
    with pytest.raises(CommandError, match="at least 4"):
        call_command("forget_unconfirmed", days=3)


def test_forged_forms_are_refused(db):
    browser = Client(enforce_csrf_checks=True)
    answer = sign_up(browser)
    assert answer.status_code == 403
    assert "Nothing was changed" in answer.content.decode()
    assert not User.objects.exists()
