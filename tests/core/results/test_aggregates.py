import math
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from brainscore_core.errors import NotApplicable, UserError
from brainscore_core.metrics import Score
from brainscore_core.numerics.influence import ScoreInfluence, unit_influence
from brainscore_core.results.aggregates import Coverage, LeafResult, Tree, TreeNode, aggregate, results_of
from brainscore_core.scoring import BenchmarkInfo, Estimate, ModelInfo, Receipt, run_pair

# average: neural (V1: v1a, v1b; V4, empty; IT: it), behavior (b); engineering: top1
TREE = Tree(
    [
        TreeNode(identifier="average"),
        TreeNode(identifier="neural", parent="average"),
        TreeNode(identifier="behavior", parent="average"),
        TreeNode(identifier="engineering"),
        *(TreeNode(identifier=region, parent="neural") for region in ("V1", "V4", "IT")),
        *(
            TreeNode(identifier=name, parent=parent, benchmark=True, version=version)
            for name, parent, version in (
                ("v1a", "V1", 3), ("v1b", "V1", 1), ("it", "IT", 1), ("b", "behavior", 1), ("top1", "engineering", None)
            )
        ),
    ]
)  # fmt: skip
VERSIONS = {name: TREE[name].version for name in TREE.benchmarks}


def scored(benchmark, score, error=None, *, model="m", **fields):
    fields = {"version": VERSIONS.get(benchmark), **fields}
    return LeafResult(model=model, benchmark=benchmark, state="scored", score=score, error=error, **fields)


def other(benchmark, state, **fields):
    fields = {"version": VERSIONS.get(benchmark), **fields}
    return LeafResult(model="m", benchmark=benchmark, state=state, **fields)


def one(results, over="all"):
    (made,) = aggregate(TREE, results, over=over)
    return made


FULL = [scored("v1a", 0.2), scored("v1b", 0.6), scored("it", 0.8), scored("b", 0.5), scored("top1", 0.9)]


@pytest.mark.parametrize(
    ("results", "over", "expected"),
    [
        pytest.param(
            FULL, "all", {"V1": 0.4, "IT": 0.8, "neural": 0.6, "behavior": 0.5, "average": 0.55, "engineering": 0.9},
            id="everything: means of means, not of benchmarks",
        ),
        pytest.param(
            FULL[:4], "all", {"average": 0.55, "engineering": None}, id="engineering stands apart"
        ),
        pytest.param(
            FULL[4:], "all", {"average": None, "neural": None, "engineering": 0.9}, id="engineering alone"
        ),
        pytest.param(
            FULL[:1], "all", {"v1b": None, "V1": 0.1, "IT": None, "neural": 0.05, "behavior": None, "average": 0.025},
            id="missing counts as 0",
        ),
        pytest.param(
            FULL[:1], "scored", {"V1": 0.2, "IT": None, "neural": 0.2, "behavior": None, "average": 0.2},
            id="over what was scored",
        ),
        pytest.param(
            [scored("it", 0.8), other("b", "failed")], "all", {"neural": 0.4, "behavior": None, "average": 0.2},
            id="failed counts as 0",
        ),
        pytest.param(
            [scored("it", 0.8), other("b", "not applicable")], "all", {"behavior": None, "average": 0.2},
            id="not applicable counts as 0",
        ),
        pytest.param(
            [scored("it", 0.8), other("b", "undefined")], "all", {"b": None, "behavior": None, "average": 0.2},
            id="NaN counts as 0",
        ),
        pytest.param(
            [scored("it", 0.8), other("b", "undefined")], "scored", {"average": 0.8}, id="NaN is left out"
        ),
        pytest.param(
            [scored("b", 0.5, version=0), scored("it", 0.8)], "all", {"b": None, "behavior": None, "average": 0.2},
            id="an older version counts as missing",
        ),
        pytest.param(
            [scored("b", 0.5, version=2), scored("it", 0.8)], "all", {"b": None, "average": 0.2},
            id="a version that the tree does not know, too",
        ),
        pytest.param(
            [scored("v1a", 0.9, version=2, created="2026-02"), scored("v1a", 0.2, created="2026-01")], "all",
            {"v1a": 0.2}, id="the tree's version, though older in time",
        ),
        pytest.param(
            [scored("b", 0.9, created="2026-01"), scored("b", 0.2, created="2026-02")], "all", {"b": 0.2},
            id="the newest, not the best",
        ),
        pytest.param(
            [scored("b", 0.9, created="2026-01"), other("b", "failed", created="2026-02")], "all", {"b": None},
            id="the newest failed",
        ),
        pytest.param([scored("b", 0.3, version="1")], "all", {"b": 0.3}, id="a version as text"),
        pytest.param([scored("top1", 0.3, version=7)], "all", {"top1": 0.3}, id="a benchmark without version"),
        pytest.param([scored("v1a", -0.2), scored("v1b", 0.1)], "all", {"V1": -0.05}, id="scores below 0"),
        pytest.param([scored("b", 0.0)], "all", {"b": 0.0, "behavior": 0.0, "average": 0.0}, id="0 is a score"),
        pytest.param([], "all", None, id="nothing"),
    ],
)  # fmt: skip
def test_means(results, over, expected):
    made = aggregate(TREE, results, over=over)
    if expected is None:
        assert made == ()
        return
    for name, value in expected.items():
        assert made[0][name].value == (None if value is None else pytest.approx(value, abs=1e-12)), name


@pytest.mark.parametrize(
    ("result", "state"),
    [
        (scored("b", 0.5), "scored"),
        (scored("b", math.nan), "undefined"),
        (scored("b", -math.inf), "undefined"),
        (scored("b", None), "undefined"),
        (other("b", "undefined"), "undefined"),
        (other("b", "not applicable"), "not applicable"),
        (other("b", "not applicable", version=None), "not applicable"),
        (other("b", "failed"), "failed"),
        (other("b", "failed", version=None), "failed"),
        (other("b", "failed", version=0), "outdated"),
        (scored("b", 0.5, version=0), "outdated"),
        (scored("b", 0.5, version=None), "outdated"),
    ],
)
def test_states_are_kept_apart(result, state):
    made = one([result, scored("it", 0.5)])
    assert (made["b"].state, made["b"].result) == (state, result)
    counted = {"n_all": 4, "n_scored": 1, "n_missing": 2}
    name = f"n_{state.replace(' ', '_')}"
    counted[name] = counted.get(name, 0) + 1
    assert made["average"].coverage == Coverage(**counted)
    assert made["average"].coverage.n_applicable == (3 if state == "not applicable" else 4)
    assert made["average"].coverage.share == (0.5 if state == "scored" else 0.25)
    assert made["average"].state is made["average"].result is None


def test_nodes_without_benchmarks_are_no_children():
    made = one(FULL)
    assert list(made) == ["average", "behavior", "b", "neural", "IT", "it", "V1", "v1a", "v1b", "engineering", "top1"]
    assert made["neural"].value == pytest.approx((0.4 + 0.8) / 2)  # V4 is empty


def test_results_outside_the_tree_are_named():
    made = one([*FULL, scored("Simulated2026.IT-pls", 1.0), scored("average", 1.0)])
    assert list(made.outside) == ["Simulated2026.IT-pls", "average"]
    assert made.nodes == one(FULL).nodes


def influence(values, data="A2026", ids="abcdefgh"):
    return ScoreInfluence(0.5, (unit_influence("stimuli", data, list(ids), values),))


def test_standard_error_is_that_of_new_stimuli_that_benchmarks_share():
    rng = np.random.default_rng(0)
    each = {name: rng.normal(0, 0.02, 8) for name in ("v1a", "v1b", "it", "b")}
    made = one(
        [
            scored(name, 0.5, np.linalg.norm(values), influence=influence(values, "B2026" if name == "b" else "A2026"))
            for name, values in each.items()
        ]
    )
    neural = ((each["v1a"] + each["v1b"]) / 2 + each["it"]) / 2
    assert made["V1"].error == pytest.approx(np.linalg.norm(each["v1a"] + each["v1b"]) / 2)
    assert made["neural"].error == pytest.approx(np.linalg.norm(neural))
    assert made["average"].error == pytest.approx(np.hypot(np.linalg.norm(neural), np.linalg.norm(each["b"])) / 2)
    assert made["average"].error_reason is None


def test_equal_scores_of_the_same_stimuli_have_a_mean_that_is_as_uncertain():
    same = influence([0.03, -0.03], ids="ab")
    made = one([scored(name, 0.5, np.hypot(0.03, 0.03), influence=same) for name in ("v1a", "v1b")])
    assert made["V1"].error == pytest.approx(np.hypot(0.03, 0.03))


def test_standard_error_where_not_all_are_scored():
    made = one([scored("v1a", 0.5, 0.04)])
    assert made["average"].error == pytest.approx(0.04 / 8)
    assert one([scored("v1a", 0.5, 0.04)], over="scored")["average"].error == pytest.approx(0.04)
    assert made["behavior"].error is made["behavior"].error_reason is None


@pytest.mark.parametrize("unknown", [None, math.nan, math.inf])
def test_the_mean_of_one_score_has_its_error(unknown):
    made = one([scored("v1a", 0.5, unknown), scored("b", 0.5, 0.1)])
    for name in ("v1a", "V1", "neural"):
        assert made[name].error is None
        assert made[name].error_reason == "no standard error of v1a"
    assert made["behavior"].error == 0.1


def test_a_score_without_influence_leaves_means_of_several_without_error():
    known = influence([0.03, -0.03], ids="ab")
    made = one([scored("v1a", 0.5, 0.1), scored("v1b", 0.5, 0.1, influence=known), scored("b", 0.5, 0.1)])
    for name, reason in (("V1", "v1a"), ("average", "b, v1a")):
        assert made[name].error is None
        assert made[name].error_reason == f"no standard error: no influence known of {reason}"
    many = one([scored(name, 0.5) for name in ("v1a", "v1b", "it", "b")])
    assert many["average"].error_reason == "no standard error: no influence known of b, it, v1a and 1 more"


def test_another_rule_is_refused():
    with pytest.raises(UserError, match="'median'"):
        aggregate(TREE, FULL, over="median")


# properties

MODELS = ("m", "n")
results_ = st.builds(
    LeafResult,
    model=st.sampled_from(MODELS),
    benchmark=st.sampled_from([*TREE.benchmarks, "elsewhere"]),
    state=st.sampled_from(["scored", "scored", "scored", "undefined", "not applicable", "failed"]),
    score=st.one_of(st.floats(-1, 2), st.just(math.nan)),
    error=st.one_of(st.none(), st.floats(0, 1)),
    version=st.sampled_from([None, 1, 3]),
    created=st.sampled_from(["2026-01-01", "2026-01-02"]),
)
overs = st.sampled_from(["all", "scored"])


def comparable(made):
    """As text, since NaN equals nothing."""
    return {model.model: repr(model) for model in made}


@given(st.lists(results_, max_size=12), overs, st.randoms())
def test_the_order_of_results_does_not_matter(results, over, random):
    before = aggregate(TREE, results, over=over)
    random.shuffle(results)
    assert comparable(aggregate(TREE, results, over=over)) == comparable(before)


@given(st.lists(results_, max_size=12), overs)
def test_another_model_changes_no_score(results, over):
    both = comparable(aggregate(TREE, results, over=over))
    for model in MODELS:
        alone = aggregate(TREE, [result for result in results if result.model == model], over=over)
        assert comparable(alone) == {name: text for name, text in both.items() if name == model}


@given(st.lists(results_, min_size=1, max_size=12), overs, st.integers(0, 11), st.floats(0, 1))
def test_a_higher_score_lowers_no_mean(results, over, which, gain):
    result = results[which % len(results)]
    if result.state != "scored" or math.isnan(result.score):
        return
    # of several results of the same moment any may count: only one is there
    results = [other for other in results if (other.model, other.benchmark) != (result.model, result.benchmark)]
    before = {made.model: made for made in aggregate(TREE, [*results, result], over=over)}[result.model]
    better = replace(result, score=result.score + gain)
    touched = (result.benchmark, *TREE.ancestors(result.benchmark)) if result.benchmark in TREE else ()
    after = {made.model: made for made in aggregate(TREE, [*results, better], over=over)}[result.model]
    for name in before:
        assert (before[name].value is None) == (after[name].value is None)
        if before[name].value is not None:
            assert after[name].value >= before[name].value
            assert name in touched or after[name] == before[name]


@given(st.lists(results_, min_size=1, max_size=12))
def test_counts_add_up_and_means_stay_within_their_children(results):
    for over in ("all", "scored"):
        for made in aggregate(TREE, results, over=over):
            for name, node in made.items():
                coverage = node.coverage
                others = coverage.n_undefined + coverage.n_not_applicable + coverage.n_failed
                assert coverage.n_all == coverage.n_scored + others + coverage.n_outdated + coverage.n_missing
                assert (node.value is None) == (coverage.n_scored == 0)
                below = [made[child].value for child in TREE.children(name) if child in made]
                if below and node.value is not None:
                    values = [0.0 if value is None else value for value in below]
                    if over == "scored":
                        values = [value for value in below if value is not None]
                    assert node.value == pytest.approx(np.mean(values), abs=1e-12)


@given(st.lists(results_, max_size=12))
def test_both_rules_agree_where_everything_was_scored(results):
    complete = [scored(name, 0.5, model=model) for name in TREE.benchmarks for model in MODELS]
    made = aggregate(TREE, complete), aggregate(TREE, complete, over="scored")
    assert [model.nodes for model in made[0]] == [model.nodes for model in made[1]]
    for over_all, over_scored in zip(
        aggregate(TREE, results), aggregate(TREE, results, over="scored"), strict=True
    ):  # fmt: skip
        assert {name: node.coverage for name, node in over_all.items()} == {
            name: node.coverage for name, node in over_scored.items()
        }


# receipts


def test_receipts_become_results():
    receipt = Receipt(
        model=ModelInfo(identifier="m"),
        benchmark=BenchmarkInfo(identifier="b", version=1),
        state="scored",
        score=Estimate(value=0.25, error=0.1, ci=(0.1, 0.4)),
    ).identified()
    assert results_of([receipt]) == (
        LeafResult(
            model="m", benchmark="b", state="scored", score=0.25, error=0.1, ci=(0.1, 0.4), version=1,
            created=receipt.created, receipt=receipt.id,
        ),
    )  # fmt: skip


def fails():
    raise ValueError("boom")


def is_nan_with_raw():
    score = Score(np.nan)
    score.attrs.update(raw=Score(0.1), reason="the ceiling is 0")
    return score


def declines():
    raise NotApplicable("it has no IT")


@pytest.mark.parametrize(
    ("make", "state", "reason"),
    [
        (lambda: Score(np.nan), "undefined", "the benchmark returned NaN"),
        (is_nan_with_raw, "undefined", "the ceiling is 0"),
        (declines, "not applicable", "it has no IT"),
        (fails, "failed", "ValueError: boom"),
    ],
)
def test_states_of_receipts(make, state, reason, fakes):
    benchmark = fakes.FakeBenchmark(make=make)
    outcome = run_pair(
        "m", "b", load_model=lambda name: object(), load_benchmark=lambda name: benchmark, raise_errors=False
    )
    (result,) = results_of([outcome.receipt])
    assert (result.state, result.reason, result.score, result.version) == (state, reason, None, 2)


def test_a_receipt_of_a_benchmark_that_cannot_be_loaded_is_a_failure():
    def load(name):
        raise OSError("no network")

    outcome = run_pair("m", "b", load_model=lambda name: None, load_benchmark=load, raise_errors=False)
    (result,) = results_of([outcome.receipt])
    assert (result.state, result.version) == ("failed", None)
    assert one([result])["b"].state == "failed"
