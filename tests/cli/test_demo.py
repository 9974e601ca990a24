import json
import os
import sys

import pytest
from click.testing import CliRunner

import brainscore.demo as demo
from brainscore.cli.demo import command
from brainscore.demo import Demo, Pair, PairResult, plan_demo, run_demo, score_pair
from brainscore_core.benchmarks import BenchmarkBase
from brainscore_core.domains import domain
from brainscore_core.errors import DataUnavailable
from brainscore_core.metrics import Score, attach_uncertainty
from brainscore_core.scoring import ResultsStore, run_pair

PAIRS = (Pair("good", "Fake2026-pls"), Pair("good", "Far2026-rdm"), Pair("good", "Broken2026-pls"))


class Fake(BenchmarkBase):
    def __call__(self, candidate):
        return attach_uncertainty(Score(0.5), error=0.1, reason="too few subjects for an interval")


def fake_run_pair(model, benchmark, *, results):
    def load_benchmark(identifier):
        if identifier.startswith("Far"):
            raise DataUnavailable("no network", "connect the machine")
        if identifier.startswith("Broken"):
            raise ValueError("boom")
        return Fake(identifier, lambda: 1.0, version=1)

    if model == "unfindable":
        raise NameError("a plugin is broken")
    return run_pair(
        model, benchmark, load_model=lambda identifier: None, load_benchmark=load_benchmark, results=results
    )


def run_in_process(pair, folder):
    """Stands for score_pair in a process of its own."""
    if pair.benchmark.startswith("Far"):
        return PairResult(unreachable="no network")
    return PairResult(fake_run_pair(pair.model, pair.benchmark, results=ResultsStore(folder)).receipt)


@pytest.fixture
def fakes(monkeypatch):
    def run_pair_of_vision(of, *names, **how):
        assert of.name == "vision"
        return fake_run_pair(*names, **how)

    monkeypatch.setattr("brainscore_core.runner.scoring.run_pair", run_pair_of_vision)


def test_each_kind_of_result(fakes, tmp_path):
    told = []
    result = run_demo(tmp_path, pairs=PAIRS, after=lambda pair, outcome: told.append(pair))
    assert told == list(PAIRS)
    assert [receipt.benchmark.identifier for receipt in result.receipts] == ["Fake2026-pls", "Broken2026-pls"]
    assert result.skipped == {"Far2026-rdm": "no network\nconnect the machine"}
    assert result.failed == {PAIRS[2]: "ValueError: boom"}
    assert [receipt.state for receipt in result.receipts] == ["scored", "failed"]


def test_an_error_without_a_receipt_is_told_and_no_older_receipt_stands_in(fakes, tmp_path):
    pair = Pair("unfindable", "Broken2026-pls")
    with pytest.raises(ValueError, match="boom"):
        fake_run_pair("other", "Broken2026-pls", results=tmp_path)
    (tmp_path / "Broken2026-pls" / "other").rename(tmp_path / "Broken2026-pls" / "unfindable")
    assert score_pair(pair, tmp_path) == PairResult(error="NameError: a plugin is broken")
    assert run_demo(tmp_path, pairs=[pair]).failed == {pair: "NameError: a plugin is broken"}


@pytest.mark.slow(reason="scores in several processes")
def test_several_processes_give_the_same(tmp_path, monkeypatch):
    monkeypatch.setenv("OMP_NUM_THREADS", "7")
    monkeypatch.delenv("MKL_NUM_THREADS", raising=False)
    result = run_demo(tmp_path, pairs=PAIRS[:2], jobs=2, run=run_in_process)
    assert [receipt.score.value for receipt in result.receipts] == [0.5]
    assert result.skipped == {"Far2026-rdm": "no network"}
    assert os.environ["OMP_NUM_THREADS"] == "7"
    assert "MKL_NUM_THREADS" not in os.environ


def test_the_demo_names_what_is_registered():
    import brainscore_vision

    for pair in plan_demo(with_network=True, with_real_data=True).pairs:
        assert pair.model in brainscore_vision.model_registry
        assert pair.benchmark in brainscore_vision.benchmark_registry


@pytest.mark.parametrize("installed", [True, False])
def test_what_is_left_out_is_named(installed, monkeypatch):
    def offline(identifier):
        raise DataUnavailable(f"{identifier}: no network", remedy="connect the machine")

    monkeypatch.setitem(domain().loaders, "data", offline)
    monkeypatch.setattr(demo, "find_spec", lambda name: object() if installed else None)
    pairs, left_out = plan_demo()
    assert {pair.benchmark.partition(".")[0] for pair in pairs} == {"Simulated2026"}
    assert any(pair.model == "efficientnet-lite0" for pair in pairs) == installed
    assert ("brainscore[examples]" in left_out[0]) != installed
    assert left_out[-1].endswith("(Kriegeskorte2008.IT-monkey: no network; connect the machine)")


def run(monkeypatch, tmp_path, pairs, *arguments):
    monkeypatch.setattr(demo, "plan_demo", lambda: Demo(pairs, ("a trained network (it is not installed)",)))
    return CliRunner().invoke(command, ["--output", str(tmp_path / "out"), "--jobs", "1", *arguments])


def test_the_command(fakes, monkeypatch, tmp_path):
    monkeypatch.setitem(sys.modules, "matplotlib", None)  # it is not installed with the package
    result = run(monkeypatch, tmp_path, PAIRS[:2])
    assert result.exit_code == 0, result.output
    assert result.stdout.startswith("Scoring 2 pairs of model and benchmark. Left out: a trained network (it is not")
    assert "0.500 (standard error 0.100)" in result.stdout
    assert "Skipped, because the data cannot be reached: Far2026-rdm" in result.stdout
    assert "connect the machine" in result.stdout
    assert (tmp_path / "out" / "report.html").is_file()
    assert (tmp_path / "out" / "scores.svg").is_file()
    assert list((tmp_path / "out" / "results").rglob("*.json"))


def test_a_failure_ends_with_an_exit_code(fakes, monkeypatch, tmp_path):
    result = run(monkeypatch, tmp_path, PAIRS, "--json")
    assert result.exit_code == 1
    told = json.loads(result.stdout)
    assert told["failed"] == [{"model": "good", "benchmark": "Broken2026-pls", "error": "ValueError: boom"}]
    assert list(told["skipped"]) == ["Far2026-rdm"]


def test_a_folder_that_cannot_be_written_is_refused_at_once(fakes, monkeypatch, tmp_path):
    (tmp_path / "file").write_text("")
    monkeypatch.setattr(demo, "plan_demo", lambda: pytest.fail("it was planned"))
    result = CliRunner().invoke(command, ["--output", str(tmp_path / "file" / "out")])
    assert result.exit_code != 0
    assert "file" in str(result.exception)


@pytest.mark.slow(reason="scores three models")
def test_a_real_pair(tmp_path):
    outcome = score_pair(Pair("gabor", "Simulated2026.V1-rdm"), tmp_path)
    assert outcome.receipt.state == "scored"
    assert outcome.receipt.benchmark.control
    assert 0 < outcome.receipt.score.value < 1
