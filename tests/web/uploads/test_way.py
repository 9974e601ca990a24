"""The way of an upload: from packages to code that loads them."""

import ast
import hashlib
import io
import re
import subprocess
import sys
import zipfile
from types import SimpleNamespace

import pytest

from tests.web.journey import material

from .conftest import IDS, NAME, files_below


def load_as_pasted(code, folder, environment):
    """Write the code into a plugin's folder, and load what it registers through the registries, in a fresh process."""
    plugin = folder / "plugins" / "data" / "simulated2026_upload"
    plugin.mkdir(parents=True)
    (plugin / "__init__.py").write_text(code)
    script = f"""
import brainscore_vision
stimuli = brainscore_vision.load_stimulus_set({NAME!r})
assembly = brainscore_vision.load_dataset({NAME!r})
print(type(assembly).__name__, assembly.shape, stimuli.identifier, assembly.attrs["stimulus_set"].identifier)
print(sorted(stimuli["stimulus_id"]), sorted(set(assembly["object"].values)))
print(all(stimuli.get_stimulus(one).is_file() for one in stimuli["stimulus_id"]))
"""
    done = subprocess.run(
        [sys.executable, "-c", script],
        env={**environment, "BRAINSCORE_PLUGINS": str(folder / "plugins"), "BRAINIO_HOME": str(folder / "cache")},
        capture_output=True,
        text=True,
        timeout=300,
    )
    return SimpleNamespace(code=done.returncode, out=done.stdout, err=done.stderr)


EXPECTED = f"NeuroidAssembly (12, 5) {NAME} {NAME}\n{IDS} ['cat', 'dog']\nTrue\n"


@pytest.fixture
def environment(monkeypatch):
    import os

    for name in ("BRAINSCORE_MIRROR", "BRAINSCORE_SITE", "BRAINSCORE_TOKEN", "HTTP_PROXY", "http_proxy"):
        monkeypatch.delenv(name, raising=False)
    return dict(os.environ)


def test_hashes_versions_and_the_bucket_are_answered(accepted, packages, client, root):
    upload = accepted()
    page = client.get(f"/uploads/{upload.pk}/").content.decode()
    for kind, path in packages.all.items():
        file = upload.files.get(kind=kind)
        assert file.sha1 == packages.sha1[kind]
        assert file.sha256 == hashlib.sha256(path.read_bytes()).hexdigest()
        assert all(text in page for text in (file.version_id, file.sha1, file.sha256, path.name))
        assert (root / file.bucket / file.key / file.version_id).read_bytes() == path.read_bytes()
    assert f"brainscore-storage/brainscore-vision/data/user_{upload.owner_id}" in page
    assert len(files_below(root)) == 3  # and nothing else is left
    assert upload.facts["stimuli"] == 6
    assert upload.facts["shape"] == {"presentation": 12, "neuroid": 5}


@pytest.mark.slow(reason="loads in fresh processes")
@pytest.mark.django_db(transaction=True)
def test_copied_code_works_as_pasted(in_a_sandbox, accepted, client, live_server, tmp_path, environment):
    upload = accepted()
    code = client.get(f"/uploads/{upload.pk}/__init__.py", headers={"host": live_server.url[7:]}).content.decode()
    assert "stimulus_set_registry" in code
    assert "data_registry" in code
    done = load_as_pasted(code, tmp_path, environment)
    assert (done.code, done.out) == (0, EXPECTED), done.err


@pytest.mark.slow(reason="starts processes")
@pytest.mark.django_db(transaction=True)
def test_loaders_of_s3_load_from_the_site(accepted, live_server, tmp_path, environment):
    """The bucket path and version ids that are shown work in the tutorials' code where the site is the S3 server."""
    from brainscore_web.uploads.plugin_code import Registration, Stored, copy_code

    upload = accepted()
    stored = {
        file.kind: Stored(file.folder, file.version_id, file.sha1, file.sha256, "") for file in upload.files.all()
    }
    code = copy_code(
        Registration(NAME, NAME, "NeuroidAssembly", **stored, from_s3=True, private=False, site=live_server.url)
    )
    environment["AWS_ENDPOINT_URL"] = f"{live_server.url}/uploads/files"
    done = load_as_pasted(code, tmp_path, environment)
    assert (done.code, done.out) == (0, EXPECTED), done.err


def test_stimuli_alone_and_measurements_alone(accepted, client):
    for kinds, wanted, missing in (
        (("csv", "zip"), "stimulus_set_registry", "data_registry"),
        (("nc",), "data_registry", "stimulus_set_registry"),
    ):
        upload = accepted(kinds)
        code = client.get(f"/uploads/{upload.pk}/__init__.py").content.decode()
        compile(code, "__init__.py", "exec")
        assert wanted in code
        assert missing not in code


def test_a_newer_version_leaves_the_old_one(accepted, client):
    first, second = accepted(), accepted()
    old, new = first.files.get(kind="csv"), second.files.get(kind="csv")
    assert old.key == new.key
    assert old.version_id != new.version_id
    address = f"/uploads/files/{old.bucket}/{old.key}"
    assert client.get(address)["x-amz-version-id"] == new.version_id
    assert client.get(address, {"versionId": old.version_id})["x-amz-version-id"] == old.version_id
    assert client.get(address, {"versionId": "other"}).status_code == 403


def test_a_file_is_handed_out_as_nothing_but_a_file(accepted, client, packages):
    upload = accepted()
    file = upload.files.get(kind="zip")
    client.logout()
    answer = client.get(
        f"/uploads/files/{file.bucket}/{file.key}",
        {"versionId": file.version_id},
        headers={"accept-encoding": "gzip"},
    )
    assert b"".join(answer.streaming_content) == packages.zip.read_bytes()
    assert answer["Content-Type"] == "application/octet-stream"
    assert answer["Content-Disposition"].startswith("attachment")
    assert answer["X-Content-Type-Options"] == "nosniff"
    assert int(answer["Content-Length"]) == packages.zip.stat().st_size
    assert answer["Cache-Control"] == "public, no-cache"


def test_withdrawn_files_are_gone(accepted, client, root, uploader):
    from brainscore_web.uploads.files import bytes_used

    upload = accepted()
    file = upload.files.get(kind="csv")
    assert bytes_used(uploader) > 0
    assert client.get(f"/uploads/{upload.pk}/withdraw/").status_code == 200
    client.post(f"/uploads/{upload.pk}/withdraw/")
    upload.refresh_from_db()
    assert upload.state == "withdrawn"
    assert bytes_used(uploader) == 0
    assert client.get(f"/uploads/files/{file.bucket}/{file.key}").status_code == 403


def test_what_scores_use_is_not_withdrawn(accepted, client, board):
    from brainscore_web.leaderboard.models import Score

    upload = accepted()
    score = Score.objects.first()
    score.document = {"data": [{"sha1": upload.files.get(kind="nc").sha1}]}
    score.save()
    answer = client.post(f"/uploads/{upload.pk}/withdraw/")
    assert answer.status_code == 409
    assert "the upload is used by score of" in answer.content.decode()
    upload.refresh_from_db()
    assert upload.state == "accepted"


def test_who_leaves_takes_private_data_along(accepted, owner, django_capture_on_commit_callbacks, root):
    from brainscore_web.uploads.models import Upload

    public, private = accepted(), accepted(visibility="private")
    with django_capture_on_commit_callbacks(execute=True):
        owner.delete()
    states = dict(Upload.objects.values_list("pk", "state"))
    assert states == {public.pk: "accepted", private.pk: "withdrawn"}
    assert len(files_below(root)) == 3


def test_people_export_their_uploads(accepted, client):
    upload = accepted()
    (row,) = client.get("/accounts/data/").json()["uploads"]
    assert row["id"] == str(upload.pk)
    assert {file["kind"] for file in row["files"]} == {"csv", "zip", "nc"}


def test_folder_names_are_python():
    from brainscore_web.uploads.plugin_code import folder_of

    for identifier in (NAME, "A-b.c_D2", "9lives"):
        assert re.fullmatch(r"[a-z0-9_]+", folder_of(identifier))


def test_classes_are_those_of_the_library():
    from brainscore_core.supported_data_standards.brainio.fetch import resolve_assembly_class
    from brainscore_web.uploads.models import CLASSES

    assert [resolve_assembly_class(name).__name__ for name in CLASSES] == list(CLASSES)


def unpacked(response, folder):
    with zipfile.ZipFile(io.BytesIO(response.content)) as archive:
        archive.extractall(folder)
    (root,) = folder.iterdir()
    return root


@pytest.mark.slow(reason="runs the command in a fresh process")
@pytest.mark.django_db(transaction=True)
def test_the_next_step_works_as_downloaded(accepted, client, live_server, tmp_path, environment):
    """The page offers a benchmark on the data; it passes the check, and the dry run names what is left to write."""
    files = material.packages(tmp_path / "packages")
    upload = accepted(files=files, identifier=material.NAME, assembly_identifier=material.NAME)
    page = client.get(f"/uploads/{upload.pk}/").content.decode()
    assert "brainscore check benchmark Newcomer2026.V1-pls" in page
    host = {"host": live_server.url[7:]}
    root = unpacked(client.get(f"/uploads/{upload.pk}/scaffold.zip", headers=host), tmp_path / "download")
    settings = {**environment, "BRAINSCORE_PLUGINS": str(root), "BRAINIO_HOME": str(tmp_path / "cache")}

    def command(*arguments):
        line = [sys.executable, "-m", "brainscore", *arguments]
        return subprocess.run(line, env=settings, capture_output=True, text=True, timeout=300)

    checked = command("check", "benchmark", "Newcomer2026.V1-pls")
    assert checked.returncode == 0, checked.stdout + checked.stderr
    dry = command("submit", str(root), "--dry-run")
    assert dry.returncode == 0, dry.stdout + dry.stderr
    assert "your paper title" in dry.stdout
    assert "benchmarks/newcomer2026/test.py" in dry.stdout
    assert "does not state species" in dry.stdout


def test_the_next_step_of_other_data(accepted, client):
    """Without a region and repetitions there is no benchmark to offer, but the data can be submitted."""
    upload = accepted()
    upload.facts = {"stimuli": 6, "shape": {"presentation": 12, "neuroid": 5}}
    upload.save()
    page = client.get(f"/uploads/{upload.pk}/").content.decode()
    assert "Next: submit the data" in page
    with zipfile.ZipFile(io.BytesIO(client.get(f"/uploads/{upload.pk}/scaffold.zip").content)) as archive:
        assert [name.partition("/")[2] for name in archive.namelist()] == [
            "data/simulated2026_upload/__init__.py", "data/simulated2026_upload/test.py",
        ]  # fmt: skip


def test_names_in_the_data_stay_texts():
    """Names of regions come from a stranger's file."""
    from brainscore_web.uploads.plugin_code import Registration, Stored, scaffold_of

    stored = Stored("bucket/folder", "v", "0" * 40, "0" * 64, "https://example.org/a")
    data = Registration("A2026", "A2026", "NeuroidAssembly", stored, stored, stored, True, False, "https://example.org")
    region = '"""); import os; os.abort() #<<\'metric\'>>'
    facts = {"stimuli": 100, "shape": {"neuroid": 2}, "regions": [region, "V1"], "repetitions": 2}
    for path, text in scaffold_of(data, facts).files.items():
        tree = ast.parse(text)
        assert not any(isinstance(node, ast.Import) and node.names[0].name == "os" for node in ast.walk(tree)), path
