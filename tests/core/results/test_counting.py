import math
from datetime import UTC, datetime

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from brainscore_core.results.aggregates import LEAF_STATES, LeafResult, Tree, TreeNode, aggregate, counting

TREE = Tree(
    [
        TreeNode(identifier="root"),
        TreeNode(identifier="a", parent="root", benchmark=True, version=1),
        TreeNode(identifier="b", parent="root", benchmark=True, version="2"),
        TreeNode(identifier="c", parent="root", benchmark=True),
    ]
)
MODELS = ("m", "n", "o")


def expected(tree, results):
    """State and result of each (model, benchmark), read from the rule."""
    made = {}
    for model in MODELS:
        for name in tree.benchmarks:
            there = [result for result in results if (result.model, result.benchmark) == (model, name)]
            version = tree[name].version
            right = [
                result
                for result in there
                if version is None
                or (result.version not in (None, "") and str(result.version) == str(version))
                or (result.version in (None, "") and result.state in ("failed", "not applicable"))
            ]
            newest = max(right or there, key=lambda result: result.created, default=None)
            if newest is None:
                state = "missing"
            elif not right:
                state = "outdated"
            elif newest.state == "scored" and not (newest.score is not None and math.isfinite(newest.score)):
                state = "undefined"
            else:
                state = newest.state
            made[model, name] = state, newest
    return made


def columns(results, tree=TREE, **changed):
    made = {
        "models": np.array([MODELS.index(result.model) for result in results], dtype=int),
        "benchmarks": np.array(
            [tree.benchmarks.index(result.benchmark) if result.benchmark in tree else -1 for result in results],
            dtype=int,
        ),
        "versions": [result.version for result in results],
        "states": np.array([LEAF_STATES.index(result.state) for result in results], dtype=np.int8),
        "created": np.array([result.created for result in results], dtype="datetime64[us]"),
        "scores": np.array([result.score for result in results], dtype=float),
        "errors": np.array([result.error for result in results], dtype=float),
    }
    return {"n_models": len(MODELS), **made, **changed}


result_lists = st.lists(
    st.builds(
        LeafResult,
        model=st.sampled_from(MODELS[:2]),
        benchmark=st.sampled_from([*TREE.benchmarks, "elsewhere"]),
        state=st.sampled_from(["scored", "scored", "undefined", "not applicable", "failed"]),
        score=st.one_of(st.none(), st.floats(-1, 2), st.sampled_from([math.nan, math.inf])),
        error=st.one_of(st.none(), st.floats(0, 1), st.just(math.nan)),
        version=st.sampled_from([None, "", 1, "1", 2, "2"]),
        created=st.datetimes(datetime(2020, 1, 1), datetime(2020, 1, 31)).map(lambda moment: moment.isoformat()),
    ),
    max_size=20,
    unique_by=lambda result: datetime.fromisoformat(result.created),
)


@given(result_lists)
def test_rows_are_those_of_the_rule_and_of_the_objects(results):
    found = counting(TREE, **columns(results))
    rule = expected(TREE, results)
    objects = {made.model: made for made in aggregate(TREE, results)}
    for i, model in enumerate(MODELS):
        for j, name in enumerate(TREE.benchmarks):
            state, result = rule[model, name]
            row = found.rows[i, j]
            assert (LEAF_STATES[found.states[i, j]], None if row < 0 else results[row]) == (state, result)
            scored = state == "scored"
            assert np.array_equal(found.values[i, j], result.score if scored else np.nan, equal_nan=True)
            error = result.error if scored and result.error is not None else np.nan
            assert np.array_equal(found.errors[i, j], error, equal_nan=True)
            if model in objects:
                assert (objects[model][name].state, objects[model][name].result) == (state, result)


KINDS = {
    "datetime64": lambda texts: np.array(texts, dtype="datetime64[us]"),
    "nanoseconds": lambda texts: np.array(texts, dtype="datetime64[ns]"),
    "int": lambda texts: np.array(texts, dtype="datetime64[us]").astype(int),
    "float": lambda texts: np.array([datetime.fromisoformat(text).replace(tzinfo=UTC).timestamp() for text in texts]),
}


@pytest.mark.parametrize("kind", KINDS)
def test_kinds_of_moments(kind):
    rng = np.random.default_rng(0)
    texts = [f"{moment}" for moment in np.datetime64("2020-01-01T00:00:00.000001") + rng.permutation(60)]
    results = [
        LeafResult(model=MODELS[number % 2], benchmark="abc"[number % 3], state="failed", created=text)
        for number, text in enumerate(texts)
    ]
    found = counting(TREE, **columns(results, created=KINDS[kind](texts)))
    np.testing.assert_array_equal(found.rows, counting(TREE, **columns(results)).rows)
    assert (found.rows[:2] >= 0).all()
    assert (found.rows[2] == -1).all()


VERSIONS = [1, 2, None, 1]


@pytest.mark.parametrize(
    "versions",
    [VERSIONS, np.array(VERSIONS, dtype=object), ["1", "2", "", "1"], np.array(["1", "2", "", "1"]), [1, "2", "", "1"]],
)
def test_kinds_of_versions(versions):
    results = [LeafResult(model="m", benchmark=name, state="scored", score=0.5) for name in "aaab"]
    found = counting(TREE, **columns(results, versions=versions, created=np.arange(4)))
    assert found.rows[0].tolist() == [0, 3, -1]
    assert [LEAF_STATES[code] for code in found.states[0]] == ["scored", "outdated", "missing"]


def test_whole_numbers_as_versions():
    results = [LeafResult(model="m", benchmark=name, state="scored", score=0.5) for name in "aab"]
    found = counting(TREE, **columns(results, versions=np.array([1, 2, 2]), created=np.arange(3)))
    assert found.rows[0].tolist() == [0, 2, -1]


def test_an_unknown_moment_is_before_all_others():
    missing, other = np.datetime64("NaT"), np.datetime64("1900-01-01")
    results = [LeafResult(model="m", benchmark="c", state="failed") for _ in range(2)]
    for created, row in (([missing, other], 1), ([other, missing], 0)):
        assert counting(TREE, **columns(results, created=np.array(created))).rows[0, 2] == row


def test_of_the_same_moment_the_last_row_counts():
    results = [LeafResult(model="m", benchmark="c", state="failed") for _ in range(50)]
    assert counting(TREE, **columns(results, created=np.zeros(50))).rows[0, 2] == 49


def test_without_results():
    found = counting(TREE, **columns([]))
    assert (found.rows == -1).all()
    assert {LEAF_STATES[code] for code in found.states.ravel()} == {"missing"}
    assert np.isnan(found.values).all()
    assert counting(TREE, **columns([], n_models=0)).values.shape == (0, 3)
    lists = {name: [] for name in ("models", "benchmarks", "versions", "states", "created", "scores", "errors")}
    assert (counting(TREE, n_models=2, **lists).rows == -1).all()


@pytest.mark.parametrize("kind", [np.int8, np.uint8, np.uint64])
def test_kinds_of_whole_numbers(kind):
    results = [LeafResult(model=model, benchmark="c", state="failed") for model in "mno"]
    made = columns(results, created=np.arange(3))
    made |= {name: made[name].astype(kind) for name in ("models", "benchmarks", "states", "created")}
    assert counting(TREE, **made).rows[:, 2].tolist() == [0, 1, 2]
