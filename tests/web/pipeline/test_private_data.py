"""Nothing of a submission meets private data before it is approved; afterwards scoring finds them."""

import hashlib
import os
import subprocess
import sys

import pytest

from brainscore_web.scoring.live_plugins import cache_uploaded_files
from brainscore_web.submissions import declared_files, pipeline, plugin_folders
from brainscore_web.submissions.models import Review, Step
from brainscore_web.submissions.pipeline.runner import run_next_step
from brainscore_web.uploads.models import Upload, UploadedFile
from brainscore_web.uploads.storage import storage
from tests.web._plugins import model_files, small_benchmark_files

from .test_way import caged  # noqa: F401 # a fixture

pytestmark = pytest.mark.django_db(transaction=True)

SECRET = "tarsier-on-a-branch"
TABLE = f"stimulus_id,shown\n{SECRET},1\nb,2\n".encode()
SHA1 = hashlib.sha1(TABLE, usedforsecurity=False).hexdigest()
NAME = "stimulus_Mine2026.csv"

DATA = '''"""Stimuli that are withheld."""

from brainscore_core.supported_data_standards.brainio.s3 import load_stimulus_set_from_s3
from brainscore_vision import stimulus_set_registry

stimulus_set_registry["Mine2026"] = lambda: load_stimulus_set_from_s3(
    identifier="Mine2026", bucket="{folder}", csv_sha1="{sha1}", zip_sha1=None, csv_version_id="{version}",
    zip_version_id=None, filename_prefix="stimulus_",
)
'''
PROBE = '''"""Looks for what it should not see: by its registration, its address, its hash, its place on the disk."""

import os
from pathlib import Path

import pytest

from brainscore_core.supported_data_standards.brainio.fetch import fetch
from brainscore_vision import load_stimulus_set

SECRET = "-".join(("tarsier", "on", "a", "branch"))


def seen(path):
    try:
        return SECRET in Path(path).read_text(errors="replace")
    except OSError:
        return False


def test_by_its_registration():
    with pytest.raises(Exception) as caught:
        load_stimulus_set("Mine2026")
    print("registration:", type(caught.value).__name__)


def test_by_its_address():
    with pytest.raises(Exception) as caught:
        fetch("{address}", sha1="{sha1}")
    print("address:", type(caught.value).__name__)


def test_by_its_place():
    assert not any(seen(path) for path in {places!r})


@pytest.mark.private_access
def test_once_it_is_approved():
    assert len(load_stimulus_set("Mine2026")) == 2
'''
ANYWHERE = """

def test_anywhere():
    for folder, _, names in os.walk("/"):
        if folder.startswith(("/proc", "/sys", "/usr", "/dev")):
            continue
        for name in names:
            assert name != "{name}", folder
            if name.endswith((".csv", "v1")):
                assert not seen(os.path.join(folder, name)), folder
"""
"""Takes long: of two plugins that see the same, one looks."""


@pytest.fixture
def private(owner, folders):
    """A private upload of the owner's; scoring has put it into the site's cache already."""
    upload = Upload.objects.create(owner=owner, identifier="Mine2026", visibility="private", state="accepted")
    key, version = f"brainio/user_{owner.pk}/{NAME}", storage().new_version()
    place = storage().root / storage().bucket / key / version
    place.parent.mkdir(parents=True)
    place.write_bytes(TABLE)
    cached = folders / "brainio" / SHA1 / NAME
    cached.parent.mkdir(parents=True)
    cached.write_bytes(TABLE)
    file = UploadedFile.objects.create(
        upload=upload, kind="csv", size=len(TABLE), sha1=SHA1, sha256=hashlib.sha256(TABLE).hexdigest(),
        bucket=storage().bucket, key=key, version_id=version,
    )  # fmt: skip
    address = f"http://localhost/uploads/files/{file.bucket}/{key}?versionId={version}"
    return file, address, [str(place), str(cached)]


def looking(private):
    """A benchmark with its data, whose tests look for the private file."""
    file, address, places = private
    words = {"address": address, "sha1": SHA1, "name": NAME}

    def filled(probe):
        probe = probe.replace("{places!r}", repr(places))
        for word, text in words.items():
            probe = probe.replace(f"{{{word}}}", text)
        return probe

    files = small_benchmark_files()
    (test,) = [path for path in files if path.startswith("benchmarks/") and path.endswith("test.py")]
    also = test.replace("test.py", "test_looking.py")
    return {
        **files,
        also: filled(PROBE + ANYWHERE),
        "data/mine/__init__.py": DATA.format(folder=file.folder, sha1=SHA1, version=file.version_id),
        "data/mine/test.py": filled(PROBE),
    }


@pytest.mark.slow(reason="tests plugins in the sandbox, and looks through all of its disk")
def test_private_data_are_met_after_approval_alone(caged, private, submit, states, staff, folders):  # noqa: F811 # the fixture
    """Not by tests and checks, whatever they try; scoring finds them once a reviewer has approved."""
    revision = submit(looking(private))
    assert run_next_step()  # it goes on as a long step
    assert run_next_step(), revision.findings
    check = Step.objects.get(revision=revision, kind="check")
    assert check.state == "passed", (check.reason, check.log, check.result)
    named = check.result["files"]
    assert named
    assert {(one["verified"], one["private"], one["note"]) for one in named} == {
        (True, True, "private: not used before approval")
    }
    assert not list(declared_files.files_home().rglob(NAME))
    assert run_next_step()
    test = Step.objects.get(revision=revision, kind="test")
    assert test.result["failed"] == 0, (test.result, test.log[-4000:])
    assert (test.result["passed"], test.result["skipped_private"]) == (10, 2), (test.result, test.log[-4000:])
    assert SECRET not in f"{test.log}{test.reason}{test.result}"
    assert states(revision) == "pass pass wait wait wait", (test.reason, test.result, test.log[-4000:])

    pipeline.approve(revision, Review.objects.create(revision=revision, reviewer=staff, verdict="approved"))
    assert run_next_step()
    assert states(revision).startswith("pass pass pass pass")
    (folders / "brainio" / SHA1 / NAME).unlink()
    live = plugin_folders.published_folder()
    assert cache_uploaded_files(live) == 1
    unreachable = dict.fromkeys(("http_proxy", "https_proxy"), "http://127.0.0.1:9")
    done = subprocess.run(
        [sys.executable, "-c", "import brainscore_vision as b; print(*b.load_stimulus_set('Mine2026')['stimulus_id'])"],
        env={**os.environ, **unreachable, "BRAINSCORE_PLUGINS": str(live)},
        capture_output=True,
        text=True,
        timeout=200,
    )
    assert done.stdout.split() == [SECRET, "b"], done.stderr[-2000:]


@pytest.mark.slow(reason="tests a plugin in the sandbox")
def test_a_model_gets_no_private_data_as_its_weights(caged, private, submit):  # noqa: F811 # the fixture
    """Not even its owner's, and not from the site's cache: neither in its tests nor when it is scored."""
    _, address, places = private
    files = model_files()
    files["models/tiles_8/weights.py"] = (
        '"""Weights."""\n\nfrom brainscore_core.supported_data_standards.brainio.fetch import fetch\n\n\n'
        f'def weights():\n    return fetch("{address}", sha1="{SHA1}")\n'
    )
    files["models/tiles_8/test.py"] += (
        "\n\ndef test_weights():\n    from pathlib import Path\n\n    import pytest\n\n"
        "    from brainscore_vision.models.tiles_8.weights import weights\n\n"
        "    with pytest.raises(Exception):\n        weights()\n"
        f"    assert not any(Path(place).exists() for place in {places!r})\n"
    )
    revision = submit(files, visibility="private")
    assert run_next_step()  # it goes on as a long step
    assert run_next_step(), revision.findings
    assert run_next_step()
    test = Step.objects.get(revision=revision, kind="test")
    assert (test.state, test.result["passed"]) == ("passed", 2), (test.result, test.log[-4000:])
    assert declared_files.files_of(revision) == []
    assert not list(declared_files.files_home().rglob(NAME))
