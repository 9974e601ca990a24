"""``brainscore validate`` finds what is wrong with files, and what is wrong between them."""

import json
import warnings
import zipfile
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from brainscore_core.supported_data_standards.brainio.assemblies import BehavioralAssembly
from brainscore_core.supported_data_standards.brainio.packaging import (
    package_data_assembly_locally,
    package_stimulus_set_locally,
    write_netcdf,
)
from brainscore_core.supported_data_standards.brainio.stimuli import StimulusSet
from brainscore_core.supported_data_standards.brainio.validation import validate_files


@pytest.fixture
def packages(tmp_path):
    """A stimulus set and an assembly: paths of csv, zip and nc."""
    stimuli = StimulusSet({"stimulus_id": ["001", "NA", "c"], "x": [1, 2, 3]})
    for number, one in enumerate(stimuli["stimulus_id"]):
        stimuli.stimulus_paths[one] = tmp_path / f"{number}.png"
        pixels = np.random.default_rng(number).integers(0, 256, (16, 16, 3), dtype=np.uint8)
        Image.fromarray(pixels).save(stimuli.stimulus_paths[one])
    stimuli.name = "Three2024.all"
    folder = tmp_path / "packages"
    first = package_stimulus_set_locally(stimuli, "Three2024.all", downloads_path=folder)
    coords = {"stimulus_id": ("presentation", ["001", "c", "c", "NA"])}
    assembly = BehavioralAssembly([1.0, 2, 3, 4], coords=coords, dims=["presentation"])
    second = package_data_assembly_locally(
        assembly, "Three2024.fast", "Three2024.all", "BehavioralAssembly", downloads_path=folder
    )
    return Path(first["csv_path"]), Path(first["zip_path"]), Path(second["path"])


@pytest.fixture
def found(cli):
    """``found(*files)`` returns {check: culprit} and the exit status."""

    def run(*files):
        result = cli("validate", *map(str, files), "--json")
        assert result.exception is None or isinstance(result.exception, SystemExit)
        answer = json.loads(result.stdout)
        assert result.exit_code == (1 if answer["errors"] else 0)
        assert len(answer["findings"]) == answer["errors"] + answer["warnings"]
        return {one["check"]: one["culprit"] for one in answer["findings"]}, result.exit_code

    return run


def rewrite(path, change):
    """Write an archive anew, members changed by ``change(name, content)``, which returns pairs."""
    with zipfile.ZipFile(path) as archive:
        members = [(name, archive.read(name)) for name in archive.namelist()]
    with warnings.catch_warnings(), zipfile.ZipFile(path, "w") as archive:
        warnings.simplefilter("ignore")
        for name, content in members:
            for new_name, new_content in change(name, content):
                archive.writestr(new_name, new_content)


def test_faultless(cli, packages):
    result = cli("validate", *map(str, packages))
    assert result.exit_code == 0
    assert [line[0] for line in result.stdout.splitlines()] == ["✓", "✓", "✓", "0"]
    assert "0 errors, 0 warnings in 3 files" in result.stdout


def test_json(cli, packages):
    answer = json.loads(cli("validate", *map(str, packages), "--json").stdout)
    assert answer == {"files": [str(path) for path in packages], "errors": 0, "warnings": 0, "findings": []}


def test_readable(cli, packages):
    csv = packages[0]
    csv.write_text(csv.read_text().replace("NA,", "001,"))
    result = cli("validate", *map(str, packages))
    assert result.exit_code == 1
    assert f"✗ {csv}" in result.stdout
    assert "error: duplicate stimulus_id: stimulus_Three2024_all.csv has duplicate ids: '001'" in result.stdout
    assert "→ give each stimulus its own id" in result.stdout
    assert "error: unknown stimuli: 1 stimuli are not in stimulus_Three2024_all.csv: 'NA'" in result.stdout


def test_separate_process(shell, cli, packages, tmp_path):
    (tmp_path / "x.nc").write_text("no netCDF")
    ran = shell("validate", str(tmp_path / "x.nc"))
    assert ran.returncode == 1
    assert "unreadable assembly" in ran.stdout
    assert "Traceback" not in ran.stderr
    assert cli("validate", str(packages[2])).exit_code == 0
    assert cli("validate").exit_code == 2


class TestAlone:
    def test_table(self, found, packages):
        assert found(packages[0]) == (
            {"archive not given": "it lists 3 files, which were not checked"}, 0)  # fmt: skip

    def test_archive(self, found, packages):
        checks, code = found(packages[1])
        assert list(checks) == ["table not given"]
        assert code == 0

    def test_assembly(self, found, packages):
        assert found(packages[2]) == ({}, 0)

    def test_missing(self, found, tmp_path):
        checks, code = found(tmp_path / "x.csv", tmp_path / "y.nc")
        assert checks == {"missing file": f"{tmp_path / 'y.nc'} does not exist"}
        assert code == 1

    def test_folder(self, found, tmp_path):
        assert "folder in place of a file" in found(tmp_path)[0]

    def test_kind(self, found, tmp_path):
        (tmp_path / "x.mat").write_bytes(b"x")
        assert "'.mat'" in found(tmp_path / "x.mat")[0]["kind of file"]

    @pytest.mark.parametrize("suffix", [".csv", ".zip", ".nc"])
    def test_empty(self, found, tmp_path, suffix):
        (tmp_path / f"x{suffix}").touch()
        assert list(found(tmp_path / f"x{suffix}")[0]) == ["empty file"]

    @pytest.mark.parametrize(
        ("suffix", "check"),
        [(".csv", "unreadable table"), (".zip", "unreadable archive"), (".nc", "unreadable assembly")],
    )
    def test_nonsense(self, found, tmp_path, suffix, check):
        (tmp_path / f"x{suffix}").write_bytes(b"\xff\xfe\x00nonsense\x00\xff")
        checks, code = found(tmp_path / f"x{suffix}")
        assert check in checks or "missing stimulus_id" in checks
        assert code == 1


class TestTable:
    @pytest.mark.parametrize(
        ("text", "check", "culprit"),
        [
            ("name,filename\na,b.png\n", "missing stimulus_id", "has no column 'stimulus_id'"),
            ("stimulus_id,filename\na,a.png\na,b.png\n", "duplicate stimulus_id", "'a'"),
            ("stimulus_id,filename\n,a.png\n", "empty stimulus_id", "at 0"),
            ("stimulus_id,filename\na,\n", "missing file name", "'a'"),
            ("stimulus_id,filename\na,b.png\nc,b.png\n", "duplicate file name", "'b.png'"),
            ("stimulus_id,filename\na,../b.png\n", "unsafe file name", "'../b.png'"),
            ("stimulus_id,filename\n", "empty data", "no rows"),
        ],
    )
    def test_errors(self, found, tmp_path, text, check, culprit):
        (tmp_path / "x.csv").write_text(text)
        checks, code = found(tmp_path / "x.csv")
        assert culprit in checks[check]
        assert code == 1

    def test_old_name(self, found, tmp_path):
        (tmp_path / "x.csv").write_text("image_id\na\n")
        assert found(tmp_path / "x.csv") == (
            {"old column name": "'image_id' is an old name of 'stimulus_id'"}, 0)  # fmt: skip


class TestArchive:
    def test_lacks_a_file(self, found, packages):
        rewrite(packages[1], lambda name, content: [(name, content)] if name != "c.png" else [])
        assert "'c.png'" in found(*packages)[0]["missing file"]

    def test_has_another_file(self, found, packages):
        rewrite(packages[1], lambda name, content: [(name, content), (f"2{name}", content)])
        assert "'2001.png', '2NA.png', '2c.png'" in found(*packages)[0]["unlisted file"]

    def test_clutter_is_left_out(self, found, packages):
        rewrite(packages[1], lambda name, content: [(name, content), (f"__MACOSX/{name}", b"x"), (".DS_Store", b"x")])
        checks, code = found(*packages[:2])
        assert (checks, code) == ({}, 0)

    def test_folder(self, found, packages):
        rewrite(packages[1], lambda name, content: [(f"images/{name}", content)])
        assert "'images/001.png'" in found(*packages)[0]["unsafe file name"]

    def test_twice(self, found, packages):
        rewrite(packages[1], lambda name, content: [(name, content)] * (2 if name == "c.png" else 1))
        assert "'c.png'" in found(*packages)[0]["duplicate file name"]

    def test_empty(self, found, packages):
        rewrite(packages[1], lambda name, content: [(name, b"" if name == "c.png" else content)])
        assert "'c.png'" in found(*packages)[0]["empty file"]

    def test_image(self, found, packages):
        rewrite(packages[1], lambda name, content: [(name, content[:200])])
        assert found(*packages)[0]["image does not decode"].count(".png (") == 3

    def test_damaged(self, found, packages):
        content = bytearray(packages[1].read_bytes())
        content[300] ^= 255
        packages[1].write_bytes(content)
        assert "'001.png'" in found(*packages)[0]["damaged archive"]

    def test_truncated(self, found, packages):
        packages[1].write_bytes(packages[1].read_bytes()[:-30])
        assert "unreadable archive" in found(*packages)[0]

    def test_link(self, found, packages):
        with zipfile.ZipFile(packages[1], "a") as archive:
            link = zipfile.ZipInfo("link.png")
            link.external_attr = 0o120777 << 16
            archive.writestr(link, "/etc/passwd")
        assert "'link.png'" in found(*packages)[0]["unsafe file name"]

    def test_table_without_file_names(self, found, packages):
        packages[0].write_text("stimulus_id\n001\nNA\nc\n")
        assert "missing file name" in found(*packages)[0]

    def test_pairs_by_name(self, found, packages, tmp_path):
        """Another table in front does not take the archive away."""
        other = tmp_path / "stimulus_A.csv"
        other.write_text("stimulus_id,filename\nz,z.png\n")
        checks, code = found(other, *packages)
        assert list(checks) == ["archive not given"]
        assert code == 0

    def test_lone_pair_of_other_names(self, found, packages, tmp_path):
        moved = packages[1].rename(tmp_path / "images.zip")
        assert found(packages[0], moved) == ({}, 0)


class TestAssembly:
    def write(self, path, ids, values=None):
        coords = {"stimulus_id": ("presentation", ids)}
        values = [1.0] * len(ids) if values is None else values
        write_netcdf(BehavioralAssembly(values, coords=coords, dims=["presentation"]), path)
        return path

    def test_unknown_stimuli(self, found, packages, tmp_path):
        path = self.write(tmp_path / "assy_X.nc", ["001", "z"])
        assert found(*packages[:2], path)[0]["unknown stimuli"].endswith("stimulus_Three2024_all.csv: 'z'")

    def test_stimuli_never_shown(self, found, packages, tmp_path):
        checks, code = found(*packages[:2], self.write(tmp_path / "assy_X.nc", ["001"]))
        assert "'NA', 'c'" in checks["stimuli never shown"]
        assert code == 0

    def test_values(self, found, tmp_path):
        path = self.write(tmp_path / "assy_X.nc", ["a", "b", "c"], [np.nan, np.inf, 1])
        assert set(found(path)[0]) == {"NaN values", "infinite values"}

    def test_class(self, cli, packages):
        result = cli("validate", str(packages[2]), "--class", "NeuroidAssembly")
        assert result.exit_code == 1
        assert "wrong dimensions" in result.stdout
        assert cli("validate", str(packages[2]), "--class", "BehavioralAssembly").exit_code == 0


def test_function_takes_one_path(packages):
    assert [finding.check for finding in validate_files(packages[0])] == ["archive not given"]
    assert validate_files(str(packages[2])) == []


def test_a_huge_file_that_is_no_text_is_not_read_whole(tmp_path):
    import os

    from brainscore_core.supported_data_standards.brainio.validation import validate_files

    table = tmp_path / "stimulus_A2024.csv"
    table.touch()
    os.truncate(table, 50 * 2**30)  # takes no room on the disk
    (finding,) = (one for one in validate_files([table]) if one.check == "unreadable table")
    assert "not text" in finding.culprit
