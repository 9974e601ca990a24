"""Scores and ceilings of registered benchmarks say how sure they are, and two models can be compared on each."""

import math
from typing import NamedTuple

import numpy as np
import pytest

from brainscore_core.statistics.comparison import compare_scores
from brainscore_vision import benchmark_registry, load_benchmark
from brainscore_vision.testing import small_labeller, small_models


class Run(NamedTuple):
    """A benchmark that stands for those of its plugin that share its code."""

    identifier: str
    models: str = "small"
    degrees: int = 8
    ceiling: bool = True
    """Whether the ceiling has an interval; otherwise a reason."""
    score: bool = True
    """Whether the scores have; otherwise a reason."""
    slow: bool = False


RUNS = [
    Run("MajajHong2015public.IT-pls"),
    Run("MajajHong2015public.V4-temporal-pls", slow=True),
    Run("FreemanZiemba2013public.V1-pls", degrees=4, slow=True),
    Run("Papale2025.IT-ridge", slow=True),
    Run("Bracci2019.anteriorVTC-rdm"),
    Run("tong.Coggan2024_fMRI.IT-rdm", degrees=9),
    Run(
        "tong.Coggan2024_behavior-ConditionWiseAccuracySimilarity",
        slow=True,
    ),
    Run("Rajalingham2018public-i2n"),
    Run("Hebart2023-match", ceiling=False),
    Run("Baker2022fragmented-accuracy_delta", "labellers", ceiling=False, slow=True),
    Run("BMD2024.texture_1Behavioral-accuracy_distance", "labellers", slow=True),
    Run("Geirhos2021colour-error_consistency", "labellers", slow=True),
    Run("Geirhos2021colour-top1", "labellers", ceiling=False, slow=True),
    Run(
        "Malania2007.short2-threshold_elevation",
        score=False,  # the small models do not learn the task
        slow=True,
    ),
]

OF_TABLES = "rows of a table: tests/vision/test_table_benchmarks.py looks at the error of each"
TABLES = """
    Allen202 Cadena20 Ferguson Gifford2 Hebart20 Hermann2 Igustiba ImageNet Islam202 Li2026 Lonnqvis Maniquet ObjectNe
    Rajaling Sanghavi SanghaviJ SanghaviM Scialom2 Zerbe202
"""
ELSEWHERE = {
    **dict.fromkeys(TABLES.split(), OF_TABLES),
    "Geirhos2019": "needs real data: the plugin's own tests look at its interval",
    "ImageNet": "needs real data: the plugin's own tests look at its interval",
    "Kar2019": "static models have no score: the plugin's own tests look at its interval",
    "Kriegeskorte2008": "needs real data: the plugin's own tests look at its interval",
    "Marques2020": "needs models of gratings: the plugin's own tests look at its interval",
    "Simulated2026": "takes 800 images: the plugin's own tests look at its intervals and compare models",
}


def models_of(run):
    if run.models == "small":
        return small_models(visual_degrees=run.degrees)
    pytest.importorskip("torch")
    return [small_labeller(seed, visual_degrees=run.degrees) for seed in (0, 1)]


def require_interval(score, *, there=True):
    low, high = score.attrs["ci"]
    error = float(score.attrs["error"])
    assert math.isfinite(error) or len(score.attrs["error_reason"]) > 10
    if math.isnan(low):
        assert len(score.attrs["ci_reason"]) > 10
    else:
        assert low <= high
    assert (math.isfinite(low) and math.isfinite(high)) == there, score.attrs.get("ci_reason")


def test_every_registered_benchmark_is_looked_at():
    def family(identifier):
        return identifier.removeprefix("tong.").split(".")[0].split("-")[0]

    looked_at = {family(run.identifier) for run in RUNS} | set(ELSEWHERE)
    builtin = [name for name in benchmark_registry if benchmark_registry.location(name).source == "built in"]
    missing = {name for name in map(family, builtin) if not any(name.startswith(one[:8]) for one in looked_at)}
    assert not missing


@pytest.mark.parametrize(
    "run",
    [
        pytest.param(
            run,
            id=run.identifier,
            marks=[pytest.mark.slow(reason="resamples a score and its ceiling many times")] if run.slow else [],
        )
        for run in RUNS
    ],
)
def test_intervals_and_comparison(run, stand_ins, monkeypatch):
    models = models_of(run)
    monkeypatch.delenv("BRAINSCORE_MIRROR", raising=False)
    benchmark = load_benchmark(run.identifier)
    ceiling, scores = benchmark.ceiling, [benchmark(model) for model in models]
    require_interval(ceiling, there=run.ceiling)
    for score in scores:
        require_interval(score, there=run.score)
        require_interval(score.attrs["raw"], there=run.score)
    found = compare_scores(*scores)
    assert found.p is not None, found.reason
    assert 0 <= found.p <= 1
    assert found.units
    if found.ci is None:  # few stand-ins for people: their agreement may be none
        assert "ceiling is too uncertain" in found.reason
    else:
        assert found.ci[0] <= found.difference <= found.ci[1]
    unclamped = [float(score.attrs["unclamped"]) for score in scores]
    expected = unclamped if found.scale != "raw" else [float(score.attrs["raw"]) for score in scores]
    assert found.scores == pytest.approx(expected)
    assert np.sign(found.difference) in (np.sign(expected[0] - expected[1]), 0)
