"""Dominant eigenvectors of several symmetric matrices at once, in NumPy or PyTorch."""

from collections.abc import Callable
from typing import Any

import numpy as np
from scipy.linalg import eigh_tridiagonal

from brainscore_core.numerics._torch import to_device, to_numpy

__all__ = ["dominant", "dominant_of", "like"]

_DENSE = 24
"""Up to this size a full eigendecomposition is cheaper."""

_SQUARINGS = 40
"""Eigenvalues that differ by less than 2⁻⁴⁰ of their size count as equal: any vector between them serves."""

_PURE = 0.7
"""Σλ² / (Σλ)² from which on no other eigenvalue exceeds .23 of the dominant one, .05 after squaring once more."""

_POWERS = 13
""".05 to this power is rounding."""

_STEPS, _RESTARTS = 150, 50


def dominant(M: Any, xp: Any) -> Any:
    """Unit eigenvector of the largest eigenvalue of each symmetric positive semidefinite matrix, by squaring it.

    Parameters
    ----------
    M : array or tensor, s × q × q
    xp : module
        ``numpy`` or ``torch``.

    Returns
    -------
    array or tensor, s × q
        Correct to rounding, relative to the gap to the next eigenvalue; anything for a matrix of zeros.
    """
    q = M.shape[-1]
    if q == 1:
        return xp.ones_like(M[..., 0])
    if q <= _DENSE:
        return xp.linalg.eigh(M)[1][..., -1]
    trace = xp.einsum("sii->s", M)
    power = M / _or_one(trace, xp)[:, None, None]
    mixed = np.flatnonzero(to_numpy(trace) > 0)
    for _ in range(_SQUARINGS):
        part = power[mixed]
        part = part @ part.mT  # the transpose tells NumPy that the product is symmetric
        purity = xp.einsum("sii->s", part)  # the eigenvalues summed to 1 before
        part /= purity[:, None, None]
        power[mixed] = part
        mixed = mixed[to_numpy(purity) < _PURE]
        if not len(mixed):
            break
    largest = xp.einsum("sii->si", power).argmax(-1)
    x = power[xp.arange(len(power)), largest][..., None]
    for _ in range(_POWERS):
        x = _unit(power @ x, xp)
    return x[..., 0]


def dominant_of(multiply: Callable[[Any], Any], start: Any, xp: Any) -> Any:
    """As :func:`dominant`, by Lanczos iterations, for matrices that are only multiplied with.

    Parameters
    ----------
    multiply : callable
        Products (s × q) of the matrices with vectors (s × q).
    start : array or tensor, s × q
        Vectors to start from.
    xp : module
        ``numpy`` or ``torch``.
    """
    s, q = start.shape
    x, before = _unit(start, xp), np.zeros(s)
    for _ in range(_RESTARTS):
        basis, diagonals, sides = x[:, None], [], []
        while True:
            image = multiply(basis[:, -1])[..., None]
            diagonals.append(to_numpy((basis[:, -1:] @ image)[:, 0, 0]))
            for _ in range(2):
                image = image - basis.mT @ (basis @ image)
            length = (image * image).sum(1) ** 0.5
            sides.append(to_numpy(length[:, 0]))
            steps = len(sides)
            if steps % 10 == 0 or steps == min(q, _STEPS):
                values, mixing = _ritz(diagonals, sides)
                small = np.abs(mixing[:, -1] * sides[-1]) <= 1e-14 * values
                if small.all() or steps == min(q, _STEPS):
                    break
            rounding = 1e-15 * np.max(diagonals, axis=0)  # what is smaller points anywhere
            length = xp.where(like(rounding, x, xp)[:, None] < length, length, np.inf)
            basis = xp.concatenate([basis, (image / length[..., None]).mT], 1)
        x = _unit((like(mixing, x, xp)[:, None] @ basis)[:, 0], xp)
        if (small | (values <= before * (1 + 1e-14))).all():
            break
        before = values
    return x


def like(values: Any, other: Any, xp: Any) -> Any:
    """The values beside `other`: on its device, as an array of its kind."""
    return values if xp is np else to_device(values, other.device, values.dtype)


def _ritz(diagonals: list[Any], sides: list[Any]) -> tuple[Any, Any]:
    """Largest eigenvalue and its eigenvector of each tridiagonal matrix."""
    if len(diagonals) == 1:
        return diagonals[0], np.ones((len(diagonals[0]), 1))
    index = len(diagonals) - 1
    pairs = zip(np.stack(diagonals, axis=1), np.stack(sides[:-1], axis=1), strict=True)
    found = [eigh_tridiagonal(*pair, select="i", select_range=(index, index)) for pair in pairs]
    return np.array([values[0] for values, _ in found]), np.stack([vectors[:, 0] for _, vectors in found])


def _unit(x: Any, xp: Any) -> Any:
    """Vectors along the second axis, of length 1 unless they are 0."""
    return x / _or_one((x * x).sum(1) ** 0.5, xp)[:, None]


def _or_one(values: Any, xp: Any) -> Any:
    return xp.where(values > 0, values, 1.0)
