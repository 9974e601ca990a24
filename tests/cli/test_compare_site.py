"""``brainscore compare --site``, with a site that is really there."""

import csv
import io
import json
from dataclasses import asdict
from types import SimpleNamespace

import pytest

pytest.importorskip("django")
pytest.importorskip("ninja")

from django.core.cache import caches

from brainscore.client import Client
from brainscore_core.errors import UnknownIdentifier, UserError
from brainscore_core.formatting import estimate_text, number_text
from brainscore_web.accounts.models import ApiToken, User
from brainscore_web.leaderboard import revision
from brainscore_web.leaderboard.models import Benchmark, VisionModel
from brainscore_web.leaderboard.simulation import simulate_leaderboard


@pytest.fixture
def site(live_server, monkeypatch, tmp_path):
    """Eight models, the last of them private, on 24 benchmarks of two versions."""
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
    for name in ("BRAINSCORE_SITE", "BRAINSCORE_TOKEN"):
        monkeypatch.delenv(name, raising=False)
    caches["rates"].clear()
    made = simulate_leaderboard(models=8, benchmarks=24, versions=2, private=1, units=20)
    return SimpleNamespace(url=live_server.url, models=made.models, benchmarks=made.benchmarks)


@pytest.fixture
def token(site):
    """Of the owner of the private model."""
    owner = User.objects.create_user("owner@example.org")
    VisionModel.objects.filter(identifier=site.models[-1]).update(owner=owner)
    revision.bump()
    return ApiToken.issue(owner, "terminal", ["read"])[1]


def test_as_on_the_page(cli, site, client):
    first, second = site.models[:2]
    found = cli("compare", first, second, "--site", site.url)
    assert found.exit_code == 0, found.output
    head, *rows = (line.split("\t") for line in found.stdout.splitlines())
    assert head == ["Benchmark", first, second, "Difference (95 % interval)", "Outcome"]
    page = client.get("/vision/compare/compare.csv", {"mode": "models", "first": first, "second": second})
    expected = list(csv.reader(io.StringIO(page.content.decode())))[1:]
    assert [(row[0], row[4]) for row in rows] == [(row[0], row[11]) for row in expected]
    means = [row[0] for row in expected if row[2] == "mean"]
    assert means
    assert [row[0] for row in rows[: len(means)]] == means
    for row, (*_, x, _, y, _, difference, _, low, high, _, _) in zip(rows, expected, strict=True):
        assert row[1:3] == [number_text(float(value) if value else None) for value in (x, y)]
        limits = (float(low), float(high)) if low and high else None
        assert row[3] == estimate_text(float(difference) if difference else None, ci=limits, brief=True)
    assert {row[11] for row in expected} & {"win", "loss"}
    assert ("untested" in {row[11] for row in expected}) == ("Untested: " in found.stderr)
    assert f"{site.url}/vision/compare/?mode=models&first={first}" in found.stderr


def test_models_of_language(cli, site):
    first, second = simulate_leaderboard(models=3, benchmarks=6, private=0, units=20, domain="language").models[:2]
    rows = Client(site.url).compare(first, second)
    assert {row.domain for row in rows} == {"language"}
    assert any(row.outcome in ("win", "tie", "loss") for row in rows)
    found = cli("compare", f"language:{first}", second, "--site", site.url)
    assert found.exit_code == 0, found.output
    assert [line.split("\t")[0] for line in found.stdout.splitlines()[1:]] == [row.benchmark for row in rows]
    assert f"{site.url}/language/compare/?mode=models&first={first}" in found.stderr
    with pytest.raises(UserError, match="different domains"):
        Client(site.url).compare(f"language:{first}", f"vision:{site.models[0]}")


def test_some_benchmarks_as_json(cli, site):
    models = site.models[:2]
    whole = Client(site.url).compare(*models)
    wanted = whole[0].benchmark, whole[-1].benchmark
    found = cli("compare", *models, "--site", site.url, "-b", wanted[0], "-b", wanted[1], "--json")
    assert found.exit_code == 0, found.output
    assert json.loads(found.stdout) == [asdict(whole[0]), asdict(whole[-1])]
    assert whole[0].low < whole[0].difference < whole[0].high
    of_benchmarks = [one for one in whole if one.version and one.difference is not None]
    assert [one.difference for one in of_benchmarks] == pytest.approx([one.first - one.second for one in of_benchmarks])
    found = cli("compare", *models, "--site", site.url, "-b", wanted[0][:-1] + "#")
    assert found.exit_code == 2
    assert f"did you mean '{wanted[0]}'" in found.stderr


def test_ones_own_model(cli, site, token, client, monkeypatch):
    mine, public = site.models[-1], site.models[0]
    found = cli("compare", mine, public, "--site", site.url)
    assert found.exit_code == 2
    assert f"there is no model '{mine}'" in found.stderr
    monkeypatch.setenv("BRAINSCORE_TOKEN", token)
    rows = json.loads(cli("compare", mine, public, "--site", site.url, "--json").stdout)
    client.force_login(User.objects.get(email="owner@example.org"))
    page = client.get("/vision/compare/compare.csv", {"mode": "models", "first": mine, "second": public})
    expected = list(csv.reader(io.StringIO(page.content.decode())))[1:]
    assert [(row["benchmark"], row["outcome"]) for row in rows] == [(row[0], row[11]) for row in expected]
    for row, (*_, first, _, second, _, difference, _, _, _, _, _) in zip(rows, expected, strict=True):
        numbers = ("" if row[name] is None else str(row[name]) for name in ("first", "second", "difference"))
        assert tuple(numbers) == (first, second, difference)
    monkeypatch.setenv("BRAINSCORE_TOKEN", f"{token}x")
    assert "the token is not valid" in cli("compare", mine, public, "--site", site.url).stderr
    monkeypatch.setenv("BRAINSCORE_TOKEN", token)
    near = public.upper()  # the page knows what is meant, and so does the client
    assert Client(site.url).compare(mine, near)[0].second_model == public


@pytest.mark.parametrize("with_token", [False, True])
def test_a_model_that_is_not_there(cli, site, token, monkeypatch, with_token):
    if with_token:
        monkeypatch.setenv("BRAINSCORE_TOKEN", token)
    public = site.models[0]
    found = cli("compare", public, f"{public}x", "--site", site.url)
    assert found.exit_code == 2
    assert f"there is no model '{public}x'" in found.stderr
    assert f"did you mean '{public}'" in found.stderr
    with pytest.raises(UnknownIdentifier, match="absent"):
        Client(site.url).compare('absent"', public)


def test_names_that_terminals_or_spreadsheets_obey(cli, site):
    VisionModel.objects.filter(identifier=site.models[0]).update(identifier="=gone")
    Benchmark.objects.filter(identifier=site.benchmarks[0]).update(identifier="\x1b[2Jgone")
    revision.bump()
    found = cli("compare", "=gone", site.models[1], "--site", site.url)
    assert found.exit_code == 0, found.output
    assert found.stdout.splitlines()[0].split("\t")[1] == "=gone"
    assert "\x1b" not in found.output
    assert "\n�[2Jgone\t" in found.stdout


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("a", "b", "--site", "http://x", "--ranks"), "--ranks is for stored receipts"),
        (("a", "b", "--site", "http://x", "--each"), "--each is for stored receipts"),
        (("a", "b", "--site", "http://x", "--correction", "holm"), "--correction is for stored receipts"),
        (("a", "b", "--site", "http://x", "--level", "0.95"), "--level is for stored receipts"),
        (("a", "b", "--site", "http://x", "--results", "here"), "--results is for stored receipts"),
        (("a", "--site", "http://x"), "--site compares exactly two models; 1 given"),
        (("a", "b", "c", "--site", "http://x"), "--site compares exactly two models; 3 given"),
        (("a", "", "--site", "http://x"), "the name of a model is empty"),
        (("a", "b", "--site", "nowhere"), "not the address of a site"),
        (("a",), "a comparison needs two models; only 'a' is selected"),
    ],
)
def test_mistakes(cli, arguments, message):
    found = cli("compare", *arguments)
    assert found.exit_code == 2, found.output
    assert message in found.stderr
