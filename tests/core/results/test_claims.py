"""Of many who claim a pair, one gets it, until it is released, or left."""

import json
import multiprocessing
import os
import subprocess
import sys
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from brainscore_core.results import claims as claims_module
from brainscore_core.results import claims as process_module
from brainscore_core.results import folder as folder_module
from brainscore_core.results.claims import has_ended, parsed, this_process
from brainscore_core.scoring import CLAIM_SECONDS, ClaimInfo, ResultsStore, StoreError

PAIR = ("model", "benchmark")


@pytest.fixture
def run_out(monkeypatch):
    """``run_out()`` makes every claim one that was not renewed in time; ``run_out(False)`` ends that."""

    def switch(on=True):
        monkeypatch.setattr(claims_module, "CLAIM_SECONDS", -1.0 if on else CLAIM_SECONDS)

    return switch


@pytest.fixture
def elsewhere(monkeypatch):
    """Claims are made as if on another machine, whose processes cannot be seen."""
    there = {"host": "other", "machine": "other", "pid": 1, "started": None}
    monkeypatch.setattr(claims_module, "this_process", lambda: there)


def test_one_at_a_time(address):
    store = ResultsStore(address)
    first = store.claim(*PAIR, owner="first")
    assert (first.model, first.benchmark) == PAIR
    assert "first" in repr(first)
    assert store.claim(*PAIR, owner="second") is None
    assert ResultsStore(address).claim(*PAIR, owner="third") is None
    assert store.owner(*PAIR) == "first"
    assert store.owner("model", "lab/benchmark 2") == ""
    other = store.claim("model", "lab/benchmark 2", owner="second")
    claims = store.claims()
    assert [(claim.benchmark, claim.owner) for claim in claims] == [
        ("benchmark", "first"),
        ("lab/benchmark 2", "second"),
    ]
    assert isinstance(claims[0], ClaimInfo)
    assert claims[0].pid == claims_module.this_process()["pid"]
    assert claims[0].since <= claims[0].renewed
    first.release()
    first.release()
    assert not first.renew()
    assert not first.lost
    again = store.claim(*PAIR, owner="second")
    assert again.renew()
    assert again.renew()
    again.release()
    other.release()
    assert store.claims() == ()
    assert store.listing().receipts == ()
    assert store.listing().problems == ()


def test_a_claim_that_ran_out_is_taken_over(address, run_out, elsewhere):
    store = ResultsStore(address)
    first = store.claim(*PAIR, owner="first")
    run_out()
    assert store.claims() == ()
    assert store.owner(*PAIR) == ""
    second = store.claim(*PAIR, owner="second")
    run_out(False)
    assert [claim.owner for claim in store.claims()] == ["second"]
    assert not first.renew()
    assert first.lost
    assert not first.renew()
    first.release()
    assert [claim.owner for claim in store.claims()] == ["second"]
    assert second.renew()
    assert store.claim(*PAIR) is None
    second.release()
    assert store.claims() == ()


def test_an_owner_that_is_late_may_still_be_the_owner(address, run_out, elsewhere):
    store = ResultsStore(address)
    claim = store.claim(*PAIR)
    run_out()
    assert claim.renew()
    run_out(False)
    assert store.claim(*PAIR) is None
    claim.release()


def grow_old(address, seconds):
    """All claims were last renewed so many seconds ago."""
    if not address.startswith("s3:"):
        for path in Path(address).rglob(".claim*"):
            os.utime(path, (time.time() - seconds,) * 2)
        return
    from moto.s3.models import s3_backends

    for key in s3_backends["123456789012"]["aws"].buckets["lab"].keys.values():
        if key.name.endswith(".claim.json"):
            key.last_modified = datetime.now(UTC).replace(tzinfo=None) - timedelta(seconds=seconds)


def test_a_claim_holds_for_the_promised_time(address, elsewhere):
    store = ResultsStore(address)
    assert store.claim(*PAIR, owner="killed")
    grow_old(address, CLAIM_SECONDS - 20)
    assert store.claim(*PAIR) is None
    assert len(store.claims()) == 1
    grow_old(address, CLAIM_SECONDS + 2)
    assert store.claims() == ()
    assert store.claim(*PAIR, owner="taker")
    assert store.claim(*PAIR) is None


def test_it_renews_itself(address, elsewhere, monkeypatch):
    monkeypatch.setattr(claims_module, "_RENEWALS", CLAIM_SECONDS / 0.05)
    store = ResultsStore(address)
    with store.claim(*PAIR, owner="long") as claim:
        grow_old(address, CLAIM_SECONDS + 2)
        end = time.monotonic() + 20
        while not store.claims() and time.monotonic() < end:
            time.sleep(0.02)
        assert not claim.lost
        assert store.claim(*PAIR, owner="other") is None
    assert store.claim(*PAIR, owner="other") is not None


def test_it_is_released_after_an_error(address):
    store = ResultsStore(address)
    with pytest.raises(ZeroDivisionError), store.claim(*PAIR):
        raise ZeroDivisionError
    assert store.claims() == ()


def test_a_store_that_is_away_at_the_end_loses_no_result(address, monkeypatch):
    def away(pair, content, mark):
        raise StoreError("away")

    claim = ResultsStore(address).claim(*PAIR)
    monkeypatch.setattr(claim._place, "release", away)
    with pytest.warns(UserWarning, match="it expires: away"), claim:
        pass


def test_the_store_may_be_away_for_a_while(address, monkeypatch):
    monkeypatch.setattr(claims_module, "_RENEWALS", CLAIM_SECONDS / 0.05)
    claim = ResultsStore(address).claim(*PAIR)
    renewed = threading.Event()
    answers = iter([StoreError("away"), OSError("away"), None])

    def renew(pair, content, mark):
        answer = next(answers, None)
        if answer is not None:
            raise answer
        renewed.set()
        return mark

    monkeypatch.setattr(claim._place, "renew", renew)
    with claim:
        assert renewed.wait(20)
    assert not claim.lost


def test_of_two_takers_who_saw_the_same_one_is_first(address, run_out, elsewhere):
    place = ResultsStore(address)._backend.claims
    store = ResultsStore(address)
    store.claim(*PAIR, owner="dead")
    run_out()
    seen = place.get("benchmark/model")
    content = {**seen.content, "owner": "slow", "token": "slow"}
    quick = store.claim(*PAIR, owner="quick")
    run_out(False)
    assert place.take("benchmark/model", content, seen) is None
    assert [claim.owner for claim in store.claims()] == ["quick"]
    quick.release()
    assert place.take("benchmark/model", content, seen) is None or not address.startswith("s3:")
    for claim in store.claims():
        assert claim.owner == "slow"


def test_a_claim_that_was_just_renewed_is_not_taken(address, run_out, elsewhere):
    place = ResultsStore(address)._backend.claims
    claim = ResultsStore(address).claim(*PAIR, owner="late")
    run_out()
    seen = place.get("benchmark/model")
    run_out(False)
    assert claim.renew()
    assert place.take("benchmark/model", {**seen.content, "token": "taker"}, seen) is None
    assert claim.renew()


@pytest.fixture
def atomic_server(request, monkeypatch):
    """moto looks and writes in two steps; a real server does it in one."""
    if "bucket" in request.node.callspec.params.values():
        from moto.s3.responses import S3Response

        lock, put = threading.Lock(), S3Response.put_object

        def one_at_a_time(self):
            with lock:
                return put(self)

        monkeypatch.setattr(S3Response, "put_object", one_at_a_time)


def claim_all(address, pairs, number, go, wins):
    go.wait(20)
    store = ResultsStore(address)
    got = [pair for pair in range(pairs) if store.claim("model", f"benchmark{pair}", owner=str(number))]
    wins.put((number, got))
    go_on.wait(60)  # a process that ends gives its claims up


go_on = multiprocessing.get_context("fork").Event()


@pytest.mark.sampled(3)
@pytest.mark.parametrize("before", ["nothing", "a dead process", "one that ran out"])
def test_of_many_processes_exactly_one_gets_a_pair(address, atomic_server, before, monkeypatch):
    store, pairs = ResultsStore(address), 4 if address.startswith("s3:") else 12  # moto takes its time
    if before == "one that ran out":
        with monkeypatch.context() as patched:
            patched.setattr(claims_module, "this_process", lambda: {"host": "x", "machine": "x", "pid": 1})
            for pair in range(pairs):
                store.claim("model", f"benchmark{pair}", owner="old")
        grow_old(address, CLAIM_SECONDS + 2)
    elif before == "a dead process":
        child = multiprocessing.get_context("fork").Process(target=leave_claims, args=(address, pairs))
        child.start()
        child.join(20)
    context = multiprocessing.get_context("fork")
    go, wins = context.Event(), context.SimpleQueue()
    go_on.clear()
    processes = [
        context.Process(target=claim_all, args=(address, pairs, number, go, wins), daemon=True)
        for number in range(3 if address.startswith("s3:") else 6)
    ]
    for process in processes:
        process.start()
    go.set()
    won = [pair for _ in processes for pair in wins.get()[1]]
    go_on.set()
    for process in processes:
        process.join(20)
    assert sorted(won) == list(range(pairs))


def leave_claims(address, pairs):
    for pair in range(pairs):
        assert ResultsStore(address).claim("model", f"benchmark{pair}", owner="dead")
    os._exit(0)


def work(address, folder, turns, number, go):
    """Hold the claim again and again; nobody else may be inside meanwhile, and some die there."""
    go.wait(20)
    store, inside = ResultsStore(address), Path(folder) / "inside"
    end = time.monotonic() + 60
    for turn in range(turns):
        while (claim := store.claim(*PAIR, owner=str(number))) is None:
            if time.monotonic() > end:
                os._exit(3)
            time.sleep(0.05 if address.startswith("s3:") else 0.002)
        try:
            descriptor = os.open(inside, os.O_CREAT | os.O_EXCL)
        except FileExistsError:
            os._exit(4)
        os.close(descriptor)
        time.sleep(0.001)
        inside.unlink()
        if turn == turns - 1:
            os._exit(0)  # without a release
        claim.release()


@pytest.mark.slow(reason="starts processes")
def test_nobody_is_inside_together(address, atomic_server, tmp_path):
    context = multiprocessing.get_context("fork")
    go = context.Event()
    workers, turns = (3, 2) if address.startswith("s3:") else (5, 8)
    processes = [
        context.Process(target=work, args=(address, tmp_path, turns, number, go), daemon=True)
        for number in range(workers)
    ]
    for process in processes:
        process.start()
    go.set()
    deadline = time.monotonic() + 90
    while any(process.is_alive() for process in processes) and time.monotonic() < deadline:
        time.sleep(0.01)
    assert [process.exitcode for process in processes] == [0] * workers


def test_many_threads(address, atomic_server):
    def claim(number):
        return ResultsStore(address).claim(*PAIR, owner=str(number))

    with ThreadPoolExecutor(8) as pool:
        assert sum(found is not None for found in pool.map(claim, range(24))) == 1


# in a folder


def test_a_clock_that_is_wrong_does_no_harm(tmp_path, elsewhere, monkeypatch):
    store = ResultsStore(tmp_path)
    claim = store.claim(*PAIR)
    now = time.time()
    for wrong in (-86_400, 86_400):
        monkeypatch.setattr(time, "time", lambda wrong=wrong: now + wrong)
        assert store.claim(*PAIR) is None
        assert claim.renew()
        assert len(store.claims()) == 1


def test_no_half_written_claim_is_ever_seen(tmp_path, monkeypatch):
    seen = []
    link = os.link

    def looking(source, target):
        seen.append(parsed(Path(source).read_bytes()))
        assert not Path(target).exists()
        link(source, target)
        seen.append(parsed(Path(target).read_bytes()))

    monkeypatch.setattr(folder_module.os, "link", looking)
    ResultsStore(tmp_path).claim(*PAIR, owner="me")
    assert [content["owner"] for content in seen] == ["me", "me"]
    assert [path.name for path in (tmp_path / "benchmark" / "model").iterdir()] == [".claim-1.json"]


def test_where_files_have_one_name_only(tmp_path, monkeypatch, run_out, elsewhere):
    def unsupported(source, target):
        raise OSError(95, "Operation not supported")

    monkeypatch.setattr(folder_module.os, "link", unsupported)
    test_one_at_a_time(str(tmp_path))
    test_a_claim_that_ran_out_is_taken_over(str(tmp_path), run_out, elsewhere)


def test_a_file_server_that_lost_its_answer(tmp_path, monkeypatch):
    link = os.link

    def asked_again(source, target):
        link(source, target)
        link(source, target)

    monkeypatch.setattr(folder_module.os, "link", asked_again)
    assert ResultsStore(tmp_path).claim(*PAIR) is not None


@pytest.mark.parametrize("content", [b"", b"{", b"[]", b'{"model": 3}', b"[" * 100_000])
def test_a_damaged_claim_holds_until_it_runs_out(tmp_path, content):
    store = ResultsStore(tmp_path)
    path = store.folder_of(*PAIR) / ".claim-7.json"
    path.parent.mkdir(parents=True)
    path.write_bytes(content)
    assert store.claim(*PAIR) is None
    assert store.claims() == ()
    os.utime(path, (0, 0))
    assert store.claim(*PAIR, owner="me") is not None
    assert [path.name for path in path.parent.iterdir()] == [".claim-8.json"]


def test_of_two_numbers_the_higher_counts(tmp_path, elsewhere):
    store = ResultsStore(tmp_path)
    store.claim(*PAIR, owner="old")
    path = store.folder_of(*PAIR) / ".claim-1.json"
    path.with_name(".claim-10.json").write_bytes(path.read_bytes().replace(b'"old"', b'"new"'))
    assert [claim.owner for claim in store.claims()] == ["new"]
    assert store.claim(*PAIR) is None


def test_who_may_only_read_sees_claims(tmp_path, monkeypatch):
    store = ResultsStore(tmp_path)
    store.claim(*PAIR, owner="me")

    def refuse(folder):
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(folder_module, "_now", refuse)
    assert [claim.owner for claim in store.claims()] == ["me"]
    with pytest.raises(StoreError, match="Permission denied"):
        store.claim(*PAIR)


# processes


def test_processes_that_ended_are_dead(monkeypatch):
    program = "from brainscore_core.results.claims import *; import json; print(json.dumps(this_process()))"
    child = subprocess.Popen([sys.executable, "-c", program], stdout=subprocess.PIPE)
    described = json.loads(child.stdout.readline())
    child.stdout.close()
    while Path(f"/proc/{child.pid}/stat").exists() and not has_ended(described):
        time.sleep(0.01)  # ended, but not waited for yet
    child.wait(20)
    assert has_ended(described)
    assert not has_ended(described | {"machine": "another"})
    assert not has_ended(described | {"pid": None})
    assert not has_ended({})
    assert not has_ended(this_process())


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux tells when a process started")
def test_a_number_that_was_used_again_is_another_process():
    assert has_ended({**this_process(), "started": "1"})


def test_a_process_of_somebody_else_lives():
    assert not has_ended({**this_process(), "pid": 1, "started": process_module._start_of(1)})
