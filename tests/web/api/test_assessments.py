"""Assessments of benchmarks in the API, and in its client."""

import io

import pandas as pd
import pytest

from brainscore.client import Client
from brainscore_core.errors import UnknownIdentifier
from brainscore_web.api import scores as api_assessments
from brainscore_web.leaderboard.models import Benchmark

from .._assessments import add_assessments, controls, ingest, make_assessment

FIRST, WITHHELD = "Simulated000.V1-pls", "Simulated002.V4-pls"


@pytest.fixture
def assessed(board):
    add_assessments(FIRST, board.models[0], others=(board.models[1],))
    add_assessments(WITHHELD, board.models[0], clean=True)
    return board


def test_the_newest_are_listed(get, assessed):
    found = get("assessments").json()["items"]
    assert len(found) == 7
    assert [item["id"] for item in found] == sorted(item["id"] for item in found)
    audit = next(item for item in found if (item["part"], item["benchmark"]) == ("audit", FIRST))
    assert (audit["version"], audit["state"], audit["outcome"]) == ("2", "assessed", "findings")
    assert audit["models"] == [assessed.models[0]]
    assert audit["result"]["overlaps"][0]["groups"] == 7
    assert audit["text"] == "printed"
    assert [item["kind"] for item in audit["used"]] == ["benchmark", "model"]
    newer = make_assessment(
        "controls", controls(assessed.models[0]), models=(assessed.models[0],), benchmark=FIRST, day=9
    )
    ingest(newer)
    found = get("assessments").json()["items"]
    assert len(found) == 7
    assert newer.id in {item["id"] for item in found}


def test_filters(get, assessed):
    def numbers(query):
        return len(get(f"assessments?{query}").json()["items"])

    assert numbers(f"benchmark={FIRST}") == 4
    assert numbers("benchmark=V1") == 4  # all below a mean
    assert numbers("part=audit&part=recovery") == 4
    assert numbers(f"model={assessed.models[1]}") == 1
    assert numbers("state=failed") == 0
    assert get("assessments?part=guess").status_code == 400
    assert get("assessments?parts=audit").status_code == 400
    assert get("assessments?benchmark=nothing").status_code == 404
    assert get("assessments?model=nothing").status_code == 404


def test_pages(get, assessed):
    every = [item["id"] for item in get("assessments").json()["items"]]
    found, address = [], "assessments?limit=3"
    while address:
        page = get(address).json()
        found += [item["id"] for item in page["items"]]
        address = page["next"] and "/" + page["next"].split("/", 3)[3]
    assert found == every


def test_texts_of_withheld_data_are_removed(get, assessed, staff, token_of):
    Benchmark.objects.filter(identifier=FIRST).update(access="private")

    def audit(**options):
        return get(f"assessments?benchmark={FIRST}&part=audit", **options).json()["items"][0]

    found = audit()
    assert "tiger" not in str(found)
    assert found["text"] == ""
    assert found["result"]["losses"][0]["loss"] == 0.329
    assert audit(token=token_of(staff, "read"))["result"]["pairs"][0]["first"] == "tiger-11"


def test_private_models_are_for_their_owners(get, board, owner, member, token_of):
    add_assessments(FIRST, board.models[-1])
    address = f"assessments?model={board.models[-1]}"
    assert get("assessments").json()["items"] == []
    assert get(address).status_code == 404
    assert get(address, token=token_of(member, "read")).status_code == 404
    assert get(address, token=token_of(owner, "receipts:write")).status_code == 404
    found = get(address, token=token_of(owner, "read")).json()["items"]
    assert {item["part"] for item in found} == {"audit", "controls", "recovery"}


def test_queries_do_not_grow(get, assessed, django_assert_num_queries):
    with django_assert_num_queries(1):
        get("assessments")


def test_the_client(live_server, assessed):
    with Client(live_server.url) as client:
        found = list(client.assessments(benchmark=FIRST, part=["audit", "recovery"]))
        assert {one.outcome for one in found} == {"findings", "not recovered"}
        recovery = next(one for one in found if one.part == "recovery")
        assert recovery.models == ("pixels", "gabor", assessed.models[0])
        assert recovery.result["repetitions"] == 12
        with pytest.raises(UnknownIdentifier):
            list(client.assessments(benchmark="nothing"))


def test_exports(get, assessed):
    """The same assessments as a table, with the same filters."""
    table = pd.read_csv(io.BytesIO(get("exports/assessments.csv").content), dtype={"version": str})
    parquet = pd.read_parquet(io.BytesIO(get("exports/assessments.parquet").content))
    listed = {item["id"] for item in get("assessments").json()["items"]}
    for found in (table, parquet):
        assert set(found["id"]) == listed
        controls = found[(found["kind"] == "control") & (found["benchmark"] == FIRST) & (found["name"] == "pixels")]
        assert controls["value"].tolist() == [0.125, 0.125]
    some = pd.read_csv(io.BytesIO(get(f"exports/assessments.csv?part=audit&benchmark={FIRST}").content))
    assert set(some["kind"]) == {"stimuli", "independent units", "overlap", "equal responses", "serial test", "loss"}
    assert get("exports/assessments.csv?parts=audit").status_code == 400


def test_exports_withhold_what_pages_withhold(get, assessed, token_of, staff, owner):
    """Reasons of private benchmarks, and assessments with private models."""
    reason = "ValueError: tiger-11"
    ingest(make_assessment("audit", state="failed", reason=reason, benchmark=WITHHELD, day=9))
    private = assessed.models[-1]
    ingest(make_assessment("controls", controls(private), models=(private,), benchmark=FIRST))
    anonymous = get("exports/assessments.csv").content.decode()
    assert "tiger" not in anonymous
    assert private not in anonymous
    assert private in get("exports/assessments.csv", token=token_of(owner)).content.decode()
    assert "tiger" in get("exports/assessments.csv", token=token_of(staff)).content.decode()


def test_exports_hold_no_formulas(get, assessed):
    result = controls(None)
    result["controls"][0]["name"] = "=HYPERLINK(1)"
    ingest(make_assessment("controls", result, benchmark=FIRST, day=9))
    text = get("exports/assessments.csv").content.decode()
    assert "'=HYPERLINK(1)" in text
    assert ",=HYPERLINK(1)" not in text


def test_exports_have_a_limit(get, assessed, monkeypatch):
    monkeypatch.setattr(api_assessments, "_MOST", 3)
    answer = get("exports/assessments.csv")
    assert answer.status_code == 400
    assert "7 assessments are too many" in answer.content.decode()
