"""Feeds: what they contain, their limits, and how often they are sent."""

from xml.etree import ElementTree

import pytest
from django.utils import timezone

from brainscore_web.leaderboard import revision
from brainscore_web.leaderboard.models import Benchmark, Score, VisionModel
from brainscore_web.pages.models import News

ATOM = "{http://www.w3.org/2005/Atom}"
BENCHMARK = "Simulated000.V1-pls"


def entries_of(response):
    feed = ElementTree.fromstring(response.content)
    return [(entry.findtext(f"{ATOM}title"), entry.findtext(f"{ATOM}id")) for entry in feed.iter(f"{ATOM}entry")]


@pytest.fixture
def latest(board):
    """A new score of each model on one benchmark, in an order; one of them is private."""
    benchmark = Benchmark.objects.get(identifier=BENCHMARK)
    for number, model in enumerate(VisionModel.objects.order_by("identifier")):
        Score.objects.create(
            receipt=f"20270101T00000000000{number:x}Z-0123456789ab", model=model, benchmark=benchmark, version="2",
            state="scored", value=0.5, low=0.4, high=0.6, created=timezone.now(),
        )  # fmt: skip
    return board


def test_new_scores_of_public_models(client, latest):
    titles = [title for title, _ in entries_of(client.get("/vision/feeds/scores/"))]
    assert len(titles) == 30
    assert titles[0] == f"{latest.models[-2]} on {BENCHMARK}: 0.500 (0.400–0.600)"
    assert not any(latest.models[-1] in title for title in titles)


@pytest.mark.parametrize("query", ["model={0}", f"benchmark={BENCHMARK}", "benchmark=V1"])
def test_selections(client, latest, query):
    query = query.format(*latest.models)
    response = client.get(f"/vision/feeds/scores/?{query}")
    titles = [title for title, _ in entries_of(response)]
    name, value = query.split("=")
    assert titles
    assert all(title.startswith(value) if name == "model" else ".V1-" in title for title in titles)
    assert f'href="http://testserver/vision/feeds/scores/?{query}" rel="self"' in response.content.decode()


def test_filters_of_the_leaderboard(client, latest):
    page = client.get("/vision/leaderboard/?region=V1&q=resnet&sort=model").content.decode()
    query = "q=resnet&amp;region=V1&amp;sort=model"
    assert page.count(f'href="/vision/feeds/scores/?{query}"') == 2
    assert f'href="/vision/feeds/benchmarks/?{query}"' in page
    response = client.get("/vision/feeds/scores/?q=resnet&region=V1&sort=model")
    titles = [title for title, _ in entries_of(response)]
    chosen = [model for model in latest.models[:-1] if "resnet" in model]
    assert titles[0] == f"{chosen[-1]} on {BENCHMARK}: 0.500 (0.400–0.600)"
    assert {title.split(" on ")[0] for title in titles} == set(chosen)
    assert all(".V1-" in title for title in titles)
    text = response.content.decode()
    assert "new scores, vision; search: resnet; region: V1</title>" in text
    assert "/vision/leaderboard/?q=resnet&amp;region=V1" in text
    versions = [title for title, _ in entries_of(client.get("/vision/feeds/benchmarks/?region=V1&sort=model"))]
    assert versions
    assert all(".V1-" in title for title in versions)


@pytest.mark.parametrize("query", ["model={11}", "model=x", "benchmark=x", "model={0}&benchmark=V1"])
def test_selections_of_nothing_public(client, board, query):
    assert client.get(f"/vision/feeds/scores/?{query.format(*board.models)}").status_code == 404


@pytest.mark.parametrize("query", ["other=1", "region=V1&mine=1"])
def test_filters_that_feeds_do_not_have(client, board, query):
    assert client.get(f"/vision/feeds/benchmarks/?{query}").status_code == 400


def test_new_versions_say_what_changed(client, board):
    row = Benchmark.objects.get(identifier=BENCHMARK).versions.create(
        version="3", since=timezone.now(), changes="Trials of \x0b<b>2026</b>.", ceiling=0.8,
        ceiling_meaning="reliability",
    )  # fmt: skip
    response = client.get(f"/vision/feeds/benchmarks/?benchmark={BENCHMARK}")
    assert entries_of(response)[0] == (
        f"{BENCHMARK}, version 3",
        f"tag:brain-score.org,{row.since:%Y-%m-%d}:version/{row.pk}",
    )
    assert "Trials of &amp;lt;b&amp;gt;2026&amp;lt;/b&amp;gt;. Ceiling 0.800" in response.content.decode()


@pytest.mark.parametrize("address", ["/vision/feeds/scores/", "/vision/feeds/benchmarks/", "/news/feed/"])
def test_unchanged_feeds_are_not_sent_again(client, board, address):
    response = client.get(address, headers={"Accept-Encoding": "gzip"})
    assert response["Cache-Control"] == "public, max-age=300"
    assert "Cookie" not in response["Vary"]
    tag = response["ETag"]
    revision.bump()  # something else changed, such as a private model
    assert client.get(address, headers={"If-None-Match": tag}).status_code == 304
    Benchmark.objects.get(identifier=BENCHMARK).versions.create(version="3", since=timezone.now())
    Score.objects.filter(version="2").update(value=0.1)
    News.objects.create(slug="new", title="New", body="-", draft=False)
    assert client.get(address, headers={"If-None-Match": tag}).status_code == 200
