"""Dissimilarities of all pairs of stimuli, also in units of the measurement noise."""

from typing import Any, Literal, get_args

import numpy as np
from numpy.typing import ArrayLike

from brainscore_core.numerics._matrices import Array, as_matrix
from brainscore_core.numerics._processors import in_blocks, resolve_device
from brainscore_core.numerics.stimulus_products import FLAT, centred_gram, mirrored, row_gram

Dissimilarity = Literal["correlation", "cosine", "euclidean", "sqeuclidean"]


def rdm(X: ArrayLike, *, dissimilarity: Dissimilarity = "correlation", device: Any = None) -> Array:
    """Representational dissimilarities of each pair of stimuli.

    Parameters
    ----------
    X : array, stimuli × features
        Accumulated in float64 over chunks of features. With float32 features, and 2·10⁹ or more as stimuli² ×
        features, correlations and cosines are computed from products in float32; they differ by about 10⁻⁷.
    dissimilarity : str
        ``'correlation'``: 1 − Pearson correlation of the features, in [0, 2]. ``'cosine'``: 1 − cosine of the angle,
        in [0, 2]. ``'euclidean'``, ``'sqeuclidean'``: distance, and its square; neither is divided by the number of
        features.
    device : str or torch.device, optional
        Device for the products of all stimuli. None: NumPy; ``'cpu'``, ``'cuda'``, …: PyTorch; ``'auto'``: a CUDA
        device if available, otherwise NumPy.

    Returns
    -------
    array, stimuli · (stimuli − 1) / 2
        Row-major upper triangle, in the order of ``scipy.spatial.distance.pdist``. ``'correlation'`` and ``'cosine'``:
        NaN for pairs with a stimulus to which all features respond equally (or not at all), or with a NaN.

    Raises
    ------
    ValueError
        If X is not a matrix; for the distances also if a value is not finite.
    UserError
        If the device or PyTorch is not available.

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
    return condensed(_upper_rdm(X, dissimilarity, device))


def square_rdm(X: ArrayLike, *, dissimilarity: Dissimilarity = "correlation", device: Any = None) -> Array:
    """As :func:`rdm`, but as a symmetric matrix with a diagonal of 0."""
    return mirrored(_upper_rdm(X, dissimilarity, device).T)


def _upper_rdm(X: ArrayLike, dissimilarity: Dissimilarity, device: Any) -> Array:
    """As :func:`square_rdm`, but values below the diagonal have no meaning."""
    X, torch_device = as_matrix(X, "X"), resolve_device(device)
    if dissimilarity in ("euclidean", "sqeuclidean"):
        distances = squared_distances(centred_gram(X, "X", device=torch_device))
        return distances if dissimilarity == "sqeuclidean" else np.asarray(np.sqrt(distances, out=distances))
    if dissimilarity not in ("correlation", "cosine"):
        names = ", ".join(map(repr, get_args(Dissimilarity)))
        raise ValueError(f"unknown dissimilarity {dissimilarity!r}; use one of {names}")
    result, mean = row_gram(X, centred=dissimilarity == "correlation", device=torch_device)
    squared = np.diag(result)
    length = np.sqrt(squared)
    if mean is None:
        length = np.where(length > 0, length, np.nan)
    else:
        tolerance, p = FLAT * np.sqrt(X.shape[1]), X.shape[1]
        # no value exceeds the length of its row, so that the largest is only needed if that does not decide
        few = np.flatnonzero(~(length > tolerance * np.sqrt(squared + p * mean**2)))
        largest = np.abs(X[few]).max(axis=1, initial=0.0)
        length[few] = np.where(length[few] > tolerance * largest, length[few], np.nan)

    def divide(rows: slice) -> None:
        block = result[rows, rows.start :]
        block /= -length[rows.start :]
        block /= length[rows, None]
        np.clip(block, -1.0, 1.0, out=block)
        block += 1.0

    in_blocks(divide, result.shape)
    np.fill_diagonal(result, 0.0)
    return result


def squared_distances(gram: Array) -> Array:
    """Squared Euclidean distances of vectors with these inner products; distances below rounding are set to 0."""
    squared_lengths = np.diag(gram).copy()
    result = gram * -2.0
    result += squared_lengths
    result += squared_lengths[:, None]
    result[result < FLAT * float(squared_lengths.max(initial=0.0))] = 0.0
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
    result = np.zeros((n, n), dtype=pairs.dtype)
    start = 0
    for row in range(n - 1):
        values = pairs[start : start + n - 1 - row]
        result[row, row + 1 :] = values
        start += len(values)
    return mirrored(result.T)


def number_of_stimuli(pairs: int) -> int:
    """Number of stimuli of a condensed RDM with this number of pairs."""
    n = round((1 + np.sqrt(1 + 8 * pairs)) / 2)
    if n * (n - 1) // 2 != pairs:
        raise ValueError(f"{pairs} values are not the upper triangle of any square matrix")
    return n


_SINGULAR = 1e12
"""Condition number above which the inverse of a covariance is meaningless."""


def noise_precision(residuals: ArrayLike, *, degrees_of_freedom: int | None = None, shrink: bool = True) -> Array:
    """Inverse of the noise covariance between features, shrunk towards a multiple of the identity.

    Parameters
    ----------
    residuals : array, presentations × features
        Presentations minus the mean of their stimulus.
    degrees_of_freedom : int, optional
        Number of presentations minus the number of subtracted means; by default the number of presentations.
    shrink : bool
        If False, return the plain inverse. For normal noise it is on average proportional to the true one, so distances
        keep their ratios, whereas shrinkage depends on the number of presentations; it requires more presentations.

    Returns
    -------
    array, features × features
        Symmetric, positive definite. Memory and time are those of features × features matrices.

    Raises
    ------
    ValueError
        If residuals are not finite or all 0, if there are no degrees of freedom, or, without shrinkage, if the
        covariance is singular.

    Notes
    -----
    Ledoit and Wolf's shrinkage [1]_, as in scikit-learn, with a mean known to be 0; recommended for dissimilarities by
    [2]_. The intensity is estimated as if residuals were independent; with few repetitions per stimulus it is therefore
    slightly too small.

    References
    ----------
    .. [1] Ledoit & Wolf (2004). Journal of Multivariate Analysis 88, 365–411.
       https://doi.org/10.1016/S0047-259X(03)00096-4
    .. [2] Walther et al. (2016). NeuroImage 137, 188–200. https://doi.org/10.1016/j.neuroimage.2015.12.012

    Examples
    --------
    >>> residuals = np.random.default_rng(0).standard_normal((1000, 2)) * [1, 2]
    >>> noise_precision(residuals).diagonal().round(1).tolist()
    [0.9, 0.3]
    """
    from scipy.linalg import cho_factor, cho_solve

    matrix = as_matrix(residuals, "residuals").astype(np.float64)
    if not np.isfinite(matrix).all():
        raise ValueError("residuals are not finite; omit features that were not measured")
    n, p = matrix.shape
    freedom = n if degrees_of_freedom is None else degrees_of_freedom
    if freedom < 1:
        raise ValueError(f"{freedom} degrees of freedom: noise requires repeated presentations")
    size = float(np.sqrt(np.mean(matrix**2)))
    if not size > 0:
        raise ValueError("the residuals are all 0: repetitions do not differ, so there is no noise to normalise by")
    matrix = matrix / size
    if shrink:
        from sklearn.covariance import ledoit_wolf

        covariance = ledoit_wolf(matrix, assume_centered=True)[0]
    else:
        covariance = matrix.T @ matrix / n
        if freedom <= p or np.linalg.cond(covariance) > _SINGULAR:
            raise ValueError(
                f"the noise covariance of {p} features, from {freedom} degrees of freedom, has no inverse without "
                "shrinkage"
            )
    precision = cho_solve(cho_factor(covariance), np.eye(p))
    return np.asarray((precision + precision.T) / (2 * size**2) * (freedom / n))


def mahalanobis_rdm(X: ArrayLike, precision: ArrayLike) -> Array:
    """Squared Mahalanobis distances of all pairs of stimuli, divided by the number of features.

    Parameters
    ----------
    X : array, stimuli × features
        Mean responses. Remaining noise in them makes all distances too large.
    precision : array, features × features
        Inverse of the noise covariance, for example from :func:`noise_precision`.

    Returns
    -------
    array, stimuli · (stimuli − 1) / 2
        At least 0; row-major upper triangle.

    Raises
    ------
    ValueError
        If shapes do not fit, values are not finite, or `precision` is not positive definite.

    References
    ----------
    Walther et al. (2016). NeuroImage 137, 188–200. https://doi.org/10.1016/j.neuroimage.2015.12.012

    Examples
    --------
    >>> mahalanobis_rdm([[0.0, 0.0], [2.0, 2.0]], np.diag([1.0, 0.25])).tolist()
    [2.5]
    """
    Z = _whitened(as_matrix(X, "X")[None], precision)[0]
    Z = Z - Z.mean(axis=0)
    return np.asarray(condensed(squared_distances(Z @ Z.T)) / Z.shape[1])


def crossnobis_rdm(folds: ArrayLike, precision: ArrayLike) -> Array:
    """Cross-validated squared Mahalanobis distances of all pairs of stimuli, divided by the number of features.

    The difference of two stimuli in one fold is multiplied by that in another fold, and averaged over all pairs of
    different folds. Independent noise adds nothing on average: estimates of a distance of 0 scatter around 0.

    Parameters
    ----------
    folds : array, folds × stimuli × features
        Responses in independent measurements, such as repetitions.
    precision : array, features × features
        Inverse of the noise covariance.

    Returns
    -------
    array, stimuli · (stimuli − 1) / 2
        May be negative; row-major upper triangle.

    Raises
    ------
    ValueError
        If there are fewer than two folds, shapes do not fit, values are not finite, or `precision` is not positive
        definite.

    References
    ----------
    Walther et al. (2016). NeuroImage 137, 188–200. https://doi.org/10.1016/j.neuroimage.2015.12.012

    Examples
    --------
    >>> crossnobis_rdm([[[0.0, 0.0], [2.0, 2.0]], [[0.0, 0.0], [1.0, 3.0]]], np.eye(2)).tolist()
    [4.0]
    """
    Z = _whitened(np.asarray(folds), precision)
    m, _, p = Z.shape
    if m < 2:
        raise ValueError(f"{m} fold: cross-validated distances require at least two independent measurements")
    Z = Z - Z.mean(axis=(0, 1))
    total = Z.sum(axis=0)
    products = total @ total.T
    for fold in Z:
        products -= fold @ fold.T
    squared_lengths = np.diag(products)
    return condensed(squared_lengths + squared_lengths[:, None] - 2 * products) / (m * (m - 1) * p)


def _whitened(stack: np.ndarray, precision: ArrayLike) -> Array:
    """Folds × stimuli × features, whose inner products are those of `stack` under `precision`."""
    matrix = as_matrix(precision, "precision")
    if stack.ndim != 3:
        raise ValueError(f"folds have the shape {stack.shape}; it must be folds × stimuli × features")
    p = stack.shape[-1]
    if matrix.shape != (p, p):
        raise ValueError(f"precision has the shape {matrix.shape}; it must be ({p}, {p}) for {p} features")
    if not (np.isfinite(matrix).all() and np.isfinite(stack).all()):
        raise ValueError("responses or precision are not finite; omit features that were not measured")
    try:
        factor = np.linalg.cholesky(matrix)
    except np.linalg.LinAlgError as error:
        raise ValueError("precision is not positive definite; estimate it with noise_precision") from error
    return np.asarray(stack @ factor)
