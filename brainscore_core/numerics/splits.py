"""Random divisions of n units, equal to those of scikit-learn's splitters with the same seed.

They are implemented here so that a seed gives the same splits for all versions of scikit-learn, and because importing
scikit-learn takes long.
"""

import math
import warnings
from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

Rows = NDArray[np.intp]
Pair = tuple[Rows, Rows]


def shuffle_splits(
    n: int,
    strata: NDArray[Any] | None = None,
    *,
    n_splits: int = 10,
    train_size: float | None = None,
    test_size: float | None = None,
    random_state: Any = None,
) -> Iterator[Pair]:
    """Training and test units, drawn independently for each split.

    Parameters
    ----------
    n : int
        Number of units.
    strata : array, optional
        Stratum of each unit; both sides hold the strata in equal shares.
    n_splits : int
        Number of splits.
    train_size, test_size : float or int, optional
        Share or number of units; if one is omitted, the rest; if both are, a tenth is for testing.
    random_state : int, numpy.random.RandomState or None
        Seed of NumPy's legacy generator; None for its global state.

    Yields
    ------
    train, test : array of int
        As from ``StratifiedShuffleSplit`` or, without `strata`, ``ShuffleSplit``.

    Raises
    ------
    ValueError
        If the sizes are impossible, or there are too few units of a stratum.

    Examples
    --------
    >>> train, test = next(shuffle_splits(6, train_size=0.5, random_state=1))
    >>> train.tolist(), test.tolist()
    ([0, 3, 5], [2, 1, 4])
    """
    n_train, n_test = _sizes(n, train_size, test_size)
    if strata is None:
        rng = _generator(random_state)
        for _ in range(n_splits):
            order = rng.permutation(n)
            yield order[n_test : n_test + n_train], order[:n_test]
        return
    _, codes, counts = np.unique(strata, return_inverse=True, return_counts=True)
    if counts.min() < 2:
        raise ValueError("a stratum has only one member, but each needs at least 2")
    for side, size in (("train", n_train), ("test", n_test)):
        if size < len(counts):
            raise ValueError(f"the {size} units to {side} on are fewer than the {len(counts)} strata")
    members = np.split(np.argsort(codes, kind="stable"), np.cumsum(counts)[:-1])
    rng = _generator(random_state)
    for _ in range(n_splits):
        in_train = _shares(counts, n_train, rng)
        in_test = _shares(counts - in_train, n_test, rng)
        train, test = [], []
        for rows, first, second in zip(members, in_train, in_test, strict=True):
            shuffled = rows[rng.permutation(len(rows))]
            train.append(shuffled[:first])
            test.append(shuffled[first : first + second])
        yield rng.permutation(np.concatenate(train)), rng.permutation(np.concatenate(test))


def k_folds(
    n: int, strata: NDArray[Any] | None = None, *, n_splits: int = 10, random_state: Any = None
) -> Iterator[Pair]:
    """Training and test units of shuffled folds; each unit is tested once.

    Both sorted, as from ``StratifiedKFold(shuffle=True)`` or, without `strata`, ``KFold(shuffle=True)``. A ValueError
    with fewer than 2 folds, or fewer units (of each stratum) than folds.

    Examples
    --------
    >>> [test.tolist() for _, test in k_folds(5, n_splits=2, random_state=0)]
    [[0, 1, 2], [3, 4]]
    """
    if n_splits < 2:
        raise ValueError(f"{n_splits} folds; at least 2 are needed")
    if n_splits > n:
        raise ValueError(f"{n_splits} folds are more than the {n} units")
    rng = _generator(random_state)
    fold = np.empty(n, dtype=np.intp)
    if strata is None:
        order = np.arange(n)
        rng.shuffle(order)
        sizes = n // n_splits + (np.arange(n_splits) < n % n_splits)
        fold[order] = np.repeat(np.arange(n_splits), sizes)
    else:
        _, first, codes = np.unique(strata, return_index=True, return_inverse=True)
        codes = np.argsort(np.argsort(first))[codes]  # numbered in order of first appearance
        counts = np.bincount(codes)
        if counts.max() < n_splits:
            raise ValueError(f"{n_splits} folds are more than the members of each stratum")
        if counts.min() < n_splits:
            warnings.warn(
                f"a stratum has only {counts.min()} members, fewer than the {n_splits} folds", stacklevel=2
            )  # fmt: skip
        ordered = np.sort(codes)
        shares = np.array([np.bincount(ordered[i::n_splits], minlength=len(counts)) for i in range(n_splits)])
        for stratum, share in enumerate(shares.T):
            folds = np.repeat(np.arange(n_splits), share)
            rng.shuffle(folds)
            fold[codes == stratum] = folds
    for number in range(n_splits):
        tested = fold == number
        yield np.flatnonzero(~tested), np.flatnonzero(tested)


def _generator(random_state: Any) -> Any:
    if random_state is None:
        return np.random
    if isinstance(random_state, np.random.RandomState):
        return random_state
    return np.random.RandomState(random_state)  # the generator of the published splits


def _sizes(n: int, train_size: float | None, test_size: float | None) -> tuple[int, int]:
    if train_size is None and test_size is None:
        test_size = 0.1
    sizes = {"train_size": train_size, "test_size": test_size}
    number: dict[str, int] = {}
    for name, size in sizes.items():
        if size is None:
            continue
        whole = isinstance(size, int | np.integer)
        if not (0 < size < (n if whole else 1)):
            limits = f"a number from 1 to {n - 1}" if whole else "a share between 0 and 1"
            raise ValueError(f"{name}={size} of {n} units; {limits} is needed")
        number[name] = int(size) if whole else int((math.floor if name == "train_size" else math.ceil)(size * n))
    n_train = number["train_size"] if "train_size" in number else n - number["test_size"]
    n_test = number["test_size"] if "test_size" in number else n - number["train_size"]
    if n_train + n_test > n:
        raise ValueError(f"train_size={train_size} and test_size={test_size} are more than all of {n} units")
    if n_train < 1:
        raise ValueError(f"train_size={train_size}, test_size={test_size} leave none of {n} units to fit on")
    return n_train, n_test


def _shares(counts: Rows, number: int, rng: Any) -> Rows:
    """Number of units to draw from each stratum: in proportion, remainders by size, equal remainders at random."""
    exact = counts / counts.sum() * number
    shares = np.floor(exact)
    missing = int(number - shares.sum())
    remainder = exact - shares
    for value in np.unique(remainder)[::-1]:
        if missing <= 0:
            break
        equal = np.flatnonzero(remainder == value)
        drawn = min(len(equal), missing)
        shares[rng.choice(equal, size=drawn, replace=False)] += 1
        missing -= drawn
    return shares.astype(np.intp)
