"""Who may ask what, and how often."""

from collections import OrderedDict
from datetime import timedelta

import pytest
from django.core.cache import caches
from django.core.management import CommandError, call_command
from django.utils import timezone

from brainscore_web.accounts.callers import address_of
from brainscore_web.accounts.models import ApiToken


def test_who_a_token_is(get, token_of, scorer, owner):
    me = get("me", token=token_of(scorer, "receipts:write")).json()
    assert (me["email"], me["kind"], me["may_post_receipts"]) == ("scorer@example.org", "token", True)
    assert me["token"]["scopes"] == ["receipts:write"]
    assert get("me", token=token_of(scorer, "read")).json()["may_post_receipts"] is False
    assert get("me", token=token_of(owner, "receipts:write")).json()["may_post_receipts"] is False  # no permission


def test_nobody_is_told_who_they_are(get, db):
    found = get("me")
    assert found.status_code == 401
    assert found["WWW-Authenticate"].startswith("Bearer")


@pytest.mark.parametrize(
    "header",
    ["Bearer bs_wrong", "Bearer", "Bearer ", "Basic dTpw", "bs_wrong", "", "Bearer bs_wrong extra", "Bearer é"],
)
@pytest.mark.parametrize("address", ["models", "me", "exports/scores.csv"])
def test_a_bad_token_is_refused_rather_than_ignored(get, board, header, address):
    found = get(address, Authorization=header)
    assert found.status_code == 401
    assert "not valid" in found.json()["message"]


def test_tokens_end(get, token_of, owner):
    late = token_of(owner, expires=timezone.now() - timedelta(seconds=1))
    early = token_of(owner, expires=timezone.now() + timedelta(hours=1))
    revoked = token_of(owner)
    ApiToken.objects.filter(pk=ApiToken.find(revoked).pk).update(revoked=True)
    assert [get("models", token=one).status_code for one in (late, early, revoked)] == [401, 200, 401]
    owner.is_active = False
    owner.save()
    assert get("models", token=early).status_code == 401


def test_a_session_of_the_site_works_too(client, board, owner):
    client.force_login(owner)
    assert client.get(f"/api/v1/models/{board.models[-1]}").status_code == 200
    me = client.get("/api/v1/me").json()
    assert (me["kind"], me["token"], me["may_post_receipts"]) == ("session", None, False)
    # a token counts rather than the session
    assert client.get("/api/v1/models", headers={"Authorization": "Bearer bs_wrong"}).status_code == 401


def test_when_a_token_was_used_is_kept_to_the_minute(get, token_of, owner, django_assert_num_queries):
    text = token_of(owner)
    get("models", token=text)
    first = ApiToken.find(text).last_used
    assert timezone.now() - first < timedelta(minutes=1)
    get("models", token=text)
    assert ApiToken.find(text).last_used == first
    ApiToken.objects.update(last_used=first - timedelta(minutes=2))
    get("models", token=text)
    assert ApiToken.find(text).last_used >= first


@pytest.fixture
def few(settings):
    settings.API_RATES = {"anonymous": 3, "known": 5}
    caches["rates"].clear()


def statuses(ask, times):
    return [ask().status_code for _ in range(times)]


def test_too_many_requests(few, client, get, token_of, board, owner, member, monkeypatch):
    now = 1_700_000_010.25
    monkeypatch.setattr("brainscore_web.accounts.callers.time.time", lambda: now)

    def ask():
        return client.get("/api/v1/benchmarks", REMOTE_ADDR="192.0.2.1")

    assert statuses(ask, 4) == [200, 200, 200, 429]
    refused = ask()
    assert refused["Retry-After"] == "30"  # windows begin at whole minutes
    assert refused.json()["message"] == "too many requests"
    assert refused["Content-Type"] == "application/problem+json"
    assert client.get("/api/v1/benchmarks", REMOTE_ADDR="192.0.2.2").status_code == 200
    tokens = token_of(owner), token_of(member)
    assert statuses(lambda: get("benchmarks", token=tokens[0]), 6) == [200] * 5 + [429]
    assert get("benchmarks", token=tokens[1]).status_code == 200
    client.force_login(owner)
    assert statuses(ask, 6) == [200] * 5 + [429]
    client.logout()
    now += 30
    assert ask().status_code == 200


def test_processes_of_the_server_share_the_limit(settings, client, db, monkeypatch):
    """Each process has a memory of its own; here two take turns."""
    monkeypatch.setattr("brainscore_web.accounts.callers._WINDOW", 1e6)  # no minute ends meanwhile
    settings.API_RATES = {"anonymous": 120, "known": 600}
    memories = [{}, {}]

    def ask(process):
        rates = caches["rates"]
        rates._cache, rates._expire_info = memories[process].setdefault("cache", (OrderedDict(), {}))
        return client.get("/api/v1/benchmarks", REMOTE_ADDR="192.0.2.1").status_code

    answers = [ask(number % 2) for number in range(150)]
    assert 120 <= answers.count(200) <= 138
    assert answers[-1] == 429


def test_guesses_of_tokens_count(few, get, db):
    assert statuses(lambda: get("models", token="bs_guess"), 5) == [401, 401, 401, 429, 429]
    assert "Retry-After" in get("models", token="bs_guess").headers


@pytest.mark.parametrize(
    ("address", "forwarded", "proxy", "expected"),
    [
        ("192.0.2.1", None, False, "192.0.2.1"),
        ("192.0.2.1", "198.51.100.7", False, "192.0.2.1"),
        ("192.0.2.1", "203.0.113.9, 198.51.100.7", True, "198.51.100.7"),
        ("192.0.2.1", None, True, "192.0.2.1"),
        ("2001:db8:1:2:3:4:5:6", None, False, "2001:db8:1:2::/64"),
        ("::ffff:192.0.2.1", None, False, "192.0.2.1"),
        ("", None, False, "unknown"),
        ("192.0.2.1", "nonsense", True, "unknown"),
    ],
)
def test_where_a_request_comes_from(rf, settings, address, forwarded, proxy, expected):
    settings.BEHIND_PROXY = proxy
    headers = {"X-Forwarded-For": forwarded} if forwarded else {}
    assert address_of(rf.get("/", REMOTE_ADDR=address, headers=headers).META) == expected


def test_command_makes_a_token(owner, capsys):
    call_command("api_token", "OWNER@example.org", "--name", "laptop", "--scope", "read", "--days", "30")
    shown = capsys.readouterr()
    token = ApiToken.find(shown.out.strip())
    assert (token.user, token.name, token.scopes) == (owner, "laptop", ["read"])
    assert timedelta(days=29) < token.expires - timezone.now() < timedelta(days=30)
    assert shown.out.strip() not in shown.err


def test_command_says_what_is_missing(owner, capsys):
    call_command("api_token", owner.email, "--name", "scores", "--scope", "receipts:write", "--scope", "read")
    shown = capsys.readouterr()
    assert ApiToken.find(shown.out.strip()).scopes == ["receipts:write", "read"]
    assert "may not add scores yet" in shown.err


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("nobody@example.org", "--name", "x"), "there is no user"),
        (("owner@example.org", "--name", "x", "--days", "0"), "--days"),
        (("owner@example.org", "--name", "x" * 101), "100 characters"),
        (("owner@example.org", "--name", "x", "--scope", "everything"), "invalid choice"),
    ],
)
def test_command_refuses(owner, arguments, message):
    with pytest.raises(CommandError, match=message):
        call_command("api_token", *arguments)
    assert not ApiToken.objects.exists()
