"""Figures of the dissimilarities of stimuli."""

import re

import numpy as np
import pytest
from scipy.spatial.distance import pdist, squareform
from scipy.stats import rankdata

from brainscore_core.errors import UserError
from brainscore_core.supported_data_standards.brainio.assemblies import DataAssembly, NeuroidAssembly


def recordings(stimuli=6, **attrs):
    rng = np.random.default_rng(1)
    names = [f"s{number}" for number in range(stimuli)]
    coords = {"stimulus_id": ("presentation", names * 2), "neuroid_id": ("neuroid", range(8))}
    values = rng.standard_normal((2 * stimuli, 8))
    return NeuroidAssembly(values, coords=coords, dims=["presentation", "neuroid"], attrs=attrs)


def test_ranks_of_dissimilarities():
    assembly = recordings()
    means = (assembly.values[:6] + assembly.values[6:]) / 2
    distances = pdist(means, "correlation")
    expected = squareform((rankdata(distances) - 1) / (len(distances) - 1))
    shown = re.findall(r"s(\d) × s(\d): rank = ([\d.]+)", assembly.plot_rdm().svg)
    assert len(shown) == 36
    for row, column, value in shown:
        assert float(value) == pytest.approx(expected[int(row), int(column)], abs=0.0051)


def test_missing_values():
    assembly = recordings()
    assembly.values[3, 2] = np.nan  # the other repetition of s3 is there
    assembly.values[[4, 10]] = np.nan  # both of s4 are missing
    means = (assembly.values[:6] + assembly.values[6:]) / 2
    means[3, 2] = assembly.values[9, 2]
    distances = pdist(np.delete(means, 4, axis=0), "correlation")
    svg = assembly.plot_rdm().svg
    assert "5 of 6 stimuli (1 without responses)" in svg
    shown = dict(re.findall(r"(s3 × s\d): rank = ([\d.]+)", svg))
    expected = squareform((rankdata(distances) - 1) / (len(distances) - 1))
    assert float(shown["s3 × s5"]) == pytest.approx(expected[3, 4], abs=0.0051)
    assert "s3 × s4" not in shown


def test_stimuli_are_ordered_by_group_and_limited():
    assembly = recordings(300)
    assembly["object_name"] = "presentation", [f"object {number % 3}<b>" for number in range(300)] * 2
    svg = assembly.plot_rdm(most=120).svg
    assert "120 of 300 stimuli" in svg
    assert "object 2&lt;b&gt;" in svg
    assert svg.count("chart-divide") == 4


def test_large_figures_are_written_as_drawn(tmp_path):
    from matplotlib.image import imread

    plot = recordings(60).plot_rdm()
    image = imread(plot.save(tmp_path / "a.png", dpi=100))
    strong = (image[..., 0] > 0.3) & (image[..., 1] < 0.5)
    assert 0.03 < strong.mean() < 0.6  # cells fill the matrix, and nothing beyond it


@pytest.mark.parametrize(
    ("assembly", "message"),
    [
        (DataAssembly([1, 2], dims=["x"]), "has no responses of neuroids"),
        (recordings(2), "2 stimuli are too few"),
        (recordings() * np.nan, "fewer than 3 stimuli have responses"),
    ],
)
def test_errors(assembly, message):
    with pytest.raises(UserError, match=message):
        assembly.plot_rdm()
