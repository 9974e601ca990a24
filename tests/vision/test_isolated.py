"""Models in processes of their own score as they do in this one."""

import functools
import json
import os
import sys
import textwrap
from inspect import signature

import numpy as np
import pytest
import xarray as xr
from PIL import Image

from brainscore_core.benchmarks import BenchmarkBase, ceil_score
from brainscore_core.errors import NotApplicable, UnknownIdentifier, UserError
from brainscore_core.isolation import SubjectFailed, SubjectOutOfMemory
from brainscore_core.metrics import Score
from brainscore_core.plugins import check_model
from brainscore_core.plugins.loading import load_file_reference
from brainscore_core.provenance import recording
from brainscore_core.scoring import ResultsStore, RunInfo
from brainscore_core.supported_data_standards.brainio.stimuli import StimulusSet
from brainscore_vision import benchmark_registry, load_model, run_pair, score
from brainscore_vision.benchmark_helpers.screen import place_on_screen
from brainscore_vision.model_interface import BrainModel
from brainscore_vision.model_sources.isolation import isolated_model
from brainscore_vision.model_sources.unregistered import to_unregistered_model

pytestmark = [
    pytest.mark.skipif(os.name != "posix", reason="needs Linux or macOS"),
    pytest.mark.slow(reason="starts processes of models"),
]
TWICE = pytest.mark.slow(reason="scores a benchmark twice, once in a process of its own")

MODELS = """
import os, sys
import numpy as np
from brainscore_core.benchmarks import BenchmarkBase, ceil_score
from brainscore_core.errors import NotApplicable
from brainscore_core.supported_data_standards.brainio.assemblies import NeuroidAssembly
from brainscore_vision.model_helpers.brain_transformation import ModelCommitment
from brainscore_vision.model_helpers.images import load_grey
from brainscore_vision.model_helpers.static_features import FeatureModel
from brainscore_vision.benchmark_helpers.screen import place_on_screen
from brainscore_vision.model_interface import BrainModel
from brainscore_vision.testing import small_labeller, small_models


def coarse():
    def means(images):
        return np.stack([image[::16, ::16].mean(axis=2).ravel() for image in images])

    return means


def grey():
    return small_models()[0]


def network():
    import torch
    from brainscore_vision.model_helpers.activations import PytorchWrapper
    from brainscore_vision.model_helpers.activations.pytorch import load_preprocess_images

    torch.manual_seed(0)
    layers = torch.nn.Sequential(
        torch.nn.Conv2d(3, 8, 5, stride=2), torch.nn.ReLU(), torch.nn.AvgPool2d(4), torch.nn.Flatten()
    )
    wrapper = PytorchWrapper(
        layers, lambda paths: load_preprocess_images(paths, image_size=32), identifier="small-network"
    )
    regions = {"V1": "1", "V4": ["1", "3"], "IT": "3"}
    return ModelCommitment("small-network", wrapper, layers=["1", "3"], region_layer_map=regions)


labeller = small_labeller


def remembered():
    from brainscore_vision.benchmark_helpers import PrecomputedFeatures

    coords = {"stimulus_id": ("presentation", ["a", "b"]), "neuroid_id": ("neuroid", [0])}
    features = NeuroidAssembly([[1.0], [2.0]], coords=coords, dims=["presentation", "neuroid"])
    return PrecomputedFeatures(features, visual_degrees=8)


class Settling(BrainModel):
    identifier = "settling"

    def visual_degrees(self):
        return 8

    def start_task(self, task, fitting_stimuli=None):
        raise NotApplicable("it cannot behave")

    def start_recording(self, recording_target, time_bins):
        self.region, self.bins = recording_target, time_bins

    def look_at(self, stimuli, number_of_trials=1):
        levels = np.stack([load_grey(stimuli.get_stimulus(i))[::4, ::4].ravel() for i in stimuli["stimulus_id"]])
        course = np.array([np.sqrt(end) for _, end in self.bins])
        return NeuroidAssembly(
            np.moveaxis(levels[:, np.newaxis] * course[:, np.newaxis], 1, 2),
            coords={
                "stimulus_id": ("presentation", list(stimuli["stimulus_id"])),
                "neuroid_id": ("neuroid", np.arange(levels.shape[1])),
                "time_bin_start": ("time_bin", [start for start, _ in self.bins]),
                "time_bin_end": ("time_bin", [end for _, end in self.bins]),
            },
            dims=["presentation", "neuroid", "time_bin"],
            attrs={"told": repr(self.region)},
        )


class Bad(Settling):
    identifier = "bad"

    def look_at(self, stimuli, number_of_trials=1):
        if self.region == "V1":
            os.abort()
        if self.region == "V2":
            print("about to fail")
            raise ValueError("shapes do not match")
        return {"responses": 1}

    def visual_degrees(self):
        return float("nan") if getattr(self, "region", None) == "IT" else 8


def takes_too_much():
    raise MemoryError("not enough")
"""


@pytest.fixture(scope="module")
def models(tmp_path_factory):
    path = tmp_path_factory.mktemp("models") / "mine.py"
    path.write_text(textwrap.dedent(MODELS))
    return path


@pytest.fixture
def drawn(stimuli):
    """Benchmarks that need no time: ``Drawn2026.V1-mean`` and so on."""

    class Drawn(BenchmarkBase):
        def __init__(self, region):
            super().__init__(f"Drawn2026.{region}-mean", ceiling_func=lambda: Score(1.0), version=1)
            self.region = region

        def __call__(self, candidate):
            candidate.start_recording(self.region, [(70, 170)])
            shown = place_on_screen(stimuli, target_visual_degrees=candidate.visual_degrees())
            return ceil_score(Score(float(candidate.look_at(shown).mean())), self.ceiling)

    keys = {f"Drawn2026.{region}-mean": region for region in ("V1", "V4", "IT")}
    for key, region in keys.items():
        benchmark_registry[key] = functools.partial(Drawn, region)
    yield
    for key in keys:
        del benchmark_registry[key]


@pytest.fixture
def stimuli(tmp_path):
    ids = [f"image{number}" for number in range(12)]
    made = StimulusSet({"stimulus_id": ids, "image_label": ["dog", "cat", "car"] * 4, "degrees": 8.0})
    made.identifier = "Drawn2026"
    random = np.random.default_rng(0)
    for name in ids:
        Image.fromarray(random.integers(0, 256, (48, 48, 3), dtype=np.uint8)).save(tmp_path / f"{name}.png")
    made.stimulus_paths = {name: tmp_path / f"{name}.png" for name in ids}
    return made


def in_process(reference):
    if ".py:" not in reference:
        return load_model(reference)
    return to_unregistered_model(load_file_reference(reference)[0]).model


def assert_same(one, other):
    assert type(one) is type(other)
    xr.testing.assert_identical(one, other)
    assert one.dtype == other.dtype
    assert list(one.coords) == list(other.coords)
    assert one.attrs == other.attrs


def both(reference, monkeypatch, tmp_path):
    """The model here and elsewhere, with stores of their own."""
    monkeypatch.setenv("BRAINSCORE_ACTIVATIONS", str(tmp_path / "activations of the subject"))
    there = isolated_model(reference)
    monkeypatch.setenv("BRAINSCORE_ACTIVATIONS", str(tmp_path / "activations"))
    return in_process(reference), there


@pytest.mark.parametrize(
    "model",
    ["{file}:grey", pytest.param("{file}:network", marks=pytest.mark.slow(reason="imports torch in its process"))],
)
def test_recordings_and_behaviour_are_the_same(model, models, stimuli, monkeypatch, tmp_path):
    if "network" in model:
        pytest.importorskip("torch")
    here, there = both(model.format(file=models), monkeypatch, tmp_path)
    with there:
        assert (there.identifier, there.visual_degrees()) == (here.identifier, here.visual_degrees())
        assert list(signature(there.start_task).parameters) == ["task", "fitting_stimuli", "options"]
        for region, bins, options in (
            ("V1", [(70, 170)], {}),
            (BrainModel.RecordingTarget.V4, [(70, 170), (170, 270)], {"number_of_trials": 2}),
            ("IT", [(np.int64(0), 10)], {"number_of_trials": 3, "require_variance": True}),
        ):
            for one in (here, there):
                one.start_recording(region, time_bins=bins)
            assert_same(there.look_at(stimuli, **options), here.look_at(stimuli, **options))
        for one in (here, there):
            one.start_task(BrainModel.Task.probabilities, stimuli)
        assert_same(there.look_at(stimuli[:5]), here.look_at(stimuli[:5]))
        for one in (here, there):
            one.start_task("odd_one_out")
        assert_same(there.look_at(stimuli), here.look_at(stimuli))
        messages = []
        for one in (here, there):
            with pytest.raises(NotApplicable) as caught:
                one.start_recording("no-such-region", [(70, 170)])
            messages.append(str(caught.value))
        assert messages[0] == messages[1]


@pytest.mark.slow(reason="imports torch in its process")
def test_labels_are_the_same(models, stimuli, monkeypatch, tmp_path):
    pytest.importorskip("torch")
    here, there = both(f"{models}:labeller", monkeypatch, tmp_path)
    with there:
        for choices in (["dog", "cat", "car"], "imagenet"):
            for one in (here, there):
                one.start_task(BrainModel.Task.label, choices)
            assert_same(there.look_at(stimuli), here.look_at(stimuli))


@pytest.mark.slow(reason="in processes of its own")
def test_a_model_is_told_what_it_would_be_told(models, stimuli):
    with isolated_model(f"{models}:Settling") as model:
        assert list(signature(model.start_task).parameters) == ["task", "fitting_stimuli"]
        assert list(signature(model.start_recording).parameters) == ["recording_target", "time_bins"]
        for region in ("V4", BrainModel.RecordingTarget.V4):
            model.start_recording(region, [(0, 10), (10, 20)])
            assert model.look_at(stimuli).attrs["told"] == repr(region)
        with pytest.raises(SubjectFailed, match="TypeError"):  # it knows no such parameter
            model.look_at(stimuli, require_variance=True)


@pytest.mark.slow(reason="every check of a model, in a process of its own")
def test_the_contract_of_models_holds(models):
    with isolated_model(f"{models}:grey") as model:
        assert {check.result for check in check_model(model, raise_errors=False)} <= {"passed", "not applicable"}


def scores(model, benchmark, monkeypatch, tmp_path, **options):
    """Receipts of the pair in this process and of one in its own; the activations of neither serve the other."""
    receipts = []
    for isolated in (True, False):
        monkeypatch.setenv("BRAINSCORE_ACTIVATIONS", str(tmp_path / f"activations {isolated}"))
        receipts.append(run_pair(model, benchmark, isolated=isolated, **options).receipt)
    return receipts


@pytest.mark.parametrize(("model", "benchmark"), [("gabor", "Drawn2026.V1-mean")])
def test_neural_scores_are_equal(model, benchmark, drawn, monkeypatch, tmp_path):
    there, here = scores(model, benchmark, monkeypatch, tmp_path)
    assert there.state == here.state == "scored"
    assert (there.score, there.raw, there.ceiling) == (here.score, here.raw, here.ceiling)
    assert there.model == here.model
    assert (there.data, there.files, there.notes) == (here.data, here.files, here.notes)
    assert there.cache == here.cache
    assert there.weights == here.weights
    assert (there.run.isolated, there.run.environment, here.run) == (True, None, None)


@pytest.mark.parametrize(
    ("model", "benchmark"),
    [
        pytest.param("pixels", "Hebart2023-match", marks=TWICE),
        pytest.param("{file}:network", "Rajalingham2018public-i2n", marks=TWICE),
        pytest.param("{file}:labeller", "BMD2024.texture_1Behavioral-accuracy_distance", marks=TWICE),
        pytest.param("{file}:Settling", "MajajHong2015public.IT-temporal-pls", marks=TWICE),
    ],
)
def test_scores_on_stand_ins_are_equal(model, benchmark, models, stand_ins, monkeypatch, tmp_path):
    pytest.importorskip("torch")
    there, here = scores(model.format(file=models), benchmark, monkeypatch, tmp_path)
    assert there.state == here.state == "scored", (there.reason, here.reason)
    assert (there.score, there.raw, there.ceiling) == (here.score, here.raw, here.ceiling)


@pytest.mark.slow(reason="in processes of its own")
def test_command_line_and_stored_activations(models, drawn, monkeypatch, tmp_path):
    from click.testing import CliRunner

    from brainscore.cli import app

    monkeypatch.setenv("BRAINSCORE_ACTIVATIONS", str(tmp_path / "activations"))
    receipts = []
    for _ in range(2):
        arguments = ["score", f"{models}:coarse", "Drawn2026.V1-mean", "--isolated", "--json", "--results"]
        done = CliRunner().invoke(app, [*arguments, str(tmp_path / "results")], catch_exceptions=False)
        assert done.exit_code == 0
        receipts.append(json.loads(done.stdout))
    first, second = receipts
    assert (first["state"], first["run"]["isolated"], first["model"]["identifier"]) == ("scored", True, "means")
    assert (first["cache"]["hits"], second["cache"]["misses"]) == (0, 0)
    assert second["cache"]["hits"] == first["cache"]["misses"] > 0
    assert first["score"] == second["score"]


class TestFailures:
    @pytest.mark.parametrize(
        ("benchmark", "kind", "reason"),
        [
            ("Drawn2026.V1-mean", "SubjectFailed", "ended by signal 6 (aborted) (in look_at)"),
            ("Drawn2026.IT-mean", "SubjectFailed", "reports that its input spans nan degrees"),
        ],
    )
    def test_they_are_those_of_the_pair(self, models, tmp_path, drawn, benchmark, kind, reason):
        store = ResultsStore(tmp_path)
        run = RunInfo(id="run-1")
        receipt = run_pair(
            f"{models}:Bad", benchmark, isolated=True, results=store, raise_errors=False, identifier="mine", run=run
        ).receipt
        assert receipt.state == "failed"
        assert receipt.error.type == kind
        assert reason in receipt.reason
        assert receipt.run == RunInfo(id="run-1", isolated=True)
        assert store.latest("mine", benchmark) == receipt

    def test_its_own_errors_come_with_its_traceback(self, models, stimuli, capfd):
        with isolated_model(f"{models}:Bad") as model:
            model.start_recording("V2", [(0, 1)])
            with pytest.raises(SubjectFailed, match="raised ValueError: shapes do not match") as caught:
                model.look_at(stimuli)
            assert "mine.py" in caught.value.__notes__[0]
            model.start_recording("V4", [(0, 1)])
            with pytest.raises(SubjectFailed, match="returned a dict, not an assembly"):
                model.look_at(stimuli)
        assert "about to fail" in capfd.readouterr().err

    def test_out_of_memory_is_told_apart(self, models, drawn):
        receipt = run_pair(
            f"{models}:takes_too_much", "Drawn2026.V1-mean", isolated=True, identifier="mine", raise_errors=False
        ).receipt
        assert (receipt.state, receipt.error.type) == ("failed", SubjectOutOfMemory.__name__)

    def test_objects_stay_here(self, drawn):
        with pytest.raises(UserError, match=r"a Settling|a function cannot move into another process"):
            score(lambda images: images, "Drawn2026.V1-mean", isolated=True)

    def test_wrong_names_are_said_at_once(self, models, drawn):
        with pytest.raises(UnknownIdentifier, match="pixels"):
            score("pixel", "Drawn2026.V1-mean", isolated=True)
        with pytest.raises(UserError, match="which takes no options"):
            score("pixels", "Drawn2026.V1-mean", isolated=True, layers=["pixels"])
        with pytest.raises(UserError, match="has no 'networks'"):
            score(f"{models}:networks", "Drawn2026.V1-mean", isolated=True)

    @pytest.mark.slow(reason="makes an environment")
    def test_requirements_that_cannot_be_met(self, tmp_path, monkeypatch, drawn):
        monkeypatch.setenv("BRAINSCORE_HOME", str(tmp_path / "home"))
        (tmp_path / "mine.py").write_text("def make(): ...\n")
        (tmp_path / "requirements.txt").write_text("numpy==1.0.1\n")
        monkeypatch.setenv("PIP_NO_INDEX", "1")
        receipt = run_pair(
            f"{tmp_path / 'mine.py'}:make", "Drawn2026.V1-mean", isolated=True, identifier="mine", raise_errors=False
        ).receipt
        assert (receipt.state, receipt.error.type) == ("failed", "RequirementsError")
        assert "numpy" in receipt.error.message


@pytest.mark.slow(reason="makes an environment")
def test_environment_of_its_own(tmp_path, monkeypatch):
    """Requirements that the running environment meets lead to an environment over it, without a download."""
    monkeypatch.setenv("BRAINSCORE_HOME", str(tmp_path / "home"))
    monkeypatch.setenv("PIP_NO_INDEX", "1")
    (tmp_path / "mine.py").write_text(
        "import sys\nprint(sys.prefix)\nprint('PATH', sys.path)\n" + textwrap.dedent(MODELS)
    )
    (tmp_path / "requirements.txt").write_text("numpy>=2\n")
    (tmp_path / "modules").mkdir()
    monkeypatch.setenv("PYTHONPATH", str(tmp_path / "modules"))
    with isolated_model(f"{tmp_path / 'mine.py'}:Settling") as model:
        assert model.environment.packages["numpy"] == np.__version__
        assert str(model.environment.folder) in model.process.log
        _, _, path = model.process.log.partition("PATH ")
        assert path.index(str(model.environment.folder)) < path.index(str(tmp_path / "modules"))
        assert model.visual_degrees() == 8


@pytest.mark.slow(reason="in processes of its own")
def test_options_of_a_network_in_a_file(models, stimuli):
    with (
        recording() as record,
        isolated_model(f"{models}:coarse", identifier="means", how={"visual_degrees": 4}) as model,
    ):
        assert (model.identifier, model.name, model.visual_degrees()) == ("means", "means", 4)
        model.start_recording("V1", [(70, 170)])
        assert model.look_at(stimuli).sizes["presentation"] == 12
    assert any(item["kind"] == "cache" for item in record.items)


@pytest.mark.slow(reason="starts processes of models")
def test_models_that_go_by_names_are_known(models):
    """Some benchmarks ask them about all stimuli, whether or not their files are at hand."""
    with isolated_model(f"{models}:remembered") as remembered:
        assert remembered.looks_at_files is False


def test_nothing_heavy_is_imported_for_models_in_this_process():
    import subprocess

    code = "import brainscore_vision, sys; print('brainscore_core.isolation' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "False"
