"""Submissions as ZIP files and folders: what is taken, where it goes, what is refused."""

import io
import stat
import struct
import zipfile
from pathlib import Path

import pytest

import brainscore_vision
from brainscore_core.errors import UserError
from brainscore_core.submission import Limits, errors_among, read_folder, read_zip, unpack

PLATFORM = Path(brainscore_vision.__file__).parent


def paths(package):
    return [plugin.path for plugin in package.plugins]


def notes(package, check):
    return [finding.message for finding in package.findings if finding.check == check]


@pytest.mark.parametrize("wrapper", ["", "mysubmission/", "a/b/c/", "vision/brainscore_vision/"])
def test_layouts_with_folders_of_kinds(zipped, model, benchmark, wrapper):
    package = read_zip(zipped({**model, **benchmark}, wrapper))
    assert paths(package) == ["benchmarks/mine2026", "data/mine2026", "models/mine"]
    assert sorted(package.files) == sorted({**model, **benchmark})
    assert [(one.registry, one.key, one.line) for one in package.plugins[0].registrations] == [
        ("benchmark_registry", "Mine2026-pls", 6)
    ]
    moved = [f"{wrapper}{path}/ is read as {path}/" for path in paths(package)]
    assert notes(package, "layout") == (moved if wrapper else [])
    assert read_zip(zipped({**model, **benchmark})).digest == package.digest


def test_the_tutorials_layout_without_folders_of_plugins(zipped, benchmark):
    files = {path.replace("mine2026/", ""): text for path, text in benchmark.items()}
    package = read_zip(zipped(files, "MyBenchmark2024_stimuli_and_data/"))
    name = "MyBenchmark2024_stimuli_and_data"
    assert paths(package) == [f"benchmarks/{name}", f"data/{name}"]
    assert f"benchmarks/{name}/benchmark.py" in package.files
    assert notes(package, "layout")[0] == f"{name}/benchmarks/ is read as benchmarks/{name}/"
    assert paths(read_zip(zipped(files))) == ["benchmarks/Mine2026", "data/Mine2026"]  # after what they register
    assert paths(read_zip(zipped(files), name="study.zip")) == ["benchmarks/study", "data/study"]


def test_a_plugins_folder_alone(zipped, model, benchmark):
    alone = {path.removeprefix("models/"): text for path, text in model.items()}
    assert paths(read_zip(zipped(alone))) == ["models/mine"]
    assert paths(read_zip(zipped(alone, "deeper/"))) == ["models/mine"]
    bare = {path.removeprefix("models/mine/"): text for path, text in model.items()}
    assert paths(read_zip(zipped(bare), name="my net.zip")) == ["models/my_net"]
    data = {path.removeprefix("data/"): text for path, text in benchmark.items() if path.startswith("data/")}
    assert paths(read_zip(zipped(data))) == ["data/mine2026"]


def test_folders_that_are_called_like_kinds_within_a_plugin(zipped, model):
    model |= {"models/mine/data/labels.csv": "a\n", "models/mine/models/net.py": "x = 1\n"}
    alone = {path.removeprefix("models/"): text for path, text in model.items()}
    for files in (model, alone):
        package = read_zip(zipped(files))
        assert paths(package) == ["models/mine"]
        assert "models/mine/data/labels.csv" in package.files
        assert "models/mine/models/net.py" in package.files


def test_what_is_left_out(zipped, model):
    junk = ["__MACOSX/models/mine/._x.py", "models/mine/__pycache__/a.pyc", "models/.DS_Store", ".git/config"]
    model |= dict.fromkeys([*junk, "README.md", "models/__init__.py", "models/conftest.py"], "x")
    model |= {"models/mine/weights.pth": "x", "models/mine/named.npz": "x", "models/mine/fast.so": "x"}
    model["models/mine/model.py"] = "FILE = 'named.npz'\n"
    package = read_zip(zipped(model))
    assert list(package.files) == ["models/mine/__init__.py", "models/mine/model.py", "models/mine/test.py"]
    assert notes(package, "left out") == [
        "4 leftover files of programs",
        "not in a plugin's folder, and left out: README.md, models/conftest.py",
    ]
    data = {one.file.rpartition("/")[2]: one for one in package.findings if one.check in ("data in code", "program")}
    assert {name: one.severity for name, one in data.items()} == {
        "weights.pth": "warning", "named.npz": "error", "fast.so": "error"
    }  # fmt: skip
    assert "upload it" in data["weights.pth"].remedy


def test_files_that_are_too_large_or_elsewhere(zipped, model):
    model |= {"models/mine/big.txt": "x" * 2000, "models/mine/lfs.csv": "version https://git-lfs.github.com/spec/v1\n"}
    package = read_zip(zipped(model), limits=Limits(file=1000))
    assert {(one.file, one.check) for one in errors_among(package.findings)} == {
        ("models/mine/big.txt", "size"), ("models/mine/lfs.csv", "data in code")
    }  # fmt: skip
    with pytest.raises(UserError, match="more than 0 MB"):
        read_zip(zipped({**model, **{f"models/mine/{n}.txt": "x" * 900 for n in range(9)}}), limits=Limits(size=5000))


def test_a_faulty_plugin_is_shown_not_dropped(zipped, model):
    package = read_zip(zipped({**model, "models/other/model.py": "x = 1\n"}))
    assert paths(package) == ["models/mine", "models/other"]
    assert package.plugins[1].registrations == ()


def test_what_holds_no_plugin(zipped):
    with pytest.raises(UserError, match="there is no plugin") as caught:
        read_zip(zipped({"README.md": "x", "src/net.py": "x = 1"}))
    assert "models/my_model/__init__.py" in caught.value.remedy
    both = "from brainscore_vision import model_registry, data_registry\nmodel_registry['a'] = data_registry['b'] = 1"
    with pytest.raises(UserError, match="registers in models and data, so that its kind is ambiguous"):
        read_zip(zipped({"mine/__init__.py": both}))


def test_a_plugin_that_is_there_twice(zipped, model):
    with pytest.raises(UserError, match="models/mine is there twice: in a/models/mine and in b/models/mine"):
        read_zip(zipped({**{f"a/{k}": v for k, v in model.items()}, **{f"b/{k}": v for k, v in model.items()}}))


def test_registering_above_plugins(zipped, model):
    package = read_zip(zipped({**model, "models/__init__.py": model["models/mine/__init__.py"]}))
    assert paths(package) == ["models/mine"]
    assert [one.file for one in errors_among(package.findings)] == ["models/__init__.py"]


def _entry(path, mode=stat.S_IFREG | 0o644, **attributes):
    entry = zipfile.ZipInfo(path)
    entry.create_system, entry.external_attr = 3, mode << 16
    for name, value in attributes.items():
        setattr(entry, name, value)
    return entry


@pytest.mark.parametrize(
    ("path", "said"),
    [
        ("../models/mine/x.py", "leaves its folder"),
        ("/models/mine/x.py", "leaves its folder"),
        ("models/../../x.py", "leaves its folder"),
        ("C:/models/x.py", "leaves its folder"),
        ("..\\models\\x.py", "leaves its folder"),
        ("models/mine/a\x07b.py", "some systems reject"),
        ("models/mine/a\u202eb.py", "some systems reject"),
        ("models/mine/nul.py", "some systems reject"),
        ("models/mine/a?.py", "some systems reject"),
        ("models/mine/e\u0301.py", "some systems reject"),
        ("models/mine/end./x.py", "some systems reject"),
        ("models/mine/TEST.py", "differ only in case"),
    ],
)
def test_names_that_are_refused(zipped, model, path, said):
    with pytest.raises(UserError, match=said):
        read_zip(zipped({**model, path: "x = 1"}))


def test_backslashes_of_old_programs_are_folders(zipped, model):
    package = read_zip(zipped({path.replace("/", "\\"): text for path, text in model.items()}))
    assert sorted(package.files) == sorted(model)


def test_members_that_are_refused(zipped, model):
    link = (_entry("models/mine/link.py", stat.S_IFLNK | 0o777), "/etc/passwd")
    with pytest.raises(UserError, match="is a link or a device"):
        read_zip(zipped([*model.items(), link]))
    with pytest.warns(UserWarning, match="Duplicate"):
        twice = zipped([*model.items(), ("models/mine/test.py", "other")])
    with pytest.raises(UserError, match=r"holds 'models/mine/test\.py' twice"):
        read_zip(twice)
    locked = bytearray(zipped(model))
    place = locked.index(b"PK\x01\x02")
    locked[place + 8] |= 1  # the directory says that the first member is encrypted
    with pytest.raises(UserError, match="needs a password"):
        read_zip(bytes(locked))


def test_bombs(zipped, model):
    with pytest.raises(UserError, match="100 times its size"):
        read_zip(zipped({**model, "models/mine/bomb.txt": b"\0" * 3_000_000}))
    many = zipped({f"models/mine/{number}.txt": "" for number in range(300)})
    with pytest.raises(UserError, match="300 files; 200 are allowed"):
        read_zip(many, limits=Limits(members=200))
    with pytest.raises(UserError, match="larger than 2 MB"):
        read_zip(b"PK" + bytes(3_000_000), limits=Limits(size=1000))
    # what the directory announces is smaller than what comes
    lying = bytearray(zipped({**model, "models/mine/text.txt": b"\0" * 900_000}))
    place = lying.rindex(b"PK\x01\x02")
    struct.pack_into("<L", lying, place + 24, 10)
    with pytest.raises(UserError):
        read_zip(bytes(lying))


@pytest.mark.parametrize("content", [b"", b"PK", b"PK\x03\x04" + bytes(100), b"\x1f\x8b\x08", b"Rar!"])
def test_what_is_no_archive(content):
    with pytest.raises(UserError, match=r"not a ZIP file|cannot be read"):
        read_zip(content)


def test_damaged_archives(zipped, model):
    good = zipped(model)
    for place in range(0, len(good), 7):
        bad = bytearray(good)
        bad[place] ^= 0x55
        try:
            read_zip(bytes(bad))
        except UserError:
            continue  # anything else would fail here


def test_archives_are_the_same_for_the_same_files(zipped, written, model, tmp_path):
    one = read_zip(zipped(model, "x/"))
    other = read_folder(written(dict(reversed(model.items()))))
    assert one.to_zip() == other.to_zip()
    assert read_zip(one.to_zip()).digest == one.digest
    unpack(one.to_zip(), tmp_path / "unpacked")
    assert (tmp_path / "unpacked" / "models/mine/test.py").read_text() == model["models/mine/test.py"]
    with pytest.raises(UserError, match="is not empty"):
        unpack(one.to_zip(), tmp_path / "unpacked")
    with pytest.raises(UserError, match="not an archive of a submission"):
        unpack(zipped({"models/../../x": "x"}), tmp_path / "other")
    assert not (tmp_path / "other").exists()


def test_streams_and_files(zipped, model, tmp_path):
    content = zipped(model)
    (tmp_path / "mine.zip").write_bytes(content)
    assert read_zip(io.BytesIO(content)).digest == read_zip(tmp_path / "mine.zip").digest
    with pytest.raises(UserError, match="cannot be read"):
        read_zip(tmp_path / "absent.zip")


def test_folders(written, model, benchmark, tmp_path):
    folder = written({**model, **benchmark})
    assert len(read_folder(folder).plugins) == 3
    assert paths(read_folder(folder / "models" / "mine")) == ["models/mine"]
    assert paths(read_folder(folder / "benchmarks")) == ["benchmarks/mine2026"]
    alone = written({"__init__.py": model["models/mine/__init__.py"], "test.py": ""}, tmp_path / "my-net")
    assert paths(read_folder(alone)) == ["models/my-net"]
    (folder / "models/mine/link.py").symlink_to("/etc/passwd")
    (found,) = errors_among(read_folder(folder).findings)
    assert (found.check, found.file) == ("link", "models/mine/link.py")
    with pytest.raises(UserError, match="there is no folder"):
        read_folder(folder / "absent")


def test_a_checkout_of_the_platform(tmp_path, written, model):
    for file in ("model_interface.py", "__init__.py", *(f"models/pixels/{one.name}" for one in
                 (PLATFORM / "models/pixels").glob("*.*"))):  # fmt: skip
        written({f"brainscore_vision/{file}": (PLATFORM / file).read_bytes()})
    folder = written({"tests/vision/models/old/__init__.py": model["models/mine/__init__.py"]})
    with pytest.raises(UserError, match="all its plugins are the platform's own"):
        read_folder(folder)
    written({f"brainscore_vision/{path}": text for path, text in model.items()})
    package = read_folder(folder)
    assert paths(package) == ["models/mine"]
    assert package.findings == ()
    written({"brainscore_vision/models/pixels/model.py": "x = 1"})
    assert paths(read_folder(folder)) == ["models/mine", "models/pixels"]


def test_a_file_of_too_many_tokens_is_not_parsed(zipped, model, monkeypatch):
    """Parsing a tuple of 480,000 numbers takes seconds, and hundreds of megabytes."""
    from brainscore_core.submission import readers

    parsed, size_of = [], readers.syntax_size
    monkeypatch.setattr(readers, "syntax_size", lambda content: parsed.append(len(content)) or size_of(content))
    package = read_zip(zipped({**model, "models/mine/table.py": f"X = ({'1,' * 480_000})\n"}))
    assert max(parsed) < 10_000
    assert "models/mine/table.py" not in package.files
    (finding,) = errors_among(package.findings)
    assert "too long for a Python file" in finding.message


def test_paths_are_limited(zipped, model):
    """Python's own functions fail on a path of 2,000 folders."""
    with pytest.raises(UserError, match=r"the path 'models/mine/a/a/.*'… is longer than 400 bytes"):
        read_zip(zipped({**model, "models/mine/" + "a/" * 2000 + "x.py": ""}))


def test_files_and_identifiers_are_limited(zipped, model):
    (start,) = [path for path in model if path.endswith("__init__.py")]
    with pytest.raises(UserError, match=r"its plugins hold \d+ files; 1 are allowed"):
        read_zip(zipped(model), limits=Limits(files=1))
    keys = "".join(f"model_registry['key-{number}'] = print\n" for number in range(30))
    many = zipped({**model, start: f"from brainscore_vision import model_registry\n{keys}"})
    with pytest.raises(UserError, match="it registers 30 identifiers; 20 are allowed"):
        read_zip(many, limits=Limits(identifiers=20))
    assert read_zip(many).plugins
