"""A layer as one stimulus shows it: how wide it is, of which type, how it is reduced, where its units stand."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from brainscore_vision.model_helpers.activations._neuroids import LayerUnits
from brainscore_vision.model_helpers.activations.reduction import Reduction, make_reduction

__all__ = ["Response", "Timeline", "alike", "close", "responses"]

_TOLERANCE = 1e-3  # of a layer's largest value, between a stored response and the same computed again
_WIDE_TOLERANCE = 2e-2  # in half precision


@dataclass(frozen=True)
class Response:
    """A layer's response to the first stimulus, 1 × features or 1 × time × features.

    Attributes
    ----------
    values : array
        After reduction.
    units : LayerUnits
        Its name, and the places of its units.
    dtype : numpy.dtype
        Of the layer as it is recorded.
    steps : tuple of int
        Number of time steps, or empty.
    reduction : Reduction or None
        What makes fewer features of it.
    recorded : int or None
        Features before reduction, where there is one.
    """

    values: NDArray[Any]
    units: LayerUnits
    dtype: np.dtype[Any]
    steps: tuple[int, ...] = ()
    reduction: Reduction | None = None
    recorded: int | None = None

    @property
    def row(self) -> tuple[int, ...]:
        """Shape of one stimulus's response."""
        return (*self.steps, self.units.features)

    @property
    def first_shape(self) -> tuple[int, ...]:
        """Shape of one stimulus's response before reduction."""
        return (*self.steps, self.recorded or self.units.features)

    @property
    def described(self) -> dict[str, Any] | None:
        """The reduction in plain values."""
        return None if self.reduction is None else self.reduction.describe()

    @property
    def half(self) -> bool:
        """Whether it is computed or kept in half precision."""
        return min(self.dtype.itemsize, self.values.dtype.itemsize) < 4

    def rows(self, values: NDArray[Any]) -> NDArray[Any]:
        """Outputs of a batch as rows of this layer."""
        flat = values.reshape(*values.shape[: 1 + len(self.steps)], -1)
        if self.reduction is None:
            return flat
        return self.reduction.transform(flat.reshape(-1, flat.shape[-1])).reshape(len(flat), *self.row)

    def reduced(self, spec: str | None) -> "Response":
        """The same layer with fewer features; itself where it has no more than would be left."""
        if spec is None:
            return self
        reduction = make_reduction(spec)
        width = reduction.width(self.units.features)
        if width == self.units.features:
            return self
        smaller = replace(
            self, units=LayerUnits(self.units.name, None, width), reduction=reduction, recorded=self.units.features
        )
        return replace(smaller, values=smaller.rows(self.values))


class Timeline(Protocol):
    """Gives outputs a time axis."""

    def arrange(self, layer: str, output: NDArray[Any]) -> NDArray[Any]:
        """Output of a batch as stimuli × time × …."""

    def bins(self, steps: int) -> list[tuple[float, float]]:
        """Start and end of each time step, in milliseconds."""


def responses(
    first: Mapping[str, NDArray[Any]], dtype: np.dtype[Any] | None, *, timed: bool = False
) -> dict[str, Response]:
    """Responses of each layer to one stimulus, 1 × its output's shape (1 × time × … where `timed`)."""
    found = {}
    for layer, values in first.items():
        steps, shape = (values.shape[1:2], values.shape[2:]) if timed else ((), values.shape[1:])
        features = int(np.prod(shape))
        found[layer] = Response(
            values=values.reshape(1, *steps, features),
            units=LayerUnits(layer, shape, features),
            dtype=values.dtype if dtype is None else dtype,
            steps=steps,
        )
    return found


def close(stored: NDArray[Any], response: Response, *, half: bool = False) -> bool:
    """Whether the first row of `stored` is what the model gives now, but for the accuracy of the arithmetic.

    `half`: it is computed in half precision, whatever the type of the result.
    """
    if stored.shape[1:] != response.row:
        return False
    return alike(stored[0], response.values, half=half or response.half)


def alike(before: NDArray[Any], now: NDArray[Any], *, half: bool = False) -> bool:
    """Whether two equally many values are equal, but for the accuracy of the arithmetic."""
    before = np.asarray(before, dtype=np.float64).reshape(-1)
    now = np.asarray(now, dtype=np.float64).reshape(-1)
    finite = np.isfinite(now)
    if before.shape != now.shape or not np.array_equal(np.isfinite(before), finite):
        return False
    scale = np.abs(before[finite]).max(initial=0)
    return bool(np.all(np.abs(before[finite] - now[finite]) <= (_WIDE_TOLERANCE if half else _TOLERANCE) * scale))
