"""Processor time that a client may use in a minute by reading pages and files."""

import itertools

import pytest
from django.core.cache import caches

from brainscore_web.accounts import callers
from brainscore_web.accounts.callers import COMPUTING
from brainscore_web.accounts.models import ApiToken
from brainscore_web.operations import middleware

HERE = {"REMOTE_ADDR": "2001:db8:1:2::1"}


@pytest.fixture(autouse=True)
def _limits(settings, monkeypatch):
    settings.COMPUTING_SECONDS = {"anonymous": 2, "known": 5}
    monkeypatch.setattr(callers.time, "time", lambda: 1_700_000_010.25)
    caches["rates"].clear()
    yield
    caches["rates"].clear()


def test_what_responses_took_is_counted(client, board, owner, monkeypatch):
    seconds = itertools.count(0, 0.6)
    monkeypatch.setattr(middleware.time, "thread_time", lambda: next(seconds))
    pages = ["/vision/leaderboard/?q=a", "/vision/leaderboard/export.csv", "/api/v1/leaderboard", "/vision/compare/"]
    assert [client.get(page, **HERE).status_code for page in [*pages, *pages]] == [200] * 4 + [429] * 4
    caches["rates"].clear()
    token = {"Authorization": f"Bearer {ApiToken.issue(owner, 'one', ['read'])[1]}"}
    client.force_login(owner)
    answers = [client.get(page, headers=token, **HERE).status_code for page in ["/api/v1/models", *pages] * 2]
    assert answers == [200] * 9 + [429]  # an account has one limit, with and without its tokens


def test_a_client_that_used_too_much_is_told_so_and_others_are_not(client, board, owner):
    COMPUTING.add("address:2001:db8:1:2::/64", 2000)
    answer = client.get("/vision/leaderboard/", **HERE)
    assert (answer.status_code, answer["Retry-After"]) == (429, "30")  # minutes begin at whole minutes
    assert "pages and files for your address have taken the 2 s of this site" in answer.content.decode()
    for page in ("/vision/leaderboard/data.json", "/api/v1/scores"):
        answer = client.get(page, headers={"Accept": "application/json"}, REMOTE_ADDR="2001:db8:1:2:ffff::2")
        assert (answer.status_code, answer["Retry-After"]) == (429, "30")
        assert answer.json()["remedy"] == "try again in 30 s, or log in: each account has a limit of its own"
    for page in ("/accounts/login/", "/robots.txt", "/sitemap.xml"):
        assert client.get(page, **HERE).status_code == 200
    assert client.get("/favicon.ico", **HERE).status_code == 302
    assert client.get("/.well-known/security.txt", **HERE).status_code != 429
    assert client.post("/accounts/login/", {}, **HERE).status_code == 200
    assert client.get("/vision/leaderboard/", REMOTE_ADDR="2001:db8:1:3::1").status_code == 200
    client.force_login(owner)
    assert client.get("/vision/leaderboard/", **HERE).status_code == 200
