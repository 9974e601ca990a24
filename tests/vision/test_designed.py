"""Designs with a pool of other pictures: the models are run on them, and the stimuli become a stimulus set."""

import json
import shutil

import numpy as np
import pytest
from PIL import Image

from brainscore.cli import app
from brainscore.cli.package import read_stimuli
from brainscore_core.errors import UserError
from brainscore_core.questions.designed import design_stimuli
from brainscore_core.results.store import ResultsStore
from brainscore_core.supported_data_standards.brainio.assemblies import NeuroidAssembly
from brainscore_core.supported_data_standards.brainio.packaging import package_stimulus_set_locally
from brainscore_core.supported_data_standards.brainio.stimuli import StimulusSet
from brainscore_vision import benchmark_registry, load_metric, score, stimulus_set_registry
from brainscore_vision.benchmark_helpers.neural_common import NeuralBenchmark

BENCHMARK, MODELS = "Drawn2026.V1-rdm", ["pixels", "gabor"]


def draw(folder, names):
    folder.mkdir()
    rng = np.random.default_rng(len(names))
    stimuli = StimulusSet({"stimulus_id": names, "brightness": range(len(names))})
    for name in names:
        Image.fromarray(rng.integers(0, 256, (6, 6, 3), dtype=np.uint8)).resize((48, 48)).save(folder / f"{name}.png")
    stimuli.stimulus_paths = {name: folder / f"{name}.png" for name in names}
    stimuli.identifier = folder.name
    return stimuli


def benchmark_on(stimuli, identifier=BENCHMARK):
    names = stimuli["stimulus_id"].tolist()
    neuroid = {"neuroid_id": ("neuroid", ["a", "b", "c"]), "region": ("neuroid", ["V1"] * 3)}
    attrs = {"stimulus_set": stimuli, "identifier": identifier, "stimulus_groups": "none"}
    values = np.random.default_rng(1).standard_normal((2 * len(names), 3))

    def recordings(values, names, **more):
        coords = {"stimulus_id": ("presentation", names), **more, **neuroid}
        return NeuroidAssembly(values, coords=coords, dims=["presentation", "neuroid"], attrs=attrs)

    repetitions = {"repetition": ("presentation", np.repeat([0, 1], len(names)))}
    return NeuralBenchmark(
        identifier, recordings(values[: len(names)], names), load_metric("rdm"), visual_degrees=8, number_of_trials=1,
        ceiling_func=lambda: 0.9, version=1, parent="V1", repetitions=recordings(values, names * 2, **repetitions),
    )  # fmt: skip


@pytest.mark.slow(reason="runs two models")
def test_stimuli_of_other_pools_are_packaged_and_scored_apart(tmp_path, monkeypatch, capsys):
    benchmark = benchmark_on(draw(tmp_path / "shown", [f"s{number}" for number in range(16)]))
    monkeypatch.setitem(benchmark_registry, BENCHMARK, lambda: benchmark)
    store, pool = str(tmp_path / "results"), tmp_path / "pool"
    for model in MODELS:
        score(model, BENCHMARK, results=store)
    assert ResultsStore(store).latest("pixels", BENCHMARK).benchmark.parent == "V1"
    candidates = draw(pool, [f"p{number}" for number in range(9)])
    folder = tmp_path / "design"
    arguments = ["-k", "4", "--pool", str(pool), "--results", store, "--output", str(folder), "--json"]
    app(["design", BENCHMARK, *MODELS, *arguments], standalone_mode=False)
    chosen = json.loads(capsys.readouterr().out)["stimuli"]
    assert set(chosen) <= set(candidates["stimulus_id"])
    monkeypatch.setitem(stimulus_set_registry, "Pool2026", lambda: candidates)
    design = design_stimuli(BENCHMARK, MODELS, 4, pool="Pool2026", results=store)
    assert (design.stimuli, len(design.pool)) == (chosen, 9)
    stimuli = read_stimuli(folder / "stimuli.csv", folder / "stimuli", None, (), ())
    assert stimuli["stimulus_id"].tolist() == chosen
    stimuli.identifier = "Designed2026"
    package_stimulus_set_locally(stimuli, "Designed2026", downloads_path=tmp_path / "packaged")
    later = benchmark_on(stimuli, "Designed2026.V1-rdm")
    monkeypatch.setitem(benchmark_registry, "Designed2026.V1-rdm", lambda: later)
    score("pixels", "Designed2026.V1-rdm", results=store)
    receipt = ResultsStore(store).latest("pixels", "Designed2026.V1-rdm")
    assert receipt.benchmark.parent is None
    assert any("counts in no average" in note for note in receipt.notes)
    with pytest.raises(UserError, match="names of stimuli of the benchmark"):
        design_stimuli(BENCHMARK, MODELS, 4, pool=tmp_path / "shown", results=store)
    shutil.rmtree(pool)
    pool.mkdir()
    with pytest.raises(UserError, match="has 0 pictures"):
        design_stimuli(BENCHMARK, MODELS, 4, pool=pool, results=store)
