"""The index of a store is a cache that agrees with the store after any change."""

import io
import os
import shutil
import signal
import subprocess
import sys
import time

import numpy as np
import pytest

from brainscore_core.results import index as index_module
from brainscore_core.scoring import Receipt, ResultsStore


@pytest.fixture(params=["folder", "bucket"])
def store(request, tmp_path, monkeypatch):
    """A store whose index is written after every change; folders count as settled at once."""
    monkeypatch.setattr(index_module, "_FEWEST", 0)
    monkeypatch.setattr(index_module, "_RACY", -(10**12))
    if request.param == "folder":
        return ResultsStore(tmp_path / "results")
    request.getfixturevalue("bucket")
    return ResultsStore("s3://lab/results")


@pytest.fixture
def opened(monkeypatch):
    """Receipts that are parsed."""
    parsed = []
    read = Receipt.from_json.__func__
    monkeypatch.setattr(Receipt, "from_json", classmethod(lambda cls, data: parsed.append(1) or read(cls, data)))
    return parsed


def ids(store):
    table = store.table()
    return [table.row(number)["id"] for number in range(len(table))]


def in_files(store):
    return [receipt.id for receipt in store.listing().receipts]


def written(store, fakes, pairs):
    return [store.write(fakes.receipt(model, benchmark)) for model, benchmark in pairs]


def test_receipts_are_opened_once(store, fakes, opened):
    first = written(store, fakes, [("m", "a"), ("n", "a"), ("m", "b")])
    assert ids(store) == [receipt.id for receipt in first]
    opened.clear()
    assert len(ids(store)) == 3
    assert opened == []
    (last,) = written(store, fakes, [("m", "a")])
    assert ids(store) == [*(receipt.id for receipt in first), last.id]
    assert len(opened) == 1


def test_fields_are_those_of_the_receipts(store, fakes):
    (receipt,) = written(store, fakes, [("m", "a")])
    row = store.table().row(0)
    again = store.table().row(0)  # from the index
    assert row == again
    assert (row["model"], row["benchmark"], row["state"], row["score"]) == ("m", "a", "scored", receipt.score.value)
    assert row["seconds"] == receipt.timings.total


def test_removed_receipts_and_folders_disappear(store, fakes):
    receipts = written(store, fakes, [("m", "a"), ("m", "a"), ("n", "a"), ("m", "b")])
    assert len(ids(store)) == 4
    store.remove(receipts[0])
    store.remove(receipts[2])
    assert ids(store) == [receipts[1].id, receipts[3].id] == in_files(store)


def test_folders_that_were_copied_moved_and_removed_by_hand(tmp_path, fakes, monkeypatch):
    monkeypatch.setattr(index_module, "_FEWEST", 0)
    monkeypatch.setattr(index_module, "_RACY", -(10**12))
    store, other = ResultsStore(tmp_path / "one"), ResultsStore(tmp_path / "two")
    written(store, fakes, [("m", "a"), ("n", "a"), ("m", "b")])
    written(other, fakes, [("m", "a"), ("n", "c")])
    assert len(ids(store)) == 3
    subprocess.run(["cp", "-a", f"{other.folder}/.", store.folder], check=True)  # keeps times
    assert ids(store) == in_files(store)
    assert len(in_files(store)) == 5
    shutil.rmtree(store.folder / "b")
    (store.folder / "a" / "n").rename(store.folder / "a" / "o")
    assert ids(store) == in_files(store)
    assert len(in_files(store)) == 4
    store.folder.rename(tmp_path / "elsewhere")
    assert len(ids(ResultsStore(tmp_path / "elsewhere"))) == 4


def test_a_folder_that_was_just_changed_is_read_again(tmp_path, fakes, monkeypatch, opened):
    """Its next change may have the same time of modification."""
    monkeypatch.setattr(index_module, "_FEWEST", 0)
    store = ResultsStore(tmp_path)
    written(store, fakes, [("m", "a")])
    assert len(ids(store)) == 1
    state = os.stat(tmp_path / "a" / "m")
    written(store, fakes, [("m", "a")])
    os.utime(tmp_path / "a" / "m", ns=(state.st_atime_ns, state.st_mtime_ns))
    opened.clear()
    assert ids(store) == in_files(store)


@pytest.mark.parametrize("damage", [b"", b"no archive", None])
def test_a_damaged_index_is_made_again(store, fakes, damage):
    backend = store._backend
    written(store, fakes, [("m", "a"), ("n", "b")])
    expected = ids(store)
    with backend.open_index(index_module.INDEX) as file:
        whole = file.read()
    backend.write_index(index_module.INDEX, memoryview(whole[:-400] if damage is None else damage))
    assert ids(store) == expected
    assert ids(store) == expected
    half = bytearray(whole)
    half[len(half) // 3] ^= 255
    backend.write_index(index_module.INDEX, memoryview(bytes(half)))
    assert ids(store) == expected


@pytest.mark.parametrize(
    "change",
    [
        {"model": np.zeros(2)},
        {"model": np.full(2, 999, np.int32)},
        {"folder": np.full(2, -1, np.int32)},
        {"score": np.zeros(3)},
        {"folders": np.zeros(4, np.int64)},
    ],
)
def test_an_index_with_other_content_is_made_again(store, fakes, change):
    backend = store._backend
    written(store, fakes, [("m", "a"), ("n", "b")])
    expected = ids(store)
    with backend.open_index(index_module.INDEX) as file:
        arrays = dict(np.load(io.BytesIO(file.read())))
    changed = io.BytesIO()
    np.savez(changed, **(arrays | change))
    backend.write_index(index_module.INDEX, changed.getbuffer())
    assert ids(store) == expected


def test_unreadable_receipts_are_reported_every_time(tmp_path, fakes, monkeypatch):
    monkeypatch.setattr(index_module, "_FEWEST", 0)
    monkeypatch.setattr(index_module, "_RACY", -(10**12))
    store = ResultsStore(tmp_path)
    written(store, fakes, [("m", "a")])
    (tmp_path / "a" / "m" / "20260101T000000000000Z-0123456789ab.json").write_text("{")
    for _ in range(2):
        assert [problem.path[-7:] for problem in store.table().problems] == ["ab.json"]
        assert len(store.table()) == 1


def test_a_store_that_cannot_be_written_is_listed(tmp_path, fakes, monkeypatch):
    def refuse(*_, **__):
        raise PermissionError("read-only")

    monkeypatch.setattr(index_module, "_FEWEST", 0)
    store = ResultsStore(tmp_path)
    written(store, fakes, [("m", "a")])
    monkeypatch.setattr("brainscore_core.results.folder.replacing", refuse)
    monkeypatch.setattr("brainscore_core.results.folder._now", refuse)
    assert len(ids(store)) == 1
    assert not (tmp_path / index_module.INDEX).exists()


def test_small_stores_have_no_index(tmp_path, fakes):
    store = ResultsStore(tmp_path)
    written(store, fakes, [("m", "a")])
    assert len(ids(store)) == 1
    assert not (tmp_path / index_module.INDEX).exists()


LIST_ON_AND_ON = """
import sys
from brainscore_core.results import index
from brainscore_core.scoring import ResultsStore
index._FEWEST = -1
print("ready", flush=True)
while True:
    ResultsStore(sys.argv[1]).table()
"""


@pytest.mark.slow(reason="starts processes and kills them")
def test_listers_that_are_killed_and_writers_at_the_same_time(tmp_path, fakes):
    """The index is whole whenever a process that replaces it is killed, and agrees with the files."""
    store = ResultsStore(tmp_path)
    written(store, fakes, [("m", f"b{number}") for number in range(20)])
    for round_ in range(3):
        listers = [
            subprocess.Popen([sys.executable, "-c", LIST_ON_AND_ON, str(tmp_path)], stdout=subprocess.PIPE)
            for _ in range(2)
        ]
        for lister in listers:
            assert lister.stdout.readline() == b"ready\n"
        written(store, fakes, [(f"n{round_}", f"b{number}") for number in range(10)])
        time.sleep(0.05 * round_)
        for lister in listers:
            lister.send_signal(signal.SIGKILL)
            lister.wait()
            lister.stdout.close()
        assert ids(store) == in_files(store)
    assert (tmp_path / index_module.INDEX).is_file()
