"""Factorial designs: the presentation of each combination of stimulus parameters."""

from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from brainscore_core.errors import UserError

__all__ = ["Factorial", "condition_ranks", "factorial"]

_SHOWN = 3


class Factorial(NamedTuple):
    """Stimuli in which every combination of some parameters occurs once.

    Attributes
    ----------
    order : ndarray of int
        Positions of the stimuli, with one axis for each parameter.
    levels : dict of str to ndarray
        Ascending values of each parameter.
    """

    order: NDArray[np.intp]
    levels: dict[str, NDArray[Any]]


def factorial(columns: Mapping[str, ArrayLike], *, what: str = "the stimuli") -> Factorial:
    """Find the presentation of each combination of stimulus parameters, for stimuli in any order.

    Parameters
    ----------
    columns : mapping of str to array (stimuli,)
        Value of each parameter for each stimulus.
    what : str
        Name of the stimuli in messages.

    Returns
    -------
    Factorial

    Raises
    ------
    UserError
        If a combination is missing or occurs several times.

    Examples
    --------
    >>> design = factorial({"orientation": [0, 90, 0, 90], "phase": [0, 0, 180, 180]})
    >>> design.order.tolist()
    [[0, 2], [1, 3]]
    """
    levels = [np.unique(np.asarray(values), return_inverse=True) for values in columns.values()]
    shape = tuple(len(values) for values, _ in levels)
    cells = np.ravel_multi_index(tuple(codes.ravel() for _, codes in levels), shape)
    counts = np.bincount(cells, minlength=int(np.prod(shape)))
    if (counts != 1).any():
        wrong = np.flatnonzero(counts != 1)
        named = [_combination(columns, levels, np.unravel_index(cell, shape), counts[cell]) for cell in wrong[:_SHOWN]]
        more = f" and {len(wrong) - _SHOWN} more" if len(wrong) > _SHOWN else ""
        raise UserError(
            f"{what} do not show each combination of {', '.join(columns)} once: {'; '.join(named)}{more}",
            remedy="show all of them, and average repetitions first",
        )
    order = np.empty(len(cells), dtype=np.intp)
    order[cells] = np.arange(len(cells))
    return Factorial(order.reshape(shape), {name: values for name, (values, _) in zip(columns, levels, strict=True)})


def condition_ranks(values: ArrayLike, conditions: Mapping[str, ArrayLike]) -> NDArray[np.intp]:
    """Rank of each value among the stimuli of the same condition.

    Gratings with the same number of cycles have different radii at different spatial frequencies: the rank of the
    radius, with spatial frequency among the conditions, identifies the number of cycles.

    Parameters
    ----------
    values : array (stimuli,)
        Values to rank; equal values are ranked in the order of the stimuli.
    conditions : mapping of str to array (stimuli,)
        Stimuli that agree in all of these have the same condition.

    Returns
    -------
    array (stimuli,)
        From 0.

    Examples
    --------
    >>> condition_ranks([1.0, 0.5, 2.0, 1.0], {"spatial_frequency": [1, 2, 1, 2]}).tolist()
    [0, 0, 1, 1]
    """
    table = np.asarray(values)
    codes = np.zeros(len(table), dtype=np.intp)
    for column in conditions.values():
        levels, inverse = np.unique(np.asarray(column), return_inverse=True)
        codes = codes * len(levels) + inverse.ravel()
    order = np.lexsort((table, codes))
    starts = np.flatnonzero(np.r_[True, np.diff(codes[order]) != 0]) if len(order) else np.zeros(0, dtype=np.intp)
    lengths = np.diff(np.r_[starts, len(order)])
    ranks = np.empty(len(table), dtype=np.intp)
    ranks[order] = np.arange(len(order)) - np.repeat(starts, lengths)
    return ranks


def _combination(columns: Mapping[str, ArrayLike], all_levels: Any, cell: Any, count: int) -> str:
    values = ", ".join(
        f"{name} {levels[at]:.6g}" if levels.dtype.kind in "fiu" else f"{name} {levels[at]!r}"
        for name, (levels, _), at in zip(columns, all_levels, cell, strict=True)
    )
    return f"{values} is missing" if count == 0 else f"{values} occurs {count} times"
