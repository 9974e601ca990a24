"""Packaged data are described in Croissant."""

import hashlib
import json

import numpy as np
import pytest
from PIL import Image

from brainscore_core.errors import UserError
from brainscore_core.supported_data_standards.brainio.assemblies import NeuroidAssembly
from brainscore_core.supported_data_standards.brainio.croissant import CONTEXT, write_croissant
from brainscore_core.supported_data_standards.brainio.packaging import (
    package_data_assembly_locally,
    package_stimulus_set_locally,
)
from brainscore_core.supported_data_standards.brainio.stimuli import StimulusSet

STATED = {
    "license": "CC-BY-4.0",
    "citation": "Doe & Roe (2026)",
    "terms": "For research only.",
    "creators": ["Jane Doe", "Richard Roe"],
    "description": "Responses to grey squares.",
}


@pytest.fixture
def folder(tmp_path):
    stimuli = StimulusSet({"stimulus_id": ["s1", "s2"], "level": [10, 200], "size": [0.5, 1.5], "kind": ["a", "b"]})
    stimuli.identifier = "Lab2026.all"
    for stimulus_id, level in zip(stimuli["stimulus_id"], stimuli["level"], strict=True):
        Image.new("L", (4, 4), level).save(tmp_path / f"{stimulus_id}.png")
        stimuli.stimulus_paths[stimulus_id] = tmp_path / f"{stimulus_id}.png"
    package_stimulus_set_locally(stimuli, "Lab2026.all", tmp_path / "out")
    return tmp_path / "out"


def add_assembly(folder):
    coords = {"stimulus_id": ("presentation", ["s1", "s2"]), "neuroid_id": ("neuroid", ["n"])}
    assembly = NeuroidAssembly(np.ones((2, 1)), coords=coords, dims=["presentation", "neuroid"])
    package_data_assembly_locally(assembly, "Lab2026.all", "Lab2026.all", "NeuroidAssembly", folder)


def test_it_states_files_with_hashes_columns_and_terms(folder):
    path = write_croissant(folder, "Lab2026.all", **STATED)
    assert path == folder / "croissant_Lab2026_all.json"
    add_assembly(folder)
    document = json.loads(write_croissant(folder, "Lab2026.all").read_text())  # keeps what was stated
    assert document["@type"] == "sc:Dataset"
    assert document["conformsTo"] == "http://mlcommons.org/croissant/1.0"
    assert document["license"] == "https://spdx.org/licenses/CC-BY-4.0"
    assert (document["citeAs"], document["usageInfo"]) == (STATED["citation"], STATED["terms"])
    assert [creator["name"] for creator in document["creator"]] == STATED["creators"]
    files = {file["@id"]: file for file in document["distribution"] if file["@type"] == "cr:FileObject"}
    assert sorted(files) == ["assy_Lab2026_all.nc", "stimulus_Lab2026_all.csv", "stimulus_Lab2026_all.zip"]
    for name, file in files.items():
        assert file["sha256"] == hashlib.sha256((folder / name).read_bytes()).hexdigest()
    columns = {field["name"]: field["dataType"] for field in document["recordSet"][0]["field"]}
    assert columns == {
        "stimulus_id": "sc:Text", "level": "sc:Integer", "size": "sc:Float", "kind": "sc:Text", "filename": "sc:Text",
    }  # fmt: skip


def test_what_is_not_stated_is_left_out(folder):
    document = json.loads(write_croissant(folder, "Lab2026.all").read_text())
    assert not {"license", "citeAs", "usageInfo", "creator"} & set(document)


def test_references_are_to_what_the_document_defines(folder):
    document = json.loads(write_croissant(folder, "Lab2026.all").read_text())
    defined = {entry["@id"] for entry in document["distribution"]}
    for records in document["recordSet"]:
        defined |= {records["@id"], *(field["@id"] for field in records["field"])}
    used = set()

    def walk(value):
        if isinstance(value, dict):
            if set(value) == {"@id"}:
                used.add(value["@id"])
            for each in value.values():
                walk(each)
        elif isinstance(value, list):
            for each in value:
                walk(each)

    walk({key: value for key, value in document.items() if key != "@context"})
    assert used <= defined
    assert "files/filename" in used
    assert {key.partition(":")[0] for key in document if ":" in key} <= {"@context"} | set(CONTEXT)


def test_other_files_are_not_replaced(folder, tmp_path):
    (folder / "croissant_Lab2026_all.json").write_text('{"conformsTo": "something else"}')
    with pytest.raises(UserError, match="is not a Croissant document"):
        write_croissant(folder, "Lab2026.all")
    with pytest.raises(UserError, match=r"has no packaged data of 'Lab2026\.all'"):
        write_croissant(tmp_path, "Lab2026.all")


def test_the_reference_implementation_reads_it(folder, tmp_path, monkeypatch):
    monkeypatch.setenv("CROISSANT_CACHE", str(tmp_path / "cache"))  # else it keeps what it unpacked, by the file's name
    mlcroissant = pytest.importorskip("mlcroissant", reason="needs mlcroissant: pip install mlcroissant")
    add_assembly(folder)
    dataset = mlcroissant.Dataset(jsonld=write_croissant(folder, "Lab2026.all", **STATED))
    issues = dataset.metadata.ctx.issues
    assert not issues.errors
    assert not any("license" in warning or "citeAs" in warning for warning in issues.warnings)
    rows = list(dataset.records("stimuli"))
    assert [row["stimuli/stimulus_id"] for row in rows] == [b"s1", b"s2"]
    assert [row["stimuli/level"] for row in rows] == [10, 200]
    files = {row["files/filename"]: row["files/content"].getpixel((0, 0)) for row in dataset.records("files")}
    assert files == {b"s1.png": 10, b"s2.png": 200}
