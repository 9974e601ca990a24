"""The leaderboard and the exports: as the page shows them."""

import io

import numpy as np
import pandas as pd
import pytest
from django.contrib.auth.models import AnonymousUser

from brainscore_web.leaderboard.board import board_of
from brainscore_web.leaderboard.models import Benchmark, Score, VisionModel
from brainscore_web.leaderboard.snapshot import snapshot_for
from brainscore_web.leaderboard.state import BoardState


def board_as(visitor, **state):
    state = BoardState(**state)
    return board_of(snapshot_for(visitor, at=state.at), state)


@pytest.mark.parametrize(
    "query",
    ["", "region=IT&region=V4&over=scored", "values=raw&sort=-IT&q=vit+OR+resnet", "at=2024-06-01", "access=public"],
)
def test_it_is_the_page_s(get, board, query):
    found = get(f"leaderboard?{query}").json()
    expected = board_of(
        snapshot_for(AnonymousUser(), at=BoardState.from_query(_lists(query)).at), BoardState.from_query(_lists(query))
    )
    places = [place for place, node in enumerate(expected.nodes) if node.kind != "heading"]
    assert [node["identifier"] for node in found["nodes"]] == [expected.nodes[place].identifier for place in places]
    assert [model["identifier"] for model in found["models"]] == [model.identifier for model in expected.models]
    for name, array in (
        ("value", expected.values), ("error", expected.errors), ("low", expected.low), ("high", expected.high),
    ):  # fmt: skip
        np.testing.assert_array_equal(np.array(found[name], dtype=float), array[:, places])
    np.testing.assert_array_equal(found["state"], expected.states[:, places])
    ranks = [[model[name] or 0 for model in found["models"]] for name in ("rank", "best", "worst")]
    assert ranks == [expected.rank.tolist(), expected.best.tolist(), expected.worst.tolist()]
    assert found["query"] == expected.state.query()


def _lists(query):
    from urllib.parse import parse_qs

    return parse_qs(query)


def test_exposure(get, board):
    made = board_of(snapshot_for(AnonymousUser()), BoardState(exposure="not-trained"))
    answer = get("leaderboard?exposure=not-trained").json()
    places = [at for at, node in enumerate(made.nodes) if node.kind != "heading"]
    assert answer["exposure_names"] == ["clean", "unknown", "trained on it"]
    codes = [[-1 if code is None else code for code in row] for row in answer["exposure"]]
    assert codes == made.exposure[:, places].tolist()
    assert {code for row in codes for code in row} == {-1, 0, 1}
    assert "left out" in {answer["state_names"][code] for row in answer["state"] for code in row}
    model, column = answer["models"][0], next(one for one in answer["nodes"] if one["kind"] == "benchmark")
    row = VisionModel.objects.get(identifier=model["identifier"])
    assert (model["trained_on"], model["training_known"]) == (row.trained_on or [], row.trained_on is not None)
    assert column["taken_from"] == Benchmark.objects.get(identifier=column["identifier"]).taken_from
    assert get("leaderboard?exposure=dirty").status_code == 400


def test_parts(get, board):
    whole = get("leaderboard").json()
    part = get("leaderboard?node=V4&node=IT&limit=3&offset=2").json()
    names = [node["identifier"] for node in whole["nodes"]]
    columns = [names.index("V4"), names.index("IT")]
    assert [node["identifier"] for node in part["nodes"]] == ["V4", "IT"]
    assert part["models"] == whole["models"][2:5]
    assert part["value"] == [[row[column] for column in columns] for row in whole["value"][2:5]]
    assert part["total"] == whole["total"] == 11
    shown = get("leaderboard?shown=true").json()["nodes"]
    assert [node["identifier"] for node in whole["nodes"] if node["shown"]] == [node["identifier"] for node in shown]
    assert len(shown) < len(names)
    assert get("leaderboard?node=V9").status_code == 404


def test_exported_leaderboard(get, board):
    expected = board_as(AnonymousUser(), region=("IT",))
    answer = get("exports/leaderboard.csv?region=IT")
    assert answer["Content-Type"] == "text/csv; charset=utf-8"
    assert "brain-score-leaderboard.csv" in answer["Content-Disposition"]
    wide = pd.read_csv(io.BytesIO(answer.content), index_col="model")
    assert list(wide.index) == [model.identifier for model in expected.models]
    np.testing.assert_allclose(wide["IT"], expected.values[:, expected.place("IT")])
    long = pd.read_parquet(io.BytesIO(get("exports/leaderboard.parquet?region=IT&form=long").content))
    assert len(long) == expected.values.size
    assert "@misc" in get("exports/leaderboard.bib?region=IT").content.decode()


def test_exported_scores(get, board, owner, token_of):
    from brainscore_web.api import scores

    listed = get("scores?limit=1000").json()["items"]
    rows, scores._ROWS = scores._ROWS, 7  # in several parts
    try:
        parquet = pd.read_parquet(io.BytesIO(get("exports/scores.parquet").getvalue()))
        table = pd.read_csv(io.BytesIO(get("exports/scores.csv").getvalue()), dtype={"version": str})
    finally:
        scores._ROWS = rows
    for found in (parquet, table):
        assert found["receipt"].tolist() == [item["receipt"] for item in listed]
        expected = np.array([item["value"] for item in listed], dtype=float)
        np.testing.assert_allclose(found["value"], expected)
        assert found["counts"].all()
    assert str(parquet["created"].dtype) == "datetime64[us, UTC]"
    both = pd.read_csv(io.BytesIO(get("exports/scores.csv?history=true").getvalue()))
    assert len(both) == Score.objects.filter(model__visibility="public").count()
    none = pd.read_csv(io.BytesIO(get("exports/scores.csv?since=2100-01-01").getvalue()))
    assert (len(none), none.columns[0]) == (0, "model")


def test_exports_do_not_keep_everybody_else_waiting(get, board, monkeypatch):
    from brainscore_web.api import leaderboard

    monkeypatch.setattr(leaderboard, "_PATIENCE", 0)
    with leaderboard._writing, leaderboard._writing:
        found = get("exports/scores.csv")
        assert (found.status_code, found["Retry-After"]) == (503, "0")
    assert get("exports/scores.csv").status_code == 200


def test_an_empty_site(get, db):
    found = get("leaderboard").json()
    assert (found["total"], found["models"], found["nodes"], found["value"]) == (0, [], [], [])
    for address in ("models", "benchmarks", "scores"):
        assert get(address).json()["items"] == []
    for address in ("leaderboard.csv", "leaderboard.parquet", "leaderboard.bib", "scores.csv", "scores.parquet"):
        assert get(f"exports/{address}").status_code == 200
