"""Whether responses depend on when they were recorded."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from brainscore_core.numerics.significance import corrected
from brainscore_core.supported_data_standards.brainio.assemblies import DataAssembly
from brainscore_core.supported_data_standards.brainio.stimulus_groups import GROUPS
from brainscore_vision.assessment.overlaps import Parts, repetitions_of
from brainscore_vision.metric_helpers.alignment import coord_values
from brainscore_vision.metric_helpers.repetitions import (
    ORDERS,
    SEQUENCES,
    is_order,
    numbers_of,
    serial_tests,
)

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

_LEVEL = 0.05

Codes = NDArray[np.intp]
Array = NDArray[np.float64]


@dataclass(frozen=True)
class SerialTest:
    """A permutation test of responses over the order of presentations."""

    kind: str  # 'autocorrelation' or 'drift'; correlation of successive responses; trend over the order
    recordings: str  # 'averaged' or 'repetitions'
    order: str  # coordinate with the order
    within: str  # coordinate within whose values responses were permuted; empty if it was all of them
    # Mean correlation of successive responses, or root mean square over neuroids of the correlation with the order
    value: float
    # p and p_corrected: one-sided p-value, and the same by Holm's method over all tests of the audit
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


def find_dependence(parts: Parts, seed: int) -> tuple[tuple[SerialTest, ...], Order | None, list[str]]:
    """Tests of averaged responses within categories, and of repetitions within stimuli."""
    tests: list[SerialTest] = []
    order = None
    candidates = [("averaged", parts.recordings[:1]), ("repetitions", repetitions_of(parts)[0])]
    for kind, recordings in candidates:
        for assembly in recordings:
            coord = next((name for name in ORDERS if is_order(assembly, name)), None)
            if coord is None:
                continue
            ids = coord_values(assembly, "stimulus_id", role="recordings")
            time = numbers_of(assembly[coord].values)
            sequence = _crossed(assembly, SEQUENCES)
            if kind == "averaged":
                within, strata = _categories(assembly)
                position = np.empty(len(ids), dtype=np.intp)
                position[np.lexsort((time, sequence))] = np.arange(len(ids))
                order = Order(ids, position, sequence)
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
