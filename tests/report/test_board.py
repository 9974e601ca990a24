import tempfile
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from brainscore.report import report_of
from brainscore.report._board import board_of, coverage_text
from brainscore_core.numerics.influence import ScoreInfluence, unit_influence
from brainscore_core.results.aggregates import Coverage, aggregate, results_of
from brainscore_core.scoring import BenchmarkInfo, Estimate


def at(board, identifier):
    return next(place for place, node in enumerate(board.nodes) if node.identifier == identifier)


def test_means_are_those_of_the_one_function(simulated):
    receipts = simulated.many()
    from brainscore_vision.catalogue import leaderboard_tree

    tree = leaderboard_tree()
    board = board_of(receipts, tree)
    for over in ("all", "scored"):
        for made in aggregate(tree, results_of(receipts), over=over):
            for place, node in enumerate(board.nodes):
                if node.kind == "mean":
                    mean, expected = board.means[over][made.model][place], made[node.identifier]
                    enough = 2 * expected.coverage.n_scored >= expected.coverage.n_all
                    error = expected.error if enough else None  # too few scores have no interval
                    assert (mean.value, mean.error, mean.coverage) == (expected.value, error, expected.coverage)
                elif node.identifier in made:
                    state = made[node.identifier].state
                    assert board.states.get((made.model, node.identifier), "missing") == state


def test_the_best_come_first_and_those_without_a_mean_last(simulated):
    receipts = [
        simulated.receipt("low", value=0.1),
        simulated.receipt("high", value=0.9),
        simulated.receipt("outside", "Elsewhere2026-pls", 0.99),
        simulated.failed("broken"),
    ]
    board = board_of(receipts, simulated.small_tree())
    assert board.models == ("high", "low", "outside", "broken")


def test_the_order_follows_the_kind_of_mean(simulated):
    receipts = [
        *(simulated.receipt("narrow", name, 0.6) for name in ("A2026.IT-pls", "D2026.IT-rdm")),
        *(simulated.receipt("broad", name, 0.5) for name in ("A2026.IT-pls", "D2026.IT-rdm", "B2026.V1-pls")),
    ]
    assert board_of(receipts, simulated.small_tree(), over="all").models == ("broad", "narrow")
    assert board_of(receipts, simulated.small_tree(), over="scored").models == ("narrow", "broad")
    receipts.append(simulated.receipt("few", "A2026.IT-pls", 0.99))
    board = board_of(receipts, simulated.small_tree(), over="scored")
    assert board.models == ("narrow", "broad", "few")
    assert [board.rank(row, over) for over in ("scored", "all") for row in range(3)] == ["1", "2", "–", "2", "1", "–"]


def test_ranges_of_ranks_are_those_of_tests_on_what_both_have(simulated):
    """Three models, of which one lacks a score; one is much better than both others."""
    rng = np.random.default_rng(0)
    names, receipts, influences = ("A2026.IT-pls", "D2026.IT-rdm", "B2026.V1-pls", "C2026.V1-rdm"), [], {}
    for model, value, n in (("best", 0.8, 4), ("whole", 0.31, 4), ("part", 0.3, 3)):
        for name in names[:n]:
            receipt = simulated.receipt(model, name, value + 0.001 * rng.standard_normal())
            units = unit_influence("stimuli", name.split(".")[0], range(40), 0.002 * rng.standard_normal(40))
            receipts.append(receipt)
            influences[receipt.id] = ScoreInfluence(receipt.score.value, (units,))
    board = board_of(receipts, simulated.small_tree(), influences=influences)
    assert board.models == ("best", "whole", "part")
    assert [board.rank(row, "all") for row in range(3)] == ["1", "2 (2–3)", "3 (2–3)"]
    assert [board.rank(row, "scored") for row in range(3)] == ["1", "2", "3"]  # a model could lack what it is bad at
    assert board.tested
    assert not board_of(receipts, simulated.small_tree()).tested


def test_the_receipt_of_the_present_version_counts(simulated):
    now = simulated.receipt("a", value=0.4)
    old = BenchmarkInfo(identifier="A2026.IT-pls", version=2)
    outdated = replace(now, id="", benchmark=old, created="2026-02-02T00:00:00.000000Z").identified()
    board = board_of([now, outdated], simulated.small_tree())
    assert board.receipts["a", "A2026.IT-pls"] == now
    assert board.states["a", "A2026.IT-pls"] == "scored"
    board = board_of([outdated], simulated.small_tree())
    assert board.states["a", "A2026.IT-pls"] == "outdated"
    assert board.means["all"]["a"][at(board, "IT")].value is None


def test_only_what_has_a_receipt_is_shown(simulated):
    board = board_of([simulated.receipt("a")], simulated.small_tree())
    assert [node.identifier for node in board.nodes] == ["average_vision", "neural_vision", "IT", "A2026.IT-pls"]
    assert (board.nodes[0].n_all, board.nodes[0].n_shown) == (4, 1)
    assert board.nodes[3].parent == 2


def test_own_benchmarks_stand_below_their_parent_and_change_no_mean(simulated):
    few = [simulated.receipt("a"), simulated.receipt("b", value=0.1)]
    before = board_of(few, simulated.small_tree())
    own = simulated.receipt("a", "Own2026.V1-pls", 0.7)
    own = replace(own, benchmark=replace(own.benchmark, parent="V1"), id="").identified()
    board = board_of([*few, own], simulated.small_tree())
    node = board.nodes[at(board, "Own2026.V1-pls")]
    assert node.title == "Own2026.V1-pls (not averaged)"
    assert board.nodes[node.parent].identifier == "V1"
    assert at(board, "Own2026.V1-pls") in board.first_columns
    for model in ("a", "b"):
        for each in before.nodes:
            if each.kind == "mean":
                now = board.means["all"][model][at(board, each.identifier)]
                assert now == before.means["all"][model][at(before, each.identifier)]
        assert board.means["all"][model][node.parent].value is None  # nothing of V1 itself was scored
    assert board.states["a", "Own2026.V1-pls"] == "scored"
    assert "belong to other plugins" in page_of([*few, own], simulated)


def page_of(receipts, simulated):
    from brainscore.report._page import write_report

    folder = Path(tempfile.mkdtemp())
    write_report(report_of(receipts, tree=simulated.small_tree()), folder / "report.html")
    return (folder / "report.html").read_text()


def report_tree():
    from brainscore_vision.catalogue import leaderboard_tree

    return leaderboard_tree()


def test_one_model_and_only_controls(simulated):
    report = report_of([simulated.receipt("a", "Control2026-pls", control=True)])
    assert [node.title for node in report.board.nodes] == ["Controls", "Control2026-pls"]
    assert report.board.models == ("a",)


def test_adding_a_model_changes_no_other(simulated):
    receipts = simulated.many()
    few = [receipt for receipt in receipts if receipt.model.identifier != "simulated-vgg16"]
    all_, without = board_of(receipts, report_tree()), board_of(few, report_tree())
    place, place_ = at(all_, "average_vision"), at(without, "average_vision")
    for model in without.models:
        assert all_.means["all"][model][place] == without.means["all"][model][place_]
    assert [model for model in all_.models if model in without.models] == list(without.models)


@pytest.mark.parametrize(
    ("coverage", "text"),
    [
        (Coverage(n_all=2, n_scored=2), "2 of 2 scored"),
        (
            Coverage(n_all=5, n_undefined=1, n_not_applicable=1, n_outdated=3),
            "0 of 5 scored; 1 NaN, 1 not applicable, 3 outdated",
        ),
    ],
)
def test_coverage(coverage, text):
    assert coverage_text(coverage) == text


def test_a_score_that_is_no_number_is_no_score(simulated):
    receipt = simulated.receipt("a", "Outside2026-rdm", score=Estimate(value=None))
    board = board_of([receipt], simulated.small_tree())
    assert board.states["a", "Outside2026-rdm"] == "undefined"
