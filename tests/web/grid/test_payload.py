import json

import numpy as np
import pytest
from django.contrib.auth.models import AnonymousUser

from brainscore_core.errors import UserError
from brainscore_web.leaderboard import revision
from brainscore_web.leaderboard.board import STATES, board_for
from brainscore_web.leaderboard.models import Score, VisionModel
from brainscore_web.leaderboard.page import heads_of
from brainscore_web.leaderboard.payload import SCALE, board_data, column_data, columns_below, rounded
from brainscore_web.leaderboard.snapshot import snapshot_for
from brainscore_web.leaderboard.state import BoardState


def decoded(column, count):
    """What the browser makes of a column: values, limits, states, shades."""
    values, low, high, shades = (np.full(count, np.nan) for _ in range(4))
    states = np.array([int(code) for code in column["s"]])
    scored = np.flatnonzero(states == 0)
    values[scored] = np.floor(column["v"]) / SCALE
    for limits, name in ((low, "l"), (high, "h")):
        limits[scored] = [np.nan if limit is None else limit / SCALE for limit in column[name] or [None] * len(scored)]
    if column["c"]:
        shades[scored[np.argsort(-np.array(column["v"]), kind="stable")]] = np.repeat(np.arange(9, -1, -1), column["c"])
    return values, low, high, states, shades


def shown(**state):
    return board_for(snapshot_for(AnonymousUser()), BoardState(**state))


def everything(**state):
    nodes = shown().nodes
    return shown(open=tuple(node.identifier for node in nodes if node.kind != "benchmark"), **state)


def test_columns_say_what_the_board_holds(board):
    made = everything()
    sent = json.loads(json.dumps(board_data(made), allow_nan=False))
    by_name = np.argsort(made.rows)
    assert sent["models"]["id"] == sorted(model.identifier for model in made.models)
    assert sent["models"]["rank"] == made.rank[by_name].tolist()
    assert set(sent["columns"]) == {node.identifier for node in made.nodes if node.kind != "heading"}
    for at, node in enumerate(made.nodes):
        if node.kind == "heading":
            continue
        values, low, high, states, shades = decoded(sent["columns"][node.identifier], len(by_name))
        np.testing.assert_allclose(values, made.values[by_name, at], atol=0.5 / SCALE + 1e-12)
        np.testing.assert_allclose(low, made.low[by_name, at], atol=0.5 / SCALE + 1e-12)
        np.testing.assert_allclose(high, made.high[by_name, at], atol=0.5 / SCALE + 1e-12)
        np.testing.assert_array_equal(states, made.states[by_name, at])
        np.testing.assert_array_equal(np.nan_to_num(shades, nan=-1), made.shade[by_name, at])
        exposure = made.exposure[by_name, at]
        codes = sent["columns"][node.identifier]["e"] or "0" * int((exposure >= 0).sum())
        assert codes == "".join(map(str, exposure[exposure >= 0].tolist()))
    others = {"undetermined", "left out", "not run"}  # see the tests of these states
    assert {STATES[code] for code in np.unique(made.states)} == set(STATES) - others


def test_columns_keep_the_order_that_rounding_would_lose():
    values = np.array([0.50001, 0.50002, np.nan, 0.50002, -0.3])
    column = column_data(values, *np.full((2, 5), np.nan), np.array([0, 0, 5, 0, 0]), np.array([9, 9, -1, 9, 0]))
    assert column["v"] == [500, 500.1, 500.1, -300]  # rows 1 and 3 are the same, row 0 only rounds to it
    assert column["s"] == "00500"


def test_columns_keep_the_order_of_many_values_that_round_to_the_same():
    values = np.linspace(0.4996, 0.5004, 30)
    column = column_data(values, *np.full((2, 30), np.nan), np.zeros(30, dtype=int), np.zeros(30, dtype=int))
    assert column["v"] == [500, *(500 + step / 100 for step in range(1, 30))]


@pytest.mark.parametrize("far", [1e12, 9e15, 1e200, 1.8e305, 1.7e308])
def test_values_beyond_all_scores_are_cut(far):
    values = np.array([far, 0.5, -far])
    column = column_data(
        values, np.full(3, np.nan), np.array([far, np.inf, np.nan]), np.zeros(3, dtype=int), np.array([9, 4, 0])
    )
    assert column["v"] == [10**15, 500, -(10**15)]
    assert column["h"] == [10**15, None, None]
    assert rounded(far) == "1e+12"
    assert rounded(-far) == "−1e+12"


def test_shades_of_values_beyond_all_scores():
    from brainscore_web.leaderboard.board import _shades

    assert _shades(np.array([[1.7e308], [0.0], [-1.7e308], [np.nan]])).tolist() == [[9], [5], [0], [-1]]


def test_a_column_without_values():
    column = column_data(*np.full((3, 2), np.nan), np.array([3, 5]), np.array([-1, -1]))
    assert (column["v"], column["c"], column["s"]) == ([], [], "35")


@pytest.mark.parametrize(("value", "text"), [(0.0005, "0.000"), (0.0015, "0.002"), (-1.2345, "−1.234"), (np.inf, "")])
def test_values_are_rounded_as_in_columns(value, text):
    assert rounded(value) == text
    if text:
        assert np.rint(value * SCALE) / SCALE == pytest.approx(float(text.replace("−", "-")))


def test_only_what_is_shown_is_sent_and_what_it_is_sorted_by(board):
    leaf = next(node for node in shown().nodes if node.kind == "benchmark")
    made = shown(open=(), sort=f"-{leaf.identifier}")
    sent = board_data(made)
    assert set(sent["columns"]) == {node.identifier for node in made.nodes if node.shown} | {leaf.identifier}
    assert len(sent["nodes"]) == len(made.nodes)
    assert BoardState.from_query({"open": [""], "sort": [f"-{leaf.identifier}"]}).query() == sent["query"]


def test_columns_below_nodes(board):
    made = shown()
    sent = columns_below(made, ["V1", ""])
    v1 = made.place("V1")
    below = {node.identifier for node in made.nodes if node.parent in (v1, -1) and node.kind != "heading"}
    assert set(sent["columns"]) == below
    assert (sent["models"], sent["revision"]) == (len(made.models), made.snapshot.digest)
    with pytest.raises(UserError, match="nowhere"):
        columns_below(made, ["nowhere"])


def test_heads_cover_every_column_and_level_once(board):
    for made in (shown(), everything(), shown(open=()), shown(open=("average_vision", "V1"))):
        heads = heads_of(made.nodes)
        covered = np.zeros((len(heads.levels), len(heads.columns)), dtype=int)
        for level in heads.levels:
            for head in level:
                covered[head.level : head.level + head.height, head.start : head.start + head.width] += 1
        assert (covered == 1).all()
        in_view = {at for at, node in enumerate(made.nodes) if node.shown}
        assert set(heads.columns) <= in_view
        spanned = {head.place for level in heads.levels for head in level}
        assert spanned == in_view


def test_an_open_heading_has_no_column_of_its_own(board):
    from brainscore_web.leaderboard.models import Benchmark

    Benchmark.objects.filter(pk=Benchmark.objects.filter(is_mean=False).first().pk).update(in_tree=False)
    from brainscore_web.leaderboard import revision

    revision.bump()
    made = everything()
    heading = next(at for at, node in enumerate(made.nodes) if node.kind == "heading")
    assert heading not in heads_of(made.nodes).columns
    assert heading in heads_of(shown(open=()).nodes).columns


def test_why_nothing_is_left(board):
    made = shown(q="nothing-like-this", family=("vit",))
    (text,) = board_data(made)["empty"]
    n_vit = len(shown(family=("vit",)).models)
    assert text == f"No model passes. Without the search, {n_vit} models would."
    (text,) = board_data(shown(region=("V1",), ceiling_min=2.0))["empty"]
    assert text.startswith("No benchmark passes. Without the minimum ceiling, ")
    (text,) = board_data(shown(coverage=100.0))["empty"]
    assert text.startswith("No model was scored on enough benchmarks for a rank.")
    assert board_data(shown())["empty"] == []


def test_why_nothing_is_there(db):
    assert board_data(shown())["empty"] == ["No model has been scored yet."]


def test_counts_are_over_what_the_visitor_sees(board, owner, staff):
    for visitor, number in ((AnonymousUser(), 11), (owner, 12), (staff, 12)):
        sent = board_data(board_for(snapshot_for(visitor), BoardState()))
        assert sent["counts"] == f"{number} of {number} models, 24 of 24 benchmarks"
        assert len(sent["models"]["private"]) == number - 11
        assert (sent["models"]["mine"] == sent["models"]["private"]) == (visitor != staff)
    assert VisionModel.objects.count() == 12
    assert Score.objects.filter(model__identifier=board.models[-1]).exists()


def test_columns_without_a_score_are_not_sent(board):
    Score.objects.filter(benchmark__identifier__startswith="Simulated").exclude(
        benchmark__identifier__in=("Simulated000.V1-pls", "Simulated004.behavior-accuracy")
    ).delete()
    revision.bump()
    sent = board_data(shown())
    by_name = {node["id"]: node for node in sent["nodes"]}
    path = ["average_vision", "neural_vision", "V1", "Simulated000.V1-pls"]
    assert [sent["nodes"][by_name[name]["parent"]]["id"] for name in path[1:]] == path[:-1]
    assert set(by_name) == {*path, "behavior_vision", "Simulated004.behavior-accuracy"}
    assert {name for name, node in by_name.items() if node.get("bare")} == {*path[:3], "behavior_vision"}
    assert {name for name, node in by_name.items() if node.get("open")} == {*path[:3], "behavior_vision"}
    columns = [shown().nodes[place].identifier for place in heads_of(shown().nodes).columns]
    assert columns == ["Simulated000.V1-pls", "Simulated004.behavior-accuracy"]  # means of too few scores have none
    assert len(board_data(shown(empty=True))["nodes"]) > 24
