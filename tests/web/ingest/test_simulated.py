"""The made-up leaderboard."""

import numpy as np
from django.db.models import Count

from brainscore_web.leaderboard import revision
from brainscore_web.leaderboard.models import Benchmark, BenchmarkVersion, Score, VisionModel
from brainscore_web.leaderboard.simulation import simulate_leaderboard


def test_it_has_what_leaderboards_have(db):
    before = revision.current()
    made = simulate_leaderboard(models=40, benchmarks=50, versions=2, private=3)
    assert revision.current() > before
    assert (len(made.models), len(made.benchmarks)) == (40, 50)
    assert VisionModel.objects.filter(visibility="private").count() == 3
    assert BenchmarkVersion.objects.count() == 100
    newest = Score.objects.order_by().filter(version="2")
    states = dict(newest.values_list("state").annotate(n=Count("pk")))
    assert states["scored"] > 1500
    assert min(states[state] for state in ("failed", "not applicable", "undefined")) > 0
    assert newest.count() < Score.objects.filter(version="1").count() < 2000
    assert all(name.startswith("simulated") for name in made.models)


def test_numbers_fit_together(db):
    simulate_leaderboard(models=10, benchmarks=12, versions=2)
    ceilings = {(one.benchmark_id, one.version): one.ceiling for one in BenchmarkVersion.objects.all()}
    for score in Score.objects.all():
        assert score.ceiling == ceilings[score.benchmark_id, score.version]
        if score.state != "scored":
            assert (score.value, score.raw, score.low, score.level) == (None,) * 4
            assert "simulated" in score.reason
            continue
        np.testing.assert_allclose(score.raw, score.value * score.ceiling)
        assert (score.error is None) == (score.low is None) == (score.level is None) == bool(score.error_reason)
        assert score.low is None or 0 <= score.low <= score.value <= score.high


def test_it_is_the_same_each_time(db):
    def content():
        return list(Score.objects.order_by("receipt").values_list("receipt", "state", "value", "model__identifier"))

    simulate_leaderboard(models=5, benchmarks=6, seed=3)
    first = content()
    Score.objects.all().delete()
    VisionModel.objects.all().delete()
    Benchmark.objects.update(parent=None)
    Benchmark.objects.all().delete()
    simulate_leaderboard(models=5, benchmarks=6, seed=3)
    assert content() == first


def test_one_version_has_nothing_outdated(db):
    simulate_leaderboard(models=20, benchmarks=20, versions=1)
    assert set(Score.objects.values_list("version", flat=True)) == {"1"}
