"""Extraction of the components of partial least squares, for several training sets at once."""

from collections.abc import Callable, Generator, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, Protocol

import numpy as np
from scipy.linalg import eigh_tridiagonal

from brainscore_core.numerics._matrices import as_array_like
from brainscore_core.numerics._processors import WorkerThreads, to_numpy

_DENSE = 24
"""Size of a matrix up to which a full eigendecomposition is cheaper."""

_SQUARINGS = 40
"""Eigenvalues that differ by less than 2⁻⁴⁰ of their size count as equal: any vector of their eigenspaces is valid."""

_PURE = 0.7
"""Σλ² / (Σλ)² above which no other eigenvalue exceeds .23 of the dominant one, and .05 after squaring once more."""

_SMALL = 1e-100
"""Sum of eigenvalues below which a matrix is scaled before it is squared."""

_POWERS = 13
""".05 to this power is below rounding."""

_STEPS, _RESTARTS = 150, 50


def dominant_vectors(M: Any, xp: Any) -> Any:
    """Unit eigenvector of the largest eigenvalue of each symmetric positive semidefinite matrix, by squaring it."""
    q = M.shape[-1]
    if q == 1:
        return xp.ones_like(M[..., 0])
    if q <= _DENSE:
        return xp.linalg.eigh(M)[1][..., -1]
    trace = xp.einsum("sii->s", M)
    power = M / _or_one(trace, xp)[:, None, None]
    square, total = xp.empty_like(power), xp.where(trace > 0, 1.0, 0.0)
    for _ in range(_SQUARINGS):
        xp.matmul(power, power.mT, out=square)  # the transpose tells NumPy that the product is symmetric
        power, square = square, power
        before, total = total, xp.einsum("sii->s", power)
        pure = bool((total >= _PURE * before**2).all())
        if pure or bool((total < _SMALL).any()):
            power /= _or_one(total, xp)[:, None, None]
            total = xp.where(total > 0, 1.0, 0.0)
        if pure:
            break
    largest = xp.einsum("sii->si", power).argmax(-1)
    x = power[xp.arange(len(power)), largest][..., None]
    for _ in range(_POWERS):
        x = _unit(power @ x, xp)
    return x[..., 0]


_BLOCK, _WIDE = 8, 64
"""Number of vectors that are followed from one component to the next, and the smallest size of matrices for this."""

_DEGREE, _ROUNDS = 40, 4
"""Largest degree of a polynomial, and how many are applied before the matrix is squared instead."""

_SUPPRESSED = 1e11
"""Ratio by which a polynomial suppresses the share of other vectors; more would leave only one vector in the block."""

_FLAT_SPECTRUM = 0.9
"""Ratio of the least and the largest value of the leading vectors above which squaring is faster."""

_RESIDUAL = 1e-14
"""Residual of an eigenvector, relative to its eigenvalue, that is only rounding."""

_CACHED = 2**17
"""Entries of the matrices that are processed together, so that they remain in the cache."""


class _Dominant:
    """Dominant vectors of a sequence of matrices, each of which resembles the one before.

    The leading vectors of one matrix are multiplied with a Chebyshev polynomial of the next, which suppresses all
    eigenvalues below theirs, and the dominant vector is found in their span [1]_. It is checked by its residual; if
    that does not become rounding noise, :func:`dominant_vectors` takes over.

    References
    ----------
    .. [1] Zhou, Saad, Tiago & Chelikowsky (2006). Journal of Computational Physics 219, 172–184.
       https://doi.org/10.1016/j.jcp.2006.03.017
    """

    def __init__(self, s: int, q: int, xp: Any) -> None:
        self._xp = xp
        self._follow = xp is np and q >= _WIDE
        self._step = max(1, _CACHED // q**2)
        block = np.random.default_rng(0).standard_normal((s, q, _BLOCK))
        self._leading = [(block[start : start + self._step], None) for start in range(0, s, self._step)]

    def of(self, M: Any) -> Any:
        """Dominant vectors (s × q) of matrices (s × q × q)."""
        if not self._follow:
            return dominant_vectors(M, self._xp)
        starts = range(0, len(M), self._step)
        followed = [
            _followed(M[start : start + self._step], *leading)
            for start, leading in zip(starts, self._leading, strict=True)
        ]
        self._leading = [(block, values) for _, block, values in followed]
        return np.concatenate([x for x, _, _ in followed])


def _followed(M: Any, block: Any, values: Any) -> tuple[Any, Any, Any]:
    """Dominant vectors, leading vectors and their values, from the leading vectors of similar matrices."""
    excess = _SUPPRESSED
    for _ in range(_ROUNDS):
        basis = np.linalg.qr(block if values is None else _filtered(M, block, values, excess))[0]
        images = M @ basis
        values, mixing = np.linalg.eigh(basis.mT @ images)
        block = basis @ mixing
        largest = values[:, -1:]
        residual = (images @ mixing[:, :, -1:])[..., 0] - largest * block[:, :, -1]
        excess = float((dot(residual, residual) ** 0.5 / _or_one(largest[:, 0], np)).max()) / _RESIDUAL
        if excess <= 1:
            return block[:, :, -1], block, values
        if (values[:, 0] > _FLAT_SPECTRUM * largest[:, 0]).any():
            break
    return dominant_vectors(M, np), block, values


def _filtered(M: Any, block: Any, values: Any, excess: float) -> Any:
    """The block times a Chebyshev polynomial of M.

    It is small between 0 and the least of the values of M in the block, and larger by `excess` at the second value (the
    first one is that of the previous matrix).
    """
    largest = _or_one(values[:, -1], np)
    half = np.clip(values[:, 0] / largest, 1e-3, _FLAT_SPECTRUM) * largest / 2
    growth = np.arccosh(np.maximum(values[:, -2] / half - 1, 1.01)).min()
    degree = min(_DEGREE, 1 + int(np.log(10 * max(excess, 1)) / growth))
    twice = M * (2 / half)[:, None, None]
    twice.reshape(len(M), -1)[:, :: M.shape[-1] + 1] -= 2
    before, block = block, twice @ block / 2
    for _ in range(degree - 1):
        after = twice @ block
        after -= before
        before, block = block, after
    return block


def dominant_vectors_of_map(multiply: Callable[[Any], Any], start: Any, xp: Any) -> Any:
    """As :func:`dominant_vectors`, by Lanczos iterations, for matrices that are given as a product with vectors."""
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
            rounding = 1e-15 * np.max(diagonals, axis=0)  # smaller vectors have an arbitrary direction
            length = xp.where(as_array_like(rounding, x, xp)[:, None] < length, length, np.inf)
            basis = xp.concatenate([basis, (image / length[..., None]).mT], 1)
        x = _unit((as_array_like(mixing, x, xp)[:, None] @ basis)[:, 0], xp)
        if (small | (values <= before * (1 + 1e-14))).all():
            break
        before = values
    return x


def _ritz(diagonals: list[Any], sides: list[Any]) -> tuple[Any, Any]:
    """Largest eigenvalue and its eigenvector of each tridiagonal matrix."""
    if len(diagonals) == 1:
        return diagonals[0], np.ones((len(diagonals[0]), 1))
    index = len(diagonals) - 1
    pairs = zip(np.stack(diagonals, axis=1), np.stack(sides[:-1], axis=1), strict=True)
    eigenpairs = [eigh_tridiagonal(*pair, select="i", select_range=(index, index)) for pair in pairs]
    return np.array([values[0] for values, _ in eigenpairs]), np.stack([vectors[:, 0] for _, vectors in eigenpairs])


def _unit(x: Any, xp: Any) -> Any:
    """Scale vectors along the second axis to length 1, unless they are 0."""
    return x / _or_one((x * x).sum(1) ** 0.5, xp)[:, None]


def _or_one(values: Any, xp: Any) -> Any:
    return xp.where(values > 0, values, 1.0)


FORMED = 300
"""Number of responses up to which their products through the features are stored; above it, they are applied."""


class Form(Protocol):
    """Centred training sets, s of them, with vectors of length d and q responses."""

    xp: Any
    shape: tuple[int, int, int]
    shared: Any
    """Symmetric matrix (d × d) of all stimuli, which the forms of several training sets share."""
    twice: bool
    """Whether the change of the products M needs covectors times the shared matrix."""
    smallest: Any
    """Squared covariance (s) at the level of rounding; infinite if features or responses do not vary."""
    shrunk: float
    """Fraction of the squared covariance below which recomputed products are more precise than updated ones."""
    least: float
    """Squared covariance of unit vectors below which the shared matrix is not precise enough."""

    def forward(self, R: Any, removed: Any) -> Any:
        """Direction (s × d) of combinations of responses (s × q), minus `removed` (s × d)."""

    def backward(self, E: Any) -> Any:
        """⟨responses, covectors⟩: s × q."""

    def image(self, V: Any, product: Any) -> Any:
        """Images (s × d) of directions, from their product with the shared matrix, which may be overwritten."""

    def covector(self, V: Any, image: Any) -> Any:
        """Covectors (s × d) of directions and their images."""

    def second(self, E: Any, image: Any, product: Any) -> Any:
        """Covectors (s × d) of images of images; `product` is that of E with the shared matrix if `twice`."""

    def through(self, V: Any) -> Any:
        """Covectors (s × d) through the features; their products with the responses are M times the source of V."""

    def covariance(self, V: Any, image: Any) -> Any:
        """Squared covariance (s) of directions that :meth:`forward` computed from unit vectors."""

    def vanishes(self, size: Any, V: Any, before: Any) -> Any:
        """Whether scores of squared length `size`, and `before` orthogonalisation, are only rounding."""

    def products(self, images: Any, loadings: Any) -> Any:
        """Products (s × q × q) of responses through the features, minus those of the components so far."""


@dataclass(frozen=True)
class Components:
    """The extracted components; entries after the first `counts` components are 0."""

    # s × components × d
    directions: Any
    images: Any
    loadings: Any  # s × components × q: of the responses; scores times these are predictions
    counts: Any  # s: number of components until only rounding was left
    # False if the shared matrix was not precise enough for a component, at which the extraction ended
    precise: bool = True


def extract(
    forms: Sequence[Form], n_components: int, threads: WorkerThreads, *, directions: bool = True
) -> list[Components]:
    """Components of the training sets of each form, one after the other.

    What each form does by itself takes place in a thread. The products with the matrix that all of them share are
    computed for all vectors together, by threads for parts of the matrix, so that it is read once.
    """
    steps = [_components(form, n_components, directions=directions) for form in forms]
    components: dict[int, Components] = {}
    sent: dict[int, Any] = dict.fromkeys(range(len(forms)))

    def advance(i: int) -> Any:
        try:
            return steps[i].send(sent[i])
        except StopIteration as end:
            components[i] = end.value
            return None

    while sent:
        active = list(sent)
        vectors = dict(zip(active, threads.run([partial(advance, i) for i in active]), strict=True))
        vectors = {i: V for i, V in vectors.items() if V is not None}
        sent = dict(zip(vectors, _products(forms[0], list(vectors.values()), threads), strict=True))
    return [components[i] for i in range(len(forms))]


def _products(form: Form, vectors: list[Any], threads: WorkerThreads) -> list[Any]:
    """Products of several groups of vectors with the matrix that the forms share."""
    xp, A = form.xp, form.shared
    if not vectors or xp is not np:
        return [V @ A for V in vectors]
    V = np.concatenate(vectors)
    products = threads.run([partial(np.matmul, V, A[rows].T) for rows in threads.parts(len(A))])
    return np.split(np.concatenate(products, axis=1), np.cumsum([len(group) for group in vectors])[:-1])


def _components(form: Form, n_components: int, *, directions: bool) -> Generator[Any, Any, Components]:
    """Components of a form; yields vectors whose products with the shared matrix are sent back.

    The dominant eigenvector of the products M of the responses gives the next component. With each component, M changes
    by a matrix of rank 2.
    """
    xp, (s, d, q) = form.xp, form.shape
    V, P, C = (
        as_array_like(np.zeros((s, count, size)), form.smallest, xp)
        for count, size in ((n_components * directions, d), (n_components, d), (n_components, q))
    )
    alive, counts = form.smallest < np.inf, xp.zeros_like(form.smallest)
    formed = q <= FORMED
    if formed:
        M, dominant = form.products(P[:, :0], C[:, :0]), _Dominant(s, q, xp)
    reference = xp.zeros_like(form.smallest)
    start = as_array_like(np.random.default_rng(0).standard_normal((s, q)), form.smallest, xp)
    for k in range(n_components):
        earlier = V[:, :k], P[:, :k], C[:, :k]
        r = dominant.of(M) if formed else dominant_vectors_of_map(partial(_multiply, form, earlier), start, xp)
        v = _forward(form, earlier, r)
        image = form.image(v, (yield v))
        covariance = form.covariance(v, image)
        if formed and form.shrunk and bool(((covariance < form.shrunk * reference) & alive).any()):
            M = form.products(*earlier[1:])
            r = dominant.of(M)
            v = _forward(form, earlier, r)
            image = form.image(v, (yield v))
            reference = covariance = form.covariance(v, image)
        if form.least and bool((alive & (covariance < form.least * dot(v, v))).any()):
            return Components(V, P, C, counts, precise=False)
        reference = xp.maximum(reference, covariance)
        alive = alive & (covariance > form.smallest)
        e = form.covector(v, image)
        before = dot(image, e)
        for _ in range(2 if k else 0):  # twice, for orthogonality to rounding
            h = _onto(earlier[1], e)
            if directions:
                v = v - _combined(h, earlier[0])
            image = image - _combined(h, earlier[1])
            e = form.covector(v, image)
        size = dot(image, e)
        alive = alive & ~form.vanishes(size, v, before)
        if not bool(alive.any()):
            break
        length = xp.where(alive, size, np.inf)[:, None] ** 0.5
        v, image, e = v / length, image / length, e / length
        c = form.backward(e)
        if directions:
            V[:, k] = v
        P[:, k], C[:, k] = image, c
        counts = counts + alive
        if formed and k + 1 < n_components:
            second = form.second(e, image, (yield e) if form.twice else None)
            b = form.backward(second) - _combined(_onto(earlier[1], second), earlier[2])
            b = b - dot(image, second)[:, None] / 2 * c
            M -= xp.stack([c, b], 2) @ xp.stack([b, c], 1)
    return Components(V, P, C, counts)


def dot(a: Any, b: Any) -> Any:
    """Inner products along the last axis."""
    return (a * b).sum(-1)


def _forward(form: Form, earlier: tuple[Any, Any, Any], R: Any) -> Any:
    return form.forward(R, _combined(_onto(earlier[2], R), earlier[1]))


def _multiply(form: Form, earlier: tuple[Any, Any, Any], R: Any) -> Any:
    """M times vectors, without computing M."""
    e = form.through(_forward(form, earlier, R))
    return form.backward(e) - _combined(_onto(earlier[1], e), earlier[2])


def _onto(rows: Any, x: Any) -> Any:
    """Inner products (s × k) of vectors (s × d) with k other vectors (s × k × d)."""
    return (rows @ x[..., None])[..., 0]


def _combined(weights: Any, rows: Any) -> Any:
    """Sums (s × d) of vectors (s × k × d) with weights (s × k)."""
    return (weights[:, None] @ rows)[:, 0]
