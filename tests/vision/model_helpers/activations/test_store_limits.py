"""The store's limit, and what can go wrong."""

import errno
import os
import time

import numpy as np
import pytest

from brainscore_core.activation_store import (
    ActivationStore,
    default_store,
    layer_key,
)
from brainscore_core.errors import UserError
from brainscore_core.files import STALE
from brainscore_core.paths import activations_home

PARTS = {"weights": "1b2f", "stimuli": "90ac", "layer": "conv1"}


@pytest.fixture
def store(tmp_path):
    return ActivationStore(tmp_path / "activations", max_bytes="1GB")


def put(store, values=None, dtype="float32", info=None, **changed):
    values = np.arange(12.0).reshape(4, 3) if values is None else np.asarray(values)
    parts = {**PARTS, **changed}
    key = layer_key(parts)
    with store.writer(key, shape=values.shape, dtype=dtype, parts=parts, info=info) as writer:
        writer[:] = values
    return key


def files(store, pattern="*"):
    return sorted(path.name for path in store.folder.glob(pattern))


def test_what_was_used_least_recently_goes_first(store):
    keys = [put(store, layer=str(number)) for number in range(4)]
    for age, key in enumerate(reversed(keys)):
        os.utime(store.folder / f"{key}.json", (1000 - age, 1000 - age))
    opened = store.get(keys[0])  # the oldest, used again
    small = ActivationStore(store.folder, max_bytes=store.nbytes() * 6 // 10)
    assert small.trim() == keys[1:3]
    assert {entry.key for entry in store.entries()} == {keys[0], keys[3]}
    assert small.nbytes() <= small.max_bytes
    assert small.trim() == []
    assert opened.array.shape == (4, 3)


def test_the_limit_holds_while_writing(store):
    put(store)
    one = store.nbytes()
    small = ActivationStore(store.folder, max_bytes=3 * one)
    most = 0
    for number in range(6):
        parts = {**PARTS, "layer": str(number)}
        with small.writer(layer_key(parts), shape=(4, 3), parts=parts) as writer:
            most = max(most, small.nbytes())
            writer[:] = np.zeros((4, 3))
        assert small.get(layer_key(parts)) is not None
    assert most <= 3 * one
    assert len(small.entries()) >= 2


def test_what_is_being_written_stays(store):
    small = ActivationStore(store.folder, max_bytes=2 * 176 + 100)  # two layers' files, before their manifests
    parts = [{**PARTS, "layer": str(number)} for number in range(3)]
    with small.writer(layer_key(parts[0]), shape=(4, 3), parts=parts[0]) as first:
        with small.writer(layer_key(parts[1]), shape=(4, 3), parts=parts[1]) as second:
            with (
                pytest.raises(UserError, match=r"does not fit beside .* being written\nraise BRAINSCORE_ACTIVATIONS_L"),
                small.writer(layer_key(parts[2]), shape=(4, 3), parts=parts[2]),
            ):
                pass
            assert small.trim() == []
            second[:] = np.ones((4, 3))
        first[:] = np.zeros((4, 3))
    assert first.stored.array.max() == 0
    assert second.stored.array.min() == 1


def test_too_large_for_the_limit(store):
    key = put(store)
    small = ActivationStore(store.folder, max_bytes="10kB")
    assert small.room() == 10_000
    with pytest.raises(UserError, match=r"may take 10.0 kB: a layer of 40\.\d MB does not fit\nraise"):
        put(small, np.zeros((10, 1_000_001)))
    assert small.get(key) is not None


def test_limits(tmp_path, monkeypatch):
    store = ActivationStore(tmp_path / "not" / "there")
    monkeypatch.delenv("BRAINSCORE_ACTIVATIONS_LIMIT", raising=False)
    free = {"bytes": 1_000_000}
    monkeypatch.setattr(
        "brainscore_core.activation_store.disk_usage",
        lambda folder: type("Usage", (), {"free": free["bytes"]}),
    )
    assert store.max_bytes == 500_000
    put(store)
    free["bytes"] -= store.nbytes()
    assert store.max_bytes == 500_000  # does not shrink as the store grows
    monkeypatch.setenv("BRAINSCORE_ACTIVATIONS_LIMIT", "3MB")
    assert store.max_bytes == 3_000_000
    assert store.room() == 1_000_000
    assert ActivationStore(tmp_path, max_bytes=7).max_bytes == 7
    monkeypatch.setenv("BRAINSCORE_ACTIVATIONS_LIMIT", "much")
    with pytest.raises(UserError, match="BRAINSCORE_ACTIVATIONS_LIMIT: 'much' is not a size"):
        put(store, layer="another")


# what can go wrong


def test_disk_is_full_before(store, monkeypatch):
    monkeypatch.setattr("shutil.disk_usage", lambda folder: type("Usage", (), {"free": 100}))
    with pytest.raises(
        UserError, match=r"no space for activations in .*: 176 bytes needed, 100 bytes free\n.*cache rm"
    ):
        put(store)
    assert files(store) == []


@pytest.mark.parametrize("call", ["write", "fsync"])
def test_disk_is_full_meanwhile(store, monkeypatch, call):
    def full(*_):
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    key = layer_key(PARTS)

    def write():
        with store.writer(key, shape=(4, 3), parts=PARTS) as writer:
            if call == "write":
                monkeypatch.setattr(type(writer), "_write", full)
            else:
                monkeypatch.setattr(os, "fsync", full)
            writer[:] = np.ones((4, 3))

    with pytest.raises(UserError, match=r"no space for activations in .*No space left"):
        write()
    monkeypatch.undo()
    assert files(store) == []
    assert store.get(key) is None


def test_a_folder_that_cannot_be_written(tmp_path, monkeypatch):
    (tmp_path / "file").write_text("")
    with pytest.raises(UserError, match=r"cannot be written to .*file.*\nset BRAINSCORE_ACTIVATIONS"):
        put(ActivationStore(tmp_path / "file" / "folder", max_bytes=10_000))
    with pytest.raises(UserError, match=r"cannot read the activations in .*file"):
        ActivationStore(tmp_path / "file").entries()


@pytest.mark.skipif(not hasattr(os, "geteuid") or os.geteuid() == 0, reason="root may write everywhere")
def test_a_folder_that_may_not_be_written(store):
    key = put(store)
    store.folder.chmod(0o500)
    try:
        assert store.get(key) is not None
        with pytest.raises(UserError, match="cannot be written to"):
            put(store, layer="another")
        with pytest.raises(UserError, match="cannot remove"):
            store.remove([key])
    finally:
        store.folder.chmod(0o700)


def test_a_folder_that_may_not_be_written_simulated(store, monkeypatch):
    key = put(store)

    def refused(*_, **__):
        raise PermissionError(errno.EACCES, os.strerror(errno.EACCES))

    monkeypatch.setattr(os, "utime", refused)
    assert store.get(key) is not None
    monkeypatch.setattr("io.FileIO", refused)
    with pytest.raises(UserError, match=r"cannot be written to .*: Permission denied\nset BRAINSCORE_ACTIVATIONS"):
        put(store, layer="another")
    monkeypatch.setattr(type(store.folder), "unlink", refused)
    with pytest.raises(UserError, match=r"cannot remove activations from .*: Permission denied"):
        store.remove([key])
    assert ActivationStore(store.folder, max_bytes=1).trim() == []  # somebody else's stay


def test_removed_by_another_process_while_it_is_written(store):
    writer = store.writer(layer_key(PARTS), shape=(4, 3), parts=PARTS).__enter__()
    writer[:] = np.ones((4, 3))
    store.leftovers()[0].path.unlink()
    with pytest.raises(UserError, match="removed by another process"):
        writer.__exit__(None, None, None)
    assert files(store) == []


def test_what_nobody_finished_is_swept_when_it_is_old(store):
    key = put(store)
    old, new = (store.folder / f".{name * 32}.part" for name in "ab")
    orphan, recent = (store.folder / f"{key}.{name * 32}.npy" for name in "cd")
    for path in (old, new, orphan, recent, store.folder / "notes.npy"):
        path.write_bytes(b"half")
    for path in (old, orphan, store.folder / "notes.npy"):
        os.utime(path, (time.time() - 2 * STALE,) * 2)
    assert {file.path for file in store.leftovers()} == {old, new, orphan, recent}
    put(ActivationStore(store.folder, max_bytes="1GB"), layer="another")
    assert {file.path for file in store.leftovers()} == {new, recent}
    assert (store.folder / "notes.npy").exists()
    assert store.get(key) is not None


# which store


def test_where_activations_lie(monkeypatch, tmp_path):
    monkeypatch.delenv("BRAINSCORE_ACTIVATIONS", raising=False)
    monkeypatch.setenv("BRAINSCORE_HOME", str(tmp_path))
    assert activations_home() == tmp_path / "activations"
    monkeypatch.delenv("BRAINSCORE_HOME")
    monkeypatch.setenv("HOME", str(tmp_path))
    assert default_store().folder == tmp_path / ".brain-score" / "activations"
    monkeypatch.setenv("BRAINSCORE_ACTIVATIONS", str(tmp_path / "lab"))
    assert default_store().folder == tmp_path / "lab"
    for off in ("off", "OFF", "no", "0"):
        monkeypatch.setenv("BRAINSCORE_ACTIVATIONS", off)
        assert activations_home() is None
        assert default_store() is None
