"""Report, command line, site, API and client show the same results in the same order."""

import json

import pytest
from click.testing import CliRunner
from django.contrib.auth.models import AnonymousUser

from brainscore.cli.results import command
from brainscore.client.leaderboard import leaderboard_of
from brainscore.report import report_of
from brainscore_core.results.tree import BenchmarkTable
from brainscore_core.scoring import ResultsStore
from brainscore_web.leaderboard.board import board_for
from brainscore_web.leaderboard.ingest import ingest_store
from brainscore_web.leaderboard.models import Benchmark, BenchmarkVersion
from brainscore_web.leaderboard.snapshot import snapshot_for
from brainscore_web.leaderboard.state import BoardState
from tests.core.results.board_cases import CASES, receipts_of, small_tree


@pytest.fixture
def tree(db, monkeypatch):
    """The small tree, in the database and in place of that of the package."""
    tree, rows = small_tree(), {}
    monkeypatch.setattr(BenchmarkTable, "tree", lambda table, further=(): tree)
    for at, name in enumerate(tree):
        node = tree[name]
        rows[name] = Benchmark.objects.create(
            identifier=name, parent=rows.get(node.parent), is_mean=not node.benchmark, order=at,
            version="1" if node.benchmark else "",
        )  # fmt: skip
        if node.benchmark:
            BenchmarkVersion.objects.create(benchmark=rows[name], version="1", since="2026-01-01T00:00Z")
    return tree


@pytest.mark.parametrize("case", CASES)
def test_all_surfaces_show_one_order(tree, client, tmp_path, case):
    scores, expected = CASES[case]
    store = ResultsStore(tmp_path)
    receipts = [store.write(receipt) for receipt in receipts_of(scores)]
    report = report_of(receipts).board
    no_ranks = all(rank is None for _, rank in expected)
    assert [(model, None if no_ranks else report.ranks["all"][model].rank) for model in report.models] == expected
    answer = CliRunner().invoke(command, ["tree", "--results", str(tmp_path), "--json"], catch_exceptions=False)
    assert [(model["model"], model["rank"]) for model in json.loads(answer.stdout)["models"]] == expected
    assert ingest_store(tmp_path).added == len(receipts)
    site = board_for(snapshot_for(AnonymousUser()), BoardState(unscored=True))
    assert [(model.identifier, rank or None) for model, rank in zip(site.models, site.rank, strict=True)] == expected
    answer = client.get("/api/v1/leaderboard?unscored=1").json()
    assert [(model["identifier"], model["rank"]) for model in answer["models"]] == expected
    assert [(model.identifier, model.rank) for model in leaderboard_of([answer]).models] == expected
