"""Assessments that lie beside the receipts of a results folder."""

import json

import pytest
from django.core.management import call_command
from django.db import IntegrityError

from brainscore_core.receipts.assessment import Assessment
from brainscore_core.results.assessments import AssessmentStore
from brainscore_core.scoring import ResultsStore
from brainscore_web.leaderboard import revision
from brainscore_web.leaderboard.ingest import assessments, ingest_store
from brainscore_web.leaderboard.models import Benchmark, Ingestion, StoredAssessment, VisionModel

from .._assessments import audit, controls, make_assessment, recovery

pytestmark = pytest.mark.django_db


@pytest.fixture
def store(tmp_path):
    return ResultsStore(tmp_path / "results")


@pytest.fixture
def write(store):
    def write(*made):
        kept = AssessmentStore(store)
        kept.require_writable()
        return [kept.write(one) for one in made]

    return write


def test_they_are_stored_with_their_benchmark_and_models(store, write):
    written = write(
        make_assessment("audit", audit()),
        make_assessment("controls", controls(), models=("a-model",)),
        make_assessment("recovery", recovery(missed=True), models=("pixels", "gabor")),
    )
    report = ingest_store(store.address)
    assert (report.added, report.assessments, report.problems) == (0, 3, [])
    rows = {row.part: row for row in StoredAssessment.objects.all()}
    assert {row.identifier for row in rows.values()} == {one.id for one in written}
    assert {part: row.outcome for part, row in rows.items()} == {
        "audit": "findings", "controls": "", "recovery": "not recovered",
    }  # fmt: skip
    assert rows["audit"].document == written[0].to_dict()
    assert sorted(rows["recovery"].vision_models.values_list("identifier", flat=True)) == ["gabor", "pixels"]
    assert {row.benchmark.identifier for row in rows.values()} == {"Some2026.IT-pls"}
    assert rows["audit"].version == "1"


def test_nothing_is_read_or_changed_twice(store, write, monkeypatch):
    write(make_assessment("audit", audit()), make_assessment("controls", controls(None)))
    ingest_store(store.address)
    before, pks = revision.current(), set(StoredAssessment.objects.values_list("pk", flat=True))
    monkeypatch.setattr(Assessment, "from_json", lambda text: pytest.fail("it was read again"))
    assert ingest_store(store.address).assessments == 0
    assert revision.current() == before
    assert set(StoredAssessment.objects.values_list("pk", flat=True)) == pks


@pytest.mark.parametrize("order", [(0, 1, 2), (2, 1, 0), (1, 2, 0)])
def test_only_the_newest_with_the_same_models_keeps_its_document(store, write, order):
    made = [make_assessment("audit", audit(clean=day == 2), day=day) for day in range(3)]
    for day in order:  # also if an older one appears later, as from another machine
        write(made[day])
        ingest_store(store.address)
    write(make_assessment("audit", audit(), models=("a-model",)))
    ingest_store(store.address)
    newest = StoredAssessment.objects.newest().get(
        models_key=StoredAssessment.objects.get(identifier=made[0].id).models_key
    )
    assert (newest.identifier, newest.outcome) == (made[2].id, "no finding")
    assert StoredAssessment.objects.count() == 4
    assert StoredAssessment.objects.newest().count() == 2


def test_the_database_keeps_one_newest(store, write):
    write(make_assessment("audit", audit()))
    ingest_store(store.address)
    row = StoredAssessment.objects.get()
    with pytest.raises(IntegrityError):
        StoredAssessment.objects.create(
            identifier="other", benchmark=row.benchmark, part=row.part, models_key=row.models_key, state=row.state,
            created=row.created, document=row.document,
        )  # fmt: skip


def test_an_interrupted_ingestion_continues(store, write, monkeypatch):
    write(*(make_assessment("audit", audit(), benchmark=f"Some2026.IT-{number}") for number in range(5)))
    monkeypatch.setattr(assessments, "_BATCH", 2)
    original, done = assessments._insert, []

    def fails_later(*arguments):
        done.append(arguments)
        if len(done) == 4:
            raise KeyboardInterrupt
        original(*arguments)

    monkeypatch.setattr(assessments, "_insert", fails_later)
    with pytest.raises(KeyboardInterrupt):
        ingest_store(store.address)
    assert StoredAssessment.objects.count() == 2  # the batch that was interrupted is not there
    monkeypatch.setattr(assessments, "_insert", original)
    assert ingest_store(store.address).assessments == 3
    assert StoredAssessment.objects.newest().count() == 5


def test_what_cannot_be_stored_is_reported_and_the_rest_stored(store, write, monkeypatch):
    monkeypatch.setattr(assessments, "MOST_BYTES", 20_000)
    monkeypatch.setattr(assessments, "MOST_MODELS", 3)
    big, many, named, future, good = write(
        make_assessment("audit", {**audit(), "notes": ["x" * 20_000]}),
        make_assessment("recovery", recovery(), models=("a", "b", "c", "d")),
        make_assessment("controls", controls(), models=("a/../b",)),
        make_assessment("audit", audit(), benchmark="Future2026", day=10_000),
        make_assessment("audit", audit(), benchmark="Good2026"),
    )
    kept = AssessmentStore(store)
    broken = write(make_assessment("audit", audit(), benchmark="Broken2026"))[0]
    place = store.folder / ".assessments" / "Broken2026" / "audit" / f"{broken.id}.json"
    document = json.loads(place.read_text())
    place.write_text(json.dumps({**document, "part": "guess"}))
    report = ingest_store(store.address)
    assert report.assessments == 1
    assert StoredAssessment.objects.get().identifier == good.id
    problems = {problem.path: problem.message for problem in report.problems}
    assert set(problems) == {kept.address_of(one) for one in (big, many, named, future)} | {str(place)}
    assert "at most 20,000" in problems[kept.address_of(big)]
    assert "at most 3" in problems[kept.address_of(many)]
    assert "no URL" in problems[kept.address_of(named)]
    assert "in the future" in problems[kept.address_of(future)]
    assert "$.part" in problems[str(place)]
    assert len(Ingestion.objects.get().problems) == 5


def test_means_have_none(store, write, receipt):
    Benchmark.objects.create(identifier="IT", is_mean=True)
    write(make_assessment("audit", audit(), benchmark="IT"))
    report = ingest_store(store.address)
    assert "is a mean" in report.problems[0].message
    assert not StoredAssessment.objects.exists()


def test_impossible_characters_and_numbers_are_replaced(store, write):
    made = make_assessment("audit", {**audit(), "notes": ["a\0b"]}, text="\ud800".encode("utf-8", "replace").decode())
    write(made)
    ingest_store(store.address)
    assert StoredAssessment.objects.get().document["result"]["notes"] == ["a\ufffdb"]


def test_models_are_private_on_request_and_assessments_vanish_with_them(store, write):
    write(make_assessment("controls", controls("secret"), models=("secret",)), make_assessment("audit", audit()))
    ingest_store(store.address, default_visibility="private")
    assert VisionModel.objects.get(identifier="secret").visibility == "private"
    VisionModel.objects.filter(identifier="secret").erase()
    assert [row.part for row in StoredAssessment.objects.all()] == ["audit"]


def test_the_command_counts_them(store, write, receipt, capsys):
    store.write(receipt())
    write(make_assessment("audit", audit()))
    call_command("ingest", store.address)
    assert capsys.readouterr().out.endswith("1 new receipts, 0 known, 1 new assessments\n")
    call_command("ingest", store.address)
    assert capsys.readouterr().out.endswith("0 new receipts, 1 known\n")


def test_unread_skips_known_ids(store, write):
    first, second = write(make_assessment("audit", audit()), make_assessment("audit", audit(), day=1))
    assert [one.id for one in AssessmentStore(store).unread({first.id})] == [second.id]
    assert list(AssessmentStore(store).unread({first.id, second.id})) == []
