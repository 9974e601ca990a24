"""Places and prizes."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from decimal import ROUND_DOWN, Decimal

__all__ = ["places", "prizes_of"]

_DIGITS = 10
_CENT = Decimal("0.01")


def places(values: Sequence[float], *, lowest_wins: bool) -> tuple[int, ...]:
    """Places from 1; who is equal (to ten decimals) shares one, and the places after it stay empty: 1, 1, 3."""
    keys = [round(value if lowest_wins else -value, _DIGITS) for value in values]
    return tuple(1 + sum(other < key for other in keys) for key in keys)


def prizes_of(taken: Sequence[int], prizes: Sequence[Decimal], *, split: bool = True) -> tuple[Decimal | None, ...]:
    """What each place wins.

    Parameters
    ----------
    taken : sequence of int
        Places as `places` gives them.
    prizes : sequence of Decimal
        Of the first place, the second, ….
    split : bool
        Whether those who share a place share evenly, to the cent, rounded down, what it and the places that it takes up
        win together. Else the organisers decide.

    Returns
    -------
    tuple
        None: the organisers decide; 0: nothing.
    """
    shared = Counter(taken)
    found: list[Decimal | None] = []
    for place in taken:
        pool = sum(prizes[place - 1 : place - 1 + shared[place]], Decimal(0))
        if shared[place] == 1 or not pool:
            found.append(pool)
        else:
            found.append((pool / shared[place]).quantize(_CENT, ROUND_DOWN) if split else None)
    return tuple(found)
