"""Random divisions equal scikit-learn's, whatever the sizes and strata."""

import warnings

import numpy as np
import pytest
from sklearn.model_selection import KFold, ShuffleSplit, StratifiedKFold, StratifiedShuffleSplit

from brainscore_core.numerics.splits import k_folds, shuffle_splits


def _strata(n, seed, number=5):
    return np.array([f"object{i}" for i in np.random.default_rng(seed).integers(0, number, n)])


def _same(ours, theirs):
    for one, other in zip(ours, theirs, strict=True):
        for rows, expected in zip(one, other, strict=True):
            np.testing.assert_array_equal(rows, expected)


@pytest.mark.parametrize(
    "sizes",
    [{"train_size": 0.9}, {"test_size": 0.9}, {"train_size": 0.5, "test_size": 0.25}, {"train_size": 21}, {}],
)
@pytest.mark.parametrize("seed", range(4))
def test_shuffled_splits(sizes, seed):
    n = 61 + 7 * seed
    strata = _strata(n, seed)
    ours = shuffle_splits(n, n_splits=4, random_state=seed, **sizes)
    _same(ours, ShuffleSplit(4, random_state=seed, **sizes).split(np.zeros(n)))
    ours = shuffle_splits(n, strata, n_splits=4, random_state=seed, **sizes)
    _same(ours, StratifiedShuffleSplit(4, random_state=seed, **sizes).split(np.zeros(n), strata))


@pytest.mark.parametrize("n_splits", [2, 5, 7])
def test_folds(n_splits):
    for seed in range(4):
        n = 40 + seed
        strata = _strata(n, seed, number=3)
        options = {"n_splits": n_splits, "random_state": seed}
        _same(k_folds(n, **options), KFold(**options, shuffle=True).split(np.zeros(n)))
        _same(k_folds(n, strata, **options), StratifiedKFold(**options, shuffle=True).split(np.zeros(n), strata))


def test_a_generator_goes_on_and_none_is_the_global_one():
    state = np.random.RandomState(3)
    first = [test.tolist() for _ in range(2) for _, test in shuffle_splits(20, n_splits=1, random_state=state)]
    assert first[0] != first[1]
    np.random.seed(3)  # noqa: NPY002 - the global state is what is tested
    assert [test.tolist() for _, test in shuffle_splits(20, n_splits=1)] == first[:1]


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: shuffle_splits(10, train_size=1.5), "train_size=1.5 of 10 units; a share between 0 and 1"),
        (lambda: shuffle_splits(10, test_size=10), "test_size=10 of 10 units; a number from 1 to 9"),
        (lambda: shuffle_splits(10, train_size=0.7, test_size=0.7), "more than all of 10 units"),
        (lambda: shuffle_splits(10, train_size=0.01), "leave none of 10 units"),
        (lambda: shuffle_splits(4, np.array(list("aabc"))), "only one member"),
        (lambda: shuffle_splits(8, np.array(list("aabbccdd"))), "1 units to test on are fewer than the 4 strata"),
        (lambda: k_folds(10, n_splits=1), "1 folds; at least 2"),
        (lambda: k_folds(3, n_splits=4), "4 folds are more than the 3 units"),
        (lambda: k_folds(6, np.array(list("aabbcc")), n_splits=3), "more than the members of each stratum"),
    ],
)
def test_impossible_divisions_are_named(call, message):
    with pytest.raises(ValueError, match=message):
        next(call())


def test_small_strata_are_warned_about():
    strata = np.array(list("aaaaab"))
    with pytest.warns(UserWarning, match="only 1 members"):
        ours = list(k_folds(6, strata, n_splits=3, random_state=0))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        _same(ours, StratifiedKFold(3, shuffle=True, random_state=0).split(np.zeros(6), strata))
