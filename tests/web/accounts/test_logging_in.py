"""Log in and out."""

import time
import unicodedata
from types import SimpleNamespace

import pytest
from allauth.account.models import EmailAddress
from allauth.core.internal import ratelimit
from django.core.cache import caches
from django.core.cache.backends.db import DatabaseCache
from django.test import Client

from brainscore_web.accounts.models import SharedCacheRow, User

PASSWORD = "correct horse battery"


def logged_in(client):
    return "_auth_user_id" in client.session


@pytest.mark.parametrize(
    "email",
    [
        "ada@example.org",
        " ADA@Example.ORG ",
        "ada@example.org\u200b",
        "\ufeffada@exam\u00adple.org\u00a0",
        "\u202aa\u2060da@example.org\u202c",
    ],
)
def test_log_in_with_the_address(client, known, log_in, email):
    known()
    answer = log_in(client, email)
    assert answer["Location"] == "/accounts/profile/"
    assert logged_in(client)


def test_people_made_with_capitals_log_in(client, known, log_in):
    user = User.objects.create_user("Grace@Example.org", PASSWORD)
    assert user.email == "grace@example.org"
    EmailAddress.objects.create(user=user, email=user.email, verified=True, primary=True)
    log_in(client, "Grace@Example.org")
    assert logged_in(client)


def test_passwords_in_any_unicode_form(client, known, log_in):
    password = "pässwörd ｗｉｔｈ accents"
    user = known()
    user.set_password(unicodedata.normalize("NFD", password))
    user.save()
    for form in ("NFC", "NFD"):
        log_in(client, password=unicodedata.normalize(form, password))
        assert logged_in(client)
        client.logout()
    log_in(client, password="passwörd with accents")
    assert not logged_in(client)


def test_the_session_ends_with_the_browser_unless_asked(client, known, log_in):
    known()
    log_in(client)
    assert client.session.get_expire_at_browser_close()
    other = Client()
    log_in(other, remember="on")
    assert not other.session.get_expire_at_browser_close()


def test_wrong_passwords_and_unknown_addresses_look_alike(client, known, log_in, same):
    known()
    pages = [same(log_in(Client(), email, "wrong password"), email) for email in ("ada@example.org", "who@example.org")]
    assert pages[0] == pages[1]
    assert "not correct" in pages[0]


@pytest.mark.parametrize("email", ["ada@example.org", "who@example.org"])
def test_five_wrong_passwords_and_no_more(known, log_in, email):
    known()
    for _ in range(5):
        assert "not correct" in log_in(Client(), email, "wrong password").content.decode()
    browser = Client()
    answer = log_in(browser, email)
    assert "Too many failed login attempts" in answer.content.decode()
    assert not logged_in(browser)


def test_nobody_locks_out_who_comes_from_elsewhere(known, log_in):
    known()
    for _ in range(7):
        log_in(Client(REMOTE_ADDR="192.0.2.1"), password="wrong password")
    assert not logged_in(log_in_from("192.0.2.1", log_in))
    assert logged_in(log_in_from("192.0.2.2", log_in))


def log_in_from(address, log_in):
    browser = Client(REMOTE_ADDR=address)
    log_in(browser)
    return browser


def test_many_addresses_do_not_guess_more_and_do_not_keep_the_owner_out(known, log_in, settings):
    known()
    settings.ACCOUNT_RATE_LIMITS = {**settings.ACCOUNT_RATE_LIMITS, "login_failed_elsewhere": "6/h/key"}
    for number in range(9):  # right ones are not counted
        assert logged_in(log_in_from("192.0.2.1", log_in)), number
    for number in range(6):
        log_in(Client(REMOTE_ADDR=f"198.51.100.{number}"), password="wrong password")
    stranger = Client(REMOTE_ADDR="198.51.100.77")
    assert "Too many failed login attempts" in log_in(stranger).content.decode()
    assert logged_in(log_in_from("192.0.2.1", log_in))  # from where they have logged in before


def test_waits_become_longer(known, log_in, monkeypatch):
    known()
    passed = 0.0
    clock = SimpleNamespace(time=lambda: time.time() + passed, monotonic=time.monotonic, sleep=time.sleep)
    monkeypatch.setattr(ratelimit, "time", clock)

    def tried(times):
        pages = [log_in(Client(), password="wrong password").content.decode() for _ in range(times)]
        return sum("not correct" in page for page in pages)

    assert [tried(6), tried(1)] == [5, 0]
    passed += 6 * 60
    assert tried(6) == 5
    passed += 6 * 60
    assert tried(1) == 0  # ten in this hour
    passed += 3600
    assert tried(6) == 5


def test_the_count_does_not_depend_on_what_the_visitor_chooses(known, settings):
    known()
    settings.ALLOWED_HOSTS = ["a.example", "b.example"]
    data = {"login": "ada@example.org", "password": "wrong password"}
    for number in range(5):
        host = f"{'ab'[number % 2]}.example:{8000 + number}"
        Client().post("/accounts/login/", data, HTTP_HOST=host, HTTP_X_FORWARDED_FOR=f"10.0.0.{number}")
    answer = Client().post("/accounts/login/", {**data, "password": PASSWORD}, HTTP_HOST="b.example:9999")
    assert "Too many failed login attempts" in answer.content.decode()


def test_the_count_holds_over_processes(known, log_in):
    known()
    for _ in range(5):
        log_in(Client(), password="wrong password")
        caches._connections.default = None  # nothing is remembered in the process itself
        del caches._connections.default
    assert "Too many failed" in log_in(Client()).content.decode()
    assert isinstance(caches["default"], DatabaseCache)


def test_what_is_counted_names_nobody(known, log_in):
    known()
    log_in(Client(), password="wrong password")
    rows = SharedCacheRow.objects.all()
    assert rows
    assert all(len(row.cache_key) == 64 for row in rows)
    assert not any(part in f"{row.cache_key}{row.value}" for row in rows for part in ("127.0.0.1", "ada@"))


def test_one_address_of_the_net_may_not_try_for_ever(known, log_in):
    known()
    for number in range(10):
        log_in(Client(), f"who{number}@example.org", "wrong password")
    assert "Too many failed" in log_in(Client(), "other@example.org", "wrong password").content.decode()


@pytest.mark.parametrize(
    "following",
    ["https://evil.example/", "//evil.example", "http:///evil.example", "javascript:alert(1)", "https:evil.example"],
)
def test_redirects_stay_here(client, known, log_in, following, settings):
    settings.ALLOWED_HOSTS = ["testserver", "evil.example"]
    known()
    assert log_in(client, next=following)["Location"] == "/accounts/profile/"


def test_a_redirect_leads_back(client, known, log_in):
    known()
    assert log_in(client, next="/vision/leaderboard/?q=a")["Location"] == "/vision/leaderboard/?q=a"
    page = Client().get("/about/?a=1&b=2").content.decode()
    assert 'href="/accounts/login/?next=%2Fabout%2F%3Fa%3D1%26b%3D2"' in page


def test_an_address_that_nobody_confirmed(client, member, mailoutbox, link, log_in):
    answer = log_in(client, "member@example.org")
    assert answer["Location"] == "/accounts/confirm-email/"
    assert not logged_in(client)
    client.post(link(mailoutbox))
    assert logged_in(client)


def test_administrators_made_on_the_command_line_just_log_in(client, staff, log_in):
    log_in(client, "staff@example.org")
    assert logged_in(client)


def test_who_was_shut_out(client, known, log_in):
    user = known()
    log_in(client)
    user.is_active = False
    user.save()
    assert client.get("/accounts/profile/").status_code == 302
    answer = log_in(Client())
    assert answer["Location"] == "/accounts/inactive/"
    assert "closed by an administrator" in Client().get("/accounts/inactive/").content.decode()


def test_the_administration_has_no_door_of_its_own(client, known, staff, log_in):
    assert client.get("/admin/login/?next=/admin/")["Location"] == "/accounts/login/?next=%2Fadmin%2F"
    answer = client.post("/admin/login/", {"username": "staff@example.org", "password": PASSWORD})
    assert answer.status_code == 302
    assert not logged_in(client)
    log_in(client, "staff@example.org", next="/admin/")
    assert client.get("/admin/").status_code == 200
    assert client.get("/admin/password_change/")["Location"] == "/accounts/password/change/"
    known()
    other = Client()
    log_in(other)
    assert other.get("/admin/", follow=True).status_code == 403


def test_the_head_says_who_is_here(client, known):
    page = client.get("/about/").content.decode()
    assert ">Log in</a>" in page
    assert ">Sign up</a>" in page
    client.force_login(known(display_name="Ada <b>"))
    page = client.get("/about/").content.decode()
    assert '<a href="/accounts/profile/">Ada &lt;b&gt;</a>' in page
    assert ">Log out</button>" in page
    assert ">Log in</a>" not in page


def test_pages_that_a_browser_keeps_are_ones_own(board, known):
    """After logging in or out, status 304 never shows another user's page header."""
    browser = Client()
    address = "/vision/leaderboard/"
    tags = [browser.get(address)["ETag"]]
    for user in (known("a@example.org", display_name="A"), known("b@example.org", display_name="B")):
        browser.force_login(user)
        browser.get("/accounts/profile/")  # takes the cookie
        answer = browser.get(address, HTTP_IF_NONE_MATCH=tags[-1])
        assert answer.status_code == 200
        assert user.display_name in answer.content.decode()
        tags.append(answer["ETag"])
        assert browser.get(address, HTTP_IF_NONE_MATCH=tags[-1]).status_code == 304
    browser.logout()
    assert browser.get(address, HTTP_IF_NONE_MATCH=tags[-1])["ETag"] == tags[0]
    assert len(set(tags)) == 3
