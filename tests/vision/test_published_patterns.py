"""Patterns of plugins and scripts for brain-score 2.x, each written by us in ``plugins_of_others``, run unmodified."""

import runpy
from pathlib import Path

import numpy as np
import pytest

from brainscore_core.supported_data_standards.brainio.assemblies import NeuroidAssembly
from brainscore_vision import load_benchmark, load_metric, metric_registry, plugin_index

SOURCE = Path(__file__).parents[1] / "plugins_of_others"


@pytest.fixture
def plugins(monkeypatch, tmp_path):
    monkeypatch.setenv("BRAINSCORE_PLUGINS", str(SOURCE))
    monkeypatch.setenv("BRAINSCORE_HOME", str(tmp_path))
    plugin_index.refresh()
    yield SOURCE
    monkeypatch.delenv("BRAINSCORE_PLUGINS")
    plugin_index.refresh()


class Features:
    """A model whose features for the simulated stimuli are random."""

    identifier = "features"

    def visual_degrees(self):
        return 8

    def start_recording(self, region, time_bins):
        self.region = region

    def look_at(self, stimuli, number_of_trials=1):
        names = list(stimuli["stimulus_id"])
        values = np.random.default_rng(len(names)).standard_normal((len(names), 30))
        return NeuroidAssembly(
            values,
            coords={"stimulus_id": ("presentation", names), "neuroid_id": ("neuroid", np.arange(30))},
            dims=["presentation", "neuroid"],
        )


@pytest.mark.parametrize(
    ("metric", "warns"), [("ridge", True), ("dual_ridge", True), ("pls", True), ("ridgecv", False)]
)
def test_penalties_are_passed_to_every_metric_with_fixed_splits(plugins, metric, warns, recwarn):
    benchmark = load_benchmark(f"FixedSplit2022.IT-{metric}")
    fixed = [str(warning.message) for warning in recwarn if "alphas has no effect" in str(warning.message)]
    assert bool(fixed) is warns
    raw = benchmark(Features()).attrs["raw"]
    assert np.isfinite(float(raw))
    if metric == "ridge":
        plain = benchmark
        plain._similarity_metric = load_metric("ridge_split")
        assert float(raw) == float(plain(Features()).attrs["raw"])


@pytest.mark.filterwarnings("ignore:alphas has no effect")
def test_every_metric_with_fixed_splits_takes_penalties_and_options():
    names = [name for name in metric_registry if name.endswith("_split")]
    assert len(names) >= 12
    for name in names:
        load_metric(name, alphas=[1.0, 10.0], regression_kwargs={})


@pytest.mark.parametrize("script", sorted((SOURCE / "scripts").glob("*.py")), ids=lambda path: path.stem)
def test_scripts(script, monkeypatch, tmp_path):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("BRAINSCORE_HOME", str(tmp_path / "home"))
    runpy.run_path(str(script), run_name="__main__")
