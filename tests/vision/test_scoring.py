"""What a worker does with a pair: reuse of the model, what is printed, failures."""

import os
import signal
import subprocess
import sys
import textwrap
import time

import pytest

import brainscore_vision
from brainscore_core.domains import domain
from brainscore_core.errors import UserError
from brainscore_core.receipts.receipt import ScoreAtAngle, VisualAngle
from brainscore_core.runner import scoring
from brainscore_core.runner.scoring import ScoredModel, forget_model, score_pair
from brainscore_core.scoring import ResultsStore, RunInfo
from brainscore_vision.scoring.pairs import run_pair

VISION = domain("vision")
RUN = RunInfo(id="20260101T000000-test")

MODELS = """
import os
from pathlib import Path

from brainscore_core.provenance import note
from brainscore_vision import model_registry


class Counted:
    def __init__(self, identifier):
        print(f'loading {identifier}')
        note('file', url=f'file:///weights/{identifier}.pt', sha256='0' * 64)
        note('cache', hit=True, layer='of the loading')
        with Path(os.environ['LOADED']).open('a') as file:
            file.write(identifier + ' ')
        self.value = 0.5


class Whole(Counted):
    identifier = 'counted-whole'

    def visual_degrees(self):
        return 4

    def start_task(self, task, fitting_stimuli=None): ...

    def start_recording(self, recording_target, time_bins=None): ...

    def look_at(self, stimuli, number_of_trials=1): ...


model_registry['counted-whole'] = lambda: Whole('counted-whole')
model_registry['counted-a'] = lambda: Counted('counted-a')
model_registry['counted-b'] = lambda: Counted('counted-b')
"""

BENCHMARKS = """
import os
import subprocess
import time

from brainscore_core.errors import NotApplicable
from brainscore_core.metrics import Score, declare_no_error
from brainscore_vision import benchmark_registry


class Benchmark:
    version = 1
    parent = None
    bibtex = None
    ceiling = None

    def __init__(self, identifier, answer):
        self.identifier, self.answer = identifier, answer

    def __call__(self, model):
        print('scoring', self.identifier)
        return declare_no_error(Score(self.answer(model)), 'there is one stimulus')


def _child(model):
    subprocess.run(['echo', 'from a child'], check=True)
    os.write(2, b'from native code\\n')
    return model.value


def _degrees(model):
    return model.visual_degrees() / 10


def _broken(model):
    print('right before it breaks')
    raise RuntimeError('no electricity')


def _unable(model):
    raise NotApplicable('it has no IT')


def _waits(model):
    open(os.environ['WAITING'], 'w').close()
    time.sleep(60)


for _name in ('first', 'second', 'child', 'degrees', 'broken', 'unable', 'waits'):
    benchmark_registry[f'Lab2026.{_name}-x'] = lambda name=_name: Benchmark(
        f'Lab2026.{name}-x', globals().get(f'_{name}') or (lambda model: model.value)
    )
"""


@pytest.fixture(autouse=True)
def lab(tmp_path, monkeypatch):
    for kind, source in (("models", MODELS), ("benchmarks", BENCHMARKS)):
        folder = tmp_path / "lab" / kind / "scorer_lab"
        folder.mkdir(parents=True)
        (folder / "__init__.py").write_text(source)
    monkeypatch.setenv("BRAINSCORE_PLUGINS", str(tmp_path / "lab"))
    monkeypatch.setenv("LOADED", str(tmp_path / "loaded"))
    forget_model()
    yield
    forget_model()
    monkeypatch.delenv("BRAINSCORE_PLUGINS")
    brainscore_vision.plugin_index.refresh()


@pytest.fixture
def store(tmp_path):
    return ResultsStore(tmp_path / "results")


def loaded(tmp_path):
    return (tmp_path / "loaded").read_text().split()


def score(store, model, name, **options):
    return score_pair(model, f"Lab2026.{name}-x", store=store, run=RUN, **options)


def log_of(store, receipt):
    return store.attachment_path(receipt, "log").read_text()


def test_a_receipt_has_the_scores_at_other_angles_on_demand(store):
    plain, receipt = (
        run_pair("counted-whole", "Lab2026.degrees-x", results=store, other_angles=requested).receipt
        for requested in (False, True)
    )
    assert plain.score == receipt.score
    assert (plain.model.visual_angle, plain.notes) == (VisualAngle(degrees=4, stated=True), receipt.notes)
    others = (ScoreAtAngle(degrees=2, value=0.2), ScoreAtAngle(degrees=8, value=0.8))
    assert receipt.model.visual_angle == VisualAngle(degrees=4, stated=True, others=others)
    assert store.load(receipt.id) == receipt


def test_a_model_is_loaded_once_and_what_was_noted_then_is_in_every_receipt(tmp_path, store):
    receipts = [score(store, "counted-a", name) for name in ("first", "second", "unable")]
    assert loaded(tmp_path) == ["counted-a"]
    assert [receipt.state for receipt in receipts] == ["scored", "scored", "not applicable"]
    assert {receipt.files for receipt in receipts} == {receipts[0].files}
    assert receipts[0].files[0].url == "file:counted-a.pt"
    # what concerns the time of the loading does not stand for the others
    assert [receipt.cache.hits for receipt in receipts] == [1, 0, 0]
    assert [receipt.run for receipt in receipts] == [RUN] * 3
    assert all(store.latest("counted-a", receipt.benchmark.identifier) == receipt for receipt in receipts)


def test_stages_are_shown(caplog):
    with caplog.at_level("INFO", "brainscore_core.progress"):
        brainscore_vision.run_pair("counted-a", "Lab2026.first-x")
    steps = ["loading the benchmark", "loading the model", "estimating the ceiling", "scoring"]
    assert caplog.messages == ["counted-a on Lab2026.first-x", *steps]


def test_another_model_takes_its_place(tmp_path, store):
    for model in ("counted-a", "counted-b", "counted-b", "counted-a"):
        score(store, model, "first")
    assert loaded(tmp_path) == ["counted-a", "counted-b", "counted-a"]
    assert len(scoring._cached_model) == 1


def test_after_a_failure_the_model_is_loaded_anew(tmp_path, store):
    states = [score(store, "counted-a", name).state for name in ("first", "broken", "second")]
    assert states == ["scored", "failed", "scored"]
    assert loaded(tmp_path) == ["counted-a", "counted-a"]


def test_a_failure_is_recorded_with_what_was_printed(store):
    receipt = score(store, "counted-a", "broken")
    assert receipt.state == "failed"
    assert receipt.reason == "RuntimeError: no electricity"
    assert "_broken" in receipt.error.traceback
    assert log_of(store, receipt).splitlines() == [
        "loading counted-a",
        "scoring Lab2026.broken-x",
        "right before it breaks",
    ]


@pytest.mark.slow(reason="starts processes")
def test_what_other_processes_print_is_kept_and_not_shown(store, capfd):
    receipt = score(store, "counted-a", "child")
    assert log_of(store, receipt).splitlines()[-2:] == ["from a child", "from native code"]
    assert capfd.readouterr() == ("", "")


@pytest.mark.parametrize(
    ("model", "benchmark", "reason"),
    [
        ("counted-c", "Lab2026.first-x", "There is no model 'counted-c'"),
        ("counted-a", "Lab2026.third-x", "There is no benchmark 'Lab2026.third-x'"),
        ("counted-a", "Lab2026.IT:nothing", "There is no metric 'nothing'"),
    ],
)
def test_what_this_worker_does_not_know_is_a_failed_pair(store, model, benchmark, reason):
    receipt = score_pair(model, benchmark, store=store, run=RUN)
    assert receipt.state == "failed"
    assert reason in receipt.reason


def test_a_model_of_a_file_has_the_name_it_was_given(tmp_path, store):
    file = tmp_path / "net.py"
    file.write_text(
        "class Subject:\n    value = 0.25\n    def look_at(self, stimuli): ...\n\n\ndef make():\n    return Subject()\n"
    )
    receipts = [score(store, "net:make", name, files={"net:make": f"{file}:make"}) for name in ("first", "second")]
    assert [receipt.score.value for receipt in receipts] == [0.25, 0.25]
    assert {receipt.model.identifier for receipt in receipts} == {"net:make"}
    assert receipts[0].model.plugin.sha256
    assert receipts[0].model.plugin == receipts[1].model.plugin


@pytest.mark.slow(reason="starts the process of a model")
def test_an_isolated_model_stays_for_the_next_pair(tmp_path, store):
    first, second = (score(store, "counted-whole", "degrees", isolated=True) for _ in range(2))
    assert [(one.state, one.score.value) for one in (first, second)] == [("scored", 0.4)] * 2, first.error
    assert first.run.isolated
    assert first.run == second.run
    assert first.run.id == RUN.id
    assert loaded(tmp_path) == ["counted-whole"]
    assert "loading counted-whole" in log_of(store, first)
    process = next(iter(scoring._cached_model.values()))._model.process
    forget_model()
    assert not process.running
    failed = score(store, "counted-none", "degrees", isolated=True)
    assert (failed.state, failed.reason[:40]) == ("failed", "UnknownIdentifier: There is no model 'co")


@pytest.mark.slow(reason="starts the process of a model")
def test_an_isolated_model_whose_process_died_is_started_anew(tmp_path, store):
    first = score(store, "counted-whole", "degrees", isolated=True)
    held = next(iter(scoring._cached_model.values()))
    assert held.alive
    process = held._model.process
    os.kill(process.pid, signal.SIGKILL)
    while process.running:
        time.sleep(0.01)
    assert not held.alive
    second = score(store, "counted-whole", "degrees", isolated=True)
    assert [one.state for one in (first, second)] == ["scored"] * 2, second.error
    assert loaded(tmp_path) == ["counted-whole"] * 2


def test_a_terminated_pair_leaves_nothing_half_written(tmp_path):
    code = """
        from brainscore_core.scoring import ResultsStore, RunInfo
        from brainscore_core.runner.scoring import score_pair
        import sys
        score_pair("counted-a", "Lab2026.waits-x", store=ResultsStore(sys.argv[1]), run=RunInfo(id="x"))
    """
    waiting = tmp_path / "waiting"
    process = subprocess.Popen(
        [sys.executable, "-c", textwrap.dedent(code), str(tmp_path / "results")],
        env={**os.environ, "WAITING": str(waiting)},
        stderr=subprocess.PIPE,
        text=True,
    )
    while not waiting.exists():
        assert process.poll() is None, process.stderr.read()
        time.sleep(0.01)
    process.send_signal(signal.SIGTERM)
    _, errors = process.communicate(timeout=600)
    assert process.returncode == 128 + signal.SIGTERM
    assert errors == ""
    assert [path for path in (tmp_path / "results").rglob("*") if path.is_file()] == []


def test_a_model_without_one_plugin_folder_has_no_code_in_its_receipt(monkeypatch):
    def refuse(domain, kind, identifier):
        raise UserError("two plugins register it", remedy="remove one")

    assert ScoredModel(VISION, "pixels").code().name == "pixels"
    monkeypatch.setattr(type(VISION), "folder", refuse)
    assert ScoredModel(VISION, "pixels").code() is None


def test_the_three_kinds_of_models(tmp_path):
    (tmp_path / "mine.py").write_text("def means(images):\n    return [image.mean() for image in images]\n")
    reference = f"{tmp_path}/mine.py:means"
    with ScoredModel(VISION, "pixels") as registered, ScoredModel(VISION, reference, identifier="mine") as from_file:
        registered.check()
        assert (registered.name, from_file.name) == ("pixels", "mine")
        assert from_file.code() == tmp_path / "mine.py"  # known before the file is imported
    with pytest.raises(UserError, match="which takes no options"):
        ScoredModel(VISION, "pixels", how={"layers": ["a"]}).check()
    with pytest.raises(UserError, match="cannot move into another process"):
        ScoredModel(VISION, lambda images: images, isolated=True).check()
