"""Partial least squares of several training sets at once, in NumPy or PyTorch.

Either form reduces the training sets to the same few products. Vectors have one value a stimulus in the dual form, and
one a feature in the primal form:

=========  =============================  =======================
vector     dual form                      primal form
=========  =============================  =======================
direction  weights of stimuli             weights of features
image      scores of stimuli              loadings of features
covector   scores of training stimuli     the direction
=========  =============================  =======================

⟨image, covector⟩ is the scores' sum of squares, and ⟨responses, covector⟩ the responses' loadings.
"""

from dataclasses import dataclass
from functools import partial
from typing import Any, Protocol

import numpy as np

from brainscore_core.numerics._dominant import dominant, dominant_of, like

__all__ = ["FORMED", "Components", "Form", "dot", "extract"]

FORMED = 300
"""Up to this many responses their products by way of the features are kept; beyond it they are multiplied with."""


class Form(Protocol):
    """Centred training sets, s of them, with vectors of length d and q responses."""

    xp: Any
    shape: tuple[int, int, int]
    smallest: Any
    """Squared covariance (s) that is rounding; infinite where features or responses do not vary."""
    shrunk: float
    """Share of the squared covariance at which products formed anew have more digits than those that were updated."""

    def forward(self, R: Any, removed: Any) -> Any:
        """Direction (s × d) of combinations of responses (s × q), less what is `removed` from it (s × d)."""

    def backward(self, E: Any) -> Any:
        """⟨responses, covectors⟩: s × q."""

    def image(self, V: Any) -> Any:
        """Images (s × d) of directions."""

    def covector(self, V: Any, image: Any) -> Any:
        """Covectors (s × d) of directions and their images."""

    def second(self, E: Any, image: Any) -> Any:
        """Covectors (s × d) of images of images."""

    def through(self, V: Any) -> Any:
        """Covectors (s × d) by way of the features, whose products with the responses are M times what made V."""

    def covariance(self, V: Any, image: Any) -> Any:
        """Squared covariance (s) of directions that :meth:`forward` made of unit vectors."""

    def vanishes(self, size: Any, V: Any, before: Any) -> Any:
        """Whether scores of squared length `size`, and `before` orthogonalisation, are rounding."""

    def products(self, images: Any, loadings: Any) -> Any:
        """Products (s × q × q) of responses by way of the features, less those of the components so far."""


@dataclass(frozen=True)
class Components:
    """What was extracted; what comes after `counts` components is 0.

    Attributes
    ----------
    directions, images : array or tensor, s × components × d
    loadings : array or tensor, s × components × q
        Of the responses; scores times these are predictions.
    counts : array or tensor of int, s
        Components before nothing but rounding was left.
    """

    directions: Any
    images: Any
    loadings: Any
    counts: Any


def extract(form: Form, n_components: int) -> Components:
    """Components of all training sets, one after the other.

    The products M of their responses, of which the dominant eigenvector makes the next component, change by a matrix of
    rank 2 with each.
    """
    xp, (s, d, q) = form.xp, form.shape
    V, P, C = (like(np.zeros((s, n_components, size)), form.smallest, xp) for size in (d, d, q))
    alive, counts = form.smallest < np.inf, xp.zeros_like(form.smallest)
    formed = q <= FORMED
    M = form.products(P[:, :0], C[:, :0]) if formed else None
    reference = xp.zeros_like(form.smallest)
    start = like(np.random.default_rng(0).standard_normal((s, q)), form.smallest, xp)
    for k in range(n_components):
        earlier = V[:, :k], P[:, :k], C[:, :k]
        r = dominant(M, xp) if formed else dominant_of(partial(_multiply, form, earlier), start, xp)
        v = _forward(form, earlier, r)
        image = form.image(v)
        covariance = form.covariance(v, image)
        if formed and form.shrunk and bool(((covariance < form.shrunk * reference) & alive).any()):
            M = form.products(*earlier[1:])
            r = dominant(M, xp)
            v = _forward(form, earlier, r)
            image = form.image(v)
            reference = covariance = form.covariance(v, image)
        reference = xp.maximum(reference, covariance)
        alive = alive & (covariance > form.smallest)
        e = form.covector(v, image)
        before = dot(image, e)
        for _ in range(2 if k else 0):  # twice, for orthogonality to rounding
            h = _onto(earlier[1], e)
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
        V[:, k], P[:, k], C[:, k] = v, image, c
        counts = counts + alive
        if formed and k + 1 < n_components:
            second = form.second(e, image)
            b = form.backward(second) - _combined(_onto(earlier[1], second), earlier[2])
            change = c[:, :, None] * (b - dot(image, second)[:, None] / 2 * c)[:, None]
            M -= change
            M -= change.mT
    return Components(V, P, C, counts)


def dot(a: Any, b: Any) -> Any:
    """Inner products along the last axis."""
    return (a * b).sum(-1)


def _forward(form: Form, earlier: tuple[Any, Any, Any], R: Any) -> Any:
    return form.forward(R, _combined(_onto(earlier[2], R), earlier[1]))


def _multiply(form: Form, earlier: tuple[Any, Any, Any], R: Any) -> Any:
    """M times vectors, without M."""
    v = _forward(form, earlier, R)
    e = form.through(v)
    return form.backward(e) - _combined(_onto(earlier[1], e), earlier[2])


def _onto(rows: Any, x: Any) -> Any:
    """Inner products (s × k) of vectors (s × d) with k others (s × k × d)."""
    return (rows @ x[..., None])[..., 0]


def _combined(weights: Any, rows: Any) -> Any:
    """Sums (s × d) of vectors (s × k × d) with weights (s × k)."""
    return (weights[:, None] @ rows)[:, 0]
