"""Microsaccades: small shifts of the image, so that repeated trials of a model differ."""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from brainscore_core.errors import UserError

EXTENT_DEGREES = 0.05


class Shifts(NamedTuple):
    """Horizontal and vertical displacement of the image in each trial, trials × 2."""

    pixels: NDArray[np.float64]
    degrees: NDArray[np.float64]


def spiral(trials: int, *, height: int, visual_degrees: float | None) -> Shifts:
    """Position of the image in each trial: points spread evenly over a disc, from its centre outwards.

    Point i of n has radius √(i / n) · R and angle 2π · √i / √n, where R is 0.05° in pixels.

    R is given in degrees by the height of the image in pixels and the visual angle that it spans.

    References
    ----------
    Rolfs, M. (2009). Microsaccades: small steps on a long way. Vision Research, 49(20), 2415-2441.
    https://doi.org/10.1016/j.visres.2009.08.010

    Examples
    --------
    >>> spiral(2, height=224, visual_degrees=8).pixels.round(3)
    array([[ 0.   ,  0.   ],
           [-0.264, -0.954]])
    """
    if trials == 1:
        return Shifts(np.zeros((1, 2)), np.zeros((1, 2)))
    if visual_degrees is None:
        raise UserError(
            "the visual angle of the model's input is not known, so that eye movements have no size in pixels",
            remedy="call, for example, set_visual_degrees(8), or make a ModelCommitment of the activations model",
        )
    step = np.sqrt(np.arange(trials) / trials)
    pixels_per_degree = height / visual_degrees
    radius, angle = step * EXTENT_DEGREES * pixels_per_degree, 2 * np.pi * step
    pixels = np.stack([radius * np.cos(angle), radius * np.sin(angle)], axis=1)
    return Shifts(pixels, pixels / pixels_per_degree)


def shift_images(images: Any, shift: NDArray[np.float64]) -> Any:
    """Displace images by fractions of pixels, with bilinear interpolation; border pixels are repeated.

    `images` are … × height × width; `shift` is in pixels to the right and down.
    """
    if not np.any(shift):
        return images
    for axis, distance in ((-1, float(shift[0])), (-2, float(shift[1]))):
        images = _along(images, axis, distance)
    return images


def _along(images: Any, axis: int, distance: float) -> Any:
    size = images.shape[axis]
    whole = int(np.floor(-distance))
    fraction = -distance - whole
    before = _rows_at(images, np.clip(np.arange(size) + whole, 0, size - 1), axis)
    if fraction == 0:
        return before
    after = _rows_at(images, np.clip(np.arange(size) + whole + 1, 0, size - 1), axis)
    if isinstance(before, np.ndarray):
        fraction = before.dtype.type(fraction)
    before *= 1 - fraction
    after *= fraction
    before += after
    return before


def _rows_at(images: Any, positions: NDArray[np.intp], axis: int) -> Any:
    if isinstance(images, np.ndarray):
        return np.take(images if images.dtype.kind == "f" else images.astype(np.float32), positions, axis=axis)
    import torch

    images = images if images.is_floating_point() else images.float()
    return images.index_select(axis, torch.as_tensor(positions, device=images.device))
