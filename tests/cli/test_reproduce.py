"""``brainscore reproduce``, on the data of the mirror and on simulated ones."""

import csv
import json
import os
from pathlib import Path

import pytest

from brainscore_vision import reproduction
from brainscore_vision.reproduction import PUBLISHED_SCORES, PublishedScore, reproduce


@pytest.fixture
def pairs(monkeypatch):
    """Three pairs that need no network: one agrees, one differs, one cannot be scored."""
    chosen = (
        PublishedScore(model="simulated-truth", benchmark="Simulated2026.V1-rdm", value=1.0, tolerance=0.05),
        PublishedScore(model="pixels", benchmark="Simulated2026.V1-rdm", value=1.0, tolerance=0.001, quantity="raw"),
        PublishedScore(model="alexnet-recorded2019", benchmark="Simulated2026.V1-rdm", value=0.5, tolerance=0.1),
    )
    monkeypatch.setattr(reproduction, "PUBLISHED_SCORES", chosen)
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
    assert agrees[0] == "simulated-truth"
    assert agrees[6] == "within 0.05"
    assert differs[2:4] == ["raw", "1.0000"]
    assert differs[5].startswith("-0.")
    assert differs[6] == "exceeds 0.001"
    assert failed[4] == failed[5] == ""
    assert failed[6]
    assert summary == "1 of 2 scored pairs agree with the published value; 3 pairs in all."
    assert len(list(tmp_path.rglob("*.json"))) == 3


def test_choice_and_json(cli, pairs, tmp_path):
    done = cli("reproduce", "-m", "simulated-*", "--results", str(tmp_path), "--json")
    assert done.exit_code == 0
    [found] = json.loads(done.stdout)
    assert found["agrees"]
    assert found["difference"] == pytest.approx(found["value"] - 1)
    done = cli("reproduce", "-b", "nonesuch")
    assert done.exit_code == 2
    assert "no published pair matches" in done.stderr
