"""Home, texts."""

import pytest

ADDRESSES = ["/", "/about/", "/citation/", "/tutorials/", "/tutorials/receipts/", "/competitions/"]


@pytest.mark.parametrize("address", ADDRESSES)
def test_pages_answer_under_a_strict_policy(client, db, address):
    answer = client.get(address)
    assert answer.status_code == 200
    policy = answer["Content-Security-Policy"]
    assert "default-src 'none'" in policy
    assert "unsafe" not in policy
    assert answer["X-Content-Type-Options"] == "nosniff"
    assert answer["X-Frame-Options"] == "DENY"
    assert client.post(address).status_code in (403, 405)


def test_home_counts_what_the_visitor_may_see(client, board, owner):
    hidden = board.models[-1]
    assert client.get("/").context["front"].models == 11
    assert hidden not in client.get("/").content.decode()
    client.force_login(owner)
    assert client.get("/").context["front"].models == 12


def test_home_says_that_simulated_is_simulated(client, board):
    assert "simulated" in client.get("/").content.decode()


def test_home_ranks_as_the_leaderboard_does(client, board):
    from django.contrib.auth.models import AnonymousUser

    from brainscore_web.leaderboard.board import board_of
    from brainscore_web.leaderboard.snapshot import snapshot_for
    from brainscore_web.leaderboard.state import BoardState

    first = board_of(snapshot_for(AnonymousUser()), BoardState()).models[0].identifier
    leaders = client.get("/").context["front"].leaders
    assert leaders[0].identifier == first
    assert [one.rank for one in leaders] == sorted(one.rank for one in leaders)
    assert leaders[0].rank == 1


def test_home_of_an_empty_site(client, db):
    assert "no scores yet" in client.get("/").content.decode()


@pytest.mark.parametrize("address", ["/nothing/", "/tutorials/nothing/", "/vision/nothing/"])
def test_what_is_not_there(client, db, address):
    answer = client.get(address)
    assert answer.status_code == 404
    assert "Not found" in answer.content.decode()


def test_every_head_link_is_a_page(client, db):
    from brainscore_web.pages.context_processors import site

    request = client.get("/").wsgi_request
    for _, href, _ in site(request)["head_links"]:
        assert client.get(href).status_code == 200, href
