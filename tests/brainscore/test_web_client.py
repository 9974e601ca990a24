"""The client of the site, against the site itself, and against servers that behave badly."""

import json
import os
import subprocess
import sys
import threading
from datetime import UTC, date, datetime
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import numpy as np
import pytest

pytest.importorskip("django")
pytest.importorskip("ninja")

from django.contrib.auth.models import Permission
from django.core.cache import caches

from brainscore.client import Client, Posted
from brainscore_core.errors import DataUnavailable, UnknownIdentifier, UserError
from brainscore_core.scoring import BenchmarkInfo, Estimate, ModelInfo, Receipt, ResultsStore
from brainscore_web.accounts.models import ApiToken, User
from brainscore_web.leaderboard.models import Score, VisionModel
from brainscore_web.leaderboard.simulation import simulate_leaderboard


@pytest.fixture(autouse=True)
def _nothing_set(monkeypatch):
    monkeypatch.delenv("BRAINSCORE_SITE", raising=False)
    monkeypatch.delenv("BRAINSCORE_TOKEN", raising=False)
    caches["rates"].clear()


@pytest.fixture
def site(live_server):
    """A site with twelve models, the last of them private, on 24 benchmarks of two versions."""
    made = simulate_leaderboard(models=12, benchmarks=24, versions=2, private=1)
    owner = User.objects.create_user("owner@example.org", display_name="Olga Owner")
    owner.user_permissions.add(Permission.objects.get(codename="add_score"))
    VisionModel.objects.filter(identifier=made.models[-1]).update(owner=owner)
    made_of = {"url": live_server.url, "models": made.models, "benchmarks": made.benchmarks}
    made_of["token"] = ApiToken.issue(owner, "client", ["read", "receipts:write"])[1]
    return made_of


@pytest.fixture
def server():
    """``server(answers)`` serves these, one a request: (status, headers, body); ``.asked`` keeps the requests."""
    servers = []

    def serve(answers):
        waiting = list(answers)

        class Handler(BaseHTTPRequestHandler):
            def do_GET(self):
                serve.asked.append((self.path, dict(self.headers)))
                status, headers, body = waiting.pop(0) if len(waiting) > 1 else waiting[0]
                self.send_response(status)
                for name, value in {"Content-Length": str(len(body)), **headers}.items():
                    self.send_header(name, value)
                self.end_headers()
                self.wfile.write(body)

            def log_message(self, *_):
                pass

        made = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        servers.append(made)
        threading.Thread(target=made.serve_forever, args=(0.01,), daemon=True).start()
        return f"http://127.0.0.1:{made.server_port}"

    serve.asked = []
    yield serve
    for made in servers:
        made.shutdown()
        made.server_close()


JSON = {"Content-Type": "application/json"}
EMPTY = json.dumps({"items": [], "next": None}).encode()


def test_models_and_benchmarks(site):
    with Client(site["url"]) as client:
        models = list(client.models(limit=4))  # several pages
        assert [model.identifier for model in models] == sorted(site["models"][:-1])
        assert models[0].visibility == "public"
        assert isinstance(models[0].created, datetime)
        assert [model.family for model in client.models(family=["vit"])] == ["vit"] * 3
        card = client.model(models[0].identifier)
        assert card.regions["IT"] == ["layer.4"]
        with pytest.raises(UnknownIdentifier, match="no model 'absent'"):
            client.model("absent")
        nodes = list(client.benchmarks())
        assert nodes[0].identifier == "average_vision"
        assert {node.identifier for node in nodes if not node.is_mean} == set(site["benchmarks"])
        benchmark = client.benchmark(site["benchmarks"][0])
        assert [one.version for one in benchmark.versions if one.counts] == ["2"]
        assert benchmark.versions[0].ceiling.low < benchmark.versions[0].ceiling.value


def test_a_token_shows_what_is_ones_own(site):
    private = site["models"][-1]
    assert Client(site["url"], site["token"]).model(private).visibility == "private"
    with pytest.raises(UnknownIdentifier):
        Client(site["url"]).model(private)
    me = Client(site["url"], site["token"]).me()
    assert (me.name, me.may_post_receipts) == ("Olga Owner", True)
    assert me.token.scopes == ("read", "receipts:write")
    with pytest.raises(UserError, match="set BRAINSCORE_TOKEN"):
        Client(site["url"]).me()
    with pytest.raises(UserError, match="not valid"):
        list(Client(site["url"], "bs_wrong").models())


def test_scores(site):
    client = Client(site["url"])
    model, benchmark = site["models"][0], site["benchmarks"][0]
    public = Score.objects.filter(model__visibility="public")
    counting = list(client.scores(limit=100))
    assert all(score.counts and score.version == "2" for score in counting)
    assert len({score.receipt for score in counting}) == len(counting) == public.filter(version="2").count()
    history = list(client.scores(history=True, model=model, benchmark=[benchmark]))
    assert [score.version for score in history] == ["1", "2"]
    assert [score.counts for score in history] == [False, True]
    stored = Score.objects.get(receipt=history[1].receipt)
    assert (history[1].value, history[1].error, history[1].created) == (stored.value, stored.error, stored.created)
    failed = list(client.scores(state="failed", since=date(2024, 7, 1)))
    assert failed
    assert {score.value for score in failed} == {None}


def test_leaderboard(site):
    client = Client(site["url"])
    board = client.leaderboard(region=["V4", "IT"], over="scored")
    assert board.query == "region=IT&region=V4&over=scored"
    assert len(board.models) == 11
    assert board.models[0].rank == 1
    assert board.value.shape == board.state.shape == (11, len(board.nodes))
    assert np.isnan(board.value[board.state != "scored"]).all()
    table = board.to_pandas()
    assert table.loc[board.models[3].identifier, "IT"] == board.value[3, board.column("IT")]
    long = board.to_pandas(long=True)
    assert len(long) == board.value.size
    assert (
        long.loc[(long["node"] == "IT") & (long["model"] == board.models[3].identifier), "value"].item()
        == (board.value[3, board.column("IT")])
    )
    few = client.leaderboard(node=["IT", "V1"], limit=3, sort="-IT")
    assert few.value.shape == (3, 2)
    assert (np.diff(few.value[:, few.column("IT")]) >= 0).all()
    with pytest.raises(UnknownIdentifier, match="V9"):
        few.column("V9")
    with pytest.raises(UserError, match="unknown parameter 'colour'"):
        client.leaderboard(colour="red")
    with pytest.raises(UserError, match="at is"):
        client.leaderboard(at="yesterday")


def test_a_long_leaderboard_is_read_in_parts(site, monkeypatch):
    client = Client(site["url"])
    whole = client.leaderboard()
    ask = client._connection.get

    def in_parts(path, query):
        return ask(path, [(name, "4" if name == "limit" else value) for name, value in query])

    monkeypatch.setattr(client._connection, "get", in_parts)
    parts = client.leaderboard()
    assert parts.models == whole.models
    np.testing.assert_array_equal(parts.value, whole.value)


def test_exports(site, tmp_path):
    import pandas as pd

    client = Client(site["url"])
    table = pd.read_csv(client.export("csv", tmp_path / "board.csv", region=["IT"]), index_col="model")
    board = client.leaderboard(region=["IT"])
    np.testing.assert_allclose(table["IT"], board.value[:, board.column("IT")])
    scores = pd.read_parquet(client.export("parquet", tmp_path / "scores.parquet", what="scores", benchmark="IT"))
    assert len(scores) == len(list(client.scores(benchmark="IT")))
    assert "@misc" in client.export("bib", tmp_path / "cite.bib").read_text()
    with pytest.raises(UserError, match="format"):
        client.export("xml", tmp_path / "board.xml")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["board.csv", "cite.bib", "scores.parquet"]
    with pytest.raises(UserError, match="no folder"):
        client.export("csv", tmp_path / "absent" / "board.csv")


def _receipt(model, value=0.5):
    return Receipt(
        model=ModelInfo(identifier=model),
        benchmark=BenchmarkInfo(identifier="Posted2026-pls", version=1),
        state="scored",
        score=Estimate(value=value, error=0.01),
    )


def test_posting_a_store(site, tmp_path):
    store = ResultsStore(tmp_path)
    receipts = [store.write(_receipt(f"posted-{number}")) for number in range(3)]
    (tmp_path / "Posted2026-pls" / "posted-0" / "20260101T000000000000Z-000000000000.json").write_text("{}")
    client, steps = Client(site["url"], site["token"]), []
    posted = client.post_receipts(store, progress=lambda done, total: steps.append((done, total)))
    assert (posted.added, posted.known, len(posted.problems)) == (3, 0, 1)
    assert steps == [(3, 3)]
    assert client.post_receipts(receipts) == Posted(added=0, known=3, problems=())
    assert client.receipt(receipts[0].id) == receipts[0].to_dict()
    model = VisionModel.objects.get(identifier="posted-0")
    assert (model.visibility, model.owner.email) == ("private", "owner@example.org")
    with pytest.raises(UnknownIdentifier):
        Client(site["url"]).receipt(receipts[0].id)
    (problem,) = client.post_receipts([{"schema_version": 2}]).problems
    assert "not a valid receipt" in problem.message
    with pytest.raises(UserError, match="no folder"):
        client.post_receipts(tmp_path / "absent")
    with pytest.raises(UserError, match="a token is needed"):
        Client(site["url"]).post_receipts(receipts)


def test_many_receipts_go_in_several_requests(site, monkeypatch):
    monkeypatch.setattr("brainscore.client.submissions._BATCH_BYTES", 3000)
    receipts = [_receipt(f"posted-{number}").identified() for number in range(5)]
    steps = []
    posted = Client(site["url"], site["token"]).post_receipts(
        receipts, visibility="public", progress=lambda done, total: steps.append(done)
    )
    assert posted.added == 5
    assert len(steps) > 1
    assert VisionModel.objects.get(identifier="posted-4").visibility == "public"


@pytest.fixture
def _no_pauses(monkeypatch):
    monkeypatch.setattr("brainscore.client.connection.SiteRetry.sleep", lambda self, response=None: None)


@pytest.mark.usefixtures("_no_pauses")
def test_a_busy_site_is_asked_again(server):
    url = server([(429, {"Retry-After": "0"}, b""), (503, {"Retry-After": "0"}, b""), (200, JSON, EMPTY)])
    assert list(Client(url).models()) == []
    assert len(server.asked) == 3


@pytest.mark.usefixtures("_no_pauses")
def test_patience_ends(server):
    problem = json.dumps({"message": "too many requests", "remedy": "try again in 9 s"}).encode()
    url = server([(429, {"Retry-After": "0"}, problem)])
    with pytest.raises(DataUnavailable, match="too many requests"):
        list(Client(url).models())
    assert len(server.asked) == 5


def test_nobody_waits_for_a_day():
    from urllib3.response import HTTPResponse

    from brainscore.client.connection import SiteRetry

    assert SiteRetry().get_retry_after(HTTPResponse(headers={"Retry-After": "86400"})) == 90


def test_the_token_goes_to_no_other_site(server, monkeypatch):
    other = server([(200, JSON, EMPTY)])
    url = server([(302, {"Location": f"{other}/api/v1/models"}, b"")])
    with pytest.raises(UserError, match="redirects to another address"):
        list(Client(url, "bs_secret").models())
    assert [headers.get("Authorization") for _, headers in server.asked] == ["Bearer bs_secret"]
    monkeypatch.setenv("BRAINSCORE_SITE", "https://www.example.org")
    monkeypatch.setenv("BRAINSCORE_TOKEN", "bs_secret")
    list(Client(other).models())
    assert "Authorization" not in server.asked[-1][1]


def test_redirects_within_the_site(server):
    url = server([(301, {"Location": "/api/v1/elsewhere?limit=1"}, b""), (200, JSON, EMPTY)])
    assert list(Client(url, "bs_secret").models()) == []
    assert server.asked[1][0] == "/api/v1/elsewhere?limit=1"
    assert server.asked[1][1]["Authorization"] == "Bearer bs_secret"
    circle = server([(301, {"Location": "/api/v1/models"}, b"")])
    with pytest.raises(UserError, match="redirects without end"):
        list(Client(circle).models())


def test_pages_follow_the_query_not_the_host(server):
    more = json.dumps({"items": [], "next": "http://elsewhere.example/api/v1/models?after=x"}).encode()
    url = server([(200, JSON, more), (200, JSON, EMPTY)])
    list(Client(url, "bs_secret").models())
    assert server.asked[1][0] == "/api/v1/models?after=x"


def test_netrc_is_not_used(server, tmp_path, monkeypatch):
    (tmp_path / ".netrc").write_text("machine 127.0.0.1 login me password secret\n")
    monkeypatch.setenv("NETRC", str(tmp_path / ".netrc"))
    list(Client(server([(200, JSON, EMPTY)])).models())
    assert "Authorization" not in server.asked[0][1]


@pytest.mark.parametrize("url", ["http://www.example.org", "http://192.0.2.1:8000"])
def test_the_token_does_not_travel_unencrypted(url):
    with pytest.raises(UserError, match="unencrypted"):
        Client(url, "bs_secret")
    assert repr(Client(url)) == f"Client({url!r})"  # without a token it may
    assert "bs_secret" not in repr(Client("https://www.example.org", "bs_secret"))


@pytest.mark.parametrize(
    "url", ["www.example.org", "ftp://a", "http://", "https://me:x@a", "https://a/?q", "http://a:b"]
)
def test_no_address(url):
    with pytest.raises(UserError, match="not the address of a site"):
        Client(url)


def test_nobody_there(free_port):
    with pytest.raises(DataUnavailable, match="brainscore serve"):
        Client(f"http://127.0.0.1:{free_port}").me()


@pytest.fixture
def free_port():
    import socket

    with socket.socket() as found:
        found.bind(("127.0.0.1", 0))
        return found.getsockname()[1]


@pytest.mark.parametrize(
    ("answer", "message"),
    [
        ((200, {"Content-Type": "text/html"}, b"<p>hello"), "not a Brain-Score site"),
        ((200, JSON, b"{"), "not a Brain-Score site"),
        ((404, {"Content-Type": "text/html"}, b"<p>what?"), "not a Brain-Score site"),
        ((500, {"Content-Type": "text/html"}, b"<p>oh"), "has an internal error"),
        ((200, JSON, json.dumps({"items": [{"identifier": "a"}], "next": None}).encode()), "lacks architecture"),
    ],
)
def test_what_answers_is_something_else(server, answer, message):
    with pytest.raises(UserError, match=message):
        list(Client(server([answer])).models())


def test_neither_django_nor_requests_is_imported():
    code = "import sys, brainscore.client; print({'django', 'ninja', 'requests', 'pandas'} & set(sys.modules))"
    environment = {**os.environ, "PYTHONPATH": str(Path(__file__).parents[2])}
    found = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, env=environment, check=True)
    assert found.stdout.strip() == "set()"


def test_times_are_in_utc(site):
    score = next(Client(site["url"]).scores(limit=1))
    assert score.created.astimezone(UTC) == score.created
