"""``brainscore package`` packages from the command line, and says how to register."""

import json
import sys

import numpy as np
import pandas as pd
import pytest
from PIL import Image

from brainscore_core.errors import UserError
from brainscore_core.supported_data_standards.brainio.assemblies import DataAssembly, NeuroidAssembly
from brainscore_core.supported_data_standards.brainio.findings import ValidationWarning
from brainscore_core.supported_data_standards.brainio.netcdf import read_netcdf, write_netcdf
from brainscore_core.supported_data_standards.brainio.stimuli import StimulusSet


@pytest.fixture
def table(tmp_path):
    (tmp_path / "images").mkdir()
    for number in range(3):
        Image.new("L", (3, 3), number).save(tmp_path / "images" / f"00{number}.png")
    path = tmp_path / "stimuli.csv"
    path.write_text("stimulus_id,kind\n000,face\n001,NA\n002,house\n")
    return path


@pytest.fixture
def measured(tmp_path):
    coords = {"stimulus_id": ("presentation", ["000", "002"]), "neuroid_id": ("neuroid", ["a"])}
    assembly = NeuroidAssembly([[1.0], [np.nan]], coords=coords, dims=["presentation", "neuroid"])
    write_netcdf(assembly, tmp_path / "measured.nc")
    return tmp_path / "measured.nc"


@pytest.fixture
def package(cli, tmp_path):
    def run(*arguments, fails=False):
        result = cli("package", *map(str, arguments), "--output", str(tmp_path / "out"), "--json")
        if fails:
            assert result.exit_code != 0
            assert not (tmp_path / "out").exists()
            return str(result.exception) + result.stderr
        assert result.exit_code == 0, result.output
        return json.loads(result.stdout)

    return run


def test_stimuli_found_by_id(package, table, tmp_path):
    answer = package("stimuli", table, tmp_path / "images", "--identifier", "Small2024")
    loaded = StimulusSet.from_files(answer["csv_path"])
    assert loaded["stimulus_id"].tolist() == ["000", "001", "002"]
    assert loaded["filename"].tolist() == ["000.png", "001.png", "002.png"]


def test_tables_of_spreadsheets(package, table, tmp_path):
    table.write_text("stimulus_id;kind;level;mask\nNA;none;0,5;None\n001;-99;-;grid\n", encoding="utf-16")
    answer = package("stimuli", table, "--identifier", "Small2024", "--missing", "-99", "--no-missing", "mask")
    stored = pd.read_csv(answer["csv_path"], dtype=str, keep_default_na=False)
    assert stored.to_numpy().tolist() == [["NA", "none", "0.5", "None"], ["001", "", "", "grid"]]
    semicolons = tmp_path / "semicolons.csv"
    semicolons.write_text(stored.to_csv(sep=";", index=False).replace("0.5", "0,5"))
    with pytest.warns(ValidationWarning, match="is not a packaged table: .*decimal commas are points"):
        loaded = StimulusSet.from_files(semicolons)
    assert loaded["stimulus_id"].tolist() == ["NA", "001"]
    assert loaded["level"].dropna().tolist() == [0.5]
    semicolons.write_text("stimulus_id,level\na,0.5,1\nb,0.25,2\n")
    with pytest.raises(UserError, match="rows have more fields than the header"):
        StimulusSet.from_files(semicolons)


@pytest.mark.parametrize(
    ("column", "arguments"), [("filename", []), ("image_filename", []), ("where", ["--column", "where"])]
)
def test_stimuli_found_by_column(package, table, tmp_path, column, arguments):
    table.write_text(f"stimulus_id,{column}\na,002.png\nb,001.png\n")
    answer = package("stimuli", table, tmp_path / "images", "--identifier", "Small2024", *arguments)
    loaded = StimulusSet.from_files(answer["csv_path"])
    assert loaded["filename"].tolist() == ["a.png", "b.png"]
    assert loaded["where" if column == "where" else "image_filename"].tolist() == ["002.png", "001.png"]


def test_stimuli_without_files(package, table):
    answer = package("stimuli", table, "--identifier", "Small2024")
    assert answer["zip_path"] is None
    assert "load_stimulus_set_from_url" in answer["registration"]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("stimulus_id\n000\n009\n", "009 → "),
        ("stimulus_id\n000\n000\n", "duplicate ids: '000'"),
        ("name\n000\n", "no column 'stimulus_id'"),
        ("stimulus_id,filename\na,x.png\n", "a → "),
    ],
)
def test_faulty_stimuli(package, table, tmp_path, text, message):
    table.write_text(text)
    assert message in package("stimuli", table, tmp_path / "images", "--identifier", "Small2024", fails=True)


def test_several_files_for_one_id(package, table, tmp_path):
    Image.new("L", (3, 3)).save(tmp_path / "images" / "000.jpg")
    message = package("stimuli", table, tmp_path / "images", "--identifier", "Small2024", fails=True)
    assert "'000': 000.jpg, 000.png" in message


def test_unknown_column(package, table, tmp_path):
    message = package("stimuli", table, tmp_path / "images", "--identifier", "S", "--column", "file", fails=True)
    assert "its columns are stimulus_id, kind" in message


def test_assembly(package, measured):
    message = package("assembly", measured, "--identifier", "Small2024", "--class", "NeuroidAssembly", fails=True)
    assert "NaN values: 1 of 2" in message
    answer = package(
        "assembly", measured, "--identifier", "Small2024", "--class", "NeuroidAssembly", "--allow-nan", "lost"
    )
    assert answer["cls"] == "NeuroidAssembly"
    assert read_netcdf(answer["path"], DataAssembly).attrs == {
        "identifier": "Small2024",
        "stimulus_set_identifier": "Small2024",
        "nan_allowed": "lost",
    }


def test_assembly_against_its_stimuli(package, measured, table):
    table.write_text("stimulus_id\n000\n")
    message = package(
        "assembly", measured, "--identifier", "S2024", "--class", "NeuroidAssembly", "--stimuli", table, "--allow-nan",
        "lost", fails=True,
    )  # fmt: skip
    assert "'002'" in message


def test_printed(cli, table, tmp_path):
    ran = cli(
        "package", "stimuli", str(table), str(tmp_path / "images"), "--identifier", "small-set", "--output",
        str(tmp_path / "out"),
    )  # fmt: skip
    assert ran.exit_code == 0, ran.stderr
    assert "Warning: naming convention" in ran.stderr
    assert "csv_sha1" in ran.stdout
    snippet = ran.stdout.partition("__init__.py:\n\n")[2]
    compile(snippet, "<registration>", "exec")
    assert 'stimulus_set_registry["small-set"]' in snippet


def test_errors(cli, table, tmp_path):
    ran = cli("package", "stimuli", str(table), str(tmp_path), "--identifier", "a b", "--output", str(tmp_path / "o"))
    assert ran.exit_code == 2
    assert "kind: 1 × 'NA'): missing\nError: 2 errors found" in ran.stderr


def test_registrations_load(package, table, measured, tmp_path, monkeypatch, lab):
    """The printed text is a plugin that loads, once the bucket holds the files."""
    bucket = tmp_path / "mirror" / "brainscore-storage.s3.amazonaws.com" / "brainscore-vision" / "data" / "…"
    monkeypatch.setenv("BRAINSCORE_MIRROR", str(tmp_path / "mirror"))
    monkeypatch.setenv("BRAINIO_HOME", str(tmp_path / "cache"))
    stimuli = package("stimuli", table, tmp_path / "images", "--identifier", "Small2024")
    assembly = package(
        "assembly", measured, "--identifier", "Small2024", "--class", "NeuroidAssembly", "--allow-nan", "lost"
    )
    bucket.parent.mkdir(parents=True)
    (tmp_path / "out").rename(bucket)
    lab("data", "small2024", stimuli["registration"] + assembly["registration"])
    import brainscore_vision

    brainscore_vision.plugin_index.refresh()
    loaded = brainscore_vision.load_dataset("Small2024")
    assert loaded.stimulus_set["stimulus_id"].tolist() == ["000", "001", "002"]
    assert loaded["kind"].values.tolist() == ["face", "house"]
    sys.modules.pop("brainscore_vision.data.small2024", None)


@pytest.fixture
def store(s3_server, monkeypatch, tmp_path):
    boto3 = pytest.importorskip("boto3")
    monkeypatch.delenv("BRAINSCORE_MIRROR", raising=False)
    monkeypatch.setenv("BRAINIO_HOME", str(tmp_path / "cache"))
    client = boto3.client("s3", endpoint_url=s3_server)
    client.create_bucket(Bucket="store")
    client.put_bucket_versioning(Bucket="store", VersioningConfiguration={"Status": "Enabled"})
    return client


def test_uploaded_registrations_load(package, table, measured, tmp_path, store, lab):
    """After an upload the printed text is a plugin as it stands."""
    stimuli = package("stimuli", table, tmp_path / "images", "--identifier", "Small2024", "--upload", "store/one")
    assembly = package(
        "assembly", measured, "--identifier", "Small2024", "--class", "NeuroidAssembly", "--allow-nan", "lost",
        "--upload", "store/one",
    )  # fmt: skip
    assert stimuli["bucket"] == "store/one"
    assert stimuli["public"] is False
    assert assembly["version_id"] == store.head_object(Bucket="store", Key="one/assy_Small2024.nc")["VersionId"]
    assert "known after" not in stimuli["registration"] + assembly["registration"]
    lab("data", "small2024", stimuli["registration"] + assembly["registration"])
    import brainscore_vision

    brainscore_vision.plugin_index.refresh()
    loaded = brainscore_vision.load_dataset("Small2024")
    assert loaded["kind"].values.tolist() == ["face", "house"]
    sys.modules.pop("brainscore_vision.data.small2024", None)


def test_upload_of_stimuli_without_files(package, table, store):
    answer = package("stimuli", table, "--identifier", "Small2024", "--upload", "store")
    assert "    zip_sha1=None,\n" in answer["registration"]


def test_uploads_replace_only_where_asked_for(package, table, cli, store, tmp_path):
    arguments = ["stimuli", table, tmp_path / "images", "--identifier", "Small2024", "--upload", "store"]
    first = package(*arguments)
    table.write_text("stimulus_id,kind\n000,other\n")
    refused = cli("package", *map(str, arguments), "--output", str(tmp_path / "out"))
    assert "already holds a different file" in refused.stderr
    second = package(*arguments, "--overwrite")
    assert first["csv_version_id"] != second["csv_version_id"]


def test_options_of_uploads_need_one(cli, table):
    answer = cli("package", "stimuli", str(table), "--identifier", "Small2024", "--public")
    assert answer.exit_code == 2
    assert "need --upload" in answer.output


class TestLocal:
    """Data that stay on this machine: files and registration in a plugin's folder."""

    @pytest.fixture
    def plugin(self, cli, table, measured, tmp_path):
        folder = tmp_path / "plugins" / "data" / "small2024"

        def run(*arguments):
            result = cli("package", *map(str, arguments), "--identifier", "Small2024", "--local", str(folder))
            assert result.exit_code == 0, result.output + str(result.exception)
            return result.stdout

        def both(*options):
            run("stimuli", table, tmp_path / "images", *options)
            return run("assembly", measured, "--class", "NeuroidAssembly", "--allow-nan", "a reason", *options)

        return folder, both

    def test_data_are_loaded_from_the_folder_wherever_it_is(self, plugin, monkeypatch, tmp_path):
        folder, package = plugin
        output = package()
        assert f"brainscore test {folder}" in output
        assert "export BRAINSCORE_PLUGINS" in output
        text = (folder / "__init__.py").read_text()
        assert '(Path(__file__).parent / "assy_Small2024.nc").as_uri()' in text
        assert str(tmp_path) not in text
        moved = tmp_path / "elsewhere"
        folder.parent.parent.rename(moved)
        loaded = self.load(moved, monkeypatch)
        assert loaded.stimulus_set["stimulus_id"].tolist() == ["000", "001", "002"]
        assert loaded.sel(stimulus_id="000").values.ravel().tolist() == [1.0]
        assert [path.name for path in loaded.stimulus_set.stimulus_paths.values()] == ["000.png", "001.png", "002.png"]

    def test_changed_data_are_refused_until_they_are_packaged_again(self, plugin, monkeypatch, measured):
        from brainscore_core.supported_data_standards.brainio.fetch import HashMismatch

        folder, package = plugin
        package()
        (folder / "stimulus_Small2024.csv").write_text("stimulus_id\n000\n")
        with pytest.raises(HashMismatch, match=r"stimulus_Small2024.csv is not the registered file"):
            self.load(folder.parent.parent, monkeypatch)
        own = "\nKEPT = 1  # what the laboratory added\n"
        (folder / "__init__.py").write_text((folder / "__init__.py").read_text() + own)
        package()
        text = (folder / "__init__.py").read_text()
        assert own in text
        assert text.count('data_registry["Small2024"]') == text.count("import load_assembly_from_url") == 1
        assert self.load(folder.parent.parent, monkeypatch).sizes["presentation"] == 2

    def test_files_elsewhere_are_registered_by_url(self, plugin, monkeypatch, tmp_path):
        folder, package = plugin
        package("--output", tmp_path / "share")
        assert (tmp_path / "share" / "assy_Small2024.nc").as_uri() in (folder / "__init__.py").read_text()
        assert sorted(path.name for path in folder.iterdir()) == ["__init__.py", "test.py"]
        assert self.load(folder.parent.parent, monkeypatch).sizes["presentation"] == 2

    @pytest.mark.slow(reason="runs tests of a plugin")
    def test_its_tests_pass(self, plugin, cli, monkeypatch, lean_pytest):
        monkeypatch.setenv("PYTEST_DISABLE_PLUGIN_AUTOLOAD", "1")  # pytest, and no plugin of others
        folder, package = plugin
        package()
        result = cli("test", str(folder))
        assert result.exit_code == 0, result.output
        assert "Small2024 (data): all checks passed" in result.output

    @pytest.mark.parametrize("folder", ["small2024", "data/small-2024"])
    def test_folders_that_are_not_of_data_are_refused(self, cli, table, tmp_path, folder):
        arguments = ("package", "stimuli", str(table), "--identifier", "Small2024", "--local", str(tmp_path / folder))
        result = cli(*arguments)
        assert result.exit_code != 0
        assert "not a folder of a data plugin" in str(result.exception) + result.stderr
        assert not (tmp_path / folder).exists()

    def test_registrations_of_others_are_kept(self, plugin):
        from brainscore_vision.data_sources.local import register_package

        folder, package = plugin
        package()
        file = folder / "__init__.py"
        by_hand = 'from brainscore_vision import data_registry\ndata_registry["Small2024"] = lambda: 3\n'
        file.write_text(by_hand)
        made = {"identifier": "Small2024", "path": str(folder / "assy_Small2024.nc"), "sha1": "", "cls": "DataAssembly"}
        with pytest.raises(UserError, match=r"registers data_registry.*already, in another way"):
            register_package(made, folder)
        assert file.read_text() == by_hand

    def load(self, root, monkeypatch):
        from brainscore_vision import load_dataset

        monkeypatch.setenv("BRAINSCORE_PLUGINS", str(root))
        return load_dataset("Small2024")
