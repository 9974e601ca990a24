"""``brainscore cache`` and stored activations."""

import hashlib
import json
import os
import time
from datetime import UTC, datetime

import numpy as np
import pytest
from click.testing import CliRunner

from brainscore.cli.cache import command
from brainscore_core.activation_store import ActivationStore, layer_key
from brainscore_core.errors import UserError


def run(*arguments, **options):
    return CliRunner().invoke(command, list(arguments), catch_exceptions=False, **options)


def listed(*arguments):
    return json.loads(run(*arguments, "--json").stdout)


@pytest.fixture
def store(tmp_path, monkeypatch):
    """Two layers of one model, one of another, and a fetched file."""
    monkeypatch.setenv("BRAINIO_HOME", str(tmp_path / "data"))
    monkeypatch.setenv("BRAINSCORE_ACTIVATIONS", str(tmp_path / "activations"))
    file = tmp_path / "data" / hashlib.sha1(b"rates").hexdigest() / "rates.nc"
    file.parent.mkdir(parents=True)
    file.write_bytes(b"rates")
    store = ActivationStore(tmp_path / "activations", max_bytes="1GB")
    for age, (model, layer) in enumerate([("alexnet", "conv1"), ("alexnet", "fc"), ("vgg-16", "conv1")]):
        parts = {"weights": model, "layer": layer}
        info = {"model": model, "stimulus_set": "Faces2026"}
        with store.writer(layer_key(parts), shape=(10, 100), parts=parts, info=info) as writer:
            writer[:] = np.ones((10, 100))
        os.utime(store.folder / f"{layer_key(parts)}.json", (10**9 - age,) * 2)
    return store


def key(model, layer):
    return layer_key({"weights": model, "layer": layer})


def left(store):
    return [(entry.named("model"), entry.named("layer")) for entry in store.entries()]


def test_list(store):
    result = listed("ls")
    assert [item["name"] for item in result["files"]] == ["rates.nc"]
    activations = result["activations"]
    assert activations["path"] == str(store.folder)
    assert [(item["model"], item["layer"]) for item in activations["layers"]] == left(store)
    first = activations["layers"][0]
    assert first["key"] == key("alexnet", "conv1")
    assert (first["kind"], first["stimulus_set"]) == ("layer", "Faces2026")
    assert datetime.fromisoformat(first["used"]) == datetime.fromtimestamp(10**9, UTC)
    assert os.path.getsize(first["path"]) == first["bytes"]
    assert activations["bytes"] == 3 * first["bytes"]


def test_kinds(store):
    assert set(listed("ls", "--kind", "activations")) == {"activations"}
    assert "activations" not in listed("ls", "--kind", "data")
    assert listed("path", "--kind", "activations") == {"path": str(store.folder)}
    assert run("ls", "--kind", "weights").exit_code == 2


def test_list_in_words(store):
    result = run("ls")
    assert result.stdout.split() == ["rates.nc", *(entry.key[:12] for entry in store.entries())]
    assert f"1 entry in {os.environ['BRAINIO_HOME']} and 3 entries in {store.folder}, 1" in result.stderr


@pytest.mark.parametrize(
    ("name", "count"),
    [
        ("alexnet", 2),
        ("alex*", 2),
        ("alexnet.fc", 1),
        ("*.conv1", 2),
        ("Faces2026", 3),
        (key("vgg-16", "conv1")[:8], 1),
        (key("vgg-16", "conv1").upper(), 1),
    ],
)
def test_names(store, name, count):
    result = listed("ls", name)
    assert (len(result["files"]), len(result["activations"]["layers"])) == (0, count)


def test_names_of_both_kinds(store):
    result = listed("ls", "*.nc", "alexnet.fc")
    assert (len(result["files"]), len(result["activations"]["layers"])) == (1, 1)
    with pytest.raises(UserError, match=r"no 'alexnett'\ndid you mean alexnet"):
        run("ls", "alexnett")
    with pytest.raises(UserError, match=r"the cache \S*data has no 'alexnet'"):
        run("ls", "alexnet", "--kind", "data")
    with pytest.raises(UserError, match=r"the cache \S*activations has no 'rates.nc'"):
        run("rm", "rates.nc", "--kind", "activations", "--yes")


def test_verify(store):
    assert listed("verify")["wrong"] == 0
    entry = store.entries()[1]
    content = bytearray(entry.path.read_bytes())
    content[-1] ^= 1
    entry.path.write_bytes(content)
    result = run("verify", "--json")
    assert result.exit_code == 1
    document = json.loads(result.stdout)
    assert document["wrong"] == 1
    assert [item["state"] for item in document["activations"]["layers"]] == ["good", "wrong", "good"]
    assert document["activations"]["layers"][1]["found"].startswith("sha256:")
    assert run("verify", "--kind", "data").exit_code == 0
    assert run("verify", "vgg-16").exit_code == 0
    worded = run("verify")
    assert worded.exit_code == 1
    assert entry.key[:12] in worded.stdout
    assert "1 wrong" in worded.stdout
    assert "cache rm KEY" in worded.stderr


def test_remove(store):
    removed = listed("rm", "alexnet", "--yes")
    assert [item["layer"] for item in removed["activations"]["removed"]] == ["conv1", "fc"]
    assert removed["removed"] == []
    assert left(store) == [("vgg-16", "conv1")]
    assert len(list(store.folder.iterdir())) == 2
    assert "Removed 1 entry from" in run("rm", "vgg-16", "--yes").stdout
    assert left(store) == []


def test_remove_asks(store):
    assert run("rm", "alexnet", input="n\n").exit_code == 1
    assert len(left(store)) == 3
    asked = run("rm", "alexnet", input="y\n")
    assert f"Remove 2 entries from {store.folder} (8.3 kB)?" in asked.stderr
    assert len(left(store)) == 1


def test_clear(store, tmp_path):
    (store.folder / "notes.txt").write_text("mine")
    assert run("clear", "--kind", "activations", "--yes").exit_code == 0
    assert [path.name for path in store.folder.iterdir()] == ["notes.txt"]
    assert len(listed("ls")["files"]) == 1
    assert run("clear", "--yes").exit_code == 0
    assert listed("ls")["files"] == []


def test_what_is_unfinished(store):
    old, new = store.folder / f".{'a' * 32}.part", store.folder / f".{'b' * 32}.part"
    orphan = store.folder / f"{'0' * 64}.{'c' * 32}.npy"
    for path in (old, new, orphan):
        path.write_bytes(b"half")
    for path in (old, orphan):
        os.utime(path, (time.time() - 3600,) * 2)
    layers = listed("ls")["activations"]["layers"]
    unfinished = [item["path"] for item in layers if item["kind"] == "unfinished"]
    assert sorted(unfinished) == sorted(map(str, (old, new, orphan)))
    states = [item["state"] for item in listed("verify")["activations"]["layers"]]
    assert sorted(states) == ["good"] * 3 + ["unknown"] * 3
    run("clear", "--yes")
    assert [path.name for path in store.folder.iterdir()] == [new.name]  # it may still be written
    run("rm", new.name, "--yes")
    assert list(store.folder.iterdir()) == []


def test_switched_off(store, monkeypatch):
    monkeypatch.setenv("BRAINSCORE_ACTIVATIONS", "off")
    assert listed("ls")["activations"] == {"path": None, "bytes": 0, "layers": []}
    assert len(listed("clear", "--yes")["removed"]) == 1
    with pytest.raises(UserError, match="activations are not stored\nBRAINSCORE_ACTIVATIONS is 'off'"):
        run("path", "--kind", "activations")
    assert len(left(store)) == 3
