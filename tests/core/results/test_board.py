import pytest

from brainscore_core.results.aggregates import results_of
from brainscore_core.results.board import Node, newest_of_each, nodes_of, open_at_first, rank_models
from tests.core.results.board_cases import CASES, receipts_of, small_tree


@pytest.mark.parametrize("case", CASES)
def test_order_and_ranks(case):
    scores, expected = CASES[case]
    receipts = receipts_of(scores)
    for results in (results_of(receipts), results_of(receipts[::-1])):
        ranked = rank_models(small_tree(), results)
        assert [(model.model, ranked.standings[model.model].rank) for model in ranked.models] == expected


def test_an_empty_board():
    assert rank_models(small_tree(), []).models == ()


def test_the_newest_receipt_of_each_pair():
    old, new, other = receipts_of([("a", "A-pls", 0.1), ("a", "A-pls", 0.2), ("b", "A-pls", 0.3)])
    assert newest_of_each([new, old, other]) == {("a", "A-pls"): new, ("b", "A-pls"): other}


def headed(n, mean=True):
    """A mean of a mean of 20 benchmarks, and a heading of `n` benchmarks."""
    nodes = [Node("root", "root", -1, 0, "mean", 20), Node("V1", "V1", 0, 1, "mean", 20)] if mean else []
    nodes += [Node(f"a{number}", "", 1, 2, "benchmark", 1) for number in range(20 if mean else 0)]
    heading = Node("heading", "heading", -1, 0, "heading", n)
    return [*nodes, heading, *(Node(f"b{number}", "", len(nodes), 1, "benchmark", 1) for number in range(n))]


def test_nodes_open_at_first():
    assert open_at_first(headed(6)) == {"root", "heading"}
    assert open_at_first(headed(7)) == {"root"}
    assert open_at_first(headed(20, mean=False)) == {"heading"}
    nodes = headed(1)
    few = [node.kind != "benchmark" or node.identifier in ("a0", "b0") for node in nodes]
    assert open_at_first(nodes, few) == {"root", "V1", "heading"}


def test_nodes_stand_below_their_parents():
    nodes = nodes_of(small_tree(), {"Own2026-pls": False})
    assert [(node.identifier, node.depth, node.n_benchmarks) for node in nodes if node.kind != "benchmark"] == [
        ("average_vision", 0, 5), ("IT", 1, 2), ("V1", 1, 3), ("engineering_vision", 0, 1),
        ("Not in the averages", 0, 1),
    ]  # fmt: skip
    assert all(node.parent < at for at, node in enumerate(nodes))
