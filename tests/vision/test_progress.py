"""Which parts of long calls show their progress."""

import logging

import numpy as np
import pytest
from PIL import Image

from brainscore import runs
from brainscore_core import progress
from brainscore_core.benchmarks import BenchmarkBase
from brainscore_core.errors import NotApplicable, UserError
from brainscore_core.results.assessments import AssessmentStore
from brainscore_core.runner import PairSkipped
from brainscore_core.runner import scoring as pairs
from brainscore_core.statistics.comparison import compare
from brainscore_core.supported_data_standards.brainio.assemblies import NeuroidAssembly
from brainscore_core.supported_data_standards.brainio.packaging import package_stimulus_set_locally
from brainscore_core.supported_data_standards.brainio.stimuli import StimulusSet
from brainscore_vision import load_metric
from brainscore_vision.assessment import recovery, tasks
from brainscore_vision.assessment.attainable import attainable
from brainscore_vision.assessment.audit import audit
from brainscore_vision.assessment.controls import score_controls
from brainscore_vision.assessment.multiverse import multiverse
from brainscore_vision.assessment.recovery import recover
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
        assert pairs._name_shown(shown) == name


def test_runs(stages, monkeypatch, tmp_path):
    def execute(selection, plan, store, options, *, on_event, **how):
        on_event(PairSkipped(model="pixels", benchmark="Simulated2026.V1-rdm", reason="no"))
        (shown,) = progress._open
        return shown.done, shown.total

    monkeypatch.setattr(runs, "execute", execute)
    assert runs.run("pixels", "Simulated2026.V1-*", results=tmp_path) == (1, 2)
    assert stages() == ["scoring"]


def test_assessments(stages, monkeypatch, tmp_path):
    monkeypatch.setattr(tasks, "run_task", lambda task, store, *, known, on_event: None)
    planned = tasks.plan(["Simulated2026.V1-rdm"], parts=["audit"])
    assert tasks.assess(planned, AssessmentStore(tmp_path)) == []
    assert stages() == ["Simulated2026.V1-rdm: audit"]


@pytest.mark.parametrize(
    ("call", "stage"),
    [
        (attainable, "attainable score on Lab2026-x"),
        (audit, "audit of Lab2026-x"),
        (score_controls, "baseline models of Lab2026-x"),
        (lambda benchmark: recover(benchmark, {"a": np.eye(4), "b": np.eye(4)}), "recovery on Lab2026-x"),
        (lambda benchmark: multiverse(["pixels"], benchmark), "recordings of Lab2026-x"),
    ],
    ids=["attainable", "audit", "controls", "recovery", "multiverse"],
)
def test_validity_is_shown_before_anything_is_read(call, stage, stages):
    class Unsuited(BenchmarkBase):
        def __call__(self, candidate):
            raise NotApplicable("it has no recordings")

    with pytest.raises(UserError):
        call(Unsuited("Lab2026-x", lambda: 1.0, version=1))
    assert stages()[0] == stage


def test_steps_of_a_recovery(monkeypatch):
    class Enough(Exception):
        pass

    def features_of(experiment, name, candidate):
        shown.append((progress._open[-1].text, progress._open[-1].done))
        if name == "b":
            raise Enough
        return candidate

    shown = []
    monkeypatch.setattr(recovery, "features_of", features_of)
    with pytest.raises(Enough):
        recover("Simulated2026.V1:cka", {"a": np.eye(800, 4), "b": np.eye(800, 4)})
    assert shown == [("features of a", 1), ("features of b", 2)]


def test_comparisons(stages, tmp_path):
    compare(["a", "b", "c"], ["Lab2026-x", "Lab2026-y"], results=tmp_path)
    assert stages() == ["comparing models"]
