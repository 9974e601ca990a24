"""Models in cages: the same scores, and nothing to be had beyond what is shown."""

import functools
import hashlib
import json
import os
import sys
import tarfile
import textwrap

import numpy as np
import pytest
from click.testing import CliRunner
from PIL import Image

from brainscore.cli import app
from brainscore_core.benchmarks import BenchmarkBase, ceil_score
from brainscore_core.domains import domain
from brainscore_core.errors import UserError
from brainscore_core.isolation import sandbox as cages
from brainscore_core.isolation.process import SANDBOX_REMARK, environment_for
from brainscore_core.isolation.sandbox import require_sandbox
from brainscore_core.metrics import Score
from brainscore_core.runner.scoring import forget_model, score_pair
from brainscore_core.scoring import ResultsStore, RunInfo
from brainscore_core.supported_data_standards.brainio.stimuli import StimulusSet
from brainscore_vision import benchmark_registry, model_registry
from brainscore_vision.model_sources.isolation import isolated_model


def can_cage():
    try:
        require_sandbox()
    except UserError:
        return False
    return True


# where CI is set they fail instead: nobody would notice that they are left out
pytestmark = pytest.mark.skipif(not os.environ.get("CI") and not can_cage(), reason="there can be no cages here")

PLUGIN = """
import os
os.environ["CAGED_PROBE_WAS_HERE"] = "yes"

from brainscore_vision import model_registry
from .model import Probe

model_registry["caged-probe"] = Probe
"""

MODEL = """
import json, os
from pathlib import Path

import numpy as np

from brainscore_core.supported_data_standards.brainio.assemblies import NeuroidAssembly
from brainscore_core.supported_data_standards.brainio.fetch import fetch
from brainscore_vision.model_helpers.images import load_grey
from brainscore_vision.model_interface import BrainModel

TOLD = json.loads(Path(__file__).with_name("told.json").read_text())


def readable(path):
    try:
        with open(path, "rb") as file:
            file.read(1)
    except OSError as error:
        return type(error).__name__
    return "yes"


class Probe(BrainModel):
    identifier = "caged-probe"

    def __init__(self):
        self.weights = json.loads(Path(fetch(TOLD["url"], sha1=TOLD["sha1"])).read_text())
        self.fitting, self.before = [], []

    def visual_degrees(self):
        return 8

    def start_task(self, task, fitting_stimuli=None):
        self.fitting = [] if fitting_stimuli is None else list(fitting_stimuli.stimulus_paths.values())

    def start_recording(self, recording_target, time_bins):
        self.fitting = []

    def look_at(self, stimuli, number_of_trials=1):
        paths = [stimuli.get_stimulus(name) for name in stimuli["stimulus_id"]]
        found = {
            "shown": len(os.listdir("/stimuli")),
            "names": [path.name for path in paths],
            "fitting": [readable(path) for path in self.fitting],
            "before": [readable(path) for path in self.before],
            "secrets": {name: readable(path) for name, path in TOLD["secrets"].items()},
            "beside": sorted(os.listdir(Path(__file__).parent.parent)),
        }
        self.before = paths
        print(json.dumps({"model": {"identifier": "caged-probe"}, "state": "scored", "score": {"value": 1.0}}))
        try:
            Path(TOLD["results"]).mkdir(parents=True)
            Path(TOLD["results"], "forged.json").write_text("{}")
            found["forged"] = "yes"
        except OSError as error:
            found["forged"] = type(error).__name__
        levels = np.stack([load_grey(path)[::8, ::8].ravel() for path in paths]) * self.weights["scale"]
        return NeuroidAssembly(
            levels,
            coords={
                "stimulus_id": ("presentation", list(stimuli["stimulus_id"])),
                "neuroid_id": ("neuroid", np.arange(levels.shape[1])),
            },
            dims=["presentation", "neuroid"],
            attrs={"found": json.dumps(found)},
        )
"""


@pytest.fixture(scope="module")
def lab(tmp_path_factory):
    """A folder of plugins, a cache with weights, results, and what else a lab has."""
    folder = tmp_path_factory.mktemp("lab")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("BRAINSCORE_PLUGINS", str(folder / "plugins"))
        patch.setenv("BRAINIO_HOME", str(folder / "brainio"))
        for name in ("caged_probe", "neighbour"):
            (folder / "plugins" / "models" / name).mkdir(parents=True)
        (folder / "plugins" / "models" / "neighbour" / "__init__.py").write_text("SECRET = 1\n")
        weights = json.dumps({"scale": 2.0}).encode()
        sha1 = hashlib.sha1(weights, usedforsecurity=False).hexdigest()
        for digest in (sha1, "0" * 40):
            (folder / "brainio" / digest).mkdir(parents=True)
            (folder / "brainio" / digest / "weights.json").write_bytes(weights)
        plugin = folder / "plugins" / "models" / "caged_probe"
        (plugin / "__init__.py").write_text(textwrap.dedent(PLUGIN))
        (plugin / "model.py").write_text(textwrap.dedent(MODEL))
        (folder / "home").mkdir()
        (folder / "home" / "private.txt").write_text("mine")
        secrets = {
            "home": str(folder / "home" / "private.txt"),
            "neighbour": str(folder / "plugins" / "models" / "neighbour" / "__init__.py"),
            "other weights": str(folder / "brainio" / ("0" * 40) / "weights.json"),
            "shadow": "/etc/shadow",
        }
        told = {"url": "https://example.com/weights.json", "sha1": sha1, "secrets": secrets}
        (plugin / "told.json").write_text(json.dumps({**told, "results": str(folder / "results")}))
        model_registry.location("caged-probe")
        yield {"folder": folder, "weights": str(folder / "brainio" / sha1 / "weights.json")}
        forget_model()


def make_stimuli(folder, count, prefix="image"):
    ids = [f"{prefix}{number}" for number in range(count)]
    made = StimulusSet({"stimulus_id": ids})
    made.identifier = f"Drawn2026-{prefix}"
    random = np.random.default_rng(0)
    for name in ids:
        Image.fromarray(random.integers(0, 256, (32, 32, 3), dtype=np.uint8)).save(folder / f"{name}.png")
    made.stimulus_paths = {name: folder / f"{name}.png" for name in ids}
    return made


@pytest.fixture
def benchmark(tmp_path):
    stimuli = make_stimuli(tmp_path, 4)

    class Drawn(BenchmarkBase):
        def __init__(self):
            super().__init__("Caged2026.V1-mean", ceiling_func=lambda: Score(1.0), version=1)

        def __call__(self, candidate):
            candidate.start_recording("V1", [(70, 170)])
            return ceil_score(Score(float(candidate.look_at(stimuli).mean()) / 1000), self.ceiling)

    benchmark_registry["Caged2026.V1-mean"] = functools.partial(Drawn)
    yield "Caged2026.V1-mean"
    del benchmark_registry["Caged2026.V1-mean"]


@pytest.fixture(scope="module")
def model(lab):
    limits = {"memory": 2_000_000_000, "processes": 100, "scratch": 50_000_000}
    with isolated_model("caged-probe", cage={"files": [lab["weights"]], **limits}) as model:
        yield model


def found_by(model, stimuli):
    return json.loads(model.look_at(stimuli).attrs["found"])


class TestWhatItSees:
    @pytest.mark.slow(reason="scores in the sandbox")
    def test_stimuli_only_while_they_are_shown(self, model, tmp_path):
        first, second = make_stimuli(tmp_path, 3), make_stimuli(tmp_path, 2, "secret-dog-")
        model.start_recording("V1", [(70, 170)])
        found = found_by(model, first)
        assert found["shown"] == 3
        found = found_by(model, second)
        assert found["shown"] == 2
        assert found["before"] == ["FileNotFoundError"] * 3
        assert not any("dog" in name for name in found["names"])
        assert all(name.endswith(".png") for name in found["names"])

    def test_stimuli_to_fit_stay_until_the_next_start(self, model, tmp_path):
        stimuli = make_stimuli(tmp_path, 4)
        model.start_task("passive", stimuli[:3])
        found = found_by(model, stimuli[2:])
        assert found["fitting"] == ["yes"] * 3
        assert found["shown"] == 5
        assert found_by(model, stimuli[2:])["fitting"] == ["yes"] * 3
        model.start_task("passive", stimuli[3:])
        assert found_by(model, stimuli[:1])["shown"] == 2
        model.start_recording("V1", [(70, 170)])
        assert found_by(model, stimuli[:1])["shown"] == 1
        assert all(path.is_file() for path in stimuli.stimulus_paths.values())

    def test_the_answer_is_the_models(self, model, tmp_path):
        stimuli = make_stimuli(tmp_path, 3)
        before = dict(stimuli.stimulus_paths)
        model.start_recording("V1", [(70, 170)])
        seen = model.look_at(stimuli)
        from brainscore_vision.model_helpers.images import load_grey

        expected = [2.0 * load_grey(stimuli.get_stimulus(name))[::8, ::8].ravel() for name in stimuli["stimulus_id"]]
        np.testing.assert_array_equal(seen.values, np.stack(expected))
        assert list(seen["stimulus_id"].values) == list(stimuli["stimulus_id"])
        assert stimuli.stimulus_paths == before

    def test_nothing_of_others(self, model, tmp_path):
        found = found_by(model, make_stimuli(tmp_path, 1))
        assert set(found["secrets"].values()) == {"FileNotFoundError"}
        assert found["beside"] == ["caged_probe"]
        assert found["forged"] != "yes"


@pytest.mark.slow(reason="scores in the sandbox")
def test_a_pair(lab, benchmark, tmp_path):
    store = ResultsStore(lab["folder"] / "results")
    cage = {"files": [lab["weights"]], "memory": 2_000_000_000, "scratch": 50_000_000}
    receipt = score_pair("caged-probe", benchmark, store=store, run=RunInfo(id="r"), cage=cage)
    assert receipt.state == "scored", receipt.reason
    assert receipt.score.value not in (0, 1)
    assert receipt.run.isolated
    assert SANDBOX_REMARK in receipt.notes
    assert len(list((lab["folder"] / "results").rglob("*.json"))) == 1, "what it printed and wrote is no receipt"
    assert "CAGED_PROBE_WAS_HERE" not in os.environ
    assert not any("caged_probe" in name for name in sys.modules)
    forget_model()


@pytest.mark.slow(reason="fills the memory of a sandbox")
def test_too_much_memory_is_the_pairs_failure(lab, benchmark, tmp_path):
    receipt = score_pair(
        "caged-probe", benchmark, store=ResultsStore(tmp_path), run=RunInfo(id="r"), cage={"memory": 60_000_000}
    )
    assert receipt.state == "failed"
    assert receipt.error.type == "SubjectOutOfMemory"
    assert "used more than 60.0 MB of memory" in receipt.reason


def test_without_a_sandbox_nothing_runs(lab, benchmark, tmp_path, monkeypatch):
    monkeypatch.setattr(cages.shutil, "which", lambda *args, **options: None)
    receipt = score_pair("caged-probe", benchmark, store=ResultsStore(tmp_path), run=RunInfo(id="r"), cage={})
    assert receipt.state == "failed"
    assert "bubblewrap is not installed" in receipt.reason
    score = ["score", "caged-probe", benchmark, "--sandbox"]
    run = ["run", "--models", "caged-probe", "--benchmarks", benchmark, "--cage"]  # the earlier name
    for command in (score, run):
        done = CliRunner().invoke(app, [*command, "--isolated", "--results", str(tmp_path / "cli")])
        assert done.exit_code != 0
        assert "bubblewrap is not installed" in str(done.exception) + done.output
        assert "apt install bubblewrap" in str(done.exception) + done.output
    assert not list((tmp_path / "cli").rglob("*.json"))


def test_options_that_are_none():
    with pytest.raises(UserError, match="a sandbox has no option 'network'"):
        isolated_model("pixels", cage={"network": True})


@pytest.mark.parametrize("line", ["./built", "-e ./built", "./built-1.0.tar.gz", "--no-binary :all:\nbuilt"])
def test_requirements_that_would_be_built_are_refused(line, lab, tmp_path, monkeypatch):
    """Building runs ``setup.py``, outside of the cage."""
    plugin = tmp_path / "plugins" / "models" / "builds"
    (plugin / "built").mkdir(parents=True)
    (plugin / "__init__.py").write_text(
        "from brainscore_vision import model_registry\nmodel_registry['builds'] = lambda: None\n"
    )
    marker = tmp_path / "it-ran"
    (plugin / "built" / "setup.py").write_text(
        f"open({str(marker)!r}, 'w').close()\nfrom setuptools import setup\nsetup(name='built', version='1.0')\n"
    )
    with tarfile.open(plugin / "built-1.0.tar.gz", "w:gz") as archive:
        archive.add(plugin / "built", "built-1.0")
    (plugin / "requirements.txt").write_text(f"--find-links .\n{line}\n")
    monkeypatch.setenv("BRAINSCORE_PLUGINS", str(tmp_path / "plugins"))
    monkeypatch.setenv("BRAINSCORE_ENVIRONMENTS", str(tmp_path / "environments"))
    monkeypatch.setenv("PIP_NO_INDEX", "1")
    with pytest.raises(UserError, match=r"(?i)built|wheels only"):
        environment_for(domain(), "builds")
    assert not marker.exists()
