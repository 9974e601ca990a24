import pytest
from hypothesis import given
from hypothesis import strategies as st

from brainscore_core.errors import UserError
from brainscore_core.results.aggregates import Tree, TreeError, TreeNode


def node(identifier, parent=None, **fields):
    return TreeNode(identifier=identifier, parent=parent, **fields)


NODES = [
    node("B.IT-pls", "IT", benchmark=True),
    node("average"),
    node("engineering", order=2),
    node("IT", "neural", order=3),
    node("A.V1-pls", "V1", benchmark=True),
    node("V1", "neural", order=0),
    node("neural", "average", order=0),
    node("A.IT-pls", "IT", benchmark=True),
    node("top1", "engineering", benchmark=True),
]
DEPTH_FIRST = ["engineering", "top1", "average", "neural", "V1", "A.V1-pls", "IT", "A.IT-pls", "B.IT-pls"]


@given(st.permutations(NODES))
def test_order_is_by_number_then_name_whatever_the_order_given(nodes):
    tree = Tree(nodes)
    assert list(tree) == DEPTH_FIRST
    assert tree.roots == ("engineering", "average")
    assert tree.benchmarks == ("top1", "A.V1-pls", "A.IT-pls", "B.IT-pls")
    assert tree.children("neural") == ("V1", "IT")
    assert tree.ancestors("B.IT-pls") == ("IT", "neural", "average")
    assert tree.ancestors("average") == tree.children("top1") == ()
    assert len(tree) == len(NODES)


@pytest.mark.parametrize(
    ("nodes", "message"),
    [
        ([node("a"), node("a")], "'a' is in the tree twice"),
        ([node("a", "b")], "the parent 'b' of 'a' is not in the tree"),
        ([node("a", "a")], "cycle: a → a"),
        ([node("r"), node("a", "b"), node("b", "c"), node("c", "a")], "cycle: a → b → c → a"),
        ([node("x", "a"), node("a", "b"), node("b", "a")], "cycle: a → b → a"),
        ([node("r"), node("b", "r", benchmark=True), node("c", "b")], "the parent 'b' of 'c' is a benchmark"),
        ([node("b", benchmark=True)], "the benchmark 'b' has no parent"),
    ],
)
def test_what_is_no_tree_is_refused_with_the_culprit(nodes, message):
    with pytest.raises(TreeError, match=message) as raised:
        Tree(nodes)
    assert isinstance(raised.value, UserError)
    assert raised.value.remedy


def test_unknown_nodes_are_named():
    tree = Tree(NODES)
    assert "IT" in tree
    assert "V9" not in tree
    for ask in (tree.__getitem__, tree.children, tree.ancestors):
        with pytest.raises(TreeError, match="'V9' is not in the tree"):
            ask("V9")


def test_extended_leaves_the_tree_as_it_was():
    tree = Tree(NODES)
    more = tree.extended([node("C.V1-pls", "V1", benchmark=True, version=2)])
    assert more.children("V1") == ("A.V1-pls", "C.V1-pls")
    assert list(tree) == DEPTH_FIRST
    with pytest.raises(TreeError, match="twice"):
        tree.extended([node("V1", "average")])


def test_a_long_chain():
    names = [f"n{i:04d}" for i in range(3000)]
    tree = Tree(node(name, parent) for name, parent in zip(names, [None, *names[:-1]], strict=True))
    assert list(tree) == names


def test_pruned_keeps_some_benchmarks_and_what_is_above_them():
    tree = Tree([*NODES, node("V9", "neural")])
    some = tree.pruned(["B.IT-pls", "top1"])
    assert list(some) == ["engineering", "top1", "average", "neural", "IT", "B.IT-pls"]
    assert some["IT"] == tree["IT"]
    assert list(tree.pruned(tree.benchmarks)) == DEPTH_FIRST
    assert list(tree.pruned([])) == []
    with pytest.raises(TreeError, match="'V8' is not in the tree"):
        tree.pruned(["V8"])
    with pytest.raises(TreeError, match="'IT' is not a benchmark"):
        tree.pruned(["IT"])
