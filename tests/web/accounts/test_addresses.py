"""Change the address."""

from importlib import import_module

import pytest
from allauth.account.models import EmailAddress
from django.apps import apps
from django.db import connection
from django.test import Client

from brainscore_web.accounts.models import User

PASSWORD = "correct horse battery"


@pytest.fixture
def ada(client, known, log_in):
    user = known()
    log_in(client)
    return user


def change(client, email):
    """Ask for a change; the password is needed for it once more."""
    answer = client.post("/accounts/email/", {"email": email, "action_add": ""})
    if answer.status_code == 302 and "reauthenticate" in answer["Location"]:
        answer = client.post(answer["Location"], {"password": PASSWORD})
    return answer


def test_the_new_address_counts_once_it_is_confirmed(client, ada, mailoutbox, link, log_in):
    change(client, "Ada@Elsewhere.example")
    assert mailoutbox[-1].to == ["ada@elsewhere.example"]
    assert User.objects.get().email == "ada@example.org"
    page = client.get("/accounts/profile/").content.decode()
    assert "ada@elsewhere.example is not confirmed yet" in page
    address = link(mailoutbox)
    assert client.post(address).status_code == 302
    assert User.objects.get().email == "ada@elsewhere.example"
    assert EmailAddress.objects.get().email == "ada@elsewhere.example"
    assert mailoutbox[-1].to == ["ada@example.org"]  # the old address gets a notification
    assert "changed from ada@example.org to ada@elsewhere.example" in mailoutbox[-1].body
    assert "not valid" in client.get(address).content.decode()
    assert "not correct" in log_in(Client()).content.decode()
    assert log_in(Client(), "ada@elsewhere.example")["Location"] == "/accounts/profile/"


def test_it_needs_the_password(client, ada, mailoutbox):
    answer = client.post("/accounts/email/", {"email": "x@example.org", "action_add": ""})
    assert answer["Location"].startswith("/accounts/reauthenticate/")
    wrong = client.post(answer["Location"], {"password": "wrong password"})
    assert "Incorrect password" in wrong.content.decode()
    assert not mailoutbox
    assert EmailAddress.objects.count() == 1


def test_the_first_link_confirms_no_other_address(client, ada, mailoutbox, link):
    change(client, "mine@example.org")
    first = link(mailoutbox)
    change(client, "somebodys@example.org")
    assert "not valid" in client.get(first).content.decode()
    assert client.post(first).status_code == 404
    assert User.objects.get().email == "ada@example.org"


def test_taken_addresses_look_like_free_ones(client, ada, known, mailoutbox, link, same):
    known("taken@example.org")
    pages = []
    for email in ("taken@example.org", "free@example.org"):
        answer = change(client, email)
        pages.append((answer.status_code, answer["Location"], same(client.get("/accounts/email/"), email)))
        if email == "taken@example.org":
            taken = link(mailoutbox)
            client.post(taken)  # the link cannot move the address into another account
            assert User.objects.get(pk=ada.pk).email == "ada@example.org"
            assert User.objects.filter(email="taken@example.org").count() == 1
    assert pages[0][:2] == pages[1][:2]
    assert [mail.to for mail in mailoutbox[:2]] == [["taken@example.org"], ["free@example.org"]]


def test_a_change_is_forgotten(client, ada, mailoutbox, link):
    change(client, "x@example.org")
    address = link(mailoutbox)
    client.post("/accounts/email/", {"email": "x@example.org", "action_remove": ""})
    assert client.post(address).status_code == 404
    assert EmailAddress.objects.count() == 1


def test_the_only_address_stays(client, ada):
    change(client, "")
    client.post("/accounts/email/", {"email": "ada@example.org", "action_remove": ""})
    assert EmailAddress.objects.get().email == "ada@example.org"


def test_an_administrator_changes_it(client, staff, known, log_in, mailoutbox):
    user = known()
    client.force_login(staff)
    EmailAddress.objects.create(user=user, email="waiting@example.org")
    data = {"email": user.email, "display_name": "Ada", "is_active": "on"}
    client.post(f"/admin/accounts/user/{user.pk}/change/", data)
    assert EmailAddress.objects.filter(user=user).count() == 2  # another change leaves them alone
    data["email"] = "Other@example.org"
    answer = client.post(f"/admin/accounts/user/{user.pk}/change/", data)
    assert answer.status_code == 302, answer.context["adminform"].errors
    assert "not correct" in log_in(Client()).content.decode()  # the old address has no account now
    assert log_in(Client(), "other@example.org")["Location"] == "/accounts/confirm-email/"
    assert mailoutbox[-1].to == ["other@example.org"]


def test_stored_addresses_lose_invisible_characters(db, known, client, log_in, caplog):
    """An account of an earlier version is found again; of two that would be the same, neither is changed."""
    hidden = "ada\u200b@example.org"
    ada, bob, twin = known(), known("bob@example.org"), known("twin@example.org")
    for user, address in ((ada, hidden), (twin, "bob\u2060@Example.org")):
        User.objects.filter(pk=user.pk).update(email=address)
        EmailAddress.objects.filter(user=user).update(email=address)
    assert log_in(client).status_code == 200  # it is not found
    migration = import_module("brainscore_web.accounts.migrations.0003_visible_addresses")
    migration.clean_addresses(apps, connection.schema_editor())
    assert log_in(client).status_code == 302
    assert EmailAddress.objects.get(user=ada).email == User.objects.get(pk=ada.pk).email == "ada@example.org"
    assert User.objects.get(pk=twin.pk).email == "bob\u2060@Example.org"
    assert f"address of account {twin.pk} has invisible characters; without, it is that of {bob.pk}" in caplog.text
    assert "example" not in caplog.text
