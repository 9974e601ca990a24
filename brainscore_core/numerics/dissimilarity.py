"""Dissimilarities of all pairs of stimuli."""

from typing import Any, Literal, get_args

import numpy as np
from numpy.typing import ArrayLike

from brainscore_core.numerics._arrays import Array, as_matrix
from brainscore_core.numerics._gram import FLAT, centred_gram, row_gram
from brainscore_core.numerics._torch import resolve

__all__ = [
    "Dissimilarity",
    "condensed",
    "expanded",
    "number_of_stimuli",
    "rdm",
    "square_rdm",
    "squared_distances",
]

Dissimilarity = Literal["correlation", "cosine", "euclidean", "sqeuclidean"]


def rdm(X: ArrayLike, *, dissimilarity: Dissimilarity = "correlation", device: Any = None) -> Array:
    """Representational dissimilarities of each pair of stimuli.

    Parameters
    ----------
    X : array, stimuli × features
        Accumulated in float64 over chunks of features.
    dissimilarity : str
        ``'correlation'``: 1 − Pearson correlation of the features, in [0, 2]. ``'cosine'``: 1 − cosine of the angle,
        in [0, 2]. ``'euclidean'``, ``'sqeuclidean'``: distance, and its square; neither is divided by the number of
        features.
    device : str or torch.device, optional
        Where the products of all stimuli are computed. None: with NumPy; ``'cpu'``, ``'cuda'``, …: with PyTorch;
        ``'auto'``: on a CUDA device where there is one, and with NumPy otherwise.

    Returns
    -------
    array, stimuli · (stimuli − 1) / 2
        Row-major upper triangle, as ``scipy.spatial.distance.pdist`` orders it. ``'correlation'`` and ``'cosine'``:
        NaN for pairs with a stimulus to which all features respond alike (or not at all), or with a NaN.

    Raises
    ------
    ValueError
        If X is no matrix; for the distances also if a value is not finite.
    UserError
        If the device, or PyTorch, is not there.

    References
    ----------
    Kriegeskorte, Mur & Bandettini (2008). Frontiers in Systems Neuroscience 2, 4.
    https://doi.org/10.3389/neuro.06.004.2008

    Examples
    --------
    >>> rdm([[1.0, 2.0, 3.0], [2.0, 4.0, 6.0], [3.0, 2.0, 1.0]]).round(6).tolist()
    [0.0, 2.0, 2.0]
    >>> rdm([[0.0, 0.0], [3.0, 4.0]], dissimilarity="euclidean").round(6).tolist()
    [5.0]
    """
    return condensed(square_rdm(X, dissimilarity=dissimilarity, device=device))


def square_rdm(X: ArrayLike, *, dissimilarity: Dissimilarity = "correlation", device: Any = None) -> Array:
    """As :func:`rdm`, as a symmetric matrix with a diagonal of 0."""
    X, found = as_matrix(X, "X"), resolve(device)
    if dissimilarity in ("euclidean", "sqeuclidean"):
        distances = squared_distances(centred_gram(X, "X", device=found))
        return distances if dissimilarity == "sqeuclidean" else np.asarray(np.sqrt(distances, out=distances))
    if dissimilarity not in ("correlation", "cosine"):
        known = ", ".join(map(repr, get_args(Dissimilarity)))
        raise ValueError(f"unknown dissimilarity {dissimilarity!r}; known: {known}")
    centre = dissimilarity == "correlation"
    result = row_gram(X, centre=centre, device=found)
    length = np.sqrt(np.diag(result))
    if centre:
        largest = np.maximum(X.max(axis=1, initial=0.0), -X.min(axis=1, initial=0.0))
        length = np.where(length > FLAT * np.sqrt(X.shape[1]) * largest, length, np.nan)
    else:
        length = np.where(length > 0, length, np.nan)
    result /= -length
    result /= length[:, None]
    np.clip(result, -1.0, 1.0, out=result)
    result += 1.0
    np.fill_diagonal(result, 0.0)
    return result


def squared_distances(gram: Array) -> Array:
    """Squared Euclidean distances of vectors with these inner products; below rounding they are 0."""
    own = np.diag(gram).copy()
    result = gram * -2.0
    result += own
    result += own[:, None]
    result[result < FLAT * float(own.max(initial=0.0))] = 0.0
    np.fill_diagonal(result, 0.0)
    return np.asarray(result)


def condensed(square: Array) -> Array:
    """Row-major upper triangle of a symmetric matrix, without its diagonal."""
    n = len(square)
    result = np.empty(n * (n - 1) // 2)
    start = 0
    for row in range(n - 1):
        result[start : start + n - 1 - row] = square[row, row + 1 :]
        start += n - 1 - row
    return result


def expanded(pairs: Array) -> Array:
    """Symmetric matrix with a diagonal of 0 from its row-major upper triangle."""
    n = number_of_stimuli(len(pairs))
    result = np.zeros((n, n))
    start = 0
    for row in range(n - 1):
        values = pairs[start : start + n - 1 - row]
        result[row, row + 1 :] = result[row + 1 :, row] = values
        start += len(values)
    return result


def number_of_stimuli(pairs: int) -> int:
    """Number of stimuli of a condensed RDM with so many pairs."""
    n = round((1 + np.sqrt(1 + 8 * pairs)) / 2)
    if n * (n - 1) // 2 != pairs:
        raise ValueError(f"{pairs} values are not the upper triangle of any square matrix")
    return n
