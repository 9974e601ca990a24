"""Nearest names for one that does not exist."""

from __future__ import annotations

import difflib
from collections.abc import Iterable

__all__ = ["nearest"]


def nearest(name: str, candidates: Iterable[str], *, limit: int = 5) -> list[str]:
    """Give the candidates that a user may have meant, the likeliest first.

    Parameters
    ----------
    name : str
        What was asked for.
    candidates : iterable of str
        What there is.
    limit : int, optional
        How many to give at most.

    Returns
    -------
    list of str
        Names that are spelt alike (upper and lower case do not matter), then those that contain
        `name` or are contained in it.

    Examples
    --------
    >>> nearest("alexnt", ["alexnet", "resnet50", "pixels"])
    ['alexnet']
    >>> nearest("Geirhos", ["Geirhos2021edge-error_consistency", "rdm"])
    ['Geirhos2021edge-error_consistency']
    """
    spellings: dict[str, list[str]] = {}
    for candidate in candidates:
        spellings.setdefault(candidate.lower(), []).append(candidate)
    wanted = name.lower()
    close = difflib.get_close_matches(wanted, spellings, n=limit, cutoff=0.6)
    if len(wanted) >= 3:
        close += sorted(
            (known for known in spellings if wanted in known or (len(known) >= 3 and known in wanted)),
            key=lambda known: (abs(len(known) - len(wanted)), known),
        )
    found = [candidate for known in dict.fromkeys(close) for candidate in spellings[known]]
    return found[:limit]
