"""``brainscore reproduce``, on the data of the mirror and on simulated ones."""

import csv
import json
import os
from pathlib import Path

import pytest

from brainscore_core.runner import reproduction
from brainscore_core.runner.reproduction import PublishedScore, reproduce
from brainscore_language import catalogue as published_scores
from brainscore_vision.scoring import pairs as vision_scores
from brainscore_vision.scoring.pairs import PUBLISHED_SCORES

LAB = """
from brainscore_core.metrics import Score, declare_no_error
from brainscore_vision import benchmark_registry, model_registry


class Model:
    value = 0.4


class Broken:
    @property
    def value(self):
        raise RuntimeError('the weights are torn')


class Benchmark:
    identifier = 'Lab2026.twice-x'
    parent = None
    bibtex = None
    ceiling = None
    version = 1

    def __call__(self, model):
        score = Score(2 * model.value)
        score.attrs['raw'] = Score(model.value)
        return declare_no_error(score, 'there is one stimulus')


model_registry['lab-able'] = Model
model_registry['lab-good'] = Model
model_registry['lab-broken'] = Broken
benchmark_registry['Lab2026.twice-x'] = Benchmark
"""


@pytest.fixture
def pairs(lab, monkeypatch):
    """Three pairs that need no network: one agrees, one differs, one cannot be scored."""
    lab("benchmarks", "reproduced", LAB)
    chosen = (
        PublishedScore(model="lab-good", benchmark="Lab2026.twice-x", value=0.81, tolerance=0.05),
        PublishedScore(model="lab-able", benchmark="Lab2026.twice-x", value=1.0, tolerance=0.001, quantity="raw"),
        PublishedScore(model="lab-broken", benchmark="Lab2026.twice-x", value=0.5, tolerance=0.1),
    )
    monkeypatch.setattr(vision_scores, "PUBLISHED_SCORES", chosen)
    monkeypatch.setattr(published_scores, "PUBLISHED_SCORES", ())
    return chosen


def test_values_are_the_published_ones():
    folder = os.environ.get("BRAINSCORE_FACTS")
    if not folder:
        pytest.skip("needs the tables of what is published: set BRAINSCORE_FACTS to their folder")
    with (Path(folder) / "benchmarks.csv").open(newline="", encoding="utf-8") as file:
        published = {
            (row["registry_key"], value.get("model"), value.get("quantity"), value["value"], value.get("abs"))
            for row in csv.DictReader(file)
            for value in json.loads(row["published_values"] or "[]")
            if value["kind"] == "score" and "features" not in value
        }
    assert len(PUBLISHED_SCORES) == 10
    for score in PUBLISHED_SCORES:
        assert (score.benchmark, score.model, score.quantity, score.value, score.tolerance) in published


def test_published_decisions_on_published_trials():
    """Error consistency of recorded networks with people, of which Geirhos et al. publish both."""
    if not os.environ.get("BRAINSCORE_MIRROR"):
        pytest.skip("needs the published trials: set BRAINSCORE_MIRROR to a mirror that has them")
    edge = "Geirhos2021edge-error_consistency"
    scores = [
        PublishedScore(model=f"{name}-recorded2019", benchmark=edge, value=value, tolerance=1e-4, quantity="raw")
        for name, value in (("alexnet", 0.1104), ("vgg16", 0.0710))
    ]
    assert [found.agrees for found in reproduce(scores)] == [True, True]


def test_table(cli, pairs, tmp_path):
    done = cli("reproduce", "--results", str(tmp_path))
    assert done.exit_code == 1
    header, *rows, summary = done.stdout.splitlines()
    assert header.split("\t")[:4] == ["model", "benchmark", "score", "published"]
    agrees, differs, failed = (row.split("\t") for row in rows)
    assert agrees[0] == "lab-good"
    assert agrees[6] == "within 0.05"
    assert differs[2:4] == ["raw", "1.0000"]
    assert differs[5] == "-0.6000"
    assert differs[6] == "exceeds 0.001"
    assert failed[4] == failed[5] == ""
    assert "the weights are torn" in failed[6]
    assert summary == "2 of 3 pairs could be scored; 1 within the published tolerance."
    assert len(list(tmp_path.rglob("*.json"))) == 3


def test_a_pair_is_announced_before_it_is_scored(cli, pairs, tmp_path, monkeypatch):
    def reproduce(scores, *, results):
        raise KeyboardInterrupt

    monkeypatch.setattr(reproduction, "reproduce", reproduce)
    done = cli("reproduce", "--results", str(tmp_path))
    assert done.stderr.split("\n")[0] == "[1/3] lab-good × Lab2026.twice-x …"


def test_choice_and_json(cli, pairs, tmp_path):
    done = cli("reproduce", "-m", "*-good", "--results", str(tmp_path), "--json")
    assert done.exit_code == 0
    [found] = json.loads(done.stdout)
    assert found["agrees"]
    assert found["difference"] == pytest.approx(0.8 - 0.81)
    done = cli("reproduce", "-b", "nonesuch")
    assert done.exit_code == 2
    assert "no published pair matches" in done.stderr
