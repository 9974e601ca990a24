"""Badges: of public models and of benchmarks, well-formed whatever names they have, and kept by caches."""

from xml.etree import ElementTree

import pytest

from brainscore_web.leaderboard import revision
from brainscore_web.leaderboard.cards.badges import badge
from brainscore_web.leaderboard.models import BenchmarkVersion, Score, VisionModel

BENCHMARK = "Simulated000.V1-pls"
SVG = "{http://www.w3.org/2000/svg}"


def title_of(content):
    return ElementTree.fromstring(content).findtext(f"{SVG}title")


@pytest.mark.parametrize("name", ['"><script>alert(1)</script>', "a\x00\x0b\ufffe&amp;", "μ" * 200, "]]>--><!--"])
def test_any_name_gives_a_well_formed_picture(name):
    picture = ElementTree.fromstring(badge(name, "0.5 (0.4–0.6)", name))
    elements = {element.tag.removeprefix(SVG) for element in picture.iter()}
    assert elements == {"svg", "title", "rect", "path", "g", "text"}
    assert float(picture.get("width")) < 700


def test_a_badge_shows_the_score_its_interval_and_its_condition(board, client):
    BenchmarkVersion.objects.update(condition="these two monkeys")
    revision.bump()
    model = board.models[0]
    address = f"/vision/model/{model}/badge.svg"
    response = client.get(address)
    assert response["Content-Type"] == "image/svg+xml"
    assert response["Cache-Control"] == "public, max-age=300"
    title = title_of(response.content)
    assert title.startswith(f"Brain-Score · {model} | Global Score 0.")
    assert "(" in title
    assert title.endswith("scored; holds for these two monkeys")
    assert client.get(address, headers={"If-None-Match": response["ETag"]}).status_code == 304
    of_region = title_of(client.get(f"{address}?node=IT").content)
    assert "IT 0." in of_region
    of_benchmark = title_of(client.get(f"/vision/benchmark/{BENCHMARK}/badge.svg").content)
    public = Score.objects.filter(benchmark__identifier=BENCHMARK, version="2", model__visibility="public")
    n_models = public.filter(state="scored").values("model").distinct().count()
    assert f"{n_models} models, ceiling 0." in of_benchmark


@pytest.mark.parametrize("user", ["owner", "staff"])
def test_private_models_have_no_badge_for_anyone(board, client, request, user):
    client.force_login(request.getfixturevalue(user))
    model = board.models[-1]
    assert client.get(f"/vision/model/{model}/badge.svg").status_code == 404
    assert f"/vision/model/{model}/badge.svg" not in client.get(f"/vision/model/{model}/").content.decode()
    VisionModel.objects.get(identifier=model).scores.all().delete()
    assert client.get(f"/vision/model/{board.models[0]}/badge.svg?node=nothing").status_code == 404


def test_cards_say_how_to_embed_a_badge(board, client, settings):
    text = client.get(f"/vision/model/{board.models[0]}/").content.decode()
    assert f"[![Brain-Score]({settings.ADDRESS}/vision/model/{board.models[0]}/badge.svg)]" in text
