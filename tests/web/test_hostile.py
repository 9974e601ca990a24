"""What others wrote, and where requests claim to come from, is never believed: markup, addresses, names, hosts."""

import csv
import io
import os
import re
import subprocess
import sys
from html.parser import HTMLParser
from urllib.parse import quote

import pytest
from django.core.files.base import ContentFile
from django.urls import reverse

from brainscore_web.leaderboard import revision
from brainscore_web.leaderboard.models import Benchmark, LayerProfile, Score, StimulusSample, VisionModel

from ._databases import fill
from ._html import html_problems, is_page

MARKUP = """"><script>alert(1)</script><img src=x onerror=alert(1)>'</script>{{7*7}}{%now%}"""
SCRIPT = "javascript:alert(1)//"


class Page(HTMLParser):
    """Collects what could run or lead astray."""

    def __init__(self):
        super().__init__()
        self.found, self.text = [], []

    def handle_starttag(self, tag, attributes):
        values = dict(attributes)
        if tag == "script":
            harmless = values.get("type") == "application/json" or (values.get("src") or "").startswith("/static/")
            self.found += [] if harmless else [f"<script {attributes}>"]
        if tag in ("iframe", "object", "embed", "base", "style"):
            self.found.append(f"<{tag} {attributes}>")
        for name, value in attributes:
            if name.startswith("on") or name in ("style", "srcdoc"):
                self.found.append(f"<{tag} {name}={value}>")
            if name in ("href", "src", "action", "formaction", "xlink:href", "data", "poster"):
                scheme = re.match(r"[\s\x00-\x20]*([a-z][a-z0-9+.-]*):", value or "", re.IGNORECASE)
                if scheme and scheme[1].lower() not in ("http", "https", "mailto"):
                    self.found.append(f"<{tag} {name}={value}>")
            if (
                tag in ("img", "script", "link")
                and name in ("src", "href")
                and not re.match(r"/(?!/)|https?:|data:image", value)
            ):
                self.found.append(f"<{tag} {name}={value}>")

    handle_startendtag = handle_starttag

    def handle_data(self, data):
        self.text.append(data)


def run_by(answer):
    page = Page()
    page.feed(answer.content.decode())
    return page


@pytest.fixture
def hostile(db, settings, tmp_path, owner):
    """Every text of a model and a benchmark is markup, every address a script."""
    settings.MEDIA_ROOT = tmp_path
    settings.API_RATES = {"anonymous": 10**6, "known": 10**6}
    made = fill(models=6, benchmarks=12, versions=1, private=0)
    owner.display_name = MARKUP
    owner.save()
    texts = dict.fromkeys(("title", "plugin", "bibtex"), MARKUP)
    for number, name in enumerate(made.models[:3]):
        more = dict.fromkeys(("architecture", "family", "training_data"), f"{MARKUP}{number}"[:99])
        details = dict.fromkeys(("code_licence", "weights_licence", "image_size"), MARKUP) | {"notes": [MARKUP]}
        VisionModel.objects.filter(identifier=name).update(
            identifier=f"{MARKUP}{number}", source=SCRIPT, owner=owner, details=details, regions={MARKUP: [MARKUP]},
            **{**texts, **more},
        )  # fmt: skip
    model = VisionModel.objects.get(identifier=f"{MARKUP}0")
    texts |= dict.fromkeys(("description", "credit", "species", "task", "method", "stimuli", "metric"), MARKUP)
    names = ("stimuli_source", "metric_source", "datatype", "hemisphere", "mapping", "data_notes", "preprocessing")
    details = dict.fromkeys(names, SCRIPT) | {"notes": [MARKUP], "twin_of": MARKUP}
    for number, name in enumerate([*made.benchmarks[:3], "IT", "neural_vision"]):
        Benchmark.objects.filter(identifier=name).update(
            identifier=f"{MARKUP}{number}", source=SCRIPT, owner=owner, region=MARKUP[:50], details=details, **texts
        )
    benchmark = Benchmark.objects.get(identifier=f"{MARKUP}0")
    benchmark.access = "public"
    benchmark.save()
    benchmark.versions.update(
        ceiling_meaning=MARKUP[:50], ceiling_reason=MARKUP, ceiling_estimates=MARKUP, changes=MARKUP
    )
    texts = dict.fromkeys(("reason", "error_reason", "estimates"), MARKUP) | {"scale": "<script>"}
    document = {
        "notes": [MARKUP], "device": MARKUP, "files": [{"url": SCRIPT, "sha1": MARKUP}], "seeds": {MARKUP: MARKUP},
        "error": {"type": MARKUP, "message": MARKUP, "traceback": MARKUP}, "weights": [{"identifier": MARKUP}],
        "environment": {"python": MARKUP, "packages": {MARKUP: MARKUP}}, "model": {"identifier": MARKUP},
    }  # fmt: skip
    Score.objects.filter(model=model).update(document=document, **texts)
    Score.objects.filter(model=model, benchmark=benchmark).update(state="failed", value=None)
    layers = {"x": [MARKUP], "y": [0.5], "layers": [{"name": MARKUP, "score": 0.5}]}
    LayerProfile.objects.create(model=model, benchmark=MARKUP, region=MARKUP[:50], document=layers)
    StimulusSample(benchmark=benchmark, caption=MARKUP).image.save(
        "a.png", ContentFile(b"\x89PNG\r\n\x1a\n"), save=False
    )
    revision.bump()
    return model, benchmark


def pages_of(model, benchmark):
    receipt = model.scores.order_by("receipt").first().receipt
    cards = [
        reverse("cards:model", args=["vision", model.identifier]),
        reverse("cards:benchmark", args=["vision", benchmark.identifier]),
    ]
    cards.append(reverse("cards:benchmark", args=["vision", f"{MARKUP}3"]))
    typed = quote(MARKUP)
    return [
        "/", "/vision/leaderboard/", "/vision/leaderboard/?errors=1&values=raw", f"/vision/leaderboard/?q={typed}",
        f"/vision/leaderboard/?{typed}=1", f"/vision/leaderboard/?family={typed}0", f"/vision/leaderboard/?at={typed}",
        f"/vision/leaderboard/?sort={typed}0&include={typed}3", "/vision/models/", f"/vision/models/?q={typed}",
        f"/vision/models/?family={typed}", "/vision/benchmarks/", f"/vision/benchmarks/?q={typed}",
        f"/vision/benchmarks/?region={typed[:50]}", *cards, f"{cards[1]}?models=all", f"{cards[0]}?open={typed}3",
        f"/vision/model/{quote(MARKUP, safe='')}x/", f"/vision/benchmark/{quote(MARKUP, safe='')}x/",
        f"/vision/receipt/{receipt}/", "/vision/compare/", f"/vision/compare/?x={typed}0&y={typed}1&colour=family",
        f"/vision/compare/?mode=models&first={typed}0&second={typed}1",
        "/vision/compare/?mode=matrix&least=3&level=all",
        f"/vision/compare/?x={typed}", f"/vision/compare/?mode={typed}", "/competitions/", "/api/v1/docs",
        f"/accounts/login/?next={typed}", f"/nothing/{typed}", "/accounts/profile/", "/accounts/data/",
    ]  # fmt: skip


@pytest.mark.parametrize("who", ["visitor", "owner"])
def test_no_markup_comes_from_data(client, hostile, owner, who):
    if who == "owner":
        client.force_login(owner)
    wrong, seen = [], 0
    for address in pages_of(*hostile):
        answer = client.get(address)
        assert answer.status_code < 500, address
        assert "default-src 'none'" in answer["Content-Security-Policy"]
        assert answer["X-Content-Type-Options"] == "nosniff"
        if not answer["Content-Type"].startswith("text/html"):
            continue
        if is_page(answer):
            wrong += [f"{address}: {problem}" for problem in html_problems(answer.content.decode())]
        page = run_by(answer)
        wrong += [f"{address}: {one}" for one in page.found]
        text = "".join(page.text)
        if "{{7*7}}" in text:
            seen += 1
        if "'</script>49" in text:
            wrong.append(f"{address}: a template was evaluated")
    assert not wrong, "\n".join(["", *wrong])
    assert seen > 10  # the markup stands on the pages, as text


def test_pictures_hold_no_scripts(client, hostile):
    _, benchmark = hostile
    typed = quote(MARKUP)
    for address in (
        f"/vision/compare/compare.svg?x={typed}0&y={typed}1", f"/vision/compare/compare.svg?mode=models&first={typed}0",
        "/vision/compare/compare.svg?mode=matrix&least=3&level=all",
        reverse("cards:benchmark", args=["vision", benchmark.identifier]) + "?download=svg",
    ):  # fmt: skip
        answer = client.get(address)
        assert answer.status_code == 200, address
        page = Page()
        page.feed(answer.content.decode())
        assert not [one for one in page.found if not one.startswith("<style")], address
        assert "default-src 'none'" in answer["Content-Security-Policy"]


@pytest.mark.parametrize("address", [
    "/vision/leaderboard/data.json", "/api/v1/leaderboard", "/api/v1/models", "/api/v1/nothing/<script>",
    "/vision/leaderboard/data.json?q=(",
])  # fmt: skip
def test_json_is_never_taken_for_a_page(client, hostile, address):
    answer = client.get(address)
    assert "json" in answer["Content-Type"]
    assert answer["X-Content-Type-Options"] == "nosniff"


HARMFUL = ("=", "+", "@", "\t", "\r", "\n")


@pytest.mark.parametrize("address", [
    "/vision/leaderboard/export.csv", "/vision/leaderboard/export.csv?form=long", "/vision/compare/compare.csv",
    "/vision/compare/compare.csv?mode=models", "/vision/compare/compare.csv?mode=matrix&least=3&level=all",
    "/api/v1/exports/leaderboard.csv", "/api/v1/exports/scores.csv?history=true",
])  # fmt: skip
def test_no_cell_of_a_table_is_a_formula(client, db, settings, address):
    settings.API_RATES = {"anonymous": 10**6, "known": 10**6}
    made = fill(models=6, benchmarks=12, versions=1, private=0)
    for name, bad in zip(made.models, ("=cmd|' /C calc'!A0", "+1+1", "-2+3", "@SUM(A1)", "\t=1", "\r=1"), strict=True):
        fields = dict.fromkeys(("identifier", "title", "family", "architecture", "training_data"), bad)
        VisionModel.objects.filter(identifier=name).update(**fields)
    for name, bad in zip(made.benchmarks, ("=1", "+1", "-1+1", "@a", "=HYPERLINK(1)"), strict=False):
        Benchmark.objects.filter(identifier=name).update(identifier=f"{bad} {name}", title=bad)
    Score.objects.update(reason="=1+1", error_reason="@SUM(1)", estimates="-1+1", version="=1")
    Benchmark.objects.filter(is_mean=False).update(version="=1")
    revision.bump()
    text = client.get(address).getvalue().decode()
    cells = [cell for row in csv.reader(io.StringIO(text)) for cell in row]
    number = re.compile(r"[-+]?[0-9.]+(e[-+]?\d+)?")
    bad = [one for one in cells if one.startswith((*HARMFUL, "-")) and not number.fullmatch(one)]
    assert not bad
    assert len(cells) > 20


@pytest.mark.parametrize(
    "identifier", ['a"; filename="x.html', "a\r\nSet-Cookie: x=1", "模型/résumé", "..", "a;b\\c", "<b>"]
)
def test_names_of_downloads_hold_nothing_odd(client, board, identifier):
    bibtex = "@misc{a, title = {A}}"
    VisionModel.objects.filter(identifier=board.models[0]).update(identifier=identifier, bibtex=bibtex)
    revision.bump()
    answer = client.get(f"/vision/model/{quote(identifier, safe='')}/?download=bibtex")
    assert answer.status_code in (200, 400, 404)
    assert "Set-Cookie" not in answer
    disposition = answer.get("Content-Disposition", "attachment; filename=x.bib")
    assert re.fullmatch(r"""attachment; filename(=("[^"\\\r\n/]*"|[\w.-]+)|\*=utf-8''[\w.%~-]+)""", disposition)


def test_hosts_of_others_are_refused(client, db):
    for host in ("evil.example", "testserver.evil.example", "testserver:80@evil.example", "[::1"):
        assert client.get("/", headers={"host": host}).status_code == 400
        assert b"evil.example" not in client.get("/accounts/password/reset/", headers={"host": host}).content
    assert b"evil" not in client.get("/api/v1/models", headers={"X-Forwarded-Host": "evil.example"}).content


ELSEWHERE = (
    "https://evil.example/", "//evil.example/", "/\\evil.example/", "\\\\evil.example", "http:///evil.example",
    "https:evil.example", "javascript:alert(1)", " //evil.example", "/%09/evil.example", "\t//evil.example",
    "https://testserver@evil.example/", "https://testserver.evil.example/",
)  # fmt: skip


@pytest.mark.parametrize("target", ELSEWHERE)
def test_nobody_is_led_elsewhere(client, board, owner, target):
    from urllib.parse import urljoin, urlsplit

    from django.test import Client

    def stays(answer):
        if answer.status_code not in (301, 302, 303, 307, 308):
            return True
        where = urlsplit(urljoin("http://testserver/", answer["Location"].replace("\\", "/").strip()))
        return where.netloc == "testserver" and where.scheme == "http"

    member = Client()
    member.force_login(owner)
    password = {"login": owner.email, "password": "correct horse battery", "next": target}
    switched = {"identifier": board.models[-1], "visibility": "private", "next": target}
    answers = [
        Client().post("/accounts/login/", password),
        Client().post(f"/accounts/login/?next={quote(target)}", password),
        Client().get(f"/accounts/signup/?next={quote(target)}"),
        Client().post("/admin/login/", password),
        member.get(f"/accounts/login/?next={quote(target)}"),
        member.get(f"/admin/login/?next={quote(target)}"),
        member.post("/accounts/reauthenticate/", {"password": "correct horse battery", "next": target}),
        member.post("/accounts/models/visibility/", switched),
        member.post("/accounts/logout/", {"next": target}),
        Client().get(f"/{target}"),
        Client().get(f"//evil.example/{target.strip()}"),
    ]
    assert [stays(one) for one in answers] == [True] * len(answers)


def test_pages_lead_to_the_log_in_without_an_address_of_elsewhere(client, db):
    page = client.get("//evil.example/about")
    assert page.status_code in (301, 302, 404)
    assert not page.get("Location", "/x").startswith(("//", "http"))


PUBLIC_SITE = """
import django; django.setup()
from django.conf import settings
from django.core.management import call_command
from django.test import Client
settings.STORAGES["staticfiles"]["BACKEND"] = "django.contrib.staticfiles.storage.StaticFilesStorage"
call_command("check", deploy=True, fail_level="WARNING")
page = Client().get("/accounts/login/", secure=True, headers={"host": "site.example"})
print(page.status_code, {name: (one["secure"], one["httponly"], one["samesite"]) for name, one in page.cookies.items()})
print(page["Strict-Transport-Security"], page["X-Frame-Options"], page["Referrer-Policy"])
print(Client().get("/about/", headers={"host": "site.example"})["Location"])
print(*(getattr(settings, f"SESSION_COOKIE_{name}") for name in ("SECURE", "HTTPONLY", "SAMESITE")), settings.DEBUG)
"""


@pytest.mark.slow(reason="starts a site in a process")
@pytest.mark.django_db  # or there would be no database to copy
def test_a_public_site_speaks_https_alone(django_db_setup, tmp_path):
    environment = {
        **{
            name: value
            for name, value in os.environ.items()
            if not name.startswith(("BRAINSCORE_SITE", "DATABASE", "DJANGO_ALLOW"))
        },
        "BRAINSCORE_SITE_HOME": str(tmp_path),
        "DATABASE_URL": django_db_setup.write(tmp_path),
        "BRAINSCORE_SITE_PUBLIC": "1",
        "BRAINSCORE_SITE_HOSTS": "site.example",
        "BRAINSCORE_SITE_MAIL": "smtp://mail.example:587?tls=1",
        "BRAINSCORE_SITE_MAIL_FROM": "site@site.example",
        "BRAINSCORE_SITE_CONTACT": "operators@site.example",
        "BRAINSCORE_SITE_REPOSITORY": "https://site.example/code",
        "BRAINSCORE_SITE_ISSUES": "https://site.example/issues",
        "DJANGO_SETTINGS_MODULE": "brainscore_web.settings",
        "OMP_NUM_THREADS": "1",
    }
    done = subprocess.run(
        [sys.executable, "-c", PUBLIC_SITE], env=environment, capture_output=True, text=True, timeout=300
    )
    assert done.returncode == 0, done.stderr
    cookies, headers, location, settings = done.stdout.strip().splitlines()[-4:]
    assert cookies == "200 {'csrftoken': (True, '', 'Lax')}"
    assert headers == "max-age=31536000; includeSubDomains; preload DENY same-origin"
    assert location == "https://site.example/about/"
    assert settings == "True True Lax False"
