"""Scoring processes that are forked from a template: what they share, and that they are as separate as started ones."""

import os
import signal
import sys
import time
from pathlib import Path

import pytest

from brainscore_core.receipts.output import unnamed_file
from brainscore_core.runner import ClusterOptions
from brainscore_core.runner import template as template_module
from brainscore_core.runner.child import Scored
from brainscore_core.runner.cluster import starting_early
from brainscore_core.runner.process import Death, ScoringProcess, scoring_environment
from brainscore_core.runner.template import Template, TemplateEnded, borrow_template, end_idle_templates, start_template

psutil = pytest.importorskip("psutil")
pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="templates need Linux")

SCORER = """
import os, sys, tempfile, threading, time
from pathlib import Path
from types import SimpleNamespace
from brainscore_core.plugins.source import plugin_hash

kept, opened, imported = {}, [], bytearray(b"x") * 40_000_000
if "THREAD" in os.environ:
    threading.Thread(target=time.sleep, args=(60,), daemon=True).start()

def keep_benchmark(benchmark, *, folder):
    if benchmark == "absent":
        raise LookupError("no such benchmark")
    if benchmark == "hang":
        time.sleep(60)
    if benchmark == "die":
        os.abort()
    if benchmark == "slow":
        time.sleep(0.3)
    if benchmark == "thread":
        threading.Thread(target=time.sleep, args=(60,), daemon=True).start()
    if benchmark == "gpu":  # as if its files were devices
        from brainscore_core.runner import process_tree
        process_tree._GPU_FILES = (folder,)
        opened.append(open(Path(folder, "version")))
    kept[benchmark] = bytearray(os.urandom(1_000_000) * (90 if benchmark == "large" else 1))
    return {str(Path(folder, "version")): plugin_hash(Path(folder, "version"))}

def forget_benchmark(benchmark):
    kept.pop(benchmark, None)

def score(model, benchmark, *, store, run, isolated, folder):
    if benchmark == "crash":
        os.abort()
    if benchmark == "eat":
        eaten = bytearray(os.urandom(1_000_000) * 600)
        time.sleep(30)
    if benchmark == "change":
        sys.path.append("changed")
        kept.clear()
    if benchmark == "import":
        import brainscore_core.archives
    if benchmark == "write":
        Path(tempfile.mkdtemp(), "written").touch()
        Path(folder, "place").write_text(tempfile.gettempdir())
    print("printed by", model)
    reason = f"{os.getpid()} {os.getppid()} {sorted(kept)} {'changed' in sys.path}"
    timings = SimpleNamespace(load_model=None, extraction=None)
    return SimpleNamespace(id="r", state="scored", score=None, reason=reason, timings=timings)
"""


@pytest.fixture
def borrow(tmp_path, monkeypatch):
    """``borrow(*benchmarks)`` is a template that keeps them, or None."""
    (tmp_path / "template_scorer.py").write_text(SCORER)
    (tmp_path / "version").write_text("1")
    monkeypatch.setattr(sys, "path", [*sys.path, str(tmp_path)])
    settings = {
        "scorer": "template_scorer:score",
        "store": str(tmp_path / "results"),
        "run": "r",
        "isolated": False,
        "options": {"folder": str(tmp_path)},
    }
    environment = {**os.environ, "OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1", "FOLDER": str(tmp_path)}

    def lend(*benchmarks, limit=800_000_000, timeout=60, stopped=lambda: False, variables=None, **options):
        how = {"environment": environment | (variables or {}), "limit": limit}
        return borrow_template(settings, benchmarks, **how, timeout=timeout, stopped=stopped, **options)

    lend.start = lambda *benchmarks, **options: start_template(
        settings, benchmarks, environment=environment, limit=800_000_000, timeout=60, **options
    )
    lend.process = lambda template, limit=800_000_000: ScoringProcess(
        settings, environment=environment, limit=limit, template=template
    )
    yield lend
    end_idle_templates()


def scored(process, benchmark, model="m"):
    """Process, its parent, kept benchmarks, whether another model changed it."""
    answer = process.score(model, benchmark, timeout=60, stopped=lambda: False)
    assert isinstance(answer, Scored), answer
    pid, parent, rest = answer.reason.split(" ", 2)
    return int(pid), int(parent), rest


def until(condition, seconds=20):
    end = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < end
        time.sleep(0.01)


def test_models_share_what_is_kept_and_nothing_else(borrow, tmp_path):
    template = borrow("a", "b", "absent")
    first = borrow.process(template)
    pid, parent, rest = scored(first, "change")
    assert (parent, rest) == (first._process.parent, "[] True")
    scored(first, "write")
    scratch = Path((tmp_path / "place").read_text())
    assert scratch.exists()
    first.finish()
    assert not scratch.exists()
    until(lambda: not psutil.pid_exists(pid))
    assert borrow("b", "a") is template
    second = borrow.process(template)
    assert scored(second, "a") == (second.pid, second._process.parent, "['a', 'b'] False")
    second.finish()


def test_only_modules_that_a_model_has_imported_are_reported(borrow, monkeypatch):
    learned = []
    monkeypatch.setattr(Template, "learn", lambda template, modules: learned.append(modules))
    process = borrow.process(borrow("a"))
    scored(process, "a")
    scored(process, "import")
    scored(process, "a")
    assert "brainscore_core.archives" in learned[1]
    assert not {"brainscore_core.runner.pair"}.intersection(*learned)
    assert learned[2] == []
    process.finish()


def test_benchmarks_are_loaded_while_the_first_is_scored(borrow):
    borrow.start("a")
    template = borrow("a", "slow", "absent", "b", patience=0.0)
    first = borrow.process(template)
    assert "a" in first.benchmarks
    assert "b" not in first.benchmarks
    assert scored(first, "a")[1] == first._process.parent
    until(lambda: template.kept == {"a", "slow", "b"})
    assert [template.may_keep(benchmark) for benchmark in ("a", "absent", "never requested")] == [True, False, True]
    assert borrow("slow", "b") is template
    second = borrow.process(template)
    assert second.benchmarks == {"a", "slow", "b"}
    assert scored(second, "b")[1:] == (second._process.parent, "['a', 'b', 'slow'] False")
    assert scored(first, "b")[2] == "['a'] False"  # both run
    first.finish()
    until(lambda: not psutil.pid_exists(first._process.parent))  # its id is free, too
    second.finish()


def test_a_process_waits_for_more_only_as_long_as_it_may(borrow):
    template = borrow("a", "slow", patience=0.0)
    assert template.kept == {"a"}
    assert not template.wait_for_any(["slow"], 0.05, stopped=lambda: False)
    assert template.wait_for_any(["slow", "a"], 0.0, stopped=lambda: False)
    assert borrow("a", "slow", patience=20.0).kept == {"a", "slow"}
    template.give_back()
    template.give_back()


def test_a_template_that_started_early_is_that_of_the_run_or_ends(borrow):
    scorer, cluster = "template_scorer:score", ClusterOptions(memory=800_000_000)
    with starting_early(scorer, cluster, ["colorsys"]):
        (early,) = template_module._templates.values()
        settings = {"scorer": scorer, "options": {}}
        environment = scoring_environment(1, 800_000_000)
        how = {"environment": environment, "limit": 800_000_000, "timeout": 60, "stopped": lambda: False}
        assert borrow_template(settings, [], **how) is early
        assert "colorsys" in early._imported
        early.give_back()
    assert not early.running


def zombie(pid):
    return psutil.Process(pid).status() == psutil.STATUS_ZOMBIE


@pytest.mark.parametrize("how", ["crash", "eat"])
def test_a_process_that_dies_leaves_the_template(borrow, how):
    template = borrow("a")
    process = borrow.process(template, limit=500_000_000)
    death = process.score("m", how, timeout=60, stopped=lambda: False)
    assert isinstance(death, Death)
    assert death.kind == {"crash": "crash", "eat": "memory"}[how]
    assert template.running
    assert borrow("a") is template
    template.give_back()


def test_a_template_process_that_dies_takes_along_what_it_forked(borrow):
    process = borrow.process(borrow("a"))
    pid, parent, _ = scored(process, "a")
    os.kill(parent, signal.SIGKILL)
    until(process._has_ended)
    death = process.score("m", "a", timeout=60, stopped=lambda: False)
    assert (death.kind, death.message) == ("crash", "died with signal 9 (SIGKILL)")
    assert not psutil.pid_exists(pid) or zombie(pid)


def test_changed_code_is_not_used(borrow, tmp_path):
    template = borrow("a")
    template.give_back()
    (tmp_path / "version").write_text("2")
    another = borrow("a")
    assert another is not template
    assert not template.running
    another.give_back()


@pytest.mark.parametrize(("benchmark", "timeout"), [("die", 60), ("hang", 1)])
def test_a_benchmark_that_ends_its_process_affects_no_other(borrow, benchmark, timeout):
    template = borrow("a", benchmark, "b", patience=0.0, timeout=timeout)
    process = borrow.process(template)
    until(lambda: template.kept == {"a", "b"})
    assert not template.may_keep(benchmark)
    assert scored(process, "a")[1] == process._process.parent
    assert borrow("a", benchmark, timeout=timeout) is template  # with what it has
    another = borrow.process(template)
    assert scored(another, "b")[2] == "['a', 'b'] False"
    for one in (process, another):
        one.finish()


def test_changed_code_leaves_processes_that_run(borrow, tmp_path):
    template = borrow("a")
    process = borrow.process(template)
    (tmp_path / "version").write_text("2")
    another = borrow("a")
    assert another is not template
    assert scored(process, "a")[1] == process._process.parent
    process.finish()
    assert not template.running
    another.give_back()


def test_a_template_with_threads_does_not_fork(borrow):
    process = borrow.process(borrow("thread"))  # from what it was before
    assert scored(process, "a") == (process.pid, process._process.parent, "[] False")
    process.finish()
    assert borrow("a", variables={"THREAD": "1"}) is None
    process = borrow.process(None)
    assert scored(process, "a")[1:] == (os.getpid(), "[] False")
    process.finish()


def test_a_template_that_uses_a_gpu_does_not_fork(borrow):
    template = borrow("gpu")
    assert not template.may_keep("gpu")
    process = borrow.process(template)  # from what it was before
    assert scored(process, "a") == (process.pid, process._process.parent, "[] False")
    process.finish()


def test_a_run_that_stops_ends_the_template_and_prevents_no_later_one(borrow):
    assert borrow("hang", stopped=lambda: True) is None
    template = borrow("a")
    assert template is not None
    template.give_back()


def test_kept_benchmarks_take_a_quarter_of_the_memory(borrow):
    template = borrow("a", "large", "b", limit=340_000_000)
    assert template.kept == {"a", "b"}
    template.give_back()
    more = borrow("large", limit=4_000_000_000)
    assert more.kept == {"large"}
    more.give_back()


def test_idle_templates_end(borrow, monkeypatch):
    monkeypatch.setattr(template_module, "_IDLE_SECONDS", -0.9)
    template = borrow("a")
    template.give_back()
    end = time.monotonic() + 10
    while template.running and time.monotonic() < end:
        time.sleep(0.02)
    assert not template.running
    with pytest.raises(TemplateEnded):
        template.prepare(["a"], options={}, timeout=None, stopped=lambda: False)
    with unnamed_file() as file:
        assert template.fork(file) is None


def test_the_output_is_that_of_the_pair(borrow):
    process = borrow.process(borrow("a"))
    scored(process, "a", model="mine")
    assert "printed by mine" in process._printed_text()
    process.finish()


def test_a_template_that_cannot_start(monkeypatch, tmp_path):
    monkeypatch.setattr(template_module, "SCRIPT", tmp_path / "missing.py")
    template = Template("a:b", environment=dict(os.environ), limit=None)
    with pytest.raises(TemplateEnded):
        template.prepare(["a"], options={}, timeout=None, stopped=lambda: False)
