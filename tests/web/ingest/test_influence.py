"""Influences of units, from what is stored beside receipts."""

from importlib import import_module
from types import SimpleNamespace

import numpy as np
import pytest
import xarray as xr
from django.apps import apps
from django.db import connection

from brainscore_core.numerics.influence import (
    BLOCKS,
    SUMS,
    UNKNOWN,
    ScoreInfluence,
    influence_of_difference,
    unit_influence,
)
from brainscore_core.results.store import Arrays
from brainscore_core.scoring import ResultsStore
from brainscore_core.statistics.units import read_influence
from brainscore_web.leaderboard.influence import MOST_BYTES, influences_of, pack, unpack
from brainscore_web.leaderboard.ingest import ingest_receipts, ingest_store
from brainscore_web.leaderboard.models import Benchmark, Score, StoredInfluence
from brainscore_web.leaderboard.snapshot import snapshot_for

pytestmark = pytest.mark.django_db


@pytest.fixture
def store(tmp_path):
    return ResultsStore(tmp_path / "results")


@pytest.fixture
def write(store, receipt):
    """``write(model, values)`` writes a receipt with the influence of each stimulus on its score."""

    def write(model, values, *, day=0, estimate=None):
        made = receipt(model, day=day)
        values = np.asarray(values, dtype=float)
        ids = ("presentation", [f"s{number}" for number in range(len(values))])
        shown = made.score.value if made.score.unclamped is None else made.score.unclamped
        attrs = {"estimate": shown if estimate is None else estimate}
        array = xr.DataArray(values, coords={"stimulus_id": ids}, dims=["presentation"], attrs=attrs)
        return store.write(made, {"influence": Arrays(array)})

    return write


def test_they_are_kept_in_a_compact_form(store, write):
    rng = np.random.default_rng(0)
    written = [write("first", rng.standard_normal(40)), write("second", rng.standard_normal(2000))]
    assert ingest_store(store.address).added == 2
    for receipt in written:
        score = Score.objects.get(receipt=receipt.id)
        direct, kept = read_influence(store, receipt), unpack(score.influence, score.value)
        assert kept.signature() == direct.compact().signature()
        np.testing.assert_allclose(kept.parts[0].values, direct.compact().parts[0].values, rtol=1e-6)
        assert (kept.bias, kept.ceiling) == (direct.bias, direct.ceiling)
        assert len(kept.parts[0].codes) <= BLOCKS
        assert len(bytes(score.influence.content)) == 12 * len(kept.parts[0].codes) < MOST_BYTES
        assert influences_of({score.pk: score.value})[score.pk].signature() == kept.signature()


def test_differences_of_what_was_packed_have_the_same_variance():
    rng = np.random.default_rng(1)
    first, second = (
        ScoreInfluence(0.5, (unit_influence("stimuli", "A2026", range(3000), 0.01 * rng.standard_normal(3000)),))
        for _ in range(2)
    )
    difference = influence_of_difference(*(unpack(pack(one), 0.5) for one in (first, second)))
    exact = np.sum(influence_of_difference(first, second).parts[0].values ** 2)
    assert np.sum(difference.parts[0].values ** 2) == pytest.approx(exact, rel=4 * np.sqrt(2 / BLOCKS))


def test_receipts_that_were_known_before_are_read_once(store, write, monkeypatch):
    written = write("first", np.arange(20.0))
    ingest_receipts([written], by=None)
    assert not StoredInfluence.objects.exists()
    before = snapshot_for_everybody()
    ingest_store(store.address)
    assert StoredInfluence.objects.get().score.receipt == written.id
    after = snapshot_for_everybody()
    assert (before.comparable.sum(), after.comparable.sum()) == (0, 1)
    assert before.digest != after.digest

    def fails(*_):
        raise AssertionError("it was read again")

    monkeypatch.setattr("brainscore_web.leaderboard.influence.read_influence", fails)
    ingest_store(store.address)


def snapshot_for_everybody():
    from django.contrib.auth.models import AnonymousUser

    ingested = Score.objects.get()
    ingested.model.visibility = "public"
    ingested.model.save()
    return snapshot_for(AnonymousUser())


def test_what_does_not_belong_to_the_score_is_not_kept(store, write):
    write("first", np.arange(20.0), estimate=123.0)
    assert ingest_store(store.address).added == 1
    assert StoredInfluence.objects.get().parts == []
    assert unpack(StoredInfluence.objects.get(), 0.5) is None
    assert not snapshot_for_everybody().comparable.any()


def test_an_attachment_that_is_gone_may_come_back(store, write):
    written = write("first", np.arange(20.0))
    path = store.attachment_path(written, "influence")
    content = path.read_bytes()
    path.unlink()
    assert ingest_store(store.address).added == 1
    assert not StoredInfluence.objects.exists()
    path.write_bytes(content)
    ingest_store(store.address)
    assert StoredInfluence.objects.get().parts


def test_what_is_counted_twice_is_kept():
    part = unit_influence("stimuli", "A2026", range(30), np.ones(30), twice=np.arange(SUMS, dtype=float))
    other = unit_influence("neuroids", "A2026", range(20), np.ones(20))
    kept = unpack(pack(ScoreInfluence(0.5, (part, other))), 0.5)
    np.testing.assert_array_equal(kept.parts[0].twice, part.twice)
    assert kept.parts[1].twice is None
    np.testing.assert_array_equal(kept.parts[1].values, other.values)


def test_too_much_is_not_kept():
    parts = tuple(unit_influence(f"kind {number}", "A2026", range(400), np.ones(400)) for number in range(20))
    assert pack(ScoreInfluence(0.5, parts)).parts == []
    assert pack(ScoreInfluence(0.5, parts[:2], bias=float("nan"))).parts == []
    many = unit_influence("stimuli", [f"{number} {'x' * 10_000}" for number in range(1000)], range(10), np.ones(10))
    assert len(str(pack(ScoreInfluence(0.5, (many,))).parts)) < 20_000


def test_a_damaged_row_leaves_its_score_untested(store, write, caplog):
    write("a", np.arange(40.0))
    ingest_store(store.address)
    StoredInfluence.objects.update(content=b"half")
    score = Score.objects.get()
    assert unpack(score.influence, score.value) is None
    assert influences_of({score.pk: score.value}) == {}
    assert "damaged" in caplog.text


def test_rows_of_earlier_versions_are_read_and_get_the_names_of_data(store, write):
    written = write("a", np.arange(40.0))
    ingest_store(store.address)
    row = StoredInfluence.objects.get()
    score, new = row.score, row.parts
    used = [{"kind": "stimulus_set", "identifier": "pictures", "plugin": None}]
    Score.objects.update(document=written.to_dict() | {"data": used})
    Benchmark.objects.update(taken_from=["THINGS", "MS COCO"])
    StoredInfluence.objects.update(parts=[[kind, names[0], *rest] for kind, names, *rest, _ in new])
    assert unpack(StoredInfluence.objects.get(), score.value).parts[0].data == (new[0][1][0], UNKNOWN)
    migration = import_module("brainscore_web.leaderboard.migrations.0007_shared_units")
    migration.name(apps, SimpleNamespace(connection=connection))
    assert StoredInfluence.objects.get().parts == [[new[0][0], [new[0][1][0], "pictures", "THINGS"], *new[0][2:5]]]
