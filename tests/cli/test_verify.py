"""``brainscore verify``, and ``brainscore results diff`` of real receipts."""

import json
import os
import re
import runpy
import subprocess
from importlib import metadata
from pathlib import Path

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

from tests.optional import require_package

ROOT = Path(__file__).parents[2]

MODELS = """
from brainscore_vision import model_registry


class Able:
    value = 0.4


model_registry['lab-able'] = Able
"""

BENCHMARKS = """
from brainscore_core.benchmarks import BenchmarkBase, ceil_score
from brainscore_core.errors import DataUnavailable
from brainscore_core.metrics import Score, attach_uncertainty
from brainscore_vision import benchmark_registry


class Benchmark(BenchmarkBase):
    def __init__(self):
        super().__init__('Lab2026.IT-full', ceiling_func=lambda: 0.8, version=VERSION)

    def __call__(self, model):
        score = Score(model.value)
        attach_uncertainty(score, error=0.02, ci=(0.36, 0.44), estimates='the mean over stimuli', method='bootstrap')
        return ceil_score(score, self.ceiling)


benchmark_registry['Lab2026.IT-full'] = Benchmark
"""


@pytest.fixture
def plugins(lab):
    lab("models", "mine", MODELS)
    lab("benchmarks", "mine", BENCHMARKS.replace("VERSION", "1"))
    return lab


@pytest.fixture
def made(plugins, cli, tmp_path):
    """File of a receipt."""
    result = cli("score", "lab-able", "Lab2026.IT-full", "--results", str(tmp_path / "out"))
    assert result.exit_code == 0, result.output
    (path,) = (tmp_path / "out").rglob("*.json")
    return path


def change(path, **changes):
    """Pretend that a receipt says something else; returns the file."""
    receipt = json.loads(path.read_text())
    for key, value in changes.items():
        where = receipt
        *parts, last = key.split("__")
        for part in parts:
            where = where[part]
        where[last] = value
    path.write_text(json.dumps(receipt))
    return path


@pytest.mark.slow(reason="starts a process")
def test_the_same_in_another_process(made, shell, tmp_path):
    result = shell("verify", made.stem[:20], "--results", str(tmp_path / "out"))
    assert result.returncode == 0, result.stderr
    assert "Code of plugins, libraries, Python, platform and processor are as they were." in result.stdout
    assert "All numbers are the same." in result.stdout
    assert result.stdout.splitlines()[-1].split() == ["verdict", "same"]
    assert len(list((tmp_path / "out").rglob("*.json"))) == 1  # the new receipt was not kept


def test_another_library_is_foreseen_and_blamed(made, cli):
    change(made, environment__packages__numpy="1.99.0", score__value=0.6)
    result = cli("verify", str(made))
    assert result.exit_code == 1
    head, _, tail = result.stdout.partition("Scoring again")
    assert "numpy 1.99.0 →" in head
    assert "only one part differs, libraries (numpy 1.99.0 →" in tail
    assert "the difference is due to it" in tail


def test_stages_are_shown(made, cli, caplog):
    with caplog.at_level("INFO", "brainscore_core.progress"):
        assert cli("verify", str(made)).exit_code == 0
    first = [message for message in caplog.messages if message != "starting"][:2]
    assert first == [f"verifying {made.stem}", "lab-able on Lab2026.IT-full"]


def test_json(made, cli):
    found = json.loads(cli("verify", str(made), "--json").stdout)
    assert (found["verdict"], found["foreseen"], found["problem"]) == ("same", [], None)
    assert found["expected"]["id"] == made.stem
    assert found["found"]["score"] == found["expected"]["score"]
    assert found["difference"]["verdict"] == "same"


def test_within_tolerance(made, cli):
    change(made, score__value=0.5 + 1e-9)
    result = cli("verify", str(made))
    assert result.exit_code == 0
    assert "verdict  within tolerance" in result.stdout
    result = cli("verify", str(made), "--tolerance", "0", "--tolerance-errors", "0")
    assert result.exit_code == 1


def test_a_receipt_of_a_site(made, cli, db, live_server, client, monkeypatch, tmp_path):
    """The command on the page of a receipt."""
    from brainscore_web.leaderboard.models import Benchmark, Score, VisionModel

    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
    document = json.loads(made.read_text())
    model = VisionModel.objects.create(identifier="lab-able")
    benchmark = Benchmark.objects.create(identifier="Lab2026.IT-full", access="public")
    Score.objects.create(
        receipt=made.stem, model=model, benchmark=benchmark, state="scored", value=0.5, created=document["created"],
        document=document,
    )  # fmt: skip
    page = client.get(
        f"/vision/receipt/{made.stem}/", SERVER_NAME="localhost", SERVER_PORT=live_server.url.rpartition(":")[2]
    )
    command = re.search(r"<code>brainscore (verify [^<]*)</code>", page.content.decode())[1].split()
    result = cli(*command)
    assert result.exit_code == 0, result.output
    assert result.stdout.splitlines()[-1] == "verdict  same"
    missing = cli("verify", "20260114T093012415623Z-000000000000", *command[2:])
    assert missing.exit_code == 2
    assert "there is no receipt" in missing.stderr


def test_keep(made, cli, tmp_path):
    result = cli("verify", made.stem, "--results", str(tmp_path / "out"), "--keep")
    assert result.exit_code == 0, result.output
    (new,) = set((tmp_path / "out").rglob("*.json")) - {made}
    assert result.stdout.splitlines()[-1].split() == ["receipt", str(new)]
    diff = cli("results", "diff", made.stem, new.stem, "--results", str(tmp_path / "out"))
    assert diff.exit_code == 0, diff.output
    assert "All numbers are the same." in diff.stdout


@pytest.mark.slow(reason="in processes of its own")
def test_data_that_cannot_be_reached(made, plugins, shell):
    source = BENCHMARKS.replace("VERSION", "1").replace(
        "score = Score(",
        "raise DataUnavailable('the recordings are private', 'ask for access')\n        score = Score(",
    )
    plugins("benchmarks", "mine", source)
    result = shell("verify", str(made))
    assert result.returncode == 2
    assert "not verified: the recordings are private\nask for access" in result.stderr
    assert "Traceback (most" not in result.stdout
    assert result.stdout.splitlines()[-1].split() == ["verdict", "not", "verified"]


def test_a_plugin_that_is_missing(made, cli, monkeypatch, tmp_path):
    monkeypatch.setenv("BRAINSCORE_PLUGINS", str(tmp_path / "out"))
    result = cli("verify", str(made))
    assert result.exit_code == 2
    assert "The model 'lab-able' of this receipt is not registered here. Its code was in 'mine'." in result.stderr
    assert "BRAINSCORE_PLUGINS" in result.stderr


def test_a_model_from_a_file(plugins, cli, tmp_path):
    file = tmp_path / "mine.py"
    file.write_text(
        "class Subject:\n    value = 0.4\n    def look_at(self, stimuli): ...\n\n\ndef make():\n    return Subject()\n"
    )
    options = ("--identifier", "my-own", "--results", str(tmp_path / "out"))
    assert cli("score", f"{file}:make", "Lab2026.IT-full", *options).exit_code == 0
    (path,) = (tmp_path / "out").rglob("*.json")
    refused = cli("verify", str(path))
    assert refused.exit_code == 2
    assert "--model path/to/file.py:make_model" in refused.stderr
    assert cli("verify", str(path), "--model", f"{file}:make").exit_code == 0
    file.write_text(file.read_text().replace("0.4", "0.50"))  # of another size, as it may be the same second
    changed = cli("verify", str(path), "--model", f"{file}:make")
    assert changed.exit_code == 1
    assert "only one part differs, model code" in changed.stdout


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["20990101T000000"], "no receipt"),
        (["absent.json"], "cannot be read"),
        (["20990101T000000", "--tolerance", "-1"], "--tolerance"),
    ],
)
def test_mistakes(cli, tmp_path, arguments, message):
    result = cli("verify", *arguments, "--results", str(tmp_path))
    assert result.exit_code == 2
    assert message in result.stderr


STORING = """
from brainscore_core.provenance import note
from brainscore_core.paths import activations_home


def look():
    # as an extractor does: use what is stored, else store it
    stored = activations_home() / 'layer'
    note('cache', hit=stored.exists())
    stored.parent.mkdir(parents=True, exist_ok=True)
    stored.touch()
"""


def test_stored_activations_prove_nothing(cli, plugins, tmp_path, monkeypatch):
    monkeypatch.setenv("BRAINSCORE_ACTIVATIONS", str(tmp_path / "activations"))
    source = STORING + BENCHMARKS.replace("VERSION", "1").replace("score = Score(", "look()\n        score = Score(")
    plugins("benchmarks", "mine", source)
    results = str(tmp_path / "out")
    for _ in range(2):
        assert cli("score", "lab-able", "Lab2026.IT-full", "--results", results).exit_code == 0
    newest = json.loads(sorted((tmp_path / "out").rglob("*.json"))[-1].read_text())
    assert newest["cache"] == {"hits": 1, "misses": 0}
    found = json.loads(cli("verify", newest["id"], "--results", results, "--json").stdout)
    assert found["verdict"] == "same"
    assert found["found"]["cache"] == {"hits": 0, "misses": 1}
    assert [change["part"] for change in found["difference"]["changes"]] == ["stored activations"]
    stored = json.loads(cli("verify", newest["id"], "--results", results, "--stored-activations", "--json").stdout)
    assert stored["found"]["cache"] == {"hits": 1, "misses": 0}
    assert os.environ["BRAINSCORE_ACTIVATIONS"] == str(tmp_path / "activations")


BRAIN = """
from brainscore_vision import model_registry
from brainscore_vision.model_interface import BrainModel


class Brain(BrainModel):
    identifier = 'lab-brain'

    def visual_degrees(self):
        return 8

    def look_at(self, stimuli, number_of_trials=1, **options): ...

    def start_task(self, task, fitting_stimuli=None): ...

    def start_recording(self, recording_target, time_bins): ...


model_registry['lab-brain'] = Brain
"""


@pytest.mark.slow(reason="in processes of its own")
def test_a_model_in_a_process_of_its_own(cli, lab, tmp_path):
    lab("models", "brain", BRAIN)
    source = BENCHMARKS.replace("VERSION", "1").replace("model.value", "model.visual_degrees() / 20")
    lab("benchmarks", "mine", source)
    results = ("--results", str(tmp_path / "out"))
    scored = cli("score", "lab-brain", "Lab2026.IT-full", "--isolated", "--json", *results)
    receipt = json.loads(scored.stdout)
    assert receipt["run"]["isolated"]
    again = json.loads(cli("verify", receipt["id"], "--json", *results).stdout)
    assert (again["verdict"], again["found"]["run"]["isolated"], again["difference"]["changes"]) == ("same", True, [])
    here = json.loads(cli("verify", receipt["id"], "--json", "--in-process", *results).stdout)
    assert (here["verdict"], here["found"]["run"]) == ("same", None)
    assert "isolated yes → no" in here["difference"]["explanation"]


@pytest.fixture
def fresh(tmp_path):
    """Interpreter of an environment that has the wheel of this project and what it declares: no extras."""
    require_package("hatchling", "building the wheel needs hatchling: pip install 'brainscore[test]'")
    script = ROOT / "perf" / "journeys.py"
    if not script.is_file():
        pytest.skip("perf/ is not part of a source distribution")
    python = runpy.run_path(str(script))["install_wheel"](tmp_path / "fresh")
    (others,) = python.parents[1].rglob("third_party.pth")
    others.unlink()
    for distribution in declared(others.parent):
        for name in {file.parts[0] for file in distribution.files} - {"..", "__pycache__"}:
            if not (others.parent / name).exists():
                (others.parent / name).symlink_to(distribution.locate_file(name))
    return python


def declared(packages):
    """Installed distributions that the project in a folder requires, and those that these require."""
    (project,) = metadata.distributions(name="brainscore", path=[str(packages)])
    found, waiting = {}, [(text, "") for text in project.requires]
    while waiting:
        text, extra = waiting.pop()
        requirement = Requirement(text)
        if requirement.marker is not None and not requirement.marker.evaluate({"extra": extra}):
            continue
        for chosen in ("", *requirement.extras):
            key = (canonicalize_name(requirement.name), chosen)
            if key not in found:
                found[key] = metadata.distribution(requirement.name)
                waiting += [(each, chosen) for each in found[key].requires or ()]
    return {name: distribution for (name, _), distribution in found.items()}.values()


@pytest.mark.slow(reason="scores twice in processes")
def test_a_receipt_verifies_in_a_fresh_environment(cli, fresh, tmp_path):
    """Scored here, verified with an interpreter that sees nothing but this project and what it declares."""
    result = cli("score", "gabor", "Simulated2026.V1-rdm", "--results", str(tmp_path / "out"), "--json")
    assert result.exit_code == 0, result.output
    (receipt,) = (tmp_path / "out").rglob("*.json")
    clean = {key: value for key, value in os.environ.items() if not key.startswith(("BRAINSCORE_", "PYTHON"))}
    clean |= {"BRAINSCORE_HOME": str(tmp_path / "home"), "BRAINIO_HOME": str(tmp_path / "data")}

    def run(*arguments):
        done = subprocess.run([fresh, *arguments], capture_output=True, text=True, env=clean, cwd=tmp_path)
        assert done.returncode == 0, done.stdout + done.stderr
        return done.stdout

    found = json.loads(run("-m", "brainscore", "verify", receipt, "--json"))
    assert found["verdict"] in {"same", "within tolerance"}
    assert found["found"]["files"] == found["expected"]["files"]
    assert found["found"]["model"]["plugin"]["sha256"] == found["expected"]["model"]["plugin"]["sha256"]
    where = "import brainscore, importlib.util; print(importlib.util.find_spec('torch'), brainscore.__file__)"
    torch, _, file = run("-c", where).strip().partition(" ")
    assert torch == "None"
    assert Path(file).is_relative_to(fresh.parents[1])
