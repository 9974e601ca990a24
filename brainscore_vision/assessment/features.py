"""Features of a layer, scaled and reduced in several ways, and the products that all these ways share."""

import math
from collections.abc import Iterator
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from brainscore_core.errors import UserError
from brainscore_vision.model_helpers.activations.reduction import make_reduction

Array = NDArray[np.float64]

SCALINGS = ("none", "standardised", "unit norm")
"""Ways to scale features."""


def transformed(X: ArrayLike, *, scaling: str = "none", reduction: str = "none", seed: int = 0) -> Array:
    """Scale and reduce features.

    `scaling` is ``'none'``; ``'standardised'``: each feature minus its mean, divided by its standard deviation
    (constant features: by 1); or ``'unit norm'``: the features of each stimulus divided by their Euclidean length,
    unless all are 0. `reduction` is ``'none'``; ``'pca:100'``: scores on the first 100 principal components, with signs
    such that the largest score by amount is positive; ``'projection:500'`` or ``'gaussian:500'``: random projections
    (:func:`~brainscore_vision.model_helpers.activations.reduction.make_reduction`). A UserError if a name is unknown,
    or the features have not more dimensions than the reduction leaves.

    Examples
    --------
    >>> transformed([[3.0, 4.0], [0.0, 2.0]], scaling="unit norm").tolist()
    [[0.6, 0.8], [0.0, 1.0]]
    """
    if scaling not in SCALINGS:
        raise UserError(f"there is no scaling {scaling!r}", remedy=f"use one of {', '.join(map(repr, SCALINGS))}")
    features = Features(np.asarray(X), seed)
    return features.whole(scaling) if reduction == "none" else features.reduced(scaling, reduction)


_BLOCK = 1 << 25  # bytes of working memory


class Features:
    """Features of one layer, and what all analyses of them share: moments, Gram matrices and sums over features.

    Values are stimuli × features and kept as they are; everything is computed in float64, in blocks. `seed` is that of
    random projections.

    Examples
    --------
    >>> X = np.random.default_rng(0).standard_normal((20, 3000))
    >>> Z = Features(X, seed=0).compact("none")
    >>> Z.shape, bool(np.allclose(Z @ Z.T, X @ X.T)), bool(np.allclose(np.corrcoef(Z), np.corrcoef(X)))
    ((20, 21), True, True)
    """

    def __init__(self, values: NDArray[Any], seed: int) -> None:
        self.values = values
        self._seed = seed
        self._products: dict[str, tuple[Array, Array]] = {}
        self._compact: dict[str, Array] = {}
        self._projected: dict[tuple[str, str], Array] = {}

    @property
    def shape(self) -> tuple[int, int]:
        """Stimuli, features."""
        return self.values.shape[0], self.values.shape[1]

    @cached_property
    def _moments(self) -> tuple[Array, Array]:
        """Mean and standard deviation of each feature; 1 for the deviation of a constant."""
        n, p = self.shape
        mean, sd = np.empty(p), np.empty(p)
        for columns in self._column_blocks():
            block = np.asarray(self.values[:, columns], dtype=np.float64)
            mean[columns] = block.mean(axis=0)
            sd[columns] = block.std(axis=0)
        rounding = n * np.finfo(np.float64).eps * np.abs(mean)
        return mean, np.where(sd <= np.maximum(rounding, np.finfo(np.float64).tiny), 1.0, sd)

    def _column_blocks(self) -> Iterator[slice]:
        n, p = self.shape
        step = max(1, _BLOCK // (8 * n))
        return (slice(start, min(start + step, p)) for start in range(0, p, step))

    def _block(self, rows: slice, columns: slice, scaling: str) -> Array:
        """Features without scaling, or standardised."""
        block = np.array(self.values[rows, columns], dtype=np.float64)
        if scaling == "standardised":
            mean, sd = self._moments
            block -= mean[columns]
            block /= sd[columns]
        return block

    @cached_property
    def _lengths(self) -> Array:
        """Length of the features of each stimulus; 1 where all are 0."""
        everything = slice(None)
        squares = sum(
            np.einsum("ij,ij->i", block, block)
            for block in (self._block(everything, columns, "none") for columns in self._column_blocks())
        )
        lengths = np.sqrt(np.asarray(squares, dtype=np.float64))
        lengths[lengths == 0] = 1.0
        return lengths

    def whole(self, scaling: str) -> Array:
        """Scaled features (stimuli × features)."""
        everything = slice(None)
        block = self._block(everything, everything, scaling)
        return block / self._lengths[:, np.newaxis] if scaling == "unit norm" else block

    def products(self, scaling: str) -> tuple[Array, Array]:
        """Inner products of the scaled features of all stimuli, and their sums over features."""
        if scaling not in self._products:
            if scaling == "unit norm":
                gram, sums = self.products("none")
                lengths = self._lengths
                self._products[scaling] = gram / np.outer(lengths, lengths), sums / lengths
            else:
                n, _ = self.shape
                gram, sums = np.zeros((n, n)), np.zeros(n)
                for columns in self._column_blocks():
                    block = self._block(slice(None), columns, scaling)
                    gram += block @ block.T
                    sums += block.sum(axis=1)
                self._products[scaling] = gram, sums
        return self._products[scaling]

    def compact(self, scaling: str) -> Array:
        """At most stimuli + 1 columns with the same inner products, and the same correlations between stimuli.

        Sums over columns are those over features, multiplied by √(columns / features).
        """
        n, p = self.shape
        if p <= n + 1:
            return self.whole(scaling)
        if scaling not in self._compact:
            gram, sums = self.products(scaling)
            around = gram - np.outer(sums, sums) / p  # deviations from each stimulus's mean over features
            flat = np.diag(around) <= n * np.finfo(np.float64).eps * np.diag(gram)
            around[flat] = 0.0
            around[:, flat] = 0.0
            scores = _coordinates(around)
            scores[flat] = 0.0
            along = np.column_stack([scores, sums / math.sqrt(p)])
            # a reflection that maps the last axis to the diagonal, so that the others have the sum 0
            q = along.shape[1]
            normal = np.full(q, -1 / math.sqrt(q))
            normal[-1] += 1.0
            if q > 1:
                along -= 2 / (normal @ normal) * np.outer(along @ normal, normal)
            self._compact[scaling] = along
        return self._compact[scaling]

    def reduced(self, scaling: str, reduction: str) -> Array:
        """Scaled features, reduced; UserError if there is nothing to reduce."""
        n, p = self.shape
        pca = reduction.partition(":")[0] == "pca"
        method = make_reduction(reduction, seed=self._seed)
        components = method.width(np.iinfo(np.int64).max)
        if p <= components or (pca and n - 1 <= components):
            of = f"{p:,} features" if p <= components else f"{n:,} stimuli"
            raise UserError(f"{reduction!r} leaves all dimensions of {of}")
        if pca:
            return self._principal(scaling, components)
        base = "standardised" if scaling == "standardised" else "none"
        if (base, reduction) not in self._projected:
            step = max(1, _BLOCK // (8 * p))
            rows = (slice(start, start + step) for start in range(0, n, step))
            projections = [method.transform(self._block(block, slice(None), base)) for block in rows]
            self._projected[base, reduction] = np.concatenate(projections)
        projected = self._projected[base, reduction]
        return projected / self._lengths[:, np.newaxis] if scaling == "unit norm" else projected

    def _principal(self, scaling: str, components: int) -> Array:
        n, p = self.shape
        if p <= n + 1:
            features = self.whole(scaling)
            features -= features.mean(axis=0)
            left, values, _ = np.linalg.svd(features, full_matrices=False)
            scores = left * values
            scores = scores[:, values > n * np.finfo(np.float64).eps * values.max(initial=0.0)]
        else:
            gram, _ = self.products(scaling)
            means = gram.mean(axis=0)
            scores = _coordinates(gram - means - means[:, np.newaxis] + means.mean())[:, ::-1]
        if scores.shape[1] < components:
            raise UserError(f"the features vary in {scores.shape[1]:,} directions only")
        scores = scores[:, :components]
        largest = np.abs(scores).argmax(axis=0)
        return np.asarray(scores * np.sign(scores[largest, np.arange(components)]))


def _coordinates(gram: Array) -> Array:
    """Columns with these inner products, from the smallest to the largest."""
    values, vectors = np.linalg.eigh(gram)
    above_rounding = values > len(gram) * np.finfo(np.float64).eps * max(values[-1], 0.0)
    return np.asarray(vectors[:, above_rounding] * np.sqrt(values[above_rounding]))
