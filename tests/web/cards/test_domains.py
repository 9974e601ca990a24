"""Two domains on one site: each has its own boards, ranks, exports and cards; names are unique across them."""

import pytest

from brainscore_web.leaderboard import simulation
from brainscore_web.leaderboard.models import Score

VISUAL = ("image", "pixel", "visual", "picture", "vision")


@pytest.fixture
def both(db):
    return {
        name: simulation.simulate_leaderboard(models=6, benchmarks=8, private=0, domain=name)
        for name in ("vision", "language")
    }


def test_boards_and_exports_have_one_domain(both, client):
    for name, other in (("vision", "language"), ("language", "vision")):
        answer = client.get("/api/v1/leaderboard", {"domain": name}).json()
        assert answer["domain"] == name
        assert {row["identifier"] for row in answer["models"]} == set(both[name].models)
        assert sorted(row["rank"] for row in answer["models"])[0] == 1
        table = client.get(f"/{name}/leaderboard/export.csv").content.decode()
        assert table == client.get("/api/v1/exports/leaderboard.csv", {"domain": name}).content.decode()
        assert both[name].models[0] in table
        assert both[other].models[0] not in table
        page = client.get(f"/{name}/models/").content.decode()
        assert both[other].models[0] not in page
        assert f'href="/{name}/model/{both[name].models[0]}/"' in page
    assert "domain" not in client.get("/vision/leaderboard/data.json").json()  # as before there were domains
    assert client.get("/api/v1/leaderboard").json()["domain"] == "vision"


def test_filters_of_lists(both, client):
    for path, names in (("models", "models"), ("benchmarks", "benchmarks")):
        found = client.get(f"/api/v1/{path}", {"domain": "language", "limit": 100}).json()["items"]
        assert {row["domain"] for row in found} == {"language"}
        assert set(getattr(both["language"], names)) <= {row["identifier"] for row in found}
    scores = client.get("/api/v1/scores", {"domain": "language", "limit": 1000}).json()["items"]
    assert {row["model"] for row in scores} == set(both["language"].models)
    assert {row["domain"] for row in scores} == {"language"}


def test_cards_say_nothing_of_the_other_domain(both, client, read):
    pages = [f"/language/model/{both['language'].models[0]}/", f"/language/benchmark/{both['language'].benchmarks[0]}/"]
    for page in [*pages, "/language/models/", "/language/benchmarks/", "/language/leaderboard/", "/language/compare/"]:
        shown = client.get(page)
        assert shown.status_code == 200
        text = read(shown).replace("Vision Language", "")  # the tabs
        assert not [word for word in VISUAL if word in text.casefold()], page


def test_a_card_under_another_domain_leads_to_its_own(both, client):
    model, benchmark = both["language"].models[0], both["language"].benchmarks[0]
    assert client.get(f"/vision/model/{model}/").headers["location"] == f"/language/model/{model}/"
    assert client.get(f"/vision/benchmark/{benchmark}/").headers["location"] == f"/language/benchmark/{benchmark}/"
    receipt = Score.objects.filter(model__identifier=model).values_list("receipt", flat=True)[0]
    assert client.get(f"/language/receipt/{receipt}/").status_code == 200
    assert client.get(f"/vision/receipt/{receipt}/").status_code == 404
    assert client.get("/language/model/language:nothing/").status_code == 404
    assert client.get("/language").headers["location"] == "/language/leaderboard/"
    assert client.get("/music/leaderboard/").status_code == 404


@pytest.mark.parametrize("name", ["music", "<script>alert(1)</script>", "vision:language", " language"])
def test_unknown_domains_are_refused(both, client, name):
    for path in ("leaderboard", "models", "benchmarks", "scores", "exports/leaderboard.csv", "exports/scores.csv"):
        answer = client.get(f"/api/v1/{path}", {"domain": name})
        assert answer.status_code == 400, path
        assert "<script>" not in answer.content.decode()
    assert client.get("/competitions/", {"domain": name}).status_code == 404
