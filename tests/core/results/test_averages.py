import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from brainscore_core.errors import UserError
from brainscore_core.numerics.influence import ScoreInfluence, unit_influence
from brainscore_core.results.aggregates import LeafResult, Tree, TreeNode, aggregate, averages

NAMES = ("a", "b", "c", "d", "e")


@st.composite
def trees(draw):
    """Up to three levels of nodes, some of them without any benchmark."""
    nodes = [TreeNode(identifier=f"n{number}", parent=parent) for number, parent in enumerate(
        [None, *(draw(st.sampled_from([None, *(f"n{above}" for above in range(number))])) for number in range(1, 5))]
    )]  # fmt: skip
    count = draw(st.integers(0, len(NAMES)))
    leaves = [
        TreeNode(identifier=name, parent=draw(st.sampled_from([node.identifier for node in nodes])), benchmark=True)
        for name in NAMES[:count]
    ]
    return Tree([*nodes, *leaves])


def reference(tree, scores, errors, over, influences=None):
    """Value and error of each node of one model, by recursion and Python's exact sums.

    Influences of units are arrays, one number for each unit that all benchmarks share; None if not known.
    """
    made = {}
    influences = [None] * len(tree.benchmarks) if influences is None else influences

    def visit(identifier):
        if tree[identifier].benchmark:
            at = tree.benchmarks.index(identifier)
            value = scores[at] if math.isfinite(scores[at]) else None
            error = errors[at] if value is not None and math.isfinite(errors[at]) else None
            effect = None if value is None else influences[at]
            made[identifier] = value, error, value is not None and effect is None, 1, int(value is not None), effect
            return made[identifier]
        parts = [part for part in map(visit, tree.children(identifier)) if part is not None]
        if not parts:
            return None
        values = [part[0] for part in parts if part[0] is not None]
        n = len(parts) if over == "all" else len(values)
        unsure = any(part[2] for part in parts)
        value = math.fsum(values) / n if values else None
        n_scored = sum(part[4] for part in parts)
        effect = None if unsure else sum(0 if part[5] is None else part[5] / max(n, 1) for part in parts)
        error = None
        if n_scored == 1:
            (error,) = (part[1] for part in parts if part[0] is not None)
            error = None if error is None else error / n
        elif n_scored and not unsure:
            error = math.sqrt(math.fsum(effect**2))
        made[identifier] = value, error, unsure, sum(part[3] for part in parts), n_scored, effect
        return made[identifier]

    for root in tree.roots:
        visit(root)
    return made


def nan(value):
    return math.nan if value is None else value


numbers = st.one_of(st.floats(-1, 2, width=32), st.sampled_from([math.nan, math.nan, math.inf, 0.0]))
some_errors = st.one_of(st.floats(0, 1, width=32), st.sampled_from([math.nan, math.inf]))


def draw_effects(data):
    effects = data.draw(st.one_of(st.none(), st.lists(st.floats(-1, 1, width=32), min_size=4, max_size=4)))
    return None if effects is None else np.array(effects)


def influence(effects):
    return (
        None if effects is None else ScoreInfluence(0.5, (unit_influence("stimuli", "A2026", list("wxyz"), effects),))
    )


@given(trees(), st.data(), st.sampled_from(["all", "scored"]))
def test_means_are_those_of_the_definition(tree, data, over):
    size = len(tree.benchmarks)
    models = data.draw(st.integers(0, 3))
    scores = [data.draw(st.lists(numbers, min_size=size, max_size=size)) for _ in range(models)]
    errors = [data.draw(st.lists(some_errors, min_size=size, max_size=size)) for _ in range(models)]
    effects = [[draw_effects(data) for _ in range(size)] for _ in range(models)]
    made = averages(
        tree,
        np.reshape(scores, (models, size)),
        np.reshape(errors, (models, size)),
        influences=[[influence(effect) for effect in of_model] for of_model in effects],
        over=over,
    )
    for number in range(models):
        expected = reference(tree, scores[number], errors[number], over, effects[number])
        assert list(made.nodes) == [identifier for identifier in tree if identifier in expected]
        parts = [expected[identifier] for identifier in made.nodes]
        np.testing.assert_array_equal(made.values[number], [nan(part[0]) for part in parts])
        np.testing.assert_allclose(made.errors[number], [nan(part[1]) for part in parts], rtol=1e-9, atol=1e-9)
        assert made.n_all.tolist() == [part[3] for part in parts]
        assert made.n_scored[number].tolist() == [part[4] for part in parts]


def many(models=40, seed=0):
    rng = np.random.default_rng(seed)
    regions = [TreeNode(identifier=f"r{number}", parent="all") for number in range(6)]
    leaves = [
        TreeNode(identifier=f"b{number:02d}", parent=f"r{number % 5}", benchmark=True, version=1)
        for number in range(60)
    ]
    tree = Tree([TreeNode(identifier="all"), *regions, *leaves])
    values, errors = rng.uniform(-0.2, 1, (models, 60)), rng.uniform(0, 0.1, (models, 60))
    values[rng.random(values.shape) < 0.3] = np.nan
    errors[rng.random(errors.shape) < 0.002] = np.nan
    return tree, values, errors


@pytest.mark.parametrize("over", ["all", "scored"])
def test_sums_are_exact_to_the_bit_as_those_of_python(over):
    tree, values, errors = many()
    made = averages(tree, values, errors, over=over)
    for number in range(len(values)):
        expected = reference(tree, values[number], errors[number], over)
        np.testing.assert_array_equal(made.values[number], [nan(expected[name][0]) for name in made.nodes])


@pytest.mark.parametrize("over", ["all", "scored"])
def test_the_objects_hold_the_same(over):
    tree, values, errors = many(5)
    results = [
        LeafResult(model=f"m{model}", benchmark=name, state="scored", score=score, error=error, version=1)
        for model in range(5)
        for name, score, error in zip(tree.benchmarks, values[model].tolist(), errors[model].tolist(), strict=True)
    ]
    made = averages(tree, values, errors, over=over)
    for number, model in enumerate(aggregate(tree, results, over=over)):
        assert tuple(model) == made.nodes
        np.testing.assert_array_equal([nan(node.value) for node in model.values()], made.values[number])
        np.testing.assert_array_equal([nan(node.error) for node in model.values()], made.errors[number])
        assert [node.coverage.n_all for node in model.values()] == made.n_all.tolist()
        assert [node.coverage.n_scored for node in model.values()] == made.n_scored[number].tolist()


def test_a_model_alone_has_the_same_row_to_the_bit():
    tree, values, errors = many()
    made = averages(tree, values, errors)
    for number in (0, 7, 39):
        alone = averages(tree, values[number : number + 1], errors[number : number + 1])
        np.testing.assert_array_equal(alone.values[0], made.values[number])
        np.testing.assert_array_equal(alone.errors[0], made.errors[number])


def test_over_some_of_the_benchmarks():
    tree, values, errors = many()
    chosen = [number for number, name in enumerate(tree.benchmarks) if number % 3 and tree[name].parent != "r2"]
    some = tree.pruned(tree.benchmarks[number] for number in chosen)
    assert some.benchmarks == tuple(tree.benchmarks[number] for number in chosen)
    made = averages(some, values[:, chosen], errors[:, chosen], over="scored")
    assert "r2" not in made.nodes
    assert made.n_all[0] == len(chosen)
    hidden = values.copy()
    hidden[:, np.setdiff1d(np.arange(60), chosen)] = np.nan
    whole = averages(tree, hidden, errors, over="scored")
    places = [whole.nodes.index(node) for node in made.nodes]
    np.testing.assert_array_equal(made.values, whole.values[:, places])
    np.testing.assert_array_equal(made.errors, whole.errors[:, places])


def test_the_inputs_stay_as_they_are():
    tree, values, errors = many()
    before = values.copy(), errors.copy()
    averages(tree, values, errors)
    np.testing.assert_array_equal(values, before[0])
    np.testing.assert_array_equal(errors, before[1])


@pytest.mark.parametrize(
    ("values", "errors", "match"),
    [
        (np.zeros((2, 59)), np.zeros((2, 60)), r"values has the shape \(2, 59\); it must be models × 60"),
        (np.zeros((2, 60)), np.zeros(60), r"errors has the shape \(60,\)"),
        (np.zeros((2, 60)), np.zeros((1, 60)), "values are of 2 models, but errors of 1"),
    ],
)
def test_other_shapes_are_refused(values, errors, match):
    with pytest.raises(ValueError, match=match):
        averages(many()[0], values, errors)


def test_another_rule_is_refused():
    with pytest.raises(UserError, match="'median'"):
        averages(*many(), over="median")
