import warnings

import numpy as np
import pytest
from sklearn.metrics import cohen_kappa_score

from brainscore_core.numerics import KappaCounts, kappa, pairwise_kappa


def test_pairs_equal_scikit_learn():
    rng = np.random.default_rng(0)
    seen = rng.random((6, 80)) < 0.8
    correct = rng.random((6, 80)) < rng.uniform(0.3, 0.9, (6, 1)) * np.linspace(0.5, 1, 80)
    found = pairwise_kappa(correct, seen)
    for i in range(6):
        for j in range(6):
            if i == j:
                assert np.isnan(found[i, j])
                continue
            both = seen[i] & seen[j]
            assert found[i, j] == pytest.approx(cohen_kappa_score(correct[i, both], correct[j, both]), abs=1e-12)


def test_what_was_not_seen_does_not_matter():
    rng = np.random.default_rng(0)
    seen, correct = rng.random((3, 50)) < 0.7, rng.random((3, 50)) < 0.5
    np.testing.assert_array_equal(pairwise_kappa(correct, seen), pairwise_kappa(correct | ~seen, seen))


@pytest.mark.parametrize("counts", [(0, 0, 0, 0), (7, 7, 7, 7), (7, 0, 0, 7)])
def test_certain_agreement_is_undefined(counts):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert np.isnan(kappa(KappaCounts(*np.array(counts))))


def test_opposite_decisions():
    assert kappa(KappaCounts(*np.array([10, 5, 5, 0]))) == -1
    assert kappa(KappaCounts(*np.array([10, 10, 0, 0]))) == 0


def test_large_counts_do_not_overflow():
    n = 10**9
    assert kappa(KappaCounts(*np.array([n, n // 2, n // 2, n]))) == 1
