"""What benchmarks show of themselves in a terminal and a notebook."""

import numpy as np
import pytest

from brainscore_core.benchmarks import BenchmarkBase
from brainscore_core.metrics import Score, attach_uncertainty
from brainscore_core.receipts.assessment import Assessment, Used
from brainscore_core.results.assessments import AssessmentStore
from brainscore_core.supported_data_standards.brainio.assemblies import BehavioralAssembly, NeuroidAssembly
from brainscore_vision.benchmark_helpers.measurements import VisualMeasurements
from brainscore_vision.utils import LazyLoad

IDENTIFIER = "Some2026.<b>V4</b>-pls"


class Benchmark(BenchmarkBase):
    def __init__(self, assembly):
        super().__init__(identifier=IDENTIFIER, ceiling_func=ceiling, version=3, parent="V4")
        self._assembly = assembly

    def measurements(self):
        metric = LazyLoad(lambda: pytest.fail("loaded"))
        return VisualMeasurements(
            benchmark=IDENTIFIER, measured=self._assembly, metric=metric, visual_degrees=8, number_of_trials=2
        )

    def __call__(self, candidate):
        return Score(0.5)


def ceiling():
    score = Score(0.8)
    score.attrs["meaning"] = "reliability"
    return attach_uncertainty(score, error=0.02, ci=(0.75, 0.85), estimates="new stimuli; 12", method="t")


def recordings():
    return NeuroidAssembly(
        np.random.default_rng(0).standard_normal((24, 5)),
        coords={
            "stimulus_id": ("presentation", [f"s{number}" for number in range(12)] * 2),
            "object_name": ("presentation", ["cat"] * 6 + ["dog"] * 6 + ["cat"] * 6 + ["dog"] * 6),
            "repetition": ("presentation", [0] * 12 + [1] * 12),
            "region": ("neuroid", ["V4"] * 5),
        },
        dims=["presentation", "neuroid"],
        attrs={"identifier": "Some2026"},
    )


def test_text():
    benchmark = Benchmark(recordings())
    assert repr(benchmark).splitlines() == [
        f"Benchmark {IDENTIFIER} (version 3)",
        "  parent        V4",
        "  data          Some2026 (presentation: 24, neuroid: 5)",
        "  stimuli       12",
        "  regions       V4 (5)",
        "  repetitions   2",
        "  metric        loaded when it is first needed",
        "  stimuli span  8°",
        "  trials        2",
        "  ceiling       not estimated yet",
    ]
    assert float(benchmark.ceiling) == 0.8
    assert repr(benchmark).splitlines()[-1] == "  ceiling       0.800 (95 %: 0.750–0.850; new stimuli) (reliability)"
    assert "data          Score" not in repr(benchmark)


def test_html_is_escaped():
    html = Benchmark(recordings())._repr_html_()
    assert "&lt;b&gt;V4" in html
    assert "<b>" not in html


def test_data_are_not_loaded():
    shown = repr(Benchmark(LazyLoad(lambda: pytest.fail("loaded"))))
    assert "data          loaded when it is first needed" in shown


def test_figure_of_data_ceiling_and_controls(tmp_path):
    benchmark = Benchmark(LazyLoad(recordings))
    plot = benchmark.plot(results=tmp_path)
    assert "s3 × s7: rank" in plot.svg
    assert "0.800" in plot.svg
    assert "baseline models: not assessed" in plot.svg
    controls = [
        {"name": "pixels<i>", "kind": "baseline", "score": 0.25, "ci": [0.2, 0.3]},
        {"name": "time codes", "kind": "artefact check", "score": None, "ci": None},
    ]
    AssessmentStore(tmp_path).write(
        Assessment(
            part="controls",
            benchmark=Used(kind="benchmark", identifier=IDENTIFIER),
            state="assessed",
            result={"controls": controls},
        )
    )
    plot = benchmark.plot(results=tmp_path)
    assert "pixels&lt;i&gt;" in plot.svg
    assert "0.250" in plot.svg
    assert "no score" in plot.svg
    assert "baseline" in plot.svg
    assert plot.save(tmp_path / "figure.png").stat().st_size > 1000


def test_figure_without_recordings(tmp_path):
    trials = BehavioralAssembly(
        ["cat", "dog"], coords={"stimulus_id": ("presentation", ["a", "b"])}, dims=["presentation"]
    )
    plot = Benchmark(trials).plot(results=tmp_path)
    assert "Dissimilarities" not in plot.svg
    assert "Answers" not in plot.svg
    assert "0.800" in plot.svg


def test_figure_of_answers(tmp_path):
    trials = BehavioralAssembly(
        ["cat", "cat", "dog", "dog", None, "cat"],
        coords={
            "stimulus_id": ("presentation", list("abcdef")),
            "truth": ("presentation", ["cat", "cat", "cat", "dog", "dog", "emu"]),
        },
        dims=["presentation"],
    )
    svg = Benchmark(trials).plot(results=tmp_path).svg
    assert "rows: truth; columns: what was chosen" in svg
    assert "as a share of the trials of a row; 5 trials" in svg
    assert "cat × dog: share = 0.33, n = 1" in svg
    assert "dog × dog: share = 1.00, n = 1" in svg
