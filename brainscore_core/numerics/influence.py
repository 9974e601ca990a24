"""Influence of units on scores, by which scores are compared and averaged: the same unit acts on many scores."""

import hashlib
import math
from collections import Counter
from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Any, NamedTuple, TypeVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from brainscore_core.numerics._matrices import CHUNK_BYTES, Array

BLOCKS = 512
"""Number of random blocks that more units than this are summed in, for a compact form."""

UNKNOWN = ""
"""Name of data that are not known: units of which it is one may be the same as any others of which it is."""

SUMS = 256
"""Number of random sums of what is counted twice."""

Codes = NDArray[np.uint64]


@dataclass(frozen=True, eq=False)
class UnitInfluence:
    """Influence of units of one kind on a score."""

    kind: str  # what the units are, such as ``'stimuli'``
    # Names of where they are from: data set, stimulus sets, study. Units of the same kind with the same code are the
    # same if their data share a name, or each shares one with the data of a third score, and so on.
    data: tuple[str, ...]
    codes: Codes  # (units,): hashes of their identifiers, increasing; or numbers of random blocks of units
    # (units,): how much each changes the score; the sum of the squares is the variance of the score over such units
    values: Array
    blocked: bool = False  # whether the units are random blocks of units
    paired: bool = True  # whether other models are scored on the same units; False for a model's own neuroids
    # (SUMS,): what other units of the score contain as well, such as effects of stimuli on single neuroids, in random
    # sums (:func:`random_sums`): the sum of their squares is subtracted from the variance. None if there is nothing,
    # or it is unknown.
    twice: Array | None = None

    @property
    def variance(self) -> float:
        """Variance of the score over these units."""
        counted_before = 0.0 if self.twice is None else float(self.twice @ self.twice)
        return max(float(self.values @ self.values) - counted_before, 0.0)

    def times(self, factor: float) -> "UnitInfluence":
        """Influence on a multiple of the score."""
        twice = None if self.twice is None else factor * self.twice
        return replace(self, values=factor * self.values, twice=twice)

    def in_blocks(self) -> "UnitInfluence":
        """Sum the influence of the units in each of :data:`BLOCKS` blocks, by the hash of their identifiers."""
        if self.blocked:
            return self
        codes, blocks = np.unique(self.codes % np.uint64(BLOCKS), return_inverse=True)
        return replace(self, codes=codes, values=_sums(blocks, self.values, len(codes)), blocked=True)


def unit_codes(ids: ArrayLike, *, own: str = "") -> Codes:
    """Hashes of identifiers, compared as text; `own` as for :func:`unit_influence`."""
    return np.array([_hash(f"{own}\n{name}") for name in np.asarray(ids).astype(str).tolist()], dtype=np.uint64)


def random_sums(effects: ArrayLike, rows: Codes, columns: Codes) -> Array:
    """Sum a table, or each of several, in :data:`SUMS` random sums with random signs.

    Sum and sign are the same for the same two codes, whichever is that of the row, so that pairs count in either order.
    The expected product of two tables' sums is that of the tables: their squares sum to that of the entries, with a
    relative standard deviation of √(2 / SUMS), 9 %.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> codes = unit_codes(range(100))
    >>> table = rng.standard_normal((100, 100))
    >>> sums = random_sums(table, codes, codes)
    >>> bool(abs(sums @ sums / np.sum(table**2) - 1) < 0.3)
    True
    """
    shape = np.shape(effects)
    tables = np.asarray(effects, dtype=np.float64).reshape(-1, *shape[-2:])
    totals, step = np.zeros((len(tables), SUMS)), max(1, CHUNK_BYTES // (8 * max(len(rows), 1)))
    for start in range(0, len(columns), step):
        hashed = _mixed(rows[:, None] + columns[None, start : start + step])
        sums, signs = (hashed % np.uint64(SUMS)).astype(np.intp).ravel(), np.where(hashed >> np.uint64(63), 1.0, -1.0)
        for total, table in zip(totals, tables, strict=True):
            total += np.bincount(sums, (signs * table[:, start : start + step]).ravel(), SUMS)
    return totals.reshape(*shape[:-2], SUMS)


def remaining_variance(variance: Array | float, twice: Array | float, units: float) -> Array:
    """Variance of differences without what is counted twice.

    Both are estimated from so many units: what remains is at least the standard error of the whole, √(2 / (units − 1))
    of it.
    """
    return np.maximum(variance - twice, variance * min(math.sqrt(2 / max(units - 1, 1)), 1.0))


def _mixed(codes: Codes) -> Codes:
    """Spread the bits of hashes [Steele, Lea & Flood 2014, doi:10.1145/2660193.2660195]."""
    codes = (codes ^ (codes >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    codes = (codes ^ (codes >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return codes ^ (codes >> np.uint64(31))


def unit_influence(
    kind: str,
    data: str | Iterable[str],
    ids: ArrayLike,
    values: ArrayLike,
    *,
    own: str = "",
    twice: Array | None = None,
) -> UnitInfluence:
    """Identify units by their kind, where they are from, and identifier.

    Identifiers are compared as text, and influences with the same one are added; the sum of the squares of `values` is
    the variance of the score. `own` is the name of the score, if no other score can have the same units; `data` and
    `twice` are as for :class:`UnitInfluence`.

    Examples
    --------
    >>> first = unit_influence("stimuli", "Some2026", ["a", "b"], [0.1, -0.1])
    >>> second = unit_influence("stimuli", "Some2026", ["b", "a"], [0.2, -0.2])
    >>> bool((first.codes == second.codes).all()), (first.values / second.values).round(1).tolist()
    (True, [-0.5, -0.5])
    """
    codes, positions = np.unique(unit_codes(ids, own=own), return_inverse=True)
    sources = (data,) if isinstance(data, str) else tuple(data)
    return UnitInfluence(kind, sources, codes, _sums(positions, values, len(codes)), paired=not own, twice=twice)


def _sums(groups: NDArray[np.intp], values: ArrayLike, n: int) -> Array:
    return np.asarray(np.bincount(groups, np.asarray(values, dtype=np.float64), n), dtype=np.float64)


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

    def compact(self) -> "ScoreInfluence":
        """Sum units of which there are more than :data:`BLOCKS` in blocks."""
        blocked = (units.in_blocks() if len(units.codes) > BLOCKS else units for units in self.parts)
        return replace(self, parts=tuple(blocked))

    def signature(self) -> tuple[object, ...]:
        """Equal for scores that were measured on the same units against the same ceiling."""
        units = sorted(
            (unit.kind, unit.blocked, unit.paired, unit.codes.tobytes() if unit.paired else b"") for unit in self.parts
        )
        return (self.ceiling_id, *units)


Key = TypeVar("Key", bound=Hashable)


def linked(names: Mapping[Key, Iterable[str]]) -> dict[Key, int]:
    """Number the groups of keys that share a name, in any case, directly or through other keys.

    Examples
    --------
    >>> linked({"a": ["HvM"], "b": ["THINGS"], "c": ["hvm", "faces"], "d": ["faces"]})
    {'a': 0, 'b': 1, 'c': 0, 'd': 0}
    """
    parents: dict[str, str] = {}

    def root(name: str) -> str:
        while parents.setdefault(name, name) != name:
            parents[name] = name = parents[parents[name]]
        return name

    first: dict[Key, str] = {}
    for key, aliases in names.items():
        # without a name: linked to none
        roots = [root(name.casefold()) for name in aliases] or [root(f"\n{len(first)}")]
        for further_root in roots[1:]:
            parents[root(further_root)] = root(roots[0])
        first[key] = roots[0]
    numbers: dict[str, int] = {}
    return {key: numbers.setdefault(root(name), len(numbers)) for key, name in first.items()}


def unit_spaces(scores: Iterable[ScoreInfluence | None]) -> dict[tuple[str, tuple[str, ...]], tuple[str, int]]:
    """Find which kinds and data of units are the same, so that codes tell whether units are.

    Maps (kind, data) to the kind, and to a number that is the same for data that share names, directly or through
    others.

    Notes
    -----
    Units that are not the same and are taken for the same cost degrees of freedom only: what they do to a score is
    unrelated, so that the expected variance of the sum is that of two units.

    Examples
    --------
    >>> data = [("MajajHong2015", "hvm"), ("Sanghavi2020", "hvm"), ("Rajalingham2018", "objectome")]
    >>> scores = [ScoreInfluence(0.5, (unit_influence("stimuli", names, ["a"], [0.1]),)) for names in data]
    >>> list(unit_spaces(scores).values())
    [('stimuli', 0), ('stimuli', 0), ('stimuli', 1)]
    """
    return _spaces(tuple({(units.kind, units.data): None for score in scores if score for units in score.parts}))


@lru_cache(maxsize=256)
def _spaces(keys: tuple[tuple[str, tuple[str, ...]], ...]) -> dict[tuple[str, tuple[str, ...]], tuple[str, int]]:
    numbers = linked({key: [f"{key[0]}\n{name}" for name in key[1]] for key in keys})
    return {key: (key[0], number) for key, number in numbers.items()}


def comparable(scores: Iterable[ScoreInfluence | None]) -> list[ScoreInfluence | None]:
    """Keep the scores that were measured on the units that most of them were measured on; None for the others.

    Where they name the data of these units differently, as receipts of earlier versions do, those of most count; and
    where some do not know what is counted twice, none subtracts it.
    """
    listed = list(scores)
    # scores of a benchmark usually share the arrays of codes
    cached: dict[tuple[object, ...], tuple[object, ...]] = {}

    def signature(score: ScoreInfluence) -> tuple[object, ...]:
        unit_keys = [(units.kind, units.blocked, units.paired, id(units.codes)) for units in score.parts]
        key = (score.ceiling_id, *unit_keys)
        if key not in cached:
            cached[key] = score.signature()
        return cached[key]

    signatures = [None if score is None else signature(score) for score in listed]
    counts = Counter(signature for signature in signatures if signature is not None)
    if not counts:
        return listed
    usual = counts.most_common(1)[0][0]
    same = [score if signature == usual else None for score, signature in zip(listed, signatures, strict=True)]
    all_units = [units for score in same if score is not None for units in score.parts]
    if len({(units.kind, units.data, units.twice is None) for units in all_units}) == len(
        {units.kind for units in all_units}
    ):
        return same
    counted = Counter((units.kind, units.data) for units in all_units)
    names: dict[str, tuple[str, ...]] = {}
    for (kind, data), _ in counted.most_common():
        names.setdefault(kind, data)
    missing = {units.kind for units in all_units if units.twice is None}
    return [None if score is None else _as_others(score, names, missing) for score in same]


def _as_others(score: ScoreInfluence, names: Mapping[str, tuple[str, ...]], missing: set[str]) -> ScoreInfluence:
    """The same score, with the names of data that others have, and without what some of the others miss."""
    renamed = (
        replace(units, data=names[units.kind], twice=None if units.kind in missing else units.twice)
        for units in score.parts
    )
    return replace(score, parts=tuple(renamed))


class UnitTable(NamedTuple):
    """Influences of units of one kind from the same data, those of the same row added."""

    values: Array  # rows × units, or blocks of units
    twice: Array | None  # rows × sums: what other kinds of units contain as well; None if there is nothing


Pieces = list[tuple[int, float, UnitInfluence]]
"""Row of a table, factor, and the influences that are multiplied by it and added to the row."""


def unit_table(
    pieces: Pieces, n_rows: int, *, blocks: int = 0, dtype: type[np.floating[Any]] = np.float64
) -> UnitTable:
    """Sum influences by row and unit, or by row and block of units.

    Units are summed in so many blocks if `blocks` is given, and in :data:`BLOCKS` if some of them already are.

    Examples
    --------
    >>> units = unit_influence("stimuli", "Some2026", ["a", "b"], [1.0, -1.0])
    >>> np.abs(unit_table([(0, 1.0, units), (1, 2.0, units), (1, 1.0, units)], 2).values).tolist()
    [[1.0, 1.0], [3.0, 3.0]]
    """
    if not blocks and any(units.blocked for *_, units in pieces):
        blocks = BLOCKS
    distinct = {id(units.codes): units.codes for *_, units in pieces}  # scores of a benchmark often share the array
    if blocks:
        distinct = {key: codes % np.uint64(blocks) for key, codes in distinct.items()}
    columns = np.unique(np.concatenate(list({codes.tobytes(): codes for codes in distinct.values()}.values())))
    positions = {key: columns.searchsorted(codes) for key, codes in distinct.items()}
    table = np.zeros((n_rows, len(columns)), dtype)
    for row, factor, units in pieces:
        if blocks:
            table[row] += np.bincount(positions[id(units.codes)], factor * units.values, len(columns))
        else:
            table[row, positions[id(units.codes)]] += factor * units.values
    repeated = [(row, factor, units.twice) for row, factor, units in pieces if units.twice is not None]
    if not repeated:
        return UnitTable(table, None)
    twice = np.zeros((n_rows, min(blocks or SUMS, SUMS)), dtype)
    for row, factor, sums in repeated:
        twice[row] += factor * (sums if twice.shape[1] == SUMS else sums.reshape(-1, twice.shape[1]).sum(axis=0))
    return UnitTable(table, twice)


class JointInfluence(NamedTuple):
    """Influence of units on the values of models, for :func:`~brainscore_core.numerics.ranks_from_influence`."""

    parts: list[Array]  # (models, units): for each kind of units; NaN for a model without influence
    units: list[float]  # number of independent units of each; infinite for ceilings, whose variances are known
    twice: list[Array | None]  # (models, SUMS): for each kind, what other kinds contain as well


def joint_influence(
    scores: Sequence[Sequence[ScoreInfluence | None]], weights: ArrayLike, *, ceilings: bool = True
) -> JointInfluence:
    """Sum influences over benchmarks, unit by unit.

    The result of a model is NaN if the influence of a benchmark with a weight is None. `ceilings`, whether ceilings
    vary, does not matter for which of two models is better on one benchmark.

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
    spaces = unit_spaces(score for of_model in scores for score in of_model)
    paired: dict[tuple[str, int], Pieces] = {}
    unpaired: dict[tuple[str, int], dict[int, Pieces]] = {}
    of_ceilings: dict[str, Array] = {}
    for model, of_model in enumerate(scores):
        for at in used:
            score = of_model[at]
            if score is None or missing[model]:
                continue
            for influence in score.parts:
                space = spaces[influence.kind, influence.data]
                if influence.paired:
                    paired.setdefault(space, []).append((model, shares[at], influence))
                else:
                    unpaired.setdefault(space, {}).setdefault(model, []).append((0, shares[at], influence))
            if ceilings and score.ceiling:
                column = of_ceilings.setdefault(score.ceiling_id, np.zeros(len(scores)))
                column[model] += shares[at] * score.ceiling
    unit_tables = [unit_table(pieces, len(scores)) for pieces in paired.values()]
    model_tables, twice = [table.values for table in unit_tables], [table.twice for table in unit_tables]
    units = [float(table.shape[1]) for table in model_tables]
    for by_model in unpaired.values():  # units of one model each: only the variance matters
        tables = {model: unit_table(pieces, 1).values for model, pieces in by_model.items()}
        spread = np.zeros(len(scores))
        spread[list(tables)] = [np.linalg.norm(table) for table in tables.values()]
        model_tables.append(np.diag(spread))
        units.append(float(min(table.shape[1] for table in tables.values())))
    if of_ceilings:
        model_tables.append(np.stack(list(of_ceilings.values()), axis=1))
        units.append(math.inf)
    if not model_tables:
        model_tables, units, twice = [np.zeros((len(scores), 0))], [0.0], []
    for table in model_tables:
        table[missing] = np.nan
    if missing.any() and not any(table.shape[1] for table in model_tables):
        model_tables, units, twice = [np.where(missing, np.nan, 0.0)[:, None]], [1.0], []
    return JointInfluence(model_tables, units, [*twice, *[None] * (len(model_tables) - len(twice))])


class SharedVariance(NamedTuple):
    """Covariance of the scores of a model that is due to units of one kind of the same data."""

    benchmarks: NDArray[np.intp]  # positions of the scores
    covariance: Array  # (scores, scores): their covariance
    units: float  # number of independent units; infinite if the covariance is known


def shared_variances(scores: Sequence[ScoreInfluence | None]) -> list[SharedVariance]:
    """Covariance of the scores of one model on several benchmarks, by kind of units; it is 0 elsewhere.

    Examples
    --------
    >>> units = [unit_influence("stimuli", "Some2026", ["a", "b"], values) for values in ([0.1, -0.1], [0.3, -0.3])]
    >>> (found,) = shared_variances([ScoreInfluence(0.5, (one,)) for one in units])
    >>> found.covariance.round(2).tolist()
    [[0.02, 0.06], [0.06, 0.18]]
    """
    spaces = unit_spaces(scores)
    pieces_of_space: dict[tuple[tuple[str, int], bool], list[tuple[int, UnitInfluence]]] = {}
    ceilings: dict[str, list[tuple[int, float]]] = {}
    for at, score in enumerate(scores):
        if score is None:
            continue
        for units in score.parts:
            pieces_of_space.setdefault((spaces[units.kind, units.data], units.paired), []).append((at, units))
        if score.ceiling:
            ceilings.setdefault(score.ceiling_id, []).append((at, score.ceiling))
    shared = []
    for listed in pieces_of_space.values():
        if len(listed) == 1:  # as is usual; this takes half of the time of all means
            at, units = listed[0]
            covariance = np.array([[units.variance]])
            shared.append(SharedVariance(np.array([at], dtype=np.intp), covariance, float(len(units.values))))
            continue
        of_units = sorted({at for at, _ in listed})
        rows = {at: row for row, at in enumerate(of_units)}
        table, twice = unit_table([(rows[at], 1.0, units) for at, units in listed], len(of_units))
        covariance = table @ table.T if twice is None else table @ table.T - twice @ twice.T
        shared.append(SharedVariance(np.array(of_units, dtype=np.intp), covariance, float(table.shape[1])))
    for of_ceiling in ceilings.values():
        changes = np.array([change for _, change in of_ceiling])
        of_scores = np.array([at for at, _ in of_ceiling], dtype=np.intp)
        shared.append(SharedVariance(of_scores, np.outer(changes, changes), math.inf))
    return shared


def variance_of_mean(shared: Sequence[SharedVariance], weights: ArrayLike) -> tuple[Array, Array]:
    """Variances of weighted sums of scores, and their degrees of freedom.

    `weights` are sums × scores. Degrees of freedom are by Satterthwaite's formula over the kinds of units.
    """
    table = np.atleast_2d(np.asarray(weights, dtype=np.float64))
    single = [term for term in shared if len(term.benchmarks) == 1]
    term_weights = table[:, [int(term.benchmarks[0]) for term in single]]
    of_single = term_weights**2 * np.array([float(term.covariance[0, 0]) for term in single])
    dfs = np.maximum(np.array([term.units for term in single]) - 1, 1.0)
    variance, squared = of_single.sum(axis=1), (of_single**2 / dfs).sum(axis=1)
    for term in shared:
        if len(term.benchmarks) > 1:
            term_weights = table[:, term.benchmarks]
            of_part = np.maximum(np.einsum("ni,ij,nj->n", term_weights, term.covariance, term_weights), 0.0)
            variance, squared = variance + of_part, squared + of_part**2 / max(term.units - 1, 1.0)
    with np.errstate(divide="ignore", invalid="ignore"):
        df = np.where(squared > 0, variance**2 / squared, np.inf)
    return np.asarray(variance, dtype=np.float64), df


def influence_of_difference(first: ScoreInfluence, second: ScoreInfluence) -> ScoreInfluence:
    """Influence of units on the difference of two scores of one benchmark, first minus second.

    A ValueError if they were not measured on the same units.
    """
    if first.signature() != second.signature():
        raise ValueError("the two were not scored on the same units, or against different ceilings")
    theirs = {units.kind: units for units in second.parts if units.paired}
    differences = []
    for units in first.parts:
        if units.paired:
            counterpart = theirs[units.kind]
            twice = None if units.twice is None or counterpart.twice is None else units.twice - counterpart.twice
            differences.append(replace(units, values=units.values - counterpart.values, twice=twice))
        else:
            differences.append(units)
    differences += [units.times(-1.0) for units in second.parts if not units.paired]
    return ScoreInfluence(
        first.value - second.value,
        tuple(differences),
        first.bias - second.bias,
        first.ceiling - second.ceiling,
        first.ceiling_id,
    )
