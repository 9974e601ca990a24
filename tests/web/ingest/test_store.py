"""Results folders and buckets."""

import pytest

from brainscore_core.errors import UserError
from brainscore_core.scoring import Receipt, ResultsStore
from brainscore_web.leaderboard.ingest import IngestReport, ingest_store
from brainscore_web.leaderboard.models import Ingestion, Score, VisionModel


def fill(store, receipt, count=3):
    return [store.write(receipt(f"model-{number}", day=number)) for number in range(count)]


@pytest.fixture
def store(tmp_path):
    return ResultsStore(tmp_path / "results")


def test_a_folder_is_read(db, store, receipt):
    fill(store, receipt)
    seen = []
    report = ingest_store(store.folder, on_progress=lambda done, total: seen.append((done, total)))
    assert report == IngestReport(added=3)
    assert seen == [(3, 3)]
    assert set(VisionModel.objects.values_list("visibility", flat=True)) == {"public"}
    record = Ingestion.objects.get()
    assert (record.source, record.by, record.added, record.known) == (store.address, None, 3, 0)
    assert record.finished >= record.started


def test_what_is_known_is_not_read_again(db, store, receipt, monkeypatch):
    written = fill(store, receipt)
    ingest_store(store.address)
    new = store.write(receipt("newcomer", day=9))
    read = []
    original = Receipt.from_json.__func__
    monkeypatch.setattr(
        Receipt, "from_json", classmethod(lambda cls, text: read.append(original(cls, text)) or read[-1])
    )
    assert ingest_store(store.address) == IngestReport(added=1, known=len(written))
    assert read == [new]


def test_files_that_are_no_receipts_are_named(db, store, receipt):
    written = fill(store, receipt)
    broken = store.path_of(written[1])
    broken.write_text("{")
    report = ingest_store(store.address)
    assert report.added == 2
    (problem,) = report.problems
    assert problem.path == str(broken)
    assert "not valid JSON" in problem.message


def test_a_folder_that_is_not_there_is_said(db, tmp_path):
    with pytest.raises(UserError, match="there is no folder"):
        ingest_store(tmp_path / "nothing")
    assert not Ingestion.objects.exists()


@pytest.mark.parametrize("address", ["", " "])
def test_an_empty_address_is_not_the_current_folder(db, store, monkeypatch, address, tmp_path):
    monkeypatch.chdir(tmp_path)
    with pytest.raises(UserError, match="the address is empty"):
        ingest_store(address)
    assert not Ingestion.objects.exists()


def test_an_empty_folder_has_nothing(db, tmp_path):
    assert ingest_store(tmp_path) == IngestReport()


def test_a_bucket_is_read(db, receipt, s3_server, monkeypatch):
    boto3 = pytest.importorskip("boto3")

    boto3.client("s3").create_bucket(Bucket="lab")
    store = ResultsStore("s3://lab/results")
    written = fill(store, receipt)
    assert ingest_store("s3://lab/results") == IngestReport(added=3)
    assert ingest_store("s3://lab/results") == IngestReport(known=3)
    assert set(Score.objects.values_list("receipt", flat=True)) == {one.id for one in written}
