"""Forgotten and changed passwords."""

import socket

import pytest
from django.contrib.auth import authenticate
from django.test import Client

from brainscore_web.accounts.models import User
from brainscore_web.environment import email_settings

PASSWORD = "correct horse battery"
NEW = "another horse, another battery"
TWICE = {"password1": NEW, "password2": NEW}


def ask(client, email="ada@example.org"):
    return client.post("/accounts/password/reset/", {"email": email})


def opened(client, address):
    """Follow the link to the form, whose address holds no secret."""
    answer = client.get(address)
    assert answer.status_code == 302
    assert answer["Location"].endswith("-set-password/")
    return answer["Location"]


def works(password, email="ada@example.org"):
    return authenticate(username=email, password=password) is not None


def test_a_forgotten_password(client, known, mailoutbox, link, log_in):
    known()
    elsewhere = Client()
    log_in(elsewhere)
    assert ask(client)["Location"] == "/accounts/password/reset/done/"
    form = opened(client, link(mailoutbox))
    assert "New password" in client.get(form).content.decode()
    assert client.post(form, TWICE)["Location"] == "/accounts/password/reset/key/done/"
    assert "logged out everywhere" in client.get("/accounts/password/reset/key/done/").content.decode()
    assert works(NEW)
    assert not works(PASSWORD)
    assert elsewhere.get("/accounts/profile/").status_code == 302
    assert "_auth_user_id" not in client.session
    assert "password has been reset" in mailoutbox[-1].body
    assert "127.0.0.1" in mailoutbox[-1].body


def test_the_link_ends_when_the_password_or_the_address_changes(client, known, mailoutbox, link):
    user = known()
    ask(client)
    address = link(mailoutbox)
    User.objects.filter(pk=user.pk).update(email="new@example.org")
    user.emailaddress_set.update(email="new@example.org")
    assert "not valid" in client.get(address).content.decode()


def test_whether_there_is_an_account_shows_nowhere(known, mailoutbox, same):
    known()
    seen = []
    for email in ("ada@example.org", "who@example.org"):
        browser = Client()
        answer = ask(browser, email)
        seen.append((answer.status_code, answer["Location"], same(browser.get(answer["Location"]), email)))
    assert seen[0] == seen[1]
    assert [mail.to for mail in mailoutbox] == [["ada@example.org"], ["who@example.org"]]
    assert "no account here" in mailoutbox[1].body


@pytest.mark.parametrize("email", ["ada@example.org", "who@example.org"])
def test_mails_are_throttled(known, mailoutbox, email):
    known()
    answers = [ask(Client(), email).status_code for _ in range(6)]
    assert answers == [302] * 5 + [429]
    assert len(mailoutbox) == 5


def test_a_mail_server_that_is_down(client, known, settings, same):
    known()
    with socket.socket() as taken:  # and does not listen
        taken.bind(("127.0.0.1", 0))
        for name, value in email_settings(f"smtp://127.0.0.1:{taken.getsockname()[1]}").items():
            setattr(settings, name, value)
        answers = [ask(Client(), email) for email in ("ada@example.org", "who@example.org")]
    assert [answer.status_code for answer in answers] == [503, 503]
    assert same(answers[0]) == same(answers[1])
    assert "Nothing was lost" in answers[0].content.decode()


def test_change_the_password(client, known, mailoutbox, log_in):
    known()
    log_in(client)
    elsewhere = Client()
    log_in(elsewhere)
    wrong = client.post("/accounts/password/change/", {"oldpassword": "no", **TWICE})
    assert "current password" in wrong.content.decode()
    assert works(PASSWORD)
    answer = client.post("/accounts/password/change/", {"oldpassword": PASSWORD, **TWICE})
    assert answer["Location"] == "/accounts/profile/"
    assert works(NEW)
    assert client.get("/accounts/profile/").status_code == 200  # stays logged in here
    assert elsewhere.get("/accounts/profile/").status_code == 302
    assert "password has been changed" in mailoutbox[-1].body


def test_a_change_counts_even_if_nobody_can_be_told(client, known, log_in, monkeypatch):
    def refuse(*_):
        raise TimeoutError

    known()
    log_in(client)
    monkeypatch.setattr("django.core.mail.backends.locmem.EmailBackend.send_messages", refuse)
    answer = client.post("/accounts/password/change/", {"oldpassword": PASSWORD, **TWICE})
    assert answer["Location"] == "/accounts/profile/"
    assert works(NEW)


def test_guesses_at_the_old_password_are_throttled(client, known, log_in):
    known()
    log_in(client)
    answers = [client.post("/accounts/password/change/", {"oldpassword": "no", **TWICE}) for _ in range(6)]
    assert [answer.status_code for answer in answers] == [200] * 5 + [429]


def test_who_has_no_password_sets_one(client, known):
    user = known()
    user.set_unusable_password()
    user.save()
    client.force_login(user)
    assert client.get("/accounts/password/change/")["Location"] == "/accounts/password/set/"
    assert client.post("/accounts/password/set/", TWICE)["Location"] == "/accounts/profile/"
    assert works(NEW)
