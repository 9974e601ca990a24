"""What a store does wherever it is."""

import multiprocessing
import pickle
import time
import uuid
from pathlib import Path

import numpy as np
import pytest
import xarray as xr
from hypothesis import given
from hypothesis import strategies as st

from brainscore_core.errors import UserError
from brainscore_core.identifiers import from_folder_name, to_folder_name
from brainscore_core.results.store import Arrays
from brainscore_core.scoring import ReceiptError, ResultsStore, default_results_address


def arrays(fakes):
    return {kind: Arrays(fakes.assembly([[1.0, 2.0]])) for kind in ("raw", "predictions")}


IDENTIFIERS = [
    "a/b",
    "..",
    ".",
    "...",
    ".hidden",
    "a\\b",
    "übermodell 模型",
    "con",
    "NUL.txt",
    "a:b|c?*",
    "%2F",
    "a%",
    "a+b=c,d@e",
]


def test_any_identifier_is_stored_and_found(fakes, address):
    store = ResultsStore(address)
    written = {identifier: store.write(fakes.receipt(identifier, identifier)) for identifier in IDENTIFIERS}
    assert set(store.pairs()) == {(identifier, identifier) for identifier in IDENTIFIERS}
    for identifier, receipt in written.items():
        assert store.latest(identifier, identifier) == receipt
        assert store.address_of(receipt).startswith(f"{address}/")
        inside = store.address_of(receipt).removeprefix(f"{address}/")
        assert inside.split("/")[:2] == [to_folder_name(identifier)] * 2
        assert store.address_of_pair(identifier, identifier) == store.address_of(receipt).rpartition("/")[0]


@given(st.text(min_size=1, max_size=20))
def test_folder_names_are_reversible_and_safe(identifier):
    name = to_folder_name(identifier)
    assert from_folder_name(name) == identifier
    assert name.isascii()
    assert name.isprintable()
    assert not set(name) & set('/\\:*?"<>| ')
    assert not name.startswith(".")
    assert not name.endswith(".")


@pytest.mark.parametrize("identifier", ["", "x" * 300, "\udcff"])
def test_impossible_identifiers_are_refused(address, identifier):
    with pytest.raises(UserError):
        ResultsStore(address).address_of_pair(identifier, "benchmark")
    with pytest.raises(UserError):
        ResultsStore(address).claim("model", identifier)


def test_latest_and_load(fakes, address):
    store = ResultsStore(address)
    assert store.latest("model", "benchmark") is None
    first = store.write(fakes.receipt(value=0.1))
    second = store.write(fakes.receipt(value=0.2))
    other = store.write(fakes.receipt(model="other"))
    elsewhere = store.write(fakes.receipt(benchmark="benchmark2"))
    assert first.id < second.id
    assert store.latest("model", "benchmark") == second
    assert store.load(first.id) == first
    assert store.load(other.id[:23]) == other
    assert [r.id for r in store] == [first.id, second.id, other.id, elsewhere.id]
    assert store.listing(model="other").receipts == (other,)
    assert store.listing(benchmark="benchmark2").receipts == (elsewhere,)
    assert store.listing(model="model", benchmark="benchmark").receipts == (first, second)
    assert store.listing(model="model", benchmark="none").receipts == ()
    assert store.listing().newest_of_each() == (second, other, elsewhere)
    with pytest.raises(UserError, match="4 receipts begin with"):
        store.load(first.id[:8])
    for wrong in ("20000101T000000000000Z-000000000000", "*", "../x", ""):
        with pytest.raises(UserError, match="brainscore results ls --results "):
            store.load(wrong)


def test_attachments(fakes, address):
    store = ResultsStore(address)
    written = store.write(fakes.receipt(), {**arrays(fakes), "log": "one\ntwo\n"})
    assert [(item.kind, item.name.partition(".")[2]) for item in written.attachments] == [
        ("log", "log"), ("predictions", "predictions.nc"), ("raw", "raw.nc"),
    ]  # fmt: skip
    again = ResultsStore(address).latest("model", "benchmark")
    assert again == written
    np.testing.assert_array_equal(store.open_attachment(again, "raw").values, [[1.0, 2.0]])
    assert store.read_log(again) == "one\ntwo\n"
    path = store.attachment_path(again, "predictions")
    assert path.stat().st_size == written.attachments[1].bytes
    with pytest.raises(UserError, match="it has: log, predictions, raw"):
        store.attachment_path(again, "weights")


def test_remove(fakes, address):
    store = ResultsStore(address)
    kept = store.write(fakes.receipt(), {**arrays(fakes), "log": f"printed {uuid.uuid4()}"})
    gone = store.write(fakes.receipt(), arrays(fakes))
    store.remove(gone)
    assert store.listing().receipts == (kept,)
    assert list(store.open_attachment(kept, "raw").shape) == [1, 2]
    with pytest.raises(UserError, match=f"no receipt {gone.id}"):
        store.remove(gone)
    store.remove(kept)
    assert store.listing().receipts == ()
    assert list(store.pairs()) == []
    with pytest.raises(ReceiptError, match=f"{kept.id}.log is missing"):
        store.read_log(kept)


def test_an_array_that_netcdf_cannot_hold_is_left_out(fakes, address):
    bad = Arrays(xr.DataArray(np.array([object()], dtype=object), dims=["neuroid"]))
    store = ResultsStore(address)
    written = store.write(fakes.receipt(), {"raw": bad, "log": "one\n"})
    assert [item.kind for item in written.attachments] == ["log"]
    assert written.notes[0].startswith("raw was not stored: ")
    assert store.latest("model", "benchmark") == written


def test_identifiers_that_share_a_folder_stay_apart(fakes, address, monkeypatch):
    # as on a file system that takes upper and lower case for the same
    monkeypatch.setattr("brainscore_core.results.store.to_folder_name", lambda name: to_folder_name(name).lower())
    store = ResultsStore(address)
    upper, lower = store.write(fakes.receipt("Model")), store.write(fakes.receipt("model"))
    assert store.latest("Model", "benchmark") == upper
    assert store.listing(model="model").receipts == (lower,)


def test_a_store_goes_to_other_processes(fakes, address, monkeypatch, tmp_path):
    written = ResultsStore(address).write(fakes.receipt())
    store = ResultsStore(address)
    assert store.address == address
    assert address in repr(store)
    (tmp_path / "elsewhere").mkdir()
    if not address.startswith("s3:"):
        monkeypatch.chdir(tmp_path)
        store = ResultsStore(Path(address).relative_to(tmp_path))
        assert str(store.folder) == "results"
    sent = pickle.dumps(store)
    monkeypatch.chdir(tmp_path / "elsewhere")
    assert pickle.loads(sent).latest("model", "benchmark") == written


def test_a_store_that_is_not_there_is_empty(address):
    store = ResultsStore(f"{address}/not/there")
    assert store.listing().receipts == ()
    assert list(store.pairs()) == []
    assert store.claims() == ()


def test_the_default_address(monkeypatch, tmp_path):
    monkeypatch.setenv("BRAINSCORE_HOME", str(tmp_path / "home"))
    monkeypatch.delenv("BRAINSCORE_RESULTS", raising=False)
    assert default_results_address() == str(tmp_path / "home" / "results")
    monkeypatch.setenv("BRAINSCORE_RESULTS", str(tmp_path / "mine"))
    assert ResultsStore().folder == tmp_path / "mine"
    assert not (tmp_path / "mine").exists()
    assert ResultsStore().listing().receipts == ()
    monkeypatch.setenv("BRAINSCORE_RESULTS", "s3://lab/results/")
    assert default_results_address() == "s3://lab/results/"
    assert ResultsStore().address == "s3://lab/results"


@pytest.mark.parametrize(
    "given", ["s3://lab/results", "s3://lab/results/", "s3:/lab/results", Path("s3://lab/results")]
)
def test_an_address_in_a_bucket(given):
    store = ResultsStore(given)
    assert store.address == "s3://lab/results"
    assert store.address_of_pair("model", "benchmark") == "s3://lab/results/benchmark/model"
    with pytest.raises(UserError, match="is not a folder"):
        _ = store.folder


@pytest.mark.parametrize(
    ("wrong", "message"), [("https://lab/results", "cannot be stored at"), ("s3://", "does not name a bucket")]
)
def test_what_is_no_address(wrong, message):
    with pytest.raises(UserError, match=message):
        ResultsStore(wrong)


def write_some(address, make, start, values):
    start.wait(20)
    for value in values:
        ResultsStore(address).write(make(value=value))


@pytest.mark.slow(reason="starts processes")
def test_two_processes_write_the_same_pair_at_once(fakes, address):
    context = multiprocessing.get_context("fork")
    start = context.Event()
    # the same content in the same microsecond would be the same receipt
    each = 10 if address.startswith("s3:") else 40
    shares = (range(each), range(each, 2 * each))
    writers = [
        context.Process(target=write_some, args=(address, fakes.receipt, start, share), daemon=True) for share in shares
    ]
    for writer in writers:
        writer.start()
    start.set()
    store = ResultsStore(address)
    seen = 0
    while any(writer.is_alive() for writer in writers):
        listing = store.listing()
        assert listing.problems == ()
        assert len(listing.receipts) >= seen
        seen = len(listing.receipts)
    for writer in writers:
        writer.join(20)
        assert writer.exitcode == 0
    assert {found.score.value for found in store.listing().receipts} == set(range(2 * each))


def write_on_and_on(address, make, array, ready):
    store = ResultsStore(address)
    assert store.claim("model", "benchmark", owner="the killed one")
    store.write(make(), {"raw": array, "predictions": array})
    ready.set()
    while True:
        store.write(make(), {"raw": array, "predictions": array, "log": "printed"})


@pytest.mark.slow(reason="starts processes and kills them")
def test_a_killed_writer_leaves_only_whole_receipts_and_no_claim_that_blocks(fakes, fork, address):
    store = ResultsStore(address)
    array = Arrays(fakes.assembly(np.random.default_rng(0).random((50, 20))))
    rounds = 1 if address.startswith("s3:") else 3
    for number in range(rounds):
        ready = multiprocessing.get_context("fork").Event()
        writer = fork(write_on_and_on, address, fakes.receipt, array, ready)
        assert ready.wait(60)
        assert [claim.owner for claim in store.claims()] == ["the killed one"]
        assert store.claim("model", "benchmark", owner="a living one") is None
        time.sleep(0.1 + 0.037 * number)
        writer.kill()
        writer.join(20)
        assert store.claims() == ()
    listing = store.listing()
    assert listing.problems == ()
    assert len(listing.receipts) >= rounds
    for found in listing.receipts:
        assert {attachment.kind for attachment in found.attachments} >= {"raw", "predictions"}
        for attachment in found.attachments:
            assert store.attachment_path(found, attachment.kind).is_file()
    with store.claim("model", "benchmark", owner="a living one"):
        assert [claim.owner for claim in store.claims()] == ["a living one"]


def test_a_scan_reads_what_is_not_known(fakes, address, monkeypatch):
    store = ResultsStore(address)
    written = [store.write(fakes.receipt(f"model-{number}")) for number in range(4)]
    read = []
    original = type(store._backend).read
    monkeypatch.setattr(type(store._backend), "read", lambda self, names: original(self, read.extend(names) or names))
    scan = store.scan({one.id for one in written[:3]})
    assert (scan.known, scan.unread) == (3, 1)
    assert list(scan.found) == written[3:]
    assert [name.rpartition("/")[2] for name in read] == [f"{written[3].id}.json"]
    assert {one.id for one in store.scan().found} == {one.id for one in written}


def test_a_scan_tells_what_is_no_receipt(fakes, tmp_path):
    store = ResultsStore(tmp_path)
    written = store.write(fakes.receipt("model"))
    store.path_of(written).write_text("{")
    (problem,) = store.scan().found
    assert "not valid JSON" in problem.message


def test_a_file_is_not_a_folder_of_receipts(tmp_path):
    (tmp_path / "receipt.json").touch()
    with pytest.raises(UserError, match=r"receipt\.json is a file, not a folder of receipts"):
        ResultsStore(tmp_path / "receipt.json")
