"""Every check finds its culprit, names it and says what to do; data without fault pass."""

import io
import os
import pickle
import warnings

import numpy as np
import pandas as pd
import pytest
import xarray as xr
from PIL import Image, ImageFile

from brainscore_core.errors import UserError
from brainscore_core.supported_data_standards.brainio.assemblies import (
    BehavioralAssembly,
    DataAssembly,
    NeuroidAssembly,
    PropertyAssembly,
)
from brainscore_core.supported_data_standards.brainio.stimuli import StimulusSet
from brainscore_core.supported_data_standards.brainio.validation import (
    Finding,
    ValidationError,
    check_identifier,
    errors_among,
    raise_for_errors,
    validate_assembly,
    validate_pair,
    validate_stimulus_set,
)

NAME = "MyExperiment2024"


def picture(path, size=(8, 6)):
    pixels = np.random.default_rng(0).integers(0, 256, (*size, 3), dtype=np.uint8)
    Image.fromarray(pixels).save(path)
    return path


@pytest.fixture
def stimuli(tmp_path):
    folder = tmp_path / "stimuli"
    folder.mkdir()
    made = StimulusSet(
        [{"stimulus_id": f"img_{n}", "category": "face" if n < 2 else "object", "size": n / 3} for n in range(4)]
    )
    made.stimulus_paths = {f"img_{n}": picture(folder / f"photo{n}.png") for n in range(4)}
    made.name = NAME
    return made


def neural(**changes):
    parts = {
        "stimulus_id": ("presentation", ["img_0", "img_1", "img_0"]),
        "neuroid_id": ("neuroid", ["n0", "n1"]),
        "time_bin_start": ("time_bin", [0, 10]),
        "time_bin_end": ("time_bin", [10, 20]),
    } | changes
    coords = {name: value for name, value in parts.items() if value is not None}
    return NeuroidAssembly(
        np.arange(12.0).reshape(3, 2, 2), coords=coords, dims=["presentation", "neuroid", "time_bin"]
    )


def only(findings, check):
    """The one error there is; warnings aside."""
    errors = errors_among(findings)
    assert [finding.check for finding in errors] == [check], [str(finding) for finding in findings]
    return errors[0]


def warned(findings, check):
    assert errors_among(findings) == []
    matching = [finding for finding in findings if finding.check == check]
    assert len(matching) == 1, [str(finding) for finding in findings]
    return matching[0]


class TestFaultless:
    def test_stimuli(self, stimuli):
        assert validate_stimulus_set(stimuli) == []

    def test_assembly(self):
        assert validate_assembly(neural()) == []

    def test_pair(self, stimuli):
        findings = validate_pair(stimuli, neural())
        assert "'img_2', 'img_3'" in warned(findings, "stimuli never shown").culprit

    def test_nothing_is_changed(self, stimuli):
        before, paths = stimuli.copy(), dict(stimuli.stimulus_paths)
        assembly = neural()
        copy = assembly.copy(deep=True)
        validate_pair(stimuli, assembly)
        pd.testing.assert_frame_equal(stimuli, before)
        assert stimuli.stimulus_paths == paths
        assert assembly.identical(copy)

    def test_metadata_may_be_missing(self, stimuli):
        stimuli["subcategory"] = [None, "car", np.nan, "house"]
        assert validate_stimulus_set(stimuli) == []

    def test_plain_table(self, stimuli):
        findings = validate_stimulus_set(pd.DataFrame(stimuli), NAME)
        assert warned(findings, "no files").remedy.startswith("if the stimuli have files")

    def test_sounds_are_not_decoded(self, stimuli, tmp_path):
        (tmp_path / "a.wav").write_bytes(b"no sound, but content")
        stimuli.stimulus_paths = dict.fromkeys(stimuli["stimulus_id"], tmp_path / "a.wav")
        assert validate_stimulus_set(stimuli) == []

    @pytest.mark.parametrize("suffix", [".png", ".jpg", ".bmp", ".gif", ".tif", ".webp", ".PNG", ".JPEG"])
    def test_kinds_of_images(self, stimuli, tmp_path, suffix):
        path = picture(tmp_path / f"a{suffix}")
        stimuli.stimulus_paths = dict.fromkeys(stimuli["stimulus_id"], path)
        assert validate_stimulus_set(stimuli) == []


class TestIdentifier:
    @pytest.mark.parametrize(
        "name", ["MajajHong2015", "ImageNet", "MajajHong2015.IT", "Malania2007.vernier_only", "A2024.condition_A"]
    )
    def test_convention(self, name):
        assert check_identifier(name) == []

    @pytest.mark.parametrize("name", ["my-data", "majajhong2015", "Geirhos2021_cue-conflict", "A__b", "A2024.-x"])
    def test_unusual(self, name):
        finding = warned(check_identifier(name), "naming convention")
        assert repr(name) in finding.culprit
        assert "capital letter" in finding.remedy

    @pytest.mark.parametrize(
        "name",
        ["a b", "a/b", "../a", "a\\b", ".a", "a.", "a..b", "-rf", "ä2024", "a\n", "a:b", "a" * 201, 2024, " A2024"],
    )
    def test_unusable(self, name):
        finding = only(check_identifier(name), "unusable name")
        assert repr(name)[:50].rstrip("'") in finding.culprit

    @pytest.mark.parametrize("name", [None, ""])
    def test_missing(self, name):
        assert "stimulus_set.name =" in only(check_identifier(name), "missing name").remedy

    def test_missing_name_of_stimulus_set(self, stimuli):
        stimuli.name = None
        only(validate_stimulus_set(stimuli), "missing name")

    def test_another_name(self, stimuli):
        finding = warned(validate_stimulus_set(stimuli, "Other2024"), "two names")
        assert "'MyExperiment2024'" in finding.culprit
        assert "'Other2024'" in finding.culprit


class TestIds:
    def test_duplicate(self, stimuli):
        stimuli.loc[1, "stimulus_id"] = "img_0"
        stimuli.stimulus_paths.pop("img_1")
        finding = only(validate_stimulus_set(stimuli), "duplicate stimulus_id")
        assert "'img_0'" in finding.culprit
        assert "its own id" in finding.remedy

    def test_first_five_and_count(self, stimuli, tmp_path):
        path = picture(tmp_path / "a.png")
        many = StimulusSet({"stimulus_id": [f"s{n}" for n in range(100)] * 2})
        many.stimulus_paths = {f"s{n}": path for n in range(100)}
        many.name = NAME
        finding = only(validate_stimulus_set(many), "duplicate stimulus_id")
        assert finding.culprit.endswith("'s0', 's1', 's2', 's3', 's4', … (100 in all)")

    def test_numbers(self, stimuli):
        stimuli["stimulus_id"] = [0, 1, 2, 3]
        stimuli.stimulus_paths = dict(enumerate(stimuli.stimulus_paths.values()))
        finding = only(validate_stimulus_set(stimuli), "stimulus_id is not text")
        assert "int: 0, 1, 2, 3" in finding.culprit
        assert ".astype(str)" in finding.remedy

    @pytest.mark.parametrize("value", [None, np.nan, "", "  "])
    def test_empty(self, stimuli, value):
        ids = stimuli["stimulus_id"].tolist()
        stimuli["stimulus_id"] = pd.Series([*ids[:3], value], dtype=object)
        stimuli.stimulus_paths[value] = stimuli.stimulus_paths.pop("img_3")
        findings = errors_among(validate_stimulus_set(stimuli))
        assert findings[0].check == "empty stimulus_id"
        assert "at 3 (counted from 0)" in findings[0].culprit

    def test_unhashable(self, stimuli):
        stimuli["stimulus_id"] = [["img_0"], "img_1", "img_2", "img_3"]
        findings = validate_stimulus_set(stimuli)
        assert "stimulus_id is not text" in [finding.check for finding in findings]

    @pytest.mark.parametrize("identifier", ["001", "1e5", "NA", "nan", "True", " padded", "ünï", 'with "quotes", too'])
    def test_odd_but_fine(self, stimuli, identifier, tmp_path):
        stimuli.loc[0, "stimulus_id"] = identifier
        stimuli["stimulus_path_within_store"] = ["a", "b", "c", "d"]
        stimuli.stimulus_paths[identifier] = stimuli.stimulus_paths.pop("img_0")
        assert validate_stimulus_set(stimuli) == []


class TestTable:
    @pytest.mark.parametrize(
        ("change", "check", "text"),
        [
            (lambda s: s.drop(columns="stimulus_id"), "missing stimulus_id", "'category', 'size'"),
            (lambda s: s.set_index("stimulus_id"), "missing stimulus_id", "reset_index"),
            (lambda s: s.rename(columns={"stimulus_id": "image_id"}), "missing stimulus_id", "rename"),
            (lambda s: s.assign(filename="a.png"), "'filename' column", "image_filename"),
            (lambda s: s[:0], "empty data", "no rows"),
            (lambda s: s.to_dict("records"), "not a stimulus set", "list"),
            (lambda s: s[["stimulus_id", "size", "size"]], "duplicate column", "'size'"),
            (lambda s: s.rename(columns={"size": 0}), "column name", "columns 0 "),
        ],
    )
    def test_columns(self, stimuli, change, check, text):
        finding = only(validate_stimulus_set(change(stimuli)), check)
        assert text in f"{finding.culprit}; {finding.remedy}"

    @pytest.mark.parametrize("value", [{1, 2}, object(), np.zeros(3)])
    def test_cells_that_no_file_holds(self, stimuli, value):
        stimuli["odd"] = pd.Series([value] * 4, dtype=object)
        finding = only(validate_stimulus_set(stimuli), "column type")
        assert "'odd'" in finding.culprit
        assert type(value).__name__ in finding.culprit

    def test_cells_that_change(self, stimuli):
        stimuli["parts"] = [[1, 2]] * 4
        assert "list" in warned(validate_stimulus_set(stimuli), "column type").culprit

    @pytest.mark.parametrize(("value", "found"), [("007", "7"), ("NA", "nan"), ("True", "True")])
    def test_text_that_is_read_as_something_else(self, stimuli, value, found):
        stimuli["code"] = value
        finding = warned(validate_stimulus_set(stimuli), "column type")
        assert f"{value!r} as {found}" in finding.culprit

    def test_carriage_return(self, stimuli):
        stimuli["note"] = ["a\rb", "c", "d", "e"]
        table = pd.read_csv(io.StringIO(stimuli.to_csv(index=False, lineterminator="\n")))
        comes_back = table["note"].tolist() == stimuli["note"].tolist()
        # whether it comes back depends on the version of Python's csv module
        assert comes_back != bool(errors_among(validate_stimulus_set(stimuli)))


class TestFiles:
    def test_missing(self, stimuli):
        os.remove(stimuli.get_stimulus("img_2"))
        finding = only(validate_stimulus_set(stimuli), "missing file")
        assert f"img_2 → {stimuli.get_stimulus('img_2')}" in finding.culprit
        assert "exists()" in finding.remedy

    def test_many_missing(self, stimuli, tmp_path):
        stimuli.stimulus_paths = {one: tmp_path / f"no{one}.png" for one in stimuli["stimulus_id"]}
        assert only(validate_stimulus_set(stimuli), "missing file").culprit.count("→") == 4

    @pytest.mark.parametrize("name", ["a\0b.png", "x" * 300 + ".png", ""])
    def test_names_that_no_file_has(self, stimuli, name):
        stimuli.stimulus_paths["img_0"] = type(stimuli.stimulus_paths["img_0"])(name)
        assert errors_among(validate_stimulus_set(stimuli))

    def test_broken_link(self, stimuli, tmp_path):
        (tmp_path / "link.png").symlink_to(tmp_path / "nowhere.png")
        stimuli.stimulus_paths["img_0"] = tmp_path / "link.png"
        only(validate_stimulus_set(stimuli), "missing file")

    def test_folder(self, stimuli, tmp_path):
        stimuli.stimulus_paths["img_0"] = tmp_path
        assert f"img_0 → {tmp_path}" in only(validate_stimulus_set(stimuli), "folder in place of a file").culprit

    def test_empty(self, stimuli):
        stimuli.get_stimulus("img_0").write_bytes(b"")
        assert "img_0" in only(validate_stimulus_set(stimuli), "empty file").culprit

    def test_unreadable(self, stimuli, monkeypatch):
        path = stimuli.get_stimulus("img_0")
        allowed = os.access
        monkeypatch.setattr(os, "access", lambda one, mode: one != path and allowed(one, mode))
        assert "chmod" in only(validate_stimulus_set(stimuli), "unreadable file").remedy

    @pytest.mark.parametrize("suffix", [".png", ".jpg", ".bmp", ".gif", ".tif"])
    def test_truncated_image(self, stimuli, tmp_path, suffix, monkeypatch):
        monkeypatch.setattr(ImageFile, "LOAD_TRUNCATED_IMAGES", True)  # as many training scripts leave it
        path = picture(tmp_path / f"a{suffix}", (64, 64))
        path.write_bytes(path.read_bytes()[: path.stat().st_size // 2])
        stimuli.stimulus_paths["img_1"] = path
        assert f"img_1 → {path}" in only(validate_stimulus_set(stimuli), "image does not decode").culprit
        assert ImageFile.LOAD_TRUNCATED_IMAGES is True

    def test_flipped_byte(self, stimuli, tmp_path):
        path = picture(tmp_path / "a.png", (64, 64))
        content = bytearray(path.read_bytes())
        content[len(content) // 2] ^= 255
        path.write_bytes(content)
        stimuli.stimulus_paths["img_1"] = path
        only(validate_stimulus_set(stimuli), "image does not decode")

    def test_no_image(self, stimuli, tmp_path):
        (tmp_path / "a.png").write_text("<html>404</html>")
        stimuli.stimulus_paths["img_1"] = tmp_path / "a.png"
        assert "it has none of the formats" in only(validate_stimulus_set(stimuli), "image does not decode").culprit

    def test_id_without_path(self, stimuli):
        del stimuli.stimulus_paths["img_3"]
        assert "'img_3'" in only(validate_stimulus_set(stimuli), "stimulus without a path").culprit

    def test_path_without_id(self, stimuli):
        stimuli.stimulus_paths["img_9"] = stimuli.stimulus_paths["img_0"]
        assert "'img_9'" in warned(validate_stimulus_set(stimuli), "path without a stimulus").culprit

    def test_paths_of_a_part(self, stimuli):
        part = stimuli[stimuli["category"] == "face"]
        warned(validate_stimulus_set(part), "path without a stimulus")

    def test_keys_of_another_type(self, stimuli):
        stimuli["stimulus_id"] = ["0", "1", "2", "3"]
        stimuli.stimulus_paths = dict(enumerate(stimuli.stimulus_paths.values()))
        assert "another type" in only(validate_stimulus_set(stimuli), "stimulus without a path").remedy

    def test_paths_are_no_dictionary(self, stimuli):
        plain = pd.DataFrame(stimuli)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            plain.stimulus_paths = ["a.png"]
        assert "list" in only(validate_stimulus_set(plain, NAME), "stimulus_paths").culprit


class TestStoredNames:
    @pytest.mark.parametrize("name", ["a/b", "../a", "/a", "a\\b", "..", ".", "a:b", "a\tb", "x" * 260, "a\0"])
    @pytest.mark.parametrize("column", ["stimulus_id", "stimulus_path_within_store"])
    def test_unsafe(self, stimuli, name, column):
        stimuli["stimulus_path_within_store"] = ["a", "b", "c", "d"]
        if column == "stimulus_id":
            stimuli = stimuli.drop(columns="stimulus_path_within_store")
            stimuli.stimulus_paths[name] = stimuli.stimulus_paths.pop("img_0")
        stimuli.loc[0, column] = name
        finding = only(validate_stimulus_set(stimuli), "unsafe file name")
        assert repr(name)[1:-1][:9] in finding.culprit
        assert "no folders" in finding.remedy

    def test_id_with_separator_under_a_safe_name(self, stimuli):
        stimuli["stimulus_path_within_store"] = ["a", "b", "c", "d"]
        stimuli.loc[0, "stimulus_id"] = "faces/1"
        stimuli.stimulus_paths["faces/1"] = stimuli.stimulus_paths.pop("img_0")
        assert validate_stimulus_set(stimuli) == []

    def test_twice(self, stimuli):
        stimuli["stimulus_path_within_store"] = ["a", "b", "a", "c"]
        finding = only(validate_stimulus_set(stimuli), "duplicate file name")
        assert "'a.png'" in finding.culprit
        assert "'img_0', 'img_2'" in finding.culprit

    def test_same_stem_other_suffix(self, stimuli, tmp_path):
        stimuli["stimulus_path_within_store"] = ["a", "b", "a", "c"]
        stimuli.stimulus_paths["img_2"] = picture(tmp_path / "x.jpg")
        assert validate_stimulus_set(stimuli) == []

    def test_differ_in_case(self, stimuli):
        stimuli["stimulus_path_within_store"] = ["a", "b", "A", "c"]
        assert "'a.png', 'A.png'" in warned(validate_stimulus_set(stimuli), "file names differ only in case").culprit

    @pytest.mark.parametrize("value", [np.nan, "", None])
    def test_empty(self, stimuli, value):
        stimuli["stimulus_path_within_store"] = pd.Series(["a", "b", value, "c"], dtype=object)
        assert "fill in" in only(validate_stimulus_set(stimuli), "unsafe file name").remedy


class TestAssembly:
    def test_no_assembly(self):
        assert "ndarray" in only(validate_assembly(np.zeros(3)), "not an assembly").culprit

    def test_plain_array(self):
        assert validate_assembly(xr.DataArray([1.0], dims=["x"])) == []

    def test_unknown_class(self):
        finding = only(validate_assembly(neural(), assembly_class_name="NeuroidAsembly"), "unknown assembly class")
        assert "NeuroidAsembly" in finding.culprit
        assert "NeuroidAssembly" in finding.remedy

    def test_wrong_dims(self):
        assembly = BehavioralAssembly([1.0], coords={"stimulus_id": ("presentation", ["a"])}, dims=["presentation"])
        finding = only(validate_assembly(assembly, assembly_class_name="NeuroidAssembly"), "wrong dimensions")
        assert "presentation, but those of a NeuroidAssembly are presentation × neuroid or" in finding.culprit

    @pytest.mark.parametrize("cls", ["MetadataAssembly", "SpikeTimesAssembly"])
    def test_events(self, cls):
        assert "are event" in only(validate_assembly(neural(), assembly_class_name=cls), "wrong dimensions").culprit
        assert validate_assembly(DataAssembly([1.0], dims=["event"]), assembly_class_name=cls) == []

    def test_properties_are_free(self):
        coords = {"neuroid_id": ("neuroid", ["a"])}
        assembly = PropertyAssembly([[1.0]], coords=coords, dims=["neuroid", "neuroid_property"])
        assert validate_assembly(assembly) == []

    def test_behaviour_without_presentations(self):
        warned(validate_assembly(BehavioralAssembly([1.0], dims=["subject"])), "no presentations")

    @pytest.mark.parametrize(
        ("name", "dim"),
        [
            ("stimulus_id", "presentation"),
            ("neuroid_id", "neuroid"),
            ("time_bin_start", "time_bin"),
            ("time_bin_end", "time_bin"),
        ],
    )
    def test_missing_coordinate(self, name, dim):
        finding = only(validate_assembly(neural(**{name: None})), "missing coordinate")
        assert f"{dim!r} has no coordinate {name!r}" in finding.culprit
        assert f"'{name}': ('{dim}', values)" in finding.remedy

    def test_old_name(self):
        assembly = neural(stimulus_id=None, image_id=("presentation", ["a", "b", "a"]))
        warned(validate_assembly(assembly), "old coordinate name")

    @pytest.mark.parametrize(
        ("name", "dim", "values", "check", "text"),
        [
            ("stimulus_id", "neuroid", ["a", "b"], "missing coordinate", "belongs to neuroid"),
            ("stimulus_id", "presentation", [1, 2, 1], "stimulus_id is not text", "int: 1, 2"),
            ("stimulus_id", "presentation", ["a", None, "b"], "empty stimulus_id", "counted from 0"),
            ("neuroid_id", "neuroid", ["n0", "n0"], "duplicate neuroid_id", "'n0'"),
            ("neuroid_id", "neuroid", ["n0", ""], "empty neuroid_id", "at 1"),
            ("time_bin_end", "time_bin", ["10", "20"], "time bins", "use numbers"),
            ("session", "presentation", np.array([1, "two", 3.0], dtype=object), "coordinate type", "'session'"),
        ],
    )
    def test_coordinates(self, name, dim, values, check, text):
        finding = only(validate_assembly(neural(**{name: (dim, values)})), check)
        assert text in f"{finding.culprit}; {finding.remedy}"

    @pytest.mark.parametrize("ends", [[0, 20], [-1, 20], [np.nan, 20]])
    def test_time_bins(self, ends):
        finding = only(validate_assembly(neural(time_bin_end=("time_bin", ends))), "time bins")
        assert f"(0, {ends[0]}" in finding.culprit

    def test_empty(self):
        assembly = neural().isel(neuroid=[])
        assert "'neuroid' has length 0" in only(validate_assembly(assembly), "empty data").culprit

    @pytest.mark.parametrize("name", ["a/b", "data", " x"])
    def test_name_of_a_coordinate(self, name):
        assert errors_among(validate_assembly(neural(**{name: ("presentation", [1, 2, 3])})))[0].check == "name"

    def test_name_of_a_dimension(self):
        assert "0 cannot be" in only(validate_assembly(DataAssembly(xr.DataArray([1.0], dims=[0]))), "name").culprit

    def test_length_of_a_coordinate(self):
        with pytest.raises(ValueError, match="presentation"):
            neural(stimulus_id=("presentation", ["a"]))


class TestValues:
    def test_nan(self):
        assembly = neural()
        assembly.values[1, 0, :] = np.nan
        finding = only(validate_assembly(assembly), "NaN values")
        assert finding.culprit == (
            "2 of 12 values are missing (16.7 %), in 1 of 3 along presentation, 1 of 2 along neuroid, "
            "2 of 2 along time_bin"
        )
        assert "attrs['nan_allowed'] = 'reason'" in finding.remedy

    def test_declared(self):
        assembly = neural()
        assembly.values[0] = np.nan
        assert validate_assembly(assembly, allow_nan="lost") == []
        assembly.attrs["nan_allowed"] = "neuroids lost after session 2"
        assert validate_assembly(assembly) == []

    @pytest.mark.parametrize("reason", [True, "", " "])
    def test_declared_without_reason(self, reason):
        assembly = neural()
        assembly.attrs["nan_allowed"] = reason
        only(validate_assembly(assembly), "NaN declaration")

    @pytest.mark.parametrize("value", [np.inf, -np.inf])
    def test_infinite(self, value):
        assembly = neural()
        assembly.values[0, 0, 0] = value
        assembly.attrs["nan_allowed"] = "does not cover infinity"
        assert "1 of 12" in only(validate_assembly(assembly), "infinite values").culprit

    def test_objects(self):
        finding = only(validate_assembly(neural().astype(object)), "object values")
        assert "float" in finding.culprit
        assert ".astype(float)" in finding.remedy

    def test_long_double(self):
        assert "float64" in only(validate_assembly(neural().astype(np.longdouble)), "type of the values").remedy

    @pytest.mark.parametrize("values", [[1 + 1j, 2], np.array([b"a", b"b"])])
    def test_types_that_no_file_holds(self, values):
        coords = {"stimulus_id": ("presentation", ["a", "b"])}
        assembly = BehavioralAssembly(values, coords=coords, dims=["presentation"])
        only(validate_assembly(assembly), "object values")

    def test_text_is_fine_but_not_missing_text(self):
        coords = {"stimulus_id": ("presentation", ["a", "b"])}
        make = lambda choices: BehavioralAssembly(np.array(choices, dtype=object), coords=coords, dims=["presentation"])  # noqa: E731 # short
        assert validate_assembly(make(["cat", "dog"])) == []
        only(validate_assembly(make(["cat", None])), "NaN values")

    @pytest.mark.parametrize("values", [[True, False], [1, 2], np.array(["a", "b"]), np.array([1, 2], dtype="M8[ns]")])
    def test_other_types(self, values):
        coords = {"stimulus_id": ("presentation", ["a", "b"])}
        assert validate_assembly(BehavioralAssembly(values, coords=coords, dims=["presentation"])) == []


class TestAlignment:
    def test_unknown(self, stimuli):
        assembly = neural(stimulus_id=("presentation", ["img_0", "img_7", "img_8"]))
        finding = only(validate_pair(stimuli, assembly), "unknown stimuli")
        assert "2 stimuli are not in the stimulus set: 'img_7', 'img_8'" in finding.culprit
        assert "'img_0'" in finding.remedy

    def test_attached_stimulus_set(self, stimuli):
        assembly = neural(stimulus_id=("presentation", ["img_0", "img_7", "img_8"]))
        assembly.attrs["stimulus_set"] = stimuli
        only(validate_assembly(assembly), "unknown stimuli")
        assert assembly.attrs["stimulus_set"] is stimuli

    def test_numbers_and_text(self):
        stimuli = StimulusSet({"stimulus_id": ["1", "2"]})
        assembly = neural(stimulus_id=("presentation", [1, 2, 3]))
        findings = {finding.check: finding for finding in validate_assembly(assembly, stimuli)}
        assert "2 of them exist there with another type (1 here, '1' there)" in findings["unknown stimuli"].remedy

    def test_pair_without_ids(self, stimuli):
        only(validate_pair(stimuli.drop(columns="stimulus_id"), neural(stimulus_id=("presentation", list("abc"))))[:1],
             "missing stimulus_id")  # fmt: skip


class TestAllAtOnce:
    def test_every_finding_is_reported(self, tmp_path):
        stimuli = StimulusSet({"stimulus_id": ["a", "a", "c/d"], "filename": ["x", "y", "z"]})
        stimuli.stimulus_paths = {"a": tmp_path / "missing.png", "c/d": tmp_path}
        stimuli.name = "not usable"
        findings = validate_stimulus_set(stimuli)
        assert {finding.check for finding in findings} == {
            "unusable name",
            "'filename' column",
            "duplicate stimulus_id",
            "missing file",
            "folder in place of a file",
        }
        with pytest.raises(ValidationError) as caught:
            raise_for_errors(findings)
        for finding in findings:
            assert finding.culprit in str(caught.value)
            assert finding.remedy in str(caught.value)
        assert str(caught.value).startswith("5 errors found")

    def test_what_the_error_is(self):
        error = ValidationError([Finding("a", "b", "c"), Finding("d", "e", "f", "warning", "there")])
        assert isinstance(error, ValueError)
        assert isinstance(error, UserError)
        assert str(error) == "1 error found\n- a: b\n  → c\n- (warning) there: d: e\n  → f"
        again = pickle.loads(pickle.dumps(error))
        assert again.findings == error.findings
        assert str(again) == str(error)

    def test_warnings_raise_nothing(self):
        raise_for_errors([Finding("a", "b", "c", "warning")])


def test_speed_of_many_ids():
    import time

    count = 30_000
    stimuli = StimulusSet({"stimulus_id": [f"s{n}" for n in range(count)], "x": np.arange(count)})
    stimuli.name = NAME
    coords = {"stimulus_id": ("presentation", [f"s{n}" for n in range(count)])}
    assembly = BehavioralAssembly(np.zeros(count), coords=coords, dims=["presentation"])
    start = time.process_time()
    assert errors_among(validate_pair(stimuli, assembly)) == []
    assert time.process_time() - start < 10  # a quadratic check would take minutes
