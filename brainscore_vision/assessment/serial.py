"""Whether responses depend on when they were recorded."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike, NDArray

from brainscore_core.numerics.significance import corrected
from brainscore_core.supported_data_standards.brainio.assemblies import DataAssembly
from brainscore_core.supported_data_standards.brainio.stimulus_groups import GROUPS
from brainscore_vision.assessment.overlaps import Parts, repetitions_of
from brainscore_vision.metric_helpers.alignment import coord_values

__all__ = [
    "CATEGORIES",
    "ORDERS",
    "SEQUENCES",
    "Order",
    "SerialTest",
    "find_dependence",
    "responses_of",
    "serial_tests",
]

CATEGORIES = (*GROUPS, "condition")
"""Coordinates within which the order of presentations is tested."""

ORDERS = (
    "presentation_time", "presentation_order", "presentation_index", "trial_time", "trial_order", "trial_number",
    "trial_index", "trial", "onset_time", "onset", "start_time", "time", "frame", "frame_number", "frame_index",
)  # fmt: skip
"""Coordinates that tell when something was presented."""

SEQUENCES = ("subject", "session", "session_id", "run", "block", "video", "video_id", "video_name", "clip")
"""Coordinates whose values have an order of their own."""

_LEVEL = 0.05
_PERMUTATIONS = 999
_PROJECTED = 64

Codes = NDArray[np.intp]
Array = NDArray[np.float64]


@dataclass(frozen=True)
class SerialTest:
    """A permutation test of responses over the order of presentations.

    Attributes
    ----------
    kind : {'autocorrelation', 'drift'}
        Correlation of successive responses; trend over the order.
    recordings : {'averaged', 'repetitions'}
        What was tested.
    order : str
        Coordinate with the order.
    within : str
        Coordinate within whose values responses were permuted; empty if it was all of them.
    value : float
        Mean correlation of successive responses, or root mean square over neuroids of the correlation with the order.
    p, p_corrected : float
        One-sided p-value, and the same by Holm's method over all tests of the audit.
    presentations : int
        Their number.
    """

    kind: str
    recordings: str
    order: str
    within: str
    value: float
    p: float
    p_corrected: float
    presentations: int

    @property
    def found(self) -> bool:
        """Whether the corrected p-value is at most 0.05."""
        return self.p_corrected <= _LEVEL


class Order(NamedTuple):
    """When the stimuli of the table were presented."""

    ids: NDArray[Any]
    place: Codes
    sequence: Codes


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

    Parameters
    ----------
    values : array, presentations × neuroids
        Responses. Neuroids with NaN, or that do not vary, are left out.
    order : array (presentations,)
        When they were presented; presentations without a time (NaN) are left out.
    strata : array (presentations,), optional
        Category of each presentation: responses are permuted within categories, after their means were subtracted.
    sequence : array (presentations,), optional
        Session of each presentation: only presentations of the same one are successive.
    permutations : int
        Number of permutations.
    seed : int
        Seed of the permutations.

    Returns
    -------
    (value, p) of the autocorrelation, (value, p) of the drift
        Mean over neuroids of the correlation of successive responses; root mean square over neuroids of the correlation
        with the order. One-sided p-values. NaN if no responses can be permuted.

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
    known = np.isfinite(time)
    responses = np.asarray(values, dtype=np.float64)[known]
    n = len(responses)
    session = np.zeros(n, dtype=np.intp) if sequence is None else np.asarray(sequence)[known]
    stratum = np.zeros(n, dtype=np.intp)
    if strata is not None:
        stratum = np.unique(np.asarray(strata)[known], return_inverse=True)[1].astype(np.intp)
    undefined = ((math.nan, math.nan), (math.nan, math.nan))
    if n < 3 or np.bincount(stratum).max() < 2:
        return undefined
    rng = np.random.default_rng(seed)
    sorted_rows = np.lexsort((time[known], session))
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
    place = np.arange(n, dtype=np.float64)
    for number in np.unique(session):
        place[session == number] -= place[session == number].mean()
    place /= max(float(np.linalg.norm(place)), 1e-300)
    pairs = np.flatnonzero(session[1:] == session[:-1])
    if not len(pairs):
        return undefined

    def statistics(rows: Codes) -> tuple[float, float]:
        shown = residual[rows]
        successive = float(np.einsum("ij,ij->", shown[pairs], shown[pairs + 1])) / (len(pairs) * d)
        trend = place @ shown
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


def find_dependence(parts: Parts, seed: int) -> tuple[tuple[SerialTest, ...], Order | None, list[str]]:
    """Tests of averaged responses within categories, and of repetitions within stimuli."""
    tests: list[SerialTest] = []
    order = None
    candidates = [("averaged", parts.recordings[:1]), ("repetitions", repetitions_of(parts)[0])]
    for kind, recordings in candidates:
        for assembly in recordings:
            coord = next((name for name in ORDERS if _is_order(assembly, name)), None)
            if coord is None:
                continue
            ids = coord_values(assembly, "stimulus_id", role="recordings")
            time = _numbers(assembly[coord].values)
            sequence = _crossed(assembly, SEQUENCES)
            if kind == "averaged":
                within, strata = _categories(assembly)
                place = np.empty(len(ids), dtype=np.intp)
                place[np.lexsort((time, sequence))] = np.arange(len(ids))
                order = Order(ids, place, sequence)
            else:
                within, strata = "stimulus_id", pd.factorize(pd.Series(ids))[0]
            values = serial_tests(responses_of(assembly), time, strata=strata, sequence=sequence, seed=seed)
            tests += [
                SerialTest(name, kind, coord, within, value, p, math.nan, len(ids))
                for name, (value, p) in zip(("autocorrelation", "drift"), values, strict=True)
                if not math.isnan(p)
            ]
    adjusted = corrected([test.p for test in tests])
    notes = [] if tests or not parts.neural else ["dependence over time was not tested: no coordinate tells the order"]
    together = zip(tests, adjusted, strict=True)
    return tuple(SerialTest(**asdict(test) | {"p_corrected": float(p)}) for test, p in together), order, notes


def _is_order(assembly: DataAssembly, name: str) -> bool:
    if name not in assembly.coords or assembly[name].dims != ("presentation",):
        return False
    values = np.asarray(assembly[name].values)
    return values.dtype.kind in "iufM" and len(np.unique(values)) > 2


def _numbers(values: Any) -> Array:
    values = np.asarray(values)
    if values.dtype.kind == "M":
        missing = np.isnat(values)
        return np.where(missing, np.nan, values.astype(np.int64).astype(np.float64))
    return values.astype(np.float64)


def _crossed(assembly: DataAssembly, names: Sequence[str]) -> Codes:
    """Number of the combination of values of these coordinates, for each presentation."""
    columns = {
        name: np.asarray(assembly[name].values)
        for name in names
        if name in assembly.coords and assembly[name].dims == ("presentation",)
    }
    if not columns:
        return np.zeros(assembly.sizes["presentation"], dtype=np.intp)
    return np.asarray(pd.DataFrame(columns).groupby(list(columns), dropna=False).ngroup(), dtype=np.intp)


def _categories(assembly: DataAssembly) -> tuple[str, Codes]:
    """The finest coordinate of categories most of whose values have at least four presentations."""
    best, name = np.zeros(assembly.sizes["presentation"], dtype=np.intp), ""
    for candidate in CATEGORIES:
        if candidate not in assembly.coords or candidate in SEQUENCES or assembly[candidate].dims != ("presentation",):
            continue
        codes = np.asarray(pd.factorize(pd.Series(assembly[candidate].values), use_na_sentinel=False)[0], dtype=np.intp)
        if (np.bincount(codes)[codes] >= 4).mean() >= 0.8 and codes.max() > best.max():
            best, name = codes, candidate
    return name, best


def responses_of(assembly: DataAssembly) -> Array:
    """Responses, presentations × neuroids; time bins count as neuroids."""
    values = np.asarray(assembly.transpose("presentation", ...).values, dtype=np.float64)
    return values.reshape(len(values), -1)
