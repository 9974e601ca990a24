import errno
import hashlib
import os
import signal
import warnings
import zipfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import pytest

from brainscore_core import files
from brainscore_core.errors import UnknownIdentifier, UserError
from brainscore_core.supported_data_standards.brainio import assemblies
from brainscore_core.supported_data_standards.brainio.assemblies import (
    BehavioralAssembly,
    DataAssembly,
    NeuroidAssembly,
    PropertyAssembly,
)
from brainscore_core.supported_data_standards.brainio.fetch import (
    AssemblyLoader,
    HashMismatch,
    StimulusSetLoader,
    StorageError,
    load_assembly_from_url,
    load_stimulus_set_from_url,
    resolve_assembly_class,
    unzip,
)
from brainscore_core.supported_data_standards.brainio.netcdf import write_netcdf
from brainscore_core.supported_data_standards.brainio.stimuli import StimulusSet

ROOT = Path(__file__).parents[3]
TABLE = "stimulus_id,filename,category,size\n001,001.png,cat,1.5\n002,002.png,dog,\nNA,NA.png,cat,3.0\n"
FILES = {"001.png": b"one", "002.png": b"two", "NA.png": b"three"}


def sha256(body):
    return hashlib.sha256(body).hexdigest()


def make_zip(path, members=FILES):
    with zipfile.ZipFile(path, "w") as store:
        for name, body in members.items():
            store.writestr(name, body)
    return path


def visible(folder):
    return sorted(path.name for path in folder.iterdir())


class TestUnzip:
    def test_beside_the_archive(self, tmp_path):
        folder = unzip(make_zip(tmp_path / "stimulus_A.zip"))
        assert folder == tmp_path / "stimulus_A"
        assert {path.name: path.read_bytes() for path in folder.iterdir()} == FILES
        assert visible(tmp_path) == ["stimulus_A", "stimulus_A.zip"]

    def test_second_time_nothing_is_written(self, tmp_path):
        archive = make_zip(tmp_path / "a.zip")
        folder = unzip(archive)
        before = folder.stat().st_mtime_ns, folder.stat().st_ino
        assert unzip(archive) == folder
        assert (folder.stat().st_mtime_ns, folder.stat().st_ino) == before

    def test_elsewhere(self, tmp_path):
        folder = unzip(make_zip(tmp_path / "a.zip"), into=tmp_path / "deep" / "er")
        assert folder == tmp_path / "deep" / "er"
        assert len(list(folder.iterdir())) == 3

    def test_folders_inside(self, tmp_path):
        folder = unzip(make_zip(tmp_path / "a.zip", {"x/1.png": b"1", "x/y/2.png": b"2"}))
        assert (folder / "x" / "y" / "2.png").read_bytes() == b"2"

    @pytest.mark.parametrize("damage", ["missing", "short", "a file"])
    def test_partly_unpacked_is_done_again(self, tmp_path, damage):
        archive = make_zip(tmp_path / "a.zip")
        folder = tmp_path / "a"
        if damage == "a file":
            folder.write_text("")
        else:
            folder.mkdir()
            (folder / "001.png").write_bytes(b"one")
            if damage == "short":
                (folder / "002.png").write_bytes(b"t")
                (folder / "NA.png").write_bytes(b"three")
        assert {path.name: path.read_bytes() for path in unzip(archive).iterdir()} == FILES
        assert visible(tmp_path) == ["a", "a.zip"]

    def test_kill_in_the_middle(self, tmp_path, fork):
        archive = make_zip(tmp_path / "a.zip")

        def half(self, path, members):
            self.extract(members[0], path)
            os.kill(os.getpid(), signal.SIGKILL)

        def unzip_half():
            zipfile.ZipFile.extractall = half
            unzip(archive)

        process = fork(unzip_half)
        process.join(60)
        assert process.exitcode == -signal.SIGKILL
        (left,) = (path for path in tmp_path.iterdir() if path.name.endswith(".part"))
        assert not (tmp_path / "a").exists()
        os.utime(left, (1_000, 1_000))
        assert len(list(unzip(archive).iterdir())) == 3
        assert visible(tmp_path) == ["a", "a.zip"]

    def test_at_once(self, tmp_path):
        archive = make_zip(tmp_path / "a.zip", {f"{number}.png": bytes(1000) for number in range(300)})
        with ThreadPoolExecutor(6) as pool:
            folders = set(pool.map(unzip, [archive] * 6))
        assert folders == {tmp_path / "a"}
        assert len(list((tmp_path / "a").iterdir())) == 300
        assert visible(tmp_path) == ["a", "a.zip"]

    def test_at_once_over_a_partial_folder_where_there_are_no_locks(self, tmp_path, monkeypatch):
        def unsupported(*args):
            raise OSError(errno.ENOLCK, "No locks available")

        monkeypatch.setattr(files.fcntl, "flock", unsupported)
        archive = make_zip(tmp_path / "a.zip", {f"{number}.png": bytes(1000) for number in range(100)})
        (tmp_path / "a").mkdir()
        (tmp_path / "a" / "1.png").write_bytes(b"half")
        with ThreadPoolExecutor(6) as pool:
            list(pool.map(unzip, [archive] * 6))
        assert {path.stat().st_size for path in (tmp_path / "a").iterdir()} == {1000}
        assert visible(tmp_path) == ["a", "a.zip"]

    def test_a_partial_folder_that_another_process_moves_meanwhile(self, tmp_path, monkeypatch):
        archive, folder, rename = make_zip(tmp_path / "a.zip", FILES), tmp_path / "a", os.rename
        folder.mkdir()
        (folder / "half").write_bytes(b"half")

        def raced(source, target):
            try:
                rename(source, target)
            finally:
                if (folder / "half").exists():
                    rename(folder, tmp_path / "moved")

        monkeypatch.setattr(os, "rename", raced)
        assert visible(unzip(archive)) == sorted(FILES)

    def test_what_file_managers_add_is_left_out(self, tmp_path):
        extra = {"__MACOSX/._001.png": b"", ".DS_Store": b"", "Thumbs.db": b""}
        assert visible(unzip(make_zip(tmp_path / "a.zip", {**FILES, **extra}))) == sorted(FILES)

    @pytest.mark.parametrize("name", ["../evil", "/tmp/evil", "x/../../evil", "..\\evil", "C:/evil"])
    def test_a_path_that_leads_out(self, tmp_path, name):
        archive = make_zip(tmp_path / "a.zip", {"good": b"", name: b""})
        with pytest.raises(UserError, match="leads out"):
            unzip(archive)
        assert visible(tmp_path) == ["a.zip"]

    def test_a_link(self, tmp_path):
        link = zipfile.ZipInfo("link")
        link.create_system = 3
        link.external_attr = 0o120777 << 16
        with zipfile.ZipFile(tmp_path / "a.zip", "w") as store:
            store.writestr(link, "/etc/passwd")
        with pytest.raises(UserError, match="is a link"):
            unzip(tmp_path / "a.zip")

    @pytest.mark.filterwarnings("ignore:Duplicate name")
    def test_a_name_twice(self, tmp_path):
        with zipfile.ZipFile(tmp_path / "a.zip", "w") as store:
            store.writestr("a", "1")
            store.writestr("a", "22")
        with pytest.raises(UserError, match="twice"):
            unzip(tmp_path / "a.zip")

    def test_damaged(self, tmp_path):
        archive = make_zip(tmp_path / "a.zip", {"a": b"abcdefgh"})
        archive.write_bytes(archive.read_bytes().replace(b"abcdefgh", b"abcdXfgh"))
        with pytest.raises(UserError, match="Bad CRC"):
            unzip(archive)
        assert visible(tmp_path) == ["a.zip"]

    def test_no_zip(self, tmp_path):
        (tmp_path / "a.zip").write_text("hello")
        with pytest.raises(UserError, match="not a zip file"):
            unzip(tmp_path / "a.zip")
        with pytest.raises(UserError, match="does not exist"):
            unzip(tmp_path / "b.zip")
        with pytest.raises(UserError, match="no suffix"):
            unzip(tmp_path / "b")

    def test_no_room(self, tmp_path, monkeypatch):
        import shutil

        monkeypatch.setattr(shutil, "disk_usage", lambda path: shutil._ntuple_diskusage(10, 10, 0))
        with pytest.raises(StorageError, match="are needed"):
            unzip(make_zip(tmp_path / "a.zip"))

    def test_not_writable(self, tmp_path):
        (tmp_path / "occupied").write_text("")
        with pytest.raises(StorageError, match="BRAINIO_HOME"):
            unzip(make_zip(tmp_path / "a.zip"), into=tmp_path / "occupied" / "a")


class TestResolveAssemblyClass:
    @pytest.mark.parametrize(
        "name",
        [
            "DataAssembly",
            "NeuroidAssembly",
            "NeuronRecordingAssembly",
            "BehavioralAssembly",
            "PropertyAssembly",
            "PropertiesAssembly",
            "MetadataAssembly",
            "SpikeTimesAssembly",
            "ModelFeaturesAssembly",
        ],
    )
    def test_known(self, name):
        assert resolve_assembly_class(name) is getattr(assemblies, name)

    def test_a_class_is_itself(self):
        assert resolve_assembly_class(NeuroidAssembly) is NeuroidAssembly

    def test_unknown(self):
        with pytest.raises(UnknownIdentifier, match="NeuroidAssembly"):
            resolve_assembly_class("NeuroidAsembly")
        with pytest.raises(UnknownIdentifier, match="BehavioralAssembly"):
            resolve_assembly_class("walk_coords")


@pytest.fixture
def stored(tmp_path):
    (tmp_path / "set.csv").write_text(TABLE)
    unzip(make_zip(tmp_path / "set.zip"))
    return tmp_path


class TestStimulusSetLoader:
    def test_table_and_files(self, stored):
        stimulus_set = StimulusSetLoader(StimulusSet, stored / "set.csv", stored / "set").load()
        assert isinstance(stimulus_set, StimulusSet)
        assert list(stimulus_set["stimulus_id"]) == ["001", "002", "NA"]
        assert list(stimulus_set["filename"]) == list(FILES)
        assert stimulus_set.get_stimulus("NA").read_bytes() == b"three"
        np.testing.assert_array_equal(stimulus_set["size"], [1.5, np.nan, 3.0])

    def test_without_files(self, stored):
        stimulus_set = StimulusSetLoader(StimulusSet, stored / "set.csv").load()
        assert not stimulus_set.stimulus_paths

    def test_older_tables(self, stored):
        (stored / "set.csv").write_text(TABLE.replace("stimulus_id", "image_id"))
        stimulus_set = StimulusSetLoader(StimulusSet, stored / "set.csv", stored / "set").load()
        assert list(stimulus_set["stimulus_id"]) == ["001", "002", "NA"]
        assert list(stimulus_set["image_id"]) == list(stimulus_set["stimulus_id"])

    def test_differences_are_listed(self, stored):
        (stored / "set" / "001.png").unlink()
        (stored / "set" / "stranger.png").write_text("")
        with pytest.raises(UserError, match=r"1 missing .*'001.png'; 1 not in the table: 'stranger.png'"):
            StimulusSetLoader(StimulusSet, stored / "set.csv", stored / "set").load()

    def test_many_differences_stay_readable(self, stored):
        rows = "".join(f"{number},{number}.png,x,1\n" for number in range(1000))
        (stored / "set.csv").write_text(TABLE + rows)
        with pytest.raises(UserError, match=r"1000 missing .*\(1000 in all\)"):
            StimulusSetLoader(StimulusSet, stored / "set.csv", stored / "set").load()

    def test_hidden_files_of_the_desktop_do_not_count(self, stored):
        (stored / "set" / ".DS_Store").write_text("")
        assert len(StimulusSetLoader(StimulusSet, stored / "set.csv", stored / "set").load()) == 3

    def test_table_cannot_point_outside(self, stored):
        (stored / "secret.png").write_text("")
        (stored / "set.csv").write_text(TABLE.replace("001.png", "../secret.png"))
        with pytest.raises(UserError, match="secret"):
            StimulusSetLoader(StimulusSet, stored / "set.csv", stored / "set").load()

    @pytest.mark.parametrize(
        ("table", "complaint"),
        [
            ("", "cannot read"),
            ("a,b\n1,2\n", "no column 'stimulus_id'"),
            ("stimulus_id\n1\n", "no column 'filename'"),
            ("stimulus_id,filename\n1,001.png\n1,002.png\n", "duplicate stimulus ids: '1'"),
        ],
    )
    def test_bad_tables(self, stored, table, complaint):
        (stored / "set.csv").write_text(table)
        with pytest.raises(UserError, match=complaint):
            StimulusSetLoader(StimulusSet, stored / "set.csv", stored / "set").load()

    def test_missing_table_and_folder(self, stored):
        with pytest.raises(UserError, match="cannot read"):
            StimulusSetLoader(StimulusSet, stored / "nothing.csv", stored / "set").load()
        with pytest.raises(UserError, match="does not exist"):
            StimulusSetLoader(StimulusSet, stored / "set.csv", stored / "nothing").load()

    def test_thousands_of_stimuli(self, tmp_path):
        names = [f"{number}.png" for number in range(3_000)]
        (tmp_path / "set.csv").write_text(
            "stimulus_id,filename\n" + "".join(f"{number},{name}\n" for number, name in enumerate(names))
        )
        folder = unzip(make_zip(tmp_path / "set.zip", dict.fromkeys(names, b"")))
        assert len(StimulusSetLoader(StimulusSet, tmp_path / "set.csv", folder).load().stimulus_paths) == 3_000


def neural(ids=("002", "001", "001", "NA"), cls=NeuroidAssembly, **coords):
    return cls(
        np.arange(len(ids) * 2.0).reshape(len(ids), 2),
        coords={
            "stimulus_id": ("presentation", list(ids)),
            "repetition": ("presentation", list(range(len(ids)))),
            **coords,
            "neuroid_id": ("neuroid", ["n1", "n2"]),
            "region": ("neuroid", ["V4", "IT"]),
        },
        dims=["presentation", "neuroid"],
    )


class TestAssemblyLoader:
    @pytest.fixture
    def stimulus_set(self, stored):
        stimulus_set = StimulusSetLoader(StimulusSet, stored / "set.csv", stored / "set").load()
        stimulus_set.identifier = "Pets2026"
        return stimulus_set

    def load(self, assembly, tmp_path, **options):
        write_netcdf(assembly, tmp_path / "assy.nc")
        return AssemblyLoader(type(assembly), tmp_path / "assy.nc", **options).load()

    def test_left_join(self, tmp_path, stimulus_set):
        loaded = self.load(neural(), tmp_path, stimulus_set=stimulus_set)
        assert isinstance(loaded, NeuroidAssembly)
        assert list(loaded["stimulus_id"].values) == ["002", "001", "001", "NA"]
        assert list(loaded["category"].values) == ["dog", "cat", "cat", "cat"]
        assert list(loaded["filename"].values) == ["002.png", "001.png", "001.png", "NA.png"]
        np.testing.assert_array_equal(loaded["size"].values.astype(float), [np.nan, 1.5, 1.5, 3.0])
        np.testing.assert_array_equal(loaded.values, neural().values)
        assert list(loaded["region"].values) == ["V4", "IT"]
        assert loaded.dims == ("presentation", "neuroid")
        assert loaded.sel(category="dog").shape == (1, 2)

    def test_attributes(self, tmp_path, stimulus_set):
        assembly = neural()
        assembly.attrs["sampling_rate"] = 280
        loaded = self.load(assembly, tmp_path, stimulus_set=stimulus_set)
        assert loaded.stimulus_set is stimulus_set
        assert loaded.stimulus_set_identifier == "Pets2026"
        assert loaded.attrs["sampling_rate"] == 280
        again = self.load(assembly, tmp_path, stimulus_set=stimulus_set, stimulus_set_identifier="Other")
        assert again.stimulus_set_identifier == "Other"

    def test_not_merged(self, tmp_path, stimulus_set):
        loaded = self.load(neural(), tmp_path, stimulus_set=stimulus_set, merge_stimulus_set_meta=False)
        assert "category" not in loaded.coords
        assert loaded.stimulus_set is stimulus_set

    def test_without_stimulus_set(self, tmp_path):
        loaded = self.load(neural(), tmp_path)
        assert "stimulus_set" not in loaded.attrs
        assert "stimulus_set_identifier" not in loaded.attrs
        np.testing.assert_array_equal(loaded.values, neural().values)

    def test_the_assembly_wins(self, tmp_path, stimulus_set):
        own = ["a", "b", "c", "d"]
        loaded = self.load(neural(category=("presentation", own)), tmp_path, stimulus_set=stimulus_set)
        assert list(loaded["category"].values) == own
        assert "filename" in loaded.coords

    def test_a_column_named_like_a_level_of_another_dim(self, tmp_path, stimulus_set):
        stimulus_set["region"] = "Africa"
        loaded = self.load(neural(), tmp_path, stimulus_set=stimulus_set)
        assert loaded["region"].dims == ("neuroid",)

    def test_the_stimulus_set_stays_as_it_was(self, tmp_path, stimulus_set):
        columns, paths = list(stimulus_set.columns), dict(stimulus_set.stimulus_paths)
        self.load(neural(), tmp_path, stimulus_set=stimulus_set)
        assert list(stimulus_set.columns) == columns
        assert stimulus_set.stimulus_paths == paths

    def test_some_stimuli_are_unknown(self, tmp_path, stimulus_set):
        with pytest.raises(
            UserError, match=r"1 of the stimuli .*assy\.nc are not .*'Pets2026'.*'stimulus_id' has 'no'"
        ) as e:
            self.load(neural(["001", "no"]), tmp_path, stimulus_set=stimulus_set)
        assert "merge_stimulus_set_meta=False" in e.value.remedy
        loaded = self.load(neural(["001", "no"]), tmp_path, stimulus_set=stimulus_set, merge_stimulus_set_meta=False)
        assert list(loaded["stimulus_id"].values) == ["001", "no"]

    def test_all_stimuli_are_unknown(self, tmp_path, stimulus_set):
        with pytest.raises(UserError, match=r"none of the stimuli .*'x', 'y'.*'001'"):
            self.load(neural(["x", "y"]), tmp_path, stimulus_set=stimulus_set)

    def test_the_data_set_is_named(self, tmp_path, stimulus_set):
        options = {"stimulus_set": stimulus_set, "identifier": "Pets2026.IT"}
        with pytest.raises(UserError, match=r"Pets2026\.IT \(.*assy\.nc\)"):
            self.load(neural(["no"]), tmp_path, **options)

    def test_other_dimensions_than_the_class(self, tmp_path):
        write_netcdf(DataAssembly([[1.0]], dims=["presentation", "choice"]), tmp_path / "assy.nc")
        loader = AssemblyLoader("NeuroidAssembly", tmp_path / "assy.nc", identifier="Pets2026")
        with pytest.raises(
            UserError, match=r"Pets2026 \(.*assy\.nc\): the dimensions are presentation × choice, but those of a Neu"
        ):
            loader.load()

    @pytest.mark.parametrize("missing", ["time_bin_start", "time_bin_end"])
    def test_time_bins_without_times(self, tmp_path, missing):
        times = {"time_bin_start": ("time_bin", [0, 10]), "time_bin_end": ("time_bin", [10, 20])}
        del times[missing]
        assembly = DataAssembly(np.zeros((1, 1, 2)), coords=times, dims=["presentation", "neuroid", "time_bin"])
        write_netcdf(assembly, tmp_path / "assy.nc")
        with pytest.raises(UserError, match=rf"Pets2026 \(.*assy\.nc\) has no coordinate '{missing}' on time_bin"):
            AssemblyLoader("NeuroidAssembly", tmp_path / "assy.nc", identifier="Pets2026").load()
        assert AssemblyLoader("DataAssembly", tmp_path / "assy.nc").load().shape == (1, 1, 2)

    def test_the_file_is_remembered(self, tmp_path, stimulus_set):
        loaded = self.load(neural(), tmp_path, stimulus_set=stimulus_set)
        assert loaded.encoding["source"] == str(tmp_path / "assy.nc")
        assert loaded.sel(region="IT").encoding["source"] == str(tmp_path / "assy.nc")

    @pytest.mark.filterwarnings("error:Duplicate dimension names")
    def test_a_dimension_twice(self, tmp_path, stimulus_set):
        """As matrices of similarities are published."""
        values = np.arange(18.0).reshape(3, 3, 2)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", UserWarning)
            matrices = NeuroidAssembly(
                values,
                coords={
                    "stimulus_id": ("presentation", ["NA", "001", "002"]),
                    "subject": ("neuroid", ["a", "b"]),
                },
                dims=["presentation", "presentation", "neuroid"],
            )
        loaded = self.load(matrices, tmp_path, stimulus_set=stimulus_set)
        assert loaded.dims == ("presentation", "presentation", "neuroid")
        np.testing.assert_array_equal(loaded.values, values)
        assert list(loaded["category"].values) == ["cat", "cat", "dog"]
        assert list(loaded["subject"].values) == ["a", "b"]

    def test_whole_numbers_as_ids(self, tmp_path):
        stimulus_set = StimulusSet({"stimulus_id": ["1", "2"], "category": ["cat", "dog"]})
        loaded = self.load(neural([2, 1]), tmp_path, stimulus_set=stimulus_set)
        assert list(loaded["stimulus_id"].values) == ["2", "1"]
        assert list(loaded["category"].values) == ["dog", "cat"]

    def test_older_files(self, tmp_path, stimulus_set):
        older = DataAssembly(
            [1.0, 2.0],
            coords={"image_id": ("presentation", ["001", "002"]), "animal": ("presentation", ["m", "m"])},
            dims=["presentation"],
        )
        loaded = self.load(older, tmp_path, stimulus_set=stimulus_set)
        assert list(loaded["stimulus_id"].values) == ["001", "002"]
        assert list(loaded["image_id"].values) == ["001", "002"]
        assert list(loaded["category"].values) == ["cat", "dog"]

    def test_only_the_stimulus_id_on_presentation(self, tmp_path, stimulus_set):
        single = BehavioralAssembly(
            [0.0, 1.0], coords={"stimulus_id": ("presentation", ["001", "002"])}, dims=["presentation"]
        )
        loaded = self.load(single, tmp_path, stimulus_set=stimulus_set)
        assert list(loaded["category"].values) == ["cat", "dog"]

    def test_without_ids(self, tmp_path, stimulus_set):
        anonymous = DataAssembly([1.0], coords={"subject": ("presentation", ["a"])}, dims=["presentation"])
        with pytest.raises(UserError, match="merge_stimulus_set_meta=False"):
            self.load(anonymous, tmp_path, stimulus_set=stimulus_set)

    def test_without_presentations(self, tmp_path, stimulus_set):
        properties = PropertyAssembly(
            [[1.0]], coords={"neuroid_id": ("neuroid", ["n"]), "name": ("prop", ["x"])}, dims=["neuroid", "prop"]
        )
        loaded = self.load(properties, tmp_path, stimulus_set=stimulus_set)
        assert loaded.stimulus_set is stimulus_set

    def test_by_name(self, tmp_path):
        write_netcdf(neural(), tmp_path / "a.nc")
        assert type(AssemblyLoader("NeuroidAssembly", tmp_path / "a.nc").load()) is NeuroidAssembly
        with pytest.raises(UnknownIdentifier):
            AssemblyLoader("Neuroid", tmp_path / "a.nc")


class TestHostedByTheAuthors:
    @pytest.fixture
    def hosted(self, web, tmp_path):
        web.files["/v1/table.csv"] = TABLE.encode()
        web.files["/v1/images.zip"] = make_zip(tmp_path / "images.zip").read_bytes()
        web.files.update({f"/v1/files/{name}": body for name, body in FILES.items()})
        write_netcdf(neural(), tmp_path / "rates.nc")
        web.files["/v1/rates.nc"] = (tmp_path / "rates.nc").read_bytes()
        return web

    def load(self, hosted, **options):
        return load_stimulus_set_from_url(
            identifier="Pets2026", csv_url=hosted.url("/v1/table.csv"), csv_sha256=sha256(TABLE.encode()), **options
        )

    def load_zip(self, hosted):
        body = hosted.files["/v1/images.zip"]
        return self.load(hosted, zip_url=hosted.url("/v1/images.zip"), zip_sha256=sha256(body))

    def test_archive(self, hosted, cache):
        stimulus_set = self.load_zip(hosted)
        assert stimulus_set.identifier == "Pets2026"
        digest = sha256(hosted.files["/v1/images.zip"])
        assert stimulus_set.get_stimulus("001") == cache / digest / "images" / "001.png"

    def test_archive_in_a_mirror_is_unpacked_in_the_cache(self, hosted, cache, tmp_path, monkeypatch):
        folder = tmp_path / "mirror" / hosted.host / "v1"
        folder.mkdir(parents=True)
        (folder / "images.zip").write_bytes(hosted.files["/v1/images.zip"])
        monkeypatch.setenv("BRAINSCORE_MIRROR", str(tmp_path / "mirror"))
        stimulus_set = self.load_zip(hosted)
        assert cache in stimulus_set.get_stimulus("001").parents
        assert visible(folder) == ["images.zip"]

    def test_archive_without_suffix(self, hosted):
        hosted.files["/download"] = hosted.files["/v1/images.zip"]
        digest = sha256(hosted.files["/download"])
        stimulus_set = self.load(hosted, zip_url=hosted.url("/download"), zip_sha256=digest)
        assert stimulus_set.get_stimulus("002").read_bytes() == b"two"

    def test_single_files(self, hosted):
        files = [{"url": hosted.url(f"/v1/files/{name}"), "sha256": sha256(body)} for name, body in FILES.items()]
        stimulus_set = self.load(hosted, files=files)
        assert stimulus_set.get_stimulus("002").read_bytes() == b"two"

    def test_single_files_must_be_those_of_the_table(self, hosted):
        files = [{"url": hosted.url("/v1/files/001.png"), "sha256": sha256(b"one")}]
        with pytest.raises(UserError, match="2 missing from the given files"):
            self.load(hosted, files=files)

    def test_no_files(self, hosted):
        assert not self.load(hosted).stimulus_paths

    def test_both(self, hosted):
        with pytest.raises(UserError, match="only one"):
            self.load(hosted, zip_url="https://a.org/a.zip", files=[{"url": "https://a.org/a", "sha256": "0" * 64}])

    def test_archive_needs_its_hash(self, hosted):
        with pytest.raises(UserError, match="no hash"):
            self.load(hosted, zip_url=hosted.url("/v1/images.zip"))

    def test_assembly(self, hosted):
        calls = []

        def stimuli():
            calls.append(1)
            return self.load_zip(hosted)

        assembly = load_assembly_from_url(
            identifier="Pets2026.IT",
            url=hosted.url("/v1/rates.nc"),
            sha256=sha256(hosted.files["/v1/rates.nc"]),
            cls=NeuroidAssembly,
            stimulus_set_loader=stimuli,
        )
        assert calls == [1]
        assert assembly.identifier == "Pets2026.IT"
        assert assembly.stimulus_set_identifier == "Pets2026"
        assert list(assembly["category"].values) == ["dog", "cat", "cat", "cat"]

    def test_wrong_assembly(self, hosted):
        with pytest.raises(HashMismatch):
            load_assembly_from_url(
                identifier="a", url=hosted.url("/v1/rates.nc"), sha256="0" * 64, cls="NeuroidAssembly"
            )
