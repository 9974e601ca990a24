"""Which parts of long calls show their progress."""

import logging

import numpy as np
import pytest
from PIL import Image

from brainscore import runs
from brainscore_core import progress
from brainscore_core.results.assessments import AssessmentStore
from brainscore_core.runner import PairSkipped
from brainscore_core.supported_data_standards.brainio.assemblies import NeuroidAssembly
from brainscore_core.supported_data_standards.brainio.packaging import package_stimulus_set_locally
from brainscore_core.supported_data_standards.brainio.stimuli import StimulusSet
from brainscore_vision import load_metric, scoring
from brainscore_vision.assessment import tasks
from brainscore_vision.model_helpers.images import load_rgb
from brainscore_vision.model_helpers.static_features import FeatureModel


@pytest.fixture
def stages(caplog):
    caplog.set_level(logging.INFO, "brainscore_core.progress")
    return lambda: caplog.messages


@pytest.fixture
def stimuli(tmp_path):
    names = [f"s{number}" for number in range(3)]
    stimuli = StimulusSet({"stimulus_id": names})
    stimuli.identifier = "Some2026"
    stimuli.stimulus_paths = {name: tmp_path / f"{name}.png" for name in names}
    for number, path in enumerate(stimuli.stimulus_paths.values()):
        Image.new("RGB", (8, 8), (number, 0, 0)).save(path)
    return stimuli


def responses(rng):
    return NeuroidAssembly(
        rng.standard_normal((60, 4)),
        coords={
            "stimulus_id": ("presentation", [f"s{number}" for number in range(60)]),
            "object_name": ("presentation", [f"object {number % 6}" for number in range(60)]),
            "neuroid_id": ("neuroid", range(4)),
        },
        dims=["presentation", "neuroid"],
    )


def test_extraction(stimuli, stages):
    model = FeatureModel(
        "mine", {"red": lambda images: np.stack([image[:1, 0, :1] for image in images])}, load=load_rgb
    )
    model.start_recording("V1", time_bins=[(70, 170)])
    model.look_at(stimuli)
    assert stages() == ["activations of mine"]


@pytest.mark.parametrize(("metric", "stage"), [("ridge", "regression"), ("cka_cv", "comparing")])
def test_splits_of_metrics(metric, stage, stages):
    rng = np.random.default_rng(0)
    load_metric(metric)(responses(rng), responses(rng))
    assert stage in stages()


def test_packaging(stimuli, stages, tmp_path):
    package_stimulus_set_locally(stimuli, "Some2026", downloads_path=tmp_path / "packages")
    assert stages() == ["checking stimuli", "packaging stimuli"]


def test_the_model_is_named():
    model = FeatureModel("mine", {"red": lambda images: images}, load=load_rgb)
    for shown, name in ((model, "mine"), (load_rgb, "load_rgb"), (object(), "object"), ("pixels", "pixels")):
        assert scoring._name_shown(shown) == name


def test_runs(stages, monkeypatch, tmp_path):
    def execute(selection, plan, store, options, *, on_event, **how):
        on_event(PairSkipped(model="pixels", benchmark="Simulated2026.V1-rdm", reason="no"))
        (shown,) = progress._open
        return shown.done, shown.total

    monkeypatch.setattr(runs, "execute", execute)
    assert runs.run("pixels", "Simulated2026.V1-*", results=tmp_path) == (1, 2)
    assert stages() == ["scoring"]


def test_assessments(stages, monkeypatch, tmp_path):
    def run_task(task, store, *, known, on_event):
        on_event(tasks.Started(task, "folds", 0.25))
        shown.append(progress._open[0].text)

    shown = []
    monkeypatch.setattr(tasks, "run_task", run_task)
    planned = tasks.plan(["Simulated2026.V1-rdm"], parts=["audit"])
    assert tasks.assess(planned, AssessmentStore(tmp_path)) == []
    assert stages() == ["Simulated2026.V1-rdm: audit"]
    assert shown == ["Simulated2026.V1-rdm: audit: folds 25%"]
