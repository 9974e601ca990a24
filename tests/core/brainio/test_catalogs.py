"""Catalogs: reading, writing, and loading what they list."""

import csv
import hashlib
import os
import sys
import threading
import zipfile
from importlib.metadata import EntryPoint

import pytest
from PIL import Image

from brainscore_core.errors import UnknownIdentifier, UserError
from brainscore_core.supported_data_standards.brainio import catalogs, fetch
from brainscore_core.supported_data_standards.brainio.assemblies import BehavioralAssembly
from brainscore_core.supported_data_standards.brainio.catalogs import (
    CATALOG_COLUMNS,
    Catalog,
    add_rows,
    catalog_row,
    check_not_taken,
)
from brainscore_core.supported_data_standards.brainio.fetch import (
    HashMismatch,
    fetch_file,
    get_assembly,
    get_stimulus_set,
)
from brainscore_core.supported_data_standards.brainio.netcdf import write_netcdf

PETS = "tanaka.Pets1996"


def sha1(path):
    return hashlib.sha1(path.read_bytes()).hexdigest()


def write_catalog(path, rows):
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("w", newline="") as stream:
        writer = csv.DictWriter(stream, [*CATALOG_COLUMNS, "lookup_source"])
        writer.writeheader()
        writer.writerows(rows)
    return path


def row(identifier, kind, path, cls="", stimuli="", where="local"):
    return {
        "identifier": identifier,
        "lookup_type": kind,
        "class": cls,
        "location_type": where,
        "location": path.name,
        "sha1": sha1(path),
        "stimulus_set_identifier": stimuli,
    }


@pytest.fixture
def files(tmp_path):
    """A table, an archive and an assembly, named as the catalogs of the old library name them."""
    folder = tmp_path / "lab_catalog"
    folder.mkdir()
    (folder / "image_tanaka_Pets1996.csv").write_text("image_id,filename,animal\n001,a.png,cat\n002,b.png,dog\n")
    with zipfile.ZipFile(folder / "image_tanaka_Pets1996.zip", "w") as archive:
        for number, name in enumerate(["a.png", "b.png"]):
            Image.new("L", (4, 4), number).save(tmp_path / name)
            archive.write(tmp_path / name, name)
    choices = BehavioralAssembly(
        ["cat", "dog", "dog"],
        coords={"image_id": ("presentation", ["002", "001", "002"]), "subject": ("presentation", [1, 1, 2])},
        dims=["presentation"],
    )
    write_netcdf(choices, folder / "assy_tanaka_Pets1996.nc")
    return folder


@pytest.fixture
def catalog(files, monkeypatch):
    """A catalog on this machine, which the environment names."""
    path = write_catalog(
        files / "lookup.csv",
        [
            row(PETS, "stimulus_set", files / "image_tanaka_Pets1996.csv", cls="StimulusSet"),
            row(PETS, "stimulus_set", files / "image_tanaka_Pets1996.zip"),
            row(PETS, "assembly", files / "assy_tanaka_Pets1996.nc", cls="BehavioralAssembly", stimuli=PETS),
        ],
    )
    monkeypatch.setenv("BRAINIO_CATALOGS", str(path))
    return path


def announce(monkeypatch, tmp_path, name, value, source):
    """Let a distribution announce a catalog."""
    module = f"announcing_{name}"
    (tmp_path / f"{module}.py").write_text(source)
    monkeypatch.syspath_prepend(str(tmp_path))
    monkeypatch.delitem(sys.modules, module, raising=False)
    point = EntryPoint(name, f"{module}{value}", "brainio_lookups")
    monkeypatch.setattr(catalogs.importlib.metadata, "entry_points", lambda group: [point] * (group == point.group))


class TestReading:
    def test_lists(self, catalog):
        assert catalogs.list_stimulus_sets() == [PETS]
        assert catalogs.list_assemblies() == [PETS]
        assert catalogs.list_installed_catalogs() == ["lab_catalog"]
        assert catalogs.combined_catalog()["source_catalog"].tolist() == ["lab_catalog"] * 3

    def test_nothing_is_installed(self):
        assert catalogs.list_stimulus_sets() == catalogs.list_assemblies() == catalogs.list_installed_catalogs() == []
        with pytest.raises(catalogs.AssemblyLookupError, match="no catalog has the assembly 'Pets'"):
            get_assembly("Pets")

    def test_rows(self, catalog):
        table, archive = catalogs.lookup_stimulus_set(PETS)
        assert (table["location"], table["class"]) == ("image_tanaka_Pets1996.csv", "StimulusSet")
        assert archive["location"] == "image_tanaka_Pets1996.zip"
        assert catalogs.lookup_assembly(PETS)["stimulus_set_identifier"] == PETS

    def test_load(self, catalog):
        stimuli = get_stimulus_set(PETS)
        assert stimuli.identifier == PETS
        assert stimuli["stimulus_id"].tolist() == ["001", "002"]
        assert stimuli.get_stimulus("002").name == "b.png"
        assembly = get_assembly(PETS)
        assert type(assembly) is BehavioralAssembly
        assert assembly.attrs["identifier"] == assembly.attrs["stimulus_set_identifier"] == PETS
        assert assembly["animal"].values.tolist() == ["dog", "cat", "dog"]

    def test_a_wrong_name(self, catalog):
        with pytest.raises(catalogs.StimulusSetLookupError, match=f"did you mean {PETS}") as caught:
            get_stimulus_set("tanaka.Pets1997")
        assert isinstance(caught.value, KeyError)

    def test_another_file_than_the_catalog_says(self, catalog, files):
        (files / "assy_tanaka_Pets1996.nc").write_bytes(b"other")
        with pytest.raises(HashMismatch):
            get_assembly(PETS)

    def test_stimuli_without_files(self, files, monkeypatch):
        table = files / "words.csv"
        table.write_text("stimulus_id,word\n1,cat\n")
        path = write_catalog(files / "lookup.csv", [row("Words2024", "stimulus_set", table, cls="StimulusSet")])
        monkeypatch.setenv("BRAINIO_CATALOGS", str(path))
        assert get_stimulus_set("Words2024")["word"].tolist() == ["cat"]

    def test_an_archive_alone(self, files, monkeypatch):
        path = write_catalog(files / "lookup.csv", [row(PETS, "stimulus_set", files / "image_tanaka_Pets1996.zip")])
        monkeypatch.setenv("BRAINIO_CATALOGS", str(path))
        with pytest.raises(catalogs.StimulusSetLookupError, match="has no CSV file of the stimulus set"):
            catalogs.lookup_stimulus_set(PETS)

    def test_two_that_agree(self, catalog, tmp_path, monkeypatch):
        (tmp_path / "copy").mkdir()
        (tmp_path / "copy" / "lookup.csv").write_bytes(catalog.read_bytes())
        monkeypatch.setenv("BRAINIO_CATALOGS", os.pathsep.join([str(catalog), str(tmp_path / "copy" / "lookup.csv")]))
        assert catalogs.list_installed_catalogs() == ["copy", "lab_catalog"]
        assert catalogs.lookup_assembly(PETS)["class"] == "BehavioralAssembly"

    def test_two_that_contradict_each_other(self, catalog, tmp_path, monkeypatch):
        other = write_catalog(
            tmp_path / "other" / "lookup.csv",
            [row(PETS, "assembly", catalog, cls="NeuroidAssembly", stimuli=PETS)],
        )
        monkeypatch.setenv("BRAINIO_CATALOGS", f"{catalog}{os.pathsep}{other}")
        with pytest.raises(UserError, match=r"contradict each other about .*lab_catalog and other"):
            catalogs.lookup_assembly(PETS)

    def test_two_of_one_name(self, catalog, monkeypatch):
        monkeypatch.setenv("BRAINIO_CATALOGS", f"{catalog}{os.pathsep}{catalog}")
        with pytest.raises(UserError, match="two catalogs are named 'lab_catalog'"):
            catalogs.list_assemblies()

    def test_no_catalog(self, tmp_path):
        with pytest.raises(UserError, match="cannot read the catalog 'lab'"):
            Catalog.from_file("lab", tmp_path / "nothing.csv")
        (tmp_path / "lookup.csv").write_text("identifier,sha1\n")
        with pytest.raises(UserError, match="no column lookup_type, class, location_type"):
            Catalog.from_file("lab", tmp_path / "lookup.csv")

    @pytest.mark.parametrize(("column", "says"), [("sha1", "has no sha1"), ("location", "has no location")])
    def test_what_is_blank(self, files, monkeypatch, column, says):
        entry = row(PETS, "assembly", files / "assy_tanaka_Pets1996.nc", cls="BehavioralAssembly") | {column: ""}
        monkeypatch.setenv("BRAINIO_CATALOGS", str(write_catalog(files / "lookup.csv", [entry])))
        with pytest.raises(UserError, match=says):
            get_assembly(PETS)


class TestAnnounced:
    def test_by_a_function(self, catalog, monkeypatch, tmp_path):
        monkeypatch.delenv("BRAINIO_CATALOGS")
        source = (
            "from brainscore_core.supported_data_standards.brainio.catalogs import Catalog\n"
            f"def lab():\n    return Catalog.from_file('lab', {str(catalog)!r})\n"
        )
        announce(monkeypatch, tmp_path, "lab", ":lab", source)
        assert catalogs.list_installed_catalogs() == ["lab"]
        assert catalogs.installed_catalogs()["lab"].source_path == catalog
        assert get_stimulus_set(PETS).identifier == PETS

    def test_by_a_path(self, catalog, monkeypatch, tmp_path):
        monkeypatch.delenv("BRAINIO_CATALOGS")
        announce(monkeypatch, tmp_path, "lab", ":FILE", f"FILE = {str(catalog)!r}\n")
        assert catalogs.list_assemblies() == [PETS]

    def test_by_a_package(self, catalog, monkeypatch, tmp_path):
        monkeypatch.delenv("BRAINIO_CATALOGS")
        announce(monkeypatch, tmp_path, "lab", "", "")
        (tmp_path / "lookup.csv").write_bytes(catalog.read_bytes())
        assert catalogs.list_assemblies() == [PETS]

    def test_one_that_fails(self, monkeypatch, tmp_path):
        announce(monkeypatch, tmp_path, "lab", ":lab", "def lab():\n    1 / 0\n")
        with pytest.raises(UserError, match=r"'lab'.*announcing_lab:lab.*ZeroDivisionError"):
            catalogs.list_assemblies()

    def test_one_that_is_none(self, monkeypatch, tmp_path):
        announce(monkeypatch, tmp_path, "lab", ":lab", "lab = 3\n")
        with pytest.raises(UserError, match="is a int"):
            catalogs.list_assemblies()


TABLE = {"bucket": "brainio-contrib", "key": "stimulus_Pets2024.csv", "sha1": "a" * 40, "version_id": "v1"}
ARCHIVE = {"bucket": "brainio-contrib", "key": "stimulus_Pets2024.zip", "sha1": "b" * 40, "version_id": "v2"}
FILE = {"bucket": "storage/some folder", "key": "assy_Pets2024.nc", "sha1": "c" * 40}


class TestWriting:
    def stimuli(self, path, **changes):
        table = catalog_row("Pets2024", "stimulus_set", **TABLE, cls="StimulusSet")
        return add_rows(path, [table, catalog_row("Pets2024", "stimulus_set", **ARCHIVE | changes)])

    def assembly(self, path, identifier="Pets2024", stimuli="Pets2024", **changes):
        file = FILE | changes
        row = catalog_row(identifier, "assembly", **file, cls="NeuroidAssembly", stimulus_set_identifier=stimuli)
        return add_rows(path, [row])

    def test_a_new_file(self, tmp_path):
        path = tmp_path / "lab" / "lookup.csv"
        check_not_taken(path, "Pets2024", "stimulus_set")
        self.stimuli(path)
        self.assembly(path)
        assert path.read_text().splitlines() == [
            "identifier,lookup_type,class,location_type,location,sha1,stimulus_set_identifier,version_id",
            "Pets2024,stimulus_set,StimulusSet,S3,https://brainio-contrib.s3.amazonaws.com/stimulus_Pets2024.csv,"
            + "a" * 40
            + ",,v1",
            "Pets2024,stimulus_set,,S3,https://brainio-contrib.s3.amazonaws.com/stimulus_Pets2024.zip,"
            + "b" * 40
            + ",,v2",
            "Pets2024,assembly,NeuroidAssembly,S3,https://storage.s3.amazonaws.com/some%20folder/assy_Pets2024.nc,"
            + "c" * 40
            + ",Pets2024,",
        ]

    def test_columns_and_rows_that_are_there_stay(self, catalog):
        before = catalog.read_text().splitlines()
        self.assembly("lab_catalog", stimuli=PETS)
        after = catalog.read_text().splitlines()
        assert after[:4] == before
        assert after[4].startswith("Pets2024,assembly,NeuroidAssembly,S3,")
        assert after[4].endswith(f"{PETS},")
        assert catalogs.list_assemblies() == ["Pets2024", PETS]

    def test_again(self, tmp_path):
        path = tmp_path / "lookup.csv"
        for _ in range(2):
            self.stimuli(path)
        assert len(Catalog.from_file("lab", path)) == 2

    def test_a_taken_identifier(self, tmp_path):
        path = tmp_path / "lookup.csv"
        self.stimuli(path)
        before = path.read_bytes()
        with pytest.raises(UserError, match="already has the stimulus set 'Pets2024'"):
            check_not_taken(path, "Pets2024", "stimulus_set")
        with pytest.raises(UserError, match="already has the stimulus set 'Pets2024'"):
            self.stimuli(path, sha1="d" * 40)
        assert path.read_bytes() == before
        check_not_taken(path, "Pets2024", "assembly")

    def test_an_unknown_catalog(self, catalog):
        with pytest.raises(UnknownIdentifier, match=r"unknown catalog 'lab_catalogue'\ndid you mean lab_catalog"):
            self.assembly("lab_catalogue")

    def test_several_at_once(self, tmp_path):
        path = tmp_path / "lookup.csv"

        def add(number):
            self.assembly(path, f"Pets{number}", None, key=f"assy_{number}.nc")

        threads = [threading.Thread(target=add, args=(number,)) for number in range(8)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert sorted(Catalog.from_file("lab", path)["identifier"]) == [f"Pets{number}" for number in range(8)]

    def test_the_old_function(self, tmp_path):
        path = tmp_path / "lookup.csv"
        written = catalogs.append(str(path), "P", "StimulusSet", "stimulus_set", "bucket", "a" * 40, "stimulus_P.csv")
        assert written["location"].tolist() == ["https://bucket.s3.amazonaws.com/stimulus_P.csv"]
        with pytest.raises(UserError, match="unknown lookup_type 'stimuli'"):
            catalogs.append(str(path), "P", None, "stimuli", "bucket", "a" * 40, "stimulus_P.csv")


class TestPlaces:
    @pytest.mark.parametrize(
        ("location", "expected"),
        [
            ("https://brainio.dicarlo.s3.amazonaws.com/assy_x.nc", ("brainio.dicarlo", "assy_x.nc")),
            ("https://bucket.s3.us-east-2.amazonaws.com/some%20folder/x.nc", ("bucket", "some folder/x.nc")),
            ("https://s3.amazonaws.com/bucket/folder/x.nc", ("bucket", "folder/x.nc")),
            ("https://bucket.s3-eu-west-1.amazonaws.com/x.nc", ("bucket", "x.nc")),
            ("s3://bucket/folder/x.nc", ("bucket", "folder/x.nc")),
            ("https://osf.io/x.nc", None),
        ],
    )
    def test_addresses(self, location, expected):
        assert fetch._bucket_and_key(location) == expected

    def test_another_server(self, tmp_path):
        request = fetch.location_request("S3", "https://osf.io/x.nc", sha1="a" * 40, version_id=None, folder=tmp_path)
        assert request.url == "https://osf.io/x.nc"

    def test_an_unknown_type(self):
        with pytest.raises(UserError, match="unknown location type 'network_storage'"):
            fetch_file("network_storage", "somewhere", "a" * 40)


def test_load_from_s3(files, tmp_path, monkeypatch, s3_server):
    """Rows that packaging writes lead to the objects, also where a newer version lies over them."""
    boto3 = pytest.importorskip("boto3")
    client = boto3.client("s3", endpoint_url=s3_server)
    client.create_bucket(Bucket="brainio-contrib")
    client.put_bucket_versioning(Bucket="brainio-contrib", VersioningConfiguration={"Status": "Enabled"})

    def upload(name, lookup_type, **more):
        key = f"data/{name}"
        put = client.put_object(Bucket="brainio-contrib", Key=key, Body=(files / name).read_bytes(), ACL="public-read")
        client.put_object(Bucket="brainio-contrib", Key=key, Body=b"newer", ACL="public-read")
        file = {"bucket": "brainio-contrib/data", "key": name, "sha1": sha1(files / name)}
        return catalog_row(PETS, lookup_type, **file, version_id=put["VersionId"], **more)

    path = tmp_path / "lookup.csv"
    stimuli = [upload(f"image_tanaka_Pets1996.{suffix}", "stimulus_set") for suffix in ("csv", "zip")]
    more = {"cls": "BehavioralAssembly", "stimulus_set_identifier": PETS}
    add_rows(path, [*stimuli, upload("assy_tanaka_Pets1996.nc", "assembly", **more)])
    monkeypatch.setenv("BRAINIO_CATALOGS", str(path))
    monkeypatch.setenv("BRAINIO_HOME", str(tmp_path / "cache"))
    assembly = get_assembly(PETS)
    assert assembly.values.tolist() == ["cat", "dog", "dog"]
    assert assembly.attrs["stimulus_set"].get_stimulus("001").name == "a.png"


def test_names_of_the_published_package():
    import brainscore_core.supported_data_standards.brainio as brainio
    from brainscore_core.supported_data_standards.brainio import fetch

    assert brainio.get_assembly is fetch.get_assembly is get_assembly
    assert brainio.get_stimulus_set is fetch.get_stimulus_set is get_stimulus_set
    with pytest.raises(AttributeError, match="nonesuch"):
        _ = brainio.nonesuch
