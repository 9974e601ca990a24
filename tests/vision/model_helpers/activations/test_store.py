"""Layers are written whole, read as maps, and checked."""

import json
import os
import time

import numpy as np
import pytest

from brainscore_core.activation_store import (
    ActivationStore,
    layer_key,
)
from brainscore_core.errors import UserError
from brainscore_core.files import STALE

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


def test_round_trip(store):
    key = put(store, info={"model": "alexnet"})
    layer = store.get(key)
    assert np.array_equal(layer.array, np.arange(12).reshape(4, 3))
    assert (layer.key, layer.array.shape, layer.array.dtype) == (key, (4, 3), np.float32)
    assert (layer.manifest.parts, layer.info) == (PARTS, {"model": "alexnet"})
    assert isinstance(layer.array, np.memmap)
    with pytest.raises(ValueError, match="read-only"):
        layer.array[0] = 1
    assert np.array_equal(np.load(store.folder / layer.manifest.file), layer.array)  # an ordinary .npy file


def test_nothing_stored(store):
    assert store.get(layer_key(PARTS)) is None
    assert store.entries() == store.leftovers() == store.verify() == store.trim() == []
    assert store.nbytes() == 0
    assert not store.folder.exists()


@pytest.mark.parametrize("dtype", ["float16", "float32", "float64", "int8", "uint8", "int64", "bool", ">f4"])
def test_types(store, dtype):
    values = np.array([[0, 1], [1, 0], [1, 1]]).astype(dtype)
    key = put(store, values, dtype)
    assert store.get(key).array.dtype == np.dtype(dtype).newbyteorder("=")
    assert np.array_equal(store.get(key).array, values)


@pytest.mark.parametrize("shape", [(5,), (5, 2), (5, 2, 3), (0, 4), (4, 0), (1, 1)])
def test_shapes(store, shape):
    values = np.random.default_rng(0).standard_normal(shape).astype(np.float32)
    key = put(store, values)
    assert store.get(key).array.shape == shape
    assert np.array_equal(store.get(key).array, values)
    assert [item.state for item in store.verify()] == ["good"]


def test_rows_in_any_order(store):
    values = np.random.default_rng(0).standard_normal((10, 3)).astype(np.float32)
    key = layer_key(PARTS)
    with store.writer(key, shape=(10, 3), parts=PARTS) as writer:
        writer[7:10] = values[7:]
        writer[[5, 1, 2]] = values[[5, 1, 2]]
        writer[0] = values[0]
        writer[-4] = values[6:7]
        writer[[]] = values[:0]
        writer[3:5] = np.asfortranarray(values[3:5])
        assert writer.stored is None
        assert store.get(key) is None
        assert [part.nbytes for part in store.leftovers()] == [writer.nbytes]
    assert np.array_equal(writer.stored.array, values)
    assert np.array_equal(store.get(key).array, values)
    in_order = put(store, values, layer="another")
    assert store.get(in_order).manifest.checksum == store.get(key).manifest.checksum


def test_after_an_error_nothing_is_left(store):
    key = layer_key(PARTS)

    def fail():
        with store.writer(key, shape=(4, 3), parts=PARTS) as writer:
            writer[:] = np.ones((4, 3))
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        fail()
    assert files(store) == []
    assert store.get(key) is None


def test_missing_rows_are_refused(store):
    with (
        pytest.raises(ValueError, match="2 of 4 rows were not written, row 1 first"),
        store.writer(layer_key(PARTS), shape=(4, 3), parts=PARTS) as writer,
    ):
        writer[[0, 3]] = np.ones((2, 3))
    assert files(store) == []


@pytest.mark.parametrize(
    ("rows", "values", "error", "message"),
    [
        ([1, 1], np.ones((2, 3)), ValueError, "twice"),
        (slice(0, 2), np.ones((2, 3)), ValueError, "row 0 of .* twice"),
        (slice(1, 3), np.ones((3, 3)), ValueError, r"shape \(3, 3\) do not fit rows of shape \(2, 3\)"),
        (slice(1, 3), np.ones(3), ValueError, "do not fit"),
        (7, np.ones(3), IndexError, "7"),
        (1, np.ones(3, complex), TypeError, "same_kind"),
        (1, np.full(3, 1e300), UserError, "too large for float32\nstore them as"),
    ],
)
def test_rows_that_cannot_be(store, rows, values, error, message):
    with store.writer(layer_key(PARTS), shape=(4, 3), parts=PARTS) as writer:
        writer[0] = np.ones(3)
        with pytest.raises(error, match=message):
            writer[rows] = values
        writer[1:] = np.zeros((3, 3))  # the writer goes on
    assert store.get(layer_key(PARTS)).array.sum() == 3


def test_infinities_are_kept(store):
    values = np.array([[np.inf, -np.inf, np.nan]])
    assert np.array_equal(store.get(put(store, values)).array, values, equal_nan=True)


@pytest.mark.parametrize(
    ("changed", "message"),
    [
        ({"key": "conv1"}, "'conv1' is not a key"),
        ({"shape": ()}, "cannot have shape"),
        ({"shape": (2, -1)}, "cannot have shape"),
        ({"dtype": object}, "cannot have dtype object"),
        ({"dtype": "U3"}, "cannot have dtype"),
        ({"parts": {**PARTS, "layer": "conv2"}}, "not the key of these parts"),
    ],
)
def test_layers_that_cannot_be(store, changed, message):
    arguments = {"key": layer_key(PARTS), "shape": (4, 3), "dtype": "float32", "parts": PARTS, **changed}
    with pytest.raises(ValueError, match=message):
        store.writer(arguments.pop("key"), **arguments)
    with pytest.raises(ValueError, match="not a key"):
        store.get("../../etc/passwd")
    with pytest.raises(ValueError, match="not a key"):
        store.remove(["*"])


def test_a_writer_writes_once(store):
    writer = store.writer(layer_key(PARTS), shape=(1,), parts=PARTS)
    with pytest.raises(ValueError, match="inside"):
        writer[0] = 1
    with writer:
        writer[0] = 1
    with pytest.raises(ValueError, match="once"):
        writer.__enter__()


# replaced, damaged, removed


def test_the_later_layer_stays(store):
    first = store.get(put(store, np.zeros((4, 3))))
    key = put(store, np.ones((4, 3)))
    assert store.get(key).array.min() == 1
    assert first.array.max() == 0
    assert len(files(store)) == 2


def test_two_writers_at_once(store):
    key = layer_key(PARTS)
    with store.writer(key, shape=(1, 2), parts=PARTS) as one, store.writer(key, shape=(1, 2), parts=PARTS) as other:
        one[:] = [[1, 1]]
        other[:] = [[2, 2]]
    assert store.get(key).array.tolist() == [[1, 1]]  # left last
    assert other.stored.array.tolist() == [[2, 2]]
    assert len(files(store)) == 2


def damage(store, how):
    entry = store.entries()[0]
    manifest = store.folder / f"{entry.key}.json"
    content = json.loads(manifest.read_text())
    if how == "truncated":
        os.truncate(entry.path, entry.nbytes - 4)
    elif how == "longer":
        with entry.path.open("ab") as stream:
            stream.write(b"1234")
    elif how == "missing":
        entry.path.unlink()
    elif how == "header":
        with entry.path.open("r+b") as stream:
            stream.write(b"nonsense")
    elif how == "another shape":
        content["shape"] = [3, 4]
    elif how == "another type":
        content["dtype"] = "|O"
    elif how == "another file":
        content["file"] = "../../secret.npy"
    elif how == "another key":
        content["key"] = "0" * 64
    elif how == "another version":
        content["version"] = 0
    if how in ("another shape", "another type", "another file", "another key", "another version"):
        manifest.write_text(json.dumps(content))
    if how == "manifest":
        manifest.write_text(manifest.read_text()[:100])
    return entry.key


@pytest.mark.parametrize(
    "how",
    [
        "truncated",
        "longer",
        "missing",
        "header",
        "manifest",
        "another shape",
        "another type",
        "another file",
        "another key",
        "another version",
    ],
)
def test_what_is_damaged_is_not_read(store, how, caplog):
    put(store)
    key = damage(store, how)
    assert store.get(key) is None
    assert "are not used" in caplog.text
    assert put(store) == key  # written again
    assert np.array_equal(store.get(key).array, np.arange(12).reshape(4, 3))
    assert [item.state for item in store.verify()] == ["good"]


@pytest.mark.parametrize("how", ["truncated", "longer", "missing", "header", "another shape"])
def test_verify_says_what_is_damaged(store, how):
    put(store)
    damage(store, how)
    (checked,) = store.verify()
    assert checked.state == "wrong"
    assert checked.found


@pytest.mark.parametrize("how", ["manifest", "another version"])
def test_a_manifest_that_cannot_be_read_is_never_swept(store, how):
    """It may be of a later version; the limit still counts it, and drops it when its turn comes."""
    put(store)
    key = damage(store, how)
    for path in store.folder.iterdir():
        os.utime(path, (time.time() - 2 * STALE,) * 2)
    assert store.trim() == store.entries() == []
    assert sorted(file.path.name for file in store.leftovers()) == files(store)
    assert sum(file.nbytes for file in store.leftovers()) == store.nbytes()
    assert ActivationStore(store.folder, max_bytes=10).trim() == [key]
    assert files(store) == []


def test_verify_reads_every_value(store):
    good = put(store)
    bad = put(store, layer="conv2")
    entry = next(entry for entry in store.entries() if entry.key == bad)
    content = bytearray(entry.path.read_bytes())
    content[-1] ^= 1
    entry.path.write_bytes(content)
    assert store.get(bad) is not None  # size and header are as they were
    assert {item.entry.key: item.state for item in store.verify()} == {good: "good", bad: "wrong"}
    assert [item.state for item in store.verify([good])] == ["good"]


def test_removed_while_it_is_read(store):
    key = put(store)
    layer = store.get(key)
    store.remove([key, "0" * 64])
    assert files(store) == []
    assert store.get(key) is None
    assert np.array_equal(layer.array, np.arange(12).reshape(4, 3))


def test_entries(store):
    put(store, layer="conv1", info={"model": "alexnet", "stimulus_set": "Faces2026"})
    put(store, layer="conv2")
    os.utime(store.folder / f"{layer_key(PARTS)}.json", (1, 1))
    (store.folder / "notes.txt").write_text("mine")
    (store.folder / "other.json").write_text("mine")
    later, earlier = store.entries()
    assert [earlier.named(name) for name in ("model", "layer", "stimulus_set")] == ["alexnet", "conv1", "Faces2026"]
    assert [later.named(name) for name in ("model", "layer", "stimulus_set")] == ["", "conv2", ""]
    assert later.used - earlier.used > 1e6
    assert earlier.nbytes == earlier.path.stat().st_size
    assert abs(earlier.manifest.created - time.time()) < 60
