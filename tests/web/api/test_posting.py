"""Receipts that are posted."""

import json

import pytest

from brainscore_core.scoring import BenchmarkInfo, Estimate, ModelInfo, Receipt
from brainscore_web.api.scores import MOST_RECEIPTS
from brainscore_web.leaderboard.models import Ingestion, Score, VisionModel


def receipt(model="posted-model", value=0.5):
    made = Receipt(
        model=ModelInfo(identifier=model),
        benchmark=BenchmarkInfo(identifier="Posted2026-pls", version=1),
        state="scored",
        score=Estimate(value=value, error=0.01),
    )
    return made.identified().to_dict()


@pytest.fixture
def post(client, token_of, scorer):
    """``post(content)`` posts JSON with a token that may."""
    token = token_of(scorer, "receipts:write", "read")

    def send(content, *, query="", text=None, **headers):
        headers = {"Authorization": f"Bearer {token}", "Content-Type": "application/json", **headers}
        kind = headers.pop("Content-Type")
        data = json.dumps(content) if text is None else text
        return client.post(f"/api/v1/receipts{query}", data=data, content_type=kind, headers=headers)

    return send


def test_one_and_many(post, get, token_of, scorer):
    one, two = receipt(), receipt("other-model")
    assert post(one).json() == {"added": 1, "known": 0, "problems": []}
    assert post([one, two]).json() == {"added": 1, "known": 1, "problems": []}
    assert post([]).json() == {"added": 0, "known": 0, "problems": []}
    model = VisionModel.objects.get(identifier="posted-model")
    assert (model.owner, model.visibility) == (scorer, "private")
    address = f"receipts/{one['id']}"
    assert get(address).status_code == 404
    assert get(address, token=token_of(scorer)).json() == one
    assert Ingestion.objects.filter(by=scorer).exists()


def test_public_ones(post, get):
    assert post(receipt(), query="?visibility=public").json()["added"] == 1
    (score,) = get("scores?benchmark=Posted2026-pls").json()["items"]
    assert (score["model"], score["value"], score["error"], score["state"]) == ("posted-model", 0.5, 0.01, "scored")
    names = [model["identifier"] for model in get("leaderboard").json()["models"]]
    assert names == ["posted-model"]


def test_what_is_wrong_is_named_and_the_rest_goes_in(post):
    broken, changed = receipt("a"), receipt("b")
    del broken["state"]
    changed["score"]["value"] = "high"
    answer = post([broken, receipt("c"), changed]).json()
    assert (answer["added"], len(answer["problems"])) == (1, 2)
    assert broken["id"] in answer["problems"][0]["receipt"]
    assert "state" in answer["problems"][0]["message"]
    assert list(Score.objects.values_list("model__identifier", flat=True)) == ["c"]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (" ", "not valid JSON"),
        ("{", "not valid JSON"),
        ('{"a": NaN}', "NaN is not valid JSON"),
        (b"\xff\xfe\x00", "not valid JSON"),
        ("[" * 200_000, "not valid JSON"),
        ("3", "not a receipt"),
        ("[3]", "not a receipt"),
        ("null", "not a receipt"),
    ],
)
def test_bodies_that_are_no_receipts(post, text, message):
    found = post(None, text=text)
    assert found.status_code == 400
    assert message in found.json()["message"]


def test_bodies_are_bounded(post, settings):
    assert post([{}] * (MOST_RECEIPTS + 1)).status_code == 400
    settings.DATA_UPLOAD_MAX_MEMORY_SIZE = 1000
    found = post(None, text="[" + " " * 1000 + "]")
    assert found.status_code == 413
    assert "fewer" in found.json()["remedy"]


def test_only_json(post):
    for kind in ("text/plain", "application/x-www-form-urlencoded", "multipart/form-data; boundary=a"):
        assert post(None, text="a=b", **{"Content-Type": kind}).status_code == 415


def test_odd_characters_break_nothing(post):
    odd = receipt()
    odd["model"]["identifier"] = "a\x00b"
    surrogate = json.dumps(receipt("x")).replace('"x"', '"\\ud800"')
    assert post(odd).status_code == 200
    assert post(None, text=surrogate).status_code == 200
    assert not Score.objects.exists() or all("\0" not in one.receipt for one in Score.objects.all())


def test_who_may_post(client, token_of, scorer, member, staff):
    def status(user, *scopes):
        headers = {"Authorization": f"Bearer {token_of(user, *scopes)}"}
        answer = client.post("/api/v1/receipts", data=receipt(), content_type="application/json", headers=headers)
        return answer.status_code, answer.json().get("message")

    assert status(scorer, "read") == (403, "the token lacks the scope receipts:write")
    assert status(member, "receipts:write") == (403, "the token's owner may not add scores")
    assert not Score.objects.exists()
    assert status(staff, "receipts:write")[0] == 200
    assert client.post("/api/v1/receipts", data=receipt(), content_type="application/json").status_code == 401
