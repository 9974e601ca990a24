"""Scores of one's own making, and a competition with one track."""

from datetime import UTC, datetime, timedelta

import pytest

from brainscore_web.leaderboard import revision
from brainscore_web.leaderboard.models import Benchmark, Score, VisionModel


@pytest.fixture
def put(db):
    """Puts scores: ``put({benchmark: {model: value | state}})``; models and benchmarks are made, public."""
    counter = iter(range(10**6))

    def do(table, **fields):
        top, _ = Benchmark.objects.get_or_create(identifier="average_vision", is_mean=True)
        for benchmark, row in table.items():
            leaf, _ = Benchmark.objects.get_or_create(
                identifier=benchmark, defaults={"parent": top, "version": "1", "access": "public", **fields}
            )
            for model, value in row.items():
                known, _ = VisionModel.objects.get_or_create(identifier=model)
                number = next(counter)
                state = value if isinstance(value, str) else "scored"
                Score.objects.create(
                    receipt=f"20240101T000000000000Z-{number:012x}",
                    model=known,
                    benchmark=leaf,
                    version="1",
                    state=state,
                    value=None if isinstance(value, str) else float(value),
                    error=None if isinstance(value, str) else 0.01,
                    reason="RuntimeError: out of luck\nand more" if state == "failed" else "",
                    created=datetime(2024, 1, 1, tzinfo=UTC) + timedelta(minutes=number),
                )
        revision.bump()

    return do


@pytest.fixture
def competition(db):
    """An open competition with one track of benchmarks, scored on two models."""
    from brainscore_web.competitions.models import Competition, Milestone, Track

    made = Competition.objects.create(
        slug="quagga", year=2031, title="Quagga Cup", summary="For tests.", published=True
    )
    Milestone.objects.create(competition=made, kind="deadline", title="Entries until", announced="2131-06-30")
    Track.objects.create(
        competition=made, title="Main track", listed="alexnet\npixels", prizes="3000\n2000", regions="V1, V4", floor=0
    )
    return made


@pytest.fixture
def track(competition):
    return competition.tracks.get()
