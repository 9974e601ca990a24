"""A store in a folder: interrupts, damaged files, what killed writers leave."""

import os
import time

import pytest

from brainscore_core.errors import UserError
from brainscore_core.files import STALE
from brainscore_core.results import folder as folder_module
from brainscore_core.results.store import Arrays
from brainscore_core.scoring import ReceiptError, ResultsStore, StoreError


def test_every_receipt_is_three_levels_below(fakes, tmp_path):
    store = ResultsStore(tmp_path / "results")
    written = store.write(fakes.receipt("../../x", "/etc/y"))
    assert store.path_of(written).resolve().is_relative_to(tmp_path / "results")
    assert len(store.path_of(written).relative_to(tmp_path / "results").parts) == 3
    assert store.path_of(written).parent == store.folder_of("../../x", "/etc/y")
    assert str(store.path_of(written)) == store.address_of(written)
    assert len(list((tmp_path / "results").iterdir())) == 1


def test_a_corrupt_receipt_is_reported_and_the_others_are_read(fakes, tmp_path):
    store = ResultsStore(tmp_path)
    good = store.write(fakes.receipt())
    path = store.path_of(good)
    truncated = path.with_name("99990101T000000000000Z-000000000000.json")
    truncated.write_text(path.read_text()[:100])
    newer = path.with_name("99990101T000000000000Z-000000000001.json")
    newer.write_text('{"schema_version": 9}')
    renamed = path.with_name("99990101T000000000000Z-000000000002.json")
    renamed.write_bytes(path.read_bytes())
    path.with_name(".0123.json").write_text("half of a rec")  # of another process, being written
    path.with_name("99990101T000000000000Z-000000000003.json").mkdir()
    listing = store.listing()
    assert listing.receipts == (good,)
    wrong = {str(truncated), str(newer), str(renamed), str(path.with_name("99990101T000000000000Z-000000000003.json"))}
    assert {problem.path for problem in listing.problems} == wrong
    assert str(truncated) in str(listing.problems[0])
    with pytest.warns(UserWarning, match="cannot be read") as warned:
        assert list(store) == [good]
    assert len(warned) == 4
    with pytest.warns(UserWarning, match="cannot be read"):
        assert store.latest("model", "benchmark") == good
    with pytest.raises(ReceiptError, match=truncated.name):
        store.load(truncated.stem)
    with pytest.raises(ReceiptError, match=r"(?s)newer Brain-Score.*pip install --upgrade"):
        store.load(newer.stem)


def test_changed_and_missing_attachments_are_noticed(fakes, tmp_path):
    store = ResultsStore(tmp_path)
    written = store.write(fakes.receipt(), {"raw": Arrays(fakes.assembly([[1.0, 2.0]]))})
    path = store.attachment_path(written, "raw")
    assert path.name == f"{written.id}.raw.nc"
    path.write_bytes(path.read_bytes() + b"x")
    with pytest.raises(ReceiptError, match="has changed"):
        store.open_attachment(written, "raw")
    path.unlink()
    with pytest.raises(ReceiptError, match="missing"):
        store.open_attachment(written, "raw")
    store.remove(written)
    assert store.listing().receipts == ()


@pytest.mark.parametrize("step", range(8))
def test_an_interrupt_at_any_step_leaves_all_or_nothing(fakes, tmp_path, monkeypatch, step):
    calls = []

    def interrupting(function):
        def wrapped(*args, **kwargs):
            calls.append(function)
            if len(calls) == step + 1:
                raise KeyboardInterrupt
            return function(*args, **kwargs)

        return wrapped

    monkeypatch.setattr(folder_module, "sync_to_disk", interrupting(folder_module.sync_to_disk))
    monkeypatch.setattr(folder_module.os, "replace", interrupting(os.replace))
    store = ResultsStore(tmp_path)
    arrays = {kind: Arrays(fakes.assembly([[1.0, 2.0]])) for kind in ("raw", "predictions")}

    def write_two():
        for _ in range(2):
            store.write(fakes.receipt(), arrays)

    with pytest.raises(KeyboardInterrupt):
        write_two()
    files = [path for path in tmp_path.rglob("*") if path.is_file()]
    listing = store.listing()
    assert listing.problems == ()
    for found in listing.receipts:
        for attachment in found.attachments:
            store.attachment_path(found, attachment.kind)
    assert len(files) == 3 * len(listing.receipts)


def test_what_killed_writers_left_goes_after_a_day(fakes, tmp_path):
    store = ResultsStore(tmp_path)
    kept = store.write(fakes.receipt(), {"log": "one\n"})
    folder = store.folder_of("model", "benchmark")
    left = [folder / ".0123.part", folder / "20200101T000000000000Z-000000000000.raw.nc"]
    young = [folder / ".4567.part", folder / "20200101T000000000000Z-000000000001.raw.nc"]
    for path in left + young:
        path.write_text("half")
    long_ago = time.time() - 2 * STALE
    for path in [*left, store.path_of(kept), store.attachment_path(kept, "log")]:
        os.utime(path, (long_ago, long_ago))
    store.write(fakes.receipt())
    assert not any(path.exists() for path in left)
    assert all(path.exists() for path in young)
    assert store.read_log(kept) == "one\n"
    assert len(store.listing().receipts) == 2


def test_a_folder_that_cannot_be_written(fakes, tmp_path):
    (tmp_path / "file").write_text("in the way")
    store = ResultsStore(tmp_path / "file" / "results")
    with pytest.raises(StoreError, match=r"(?s)cannot be written to .*file.*--results"):
        store.write(fakes.receipt())
    with pytest.raises(UserError, match=r"cannot be written to .*file"):
        store.require_writable()
    with pytest.raises(UserError, match=r"claims cannot be written to .*file"):
        store.claim("model", "benchmark")


def test_a_full_disk_leaves_nothing(fakes, tmp_path, monkeypatch):
    def full(path):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(folder_module, "sync_to_disk", full)
    with pytest.raises(StoreError, match="No space left on device"):
        ResultsStore(tmp_path).write(fakes.receipt(), {"log": "one\n"})
    assert [path for path in tmp_path.rglob("*") if path.is_file()] == []


def test_a_thousand_receipts_are_read(fakes, tmp_path):
    store = ResultsStore(tmp_path)
    folder = store.folder_of("model", "benchmark")
    folder.mkdir(parents=True)
    for number in range(1000):
        made = fakes.receipt(created=f"2026-01-01T00:00:00.{number:06d}Z", value=number).identified()
        (folder / f"{made.id}.json").write_text(made.to_json())
    listing = store.listing()
    assert [found.score.value for found in listing.receipts] == list(range(1000))
    assert store.latest("model", "benchmark").score.value == 999


def test_a_huge_file_is_named_and_not_read(tmp_path):
    from brainscore_core.results.backend import LARGEST
    from brainscore_core.scoring import read_receipt

    folder = tmp_path / "Some2026-pls" / "net"
    folder.mkdir(parents=True)
    path = folder / "20260101T000000000000Z-000000000000.json"
    with path.open("wb") as file:
        file.truncate(LARGEST + 1)
    (problem,) = ResultsStore(tmp_path).listing().problems
    assert str(path) in str(problem)
    assert "larger than" in str(problem)
    with pytest.raises(UserError, match="larger than"):
        read_receipt(path)
