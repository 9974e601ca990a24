import argparse
import collections
import hashlib
import http.server
import threading

import pytest
import torch

from brainscore_core import provenance
from brainscore_core.errors import DataUnavailable, UserError
from brainscore_core.supported_data_standards.brainio import downloads
from brainscore_core.supported_data_standards.brainio.fetch import HashMismatch, Offline
from brainscore_vision.model_helpers import weights
from brainscore_vision.model_helpers.weights import (
    WeightFile,
    load_state_dict,
    load_weights,
    read_checkpoint,
    state_dict_of,
)

CONTENT = b"weights"
SHA1 = hashlib.sha1(CONTENT, usedforsecurity=False).hexdigest()
SHA256 = hashlib.sha256(CONTENT).hexdigest()


@pytest.fixture(autouse=True)
def nothing_set(monkeypatch, tmp_path):
    for name in ("BRAINSCORE_WEIGHTS", "BRAINSCORE_MIRROR"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("BRAINIO_HOME", str(tmp_path / "cache"))


@pytest.fixture
def by_hand(monkeypatch, tmp_path):
    folder = tmp_path / "by hand"
    folder.mkdir()
    monkeypatch.setenv("BRAINSCORE_WEIGHTS", str(folder))
    return folder


@pytest.fixture
def mirror_of(monkeypatch, tmp_path):
    def put(host, path, content=CONTENT):
        file = tmp_path / "mirror" / host / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(content)
        monkeypatch.setenv("BRAINSCORE_MIRROR", str(tmp_path / "mirror"))
        return file

    return put


@pytest.fixture
def server():
    """A server that hands out `content` and counts how often it is asked."""

    class Handler(http.server.BaseHTTPRequestHandler):
        def do_GET(self):
            self.server.asked += 1
            self.send_response(200)
            self.send_header("Content-Length", str(len(self.server.content)))
            self.end_headers()
            self.wfile.write(self.server.content)

        def log_message(self, *args):
            pass

    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.content, server.asked = CONTENT, 0
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    yield server
    server.shutdown()
    server.server_close()


def in_bucket(**changes):
    return WeightFile(
        **{"name": "a.pth", "bucket": "storage", "key": "models/a.pth", "version_id": "null", "sha1": SHA1} | changes
    )


def test_file_placed_by_hand_is_verified(by_hand):
    (by_hand / "a.pth").write_bytes(CONTENT)
    assert in_bucket().path() == by_hand / "a.pth"
    assert WeightFile(name="a.pth", url="https://example.org/a.pth", sha256=SHA256).path() == by_hand / "a.pth"
    with pytest.raises(HashMismatch, match=r"a\.pth"):
        in_bucket(sha1="0" * 40).path()


def test_file_without_known_hash_is_named_in_the_receipt(by_hand):
    (by_hand / "own.pth").write_bytes(CONTENT)
    with provenance.recording() as record:
        assert WeightFile(name="own.pth").path() == by_hand / "own.pth"
    assert [item["sha256"] for item in record.items] == [SHA256]


def test_object_of_a_bucket_comes_from_a_mirror(mirror_of):
    file = mirror_of("storage.s3.amazonaws.com", "models/a.pth")
    assert in_bucket().path() == file


def test_file_of_a_url_comes_from_a_mirror(mirror_of):
    file = mirror_of("example.org", "releases/a.pth")
    for known in ({"sha1": SHA1}, {}):
        assert WeightFile(name="a.pth", url="https://example.org/releases/a.pth", **known).path() == file


def test_missing_file_says_what_from_where_and_where_to(monkeypatch, by_hand):
    def offline(*args, **options):
        raise Offline("the server does not answer")

    monkeypatch.setattr(weights, "load_file_from_s3", offline)
    monkeypatch.setattr(weights, "fetch", offline)
    with pytest.raises(DataUnavailable) as caught:
        in_bucket(remark="It is large.").path()
    text = str(caught.value)
    for part in (
        "'a.pth'",
        "https://storage.s3.amazonaws.com/models/a.pth",
        str(by_hand / "a.pth"),
        SHA1,
        "It is large.",
    ):
        assert part in text
    monkeypatch.delenv("BRAINSCORE_WEIGHTS")
    with pytest.raises(DataUnavailable, match=r"set BRAINSCORE_WEIGHTS to a folder that holds it as 'a\.pth'"):
        WeightFile(name="a.pth", url="https://example.org/a.pth", sha256=SHA256).path()


def test_first_download_without_a_hash_is_held_to(server, tmp_path):
    url = f"http://127.0.0.1:{server.server_port}/releases/a.pth"
    file = WeightFile(name="a.pth", url=url)
    path = file.path()
    assert path.read_bytes() == CONTENT
    assert file.path() == path
    assert server.asked == 1
    path.write_bytes(b"something else")
    assert file.path().read_bytes() == CONTENT  # fetched anew
    assert server.asked == 2
    path.write_bytes(b"something else")
    server.content = b"replaced"
    with pytest.raises(HashMismatch, match="hash of the first copy"):
        file.path()


def test_first_download_must_begin_as_published(server, tmp_path):
    url = f"http://127.0.0.1:{server.server_port}/releases/a.pth"
    assert WeightFile(name="a.pth", url=url, sha256_prefix=SHA256[:8].upper()).path().read_bytes() == CONTENT
    with pytest.raises(HashMismatch, match=f"{SHA256}, which does not begin with 00000000"):
        WeightFile(name="b.pth", url=url + "?b", sha256_prefix="00000000").path()
    assert not list((tmp_path / "cache").rglob("b.pth"))


def test_unreachable_url_without_a_hash(monkeypatch):
    monkeypatch.setattr(downloads, "PAUSE", 0.01)
    with pytest.raises(DataUnavailable, match=r"http://127\.0\.0\.1:9/a\.pth"):
        WeightFile(name="a.pth", url="http://127.0.0.1:9/a.pth").path()


@pytest.mark.parametrize(
    "arguments",
    [
        {"name": "folder/a.pth"},
        {"name": "a.pth", "bucket": "storage"},
        {"name": "a.pth", "bucket": "storage", "key": "a.pth"},
        {"name": "a.pth", "bucket": "storage", "key": "a.pth", "sha1": SHA1, "url": "https://example.org/a.pth"},
    ],
)
def test_contradictory_descriptions_are_refused(arguments):
    with pytest.raises(ValueError, match=r"a\.pth"):
        WeightFile(**arguments)


@pytest.fixture
def network():
    torch.manual_seed(0)
    return torch.nn.Sequential(
        collections.OrderedDict(conv=torch.nn.Conv2d(3, 4, 1), norm=torch.nn.BatchNorm2d(4), out=torch.nn.Identity())
    )


@pytest.mark.parametrize("prefix", ["", "module."])
@pytest.mark.parametrize("key", [None, "state_dict", "model"])
def test_weights_come_through(network, tmp_path, prefix, key):
    state = {prefix + name: torch.rand(value.shape) for name, value in network.state_dict().items() if value.ndim}
    path = tmp_path / "a.pth"
    torch.save(state if key is None else {"epoch": 3, key: state}, path)
    load_weights(network, path, key="model" if key == "model" else None)
    loaded = network.state_dict()
    assert all(torch.equal(loaded[name.removeprefix(prefix)], value) for name, value in state.items())
    assert loaded["norm.num_batches_tracked"] == 0  # old checkpoints lack it


def test_a_prefix_that_not_all_have_is_part_of_the_name():
    state = {"module.a": torch.zeros(1), "b": torch.zeros(1)}
    assert set(state_dict_of(state)) == {"module.a", "b"}


def test_what_does_not_fit_is_named(network):
    state = network.state_dict()
    del state["conv.bias"]
    state |= {"fc.weight": torch.zeros(2), "norm.weight": torch.zeros(5)}
    before = network.conv.weight.clone()
    with pytest.raises(UserError) as caught:
        load_state_dict(network, state, source="other.pth")
    assert "other.pth does not fit Sequential of 7 tensors" in str(caught.value)
    assert "1 missing (conv.bias); 1 unexpected (fc.weight)" in str(caught.value)
    assert "1 of another shape (norm.weight: (5,) instead of (4,))" in str(caught.value)
    assert torch.equal(network.conv.weight, before)


class Anything:
    pass


def test_nothing_but_tensors_and_plain_values_is_constructed(tmp_path):
    path = tmp_path / "a.pth"
    torch.save({"state_dict": {}, "flags": Anything()}, path)
    with pytest.raises(UserError, match=r"more than tensors and plain values.*Anything"):
        read_checkpoint(path)
    torch.save({"flags": argparse.Namespace(arch="resnet50")}, path)
    with pytest.raises(UserError, match="more than tensors"):
        read_checkpoint(path)
    assert read_checkpoint(path, allow=[argparse.Namespace])["flags"].arch == "resnet50"


@pytest.mark.parametrize("content", [b"", b"<!DOCTYPE html><html></html>"])
def test_what_is_no_checkpoint(content, tmp_path):
    path = tmp_path / "a.pth"
    path.write_bytes(content)
    with pytest.raises(UserError, match=r"a\.pth"):
        read_checkpoint(path)


@pytest.mark.parametrize(
    ("checkpoint", "key", "message"),
    [
        ({"epoch": 3, "model": {}}, "state_dict", "has no 'state_dict'; it has epoch, model"),
        ([1, 2], "state_dict", "has no 'state_dict'; it has list"),
        ({"epoch": 3}, None, "not tensors: epoch"),
        (torch.zeros(3), None, "is a Tensor, not a state dict"),
    ],
)
def test_what_is_no_state_dict(checkpoint, key, message):
    with pytest.raises(UserError, match=message):
        state_dict_of(checkpoint, key=key)
