"""Resizing of many frames at once."""

from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

__all__ = ["batch_2d_resize"]


def batch_2d_resize(arr: NDArray[Any], size: tuple[int, int], mode: Literal["bilinear", "pool"]) -> NDArray[Any]:
    """Resize frames or feature maps.

    Parameters
    ----------
    arr : ndarray, frames × height × width × channels
        What to resize.
    size : (int, int)
        Width and height of the result.
    mode : {'bilinear', 'pool'}
        ``'bilinear'``: between the two nearest pixels in each direction, not antialiased, as OpenCV's ``INTER_LINEAR``.
        ``'pool'``: the mean over the area that a pixel of the result covers.

    Returns
    -------
    ndarray, frames × height × width × channels
        Of the type of `arr`; whole numbers are rounded.

    Examples
    --------
    >>> import numpy as np
    >>> batch_2d_resize(np.arange(1.0, 7).reshape(1, 3, 2, 1), (2, 1), "pool")[0, ..., 0]
    array([[3., 4.]])
    """
    if mode not in ("bilinear", "pool"):
        raise ValueError(f"mode is {mode!r}; known: 'bilinear', 'pool'")
    weights = _bilinear if mode == "bilinear" else _areas
    width, height = size
    rows, columns = weights(arr.shape[1], height), weights(arr.shape[2], width)
    resized = np.einsum("yh,nhwc,xw->nyxc", rows, arr.astype(np.float64), columns, optimize=True)
    if np.issubdtype(arr.dtype, np.integer):
        resized = np.rint(resized)
    return resized.astype(arr.dtype)


def _bilinear(old: int, new: int) -> NDArray[np.float64]:
    """Weights of the old pixels in each new one, new × old."""
    places = np.clip((np.arange(new) + 0.5) * old / new - 0.5, 0, old - 1)
    lower = np.minimum(places.astype(np.intp), max(old - 2, 0))
    share = places - lower
    weights = np.zeros((new, old))
    weights[np.arange(new), lower] += 1 - share
    weights[np.arange(new), np.minimum(lower + 1, old - 1)] += share
    return weights


def _areas(old: int, new: int) -> NDArray[np.float64]:
    edges = np.arange(new + 1) * old / new
    starts, ends = edges[:-1, np.newaxis], edges[1:, np.newaxis]
    pixels = np.arange(old)
    return np.clip(np.minimum(ends, pixels + 1) - np.maximum(starts, pixels), 0, None) * new / old
