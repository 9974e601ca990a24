"""Compare what is stored beside two receipts, value by value."""

from dataclasses import dataclass
from typing import Any

import numpy as np

__all__ = ["ArrayDifference", "array_difference"]

_IDENTITIES = ("stimulus_id", "neuroid_id", "subject", "region", "split")


@dataclass(frozen=True, kw_only=True)
class ArrayDifference:
    """How far two arrays are from each other.

    Attributes
    ----------
    kind : str
        ``'raw'`` or ``'predictions'``.
    largest : float or None
        Largest absolute difference over all values, in the unit of the values; None where they cannot be compared.
    spread : float or None
        Standard deviation of the first array's values, to compare it with.
    values : int
        How many values were compared. Where both are NaN, they are the same.
    problem : str or None
        Why they cannot be compared.
    """

    kind: str
    largest: float | None = None
    spread: float | None = None
    values: int = 0
    problem: str | None = None

    @property
    def same(self) -> bool:
        """Whether every value is the same."""
        return self.largest == 0

    def __str__(self) -> str:
        if self.largest is None:
            return f"{self.kind}: {self.problem}"
        if self.same:
            return f"{self.kind}: all {self.values} values are the same"
        spread = f", whose standard deviation is {self.spread:.2g}" if self.spread else ""
        return f"{self.kind}: the largest difference is {self.largest:.2g}, of {self.values} values{spread}"


def array_difference(kind: str, a: Any, b: Any) -> ArrayDifference:
    """Compare two arrays of the same layout.

    Parameters
    ----------
    kind : str
        What they are: ``'raw'``, ``'predictions'``.
    a, b : DataAssembly
        Of any dimensions. They are not brought into the same order: the same benchmark writes the same order.

    Examples
    --------
    >>> import xarray as xr
    >>> array_difference("raw", xr.DataArray([0.5, 0.25]), xr.DataArray([0.5, 0.75])).largest
    0.5
    """
    if a.dims != b.dims or a.shape != b.shape:
        shapes = (" × ".join(f"{size} {dim}" for dim, size in array.sizes.items()) for array in (a, b))
        return ArrayDifference(kind=kind, problem=f"the arrays are of other shapes: {next(shapes)} and {next(shapes)}")
    for name in _IDENTITIES:
        if name in a.coords and name in b.coords and not np.array_equal(a[name].values, b[name].values):
            return ArrayDifference(kind=kind, problem=f"the arrays are of other {name}, or in another order")
    left, right = (np.asarray(array.values, dtype=np.float64) for array in (a, b))
    if not left.size:
        return ArrayDifference(kind=kind, problem="the arrays are empty")
    missing = np.isnan(left)
    if not np.array_equal(missing, np.isnan(right)):
        count = int((missing != np.isnan(right)).sum())
        return ArrayDifference(kind=kind, problem=f"{count} values are undefined in one of the arrays only")
    with np.errstate(invalid="ignore"):  # the same infinity on both sides
        apart = np.where(left == right, 0.0, np.abs(left - right))[~missing]
    finite = np.isfinite(left)
    return ArrayDifference(
        kind=kind,
        largest=float(apart.max(initial=0.0)),
        spread=float(np.std(left[finite])) if finite.any() else None,
        values=int(apart.size),
    )
