"""Neuroids and stimuli of a stored score."""

import io
from types import SimpleNamespace

import numpy as np
import pytest
from PIL import Image

from brainscore.report import neuroid_plot, neuroid_table, stimulus_plot, stimulus_table
from brainscore.report._tables import write_comparisons
from brainscore_core.errors import UserError
from brainscore_core.metrics import Score
from brainscore_core.results.store import arrays_of
from brainscore_core.scoring import BenchmarkInfo, CeilingEstimate, Estimate, ModelInfo, Receipt, ResultsStore
from brainscore_core.statistics.comparison import Comparison, Comparisons
from brainscore_core.supported_data_standards.brainio.assemblies import NeuroidAssembly
from brainscore_core.supported_data_standards.brainio.stimuli import StimulusSet
from brainscore_vision.benchmark_helpers.measurements import VisualMeasurements

NEUROIDS, STIMULI = 5, 8


@pytest.fixture
def scored(tmp_path):
    """A score of two splits, of which the last predicts stimulus 7 as its opposite."""
    rng = np.random.default_rng(0)
    measured = rng.standard_normal((STIMULI, NEUROIDS))
    predicted = measured + 0.1 * rng.standard_normal(measured.shape)
    predicted[7] = 2 * measured.mean(axis=0) - measured[7]
    neuroids = {"neuroid_id": ("neuroid", [f"n{number}" for number in range(NEUROIDS)])}
    coords = {"stimulus_id": ("presentation", [f"s{number}" for number in range(STIMULI)])} | neuroids
    score = Score(0.5)
    score.attrs["raw"] = Score(
        np.stack([np.linspace(0.1, 0.5, NEUROIDS)] * 2), coords={"split": ("split", [0, 1])} | neuroids,
        dims=["split", "neuroid"],
    )  # fmt: skip
    for name, values in (("predictions", predicted), ("targets", measured)):
        score.attrs[name] = NeuroidAssembly(values, coords=coords, dims=["presentation", "neuroid"])
    store = ResultsStore(tmp_path / "results")
    receipt = store.write(
        Receipt(
            model=ModelInfo(identifier="m"),
            benchmark=BenchmarkInfo(identifier="Some2026-pls", version=1),
            state="scored",
            score=Estimate(value=0.5),
            raw=Estimate(value=0.3, scale="correlation"),
            ceiling=CeilingEstimate(value=0.8, meaning="reliability"),
        ),
        arrays_of(score)[0],
    )
    return store, receipt


def benchmark(tmp_path, identifier="Some2026-pls", neuroids=NEUROIDS):
    order = list(range(neuroids))[::-1]
    ceiling = Score(0.8)
    ceiling.attrs["raw"] = Score(
        [0.9 - 0.1 * number for number in order],
        coords={"neuroid_id": ("neuroid", [f"n{number}" for number in order])},
        dims=["neuroid"],
    )
    stimuli = StimulusSet({"stimulus_id": [f"s{number}" for number in range(STIMULI)]})
    stimuli.stimulus_paths = {}
    for number, name in enumerate(stimuli["stimulus_id"]):
        Image.new("RGB", (60, 30), (20 * number, 200, 50)).save(tmp_path / f"{name}.png")
        stimuli.stimulus_paths[name] = tmp_path / f"{name}.png"
    measurements = VisualMeasurements(benchmark=identifier, measured=stimuli, visual_degrees=8)
    return SimpleNamespace(identifier=identifier, ceiling=ceiling, measurements=lambda: measurements)


def test_neuroids_are_matched_by_name(scored, tmp_path):
    store, receipt = scored
    table = neuroid_table(store, receipt, benchmark(tmp_path))
    assert table["neuroid_id"].tolist() == ["n0", "n1", "n2", "n3", "n4"]
    assert table["score"].tolist() == pytest.approx([0.1, 0.2, 0.3, 0.4, 0.5])
    assert table["reliability"].tolist() == pytest.approx([0.9, 0.8, 0.7, 0.6, 0.5])
    assert "√reliability" in neuroid_plot(table, receipt, width=114).svg
    with pytest.raises(UserError, match="different neuroids"):
        neuroid_table(store, receipt, benchmark(tmp_path, neuroids=4))
    with pytest.raises(UserError, match="the ceiling of Some2026-pls has no values of single neuroids"):
        neuroid_table(store, receipt, SimpleNamespace(ceiling=Score(0.8)))


def test_the_worst_stimulus_is_the_one_predicted_as_its_opposite(scored, tmp_path, monkeypatch):
    store, receipt = scored
    table = stimulus_table(store, receipt)
    assert len(table) == STIMULI
    assert table["stimulus_id"].iloc[-1] == "s7"
    assert table["value"].iloc[-1] == pytest.approx(-1, abs=0.3)
    assert table["value"].iloc[0] > 0.9
    assert "drawn at random" not in stimulus_plot(table, receipt, benchmark(tmp_path), number=2).svg
    equal = table.assign(value=[1.0] * 5 + [0.0] * 3)
    equal.attrs = table.attrs
    assert "2 of 5 at 1.000, drawn at random" in stimulus_plot(equal, receipt, benchmark(tmp_path), number=2).svg
    private = stimulus_plot(table, receipt, benchmark(tmp_path), number=2)
    assert "data:image" not in private.svg
    assert "s7" in private.svg

    monkeypatch.setattr("brainscore_vision.assessment.audit.has_public_stimuli", lambda identifier: True)
    monkeypatch.setattr("brainscore_vision.assessment.audit.benchmark_registry", {"Some2026-pls": None})
    plot = stimulus_plot(table, receipt, benchmark(tmp_path), number=2, width=85)
    assert plot.svg.count("data:image/jpeg") == 4
    with Image.open(io.BytesIO(plot.save(tmp_path / "a.png").read_bytes())) as image:
        colours = np.asarray(image.convert("RGB")).reshape(-1, 3).astype(int)
        assert image.width / 300 * 25.4 == pytest.approx(85, abs=0.2)
    assert (np.abs(colours - (140, 200, 50)).max(axis=1) < 6).mean() > 0.02  # of s7
    assert plot.save(tmp_path / "a.pdf").read_bytes().startswith(b"%PDF")


def test_nothing_is_stored_of_single_stimuli(tmp_path):
    store = ResultsStore(tmp_path)
    receipt = store.write(
        Receipt(
            model=ModelInfo(identifier="m"),
            benchmark=BenchmarkInfo(identifier="B"),
            state="scored",
            score=Estimate(value=0.5),
        )
    )
    with pytest.raises(UserError, match="nothing is stored about single stimuli"):
        stimulus_table(store, receipt)


def test_comparisons_as_tables(tmp_path):
    pair = Comparison(benchmark="B_1", first="a", second="b", difference=0.1, ci=(0.05, 0.15), p=0.01, p_corrected=0.02)
    comparisons = Comparisons([pair], correction="holm", level=0.95)
    for ending, text in (
        (".tex", r"B\_1 & a $-$ b & 0.100 (0.050--0.150) & 0.02 &"),
        (".tex", r"\begin{tabular}{llrrrl}"),
        (".md", "| B\\_1 |"),
        (".csv", "B_1,a,b,"),
    ):
        write_comparisons(comparisons, tmp_path / f"table{ending}")
        assert text in (tmp_path / f"table{ending}").read_text(encoding="utf-8")
    with pytest.raises(UserError, match=r"end its name in \.tex, \.md or \.csv"):
        write_comparisons(comparisons, tmp_path / "table.xlsx")
