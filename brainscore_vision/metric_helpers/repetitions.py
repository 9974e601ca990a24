"""Repetitions that tell nothing about noise: copies, and responses that drift in the same order in all of them."""

import math
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike, NDArray

from brainscore_core.metric_helpers.alignment import MetricInputError, listed
from brainscore_core.provenance import remark
from brainscore_core.supported_data_standards.brainio.assemblies import DataAssembly

_BY_CHANCE = 1e-4
_SAMPLED = 20_000
_DRAWN_TOWARDS = 10
_TOLERATED = 0.05  # share of presentations
_FEW = 8  # neuroids that are compared first

ORDERS = (
    "presentation_time", "presentation_order", "presentation_index", "trial_time", "trial_order", "trial_number",
    "trial_index", "trial", "onset_time", "onset", "start_time", "time", "frame", "frame_number", "frame_index",
)  # fmt: skip
"""Coordinates that tell when something was presented."""

SEQUENCES = ("subject", "session", "session_id", "run", "block", "video", "video_id", "video_name", "clip")
"""Coordinates whose values have an order of their own."""

_PERMUTATIONS = 999
_PROJECTED = 64

_AGREEMENT = 0.5
"""Mean correlation of the orders of repetitions above which what depends on the order repeats with it."""

_LEVEL = 0.01
"""Level of both tests of a ceiling together."""

_GROUPED = 4
"""Least mean number of stimuli in a category within which the order is tested."""

Codes = NDArray[np.intp]
Array = NDArray[np.float64]


@dataclass(frozen=True)
class Copies:
    """Equal responses of all neuroids in several presentations."""

    kind: str  # ``'repetitions'``: of the same stimulus; ``'stimuli'``: of different stimuli
    presentations: int  # number of presentations that equal an earlier one
    of: int  # number of all presentations
    examples: tuple[str, ...]  # up to five of the stimuli
    expected: float  # number of equal pairs that is expected by chance, from pairs that are not equal

    @property
    def may_be_chance(self) -> bool:
        """Whether so few different values occur that responses may be equal by chance."""
        return self.expected >= _BY_CHANCE


def require_own_responses(values: NDArray[Any], ids: NDArray[Any], *, of: str = "presentations") -> None:
    """Raise an error if repetitions were copied: a ceiling of them would be the reliability of copies.

    Up to a twentieth of the presentations may equal others of their stimulus, and any number if responses have so few
    different values that they are equal by chance.

    `values` are presentations × neuroids; `of` says in the message what the rows are.
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

    Presentations of the same stimulus are compared, or of different ones (`kind`). Presentations in which all neuroids
    are missing are left out; and those in which all respond equally, or, where repetitions are compared, as they also
    do to another stimulus, such as silence.
    """
    responding = np.isfinite(values).any(axis=1)
    if kind == "stimuli":
        responding &= np.ptp(np.nan_to_num(values), axis=1) > 0
    rows, names = np.nan_to_num(values[responding], nan=-1e30).astype(np.float32) + np.float32(0), ids[responding]
    contents = [row.tobytes() for row in rows]
    if kind == "repetitions":
        stimuli: dict[bytes, set[Any]] = {}
        for content, name in zip(contents, names, strict=True):
            stimuli.setdefault(content, set()).add(name)
        alike = np.array([len(stimuli[content]) == 1 for content in contents], dtype=bool)
        rows, names, contents = (
            rows[alike],
            names[alike],
            [content for content in contents if len(stimuli[content]) == 1],
        )
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
    differing = equal < d
    overall = (equal[differing].sum() + usual) / (differing.sum() * d + 1)
    group = codes[pairs[:, 0]] if kind == "repetitions" else np.arange(len(pairs))
    entries = np.bincount(group, differing * d) + _DRAWN_TOWARDS
    share = (np.bincount(group, np.where(differing, equal, 0)) + _DRAWN_TOWARDS * overall) / entries
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
    first_member = rng.integers(0, sizes[drawn])
    second_member = (first_member + rng.integers(1, sizes[drawn])) % sizes[drawn]
    return number, order[starts[drawn, None] + np.stack([first_member, second_member], axis=1)]


def _number_equal(rows: NDArray[np.float32], pairs: NDArray[np.intp]) -> NDArray[np.intp]:
    """Number of equal neuroids in each pair of presentations."""
    batches = np.array_split(pairs, len(pairs) // 500 + 1)
    return np.concatenate([(rows[batch[:, 0]] == rows[batch[:, 1]]).sum(axis=1) for batch in batches])


def find_drift(
    assembly: DataAssembly,
    values: NDArray[Any],
    stimuli: Codes,
    repetitions: Codes,
    *,
    groups: Codes | None = None,
    permutations: int = 499,
) -> Literal["unknown", "none", "found"]:
    """Find out whether mean responses follow an order that is the same in all repetitions.

    A drift that begins anew in each repetition, such as adaptation, is then a part of the reliability, although no
    stimulus evoked it.

    Coordinates of the assembly tell the order (:data:`ORDERS`); ``'unknown'`` if none does. ``'found'`` comes with a
    warning, which the receipt keeps. Similar stimuli of one of the `groups` in succession are not a drift.

    Notes
    -----
    Orders of repetitions whose ranks correlate by less than 0.5 on average are different enough. Otherwise successive
    mean responses and their trend are tested by :func:`serial_tests`, at 0.01 together.
    """
    coord = next((name for name in ORDERS if is_order(assembly, name)), None)
    if coord is None:
        return "unknown"
    table = pd.DataFrame({"stimulus": stimuli, "repetition": repetitions, "time": numbers_of(assembly[coord].values)})
    table["place"] = table.groupby("repetition")["time"].rank(pct=True)
    positions = table.pivot_table(index="stimulus", columns="repetition", values="place")
    agreement = positions.corr(min_periods=3).to_numpy()
    agreement = agreement[np.triu_indices(len(agreement), 1)]
    if not np.isfinite(agreement).any() or np.nanmean(agreement) < _AGREEMENT:
        return "none"
    means = pd.DataFrame(np.asarray(values, dtype=np.float64)).groupby(stimuli).mean().loc[positions.index]
    strata = None
    if groups is not None:
        category = groups[positions.index]
        if len(np.unique(category)) * _GROUPED <= len(category):
            strata = category
    (successive, first), (trend, second) = serial_tests(
        means.to_numpy(), positions.mean(axis=1).to_numpy(), strata=strata, permutations=permutations
    )
    p = 2 * min(first, second)
    if not p <= _LEVEL:
        return "none"
    trending = f"their correlations with it are {trend:.2f} (root mean square)"
    finding = f"successive ones correlate by {successive:.2f}" if first <= second else trending
    remark(
        f"stimuli were shown in the same order in all repetitions ({coord}), and mean responses follow it: {finding} "
        f"(p = {p:.2g}). The ceiling counts a drift as signal; show the stimuli of "
        "each repetition in an order of its own, or, if similar stimuli follow each other, declare their groups"
    )
    return "found"


def serial_tests(
    values: ArrayLike,
    order: ArrayLike,
    *,
    strata: ArrayLike | None = None,
    sequence: ArrayLike | None = None,
    permutations: int = _PERMUTATIONS,
    seed: int = 0,
) -> tuple[tuple[float, float], tuple[float, float]]:
    """Test whether successive responses resemble each other, and whether responses drift.

    Returns (value, p) of the autocorrelation, the mean over neuroids of the correlation of successive responses, and of
    the drift, the root mean square over neuroids of the correlation with `order`. p-values are one-sided; NaN if no
    responses can be permuted. Neuroids with NaN, or that do not vary, and presentations without a time (NaN) are left
    out. Responses are permuted within `strata`, such as categories, after their means were subtracted; only
    presentations of the same `sequence`, such as a session, are successive.

    Notes
    -----
    If responses of a category are exchangeable, all permutations within categories are equally probable, whatever the
    order of categories: the test is exact [1]_. All neuroids of a presentation are permuted together. More than 64
    neuroids are projected at random on 64 dimensions.

    References
    ----------
    .. [1] Phipson & Smyth (2010). Permutation p-values should never be zero. https://doi.org/10.2202/1544-6115.1585

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> noise = rng.standard_normal((101, 5))
    >>> (r, p), _ = serial_tests(noise[1:] + noise[:-1], np.arange(100))
    >>> r > 0.3, p
    (True, 0.001)
    """
    time = np.asarray(order, dtype=np.float64)
    dated = np.isfinite(time)
    responses = np.asarray(values, dtype=np.float64)[dated]
    n = len(responses)
    session = np.zeros(n, dtype=np.intp) if sequence is None else np.asarray(sequence)[dated]
    stratum = np.zeros(n, dtype=np.intp)
    if strata is not None:
        stratum = np.unique(np.asarray(strata)[dated], return_inverse=True)[1].astype(np.intp)
    undefined = ((math.nan, math.nan), (math.nan, math.nan))
    if n < 3 or np.bincount(stratum).max() < 2:
        return undefined
    rng = np.random.default_rng(seed)
    sorted_rows = np.lexsort((time[dated], session))
    responses, session, stratum = responses[sorted_rows], session[sorted_rows], stratum[sorted_rows]
    responses = responses[:, np.isfinite(responses).all(axis=0)]
    means = np.zeros((int(stratum.max()) + 1, responses.shape[1]))
    np.add.at(means, stratum, responses)
    residual = responses - (means / np.bincount(stratum)[:, None])[stratum]
    spread = residual.std(axis=0)
    varying = spread > 1e-12 * np.maximum(np.abs(responses).max(axis=0, initial=0), 1e-300)
    residual = residual[:, varying] / spread[varying]
    d = residual.shape[1]
    if not d:
        return undefined
    if d > _PROJECTED:
        residual = residual @ (rng.standard_normal((d, _PROJECTED)) / math.sqrt(_PROJECTED))
    position = np.arange(n, dtype=np.float64)
    for number in np.unique(session):
        position[session == number] -= position[session == number].mean()
    position /= max(float(np.linalg.norm(position)), 1e-300)
    pairs = np.flatnonzero(session[1:] == session[:-1])
    if not len(pairs):
        return undefined

    def statistics(rows: Codes) -> tuple[float, float]:
        shown = residual[rows]
        successive = float(np.einsum("ij,ij->", shown[pairs], shown[pairs + 1])) / (len(pairs) * d)
        trend = position @ shown
        return successive, float(np.sqrt(trend @ trend / (n * d)))

    observed = statistics(np.arange(n))
    positions = np.argsort(stratum, kind="stable")
    reached = np.ones(2)
    rows = np.empty(n, dtype=np.intp)
    for _ in range(permutations):
        rows[positions] = np.lexsort((rng.random(n), stratum))
        reached += np.array(statistics(rows)) >= np.array(observed) - 1e-12
    p_values = reached / (permutations + 1)
    return (observed[0], float(p_values[0])), (observed[1], float(p_values[1]))


def is_order(assembly: DataAssembly, name: str) -> bool:
    """Whether a coordinate of presentations has numbers or dates that put them in order."""
    if name not in assembly.coords or assembly[name].dims != ("presentation",):
        return False
    values = np.asarray(assembly[name].values)
    return values.dtype.kind in "iufM" and len(np.unique(values)) > 2


def numbers_of(values: Any) -> Array:
    """Dates as numbers; NaN for missing ones."""
    values = np.asarray(values)
    if values.dtype.kind == "M":
        return np.where(np.isnat(values), np.nan, values.astype(np.int64).astype(np.float64))
    return values.astype(np.float64)
