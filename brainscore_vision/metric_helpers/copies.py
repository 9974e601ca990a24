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
    some = np.ascontiguousarray(some, dtype=np.float32).view([("", np.float32)] * some.shape[1]).ravel()
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
        Responses. Presentations in which all neuroids are missing are left out; and those in which all respond equally,
        or, where repetitions are compared, as they also do to another stimulus, such as silence.
    ids : array (presentations,)
        Stimulus of each presentation.
    """
    known = np.isfinite(values).any(axis=1)
    if kind == "stimuli":
        known &= np.ptp(np.nan_to_num(values), axis=1) > 0
    rows, names = np.nan_to_num(values[known], nan=-1e30).astype(np.float32) + np.float32(0), ids[known]
    contents = [row.tobytes() for row in rows]
    if kind == "repetitions":
        stimuli: dict[bytes, set[Any]] = {}
        for content, name in zip(contents, names, strict=True):
            stimuli.setdefault(content, set()).add(name)
        own = np.array([len(stimuli[content]) == 1 for content in contents], dtype=bool)
        rows, names, contents = rows[own], names[own], [content for content in contents if len(stimuli[content]) == 1]
    first: dict[bytes, int] = {}
    copied = []
    for number, (content, name) in enumerate(zip(contents, names, strict=True)):
        earlier = first.setdefault(content, number)
        if earlier != number and (kind == "repetitions" or names[earlier] != name):
            copied.append(number)
    if not copied:
        return None
    examples = tuple(dict.fromkeys(names[copied].tolist()))[:5]
    return Copies(kind, len(copied), len(values), examples, _equal_by_chance(kind, rows, names))


def _equal_by_chance(kind: str, rows: NDArray[np.float32], ids: NDArray[Any]) -> float:
    """Expected number of equal pairs, from how many neuroids are equal in pairs that are not copies.

    If a share f of the neuroids is equal in pairs of presentations of a stimulus, all of them are equal with a
    probability of at most f to the power of their number, on average; f of few pairs is drawn towards that of all, and
    that of all, if all are copies, is that of presentations of different stimuli.
    """
    codes = np.unique(ids, return_inverse=True)[1]
    rng = np.random.default_rng(0)
    pairs = rng.integers(0, len(rows), (_SAMPLED, 2))
    pairs = pairs[codes[pairs[:, 0]] != codes[pairs[:, 1]]]
    number, d, usual = len(rows) * (len(rows) - 1) // 2, rows.shape[1], 0.5
    if kind == "repetitions":
        usual = float(np.mean(_number_equal(rows, pairs))) / d if len(pairs) else 0.5
        number, pairs = _pairs_of_groups(codes, rng)
    equal = _number_equal(rows, pairs)
    others = equal < d
    overall = (equal[others].sum() + usual) / (others.sum() * d + 1)
    group = codes[pairs[:, 0]] if kind == "repetitions" else np.arange(len(pairs))
    entries = np.bincount(group, others * d) + _DRAWN_TOWARDS
    share = (np.bincount(group, np.where(others, equal, 0)) + _DRAWN_TOWARDS * overall) / entries
    return float(np.mean(share[group] ** d) * number)


def _pairs_of_groups(codes: NDArray[np.intp], rng: np.random.Generator) -> tuple[int, NDArray[np.intp]]:
    """Number of pairs of members of the same group, and all of them, or some drawn with equal probability."""
    sizes = np.bincount(codes)
    counts = sizes * (sizes - 1) // 2
    number, order, starts = int(counts.sum()), np.argsort(codes, kind="stable"), np.cumsum(sizes) - sizes
    if number <= _SAMPLED:
        members = [order[start : start + size] for start, size in zip(starts, sizes, strict=True)]
        return number, np.concatenate([each[np.stack(np.triu_indices(len(each), 1), axis=1)] for each in members])
    drawn = rng.choice(len(sizes), _SAMPLED, p=counts / number)
    one = rng.integers(0, sizes[drawn])
    other = (one + rng.integers(1, sizes[drawn])) % sizes[drawn]
    return number, order[starts[drawn, None] + np.stack([one, other], axis=1)]


def _number_equal(rows: NDArray[np.float32], pairs: NDArray[np.intp]) -> NDArray[np.intp]:
    """Number of equal neuroids in each pair of presentations."""
    parts = np.array_split(pairs, len(pairs) // 500 + 1)
    return np.concatenate([(rows[part[:, 0]] == rows[part[:, 1]]).sum(axis=1) for part in parts])
