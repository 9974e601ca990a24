from dataclasses import replace

import numpy as np
import pytest
from scipy import stats

from brainscore_core.numerics.influence import ScoreInfluence, unit_influence
from brainscore_core.numerics.means import NOT_TESTED, compare_means, rank_means

NAMES = ["A2026.V1-pls", "A2026.IT-pls", "B2026-i2n", "C2026-rdm"]
WEIGHTS = np.array([0.125, 0.125, 0.25, 0.5])


def measured(each, benchmark, **options):
    """A score that is the mean over stimuli of a data set."""
    values = (each - each.mean()) / np.sqrt(len(each) * (len(each) - 1))
    part = unit_influence("stimuli", benchmark.split(".")[0].split("-")[0], range(len(each)), values)
    return float(each.mean()), ScoreInfluence(float(each.mean()), (part,), **options)


def models(k, seed=0, *, n=40, spread=0.3, shifts=None):
    """Scores and influences of models that share the difficulty of stimuli, and noise in a data set."""
    rng = np.random.default_rng([seed, k])
    shifts = np.zeros(k) if shifts is None else np.asarray(shifts)
    noise = {name.split(".")[0].split("-")[0]: rng.standard_normal((k, n)) for name in NAMES}
    values, influences = np.zeros((k, 4)), [[None] * 4 for _ in range(k)]
    for at, name in enumerate(NAMES):
        shared = rng.standard_normal(n)
        for model in range(k):
            own = noise[name.split(".")[0].split("-")[0]][model] + 0.3 * rng.standard_normal(n)
            values[model, at], influences[model][at] = measured(shared + spread * own + shifts[model], name)
    return values, influences


def test_the_difference_on_one_benchmark_is_the_paired_t_test():
    rng = np.random.default_rng(0)
    first, second = rng.standard_normal((2, 30))
    scores = [measured(each, NAMES[0], ceiling=-0.1, ceiling_id="c") for each in (first, second)]
    values = [[score[0], *[np.nan] * 3] for score in scores]
    found = compare_means(values, [[score[1], None, None, None] for score in scores], [1, 0, 0, 0], NAMES)
    expected = stats.ttest_rel(first, second)
    assert found.p == pytest.approx(expected.pvalue)
    assert (found.low, found.high) == pytest.approx(tuple(expected.confidence_interval()))


def test_benchmarks_of_one_data_set_are_not_independent():
    each = np.random.default_rng(1).standard_normal((2, 30))
    scores = [[measured(one, name) for name in NAMES[:2]] for one in each]
    values, influences = ([[score[part] for score in of_model] for of_model in scores] for part in (0, 1))
    found = compare_means(values, influences, [0.5, 0.5], NAMES[:2])
    assert found.p == pytest.approx(stats.ttest_rel(*each).pvalue)


def test_the_common_benchmarks_are_compared():
    values, influences = models(2)
    whole = compare_means(values, influences, WEIGHTS, NAMES)
    assert whole.difference == pytest.approx((values[0] - values[1]) @ WEIGHTS)
    values[1, 0] = np.nan
    influences[1][0] = None
    found = compare_means(values, influences, WEIGHTS, NAMES)
    weights = WEIGHTS[1:] / WEIGHTS[1:].sum()
    assert found.difference == pytest.approx((values[0] - values[1])[1:] @ weights)
    assert found.reason is None
    assert found.error > 0


@pytest.mark.parametrize(
    ("missing", "reason"),
    [
        ([3, 0], "not comparable: both models were scored on 38 % of the mean's weight"),
        ([2], "not comparable: both models were scored on 2 of 3 studies"),
    ],
)
def test_means_over_too_few_common_benchmarks_are_not_compared(missing, reason):
    values, influences = models(2)
    values[0, missing] = np.nan
    found = compare_means(values, influences, WEIGHTS, NAMES)
    assert found.reason == reason
    assert np.isnan([found.difference, found.p]).all()


def test_scores_without_influences_are_not_tested():
    values, influences = models(2)
    influences[1][2] = None
    found = compare_means(values, influences, WEIGHTS, NAMES)
    assert found.reason == f"{NOT_TESTED} on B2026-i2n"
    assert found.difference == pytest.approx((values[0] - values[1]) @ WEIGHTS)
    assert np.isnan([found.low, found.p]).all()
    values, influences = models(2)
    influences[1][2] = measured(np.arange(12.0), "B2026-i2n")[1]
    assert "not scored on the same units" in compare_means(values, influences, WEIGHTS, NAMES).reason


def test_biases_and_ceilings():
    values, influences = models(2)
    plain = compare_means(values, influences, WEIGHTS, NAMES)
    for model, ceiling in ((0, -0.4), (1, -0.1)):
        score = influences[model][3]
        influences[model][3] = ScoreInfluence(score.value, score.parts, 0.1 * model, ceiling, "c")
    found = compare_means(values, influences, WEIGHTS, NAMES)
    assert found.difference == pytest.approx(plain.difference + 0.5 * 0.1)
    assert found.error == pytest.approx(np.hypot(plain.error, 0.5 * 0.3))


def test_ranks_of_means():
    values, influences = models(4, spread=0.02, shifts=[0.0, 0.3, 0.6, 0.9])
    found = rank_means(values @ WEIGHTS, influences, WEIGHTS, NAMES)
    assert found.best.tolist() == found.worst.tolist() == [4, 3, 2, 1]
    values[1, 3], influences[1][3] = np.nan, None  # its half of the weight is just enough, but of two data sets only
    found = rank_means(np.nan_to_num(values) @ WEIGHTS, influences, WEIGHTS, NAMES)
    assert found.tested.tolist() == [True, False, True, True]
    assert (found.best[1], found.worst[1]) == (1, 4)
    assert rank_means(values[:, 0], influences, [1, 0, 0, 0], NAMES).tested.all()


def renamed(influences, names):
    """The same influences of benchmarks whose units have these names."""
    return [
        [
            score and replace(score, parts=tuple(replace(part, data=data) for part in score.parts))
            for score, data in zip(row, names, strict=True)
        ]
        for row in influences
    ]


def test_data_sets_with_the_same_stimuli_are_one_study():
    values, influences = models(2)
    values[0, 2], influences[0][2] = np.nan, None
    both = [("A2026", "pictures"), ("A2026", "pictures"), ("B2026",), ("C2026", "pictures")]
    assert compare_means(values, renamed(influences, both), WEIGHTS, NAMES).reason.endswith("on 1 of 2 studies")
    values, influences = models(2)  # the mean over two studies: all of them are common
    assert compare_means(values, renamed(influences, both), WEIGHTS, NAMES).reason is None


def test_models_with_gaps_are_tested_on_what_both_have():
    values, influences = models(4, spread=0.02, shifts=[0.0, 0.3, 0.6, 0.9])
    values[1, 0], influences[1][0] = np.nan, None
    found = rank_means(np.nan_to_num(values) @ WEIGHTS, influences, WEIGHTS, NAMES)
    assert found.best.tolist() == found.worst.tolist() == [4, 3, 2, 1]
    influences[2][0] = None  # a score without influences is compared on the other benchmarks, too
    assert rank_means(np.nan_to_num(values) @ WEIGHTS, influences, WEIGHTS, NAMES).tested.all()


def test_a_better_model_with_the_lower_mean_is_not_distinguished():
    """It lacks a score, which counts as 0: neither is placed above the other."""
    values, influences = models(2, spread=0.02, shifts=[5.0, 5.3])
    values[1, 0], influences[1][0] = np.nan, None
    shown = np.nan_to_num(values) @ WEIGHTS
    assert shown[0] > shown[1]
    assert compare_means(values, influences, WEIGHTS, NAMES).high < 0
    found = rank_means(shown, influences, WEIGHTS, NAMES)
    assert (found.best.tolist(), found.worst.tolist(), found.letters) == ([1, 1], [2, 2], (("a",), ("a",)))


def test_models_scored_on_other_units_are_not_tested():
    values, influences = models(4)
    influences[2][0] = measured(np.arange(12.0), NAMES[0])[1]
    assert rank_means(values[:, 0], influences, [1, 0, 0, 0], NAMES).tested.tolist() == [True, True, False, True]


@pytest.mark.parametrize("names", [NAMES, ["A2026-pls", "D2026-pls", *NAMES[2:]]])
def test_equal_models_rarely_differ(names):
    """Four benchmarks, two of which share stimuli: with independent errors, up to a third of them would."""
    stated = [("A2026",), (names[1].split("-")[0].split(".")[0], "A2026"), ("B2026",), ("C2026",)]
    wrong = [(rank_means(values @ WEIGHTS, renamed(influences, stated), WEIGHTS, names).best > 1).any()
             for values, influences in (models(3, seed, n=20, spread=1.0) for seed in range(200))]  # fmt: skip
    assert np.mean(wrong) < 0.05 + 2 * np.sqrt(0.05 * 0.95 / 200)


@pytest.mark.parametrize("differ", [0.0, 0.02, 0.1])
def test_equal_models_on_overlapping_benchmarks_rarely_differ(differ):
    """Six models on parts of eight data sets, with equal means over all; `differ` is how much they vary by data set."""
    names, weights, wrong = [f"D{number}-pls" for number in range(8)], np.full(8, 1 / 8), 0
    for seed in range(80):
        rng = np.random.default_rng([seed, 2026])
        own = differ * rng.standard_normal((6, 8))
        own -= own.mean(axis=1, keepdims=True)
        values, influences = np.zeros((6, 8)), [[None] * 8 for _ in range(6)]
        for at, name in enumerate(names):
            hard = rng.standard_normal(30)
            for model in range(6):
                if rng.random() < 0.75:
                    each = 0.4 + own[model, at] + 0.05 * (hard + rng.standard_normal(30))
                    values[model, at], influences[model][at] = measured(each, name)
        found = rank_means(values @ weights, influences, weights, names)
        wrong += bool((found.best > 1).any())
    assert wrong / 80 < 0.05 + 2 * np.sqrt(0.05 * 0.95 / 80)
