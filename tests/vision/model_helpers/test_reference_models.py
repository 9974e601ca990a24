import dataclasses
import hashlib
import sys

import pytest
import torch

from brainscore_core import provenance
from brainscore_core.errors import DataUnavailable, UserError
from brainscore_core.supported_data_standards.brainio.fetch import HashMismatch
from brainscore_vision.model_helpers.activations.preprocessing import ImagePreprocessing
from brainscore_vision.model_helpers.hub import HubFile, read_weights
from brainscore_vision.model_helpers.libraries import library
from brainscore_vision.model_helpers.reference_models import ReferenceModel, regions_of, torchvision_weights
from brainscore_vision.model_helpers.weights import WeightFile

REPOSITORY = "some-lab/some-network"
COMMIT = "0123456789abcdef0123456789abcdef01234567"


@pytest.fixture(autouse=True)
def nothing_set(monkeypatch, tmp_path):
    for name in ("BRAINSCORE_WEIGHTS", "BRAINSCORE_MIRROR"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("BRAINIO_HOME", str(tmp_path / "cache"))


@pytest.fixture
def hub(monkeypatch, tmp_path):
    """A repository with files, and what was asked of it; empty: not reachable."""
    huggingface_hub = pytest.importorskip("huggingface_hub")
    from huggingface_hub.errors import EntryNotFoundError, LocalEntryNotFoundError

    files, asked = {}, []

    def download(repository, file, revision=None):
        asked.append((repository, file, revision))
        if not files:
            raise LocalEntryNotFoundError("no connection")
        if file not in files:
            raise EntryNotFoundError(file)
        path = tmp_path / "hub" / "snapshots" / (revision or COMMIT) / file
        path.parent.mkdir(parents=True, exist_ok=True)
        torch.save(files[file], path)
        return str(path)

    monkeypatch.setattr(huggingface_hub, "hf_hub_download", download)
    return files, asked


def build():
    return torch.nn.Sequential(torch.nn.Conv2d(3, 4, 3), torch.nn.Flatten(), torch.nn.Linear(4 * 36, 5))


@pytest.fixture
def model():
    return ReferenceModel(
        build=build,
        weights=WeightFile(name="small.pth", url="https://example.org/small.pth"),
        layers=("0", "2"),
        preprocessing=ImagePreprocessing(resize=(8, 8)),
    )


def test_trained_subject_has_the_weights_of_the_file(model, tmp_path, monkeypatch):
    other = build()
    torch.save(other.state_dict(), tmp_path / "small.pth")
    monkeypatch.setenv("BRAINSCORE_WEIGHTS", str(tmp_path))
    subject = model.trained("small")
    assert subject.identifier == "small"
    assert subject.layers == ["0", "2"]
    loaded = subject.activations_model._model.state_dict()
    assert all(torch.equal(loaded[name], value) for name, value in other.state_dict().items())


def test_untrained_subject_has_weights_of_its_seed(model):
    def weights(seed):
        return model.untrained("small-untrained", seed=seed).activations_model._model.state_dict()["0.weight"]

    assert torch.equal(weights(0), weights(0))
    assert not torch.equal(weights(0), weights(1))


def test_file_may_decide_the_network(model, tmp_path, monkeypatch):
    torch.save(torch.zeros(7, 3), tmp_path / "small.pth")
    monkeypatch.setenv("BRAINSCORE_WEIGHTS", str(tmp_path))

    def read(path):
        return torch.nn.Sequential(torch.nn.Flatten(), torch.nn.ReLU(), torch.nn.Linear(3, len(torch.load(path))))

    subject = dataclasses.replace(model, read=read, activations_identifier="wide").trained("small")
    assert subject.activations_model.model[2].out_features == 7
    assert (subject.identifier, subject.activations_model.identifier) == ("small", "wide")


def test_regions_are_read_for_another_name_only(tmp_path):
    path = tmp_path / "small.json"
    path.write_text('{"IT": "2"}')
    assert regions_of(path, "small") is None
    assert regions_of(path, "small-untrained") == {"IT": "2"}


def test_file_of_torchvision_is_held_to_the_hash_in_its_name(tmp_path, monkeypatch):
    digest = hashlib.sha256(b"weights").hexdigest()
    file = torchvision_weights(f"small-{digest[:8]}.pth")
    assert file.address == f"https://download.pytorch.org/models/small-{digest[:8]}.pth"
    monkeypatch.setenv("BRAINSCORE_WEIGHTS", str(tmp_path))
    path = tmp_path / file.name
    path.write_bytes(b"weights")
    with provenance.recording() as record:
        assert file.path() == path
    assert digest in str(record.items)
    path.write_bytes(b"others")
    with pytest.raises(HashMismatch, match=f"does not begin with {digest[:8]}"):
        file.path()


def test_a_download_with_another_hash_is_not_kept(tmp_path, monkeypatch):
    def download(url, stream, **_):
        stream.write(b"a web page")

    monkeypatch.setattr("brainscore_core.supported_data_standards.brainio.remote_files.download", download)
    with pytest.raises(HashMismatch):
        torchvision_weights("small-00000000.pth").path()
    assert [path for path in (tmp_path / "cache").rglob("*") if path.is_file()] == []


def test_first_commit_is_held_to(hub):
    files, asked = hub
    files["model.safetensors"] = {"weight": torch.ones(2)}
    file = HubFile(name="network", repository=REPOSITORY)
    with provenance.recording() as record:
        path = file.path()
    assert hashlib.sha256(path.read_bytes()).hexdigest() in str(record.items)
    assert COMMIT in str(record.items)
    file.path()
    assert asked == [(REPOSITORY, "model.safetensors", None), (REPOSITORY, "model.safetensors", COMMIT)]


def test_known_commit_is_asked_for(hub):
    files, asked = hub
    files["pytorch_model.bin"] = {"weight": torch.ones(2)}
    file = HubFile(name="network", repository=REPOSITORY, revision="f" * 40)
    assert read_weights(file.path())["weight"].tolist() == [1, 1]
    assert asked == [(REPOSITORY, name, "f" * 40) for name in ("model.safetensors", "pytorch_model.bin")]


def test_missing_file_of_the_hub_says_what_from_where_and_where_to(hub, tmp_path, monkeypatch):
    file = HubFile(name="network", repository=REPOSITORY)
    with pytest.raises(DataUnavailable) as error:
        file.path()
    assert f"https://huggingface.co/{REPOSITORY}" in str(error.value)
    assert "BRAINSCORE_WEIGHTS to a folder that holds it as 'network.safetensors'" in str(error.value)
    monkeypatch.setenv("BRAINSCORE_WEIGHTS", str(tmp_path))
    with pytest.raises(DataUnavailable, match=r"network\.safetensors"):
        file.path()


def test_repository_without_weights(hub):
    hub[0]["README.md"] = {}
    with pytest.raises(DataUnavailable, match=r"neither model\.safetensors nor pytorch_model\.bin"):
        HubFile(name="network", repository=REPOSITORY).path()


def test_file_placed_by_hand_comes_first(hub, tmp_path, monkeypatch):
    safetensors = pytest.importorskip("safetensors.torch")
    safetensors.save_file({"weight": torch.ones(3)}, tmp_path / "network.safetensors")
    monkeypatch.setenv("BRAINSCORE_WEIGHTS", str(tmp_path))
    path = HubFile(name="network", repository=REPOSITORY).path()
    assert path == tmp_path / "network.safetensors"
    assert read_weights(path)["weight"].tolist() == [1, 1, 1]
    assert hub[1] == []


def test_broken_file_is_named(tmp_path):
    pytest.importorskip("safetensors")
    path = tmp_path / "network.safetensors"
    path.write_bytes(b"no weights")
    with pytest.raises(UserError, match=r"network\.safetensors cannot be read"):
        read_weights(path)


def test_missing_library_is_named_with_the_command(monkeypatch):
    monkeypatch.setitem(sys.modules, "timm", None)
    with pytest.raises(UserError, match=r"(?s)'net' needs timm.*pip install 'brainscore\[models\]'"):
        library("timm", needed_by="net")


@pytest.mark.parametrize("wrapped", [False, True])
def test_torchvision_of_another_torch_is_explained(wrapped, tmp_path, monkeypatch):
    failing = "raise RuntimeError('operator torchvision::nms does not exist')"
    if wrapped:  # as libraries that import others late do
        failing = (
            f"try:\n    {failing}\nexcept RuntimeError as error:\n    raise ImportError('no such class') from error"
        )
    (tmp_path / "some_library.py").write_text(failing)
    monkeypatch.syspath_prepend(tmp_path)
    with pytest.raises(UserError, match="torchvision was not built for the installed torch"):
        library("some_library", needed_by="net")
