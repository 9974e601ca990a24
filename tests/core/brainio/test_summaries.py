"""Summaries of assemblies and stimulus sets in a terminal and a notebook."""

import time

import numpy as np
import pytest
import xarray as xr
from PIL import Image

from brainscore_core.supported_data_standards.brainio import summaries
from brainscore_core.supported_data_standards.brainio.assemblies import (
    BehavioralAssembly,
    DataAssembly,
    NeuroidAssembly,
)
from brainscore_core.supported_data_standards.brainio.stimuli import StimulusSet


def recordings(values=None):
    values = np.arange(24.0).reshape(6, 3, 1, 1)[..., 0] * np.ones((1, 1, 2)) if values is None else values
    return NeuroidAssembly(
        values,
        coords={
            "stimulus_id": ("presentation", ["a", "a", "b", "b", "c", "c"]),
            "repetition": ("presentation", [0, 1] * 3),
            "region": ("neuroid", ["V4", "IT", "V4"]),
            "subject": ("neuroid", ["Tito", "<b>Chabo</b>", "Tito"]),
            "time_bin_start": ("time_bin", [0, 70]),
            "time_bin_end": ("time_bin", [70, 170]),
        },
        dims=["presentation", "neuroid", "time_bin"],
        attrs={"identifier": "Some2026<i>"},
    )


@pytest.fixture
def assembly():
    values = np.arange(36.0).reshape(6, 3, 2)
    values[0, 0] = np.nan
    return recordings(values)


def test_text(assembly):
    shown = repr(assembly)
    assert shown.splitlines()[:7] == [
        "NeuroidAssembly Some2026<i> (presentation: 6, neuroid: 3, time_bin: 2)",
        "  stimuli         3",
        "  repetitions     2",
        "  regions         V4 (2), IT (1)",
        "  subjects        Tito (2), <b>Chabo</b> (1)",
        "  time bins       2, 0 to 170 ms",
        "  missing values  2 of 36 (5.6 %)",
    ]
    assert "<xarray.NeuroidAssembly" in shown


def test_html_is_escaped(assembly):
    html = assembly._repr_html_()
    assert "&lt;b&gt;Chabo" in html
    assert "<b>Chabo" not in html
    assert "<i>" not in html
    assert "xr-wrap" in html


def test_behavior():
    trials = BehavioralAssembly(
        ["cat", "dog", "cat"],
        coords={"stimulus_id": ("presentation", ["a", "a", "b"]), "subject": ("presentation", ["x", "y", "x"])},
        dims=["presentation"],
    )
    rows = dict(summaries.assembly_rows(trials))
    assert rows == {
        "stimuli": "2",
        "presentations": "1–2 of each stimulus",
        "subjects": "x (2), y (1)",
        "missing values": "none",
    }


def test_arrays_without_these_coordinates_are_shown_as_by_xarray():
    assert repr(DataAssembly([1, 2], dims=["x"])).startswith("<xarray.DataAssembly")


def test_values_in_files_are_not_read(tmp_path, assembly):
    plain = assembly.reset_index(["presentation", "neuroid", "time_bin"]).drop_attrs()
    xr.DataArray(plain.values, dims=plain.dims, name="x").to_netcdf(tmp_path / "a.nc")
    with xr.open_dataarray(tmp_path / "a.nc") as opened:
        lazy = DataAssembly(opened).assign_coords(region=("neuroid", ["V4"] * 3))
        assert dict(summaries.assembly_rows(lazy))["missing values"].startswith("not counted (values are in a file")
        assert not lazy.variable._in_memory
        assert "V4 (3)" in repr(lazy)
        assert not lazy.variable._in_memory
    mapped = np.lib.format.open_memmap(tmp_path / "a.npy", "w+", shape=(6, 3, 2))
    assert dict(summaries.assembly_rows(recordings(mapped)))["missing values"].startswith("not counted (values are")


def test_large_arrays_are_shown_at_once():
    large = np.broadcast_to(np.float64(0), (3_000_000, 1000))  # would be 24 GB
    array = DataAssembly(
        large, coords={"stimulus_id": ("presentation", np.zeros(3_000_000))}, dims=["presentation", "n"]
    )
    start = time.perf_counter()
    rows = dict(summaries.assembly_rows(array))
    assert time.perf_counter() - start < 0.5
    assert rows == {"stimuli": "not counted (3000000 presentations)", "missing values": "not counted (24 GB)"}


def test_previews(tmp_path):
    names = [f"stimulus {number}" for number in range(20)]
    stimuli = StimulusSet({"stimulus_id": names, "label": ["<b>"] * 20})
    files = {}
    for name in names:
        files[name] = tmp_path / f"{name}.png"
        Image.new("RGB", (300, 200), "red").save(files[name])
    files["stimulus 1"].unlink()
    files["stimulus 2"] = tmp_path / "clip.mp4"
    files["stimulus 2"].write_bytes(b"not an image")
    files["stimulus 3"].write_bytes(files["stimulus 3"].read_bytes()[:60])  # damaged
    stimuli.stimulus_paths = files
    html = stimuli._repr_html_()
    assert html.count("data:image/png;base64,") == 9
    assert html.count("file missing") == 1
    assert "cannot be shown (.mp4)" in html
    assert "cannot be shown (.png)" in html
    assert "first 12 of 20 rows" in html
    assert "<b>" not in html
    assert len(html) < 200_000
    assert "data:" not in repr(stimuli)


def test_hostile_names_and_large_files(tmp_path, monkeypatch):
    name = '"><script>alert(1)</script>'
    path = tmp_path / "a.png"
    Image.new("RGBA", (10, 10)).save(path)
    stimuli = StimulusSet({"stimulus_id": [name]})
    stimuli.stimulus_paths = {name: path}
    assert "<script>" not in stimuli._repr_html_()
    monkeypatch.setattr(summaries, "_LARGEST_FILE", 10)
    assert "not shown (" in stimuli._repr_html_()
    monkeypatch.setattr(summaries, "_LARGEST_FILE", 10_000)
    monkeypatch.setattr(summaries, "_LARGEST_IMAGE", 10)
    assert "not shown (10 × 10 pixels)" in stimuli._repr_html_()


def test_stimuli_without_files():
    assert StimulusSet({"stimulus_id": ["a"]})._repr_html_().startswith("<div>")


def test_the_stimulus_set_is_one_line(assembly):
    assembly.attrs["stimulus_set"] = StimulusSet({"stimulus_id": ["a", "b", "c"]})
    assembly.attrs["stimulus_set"].identifier = "Some2026"
    html = assembly._repr_html_()
    assert "StimulusSet Some2026 (3 rows)" in html
    assert "StimulusSet Some2026 (3 rows)" in repr(assembly)
    assert "<details><summary>values, coordinates and attributes</summary>" in html
    assert isinstance(assembly.attrs["stimulus_set"], StimulusSet)
