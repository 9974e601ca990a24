"""Packages of simulated data, members who may upload, and a storage of the test's own."""

import os
import shutil
import warnings
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from PIL import Image

from brainscore_core.supported_data_standards.brainio.assemblies import NeuroidAssembly
from brainscore_core.supported_data_standards.brainio.packaging import (
    package_data_assembly_locally,
    package_stimulus_set_locally,
)
from brainscore_core.supported_data_standards.brainio.stimuli import StimulusSet

NAME = "Simulated2026.upload"
IDS = [f"img_{number:02d}" for number in range(6)]


@pytest.fixture(autouse=True)
def _limit_of_pillow(monkeypatch):
    """What is looked into in this process, rather than apart, leaves Pillow's limit as it was."""
    monkeypatch.setattr(Image, "MAX_IMAGE_PIXELS", Image.MAX_IMAGE_PIXELS)


@pytest.fixture(autouse=True)
def root(settings, tmp_path):
    """The storage: a folder of the test's own, small limits."""
    folder = tmp_path / "uploads"
    settings.PASSWORD_HASHERS = ["django.contrib.auth.hashers.MD5PasswordHasher"]
    settings.UPLOADS = {
        "address": str(folder),
        "file": 2_000_000,
        "table": 500_000,
        "person": 3_000_000,
        "memory": 8_000_000_000,
        "seconds": 60,
        "members": 1000,
        "unpacked": 20_000_000,
        "pixels": 1_000_000,
    }
    return folder


@pytest.fixture
def in_a_sandbox():
    """Checks run in a sandbox, as on a real site."""
    if not os.environ.get("CI") and shutil.which("bwrap") is None:
        pytest.skip("needs bubblewrap")


@pytest.fixture(autouse=True)
def _quick_checks(request, monkeypatch):
    """Checks run in this process, which is quicker, but for tests that ask for `in_a_sandbox`."""
    from brainscore_web.uploads import checking
    from brainscore_web.uploads.inspection import inspect

    if "in_a_sandbox" not in request.fixturenames:
        monkeypatch.setattr(checking, "inspect_in_sandbox", lambda question, *, alive: inspect(question))


def stimuli_of(folder, ids=IDS, name=NAME):
    rng = np.random.default_rng(3)
    folder.mkdir(parents=True, exist_ok=True)
    for one in ids:
        Image.fromarray(rng.integers(0, 256, (8, 8, 3), dtype=np.uint8)).save(folder / f"{one}.png")
    stimuli = StimulusSet({"stimulus_id": list(ids), "object": ["cat", "dog"] * (len(ids) // 2)})
    stimuli.name = name
    stimuli.stimulus_paths = {one: folder / f"{one}.png" for one in ids}
    return stimuli


def assembly_of(ids=IDS):
    rng = np.random.default_rng(4)
    return NeuroidAssembly(
        rng.normal(size=(2 * len(ids), 5)),
        coords={
            "stimulus_id": ("presentation", list(ids) * 2),
            "repetition": ("presentation", [0] * len(ids) + [1] * len(ids)),
            "neuroid_id": ("neuroid", [f"site_{number}" for number in range(5)]),
            "region": ("neuroid", ["IT"] * 5),
        },
        dims=["presentation", "neuroid"],
    )


@pytest.fixture(scope="session")
def packages(tmp_path_factory):
    """Files as `brainscore package` writes them, with their hashes."""
    folder = tmp_path_factory.mktemp("packages")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        stimuli = package_stimulus_set_locally(stimuli_of(folder / "raw"), NAME, downloads_path=folder)
        measured = package_data_assembly_locally(assembly_of(), NAME, NAME, "NeuroidAssembly", downloads_path=folder)
    return SimpleNamespace(
        csv=Path(stimuli["csv_path"]),
        zip=Path(stimuli["zip_path"]),
        nc=Path(measured["path"]),
        sha1={"csv": stimuli["csv_sha1"], "zip": stimuli["zip_sha1"], "nc": measured["sha1"]},
        all={"csv": Path(stimuli["csv_path"]), "zip": Path(stimuli["zip_path"]), "nc": Path(measured["path"])},
    )


def confirm(user):
    from allauth.account.models import EmailAddress

    EmailAddress.objects.get_or_create(user=user, email=user.email, defaults={"verified": True, "primary": True})
    return user


@pytest.fixture
def uploader(owner, client):
    """The owner, with a confirmed address, logged in."""
    client.force_login(confirm(owner))
    return owner


@pytest.fixture
def start(uploader):
    """Makes a draft."""
    from brainscore_web.uploads.models import Upload

    def make(owner=uploader, **fields):
        known = {"identifier": NAME, "assembly_identifier": NAME, **fields}
        return Upload.objects.create(owner=owner, **known)

    return make


@pytest.fixture
def send(client):
    """Sends a file by the form, as a browser would."""

    def do(upload, kind, content, *, name=None, by=client, **fields):
        if isinstance(content, Path):
            name, content = name or content.name, content.read_bytes()
        file = SimpleUploadedFile(name or f"x.{kind}", content)
        address = f"/uploads/{upload.pk}/{kind}/"
        return by.post(address, {**fields, "file": file}, HTTP_ACCEPT="application/json")

    return do


@pytest.fixture
def accepted(start, send, packages, client):
    """Uploads the packages and lets them be checked."""

    def make(kinds=("csv", "zip", "nc"), files=packages.all, **fields):
        upload = start(**fields)
        for kind in kinds:
            answer = send(upload, kind, files[kind])
            assert answer.status_code == 200, answer.content
        assert client.post(f"/uploads/{upload.pk}/check/").status_code == 303
        upload.refresh_from_db()
        assert upload.state == "accepted", upload.findings
        return upload

    return make


def files_below(folder):
    return sorted(path.relative_to(folder).as_posix() for path in folder.rglob("*") if path.is_file())
