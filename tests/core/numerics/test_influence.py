from dataclasses import replace

import numpy as np
import pytest

from brainscore_core.numerics.influence import (
    BLOCKS,
    SUMS,
    ScoreInfluence,
    comparable,
    influence_of_difference,
    joint_influence,
    random_sums,
    remaining_variance,
    shared_variances,
    unit_codes,
    unit_influence,
    variance_of_mean,
)
from brainscore_core.numerics.means import mean_differences


def score(values, ids=None, *, kind="stimuli", data="Some2026", own="", value=0.5, **options):
    values = np.asarray(values, dtype=float)
    ids = [f"u{i}" for i in range(len(values))] if ids is None else ids
    return ScoreInfluence(value, (unit_influence(kind, data, ids, values, own=own),), **options)


def test_variance_of_a_mean_over_benchmarks_that_share_units():
    rng = np.random.default_rng(0)
    tables = rng.standard_normal((3, 40))
    scores = [score(tables[0]), score(tables[1]), score(tables[2], data="Other2026")]
    weights = np.array([0.2, 0.3, 0.5])
    variance, df = variance_of_mean(shared_variances(scores), weights)
    first, second = np.sum((0.2 * tables[0] + 0.3 * tables[1]) ** 2), np.sum((0.5 * tables[2]) ** 2)
    assert variance[0] == pytest.approx(first + second)
    assert df[0] == pytest.approx((first + second) ** 2 / ((first**2 + second**2) / 39))
    joint = joint_influence([scores], weights)
    assert sum(np.sum(part**2) for part in joint.parts) == pytest.approx(variance[0])
    assert joint.units == [40, 40]


def test_benchmarks_on_some_of_the_units():
    rng = np.random.default_rng(1)
    first, second = rng.standard_normal(40), rng.standard_normal(25)
    found = variance_of_mean(shared_variances([score(first), score(second)]), [0.5, 0.5])[0]
    first[:25] += second
    assert found[0] == pytest.approx(np.sum(first**2) / 4)


def test_without_any_influence_the_variance_is_0():
    assert [one.tolist() for one in variance_of_mean(shared_variances([None]), [[1.0]])] == [[0.0], [np.inf]]


def test_ceilings_of_one_data_set_are_shared():
    scores = [score([0.1, -0.1], ceiling=-0.2, ceiling_id=name) for name in ("a", "a", "b")]
    variance = variance_of_mean(shared_variances(scores), np.eye(3) + np.roll(np.eye(3), 1, axis=1))[0]
    own = 0.08
    np.testing.assert_allclose(variance, [own + 0.4**2, own + 2 * 0.2**2, own + 2 * 0.2**2])
    joint = joint_influence([scores], [1, 1, 0])
    assert joint.units == [2, np.inf]
    np.testing.assert_allclose(joint.parts[1], [[-0.4]])
    assert joint_influence([scores], [1, 1, 0], ceilings=False).units == [2]


def test_many_units_are_summed_in_blocks_that_benchmarks_share():
    rng = np.random.default_rng(2)
    values = 0.01 * rng.standard_normal(5000)
    whole, half = score(values), score(values[:2500])
    few = score(values[:100])
    compact = whole.compact()
    assert len(compact.parts[0].codes) == BLOCKS
    assert few.compact().parts[0] is few.parts[0]
    for scores in ([whole, half], [whole, few]):
        exact = variance_of_mean(shared_variances(scores), [0.5, 0.5])[0][0]
        found = variance_of_mean(shared_variances([one.compact() for one in scores]), [0.5, 0.5])[0][0]
        assert found == pytest.approx(exact, rel=4 * np.sqrt(2 / BLOCKS))
    difference = influence_of_difference(compact, score(-values).compact())
    np.testing.assert_allclose(difference.parts[0].values, 2 * compact.parts[0].values)


def test_differences_are_unit_by_unit():
    first, second = score([0.3, -0.1, -0.2], list("abc"), value=0.7), score([0.1, 0.2, -0.3], list("cab"), value=0.4)
    found = influence_of_difference(first, second)
    assert found.value == pytest.approx(0.3)
    assert np.sort(found.parts[0].values) == pytest.approx(np.sort([0.3 - 0.2, -0.1 + 0.3, -0.2 - 0.1]))
    own = influence_of_difference(score([0.3, -0.3], own="x"), score([0.4, -0.4], own="y"))
    assert sum(np.sum(part.values**2) for part in own.parts) == pytest.approx(2 * 0.3**2 + 2 * 0.4**2)
    with pytest.raises(ValueError, match="not scored on the same units"):
        influence_of_difference(first, score([0.1, -0.1]))


def test_units_of_one_model_each_add_their_variance():
    scores = [[score([0.3, -0.3], own="x")], [score([0.4, -0.4], own="y")], [None]]
    joint = joint_influence(scores, [1.0])
    (part,) = joint.parts
    assert joint.units == [2]
    assert np.sum((part[0] - part[1]) ** 2) == pytest.approx(2 * 0.3**2 + 2 * 0.4**2)
    assert np.isnan(part[2]).all()


def test_models_without_influence_are_nan_where_it_counts():
    one = score([0.1, -0.1])
    joint = joint_influence([[one, None], [None, one], [one, one]], [1.0, 0.0])
    assert np.isnan(joint.parts[0]).all(axis=1).tolist() == [False, True, False]
    for scores in ([[None], [None]], [[], []]):
        joint = joint_influence(scores, np.ones(len(scores[0])))
        assert all(part.shape[0] == 2 for part in joint.parts)


def test_only_scores_on_the_same_units_are_comparable():
    usual, other, few = score([0.1, -0.1, 0.2]), score([0.1, -0.1, 0.2], list("abc")), score([0.1, -0.1])
    assert comparable([usual, None, usual, other, few]) == [usual, None, usual, None, None]
    ceiled = score([0.1, -0.1, 0.2], ceiling_id="another ceiling")
    assert comparable([usual, usual, ceiled]) == [usual, usual, None]
    assert comparable([None, None]) == [None, None]


def test_units_are_the_same_by_any_name_in_common():
    """The second score has the stimuli of both others, the fourth is of other data with the same identifiers."""
    data = ["A", ("B", "a", "Pictures"), ("C", "pictures"), "D"]
    scores = [score([1.0, -1.0, 0.0], data=names) for names in data]
    joint = joint_influence([scores], np.ones(4))
    assert sorted(np.abs(part).max() for part in joint.parts) == pytest.approx([1.0, 3.0])
    assert sorted(len(part.benchmarks) for part in shared_variances(scores)) == [1, 3]


def test_names_of_data_are_those_of_most():
    """One score of a benchmark, such as that of a model which loads data itself, cannot change what is shared."""
    scores = [score([1.0, 0.0], data=names) for names in [("A", "pictures"), ("A", "pictures"), ("A", "B")]]
    assert [one.parts[0].data for one in comparable(scores)] == [("A", "pictures")] * 3


def crossed(rng, stimuli, neuroids, *, common=0.0):
    """A score that each stimulus changes through each neuroid, and through all of them in common."""
    effects = rng.standard_normal((len(stimuli), len(neuroids))) + common * rng.standard_normal((len(stimuli), 1))
    effects -= effects.mean(axis=0)
    twice = random_sums(effects, unit_codes(stimuli), unit_codes(neuroids))
    return effects, unit_influence("stimuli", "A", stimuli, effects.sum(axis=1), twice=twice)


def test_pairs_are_summed_in_either_order():
    table, codes = np.random.default_rng(4).standard_normal((5, 7)), unit_codes(range(12))
    turned = random_sums(table.T, codes[5:], codes[:5])
    assert random_sums(table, codes[:5], codes[5:]) == pytest.approx(turned)
    assert turned @ turned > 0


@pytest.mark.parametrize("common", [0.0, 1.0])
def test_what_stimuli_do_through_single_neuroids_is_subtracted(common):
    """From the variance of a score, of a mean of two with other neuroids, and of differences of two models."""
    rng = np.random.default_rng(3)
    names = ["one", "two"]
    table = [
        [crossed(rng, range(80), [f"{name}{n}" for n in range(30)], common=common) for name in names] for _ in "ab"
    ]
    scores = [[ScoreInfluence(0.5, (part,)) for _, part in row] for row in table]
    weights = np.array([0.4, 0.6])

    def expected(effects):  # one table a benchmark
        total = sum(weight * each.sum(axis=1) for weight, each in zip(weights, effects, strict=True))
        single = sum(weight**2 * np.sum(each**2) for weight, each in zip(weights, effects, strict=True))
        return max(np.sum(total**2) - single, 0.0), single

    variance, single = expected([effects for effects, _ in table[0]])
    within = 4 * np.sqrt(2 / SUMS) * single
    assert variance_of_mean(shared_variances(scores[0]), weights)[0][0] == pytest.approx(variance, abs=within)
    variance, single = expected([a - b for (a, _), (b, _) in zip(*table, strict=True)])
    of_pair = mean_differences(scores, weights, names).variance[0, 1]
    least = np.sqrt(2 / 79) * (variance + single)
    assert of_pair == pytest.approx(max(variance, least), abs=4 * np.sqrt(2 / SUMS) * single)
    joint = joint_influence(scores, weights)
    rows, twice = np.diff(joint.parts[0], axis=0), np.diff(joint.twice[0], axis=0)
    assert remaining_variance(np.sum(rows**2), np.sum(twice**2), 80) == pytest.approx(of_pair)


def test_nothing_is_subtracted_if_it_is_not_known_of_all():
    _, part = crossed(np.random.default_rng(4), range(20), range(10))
    known, earlier = ScoreInfluence(0.5, (part,)), ScoreInfluence(0.5, (replace(part, twice=None),))
    assert [one.parts[0].twice is None for one in comparable([known, earlier])] == [True, True]
    assert [one.parts[0].twice is None for one in comparable([known, known])] == [False, False]
