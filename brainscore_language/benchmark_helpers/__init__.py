"""Helpers of benchmarks."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from brainscore_core.errors import UserError
from brainscore_core.supported_data_standards.brainio.assemblies import DataAssembly, walk_coords
from brainscore_language.artificial_subject import ArtificialSubject

__all__ = ["ci_error", "manual_merge", "reading_times"]


def reading_times(candidate: ArtificialSubject, parts: Sequence[str]) -> NDArray[np.float64]:
    """Reading times of the parts of a text, one each, by a subject that does this task.

    Raises
    ------
    UserError
        If the subject returns another number of times, or something else.
    """
    answer = candidate.digest_text(list(parts))
    times = np.asarray(answer["behavior"] if isinstance(answer, Mapping) else None)
    if times.size != len(parts) or times.dtype.kind not in "iuf":
        what = f"{times.size} reading times" if times.dtype.kind in "iuf" else "no numbers"
        raise UserError(
            f"the subject returned {what} for {len(parts)} parts of a text",
            "return {'behavior': one time for each part, in their order}",
        )
    return times.astype(float).reshape(-1)


def ci_error(samples: Any, center: Any, confidence: float = 0.95) -> tuple[Any, Any]:
    """Distances from a centre to the lower and upper percentile of samples; NaN is ignored.

    Examples
    --------
    >>> low, high = ci_error(np.arange(101), 50)
    >>> float(low), float(high)
    (47.5, 47.5)
    """
    tail = 100 * (1 - confidence) / 2
    return center - np.nanpercentile(samples, tail), np.nanpercentile(samples, 100 - tail) - center


def manual_merge(*elements: DataAssembly, on: str = "neuroid") -> DataAssembly:
    """Join assemblies along a dimension; their other dimensions and coordinates must be equal.

    Raises
    ------
    ValueError
        If another dimension or coordinate differs.
    """
    first = elements[0]
    axis = first.dims.index(on)
    coords: dict[str, Any] = {}
    for name, dims, values in walk_coords(first):
        joined = [np.asarray(element[name].values) for element in elements]
        if tuple(dims) == (on,):
            coords[name] = (on, np.concatenate(joined))
        elif all(np.array_equal(values, other) for other in joined):
            coords[name] = (dims, values)
        else:
            raise ValueError(f"the assemblies differ in {name!r}; only coordinates of {on!r} may differ")
    if any(element.dims != first.dims for element in elements):
        raise ValueError(f"the assemblies have the dimensions {[element.dims for element in elements]}")
    values = np.concatenate([element.values for element in elements], axis=axis)
    return type(first)(values, coords=coords, dims=first.dims)
