"""What version 0.1 wrote is read as it was: receipts, attachments, the database of a site; and its scores are ours."""

import json
import shutil
import sqlite3
import subprocess
import sys
import urllib.parse
from pathlib import Path

import pytest

HERE = Path(__file__).parent
GOLDEN = json.loads((HERE / "golden_scores.json").read_text(encoding="utf-8"))
"""Scores of the control benchmarks, computed by version 0.1: simulated data."""


@pytest.fixture
def store(tmp_path):
    from brainscore_core.scoring import ResultsStore

    shutil.copytree(HERE / "earlier_results", tmp_path / "results")
    return ResultsStore(tmp_path / "results")


def test_receipts(store):
    listing = store.listing()
    assert not listing.problems
    receipts = {(receipt.model.identifier, receipt.benchmark.identifier): receipt for receipt in listing.receipts}
    assert {pair: receipt.state for pair, receipt in receipts.items()} == {
        ("gabor", "Simulated2026.IT-rdm"): "scored",
        ("pixels", "Simulated2026.IT-rdm"): "scored",
        ("gabor", "Geirhos2021colour-error_consistency"): "not applicable",
        ("gabor", "Simulated2026.V1:ridge_split"): "failed",
    }
    for (model, benchmark), receipt in receipts.items():
        (path,) = (HERE / "earlier_results" / urllib.parse.quote(benchmark) / model).glob("*.json")
        written = json.loads(path.read_text(encoding="utf-8"))
        if receipt.state == "scored":
            assert receipt.score.value == GOLDEN[f"{model} {benchmark}"]["score"] == written["score"]["value"]
            influence = store.open_attachment(receipt, "influence")
            assert influence.sizes["presentation"] > 100
        now = receipt.to_dict()
        assert now["model"].pop("visual_angle") is None  # of earlier receipts: not recorded
        assert {key: now[key] for key in written if key != "schema_version"} == {
            key: value for key, value in written.items() if key != "schema_version"
        }


@pytest.mark.slow(reason="shows 800 images to a model and fits on its features")
def test_golden_scores():
    """No score and no ceiling changes: to the precision that differs between machines.

    Errors and intervals are estimated otherwise since.
    """
    import brainscore_vision

    for benchmark in ("Simulated2026.IT-rdm", "Simulated2026.V1-pls", "Simulated2026.V1:ridge"):
        receipt = brainscore_vision.run_pair("gabor", benchmark).receipt
        assert receipt.state == "scored", receipt.error
        golden = GOLDEN[f"gabor {benchmark}"]
        assert receipt.score.value == pytest.approx(golden["score"], rel=1e-6), benchmark
        if golden["ceiling"] is not None:
            assert receipt.ceiling.value == pytest.approx(golden["ceiling"], rel=1e-6), benchmark


TABLES = {"submissions_letter": "jobs_email", "operations_beat": "jobs_heartbeat"}
"""Tables of version 0.1 whose name changed."""
COLUMNS = {}
"""Columns of version 0.1, as table.column, whose name changed."""
MIGRATE = """
import os

os.environ["DJANGO_SETTINGS_MODULE"] = "brainscore_web.settings"

import django
from django.apps import apps
from django.core.management import call_command

django.setup()
call_command("migrate", verbosity=0)

for model in apps.get_models():
    print(model._meta.db_table, sum(1 for row in model._base_manager.all()))
"""


def _tables(path):
    with sqlite3.connect(path) as database:
        database.row_factory = sqlite3.Row
        names = [name for (name,) in database.execute("SELECT name FROM sqlite_master WHERE type = 'table'")]
        return {name: [dict(row) for row in database.execute(f'SELECT * FROM "{name}" ORDER BY 1')] for name in names}


@pytest.mark.slow(reason="migrates a database in a process of its own")
def test_a_database_keeps_every_value(tmp_path, monkeypatch):
    pytest.importorskip("django")
    path = tmp_path / "site.sqlite3"
    with sqlite3.connect(path) as database:
        database.executescript((HERE / "earlier_site.sql").read_text(encoding="utf-8"))
    before = _tables(path)
    monkeypatch.setenv("BRAINSCORE_SITE_HOME", str(tmp_path))
    monkeypatch.setenv("BRAINSCORE_SITE_SECRET", "only for tests, where nothing is worth signing")
    done = subprocess.run([sys.executable, "-c", MIGRATE], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    after = _tables(path)
    counts = {name: int(count) for name, count in map(str.split, done.stdout.splitlines())}
    ours = [name for name in before if name.split("_")[0] in ("accounts", "leaderboard", "competitions", "pages")]
    ours += [name for name in before if name.split("_")[0] in ("uploads", "submissions", "scoring", "operations")]
    assert len(ours) > 30
    for name in ours:
        new = TABLES.get(name, name)
        expected = [
            {COLUMNS.get(f"{name}.{column}", column): value for column, value in row.items()} for row in before[name]
        ]
        kept = [{column: row[column] for column in known} for row, known in zip(after[new], expected, strict=True)]
        assert kept == expected, name
        assert counts.get(new, len(expected)) == len(expected)
    for name, label, action in (("letter", "email", "view"), ("beat", "heartbeat", "delete")):
        (key,) = [row["id"] for row in before["django_content_type"] if row["model"] == name]
        (kind,) = [row for row in after["django_content_type"] if row["id"] == key]
        assert (kind["app_label"], kind["model"]) == ("jobs", label)
        (granted,) = [row["id"] for row in before["auth_permission"] if row["codename"] == f"{action}_{name}"]
        (permission,) = [row for row in after["auth_permission"] if row["id"] == granted]
        assert permission["codename"] == f"{action}_{label}"
        assert not [row for row in after["auth_permission"] if row["codename"].endswith(f"_{name}")]
