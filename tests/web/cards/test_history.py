"""Means of the past, against the leaderboard as of those days."""

from datetime import UTC, date, datetime, timedelta
from itertools import pairwise

import numpy as np
import pytest

from brainscore_core.results.aggregates import Tree, TreeNode
from brainscore_web.leaderboard import revision
from brainscore_web.leaderboard.board import board_for
from brainscore_web.leaderboard.cards.history import ScorePoint, VersionSince, mean_history, moments, rescored
from brainscore_web.leaderboard.cards.model import find_model, model_card, model_data
from brainscore_web.leaderboard.models import Benchmark, BenchmarkVersion, Score
from brainscore_web.leaderboard.snapshot import snapshot_for
from brainscore_web.leaderboard.state import BoardState

START = datetime(2026, 1, 1, 12, tzinfo=UTC)


def point(benchmark, version, value, day, state="scored"):
    return ScorePoint(benchmark, version, state, value, 0.01, START + timedelta(days=day), f"r{day}")


def test_means_are_those_that_the_leaderboard_shows_for_the_same_day(board, member):
    late = Benchmark.objects.get(identifier=board.benchmarks[7])  # one that came in the midst
    BenchmarkVersion.objects.filter(benchmark=late).update(since=datetime(2024, 9, 1, tzinfo=UTC))
    Benchmark.objects.filter(pk=late.pk).update(created=datetime(2024, 9, 1, tzinfo=UTC))
    anyway = Benchmark.objects.filter(identifier=board.benchmarks[8])  # one of which every version counts
    anyway.update(version="")
    Score.objects.filter(benchmark=late).update(created=datetime(2024, 10, 1, tzinfo=UTC))
    revision.bump()
    identifier = board.models[2]
    model = find_model(identifier, member)
    card = model_card(model, board_for(snapshot_for(member), BoardState()), model_data(model, member))
    assert {one.identifier for one in card["means"]} == {
        "average_vision",
        "neural_vision",
        "behavior_vision",
        "engineering_vision",
    }
    compared = 0
    for one in card["means"]:
        assert len(one.points) > 10
        for shown in one.points:
            state = BoardState(at=shown.day)
            then = board_for(snapshot_for(member, at=shown.day), state)
            row = next((row for row, found in enumerate(then.models) if found.identifier == identifier), None)
            place = then.place(one.identifier)
            expected = np.nan if row is None else then.values[row, place]
            if shown.value is None:
                assert np.isnan(expected)
                continue
            compared += 1
            assert shown.value == pytest.approx(expected)
            error = then.errors[row, place] if shown.n_scored == 1 else np.nan
            assert (shown.error is None and np.isnan(error)) or shown.error == pytest.approx(error)
            assert (shown.n_scored, shown.n_all) == (then.n_scored[row, place], then.n_all[row, place])
    assert compared > 40


def test_a_new_version_counts_from_its_day_on():
    tree = Tree([TreeNode(identifier="m"), TreeNode(identifier="a", parent="m", benchmark=True, version="2")])
    scores = [point("a", "1", 0.4, 0), point("a", "2", 0.6, 20)]
    versions = [VersionSince("a", "1", START), VersionSince("a", "2", START + timedelta(days=10))]
    days = [date(2026, 1, day) for day in (1, 10, 11, 20, 21)]
    found = mean_history(tree, scores, versions, {"a": START}, days, ["m"])["m"]
    assert [shown.value for shown in found] == [0.4, 0.4, None, None, 0.6]
    assert [shown.day for shown in found] == days


def test_a_failure_without_a_version_is_of_every_version():
    tree = Tree([TreeNode(identifier="m"), TreeNode(identifier="a", parent="m", benchmark=True, version="1")])
    scores = [point("a", "1", 0.4, 0), point("a", "", None, 5, "failed")]
    found = mean_history(
        tree, scores, [VersionSince("a", "1", START)], {"a": START}, [date(2026, 1, 1), date(2026, 1, 7)], ["m"]
    )
    assert [shown.value for shown in found["m"]] == [0.4, None]


def test_days_before_there_was_a_benchmark_are_left_out():
    nodes = [TreeNode(identifier="m"), TreeNode(identifier="n", parent="m")]
    leaves = [TreeNode(identifier=name, parent="n", benchmark=True, version="1") for name in "ab"]
    there = {"a": START, "b": START + timedelta(days=3)}
    days = [date(2025, 12, 1), date(2026, 1, 2), date(2026, 1, 9)]
    found = mean_history(Tree([*nodes, *leaves]), [point("a", "1", 0.4, 0)], [], there, days, ["n"])["n"]
    assert [(shown.day.day, shown.value, shown.n_all) for shown in found] == [(2, 0.4, 1), (9, 0.2, 2)]


def test_many_days_become_few():
    scores = [point("a", "1", 0.1, day) for day in range(400)]
    days = moments(scores, [], most=10)
    assert len(days) == 10
    assert (days[0], days[-1]) == (scores[0].created.date(), scores[-1].created.date())
    assert moments([], []) == ()


def test_benchmarks_with_more_than_one_result():
    scores = [
        point("b", "1", 0.2, 3),
        point("a", "1", 0.4, 1),
        point("b", "1", 0.3, 1),
        point("c", "1", 0.3, 1),
        point("c", "2", None, 2, "failed"),
    ]
    found = rescored(scores, ["c", "b", "a"], {"b": "1", "c": "2"})
    assert [(one.benchmark, one.current, [shown.receipt for shown in one.points]) for one in found] == [
        ("c", "2", ["r1", "r2"]), ("b", "1", ["r1", "r3"]),
    ]  # fmt: skip


def test_history_on_the_page(board, get, read):
    said = read(get(f"/vision/model/{board.models[0]}/"))
    both = Score.objects.filter(model__identifier=board.models[0], state="scored").order_by("benchmark_id", "created")
    first, second = next((a, b) for a, b in pairwise(both) if a.benchmark_id == b.benchmark_id)
    assert f"v1: {first.value:.3f}" in said
    assert f"v2: {second.value:.3f}" in said
    assert "Means at the end of each day" in said
