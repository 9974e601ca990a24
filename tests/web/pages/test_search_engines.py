"""What strangers and their programs ask for: heads of pages, robots.txt, sitemap, security.txt, earlier addresses."""

import html
import re
from datetime import UTC, datetime, timedelta
from urllib.robotparser import RobotFileParser

import pytest
from django.contrib.staticfiles import finders
from PIL import Image

from brainscore_web.competitions.models import Competition
from brainscore_web.leaderboard.models import VisionModel
from brainscore_web.pages.models import News, Page

ADDRESS = "https://score.example.org"


@pytest.fixture(autouse=True)
def _address(settings):
    settings.ADDRESS = ADDRESS


def head_of(client, address):
    """Title, and content of `meta` and `link` elements by name."""
    text = client.get(address).content.decode()
    head = text[: text.index("</head>")]
    tags = re.findall(r'<(?:meta|link) (?:name|property|rel)="([^"]+)" (?:content|href)="([^"]*)"', head)
    return html.unescape(re.search("<title>(.*?)</title>", head)[1]), {name: html.unescape(to) for name, to in tags}


@pytest.mark.parametrize("name", ['simulated & "quoted" <b>', "hub:org/name"])
def test_the_head_of_a_card_describes_it_without_filters(client, board, name):
    VisionModel.objects.filter(identifier=board.models[0]).update(identifier=name)
    title, head = head_of(client, f"/vision/model/{name}/?history=rank")
    assert title == head["og:title"] == f"{name} · Brain-Score"
    assert head["description"] == head["og:description"]
    assert head["description"].startswith(f"{name}: scores on")
    assert head["canonical"] == head["og:url"]
    assert head["canonical"].startswith(f"{ADDRESS}/vision/model/")
    assert "?" not in head["canonical"]
    assert client.get(head["canonical"].removeprefix(ADDRESS)).status_code == 200
    assert head["og:image"].startswith(f"{ADDRESS}/static/site/preview.")


def test_every_kind_of_page_has_a_description_of_its_own(client, board):
    addresses = ["/", "/vision/leaderboard/", "/vision/models/", "/vision/benchmarks/", "/vision/benchmark/V1/"]
    addresses += ["/vision/compare/", "/tutorials/", "/tutorials/receipts/", "/privacy/", "/terms/"]
    descriptions = [head_of(client, address)[1]["description"] for address in addresses]
    assert len(set(descriptions)) == len(addresses)
    assert all(40 < len(text) < 320 and "<" not in text for text in descriptions)


def test_the_pictures_are_there():
    with Image.open(finders.find("site/preview.png"), formats=["PNG"]) as picture:
        assert picture.size == (1200, 630)
    with Image.open(finders.find("site/favicon.ico"), formats=["ICO"]) as icon:
        assert (32, 32) in icon.ico.sizes()


def matches(rule, path):
    return re.match(re.escape(rule).replace(r"\*", ".*"), path) is not None


def allowed(robots, path):
    """Whether a crawler may read a path: of the rules that match, the longest one counts (RFC 9309)."""
    rules = re.findall(r"^(Allow|Disallow): (\S+)$", robots, re.MULTILINE)
    return max((len(rule), kind) for kind, rule in [*rules, ("Allow", "")] if matches(rule, path))[1] == "Allow"


def test_crawlers_read_pages_but_neither_filters_nor_exports(client, board):
    answer = client.get("/robots.txt")
    robots = answer.content.decode()
    assert answer["Content-Type"].startswith("text/plain")
    assert f"Sitemap: {ADDRESS}/sitemap.xml" in robots
    parser = RobotFileParser()
    parser.parse(robots.splitlines())
    assert parser.can_fetch("anyone", "/vision/leaderboard/")
    for path in ("/", "/vision/leaderboard/", "/vision/model/a/b/", "/tutorials/receipts/", "/static/site/a.css",
                 "/api/v1/docs", "/sitemap-models.xml?p=2", "/competitions/2024/"):  # fmt: skip
        assert allowed(robots, path), path
    for path in ("/vision/leaderboard/?q=a", "/vision/leaderboard/export.csv", "/vision/leaderboard/data.json",
                 "/vision/compare/compare.svg", "/vision/compare/?x=a", "/vision/models/?page=2", "/news/?page=2",
                 "/api/v1/exports/scores.csv", "/accounts/login/", "/vision/receipt/a/", "/admin/",
                 "/competitions/2024/standings.csv"):  # fmt: skip
        assert not allowed(robots, path), path


def test_the_sitemap_lists_what_strangers_may_see(client, board, owner, staff):
    News.objects.create(slug="soon", title="Soon", body="x", draft=True)
    News.objects.create(slug="here", title="Here", body="x", draft=False)
    Page.objects.create(slug="imprint", title="Imprint", body="x")
    Page.objects.create(slug="hidden", title="Hidden", body="x", published=False)
    Competition.objects.create(slug="draft", title="Draft", year=2026)
    Competition.objects.create(slug="open", title="Open", year=2026, published=True)
    client.force_login(owner)  # the sitemap does not depend on who asks
    sections = re.findall(r"<loc>[^<]*?//[^/]+([^<]+)</loc>", client.get("/sitemap.xml").content.decode())
    paths = [
        html.unescape(path)
        for section in sections
        for path in re.findall(r"<loc>[^<]*?//[^/]+([^<]+)</loc>", client.get(section).content.decode())
    ]
    assert len(paths) == len(set(paths))
    cards = {path for path in paths if path.startswith("/vision/model/")}
    assert cards == {f"/vision/model/{name}/" for name in board.models[:-1]}
    assert {"/", "/vision/leaderboard/", "/vision/benchmark/V1/", "/competitions/open/", "/news/here/", "/privacy/",
            "/pages/imprint/", "/tutorials/receipts/", "/tutorials/operators/deploy/"} <= set(paths)  # fmt: skip
    assert not {"/news/soon/", "/pages/hidden/", "/competitions/draft/"} & set(paths)
    client.logout()
    assert {path for path in paths if client.get(path).status_code != 200} == set()
    assert client.get("/sitemap-nothing.xml").status_code == 404


def test_security_txt_names_a_contact_and_expires_within_a_year(client, db, settings):
    assert client.get("/.well-known/security.txt").status_code == 404
    settings.SECURITY_CONTACT = "mailto:security@example.org"
    text = client.get("/.well-known/security.txt").content.decode()
    fields = dict(line.split(": ", 1) for line in text.splitlines())
    assert fields["Contact"] == "mailto:security@example.org"
    assert fields["Canonical"] == f"{ADDRESS}/.well-known/security.txt"
    until = datetime.fromisoformat(fields["Expires"]) - datetime.now(UTC)
    assert timedelta(days=30) < until < timedelta(days=365)


def test_earlier_addresses_lead_to_cards_or_lists_for_good(client, board):
    model, hidden, benchmark = board.models[0], board.models[-1], board.benchmarks[0]
    VisionModel.objects.filter(identifier=hidden).update(identifier="77")  # private: not to be told from unknown
    for address, present in {
        f"/model/vision/{model}": f"/vision/model/{model}/",
        f"/model/vision/{model}/": f"/vision/model/{model}/",
        "/model/vision/hub:a/b": "/vision/model/hub:a/b/",
        "/model/vision/1234": "/vision/models/",
        "/model/vision/77/": "/vision/models/",
        f"/benchmark/vision/{benchmark}": f"/vision/benchmark/{benchmark}/",
        "/benchmark/vision/56/?x=1": "/vision/benchmarks/",
        "/brain_model": "/tutorials/concepts/",
        "/vision": "/vision/leaderboard/",
        "/release2.0/": "/tutorials/coming_from_2/",
    }.items():
        answer = client.get(address)
        assert (answer.status_code, answer["Location"]) == (301, present), address
        if "hub" not in address:
            assert client.get(present).status_code == 200
    assert client.get("/release2x0/").status_code == 404
    assert client.get("/model/audio/1").status_code == 404


def test_nobody_signs_up_without_consent(client, db, mailoutbox):
    answer = client.post("/accounts/signup/", {"email": "ada@example.org", "password1": "correct horse battery"})
    text = answer.content.decode()
    assert "You need to agree to sign up." in text
    assert 'href="/terms/"' in text
    assert 'href="/privacy/"' in text
    assert not mailoutbox
