"""Packages: what is in them, that they are the same everywhere, and that failure leaves nothing behind."""

import hashlib
import os
import signal
import subprocess
import sys
import textwrap
import time
import warnings
import zipfile
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from PIL import Image

from brainscore_core.errors import UserError
from brainscore_core.supported_data_standards.brainio import netcdf, packaging
from brainscore_core.supported_data_standards.brainio.assemblies import (
    BehavioralAssembly,
    DataAssembly,
    NeuroidAssembly,
)
from brainscore_core.supported_data_standards.brainio.fetch import AssemblyLoader, unzip
from brainscore_core.supported_data_standards.brainio.netcdf import read_netcdf
from brainscore_core.supported_data_standards.brainio.packaging import (
    create_stimulus_csv,
    create_stimulus_zip,
    package_data_assembly_locally,
    package_stimulus_set_locally,
    write_netcdf,
)
from brainscore_core.supported_data_standards.brainio.stimuli import StimulusSet
from brainscore_core.supported_data_standards.brainio.validation import ValidationError, ValidationWarning

NAME = "MyExperiment2024.part_one"


def sha1(path):
    return hashlib.sha1(Path(path).read_bytes()).hexdigest()


def everything_in(folder):
    return sorted(path.relative_to(folder).as_posix() for path in Path(folder).rglob("*"))


@pytest.fixture
def stimuli(tmp_path):
    folder = tmp_path / "originals"
    folder.mkdir()
    paths = {}
    for number, suffix in enumerate([".png", ".PNG", ".jpg"]):
        paths[f"img_{number}"] = folder / f"photo {number}{suffix}"
        Image.new("RGB", (4, 4), (number, 0, 0)).save(paths[f"img_{number}"])
    made = StimulusSet(
        {"size": [1 / 3, 2.0, np.nan], "stimulus_id": list(paths), "label": ["ä", "a,b", 'c"d'], "n": [1, 2, 3]}
    )
    made.stimulus_paths = paths
    made.name = NAME
    return made


@pytest.fixture
def assembly():
    coords = {
        "stimulus_id": ("presentation", ["img_0", "img_1", "img_0"]),
        "repetition": ("presentation", [0, 0, 1]),
        "neuroid_id": ("neuroid", ["n0", "n1"]),
        "region": ("neuroid", ["V4", "IT"]),
    }
    made = NeuroidAssembly(np.arange(6.0).reshape(3, 2) / 7, coords=coords, dims=["presentation", "neuroid"])
    made.attrs["sampling_rate"] = 280000
    made.attrs["experiment_date"] = "2024-03-22"
    return made


class TestStimulusSet:
    def test_files_and_hashes(self, stimuli, tmp_path):
        package = package_stimulus_set_locally(
            proto_stimulus_set=stimuli, stimulus_set_identifier=stimuli.name, downloads_path=tmp_path / "new" / "folder"
        )
        folder = tmp_path / "new" / "folder"
        assert package == {
            "identifier": NAME,
            "csv_path": str(folder / "stimulus_MyExperiment2024_part_one.csv"),
            "zip_path": str(folder / "stimulus_MyExperiment2024_part_one.zip"),
            "csv_sha1": sha1(package["csv_path"]),
            "zip_sha1": sha1(package["zip_path"]),
        }
        assert len(everything_in(folder)) == 2

    def test_table(self, stimuli, tmp_path):
        package = package_stimulus_set_locally(stimuli, NAME, downloads_path=tmp_path)
        assert (
            Path(package["csv_path"]).read_bytes()
            == (
                "size,stimulus_id,label,n,filename\n"
                "0.3333333333333333,img_0,ä,1,img_0.png\n"
                '2.0,img_1,"a,b",2,img_1.PNG\n'
                ',img_2,"c""d",3,img_2.jpg\n'
            ).encode()
        )

    def test_archive(self, stimuli, tmp_path):
        package = package_stimulus_set_locally(stimuli, NAME, downloads_path=tmp_path)
        with zipfile.ZipFile(package["zip_path"]) as archive:
            assert archive.namelist() == ["img_0.png", "img_1.PNG", "img_2.jpg"]
            assert archive.testzip() is None
            for member, path in zip(archive.infolist(), stimuli.stimulus_paths.values(), strict=True):
                assert archive.read(member) == path.read_bytes()
                assert member.compress_type == zipfile.ZIP_STORED
                assert member.date_time == (1980, 1, 1, 0, 0, 0)
                assert member.external_attr >> 16 == 0o100644

    def test_loads_back(self, stimuli, tmp_path):
        package = package_stimulus_set_locally(stimuli, NAME, downloads_path=tmp_path)
        loaded = StimulusSet.from_files(package["csv_path"], unzip(package["zip_path"]))
        pd.testing.assert_frame_equal(
            pd.DataFrame(loaded.drop(columns="filename")), pd.DataFrame(stimuli), check_dtype=False
        )
        for one in stimuli["stimulus_id"]:
            assert loaded.get_stimulus(one).read_bytes() == stimuli.get_stimulus(one).read_bytes()

    def test_names_in_the_archive(self, stimuli, tmp_path):
        stimuli["stimulus_path_within_store"] = ["one", "two", "three"]
        package = package_stimulus_set_locally(stimuli, NAME, downloads_path=tmp_path)
        with zipfile.ZipFile(package["zip_path"]) as archive:
            assert archive.namelist() == ["one.png", "two.PNG", "three.jpg"]
        assert pd.read_csv(package["csv_path"])["filename"].tolist() == ["one.png", "two.PNG", "three.jpg"]

    @pytest.mark.parametrize("ids", [["001", "002", "1"], ["NA", "nan", "None"], ["1e5", "True", " x"]])
    def test_ids_that_look_like_something_else(self, stimuli, tmp_path, ids):
        stimuli["stimulus_id"] = ids
        stimuli.stimulus_paths = dict(zip(ids, stimuli.stimulus_paths.values(), strict=True))
        package = package_stimulus_set_locally(stimuli, NAME, downloads_path=tmp_path)
        loaded = StimulusSet.from_files(package["csv_path"], unzip(package["zip_path"]))
        assert loaded["stimulus_id"].tolist() == ids

    def test_without_files(self, tmp_path):
        words = StimulusSet({"stimulus_id": ["w1", "w2"], "word": ["cat", "dog"]})
        words.name = "Words2024"
        with pytest.warns(ValidationWarning, match="only a table is packaged"):
            package = package_stimulus_set_locally(words, "Words2024", downloads_path=tmp_path)
        assert package["zip_path"] is None
        assert package["zip_sha1"] is None
        assert everything_in(tmp_path) == ["stimulus_Words2024.csv"]
        assert StimulusSet.from_files(package["csv_path"])["word"].tolist() == ["cat", "dog"]

    def test_one_file_for_several_stimuli(self, stimuli, tmp_path):
        stimuli.stimulus_paths = dict.fromkeys(stimuli["stimulus_id"], stimuli.get_stimulus("img_0"))
        package = package_stimulus_set_locally(stimuli, NAME, downloads_path=tmp_path)
        with zipfile.ZipFile(package["zip_path"]) as archive:
            assert archive.namelist() == ["img_0.png", "img_1.png", "img_2.png"]

    def test_default_folder(self, stimuli, assembly, tmp_path, monkeypatch):
        monkeypatch.setenv("HOME", str(tmp_path))
        folder = tmp_path / "Downloads" / "brainscore_packages"
        assert Path(package_stimulus_set_locally(stimuli, NAME)["csv_path"]).parent == folder
        package = package_data_assembly_locally(assembly, NAME, NAME, "NeuroidAssembly")
        assert Path(package["path"]) == folder / "assy_MyExperiment2024_part_one.nc"

    def test_twice_and_untouched(self, stimuli, tmp_path):
        before, paths, columns = stimuli.copy(), dict(stimuli.stimulus_paths), list(stimuli.columns)
        first = package_stimulus_set_locally(stimuli, NAME, downloads_path=tmp_path)
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            assert package_stimulus_set_locally(stimuli, NAME, downloads_path=tmp_path) == first
        pd.testing.assert_frame_equal(stimuli, before)
        assert stimuli.stimulus_paths == paths
        assert list(stimuli.columns) == columns
        assert stimuli.attrs == {}

    def test_replacing_another_content_is_said(self, stimuli, tmp_path):
        first = package_stimulus_set_locally(stimuli, NAME, downloads_path=tmp_path)
        stimuli["n"] = [3, 2, 1]
        with pytest.warns(ValidationWarning, match=f"csv was replaced.*{first['csv_sha1']}") as caught:
            second = package_stimulus_set_locally(stimuli, NAME, downloads_path=tmp_path)
        assert len(caught) == 1  # the archive is the same
        assert Path(caught[0].filename) == Path(__file__)
        assert sha1(second["csv_path"]) == second["csv_sha1"] != first["csv_sha1"]

    def test_no_name_anywhere(self, stimuli, tmp_path):
        stimuli.name = None
        with pytest.raises(ValidationError, match="missing name"):
            package_stimulus_set_locally(stimuli, stimuli.name, downloads_path=tmp_path)

    def test_large_tables(self, tmp_path):
        path = tmp_path / "a.png"
        Image.new("L", (32, 32)).save(path)
        many = StimulusSet({"stimulus_id": [f"s{n:05}" for n in range(3_000)], "x": np.arange(3_000) / 7})
        for one in many["stimulus_id"]:
            many.stimulus_paths[one] = tmp_path / f"{one}.png"
            os.link(path, many.stimulus_paths[one])
        start = time.process_time()
        package_stimulus_set_locally(many, "Many2024", downloads_path=tmp_path / "packages")
        assert time.process_time() - start < 60


class TestAssembly:
    def test_file_and_hash(self, assembly, tmp_path):
        package = package_data_assembly_locally(
            proto_data_assembly=assembly,
            assembly_identifier=NAME,
            stimulus_set_identifier="Stimuli2024",
            assembly_class_name="NeuroidAssembly",
            downloads_path=tmp_path / "new",
        )
        path = tmp_path / "new" / "assy_MyExperiment2024_part_one.nc"
        assert package == {"identifier": NAME, "path": str(path), "sha1": sha1(path), "cls": "NeuroidAssembly"}
        assert everything_in(tmp_path / "new") == [path.name]

    def test_loads_back(self, assembly, tmp_path):
        package = package_data_assembly_locally(assembly, NAME, "Stimuli2024", "NeuroidAssembly", tmp_path)
        loaded = AssemblyLoader("NeuroidAssembly", package["path"]).load()
        added = {"identifier": NAME, "stimulus_set_identifier": "Stimuli2024"}
        assert loaded.attrs == assembly.attrs | added
        loaded.attrs = dict(assembly.attrs)
        assert loaded.identical(assembly)

    def test_stimulus_set_is_not_stored(self, assembly, stimuli, tmp_path):
        assembly.attrs["stimulus_set"] = stimuli
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            package = package_data_assembly_locally(assembly, NAME, NAME, "NeuroidAssembly", tmp_path)
        assert "stimulus_set" not in read_netcdf(package["path"], DataAssembly).attrs

    def test_class_itself(self, assembly, tmp_path):
        assert (
            package_data_assembly_locally(assembly, NAME, NAME, NeuroidAssembly, tmp_path)["cls"] == "NeuroidAssembly"
        )

    def test_untouched(self, assembly, tmp_path):
        assembly.attrs["stimulus_set_identifier"] = "mine"
        before = assembly.copy(deep=True)
        package_data_assembly_locally(assembly, NAME, NAME, "NeuroidAssembly", tmp_path, allow_nan="nothing lost")
        assert assembly.identical(before)
        assert assembly.attrs == before.attrs

    def test_extras(self, assembly, tmp_path):
        extras = {"reliability": assembly.mean("presentation")}
        package = package_data_assembly_locally(assembly, NAME, NAME, "NeuroidAssembly", tmp_path, extras=extras)
        assert read_netcdf(package["path"], DataAssembly, group="reliability").identical(extras["reliability"])

    def test_faults_of_extras(self, assembly, tmp_path):
        with pytest.raises(ValidationError, match="extra 'broken': infinite values"):
            package_data_assembly_locally(
                assembly, NAME, NAME, "NeuroidAssembly", tmp_path, extras={"broken": 1 / assembly}
            )

    def test_reason_for_missing_values(self, assembly, tmp_path):
        assembly.values[0, 0] = np.nan
        with pytest.raises(ValidationError, match="NaN values"):
            package_data_assembly_locally(assembly, NAME, NAME, "NeuroidAssembly", tmp_path)
        package = package_data_assembly_locally(
            assembly, NAME, NAME, "NeuroidAssembly", tmp_path, allow_nan="electrode broke"
        )
        assert read_netcdf(package["path"], DataAssembly).attrs["nan_allowed"] == "electrode broke"
        assert "nan_allowed" not in assembly.attrs

    def test_ids_against_the_stimulus_set(self, assembly, stimuli, tmp_path):
        assembly.attrs["stimulus_set"] = stimuli[1:]
        with pytest.raises(ValidationError, match="'img_0'"):
            package_data_assembly_locally(assembly, NAME, NAME, "NeuroidAssembly", tmp_path)

    def test_ids_against_the_packaged_table(self, assembly, stimuli, tmp_path):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            package_stimulus_set_locally(stimuli[1:], NAME, downloads_path=tmp_path)
        with pytest.warns(ValidationWarning, match="stimulus_MyExperiment2024_part_one.csv: 'img_0'"):
            package_data_assembly_locally(assembly, NAME, NAME, "NeuroidAssembly", tmp_path)

    def test_without_stimuli(self, tmp_path):
        assembly = BehavioralAssembly([1.0], coords={"stimulus_id": ("presentation", ["a"])}, dims=["presentation"])
        package = package_data_assembly_locally(assembly, NAME, None, "BehavioralAssembly", tmp_path)
        assert "stimulus_set_identifier" not in read_netcdf(package["path"], DataAssembly).attrs

    def test_replacing_another_content_is_said(self, assembly, tmp_path):
        package_data_assembly_locally(assembly, NAME, NAME, "NeuroidAssembly", tmp_path)
        with pytest.warns(ValidationWarning, match="was replaced"):
            package_data_assembly_locally(assembly + 1, NAME, NAME, "NeuroidAssembly", tmp_path)

    def test_all_findings_at_once(self, tmp_path):
        coords = {"stimulus_id": ("presentation", [1, 2])}
        assembly = BehavioralAssembly([np.nan, np.inf], coords=coords, dims=["presentation"])
        with pytest.raises(ValidationError) as caught:
            package_data_assembly_locally(assembly, "no name", "../stimuli", "NeuroidAssembly", tmp_path / "x")
        checks = [finding.check for finding in caught.value.findings]
        assert sorted(checks) == sorted(
            ["unusable name", "unusable name", "wrong dimensions", "stimulus_id is not text", "NaN values",
             "infinite values"]
        )  # fmt: skip
        assert everything_in(tmp_path) == []


SCRIPT = """
    import os, sys, time
    from pathlib import Path
    import numpy as np
    from brainscore_core.supported_data_standards.brainio.assemblies import NeuroidAssembly
    from brainscore_core.supported_data_standards.brainio.packaging import *
    from brainscore_core.supported_data_standards.brainio.stimuli import StimulusSet

    originals, target, mtime = Path(sys.argv[1]), sys.argv[2], float(sys.argv[3])
    ids = sorted(path.stem for path in originals.iterdir())
    paths = {one: originals / f"{one}.png" for one in set(ids)}  # in any order
    for path in paths.values():
        os.utime(path, (mtime, mtime))
        path.chmod(0o600 if mtime < 1e9 else 0o755)
    stimuli = StimulusSet({"stimulus_id": ids, "x": np.arange(len(ids)) / 3, "kind": "face"})
    stimuli.stimulus_paths = paths
    coords = {"stimulus_id": ("presentation", ids), "neuroid_id": ("neuroid", ["a", "b"]),
              "region": ("neuroid", ["V4", "IT"]), "session": ("presentation", range(len(ids)))}
    names = set(coords)
    assembly = NeuroidAssembly(np.arange(2.0 * len(ids)).reshape(-1, 2) / 7, dims=["presentation", "neuroid"],
                               coords={name: coords[name] for name in names}, attrs={k: k for k in set("abcdef")})
    one = package_stimulus_set_locally(stimuli, "Same2024", downloads_path=target)
    two = package_data_assembly_locally(assembly, "Same2024", "Same2024", "NeuroidAssembly", downloads_path=target)
    print(one["csv_sha1"], one["zip_sha1"], two["sha1"])
"""


def test_same_bytes_in_any_process(tmp_path, monkeypatch, capsys):
    """This one, whose hashes of strings are random, and another."""
    originals = tmp_path / "originals"
    originals.mkdir()
    for number in range(5):
        Image.new("RGB", (4, 4), (number, 0, 0)).save(originals / f"img_{number}.png")
    here, there = ([str(originals), str(tmp_path / name), mtime] for name, mtime in (("a", "5e8"), ("b b", "1.5e9")))
    monkeypatch.setattr(sys, "argv", ["", *here])
    exec(textwrap.dedent(SCRIPT), {})
    hashes = capsys.readouterr().out
    ran = subprocess.run(
        [sys.executable, "-c", textwrap.dedent(SCRIPT), *there],
        env={**os.environ, "PYTHONHASHSEED": "77", "TZ": "Asia/Tokyo", "LC_ALL": "C"},
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert ran.returncode == 0, ran.stderr
    assert ran.stdout == hashes
    for _, target, _ in (here, there):
        assert hashes.split() == [sha1(Path(target) / name) for name in (
            "stimulus_Same2024.csv", "stimulus_Same2024.zip", "assy_Same2024.nc")]  # fmt: skip


def test_packages_do_not_depend_on_where_their_originals_are(stimuli, tmp_path):
    here = package_stimulus_set_locally(stimuli, NAME, downloads_path=tmp_path / "here")
    (tmp_path / "moved").mkdir()
    for name, path in stimuli.stimulus_paths.items():
        stimuli.stimulus_paths[name] = path.rename(tmp_path / "moved" / f"{name}{path.suffix}")
    there = package_stimulus_set_locally(stimuli, NAME, downloads_path=tmp_path / "there")
    assert (there["csv_sha1"], there["zip_sha1"]) == (here["csv_sha1"], here["zip_sha1"])


def test_importing_packaging_is_light():
    code = (
        "import sys, brainscore_core.supported_data_standards.brainio.packaging\n"
        "print([name for name in ('torch', 'sklearn', 'matplotlib', 'netCDF4', 'pooch', 'PIL') if name in sys.modules])"
    )
    ran = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert ran.stdout.strip() == "[]"


class TestFailure:
    def test_nothing_is_written_before_all_is_checked(self, stimuli, tmp_path):
        stimuli.get_stimulus("img_2").unlink()
        with pytest.raises(ValidationError):
            package_stimulus_set_locally(stimuli, NAME, downloads_path=tmp_path / "packages")
        assert not (tmp_path / "packages").exists()

    @pytest.mark.parametrize("broken", ["_write_zip", "csv_bytes"])
    @pytest.mark.parametrize("error", [OSError("no space left"), KeyboardInterrupt()])
    def test_while_writing(self, stimuli, tmp_path, monkeypatch, broken, error):
        before, paths = stimuli.copy(), dict(stimuli.stimulus_paths)

        def fail(*arguments):
            if broken == "_write_zip":
                arguments[1].write_bytes(b"half a file")
            raise error

        monkeypatch.setattr(packaging, broken, fail)
        with pytest.raises(type(error)):
            package_stimulus_set_locally(stimuli, NAME, downloads_path=tmp_path / "new" / "packages")
        assert not (tmp_path / "new").exists()
        pd.testing.assert_frame_equal(stimuli, before)
        assert stimuli.stimulus_paths == paths

    def test_while_writing_the_assembly(self, assembly, tmp_path, monkeypatch):
        write = netcdf._write_values

        def fail(*arguments, **keywords):
            write(*arguments, **keywords)
            raise OSError("no space left")

        monkeypatch.setattr(netcdf, "_write_values", fail)
        with pytest.raises(OSError, match="no space left"):
            package_data_assembly_locally(assembly, NAME, NAME, "NeuroidAssembly", tmp_path / "packages")
        assert not (tmp_path / "packages").exists()

    def test_file_vanishes_after_the_check(self, stimuli, tmp_path, monkeypatch):
        check = packaging.validate_stimulus_set

        def vanish(*arguments):
            findings = check(*arguments)
            stimuli.get_stimulus("img_1").unlink()
            return findings

        monkeypatch.setattr(packaging, "validate_stimulus_set", vanish)
        with pytest.raises(FileNotFoundError):
            package_stimulus_set_locally(stimuli, NAME, downloads_path=tmp_path / "packages")
        assert not (tmp_path / "packages").exists()

    def test_folder_in_the_way(self, stimuli, tmp_path):
        (tmp_path / "packages" / "stimulus_MyExperiment2024_part_one.csv").mkdir(parents=True)
        with pytest.raises(UserError, match="is a folder"):
            package_stimulus_set_locally(stimuli, NAME, downloads_path=tmp_path / "packages")
        assert everything_in(tmp_path / "packages") == ["stimulus_MyExperiment2024_part_one.csv"]

    def test_file_in_place_of_the_folder(self, stimuli, tmp_path):
        (tmp_path / "packages").write_text("mine")
        with pytest.raises(UserError, match="cannot create the folder"):
            package_stimulus_set_locally(stimuli, NAME, downloads_path=tmp_path / "packages" / "below")
        with pytest.raises(UserError, match="cannot create the folder"):
            package_stimulus_set_locally(stimuli, NAME, downloads_path=tmp_path / "packages")
        assert (tmp_path / "packages").read_text() == "mine"

    def test_killed(self, stimuli, tmp_path, fork):
        def package():
            packaging.csv_bytes = lambda table: os.kill(os.getpid(), signal.SIGKILL)
            package_stimulus_set_locally(stimuli, "Killed2024", downloads_path=tmp_path / "p")

        process = fork(package)
        process.join(60)
        assert process.exitcode == -signal.SIGKILL
        left = everything_in(tmp_path / "p")
        assert left
        assert all(name.startswith(".brainscore-") for name in left)
        for name in left:
            os.utime(tmp_path / "p" / name, (0, 0))
        (tmp_path / "p" / ".old.part").write_text("somebody else's")
        os.utime(tmp_path / "p" / ".old.part", (0, 0))
        package_stimulus_set_locally(stimuli, NAME, downloads_path=tmp_path / "p")
        assert not set(left) & set(everything_in(tmp_path / "p"))  # swept the next day
        assert (tmp_path / "p" / ".old.part").exists()


def _package(originals, target, number):
    stimuli = StimulusSet({"stimulus_id": ["a"], "n": [number]})
    stimuli.stimulus_paths = {"a": originals / f"{number}.png"}
    stimuli.name = "Both2024"
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for _ in range(20):
            package_stimulus_set_locally(stimuli, "Both2024", downloads_path=target)


def test_two_processes_at_once(tmp_path, fork):
    for number in range(2):
        Image.new("L", (4, 4), number).save(tmp_path / f"{number}.png")
    processes = [fork(_package, tmp_path, tmp_path / "packages", number) for number in range(2)]
    for process in processes:
        process.join(60)
        assert process.exitcode == 0
    assert everything_in(tmp_path / "packages") == ["stimulus_Both2024.csv", "stimulus_Both2024.zip"]
    # table and archive are of the same process
    number = pd.read_csv(tmp_path / "packages" / "stimulus_Both2024.csv")["n"].item()
    with zipfile.ZipFile(tmp_path / "packages" / "stimulus_Both2024.zip") as archive:
        assert archive.read("a.png") == (tmp_path / f"{number}.png").read_bytes()


class TestParts:
    def test_csv(self, stimuli, tmp_path):
        stimuli["filename"] = ["a.png", "b.png", "c.png"]
        assert create_stimulus_csv(stimuli, tmp_path / "a.csv") == sha1(tmp_path / "a.csv")
        assert list(pd.read_csv(tmp_path / "a.csv").columns) == list(stimuli.columns)

    def test_csv_checks(self, stimuli, tmp_path):
        with pytest.raises(ValidationError, match="missing stimulus_id"):
            create_stimulus_csv(stimuli.drop(columns="stimulus_id"), tmp_path / "a.csv")
        assert not (tmp_path / "a.csv").exists()

    def test_zip(self, stimuli, tmp_path):
        sha, names = create_stimulus_zip(stimuli, tmp_path / "a.zip")
        assert sha == sha1(tmp_path / "a.zip")
        assert names == ["img_0.png", "img_1.PNG", "img_2.jpg"]
        package = package_stimulus_set_locally(stimuli, NAME, downloads_path=tmp_path)
        assert package["zip_sha1"] == sha

    def test_zip_checks(self, stimuli, tmp_path):
        stimuli.stimulus_paths = None
        with pytest.raises(ValidationError, match="no files"):
            create_stimulus_zip(stimuli, tmp_path / "a.zip")
        with pytest.raises(ValidationError, match="missing stimulus_id"):
            create_stimulus_zip(stimuli.drop(columns="stimulus_id"), tmp_path / "a.zip")

    def test_netcdf(self, assembly, tmp_path):
        assert write_netcdf(assembly, tmp_path / "a.nc") == sha1(tmp_path / "a.nc")
