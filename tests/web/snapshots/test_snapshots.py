"""Snapshots: what they contain, that they do not change, who may make them, and their files."""

import csv
import hashlib
import io
import json
import re
import zipfile
from datetime import timedelta

import pytest
from allauth.account.models import EmailAddress
from django.urls import reverse
from django.utils import timezone
from django_tasks_db.models import DBTaskResult

from brainscore_core.errors import UserError
from brainscore_core.plugins.bibtex import parse_bibtex
from brainscore_web.jobs.workers import record_heartbeat
from brainscore_web.leaderboard.models import Benchmark, Score, VisionModel
from brainscore_web.leaderboard.revision import bump
from brainscore_web.snapshots import freezing
from brainscore_web.snapshots.models import FrozenView

PAGE = "/vision/cite/"
HOSTILE = "<script>alert(1)</script> {&} 100 %"
SENT = {"title": HOSTILE, "authors": "Lovelace, Ada\nHopper & Team"}


@pytest.fixture
def author(board, client, owner):
    """A member with a confirmed address, who owns the private model."""
    EmailAddress.objects.create(user=owner, email=owner.email, verified=True, primary=True)
    client.force_login(owner)
    return owner


def make(client, query=""):
    response = client.post(f"{PAGE}?{query}", SENT)
    assert response.status_code == 302, response.content.decode()
    work()
    return FrozenView.objects.get(key=client.get(response["Location"])["Location"].split("/")[2])


def work():
    """Do what waits for a worker."""
    for waiting in DBTaskResult.objects.ready():
        waiting.set_successful(freezing.make_snapshot.call(*waiting.args_kwargs["args"]))


def test_a_snapshot_has_what_the_view_shows_and_no_private_model(board, client, author):
    assert "1 private model of your view will not be in it" in client.get(PAGE).content.decode()
    Score.objects.update(document={"score": {"value": 0.5}, "notes": ["é"]})
    row = make(client, "region=IT&open=average_vision")
    document = json.loads(client.get(f"{row.get_absolute_url()}snapshot.json").content)
    names = [model["identifier"] for model in document["models"]]
    assert set(names) == set(board.models[:-1])
    columns = [column["identifier"] for column in document["columns"]]
    assert document["query"] == "region=IT&open=average_vision"
    client.logout()
    public = client.get("/vision/leaderboard/data.json?region=IT&open=average_vision").json()["models"]
    ranks = {model["identifier"]: model["rank"] or 0 for model in document["models"]}
    assert ranks == dict(zip(public["id"], public["rank"], strict=True))
    at = next(place for place, column in enumerate(document["columns"]) if column["kind"] == "benchmark")
    score = Score.objects.filter(
        model__identifier=names[0], benchmark__identifier=columns[at], version=document["columns"][at]["version"]
    ).latest("created")
    cell = {name: document["models"][0][name][at] for name in ("values", "low", "high", "receipts", "states")}
    assert cell == {
        "values": score.value, "low": score.low, "high": score.high, "receipts": score.receipt, "states": "scored",
    }  # fmt: skip
    shown = [at for at, column in enumerate(document["columns"]) if column["shown"]]
    states = [model["exposure"][at] for model in document["models"] for at in shown if model["values"][at] is not None]
    page = client.get(row.get_absolute_url()).content.decode()
    assert page.count('class="exposure"') == len(states) - states.count("clean") > 0
    assert document["references"].startswith("% Brain-Score leaderboard")
    receipt = client.get(f"/vision/receipt/{score.receipt}/receipt.json").content
    assert document["models"][0]["receipts_sha256"][at] == hashlib.sha256(receipt).hexdigest()


def test_a_worker_makes_snapshots_one_at_a_time(board, client, author, member):
    page = client.post(PAGE, SENT)["Location"]
    assert "no worker of this site is running" in client.get(page).content.decode()
    record_heartbeat()
    assert "is being made" in client.get(page).content.decode()
    assert client.get(page, headers={"HX-Request": "true"}).status_code == 204
    assert "wait until it is ready" in client.post(PAGE, SENT).content.decode()
    client.force_login(member)
    assert client.get(page).status_code == 404
    client.force_login(author)
    DBTaskResult.objects.update(status="RUNNING", started_at=timezone.now() - freezing.INTERRUPTED)
    assert "interrupted" in client.get(page).content.decode()
    page = client.post(PAGE, SENT)["Location"]
    VisionModel.objects.update(visibility="private")
    bump()
    work()
    assert client.get(page, headers={"HX-Request": "true"})["HX-Refresh"] == "true"
    assert "was not made: the view has no public scores" in client.get(page).content.decode()


def test_a_snapshot_never_changes(board, client, author):
    row = make(client)
    before = client.get(f"{row.get_absolute_url()}snapshot.json")
    assert hashlib.sha256(before.content).hexdigest() == row.sha256
    assert row.key == row.sha256[:16]
    files = {name: client.get(f"{row.get_absolute_url()}{name}").content for name in ("snapshot.csv", "deposit.zip")}
    Score.objects.all().delete()
    Benchmark.objects.filter(is_mean=False).update(title="other")
    author.delete()
    response = client.get(f"{row.get_absolute_url()}snapshot.json")
    assert response.content == before.content
    assert response["Cache-Control"] == "public, max-age=300"
    assert {name: client.get(f"{row.get_absolute_url()}{name}").content for name in files} == files
    row.refresh_from_db()
    assert row.by is None
    with pytest.raises(UserError, match="cannot be changed"):
        row.save()
    page = client.get(row.get_absolute_url())
    assert "does not match" not in page.content.decode()
    FrozenView.objects.update(sha256="0" * 64)
    assert "does not match" in client.get(row.get_absolute_url()).content.decode()


def test_files_and_metadata_for_a_doi(board, client, author, settings):
    row = make(client)
    archive = zipfile.ZipFile(io.BytesIO(client.get(f"{row.get_absolute_url()}deposit.zip").content))
    files = {name: archive.read(name).decode() for name in archive.namelist()}
    assert hashlib.sha256(files["snapshot.json"].encode()).hexdigest() == row.sha256
    lines = list(csv.DictReader(io.StringIO(files["snapshot.csv"])))
    document = json.loads(files["snapshot.json"])
    assert len(lines) == len(document["models"]) * len(document["columns"])
    assert float(lines[0]["value"]) == document["models"][0]["values"][0]
    (entry,) = parse_bibtex(files["snapshot.bib"])
    assert entry.fields["author"] == r"Lovelace, Ada and {Hopper \& Team}"
    assert row.sha256 in entry.fields["note"]
    datacite = json.loads(files["datacite.json"])["data"]["attributes"]
    assert datacite["creators"] == [{"name": "Lovelace, Ada"}, {"name": "Hopper & Team"}]
    assert datacite["url"] == f"{settings.ADDRESS}/snapshots/{row.key}/"
    zenodo = json.loads(files["zenodo.json"])["metadata"]
    assert {"upload_type", "title", "creators", "description", "publication_date"} <= set(zenodo)
    assert "<script>" not in client.get(row.get_absolute_url()).content.decode()


@pytest.mark.parametrize(
    ("query", "problem"),
    [("q={0}", "has private models"), ("models={0}&models={1}", "has private models"), ("mine=1", "limited to your"),
     ("region=none", "no public scores")],
)  # fmt: skip
def test_views_that_cannot_be_frozen(board, client, author, query, problem):
    query = query.format(board.models[-1], board.models[0])
    response = client.post(f"{PAGE}?{query}", SENT)
    assert response.status_code == 400
    assert problem in response.content.decode()
    assert not FrozenView.objects.exists()


def test_limits(board, client, author, monkeypatch):
    monkeypatch.setattr(freezing, "MOST_A_DAY", 1)
    row = make(client)
    monkeypatch.setattr(freezing, "MOST_BYTES", 1.5 * len(row.archive))
    assert "within 24 hours" in client.post(PAGE, SENT).content.decode()
    FrozenView.objects.update(created=timezone.now() - timedelta(days=2))
    page = client.post(PAGE, SENT)["Location"]
    work()
    assert "your snapshots would need more than" in client.get(page).content.decode()
    monkeypatch.setattr(freezing, "MOST_CELLS", 10)
    assert "choose fewer" in client.post(PAGE, SENT).content.decode()


@pytest.mark.parametrize(
    "values",
    [{"title": ""}, {"title": "a\u200bb"}, {"authors": "\n"}, {"authors": "a@b.example"}, {"authors": "a" * 101}],
)
def test_titles_and_authors_are_checked(board, client, author, values):
    assert client.post(PAGE, SENT | values).status_code == 400
    assert not FrozenView.objects.exists()


def test_members_without_a_confirmed_address_make_none(board, client, member):
    client.force_login(member)
    assert "confirmed your address" in client.get(PAGE).content.decode()
    assert client.post(PAGE, SENT).status_code == 400
    assert not FrozenView.objects.exists()


def test_the_view_itself_can_be_cited_with_its_day(board, client):
    text = client.get(f"{PAGE}?region=IT&at=2025-03-01").content.decode()
    assert "/vision/leaderboard/?region=IT&amp;at=2025-03-01" in text
    assert "@misc{brainscore_vision_20250301" in text
    assert reverse("citing:cite", args=["vision"]) in client.get("/vision/leaderboard/").content.decode()


def test_administrators_can_delete_and_not_change(board, client, author, staff):
    row = make(client)
    client.force_login(staff)
    address = f"/admin/snapshots/frozenview/{row.pk}/"
    assert client.post(f"{address}change/", {"title": "x"}).status_code == 403
    assert client.post(f"{address}delete/", {"post": "yes"}).status_code == 302
    assert client.get(row.get_absolute_url()).status_code == 404


def test_a_model_that_becomes_private_stays_in_a_snapshot(board, client, author):
    row = make(client, "open=average_vision&open=neural_vision&open=V1")
    VisionModel.objects.filter(identifier=board.models[0]).update(visibility="private")
    page = client.get(row.get_absolute_url()).content.decode()
    assert board.models[0] in page
    receipts = re.findall('<td><a href="/vision/receipt/(.+?)/">', page)
    assert receipts[0] in row.document["models"][0]["receipts"]
    assert "if a model in it becomes private later" in client.get(PAGE).content.decode()
