"""Means of the past, against the leaderboard as of those days."""

from datetime import UTC, datetime, timedelta
from itertools import pairwise

import numpy as np
import pytest

from brainscore_web.leaderboard import revision
from brainscore_web.leaderboard.board import board_for
from brainscore_web.leaderboard.cards.history import moments, rescored
from brainscore_web.leaderboard.cards.model import find_model, model_card, model_data
from brainscore_web.leaderboard.cards.scores import ScoreLine
from brainscore_web.leaderboard.models import Benchmark, BenchmarkVersion, Score
from brainscore_web.leaderboard.snapshot import snapshot_for
from brainscore_web.leaderboard.state import BoardState

START = datetime(2026, 1, 1, 12, tzinfo=UTC)


def point(benchmark, version, value, day, state="scored"):
    empty = ScoreLine("m", benchmark, f"r{day}", version, START + timedelta(days=day), state, *[None] * 9)
    return empty._replace(value=value)


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


def test_many_days_become_few():
    scored = [START + timedelta(days=day) for day in range(400)]
    days = moments(scored, [], most=10)
    assert len(days) == 10
    assert (days[0], days[-1]) == (scored[0].date(), scored[-1].date())
    assert moments([], []) == ()


def test_benchmarks_with_more_than_one_result():
    scores = [
        point("b", "1", 0.2, 3),
        point("a", "1", 0.4, 1),
        point("b", "1", 0.3, 1),
        point("c", "1", 0.3, 1),
        point("c", "2", None, 2, "failed"),
    ]
    found = rescored(scores, {"c": "2", "b": "1", "a": "1"})
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
