import hashlib
import json
import zipfile

import pytest
from click.testing import CliRunner

from brainscore.cli._app import app
from brainscore.cli.cache import command
from brainscore_core.errors import UserError
from brainscore_core.supported_data_standards.brainio.fetch import unzip


def put(home, name, body, algorithm="sha1"):
    folder = home / hashlib.new(algorithm, body).hexdigest()
    folder.mkdir(parents=True, exist_ok=True)
    (folder / name).write_bytes(body)
    return folder / name


@pytest.fixture
def home(tmp_path, monkeypatch):
    home = tmp_path / "cache"
    monkeypatch.setenv("BRAINIO_HOME", str(home))
    monkeypatch.setenv("BRAINSCORE_ACTIVATIONS", str(tmp_path / "activations"))
    return home


@pytest.fixture
def filled(home, tmp_path):
    put(home, "rates.nc", b"rates")
    put(home, "labels.csv", b"labels", "sha256")
    with zipfile.ZipFile(tmp_path / "images.zip", "w") as store:
        store.writestr("1.png", "one")
        store.writestr("2.png", "two")
    unzip(put(home, "images.zip", (tmp_path / "images.zip").read_bytes()))
    (home / "notes.txt").write_text("mine")
    (home / "folder").mkdir()
    (home / "folder" / "rates.nc").write_text("mine too")
    return home


def run(*arguments, **options):
    return CliRunner().invoke(command, list(arguments), catch_exceptions=False, **options)


def names(home):
    return sorted(path.name for path in home.rglob("*") if path.is_file())


def listed(*arguments):
    return json.loads(run(*arguments, "--json").stdout)


def test_path(home):
    assert run("path").stdout == f"{home}\n"
    assert listed("path") == {"path": str(home)}
    assert not home.exists()


def test_default_path(monkeypatch, tmp_path):
    monkeypatch.delenv("BRAINIO_HOME")
    monkeypatch.setenv("HOME", str(tmp_path))
    assert listed("path") == {"path": str(tmp_path / ".brainio")}


def test_nothing_there(home):
    activations = {"path": str(home.parent / "activations"), "bytes": 0, "layers": []}
    assert listed("ls") == {"path": str(home), "bytes": 0, "files": [], "activations": activations}
    assert listed("ls", "--kind", "data") == {"path": str(home), "bytes": 0, "files": []}
    assert listed("ls", "--kind", "activations") == {"activations": activations}
    assert listed("clear", "--yes")["activations"]["removed"] == []
    assert listed("verify")["files"] == []
    assert listed("clear", "--yes")["removed"] == []
    assert run("ls").exit_code == 0


def test_list(filled):
    result = listed("ls")
    assert [(item["name"], item["kind"]) for item in result["files"]] == [
        ("images", "folder"),
        ("images.zip", "file"),
        ("labels.csv", "file"),
        ("rates.nc", "file"),
    ]
    rates = result["files"][-1]
    assert rates["bytes"] == 5
    assert rates["sha1"] == hashlib.sha1(b"rates").hexdigest()
    assert rates["path"] == str(filled / rates["sha1"] / "rates.nc")
    assert result["files"][0]["bytes"] == 6
    assert result["files"][2]["sha256"] == hashlib.sha256(b"labels").hexdigest()
    assert result["bytes"] == sum(item["bytes"] for item in result["files"])


def test_list_in_words(filled):
    result = run("ls")
    assert result.stdout.splitlines() == ["images", "images.zip", "labels.csv", "rates.nc"]
    assert "4 entries in" in result.stderr


@pytest.mark.parametrize("name", ["rates.nc", "*.nc", hashlib.sha1(b"rates").hexdigest()[:8]])
def test_list_by_name(filled, name):
    assert [item["name"] for item in listed("ls", name)["files"]] == ["rates.nc"]


def test_verify(filled):
    result = listed("verify")
    assert result["wrong"] == 0
    assert {item["state"] for item in result["files"]} == {"good"}


def test_verify_finds_what_is_wrong(filled):
    put(filled, "rates.nc", b"rates").write_bytes(b"rAtes")
    (next(filled.rglob("1.png"))).write_text("oNe")
    result = run("verify", "--json")
    assert result.exit_code == 1
    states = {item["name"]: item["state"] for item in json.loads(result.stdout)["files"]}
    assert states == {"images": "wrong", "images.zip": "good", "labels.csv": "good", "rates.nc": "wrong"}
    worded = run("verify")
    assert worded.exit_code == 1
    assert "2 wrong" in worded.stderr + worded.stdout


def test_verify_without_or_with_damaged_archive(filled):
    archive = next(filled.rglob("images.zip"))
    archive.write_bytes(b"damaged")
    states = {item["name"]: item["state"] for item in json.loads(run("verify", "--json").stdout)["files"]}
    assert (states["images"], states["images.zip"]) == ("unknown", "wrong")
    archive.unlink()
    assert {item["name"]: item["state"] for item in listed("verify")["files"]}["images"] == "unknown"


def test_remove(filled):
    removed = listed("rm", "rates.nc", "--yes")["removed"]
    assert [item["name"] for item in removed] == ["rates.nc"]
    assert not (filled / hashlib.sha1(b"rates").hexdigest()).exists()
    assert names(filled) == ["1.png", "2.png", "images.zip", "labels.csv", "notes.txt", "rates.nc"]
    assert (filled / "folder" / "rates.nc").read_text() == "mine too"


def test_remove_an_archive_with_what_was_unpacked(filled):
    assert len(listed("rm", "*.zip", "--yes")["removed"]) == 2
    assert not list(filled.rglob("*.png"))


def test_remove_an_unknown_name(filled):
    with pytest.raises(UserError, match=r"no 'rate.nc'\n.*rates.nc"):
        run("rm", "rate.nc", "--yes")
    with pytest.raises(UserError, match=r"no 'notes.txt'"):
        run("rm", "notes.txt", "--yes")
    with pytest.raises(UserError):
        run("rm", "../../*", "--yes")
    assert run("rm").exit_code == 2
    assert "rates.nc" in names(filled)


def test_one_unknown_name_and_nothing_is_removed(filled):
    before = names(filled)
    with pytest.raises(UserError):
        run("rm", "rates.nc", "nothing", "--yes")
    assert names(filled) == before


def test_clear_asks(filled):
    before = names(filled)
    assert run("clear", input="n\n").exit_code == 1
    assert run("clear").exit_code == 1
    assert names(filled) == before
    assert run("clear", input="y\n").exit_code == 0
    assert names(filled) == ["notes.txt", "rates.nc"]


def test_nothing_outside_the_cache_is_touched(filled, tmp_path):
    outside = tmp_path / "outside"
    outside.mkdir()
    (outside / "precious").write_text("")
    (filled / ("0" * 40)).symlink_to(outside)
    inside = filled / ("1" * 40)
    inside.mkdir()
    (inside / "link").symlink_to(outside)
    (inside / "file").symlink_to(outside / "precious")
    assert run("clear", "--yes").exit_code == 0
    assert (outside / "precious").exists()
    assert not inside.exists()


def test_what_a_killed_process_left(home):
    put(home, ".0123.part", b"half")
    assert [item["kind"] for item in listed("ls")["files"]] == ["unfinished"]
    assert run("clear", "--yes").exit_code == 0
    assert names(home) == []


def test_from_the_app(filled, capsys):
    with pytest.raises(SystemExit) as left:
        app.main(["cache", "ls", "rate.nc"])
    assert left.value.code == 2
    errors = capsys.readouterr().err
    assert "rates.nc" in errors
    assert "Traceback" not in errors
