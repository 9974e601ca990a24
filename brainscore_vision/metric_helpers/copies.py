"""Equal responses in several presentations, which were copied rather than measured."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from brainscore_vision.metric_helpers.alignment import MetricInputError, listed

__all__ = ["Copies", "equal_responses", "require_own_responses"]

_BY_CHANCE = 1e-4
_SAMPLED = 20_000
_DRAWN_TOWARDS = 10
_TOLERATED = 0.05  # share of presentations
_FEW = 8  # neuroids that are compared first

Array = NDArray[np.float64]


@dataclass(frozen=True)
class Copies:
    """Equal responses of all neuroids in several presentations.

    Attributes
    ----------
    kind : str
        ``'repetitions'``: of the same stimulus; ``'stimuli'``: of different stimuli.
    presentations : int
        Number of presentations that equal an earlier one.
    of : int
        Number of all presentations.
    examples : tuple of str
        Up to five of the stimuli.
    expected : float
        Number of equal pairs that is expected by chance, from pairs that are not equal.
    """

    kind: str
    presentations: int
    of: int
    examples: tuple[str, ...]
    expected: float

    @property
    def may_be_chance(self) -> bool:
        """Whether so few different values occur that responses may be equal by chance."""
        return self.expected >= _BY_CHANCE


def require_own_responses(values: NDArray[Any], ids: NDArray[Any], *, of: str = "presentations") -> None:
    """Raise an error if repetitions were copied: a ceiling of them would be the reliability of copies.

    Up to a twentieth of the presentations may equal others of their stimulus, and any number if responses have so few
    different values that they are equal by chance.

    Parameters
    ----------
    values : array, presentations × neuroids
        Responses.
    ids : array (presentations,)
        Stimulus of each presentation.
    of : str
        What the rows are, for the message.

    Raises
    ------
    MetricInputError
    """
    if len(values) < 2 or not values.shape[1]:
        return
    some = np.column_stack([np.unique(ids, return_inverse=True)[1], np.nan_to_num(values[:, :_FEW])])
    some = np.ascontiguousarray(some, dtype=np.float64).view([("", np.float64)] * some.shape[1]).ravel()
    if 1 - len(np.unique(some)) / len(some) <= _TOLERATED:
        return
    copies = equal_responses("repetitions", np.asarray(values, dtype=np.float64), ids)
    if copies is None or copies.may_be_chance or copies.presentations <= _TOLERATED * copies.of:
        return
    raise MetricInputError(
        f"{copies.presentations} of {copies.of} {of} have exactly the responses of another one to the same stimulus, "
        f"such as {listed(copies.examples[:2])}: they are copies, and tell nothing about noise",
        remedy="pass the responses of each presentation as they were measured",
    )


def equal_responses(kind: str, values: Array, ids: NDArray[Any]) -> Copies | None:
    """Find presentations whose responses equal those of an earlier presentation; None if there are none.

    Parameters
    ----------
    kind : {'repetitions', 'stimuli'}
        Whether presentations of the same stimulus are compared, or of different ones.
    values : array, presentations × neuroids
        Responses. Presentations in which all neuroids are missing, or respond equally, are left out.
    ids : array (presentations,)
        Stimulus of each presentation.
    """
    known = np.flatnonzero(np.isfinite(values).any(axis=1) & (np.ptp(np.nan_to_num(values), axis=1) > 0))
    rows, named = np.nan_to_num(values[known], nan=-1e300) + 0.0, ids[known]
    first: dict[Any, int] = {}
    copied = []
    for number, (row, name) in enumerate(zip(rows, named, strict=True)):
        key = (row.tobytes(), name) if kind == "repetitions" else row.tobytes()
        if key not in first:
            first[key] = number
        elif kind == "repetitions" or named[first[key]] != name:
            copied.append(number)
    if not copied:
        return None
    examples = tuple(dict.fromkeys(named[copied].tolist()))[:5]
    return Copies(kind, len(copied), len(values), examples, _equal_by_chance(kind, rows, named))


def _equal_by_chance(kind: str, rows: Array, ids: NDArray[Any]) -> float:
    """Expected number of equal pairs, from how many neuroids are equal in pairs that are not copies.

    If a share f of the neuroids is equal in pairs of presentations of a stimulus, all of them are equal with a
    probability of at most f to the power of their number, on average; f of few pairs is drawn towards that of all.
    """
    codes = np.unique(ids, return_inverse=True)[1]
    if kind == "repetitions":
        members = [np.flatnonzero(codes == code) for code in range(int(codes.max()) + 1)]
        pairs = np.concatenate([each[np.stack(np.triu_indices(len(each), 1), axis=1)] for each in members])
    else:
        pairs = np.random.default_rng(0).integers(0, len(rows), (_SAMPLED, 2))
        pairs = pairs[codes[pairs[:, 0]] != codes[pairs[:, 1]]]
    number, d = len(pairs), rows.shape[1]
    if kind == "stimuli":
        number = len(rows) * (len(rows) - 1) // 2
    elif number > _SAMPLED:
        pairs = pairs[np.random.default_rng(0).choice(number, _SAMPLED, replace=False)]
    equal = np.concatenate(
        [(rows[part[:, 0]] == rows[part[:, 1]]).sum(axis=1) for part in np.array_split(pairs, len(pairs) // 500 + 1)]
    )
    others = equal < d
    overall = (equal[others].sum() + 0.5) / (others.sum() * d + 1)
    group = codes[pairs[:, 0]] if kind == "repetitions" else np.arange(len(pairs))
    entries = np.bincount(group, others * d) + _DRAWN_TOWARDS
    share = (np.bincount(group, np.where(others, equal, 0)) + _DRAWN_TOWARDS * overall) / entries
    return float(np.mean(share[group] ** d) * number)
