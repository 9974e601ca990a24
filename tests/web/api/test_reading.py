"""Models, benchmarks, scores, receipts: what is answered, to whom, in how many queries."""

import json
import random
from datetime import UTC, datetime, timedelta
from urllib.parse import parse_qs, urlsplit

import numpy as np
import pytest
from django.contrib.auth.models import AnonymousUser

from brainscore_web.leaderboard.models import Benchmark, LayerProfile, Score, VisionModel
from brainscore_web.leaderboard.snapshot import STATES, snapshot_for


def all_items(get, address, **options):
    items = []
    while address:
        page = get(address, **options).json()
        items += page["items"]
        address = page["next"] and "/" + page["next"].split("/", 3)[3]
    return items


def test_models_are_listed_in_pages(get, board):
    first = get("models?limit=5").json()
    assert (first["total"], first["limit"], first["offset"], first["previous"]) == (11, 5, 0, None)
    assert parse_qs(urlsplit(first["next"]).query) == {"limit": ["5"], "offset": ["5"]}
    names = [item["identifier"] for item in all_items(get, "models?limit=5")]
    assert names == sorted(board.models[:-1])
    last = get("models?limit=5&offset=10").json()
    assert last["next"] is None
    assert parse_qs(urlsplit(last["previous"]).query)["offset"] == ["5"]
    assert get("models?limit=5&offset=1000").json()["items"] == []


def test_models_are_filtered(get, board):
    found = get("models?family=vit&family=resnet&search=00").json()
    assert {item["family"] for item in found["items"]} == {"vit", "resnet"}
    parts = get("models?runnable=true").json()["total"], get("models?runnable=false").json()["total"]
    assert sum(parts) == 11
    assert all(parts)


def test_a_model(get, board):
    model = VisionModel.objects.get(identifier=board.models[0])
    LayerProfile.objects.create(model=model, benchmark="b", region="IT", document={"layers": ["a"], "scores": [0.5]})
    model.size_mb = float("nan")
    VisionModel.objects.filter(pk=model.pk).update(size_mb=None, title="Ein Modell – «ü»")
    found = get(f"models/{board.models[0]}").json()
    assert found["regions"] == model.regions
    assert found["size_mb"] is None
    assert found["title"] == "Ein Modell – «ü»"
    assert found["profiles"][0]["document"] == {"layers": ["a"], "scores": [0.5]}


def test_identifiers_may_have_slashes(get, db):
    VisionModel.objects.create(identifier="lab/net v2?")
    assert get("models/lab/net%20v2%3F").json()["identifier"] == "lab/net v2?"


@pytest.mark.parametrize(
    "address", ["models", "benchmarks", "scores", "leaderboard", "exports/scores.csv", "openapi.json"]
)
def test_what_is_known_is_not_sent_again(get, token_of, board, owner, address):
    first = get(address)
    again = get(address, **{"If-None-Match": first["ETag"]})
    assert (again.status_code, again.content) == (304, b"")
    assert again["ETag"] == first["ETag"]
    assert {"Authorization", "Cookie"} <= {name.strip() for name in first["Vary"].split(",")}
    assert first["Cache-Control"] == "private, no-cache"
    if address in ("models", "scores", "leaderboard"):
        assert get(address, token=token_of(owner), **{"If-None-Match": first["ETag"]}).status_code == 200


def test_benchmarks_stand_in_the_tree_s_order(get, board):
    Benchmark.objects.create(identifier="Apart", in_tree=False)
    Benchmark.objects.create(identifier="A-control", control=True, in_tree=False)
    items = all_items(get, "benchmarks?limit=7")
    assert [item["identifier"] for item in items][-2:] == ["Apart", "A-control"]
    assert len({item["identifier"] for item in items}) == len(items) == Benchmark.objects.count()
    above = {None: -1}
    for item in items:
        assert item["depth"] == above[item["parent"]] + 1  # the parent came before
        above[item["identifier"]] = item["depth"]
        assert (item["access"] is None) == item["is_mean"]
    private = get("benchmarks?access=private&limit=1000").json()["items"]
    assert {item["identifier"] for item in private} == {
        one.identifier for one in Benchmark.objects.filter(is_mean=False, access="private")
    }
    assert get("benchmarks?kind=mean").json()["total"] == Benchmark.objects.filter(is_mean=True).count()


def test_a_benchmark_and_a_mean(get, board):
    found = get(f"benchmarks/{board.benchmarks[0]}").json()
    assert [(one["version"], one["counts"]) for one in found["versions"]] == [("2", True), ("1", False)]
    assert found["versions"][0]["ceiling"]["low"] < found["versions"][0]["ceiling"]["value"]
    assert "@misc" in found["bibtex"]
    mean = get("benchmarks/neural_vision").json()
    assert mean["children"] == ["V1", "V2", "V4", "IT"]
    assert get("benchmarks/absent").status_code == 404


def test_scores_that_count_are_those_of_the_leaderboard(get, board):
    model, benchmark = VisionModel.objects.get(identifier=board.models[0]), board.benchmarks[0]
    one = Score.objects.get(model=model, benchmark__identifier=benchmark, version="2")
    for place in (1, 2):  # later ones, of the same moment
        again = Score(**{field.attname: getattr(one, field.attname) for field in Score._meta.fields})
        again.pk, again.receipt, again.value = None, f"{one.receipt[:-1]}{place}x", 0.1 * place
        again.created = one.created + timedelta(days=1)
        again.save()
    Benchmark.objects.filter(identifier=board.benchmarks[1]).update(version="")  # any version counts
    Benchmark.objects.create(identifier="Apart", in_tree=False, version="1")
    from brainscore_web.leaderboard import revision

    revision.bump()
    snapshot = snapshot_for(AnonymousUser())
    counting = all_items(get, "scores?limit=77")
    assert all(item["counts"] for item in counting)
    keys = dict(Score.objects.values_list("receipt", "pk"))
    outdated = snapshot.state == 4
    assert {keys[item["receipt"]] for item in counting} == set(
        snapshot.score[(snapshot.score >= 0) & ~outdated].tolist()
    )
    history = all_items(get, "scores?history=true&limit=99")
    assert [item["receipt"] for item in history if item["counts"]] == [item["receipt"] for item in counting]
    assert len(history) == Score.objects.filter(model__visibility="public").count()
    assert [item["receipt"] for item in history] == sorted(item["receipt"] for item in history)
    assert outdated.any()
    values = {item["receipt"]: item["value"] for item in counting}
    place = snapshot.model_index[model.identifier], snapshot.benchmark_index[benchmark]
    assert np.isclose(snapshot.value[place], 0.2)
    assert 0.2 in values.values()


@pytest.mark.parametrize("seed", range(3))
def test_whatever_the_receipts_say_counts_is_that_of_the_leaderboard(get, db, seed):
    rng = random.Random(seed)
    states = [state.value for state in Score.State]
    benchmarks = [
        Benchmark.objects.create(identifier=f"B{n}", version=version) for n, version in enumerate(["1", "2", ""])
    ]
    models = [VisionModel.objects.create(identifier=f"m{n}") for n in range(12)]
    only = VisionModel.objects.create(identifier="only-failed")
    rows = [(only, benchmarks[0], "failed", "", 0)]
    rows += [
        (model, benchmark, rng.choice(states), rng.choice(["", "1", "2"]), rng.randrange(3))
        for model in models
        for benchmark in benchmarks
        for _ in range(rng.randrange(6))
    ]
    for number, (model, benchmark, state, version, day) in zip(rng.sample(range(900), len(rows)), rows, strict=True):
        Score.objects.create(
            receipt=f"receipt-{number:03}", model=model, benchmark=benchmark, state=state, version=version,
            value=number / 1000 if state == "scored" else None, created=datetime(2026, 1, 1 + day, tzinfo=UTC),
        )  # fmt: skip
    snapshot = snapshot_for(AnonymousUser())
    shown = snapshot.score[(snapshot.score >= 0) & (snapshot.state != STATES.index("outdated"))].tolist()
    expected = sorted(Score.objects.filter(pk__in=shown).values_list("receipt", flat=True))
    assert [item["receipt"] for item in all_items(get, "scores?limit=50")] == expected
    history = all_items(get, "scores?history=true&limit=50")
    assert [item["receipt"] for item in history if item["counts"]] == expected
    assert [item["state"] for item in all_items(get, "scores?model=only-failed")] == ["failed"]
    assert (snapshot.state == STATES.index("outdated")).any()


def test_scores_are_filtered(get, board):
    everything = all_items(get, "scores?history=true&limit=1000")
    below = get("benchmarks/V1").json()["children"]
    of_v1 = all_items(get, "scores?history=true&benchmark=V1&limit=1000")
    assert {item["benchmark"] for item in of_v1} > {name for name in below if name in board.benchmarks}
    assert all(".V1-" in item["benchmark"] for item in of_v1)
    failed = [item for item in everything if item["state"] in ("failed", "undefined")]
    assert all_items(get, "scores?history=true&state=failed&state=undefined&limit=1000") == failed
    assert all(item["value"] is None and item["reason"] for item in failed)
    old = [item for item in everything if item["version"] == "1"]
    assert all_items(get, "scores?history=true&version=1&limit=1000") == old
    since = datetime(2024, 8, 1, tzinfo=UTC)
    late = [item for item in everything if datetime.fromisoformat(item["created"]) >= since]
    for text in ("2024-08-01", "2024-08-01T00:00:00Z", "2024-08-01T02:00:00%2B02:00"):
        assert all_items(get, f"scores?history=true&since={text}&limit=1000") == late
    assert 0 < len(late) < len(everything)


def test_pages_of_scores_go_on_where_they_were_while_others_are_added(get, board):
    first = get("scores?history=true&limit=10").json()
    early = Score.objects.order_by("receipt").first()
    early.pk, early.receipt = None, "19990101T000000000000Z-000000000000"
    early.save()
    second = get("/" + first["next"].split("/", 3)[3]).json()
    assert not {item["receipt"] for item in first["items"]} & {item["receipt"] for item in second["items"]}
    assert second["items"][0]["receipt"] > first["items"][-1]["receipt"]


def test_a_receipt(get, board):
    score = Score.objects.filter(model__visibility="public").first()
    assert "only the numbers" in get(f"receipts/{score.receipt}").json()["message"]
    Score.objects.filter(pk=score.pk).update(document={"id": score.receipt, "score": None})
    assert get(f"receipts/{score.receipt}").json() == {"id": score.receipt, "score": None}


@pytest.mark.parametrize(
    ("address", "named"),
    [
        ("models?modle=a", "modle"),
        ("models?limit=0", "limit"),
        ("models?limit=1001", "limit"),
        ("models?offset=-1", "offset"),
        ("models?limit=many", "limit"),
        ("scores?state=missing", "state"),
        ("scores?since=yesterday", "since"),
        ("scores?since=1700000000", "since"),
        ("benchmarks?kind=node", "kind"),
        ("benchmarks/V1?x=1", "'x'"),
        ("leaderboard?regoin=IT", "regoin"),
        ("leaderboard?values=best", "values"),
        ("leaderboard?at=2024-13-01", "at"),
        ("leaderboard?q=(", "search"),
        ("leaderboard?sort=nowhere", "nowhere"),
        ("exports/leaderboard.csv?form=round", "form"),
        ("exports/leaderboard.bib?form=round", "form"),
        ("exports/scores.csv?limit=3", "limit"),
        ("exports/leaderboard.pdf", "format"),
        ("scores?" + "&".join(f"model=m{number}" for number in range(1001)), "parameters"),
        ("leaderboard?" + "&".join(f"open=m{number}" for number in range(1001)), "parameters"),
    ],
)
def test_what_is_not_understood_is_named(get, board, address, named):
    found = get(address)
    assert found.status_code == 400
    assert found["Content-Type"] == "application/problem+json"
    content = found.json()
    assert named in content["message"] + json.dumps(content["errors"])
    assert content["remedy"]
    assert content["status"] == 400


def test_nothing_there(get, db):
    for address in ("nothing", "models/", "exports/", "openapi.yaml"):
        found = get(address)
        assert (found.status_code, found["Content-Type"]) == (404, "application/problem+json")


def test_other_methods(client, board):
    found = client.delete("/api/v1/models")
    assert (found.status_code, found["Allow"]) == (405, "GET, HEAD")
    assert found.json()["message"] == "DELETE is not possible here"
    assert client.get("/api/v1/receipts")["Allow"] == "POST"


@pytest.mark.parametrize("address", ["models", "leaderboard", "exports/scores.csv", "models/absent", "openapi.json"])
def test_head(client, board, address):
    whole, head = client.get(f"/api/v1/{address}"), client.head(f"/api/v1/{address}")
    assert head.getvalue() == b""
    assert head.status_code == whole.status_code
    for name in ("Content-Type", "ETag"):
        assert head.get(name) == whole.get(name)


@pytest.mark.parametrize(
    ("address", "most"),
    [
        ("models?limit=1000", 2),
        ("models/{model}", 2),
        ("benchmarks?limit=1000", 1),
        ("benchmarks/V1", 3),
        ("scores?limit=1000&history=true", 7),
        ("scores?limit=1000&benchmark=IT&model={model}", 8),
        ("exports/scores.csv", 7),
        ("leaderboard", 10),
        ("exports/leaderboard.csv", 10),
        ("exports/leaderboard.bib", 12),
    ],
)
def test_queries_are_few_however_much_is_asked_for(get, board, django_assert_max_num_queries, address, most):
    with django_assert_max_num_queries(most):
        answer = get(address.format(model=board.models[0]))
        answer.getvalue()
    assert answer.status_code == 200


def test_a_page_of_scores_reads_only_its_rows(get, board, django_assert_num_queries):
    """What counts is determined once per change, not by each request: only rows of the page are read by their keys."""
    after = get("scores?limit=1").json()["items"][0]["receipt"]
    with django_assert_num_queries(4) as queries:  # revision, models, place in the order, rows
        assert len(get(f"scores?limit=3&after={after}").json()["items"]) == 3
    assert '"leaderboard_score"."id" IN (' in queries[-1]["sql"]


def test_pages_continue_after_a_receipt_that_no_longer_exists(get, board):
    _, last, following = (item["receipt"] for item in get("scores?limit=3").json()["items"])
    Score.objects.get(receipt=last).delete()
    assert get(f"scores?limit=1&after={last}").json()["items"][0]["receipt"] == following
    assert get(f"scores?after={Score.objects.order_by('receipt').last().receipt}").json()["items"] == []


def test_nan_is_null(get, db):
    model = VisionModel.objects.create(identifier="a")
    LayerProfile.objects.create(model=model, benchmark="b", region="IT", document={"scores": [1.5, None]})
    from brainscore_web.api.responses import Renderer

    text = Renderer().render(None, {"scores": [float("nan"), 1.5, {"x": (float("inf"),)}]}, response_status=200)
    assert json.loads(text) == {"scores": [None, 1.5, {"x": [None]}]}

    assert get("models/a").json()["profiles"][0]["document"]["scores"] == [1.5, None]
