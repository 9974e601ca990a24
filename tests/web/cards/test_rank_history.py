"""Steps of a model's rank, and what they are split into."""

from datetime import UTC, date, datetime, timedelta

import pytest
from django.contrib.auth.models import AnonymousUser

from brainscore_web.leaderboard import revision
from brainscore_web.leaderboard.board import board_for
from brainscore_web.leaderboard.cards.history import CAUSES, mean_history, rank_steps
from brainscore_web.leaderboard.cards.model import find_model, model_data, rank_days
from brainscore_web.leaderboard.models import Benchmark, BenchmarkVersion, Score, VisionModel
from brainscore_web.leaderboard.snapshot import load_versions, snapshot_for
from brainscore_web.leaderboard.state import BoardState

START = date(2026, 1, 1)
EVERYBODY = AnonymousUser()


def moment(day):
    return datetime(2026, 1, 1, 12, tzinfo=UTC) + timedelta(days=day)


class Site:
    def benchmark(self, name, day, version="1"):
        root, _ = Benchmark.objects.get_or_create(identifier="root", is_mean=True)
        row, _ = Benchmark.objects.update_or_create(
            identifier=name, defaults={"parent": root, "version": version}, create_defaults={
                "parent": root, "version": version, "created": moment(day),
            },
        )  # fmt: skip
        BenchmarkVersion.objects.create(benchmark=row, version=version, since=moment(day))

    def score(self, model, name, value, day, version="1", code=None, state="scored"):
        row, _ = VisionModel.objects.get_or_create(identifier=model)
        Score.objects.create(
            receipt=f"{model}-{name}-{version}-{day}", model=row, benchmark=Benchmark.objects.get(identifier=name),
            version=version, state=state, value=value, created=moment(day),
            document={"model": {"plugin": {"sha256": code}}} if code else None,
        )  # fmt: skip

    def steps(self, model, *days):
        revision.bump()
        dates = [START + timedelta(days=day) for day in days]
        return rank_steps(snapshot_for(EVERYBODY), model, load_versions(), dates)

    def means(self, node, *days):
        """The mean of the first model at the ends of these days: day, value, number of benchmarks."""
        revision.bump()
        dates = [START + timedelta(days=day) for day in days]
        points = mean_history(snapshot_for(EVERYBODY), "m1", load_versions(), dates, [node])[node]
        return [((point.day - START).days, point.value, point.n_all) for point in points]


@pytest.fixture
def site(db):
    """Five models on benchmark a; their ranks are their numbers."""
    made = Site()
    made.benchmark("a", 0)
    for number in range(1, 6):
        made.score(f"m{number}", "a", 1 - number / 10, 0, code="old")
    return made


def parts(step):
    return {cause: part for cause, part in zip(CAUSES, step.parts, strict=True) if part}


def test_each_cause_alone(site):
    site.benchmark("b", 1)
    for number in range(1, 6):
        site.score(f"m{number}", "b", number / 5, 1)  # the order is reversed
    (step,) = site.steps("m5", 0, 1)
    assert (step.before, step.after, parts(step)) == (5, 1, {"new benchmarks": -4})

    site.benchmark("b", 2, "2")
    for number in range(1, 6):
        site.score(f"m{number}", "b", 0.5, 2, "2")
    (step,) = site.steps("m5", 1, 2)
    assert (step.before, step.after, parts(step)) == (1, 5, {"new versions": 4})

    site.score("m5", "a", 0.75, 3, code="new")
    (step,) = site.steps("m5", 2, 3)
    assert (step.before, step.after, parts(step)) == (5, 3, {"new code": -2})

    site.score("m5", "a", 0.95, 4, code="new")
    (step,) = site.steps("m5", 3, 4)
    assert (step.before, step.after, parts(step)) == (3, 1, {"new receipts": -2})

    site.score("m1", "a", 0.99, 5)
    (step,) = site.steps("m5", 4, 5)
    assert (step.before, step.after, parts(step)) == (1, 2, {"other models": 1})
    assert step.texts == ("", "", "", "", "↓ 1")
    assert site.steps("m5", 5, 6) == []


def test_parts_add_up(site):
    site.benchmark("b", 1)
    for number in range(1, 6):
        site.score(f"m{number}", "b", number / 5, 1)
    site.benchmark("a", 1, "2")
    for number, value in ((1, 0.2), (2, 0.9), (3, 0.1), (4, 0.3), (5, 0.05)):
        site.score(f"m{number}", "a", value, 1, "2")
    site.score("n", "a", 0.9, 1, "2")
    site.score("n", "b", 0.9, 1)
    for model in ("m1", "m2", "m3", "m4", "m5"):
        for step in site.steps(model, 0, 1):
            assert sum(step.parts) == step.after - step.before
    (first,) = site.steps("n", 0, 1)  # it was not ranked
    assert (first.before, first.after) == (0, 1)
    assert first.texts.count("ranked") == 1
    assert first.parts.count(None) == 1


@pytest.mark.parametrize("model", ["m1", "m3", "m5"])
def test_losing_the_rank_is_no_rise(site, model):
    """Three new benchmarks, on which the model is not scored: it is below the coverage."""
    for name in "bcd":
        site.benchmark(name, 1)
        for number in range(1, 6):
            if model != f"m{number}":
                site.score(f"m{number}", name, 0.5, 1)
    (step,) = site.steps(model, 0, 1)
    assert (step.before, step.after) == (int(model[1]), 0)
    assert step.texts == ("no longer ranked", "", "", "", "")
    site.score(model, "b", 0.5, 2)
    (step,) = site.steps(model, 1, 2)
    assert step.texts[3] == "ranked"
    assert not any("↑" in text or "↓" in text for text in step.texts[:3])
    for name in "abcd":
        site.benchmark(name, 3, "2")  # nothing counts any more: no model is ranked
    (step,) = site.steps("m2", 2, 3)
    assert (step.after, step.texts) == (0, ("", "no longer ranked", "", "", ""))


def test_ranks_are_those_of_the_leaderboard(board, member):
    """Of simulated models of two versions, some of whose scores are missing, at the ends of all steps."""
    snapshot = snapshot_for(member)
    compared = 0
    for identifier in board.models[:4]:
        model = find_model(identifier, member)
        data = model_data(model, member)
        days = rank_days(data)
        assert len(days) > 5
        for step in rank_steps(snapshot, identifier, data.versions, days):
            for day, rank in ((step.start, step.before), (step.end, step.after)):
                then = board_for(snapshot_for(member, at=day), BoardState())
                ranks = {row.identifier: int(place) for row, place in zip(then.models, then.rank, strict=True)}
                assert rank == ranks.get(identifier, 0)
                compared += 1
            if all(step.ranks):
                assert sum(step.parts) == step.after - step.before
    assert compared > 20


def test_means_of_the_past(site):
    site.benchmark("a", 10, "2")
    site.score("m1", "a", 0.6, 20, "2")
    assert site.means("root", -30, 0, 9, 10, 19, 20) == [
        (0, 0.9, 1), (9, 0.9, 1), (10, None, 1), (19, None, 1), (20, 0.6, 1),
    ]  # fmt: skip
    site.benchmark("b", 30)
    site.score("m1", "b", 0.2, 31)
    assert site.means("root", 29, 30, 31) == [(29, 0.6, 1), (30, 0.3, 2), (31, 0.4, 2)]
    site.score("m1", "b", None, 32, "", state="failed")  # without a version, it is of every version
    site.score("m1", "a", None, 32, "2", state="not run")  # which no result is replaced by
    assert site.means("root", 31, 32) == [(31, 0.4, 2), (32, 0.3, 2)]
    assert site.steps("m1", 31, 32) == []


def test_the_page_explains_steps(board, get):
    address = f"/vision/model/{board.models[0]}/"
    assert "Why the rank moved</a>" in get(address).content.decode()
    page = get(f"{address}?history=rank").content.decode()
    assert "Steps of the rank" in page
    assert "Other models" in page
