"""Attacks on the upload portal: each named, each refused, nothing kept of it."""

import io
import socket
import stat
import struct
import warnings
import zipfile
from dataclasses import replace

import netCDF4
import numpy as np
import pytest
from PIL import Image

from .conftest import IDS, assembly_of, files_below

TABLE = b"stimulus_id,filename\na,a.png\n"


def png(size=(4, 4)):
    stream = io.BytesIO()
    Image.new("L", size, 100).save(stream, "PNG")
    return stream.getvalue()


def zipped(members, *, compression=zipfile.ZIP_STORED):
    """Bytes of an archive; a member is a name or a ZipInfo."""
    stream = io.BytesIO()
    with warnings.catch_warnings(), zipfile.ZipFile(stream, "w", compression) as archive:
        warnings.simplefilter("ignore")
        for name, content in members:
            archive.writestr(name, content)
    return stream.getvalue()


def link(name, target, mode=stat.S_IFLNK):
    member = zipfile.ZipInfo(name)
    member.create_system = 3
    member.external_attr = (mode | 0o777) << 16
    return member, target


def renamed(content, old, new):
    """Change a name in an archive behind the library's back; both have as many bytes."""
    assert len(old) == len(new)
    assert content.count(old) == 2
    return content.replace(old, new)


def huge_png():
    """A small file whose header announces 60,000 × 60,000 pixels."""
    import zlib

    def chunk(kind, body):
        return struct.pack(">I", len(body)) + kind + body + struct.pack(">I", zlib.crc32(kind + body))

    head = struct.pack(">IIBBBBB", 60_000, 60_000, 8, 0, 0, 0, 0)
    return b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", head) + chunk(b"IDAT", zlib.compress(b"\0" * 99)) + chunk(b"IEND", b"")


def overlapping():
    """Two entries of the list that share one file's bytes."""
    content = bytearray(zipped([("a.png", png()), ("b.png", png())]))
    second = content.rindex(b"PK\x01\x02")
    content[second + 42 : second + 46] = struct.pack("<I", 0)
    return bytes(content)


def announcing(count):
    """An archive whose end announces more files than there are."""
    content = bytearray(zipped([("a.png", png())]))
    end = content.rindex(b"PK\x05\x06")
    content[end + 8 : end + 12] = struct.pack("<HH", count, count)
    return bytes(content)


ARCHIVES = {
    "ZIP bomb: one file": (zipped([("a.png", b"\0" * 15_000_000)], compression=8), "suspicious compression ratio"),
    "ZIP bomb: in total": (
        zipped([(f"{n}.png", b"\0" * 5_000_000) for n in range(5)], compression=8),
        "archive too large",
    ),
    "ZIP bomb: overlapping files": (overlapping(), "overlapping files"),
    "ZIP bomb: number of files": (zipped([(f"{n}", b"x") for n in range(1001)]), "too many files"),
    "ZIP bomb: announced number of files": (announcing(60_000), "too many files"),
    "traversal": (zipped([("../../a.png", png())]), "path outside of the archive"),
    "traversal with backslashes": (
        renamed(zipped([("xxaxa.png", png())]), b"xxaxa.png", b"..\\\\a.png"),
        "path outside of the archive",
    ),
    "absolute path": (zipped([("/etc/a.png", png())]), "path outside of the archive"),
    "drive": (zipped([("C:a.png", png())]), "path outside of the archive"),
    "folder": (zipped([("inner/a.png", png())]), "folder in an archive"),
    "symlink": (zipped([link("a.png", "/etc/passwd")]), "not a regular file"),
    "device": (zipped([link("a.png", "", stat.S_IFCHR)]), "not a regular file"),
    "duplicate": (zipped([("a.png", png()), ("a.png", png((5, 5)))]), "duplicate file name"),
    "unicode: two spellings of a name": (zipped([("é.png", png()), ("e\u0301.png", png())]), "duplicate file name"),
    "unicode: right to left": (zipped([("a\u202egnp.exe", png())]), "invisible characters"),
    "name trick: NUL": (
        renamed(zipped([("a.exeX.png", png())]), b"a.exeX.png", b"a.exe\0.png"),
        "invisible characters",
    ),
    "name trick: device of Windows": (zipped([("con.png", png())]), "name not allowed on Windows"),
    "name trick: blank at the end": (zipped([("a.png ", png())]), "name not allowed on Windows"),
    "encrypted": (
        bytes(bytearray(zipped([("a.png", png())])[:6] + b"\x01" + zipped([("a.png", png())])[7:])).replace(
            b"PK\x01\x02\x14\x03\x14\x00\x00", b"PK\x01\x02\x14\x03\x14\x00\x01"
        ),
        "encrypted file",
    ),
    "no archive": (b"MZ" + b"\0" * 500, "unreadable archive"),
    "cut off": (zipped([("a.png", png())])[:-30], "unreadable archive"),
    "damaged": (zipped([("a.png", png())]).replace(png()[40:50], b"0123456789"), "damaged archive"),
    "image: not one": (zipped([("a.png", b"<script>alert(1)</script>")]), "image does not decode"),
    "image: cut off": (zipped([("a.png", png((64, 64))[:60])]), "image does not decode"),
    "image: huge header": (zipped([("a.png", huge_png())]), "image does not decode"),
    "image: another kind": (
        zipped([("a.jpg", png())]),
        "image format differs from suffix",
    ),
    "file that no table lists": (zipped([("a.png", png()), ("b.php", b"<?php")]), "unlisted file"),
    "file that is missing": (zipped([("b.png", png())]), "missing file"),
}


@pytest.mark.parametrize("attack", ARCHIVES)
def test_archives(start, send, client, root, attack, uploader):
    from brainscore_web.uploads.files import bytes_used

    content, finding = ARCHIVES[attack]
    table = TABLE if finding != "image format differs from suffix" else TABLE.replace(b"a.png", b"a.jpg")
    upload = start()
    assert send(upload, "csv", table).status_code == 200
    assert send(upload, "zip", content).status_code == 200
    answer = client.post(f"/uploads/{upload.pk}/check/", follow=True)
    upload.refresh_from_db()
    assert upload.state == "refused"
    found = {one["check"]: one for one in upload.findings}
    assert finding in found, upload.findings
    assert found[finding]["file"] == "stimulus_Simulated2026_upload.zip"
    assert finding in answer.content.decode()
    assert files_below(root) == []
    assert bytes_used(uploader) == 0


TABLES = {
    "no text": (b"\x89PNG\r\n\x1a\n\xff\xfe", "unreadable table"),
    "NUL bytes": (b"stimulus_id\na\0b\n", "unreadable table"),
    "ragged": (b"stimulus_id,x\na,1\nb,1,2\n", "ragged table"),
    "too wide": (b"stimulus_id," + b",".join(b"c%d" % n for n in range(3000)) + b"\n", "table too wide"),
    "no ids": (b"name\na\n", "missing stimulus_id"),
    "ids twice": (b"stimulus_id\na\na\n", "duplicate stimulus_id"),
    "columns twice": (b"stimulus_id,x,x\na,1,2\n", "duplicate column"),
    "a web page": (b"<!doctype html><script>alert(1)</script>\n", "missing stimulus_id"),
    "files without an archive": (TABLE, "archive not given"),
    "a path as a file name": (b"stimulus_id,filename\na,../../a.png\n", "unsafe file name"),
    "endless cell": (b'stimulus_id\n"' + b"a" * 1_100_000, "unreadable table"),
}


@pytest.mark.parametrize("attack", TABLES)
def test_tables(start, send, client, root, settings, attack):
    settings.UPLOADS["table"] = 2_000_000
    content, finding = TABLES[attack]
    upload = start()
    assert send(upload, "csv", content).status_code == 200
    client.post(f"/uploads/{upload.pk}/check/")
    upload.refresh_from_db()
    assert upload.state == "refused"
    assert finding in {one["check"] for one in upload.findings}
    assert files_below(root) == []


def assembly_bytes(tmp_path, **changes):
    from brainscore_core.supported_data_standards.brainio.netcdf import write_netcdf

    assembly = assembly_of(changes.pop("ids", IDS))
    assembly.attrs.update(changes)
    write_netcdf(assembly, tmp_path / "made.nc")
    return (tmp_path / "made.nc").read_bytes()


def bomb(tmp_path):
    """A small file whose values need 8 GB."""
    with netCDF4.Dataset(tmp_path / "bomb.nc", "w") as dataset:
        dataset.createDimension("presentation", 1_000_000)
        dataset.createDimension("neuroid", 1_000)
        dataset.createVariable("data", "f8", ("presentation", "neuroid"), zlib=True, chunksizes=(1000, 1000))
    return (tmp_path / "bomb.nc").read_bytes()


def of_the_server(tmp_path):
    """A file whose regions are in another file, which the check would show to the uploader."""
    h5py = pytest.importorskip("h5py", reason="needs h5py: pip install 'brainscore[nwb]'")
    with h5py.File(tmp_path / "server.h5", "w") as file:
        file["region"] = ["secret"] * len(IDS)
    (tmp_path / "sent.nc").write_bytes(assembly_bytes(tmp_path))
    with h5py.File(tmp_path / "sent.nc", "a") as file:
        del file["region"]
        file["region"] = h5py.ExternalLink(str(tmp_path / "server.h5"), "/region")
    return (tmp_path / "sent.nc").read_bytes()


def infinite(tmp_path):
    from brainscore_core.supported_data_standards.brainio.netcdf import write_netcdf

    assembly = assembly_of()
    assembly.values[0, 0] = np.inf
    write_netcdf(assembly, tmp_path / "made.nc")
    return (tmp_path / "made.nc").read_bytes()


MEASUREMENTS = {
    "no netCDF": (lambda _: b"PK\x03\x04" + b"\0" * 200, "not a netCDF file"),
    "cut off": (lambda folder: assembly_bytes(folder)[:2000], "unreadable assembly"),
    "other files of the server": (of_the_server, "unreadable assembly"),
    "huge header": (bomb, "assembly too large"),
    "stimuli that the stimulus set lacks": (
        lambda folder: assembly_bytes(folder, ids=[*IDS[:-1], "img_99"]),
        "unknown stimuli",
    ),
    "of another data set": (lambda folder: assembly_bytes(folder, identifier="Other2020"), "different assembly"),
    "of another stimulus set": (
        lambda folder: assembly_bytes(folder, stimulus_set_identifier="Other2020"),
        "different stimulus set",
    ),
    "infinite values": (infinite, "infinite values"),
}


@pytest.mark.parametrize("attack", MEASUREMENTS)
def test_measurements(start, send, client, root, packages, tmp_path, attack):
    make, finding = MEASUREMENTS[attack]
    upload = start()
    for kind in ("csv", "zip"):
        send(upload, kind, packages.all[kind])
    assert send(upload, "nc", make(tmp_path)).status_code == 200
    client.post(f"/uploads/{upload.pk}/check/")
    upload.refresh_from_db()
    assert upload.state == "refused"
    found = {one["check"]: one for one in upload.findings}
    assert finding in found, upload.findings
    assert found[finding]["file"] == "assy_Simulated2026_upload.nc"
    assert "secret" not in str([upload.findings, upload.facts])
    assert files_below(root) == []


def test_measurements_alone_are_compared_with_stimuli_that_are_there(start, send, client, accepted, member, tmp_path):
    """Of another member only what is public; a difference is a warning, as another version may be meant."""
    from brainscore_web.uploads.models import Upload

    stimuli = accepted(["csv", "zip"])
    for visibility, owner, seen in (("public", None, True), ("public", member, True), ("private", member, False)):
        Upload.objects.filter(pk=stimuli.pk).update(owner=owner or stimuli.owner, visibility=visibility)
        upload = start()
        send(upload, "nc", assembly_bytes(tmp_path, ids=[*IDS[:-1], "img_99"]))
        client.post(f"/uploads/{upload.pk}/check/")
        upload.refresh_from_db()
        assert upload.state == "accepted", upload.findings
        found = [one for one in upload.findings if one["check"] == "unknown stimuli"]
        assert bool(found) == seen
        assert not found or ("'img_99'" in found[0]["culprit"] and found[0]["severity"] == "warning")


def test_another_class_than_declared(start, send, client, packages):
    upload = start(assembly_class="SpikeTimesAssembly")
    send(upload, "nc", packages.nc)
    client.post(f"/uploads/{upload.pk}/check/")
    upload.refresh_from_db()
    assert "wrong dimensions" in {one["check"] for one in upload.findings}


@pytest.mark.parametrize(
    ("name", "content", "status"),
    [
        ("evil.exe", TABLE, 400),  # wrong extension
        ("stimuli.csv.php", TABLE, 400),
        ("stimuli.zip", TABLE, 400),
        ("", TABLE, 400),
        ("stimuli.csv", b"", 400),  # 0 bytes
        ("stimuli.csv", b"x" * 500_001, 413),  # too large
    ],
)
def test_files_that_are_not_taken(start, send, root, name, content, status):
    from brainscore_web.uploads.models import UploadedFile

    upload = start()
    answer = send(upload, "csv", content, name=name or " ")
    assert answer.status_code == status
    assert not UploadedFile.objects.exclude(size=None).exists()
    assert not UploadedFile.objects.exclude(claim="").exists()
    assert files_below(root) == []


@pytest.mark.parametrize(
    "name",
    ["../../../etc/cron.d/x.csv", "..\\..\\x.csv", "/etc/passwd.csv", "a\0b.csv", "\u202evsc.csv", "é" * 300 + ".csv"],
)
def test_names_of_senders_lead_nowhere(start, client, root, name):
    """What a file is called at the sender's is shown, without tricks, and used for nothing."""
    upload = start()
    body = (
        b'--x\r\nContent-Disposition: form-data; name="file"; filename="'
        + name.encode()
        + b'"\r\nContent-Type: text/csv\r\n\r\n'
        + TABLE
        + b"\r\n--x--\r\n"
    )
    answer = client.post(f"/uploads/{upload.pk}/csv/", body, content_type="multipart/form-data; boundary=x")
    assert answer.status_code in (303, 400)
    (path,) = files_below(root) or ["incoming/none"]
    assert path.startswith("incoming/")
    for file in upload.files.all():
        assert not set(file.sent_as) & set("/\\\0\u202e")
        assert file.name == "stimulus_Simulated2026_upload.csv"


def test_a_huge_header_of_a_form(start, client, root):
    upload = start()
    head = b'--x\r\nContent-Disposition: form-data; name="file"; filename="a.csv"\r\nX-Pad: ' + b"x" * 100_000
    answer = client.post(
        f"/uploads/{upload.pk}/csv/", head + b"\r\n\r\na\r\n--x--\r\n", content_type="multipart/form-data; boundary=x"
    )
    assert answer.status_code == 400
    assert files_below(root) == []


def test_many_fields_of_a_form(start, client, root):
    upload = start()
    fields = b"".join(b'--x\r\nContent-Disposition: form-data; name="f%d"\r\n\r\na\r\n' % n for n in range(2000))
    answer = client.post(
        f"/uploads/{upload.pk}/csv/", fields + b"--x--\r\n", content_type="multipart/form-data; boundary=x"
    )
    assert answer.status_code == 400
    assert not upload.files.exclude(claim="").exists()


def test_several_files_in_a_form(start, client, root):
    """The first one counts; the others go nowhere."""
    upload = start()
    body = b"".join(
        b'--x\r\nContent-Disposition: form-data; name="file"; filename="a.csv"\r\n\r\n%s\r\n' % content
        for content in (TABLE, b"other")
    )
    client.post(f"/uploads/{upload.pk}/csv/", body + b"--x--\r\n", content_type="multipart/form-data; boundary=x")
    assert upload.files.get().size == len(TABLE)
    assert len(files_below(root)) == 1


def test_a_hash_that_does_not_fit(start, send, client, packages):
    upload = start()
    send(upload, "csv", packages.csv, sha1="0" * 40)
    send(upload, "zip", packages.zip, sha1=packages.sha1["zip"].upper())
    client.post(f"/uploads/{upload.pk}/check/")
    upload.refresh_from_db()
    (found,) = [one for one in upload.findings if one["severity"] == "error"]
    assert found["check"] == "wrong file"
    assert packages.sha1["csv"] in found["culprit"]
    assert send(start(), "csv", packages.csv, sha1="short").status_code == 400


@pytest.mark.parametrize(
    "identifier", ["../x", "a/b", "a\\b", "", "x" * 201, "é", "a b", '"]+__import__("os")', "a\nb", ".", "{{ 1 }}"]
)
def test_identifiers_that_name_nothing(uploader, client, identifier):
    from brainscore_web.uploads.models import Upload

    data = {"identifier": identifier, "assembly_class": "NeuroidAssembly", "visibility": "public"}
    answer = client.post("/uploads/new/", data)
    assert answer.status_code == 400
    assert not Upload.objects.exists()


SPY = """
import json, os, pathlib, socket, sys

def tried(function):
    try:
        return str(function())
    except OSError as error:
        return type(error).__name__

found = [
    tried(lambda: pathlib.Path({file!r}).read_text()),
    tried(lambda: pathlib.Path({other!r}).read_text()),
    tried(lambda: pathlib.Path({file!r}).write_text("changed")),
    tried(lambda: socket.create_connection(("127.0.0.1", {port}), 5)),
    str(sorted(os.environ)),
]
findings = [dict(file="", check="", culprit=text, remedy="") for text in found]
pathlib.Path(sys.argv[2]).write_text(json.dumps(dict(findings=findings, hashes={{}}, facts={{}})))
"""


@pytest.mark.slow(reason="runs six sandboxes, one of them up to its time limit")
def test_the_inspection_sees_only_the_file(in_a_sandbox, monkeypatch, tmp_path):
    """And what ends it is a finding."""
    from brainscore_web.uploads import checking
    from brainscore_web.uploads.inspection import Question

    for name in ("AWS_SECRET_ACCESS_KEY", "DATABASE_URL", "BRAINSCORE_SITE_SECRET"):
        monkeypatch.setenv(name, "secret")
    script, file, other = tmp_path / "script.py", tmp_path / "a.csv", tmp_path / "b.csv"
    for path in (file, other):
        path.write_text("content")
    monkeypatch.setattr(checking, "_SCRIPT", script)
    limits = {"seconds": 60, "memory": 10**9}
    question = Question({"csv": str(file)}, {"csv": "a.csv"}, "A", "A", "DataAssembly", limits)
    with socket.create_server(("127.0.0.1", 0)) as server:
        script.write_text(SPY.format(file=str(file), other=str(other), port=server.getsockname()[1]))
        findings = checking.inspect_in_sandbox(question, alive=lambda: True).findings
    *seen, variables = [finding.culprit for finding in findings]
    assert seen == ["content", "FileNotFoundError", "OSError", "ConnectionRefusedError"]
    assert "PATH" in variables
    assert not [name for name in ("AWS", "DATABASE", "BRAINSCORE_SITE", "DJANGO") if name in variables]
    short = replace(question, limits={**limits, "seconds": 2})
    for code, said in (
        ("import time; time.sleep(60)", "ran longer than 2 s"),
        ("import os; os.abort()", "signal 6"),
        ("x", "exit status 1"),
        ("import sys; open(sys.argv[2], 'w').write('{}')", "gave no answer"),
    ):
        script.write_text(code)
        (found,) = checking.inspect_in_sandbox(short, alive=lambda: True).findings
        assert said in found.culprit
    script.write_text("import time; time.sleep(60)")
    monkeypatch.setattr(checking, "_HEARTBEAT", 0.05)
    assert checking.inspect_in_sandbox(question, alive=lambda: False) is None  # another process took over


def test_memory_is_bounded(in_a_sandbox, start, send, client, packages, settings):
    settings.UPLOADS["memory"] = 250_000_000
    upload = start()
    for kind, path in packages.all.items():
        send(upload, kind, path)
    client.post(f"/uploads/{upload.pk}/check/")
    upload.refresh_from_db()
    assert upload.state == "refused"
    assert {one["check"] for one in upload.findings} <= {"files too large", "files cannot be checked"}
