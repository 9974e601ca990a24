"""Outcomes by stimulus: how they are ingested, the page of a score, who sees it."""

import re

import numpy as np
import pytest
from django.urls import reverse

from brainscore_core.results.store import Arrays
from brainscore_core.scoring import ResultsStore
from brainscore_core.statistics.stimuli import StimulusOutcomes, outcomes_of
from brainscore_core.supported_data_standards.brainio.assemblies import DataAssembly
from brainscore_web.leaderboard import outcomes
from brainscore_web.leaderboard.ingest import ingest_receipts, ingest_store
from brainscore_web.leaderboard.models import (
    Benchmark,
    Score,
    StimulusList,
    StimulusSample,
    StoredOutcomes,
    VisionModel,
)
from tests.web.ingest.conftest import make_receipt

NAMES = tuple(f"s{number:03}" for number in range(130))


@pytest.fixture
def score(board):
    made = Score.objects.filter(
        model__identifier=board.models[0], state="scored", version="2", benchmark__access="public"
    ).first()
    values = np.arange(130) / 130
    values[7] = np.nan
    outcomes.write_outcomes([(made.pk, StimulusOutcomes("response", NAMES, values))])
    return made


@pytest.fixture
def address(score):
    return reverse("cards:stimuli", args=["vision", score.receipt])


def names_on(answer):
    return re.findall(r"<code>(s\d+)</code>", answer.content.decode())


def test_order_and_pages(score, address, get):
    assert names_on(get(address)) == [f"s{number:03}" for number in range(129, 69, -1)]
    assert names_on(get(f"{address}?order=best"))[5:8] == ["s005", "s006", "s008"]  # s007 has no value
    assert names_on(get(f"{address}?order=best&page=3")) == names_on(get(f"{address}?order=name&page=99"))
    assert "129 stimuli" in get(address).content.decode()
    assert "order is" in get(f"{address}?order=random", status=400).content.decode()


def test_pictures_are_those_of_the_same_stimuli(score, address, get, settings, tmp_path):
    settings.MEDIA_ROOT = tmp_path
    other = Benchmark.objects.exclude(pk=score.benchmark_id).filter(is_mean=False).first()
    for benchmark, stimulus in ((score.benchmark, "s128"), (score.benchmark, "s001"), (other, "s127")):
        StimulusSample.objects.create(
            benchmark=benchmark, stimulus_id=stimulus, caption="a <b>", image=f"{stimulus}.png"
        )
    page = get(address).content.decode()
    assert page.count("<img") == 1
    assert 's128.png" alt="a &lt;b&gt;"' in page


def test_choices_stand_beside_those_of_subjects(score, address, get, read):
    StoredOutcomes.objects.all().delete()
    made = StimulusOutcomes("choice", ("x", "y"), np.array([0.25, 1.0]), np.array([0.5, 0.9]))
    outcomes.write_outcomes([(score.pk, made)])
    page = read(get(address))
    assert "right on 0.700 of the trials" in page
    assert page.index("0.250 subjects 0.500 rank 2 x") < page.index("1.000 subjects 0.900 rank 1 y")


def test_only_those_who_see_model_and_data_see_it(score, address, get, owner, member, staff):
    opened = "&".join(f"open={name}" for name in ("average_vision", "neural_vision", score.benchmark.parent.identifier))
    cards = [reverse("cards:model", args=["vision", score.model.identifier]) + f"?{opened}"]
    cards.append(reverse("cards:benchmark", args=["vision", score.benchmark.identifier]) + "?models=all")
    assert all(f'href="{address}"' in get(card).content.decode() for card in cards)
    Benchmark.objects.filter(pk=score.benchmark_id).update(access="private", owner=owner)
    outcomes.revision.bump()
    for who in (None, member):
        get(address, who, status=404)
        assert not any(address in get(card, who).content.decode() for card in cards)
    for who in (owner, staff):
        assert get(address, who)["Cache-Control"] == "private, no-store"
        assert all(address in get(card, who).content.decode() for card in cards)
    VisionModel.objects.filter(pk=score.model_id).update(visibility="private", owner=member)
    get(address, owner, status=404)


def predicted(seed):
    rng = np.random.default_rng(seed)
    coords = {"stimulus_id": ("presentation", list("dcba")), "neuroid_id": ("neuroid", ["n0", "n1"])}
    return [DataAssembly(rng.normal(size=(4, 2)), coords=coords, dims=["presentation", "neuroid"]) for _ in range(2)]


def test_they_are_read_once_from_what_is_stored_beside_receipts(db, tmp_path, monkeypatch):
    store = ResultsStore(tmp_path / "results")
    sides = predicted(0), predicted(1)
    first, second = (
        store.write(make_receipt(day=day), {"predictions": Arrays(x, {"targets": y})})
        for day, (x, y) in enumerate(sides)
    )
    bare = store.write(make_receipt("other"))
    ingest_receipts([first], by=None)  # without its attachments
    ingest_store(store.address)
    for receipt, (x, y) in zip((first, second), sides, strict=True):
        row = StoredOutcomes.objects.get(score__receipt=receipt.id)
        assert row.stimuli.identifiers == list("abcd")
        np.testing.assert_allclose(np.frombuffer(row.values, "<f4"), outcomes_of(x, y).values, rtol=1e-6)
    assert StimulusList.objects.count() == 1
    assert not StoredOutcomes.objects.filter(score__receipt=bare.id).exists()
    monkeypatch.setattr(outcomes, "read_outcomes", lambda *_: pytest.fail("it was read again"))
    ingest_store(store.address)


def test_what_is_too_large_has_no_page(score, address, get, monkeypatch):
    StoredOutcomes.objects.all().delete()
    monkeypatch.setattr(outcomes, "MOST_STIMULI", 129)
    outcomes.write_outcomes([(score.pk, StimulusOutcomes("response", NAMES, np.zeros(130)))])
    assert StoredOutcomes.objects.get().stimuli is None
    get(address, status=404)
