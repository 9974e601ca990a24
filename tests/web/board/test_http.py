import gzip
import json

import brotli
import pytest
from django.contrib.auth.models import AnonymousUser
from django.http import HttpResponse
from django.middleware.csrf import get_token
from django.test import RequestFactory

from brainscore_core.errors import UnknownIdentifier, UserError
from brainscore_web.leaderboard import revision
from brainscore_web.leaderboard.http import answer, conditional, user_errors
from brainscore_web.leaderboard.models import VisionModel
from brainscore_web.leaderboard.snapshot import snapshot_for

EVERYBODY = AnonymousUser()


made = []


@user_errors
def view(request, error=None):
    if error:
        raise error
    snapshot = snapshot_for(request.user)

    def make():
        made.append(request)
        if "csrf" in request.GET:
            get_token(request)
        response = HttpResponse(f"made for {request.user.pk}")
        if "cookie" in request.GET:
            response.set_cookie("name", "value")
        response.status_code = int(request.GET.get("status", 200))
        return response

    return answer(request, conditional(snapshot, "page", request.GET.urlencode()), make)


def ask(user=EVERYBODY, path="/", error=None, **headers):
    request = RequestFactory().get(path, headers=headers)
    request.user = user
    return view(request, error)


def test_who_has_it_is_told_so(board):
    first = ask()
    assert (first.status_code, first.content) == (200, b"made for None")
    again = ask(if_none_match=first["ETag"])
    assert (again.status_code, again.content) == (304, b"")
    for response in (first, again):
        assert response["Cache-Control"] == "private, no-cache"
        assert {part.strip() for part in response["Vary"].split(",")} >= {"Cookie", "Accept-Encoding"}
        assert response["ETag"] == first["ETag"]


def test_a_change_makes_it_another(board):
    first = ask()
    VisionModel.objects.filter(identifier=board.models[0]).update(title="Renamed")
    revision.bump()
    assert ask(if_none_match=first["ETag"]).status_code == 200


def test_audiences_and_queries_differ(board, owner, member, staff):
    tags = {
        ask(user, path)["ETag"]
        for user in (EVERYBODY, owner, staff)
        for path in ("/", "/?over=scored", "/?q=a", "/?q=b")
    }
    assert len(tags) == 12
    assert conditional(snapshot_for(member)) == conditional(snapshot_for(EVERYBODY))  # who sees the same
    assert ask(member)["ETag"] != ask()["ETag"]  # but pages show the name


def test_parts_do_not_run_into_each_other(board):
    snapshot = snapshot_for(EVERYBODY)
    assert conditional(snapshot, "ab", "c") != conditional(snapshot, "a", "bc") != conditional(snapshot, "abc")


def test_outsiders_see_no_change_of_what_is_private(board, owner):
    def tags():
        return [conditional(snapshot_for(who)) for who in (EVERYBODY, owner)]

    before = tags()
    model = VisionModel.objects.get(identifier=board.models[-1])
    model.title = "Renamed"
    model.save()
    after = tags()
    assert after[0] == before[0]
    assert after[1] != before[1]


def test_a_tag_holds_nothing_that_can_be_read(board):
    snapshot = snapshot_for(EVERYBODY)
    tag = conditional(snapshot, "page")
    assert tag.startswith('W/"')
    assert str(snapshot.revision) not in tag


def test_errors_are_pages_for_people(board):
    response = ask(error=UserError("region is <b>", remedy="leave it out"))
    assert response.status_code == 400
    assert "region is &lt;b&gt;" in response.content.decode()
    assert "leave it out" in response.content.decode()
    assert response["Cache-Control"] == "no-store"
    assert "ETag" not in response


@pytest.mark.parametrize(
    ("path", "headers"), [("/", {"accept": "application/json"}), ("/api/v1/scores", {"accept": "*/*"})]
)
def test_errors_are_json_for_programs(board, path, headers):
    response = ask(path=path, error=UserError("region is unknown", remedy="leave it out"), **headers)
    assert response.status_code == 400
    assert json.loads(response.content) == {"message": "region is unknown", "remedy": "leave it out"}


def test_what_there_is_not_is_404(board):
    assert ask(error=UnknownIdentifier("there is no model 'x'")).status_code == 404


def test_other_errors_are_not_hidden(board):
    with pytest.raises(ZeroDivisionError):
        ask(error=ZeroDivisionError())


class TestPacked:
    """Answers that were made and compressed once go to everybody of whom they hold."""

    @pytest.fixture(autouse=True)
    def _forget(self):
        made.clear()

    def test_it_is_made_once(self, board):
        for _ in range(3):
            response = ask(accept_encoding="gzip, br;q=1")
            assert response["Content-Encoding"] == "br"
            assert brotli.decompress(response.content) == b"made for None"
            assert response["ETag"] == ask()["ETag"]
            assert response["Cache-Control"] == "private, no-cache"
            assert "Accept-Encoding" in response["Vary"]
        assert len([request for request in made if "Accept-Encoding" in request.headers]) == 1

    def test_people_never_get_each_others(self, board, owner, member, staff):
        for user in (owner, member, staff, EVERYBODY, member, owner):
            response = ask(user, accept_encoding="gzip")
            assert gzip.decompress(response.content).decode() == f"made for {user.pk}"
        assert len(made) == 4

    @pytest.mark.parametrize("query", ["csrf=1", "cookie=1", "status=500"])
    def test_what_is_for_one_visitor_is_not_kept(self, board, query):
        for _ in range(2):
            assert "Content-Encoding" not in ask(path=f"/?{query}", accept_encoding="gzip")
        assert len(made) == 2

    def test_who_cannot_unpack_it_gets_it_plain(self, board):
        ask(accept_encoding="gzip")
        assert ask(accept_encoding="identity").content == b"made for None"


class TestKeptForVisitors:
    def test_made_once_until_something_changes(self, board, client, monkeypatch):
        from brainscore_web.leaderboard.cards import views

        made = []
        card = views.model_card
        monkeypatch.setattr(views, "model_card", lambda *given: made.append(1) or card(*given))
        address = f"/vision/model/{board.models[0]}/"
        packed = {"headers": {"Accept-Encoding": "gzip"}}
        first, again = (client.get(address, **packed) for _ in range(2))
        assert len(made) == 1
        assert first.content == again.content
        assert again["ETag"] == first["ETag"]
        assert "script-src 'self'" in again["Content-Security-Policy"]
        assert (
            client.get(address, headers={"Accept-Encoding": "gzip", "If-None-Match": first["ETag"]}).status_code == 304
        )
        model = VisionModel.objects.get(identifier=board.models[0])
        model.family = "changed"
        model.save()
        changed = client.get(address, **packed)
        assert changed["ETag"] != first["ETag"]
        assert "changed" in gzip.decompress(changed.content).decode()
        model.visibility = "private"
        model.save()
        assert client.get(address, **packed).status_code == 404

    def test_other_addresses_and_people_are_apart(self, board, client, owner):
        packed = {"headers": {"Accept-Encoding": "gzip"}}
        address = f"/vision/model/{board.models[-1]}/"
        client.force_login(owner)
        assert client.get(address, **packed).status_code == 200
        client.logout()
        assert client.get(address, **packed).status_code == 404
        client.force_login(owner)
        assert client.get(address, **packed).status_code == 200

    def test_a_new_name_of_the_owner_is_seen(self, board, client, owner):
        VisionModel.objects.filter(identifier=board.models[0]).update(owner=owner)
        revision.bump()
        packed = {"headers": {"Accept-Encoding": "gzip"}}
        address = f"/vision/model/{board.models[0]}/"
        assert "Olga" in gzip.decompress(client.get(address, **packed).content).decode()
        owner.display_name = "Petra"
        owner.save()
        assert "Petra" in gzip.decompress(client.get(address, **packed).content).decode()


def test_what_one_visitor_asked_reaches_no_other(board, client):
    """The link to log in leads back to the address, which may hold what was meant for one."""
    packed = {"headers": {"Accept-Encoding": "gzip"}}
    for address in ("/", "/vision/leaderboard/", "/vision/compare/", "/vision/models/", "/vision/benchmarks/"):
        client.get(f"{address}?utm=secret-of-one", **packed)
        assert "secret-of-one" not in gzip.decompress(client.get(address, **packed).content).decode()


def test_a_message_is_shown_on_the_next_page(board, client, owner):
    client.force_login(owner)
    client.get("/")
    told = {"identifier": board.models[-1], "visibility": "public", "next": "/"}
    answer_to = client.post("/accounts/models/visibility/", told)
    assert answer_to["Location"] == "/"
    assert 'role="status"' in client.get("/").content.decode()
    assert 'role="status"' not in client.get("/").content.decode()


def test_answers_weigh_what_is_around_them():
    from brainscore_web.leaderboard import http

    assert http._packed._weigh(http._Packed(b"1234", {})) == 4 + http._OVERHEAD
