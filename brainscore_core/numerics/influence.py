"""Influence of units on scores, by which scores are compared and averaged: the same unit acts on many scores."""

import hashlib
import math
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from brainscore_core.numerics._arrays import Array

__all__ = [
    "BLOCKS",
    "JointInfluence",
    "ScoreInfluence",
    "SharedVariance",
    "UnitInfluence",
    "comparable",
    "influence_of_difference",
    "joint_influence",
    "shared_variances",
    "unit_influence",
    "variance_of_mean",
]

BLOCKS = 512
"""Number of random blocks that more units than this are summed in, for a compact form."""

Codes = NDArray[np.uint64]


@dataclass(frozen=True, eq=False)
class UnitInfluence:
    """Influence of units of one kind on a score.

    Attributes
    ----------
    kind : str
        What the units are, such as ``'stimuli'``.
    data : str
        Data set that they are from. Units of the same kind and data set with the same code are the same.
    codes : array (units,) of uint64
        Hashes of their identifiers, increasing; or numbers of random blocks of units.
    values : array (units,)
        How much each changes the score; the sum of the squares is the variance of the score over such units.
    blocked : bool
        Whether the units are random blocks of units.
    paired : bool
        Whether other models are scored on the same units; False for a model's own neuroids.
    """

    kind: str
    data: str
    codes: Codes
    values: Array
    blocked: bool = False
    paired: bool = True

    def in_blocks(self) -> "UnitInfluence":
        """Sum the influence of the units in each of :data:`BLOCKS` blocks, by the hash of their identifiers."""
        if self.blocked:
            return self
        codes, places = np.unique(self.codes % np.uint64(BLOCKS), return_inverse=True)
        return replace(self, codes=codes, values=_sums(places, self.values, len(codes)), blocked=True)


def unit_influence(kind: str, data: str, ids: ArrayLike, values: ArrayLike, *, own: str = "") -> UnitInfluence:
    """Identify units by their kind, data set and identifier.

    Parameters
    ----------
    kind, data : str
        What the units are, and the data set that they are from.
    ids : array (units,)
        Identifiers, compared as text; influences with the same one are added.
    values : array (units,)
        How much each changes the score; the sum of the squares is the variance of the score.
    own : str
        Name of the score, if no other score can have the same units.

    Examples
    --------
    >>> first = unit_influence("stimuli", "Some2026", ["a", "b"], [0.1, -0.1])
    >>> second = unit_influence("stimuli", "Some2026", ["b", "a"], [0.2, -0.2])
    >>> bool((first.codes == second.codes).all()), (first.values / second.values).round(1).tolist()
    (True, [-0.5, -0.5])
    """
    names = np.asarray(ids).astype(str).tolist()
    codes, places = np.unique(
        np.array([_hash(f"{own}\n{name}") for name in names], dtype=np.uint64), return_inverse=True
    )
    return UnitInfluence(kind, data, codes, _sums(places, values, len(codes)), paired=not own)


def _sums(places: NDArray[np.intp], values: ArrayLike, n: int) -> Array:
    return np.asarray(np.bincount(places, np.asarray(values, dtype=np.float64), n), dtype=np.float64)


def _hash(text: str) -> int:
    return int.from_bytes(hashlib.blake2b(text.encode(), digest_size=8).digest(), "little")


@dataclass(frozen=True, eq=False)
class ScoreInfluence:
    """Influence of units on a score.

    Attributes
    ----------
    value : float
        The score before it was clamped, corrected for its known bias.
    parts : tuple of UnitInfluence
        One for each kind of units; their variances are added.
    bias : float
        The bias that `value` was corrected for.
    ceiling : float
        Change of the score by one standard error of its ceiling; 0 if the ceiling is exact.
    ceiling_id : str
        Identifies the ceiling. Scores with the same one share its error.
    """

    value: float
    parts: tuple[UnitInfluence, ...]
    bias: float = 0.0
    ceiling: float = 0.0
    ceiling_id: str = ""

    @property
    def fewest(self) -> int:
        """Smallest number of units of a kind."""
        return min([len(part.codes) for part in self.parts], default=0)

    def compact(self) -> "ScoreInfluence":
        """Sum units of which there are more than :data:`BLOCKS` in blocks."""
        parts = (part.in_blocks() if len(part.codes) > BLOCKS else part for part in self.parts)
        return replace(self, parts=tuple(parts))

    def signature(self) -> tuple[object, ...]:
        """Equal for scores that were measured on the same units against the same ceiling."""
        units = sorted(
            (part.kind, part.data, part.blocked, part.paired, part.codes.tobytes() if part.paired else b"")
            for part in self.parts
        )
        return (self.ceiling_id, *units)


def comparable(scores: Iterable[ScoreInfluence | None], *, fewest: int = 1) -> list[ScoreInfluence | None]:
    """Keep the scores that were measured on the units that most of them were measured on; None for the others.

    Parameters
    ----------
    scores : iterable of ScoreInfluence or None
        Of different models on one benchmark.
    fewest : int
        Scores with fewer units of a kind are not kept.
    """
    listed = [score if score is not None and score.fewest >= fewest else None for score in scores]
    known: dict[tuple[object, ...], tuple[object, ...]] = {}  # scores of a benchmark usually share the arrays of codes

    def signature(score: ScoreInfluence) -> tuple[object, ...]:
        parts = [(part.kind, part.data, part.blocked, part.paired, id(part.codes)) for part in score.parts]
        key = (score.ceiling_id, *parts)
        if key not in known:
            known[key] = score.signature()
        return known[key]

    signatures = [None if score is None else signature(score) for score in listed]
    counts = Counter(signature for signature in signatures if signature is not None)
    if not counts:
        return listed
    usual = counts.most_common(1)[0][0]
    return [score if signature == usual else None for score, signature in zip(listed, signatures, strict=True)]


class JointInfluence(NamedTuple):
    """Influence of units on the values of several models, for :func:`~brainscore_core.numerics.ranks_from_influence`.

    Attributes
    ----------
    parts : list of array (models, units)
        For each kind of units; NaN for a model without influence.
    units : list of float
        Number of independent units of each; infinite for ceilings, whose variances are known.
    """

    parts: list[Array]
    units: list[float]


def joint_influence(
    scores: Sequence[Sequence[ScoreInfluence | None]], weights: ArrayLike, *, ceilings: bool = True
) -> JointInfluence:
    """Sum influences over benchmarks, unit by unit.

    Parameters
    ----------
    scores : sequence (models) of sequence (benchmarks) of ScoreInfluence or None
        None if there is no influence; the model is then NaN, unless the weight is 0.
    weights : array (benchmarks,)
        Weights of the benchmarks in the mean.
    ceilings : bool
        Whether ceilings vary. They do not matter for which of two models is better on one benchmark.

    Returns
    -------
    JointInfluence

    Examples
    --------
    >>> units = [unit_influence("stimuli", "Some2026", ["a", "b"], values) for values in ([0.1, -0.1], [0.3, -0.3])]
    >>> first, second = (ScoreInfluence(0.5, (one,)) for one in units)
    >>> np.abs(joint_influence([[first, second], [second, first]], [0.5, 0.5]).parts[0]).round(2).tolist()
    [[0.2, 0.2], [0.2, 0.2]]
    """
    shares = np.asarray(weights, dtype=np.float64)
    used = np.flatnonzero(shares).tolist()
    missing = np.array([any(scores[model][at] is None for at in used) for model in range(len(scores))], dtype=bool)
    paired: dict[tuple[str, str], list[tuple[int, UnitInfluence]]] = {}
    own: dict[tuple[str, str], dict[int, list[tuple[int, UnitInfluence]]]] = {}
    known: dict[str, Array] = {}
    for model, of_model in enumerate(scores):
        for at in used:
            score = of_model[at]
            if score is None or missing[model]:
                continue
            for part in score.parts:
                scaled = replace(part, values=shares[at] * part.values)
                if part.paired:
                    paired.setdefault((part.kind, part.data), []).append((model, scaled))
                else:
                    own.setdefault((part.kind, part.data), {}).setdefault(model, []).append((0, scaled))
            if ceilings and score.ceiling:
                column = known.setdefault(score.ceiling_id, np.zeros(len(scores)))
                column[model] += shares[at] * score.ceiling
    parts = [_table(found, len(scores)) for found in paired.values()]
    units = [float(part.shape[1]) for part in parts]
    for by_model in own.values():  # units of one model each: only the variance matters
        tables = {model: _table(found, 1) for model, found in by_model.items()}
        spread = np.zeros(len(scores))
        spread[list(tables)] = [np.linalg.norm(table) for table in tables.values()]
        parts.append(np.diag(spread))
        units.append(float(min(table.shape[1] for table in tables.values())))
    if known:
        parts.append(np.stack(list(known.values()), axis=1))
        units.append(math.inf)
    if not parts:
        parts, units = [np.zeros((len(scores), 0))], [0.0]
    for table in parts:
        table[missing] = np.nan
    if missing.any() and not any(part.shape[1] for part in parts):
        parts, units = [np.where(missing, np.nan, 0.0)[:, None]], [1.0]
    return JointInfluence(parts, units)


class SharedVariance(NamedTuple):
    """Covariance of the scores of a model that is due to units of one kind of one data set.

    Attributes
    ----------
    benchmarks : array of int
        Positions of the scores.
    covariance : array (scores, scores)
        Their covariance.
    units : float
        Number of independent units; infinite if the covariance is known.
    """

    benchmarks: NDArray[np.intp]
    covariance: Array
    units: float


def shared_variances(scores: Sequence[ScoreInfluence | None]) -> list[SharedVariance]:
    """Covariance of the scores of one model on several benchmarks, by kind of units; it is 0 elsewhere.

    Examples
    --------
    >>> units = [unit_influence("stimuli", "Some2026", ["a", "b"], values) for values in ([0.1, -0.1], [0.3, -0.3])]
    >>> (found,) = shared_variances([ScoreInfluence(0.5, (one,)) for one in units])
    >>> found.covariance.round(2).tolist()
    [[0.02, 0.06], [0.06, 0.18]]
    """
    parts: dict[tuple[str, str, bool], list[tuple[int, UnitInfluence]]] = {}
    ceilings: dict[str, list[tuple[int, float]]] = {}
    for at, score in enumerate(scores):
        if score is None:
            continue
        for part in score.parts:
            parts.setdefault((part.kind, part.data, part.paired), []).append((at, part))
        if score.ceiling:
            ceilings.setdefault(score.ceiling_id, []).append((at, score.ceiling))
    found = []
    for listed in parts.values():
        if len(listed) == 1:  # as is usual; this takes half of the time of all means
            at, part = listed[0]
            covariance = np.array([[part.values @ part.values]])
            found.append(SharedVariance(np.array([at], dtype=np.intp), covariance, float(len(part.values))))
            continue
        of_units = sorted({at for at, _ in listed})
        rows = {at: row for row, at in enumerate(of_units)}
        table = _table([(rows[at], part) for at, part in listed], len(of_units))
        found.append(SharedVariance(np.array(of_units, dtype=np.intp), table @ table.T, float(table.shape[1])))
    for of_ceiling in ceilings.values():
        changes = np.array([change for _, change in of_ceiling])
        of_scores = np.array([at for at, _ in of_ceiling], dtype=np.intp)
        found.append(SharedVariance(of_scores, np.outer(changes, changes), math.inf))
    return found


def variance_of_mean(shared: Sequence[SharedVariance], weights: ArrayLike) -> tuple[Array, Array]:
    """Variances of weighted sums of scores, and their degrees of freedom.

    Parameters
    ----------
    shared : sequence of SharedVariance
        From :func:`shared_variances`.
    weights : array (sums, scores)
        Weights of the scores in each sum.

    Returns
    -------
    variance, df : array (sums,)
        Degrees of freedom by Satterthwaite's formula over the kinds of units.
    """
    table = np.atleast_2d(np.asarray(weights, dtype=np.float64))
    single = [part for part in shared if len(part.benchmarks) == 1]
    own = table[:, [int(part.benchmarks[0]) for part in single]]
    of_single = own**2 * np.array([float(part.covariance[0, 0]) for part in single])
    dfs = np.maximum(np.array([part.units for part in single]) - 1, 1.0)
    variance, squared = of_single.sum(axis=1), (of_single**2 / dfs).sum(axis=1)
    for part in shared:
        if len(part.benchmarks) > 1:
            own = table[:, part.benchmarks]
            of_part = np.maximum(np.einsum("ni,ij,nj->n", own, part.covariance, own), 0.0)
            variance, squared = variance + of_part, squared + of_part**2 / max(part.units - 1, 1.0)
    with np.errstate(divide="ignore", invalid="ignore"):
        df = np.where(squared > 0, variance**2 / squared, np.inf)
    return np.asarray(variance, dtype=np.float64), df


def influence_of_difference(first: ScoreInfluence, second: ScoreInfluence) -> ScoreInfluence:
    """Influence of units on the difference of two scores of one benchmark, first minus second.

    Raises
    ------
    ValueError
        If the scores were not measured on the same units.
    """
    if first.signature() != second.signature():
        raise ValueError("the two were not scored on the same units, or against different ceilings")
    theirs = {(part.kind, part.data): part for part in second.parts if part.paired}
    parts = []
    for part in first.parts:
        if part.paired:
            parts.append(replace(part, values=part.values - theirs[part.kind, part.data].values))
        else:
            parts.append(part)
    parts += [replace(part, values=-part.values) for part in second.parts if not part.paired]
    return ScoreInfluence(
        first.value - second.value,
        tuple(parts),
        first.bias - second.bias,
        first.ceiling - second.ceiling,
        first.ceiling_id,
    )


def _table(pieces: Sequence[tuple[int, UnitInfluence]], n_rows: int) -> Array:
    """Influences of the same kind of units, as rows × units; those of the same row are added."""
    if any(part.blocked for _, part in pieces):
        pieces = [(row, part.in_blocks()) for row, part in pieces]
    keys = [part.codes.tobytes() for _, part in pieces]
    distinct: Mapping[bytes, Codes] = {key: part.codes for key, (_, part) in zip(keys, pieces, strict=True)}
    if len(distinct) == 1:  # as is usual; codes are unique and sorted
        table = np.zeros((n_rows, len(pieces[0][1].codes)))
        for row, part in pieces:
            table[row] += part.values
        return table
    union = np.unique(np.concatenate(list(distinct.values())))
    places = {key: np.searchsorted(union, codes) for key, codes in distinct.items()}
    table = np.zeros((n_rows, len(union)))
    for key, (row, part) in zip(keys, pieces, strict=True):
        table[row, places[key]] += part.values
    return table
