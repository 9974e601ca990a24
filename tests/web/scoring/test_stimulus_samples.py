"""Which benchmarks the worker stores samples of, one at a time."""

import sys
from typing import ClassVar

import pytest

from brainscore_web.leaderboard.models import Benchmark, StimulusSample, VisionModel
from brainscore_web.scoring import stimulus_samples
from brainscore_web.scoring.models import Job


class Process:
    """A process that runs until it is told to end."""

    commands: ClassVar[list[list[str]]] = []

    def __init__(self, command, **_):
        self.commands.append(command)
        self.code = None

    def poll(self):
        return self.code

    def kill(self):
        self.code = -9

    terminate = kill


@pytest.fixture
def processes(monkeypatch):
    monkeypatch.setattr(Process, "commands", [])
    monkeypatch.setattr(stimulus_samples.subprocess, "Popen", Process)
    monkeypatch.setattr(stimulus_samples, "_tried", set())
    monkeypatch.setattr(stimulus_samples, "_process", None)
    return Process.commands


@pytest.fixture
def scored(db):
    """Jobs that were scored on public, withheld and submitted benchmarks."""
    model = VisionModel.objects.create(identifier="pixels")
    for name, access, state in (
        ("Simulated2026.V1-pls", "public", "scored"),
        ("Simulated2026.IT-pls", "public", "scored"),
        ("Simulated2026.V4-pls", "public", "failed"),
        ("Simulated2026.IT-rdm", "private", "scored"),
        ("Submitted2026.IT-pls", "public", "scored"),
    ):
        row = Benchmark.objects.create(identifier=name, access=access)
        Job.objects.create(model=model, benchmark=row, state=state, why="new model")
    return model


def test_public_installed_scored_benchmarks_without_samples(scored):
    assert stimulus_samples.benchmarks_without_samples() == ["Simulated2026.IT-pls", "Simulated2026.V1-pls"]
    StimulusSample.objects.create(benchmark=Benchmark.objects.get(identifier="Simulated2026.IT-pls"), place=0)
    assert stimulus_samples.benchmarks_without_samples() == ["Simulated2026.V1-pls"]


def test_one_process_at_a_time_and_each_benchmark_once(scored, processes, monkeypatch):
    assert [stimulus_samples.store_samples() for _ in range(2)] == [1, 0]
    assert processes == [[sys.executable, "-m", "brainscore_web", "sample_stimuli", "--", "Simulated2026.IT-pls"]]
    monkeypatch.setattr(stimulus_samples, "_LIMIT_SECONDS", -1)
    assert stimulus_samples.store_samples() == 0  # ends the first process, which took too long
    assert stimulus_samples.store_samples() == 1
    stimulus_samples._process.kill()  # ended
    assert stimulus_samples.store_samples() == 0
    assert [command[-1] for command in processes] == ["Simulated2026.IT-pls", "Simulated2026.V1-pls"]


def test_operators_can_turn_it_off(scored, processes, settings):
    settings.STIMULUS_SAMPLES = False
    assert stimulus_samples.store_samples() == 0
    assert processes == []
