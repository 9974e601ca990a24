import numpy as np
import pytest

from brainscore_core.numerics import means as module
from brainscore_core.numerics.influence import (
    ScoreInfluence,
    influence_of_difference,
    shared_variances,
    unit_influence,
    variance_of_mean,
)
from brainscore_core.numerics.means import mean_differences

WEIGHTS = np.array([0.1, 0.2, 0.3, 0.15, 0.25])
GROUPS = ["A", "A", "B", "B", "C"]


def scored(k=6, *, own=False, ceilings=True, n=40, seed=0, missing=0.3):
    """Scores of k models; benchmarks of a group share units, and models lack some scores."""
    rng = np.random.default_rng(seed)
    table = []
    for model in range(k):
        row = []
        for at, group in enumerate(GROUPS):
            parts = [unit_influence("stimuli", group, range(n), 0.01 * rng.standard_normal(n))]
            if own:
                values = 0.01 * rng.standard_normal(n)
                parts.append(unit_influence("units of the model", group, range(n), values, own=f"model{model}"))
            options = {"ceiling": 0.01 * rng.standard_normal(), "ceiling_id": f"of {at}"} if ceilings else {}
            score = ScoreInfluence(rng.random(), tuple(parts), **options)
            row.append(None if rng.random() < missing else score)
        table.append(row)
    return table


@pytest.mark.parametrize("own", [False, True])
def test_complete_pairs_are_those_of_two_models(own):
    table = scored(own=own, missing=0.0)
    found = mean_differences(table, WEIGHTS, GROUPS)
    for i, j in [(0, 1), (4, 2)]:
        each = [influence_of_difference(first, second) for first, second in zip(table[i], table[j], strict=True)]
        variance, df = variance_of_mean(shared_variances(each), WEIGHTS)
        assert found.difference[i, j] == pytest.approx(WEIGHTS @ [one.value for one in each])
        assert found.variance[i, j] == pytest.approx(variance[0])
        assert found.df[i, j] == pytest.approx(df[0]) or (own and found.df[i, j] < df[0])  # of the smaller of two sets
        assert found.units[i, j] <= found.df[i, j] + 1 + 1e-9  # ceilings have no units
        assert found.weight[i, j] == 1.0


def test_pairs_with_gaps_are_compared_on_what_both_have_and_vary_by_what_they_lack():
    table = scored(seed=3)
    found = mean_differences(table, WEIGHTS, GROUPS)
    floors, exact = {}, {}
    for i in range(len(table)):
        for j in range(len(table)):
            common = [at for at in range(5) if table[i][at] and table[j][at]]
            if i == j or not common:
                continue
            each = [influence_of_difference(table[i][at], table[j][at]) for at in common]
            share = WEIGHTS[common] / WEIGHTS[common].sum()
            if len(common) == 1:
                each = [ScoreInfluence(one.value, one.parts) for one in each]
            assert found.difference[i, j] == pytest.approx(share @ [one.value for one in each])
            assert found.weight[i, j] == pytest.approx(WEIGHTS[common].sum())
            floors[i, j] = variance_of_mean(shared_variances(each), share)[0][0]
            exact[i, j] = len(common) == 5
    several = [pair for pair in floors if np.isfinite(found.variance[pair]) and not exact[pair]]
    assert len(several) > 8
    assert all(found.variance[pair] > floors[pair] for pair in several)


def test_the_variance_of_what_a_pair_lacks():
    """Two of four benchmarks of equal weight in common: half of the mean differs by two independent means of two."""
    parts = (unit_influence("stimuli", "all", ["a", "b"], [0.0, 0.0]),)
    low, high = ScoreInfluence(0.1, parts), ScoreInfluence(0.5, parts)
    table = [[high, high, low, low], [low, high, None, None]]
    found = mean_differences(table, np.full(4, 0.25), list("ABCD"))
    between = np.var([0.4, 0.0], ddof=1)
    assert found.difference[0, 1] == pytest.approx(0.2)
    assert found.variance[0, 1] == pytest.approx(0.5**2 * between * (1 / 2 + 1 / 2))
    assert found.df[0, 1] == pytest.approx(1.0)


@pytest.mark.parametrize("ceiling", [0.0, 0.013])
def test_rounding_is_no_variance(ceiling):
    """Differences of 0.1 on all benchmarks, by units without effects and one common ceiling."""
    part = (unit_influence("stimuli", "all", range(20), np.zeros(20)),)
    table = [[ScoreInfluence(value, part, 0.0, ceiling, "c") for _ in range(6)] for value in (0.5, 0.6, 0.6)]
    table[2][0] = None
    found = mean_differences(table, np.full(6, 1 / 6), list("ABCDEF"))
    assert found.difference[0] == pytest.approx([0.0, -0.1, -0.1])
    assert np.isnan(found.variance).all()


def test_units_of_many_benchmarks_are_summed_in_blocks(monkeypatch):
    table = scored(12, n=600, seed=1, ceilings=False)
    exact = mean_differences(table, WEIGHTS, GROUPS)
    monkeypatch.setattr(module, "MANY_BENCHMARKS", 5)
    blocked = mean_differences(table, WEIGHTS, GROUPS)
    ratio = blocked.variance / exact.variance
    assert np.nanmean(ratio) == pytest.approx(1.0, abs=0.1)
    most = [found.units[np.isfinite(found.units)].max() for found in (blocked, exact)]
    assert most[0] <= 3 * module.FOLDED_BLOCKS < most[1]


def test_models_without_a_common_benchmark_have_no_difference():
    part = (unit_influence("stimuli", "A", range(20), np.full(20, 0.01)),)
    found = mean_differences([[ScoreInfluence(0.4, part), None], [None, ScoreInfluence(0.5, part)]], [0.5, 0.5], "AB")
    assert np.isnan(found.difference[0, 1])
    assert found.weight[0, 1] == 0
    assert np.isnan(found.variance[0, 1])
