"""Reduction of a layer's features: pooling, random projection, and principal components.

Tokens and feature maps are pooled in each batch; principal components are learned batch by batch.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from brainscore_core.errors import UserError
from brainscore_vision.model_helpers.activations.layouts import Layout

_TOKENS = ("cls", "mean", "patch_mean", "last")
_SPATIAL = ("mean", "max")


@dataclass(frozen=True)
class Pooling:
    """Pooling of a layer's output.

    Parameters
    ----------
    tokens : {'cls', 'mean', 'patch_mean', 'last'}, optional
        For outputs stimuli × tokens × channels: the class token, the mean over all tokens, the mean over those of the
        image, the last token. By default all tokens are kept.
    spatial : {'mean', 'max'}, optional
        For feature maps: mean or maximum over positions. By default all are kept.
    prefix_tokens : int, optional
        Tokens before those of the image (class, distillation, registers), which ``'patch_mean'`` leaves out. By default
        as the network states, or as follows from the number of its patches.
    channels_last : bool, optional
        Whether feature maps are stimuli × height × width × channels, not stimuli × channels × height × width. By
        default as follows from the layer.

    Raises
    ------
    UserError
        When outputs are pooled: if the network does not tell what is needed, or has no class token.

    Examples
    --------
    >>> import numpy as np
    >>> Pooling(tokens="patch_mean", prefix_tokens=5).apply(np.zeros((2, 201, 192))).shape
    (2, 192)
    """

    tokens: str | None = None
    spatial: str | None = None
    prefix_tokens: int | None = None
    channels_last: bool | None = None

    def __post_init__(self) -> None:
        for name, value, choices in (("tokens", self.tokens, _TOKENS), ("spatial", self.spatial, _SPATIAL)):
            if value is not None and value not in choices:
                raise ValueError(f"{name} is {value!r}, not one of {', '.join(map(repr, choices))} or None")
        if self.prefix_tokens is not None and self.prefix_tokens < 0:
            raise ValueError(f"prefix_tokens is {self.prefix_tokens}, not 0 or more")

    @property
    def described(self) -> dict[str, str | int | None]:
        """Settings as plain types."""
        prefix: str | int | None = self.prefix_tokens if self.tokens == "patch_mean" else None
        if self.tokens == "patch_mean" and prefix is None:
            prefix = "of the network"
        last = {} if self.channels_last is None else {"channels_last": self.channels_last}
        return {"tokens": self.tokens, "spatial": self.spatial, "prefix_tokens": prefix, **last}

    def apply(self, output: Any, layout: Layout | None = None) -> Any:
        """Pool an array or tensor of one batch, in the layout of its layer; other shapes are returned unchanged."""
        if output.ndim == 3 and self.tokens is not None:
            if self.tokens == "cls":
                self._require_class_token(layout)
                return output[:, 0]
            if self.tokens == "last":
                return output[:, -1]
            first = self._prefix(output.shape[1], layout) if self.tokens == "patch_mean" else 0
            if output.shape[1] <= first:
                raise UserError(
                    f"{output.shape[1]} tokens, of which {first} precede those of the image: none is left to average",
                    remedy="pass Pooling(tokens='patch_mean', prefix_tokens=…) with the network's own number",
                )
            return output[:, first:].mean(1)
        if output.ndim == 4 and self.spatial is not None:
            last = self.channels_last
            if last is None and layout is not None:
                last = layout.channels_last
                if last is None:
                    raise UserError(
                        f"the channels in the output of layer {layout.layer!r}, "
                        f"{' × '.join(map(str, output.shape[1:]))} for each stimulus, may be its first or its last "
                        "axis",
                        remedy=f"pass Pooling(spatial={self.spatial!r}, channels_last=True) or False, or choose "
                        "another layer",
                    )
            size, channels = len(output), output.shape[-1 if last else 1]
            positions = output.reshape(size, -1, channels) if last else output.reshape(size, channels, -1)
            axis = 1 if last else 2
            if self.spatial == "mean":
                return positions.mean(axis)
            return positions.max(axis) if isinstance(positions, np.ndarray) else positions.amax(axis)
        return output

    def _prefix(self, tokens: int, layout: Layout | None) -> int:
        if self.prefix_tokens is not None:
            return self.prefix_tokens
        if layout is None or layout.prefix_tokens is None:
            of_layer = "" if layout is None else f" of layer {layout.layer!r}"
            raise UserError(
                f"it is not known how many of the {tokens} tokens{of_layer} precede those of the image, such as class "
                "and register tokens",
                remedy="pass their number: Pooling(tokens='patch_mean', prefix_tokens=1); 0 if there are none",
            )
        return layout.prefix_tokens

    def _require_class_token(self, layout: Layout | None) -> None:
        """Raise an error unless there is a class token; an array without a layout is taken as it is."""
        has_class_token = None if layout is None else layout.class_token
        if self.prefix_tokens is not None:
            has_class_token = self.prefix_tokens > 0
        if has_class_token or (has_class_token is None and layout is None):
            return
        of_layer = "" if layout is None else f" of layer {layout.layer!r}"
        raise UserError(
            f"it is not known whether the first token{of_layer} is a class token"
            if has_class_token is None
            else f"the tokens{of_layer} include no class token",
            remedy="pass Pooling(tokens='mean') or 'patch_mean'; if the first token is a class token, pass "
            "Pooling(tokens='cls', prefix_tokens=1)",
        )


_COMPONENTS = 1000  # as in the published implementation
_VERSION = 1  # increase it whenever values change for the same settings
_CHUNK = 1 << 26  # bytes of working memory
_NONZEROS = 8  # weights per feature in a sparse projection


def make_reduction(spec: str, *, seed: int = 0, fitted_on: str | None = None) -> RandomProjection | IncrementalPCA:
    """Make a reduction from its name.

    The name is ``'projection'`` (sparse), ``'gaussian'`` or ``'pca'``, each with 1000 components, or with a number of
    components, as in ``'pca:300'``; a UserError if it is unknown. `seed` is that of a random projection; `fitted_on`
    names the data that principal components are learned from, such as the hash of the stimuli.

    Examples
    --------
    >>> make_reduction("projection:200").describe()["components"]
    200
    """
    kind, colon, number = spec.partition(":")
    if kind not in ("projection", "gaussian", "pca") or (colon and not (number.isdecimal() and int(number) > 0)):
        raise UserError(
            f"there is no reduction {spec!r}",
            remedy="pass 'projection', 'gaussian' or 'pca', with a number of components if needed: 'pca:300'",
        )
    components = int(number) if colon else _COMPONENTS
    if kind == "pca":
        return IncrementalPCA(components, fitted_on=fitted_on)
    return RandomProjection(components, seed=seed, dense=kind == "gaussian")


class RandomProjection:
    """Random linear combinations of features, which keep inner products and distances on average.

    Nothing is learned, so it can be applied from the first batch on. With k components, a distance is off by a factor
    of about 1 ± √(2/k) (1000 components: 4 %).

    `n_components`: number of features that remain. `seed`: the same seed and number of features give the same
    projection. `dense`: Gaussian weights (Johnson and Lindenstrauss 1984), features × components in memory. By default
    each feature has 8 weights ±1/√8, one in each eighth of the components (Kane and Nelson 2014, doi:10.1145/2559902).

    Examples
    --------
    >>> X = np.random.default_rng(0).standard_normal((3, 20_000))
    >>> Z = RandomProjection(2000).transform(X)
    >>> Z.shape, bool(np.allclose(Z @ Z.T, X @ X.T, atol=2000))
    ((3, 2000), True)
    """

    def __init__(self, n_components: int = _COMPONENTS, *, seed: int = 0, dense: bool = False) -> None:
        self.n_components = _positive(n_components)
        self.seed = int(seed)
        self.dense = bool(dense)
        self._weights: Any = None  # components × features
        self._features = -1

    def transform(self, X: ArrayLike) -> NDArray[np.floating]:
        """Project rows.

        float32 for float32 and narrower, else float64; `X` itself if it has no more features than components. NaN and
        infinities affect the whole row.
        """
        rows = _rows(X)
        if rows.shape[1] <= self.n_components:
            return rows
        if self._features != rows.shape[1]:
            self._weights, self._features = self._draw(rows.shape[1]), rows.shape[1]
        return np.ascontiguousarray((self._weights.astype(rows.dtype, copy=False) @ rows.T).T)

    def width(self, features: int) -> int:
        """Number of features that remain of `features`."""
        return min(features, self.n_components)

    def nbytes(self, features: int) -> int:
        """Memory of the weights, in bytes."""
        if features <= self.n_components:
            return 0
        # 4 bytes for a value, 4 for its column; sorting them takes the same amount again
        return 4 * features * self.n_components if self.dense else 16 * features * min(_NONZEROS, self.n_components)

    def describe(self) -> dict[str, Any]:
        """Settings as plain values."""
        kind = "gaussian projection" if self.dense else "sparse projection"
        return {"kind": kind, "components": self.n_components, "seed": self.seed, "version": _VERSION}

    def _draw(self, features: int) -> Any:
        stream = np.random.Philox(np.random.SeedSequence([self.seed, features]))
        k = self.n_components
        if self.dense:
            weights = np.random.Generator(stream).standard_normal((k, features), dtype=np.float32)
            weights /= np.float32(np.sqrt(k))
            return weights
        from scipy.sparse import csr_array

        # raw bits, since only these are the same in all versions of NumPy
        count = min(_NONZEROS, k)
        bits = stream.random_raw(features * count).reshape(features, count)
        edges = np.linspace(0, k, count + 1).astype(np.int64)
        rows = edges[:-1] + ((bits >> np.uint64(1)) % np.diff(edges).astype(np.uint64)).astype(np.int64)
        values = np.where(bits & np.uint64(1), 1, -1).astype(np.float32) / np.float32(np.sqrt(count))
        columns = np.repeat(np.arange(features, dtype=np.int32), count)
        return csr_array((values.ravel(), (rows.ravel().astype(np.int32), columns)), shape=(k, features))


class IncrementalPCA:
    """Principal components, learned from rows that arrive in batches and are not kept.

    Rows are collected until there are as many as components; they are then merged with the components so far, and
    components beyond their number are dropped (Ross et al. 2008, doi:10.1007/s11263-007-0075-7). The result does not
    depend on how the rows are divided into batches. For at most 2 × `n_components` rows, it is that of an ordinary PCA.

    `n_components`: number of components; fewer if the rows span fewer dimensions. `fitted_on`: data that components are
    learned from, such as the hash of the stimuli; for :meth:`describe`. `mean_`: mean of the rows so far.
    `components_`: components × features; orthonormal; in each, the largest weight is positive. `explained_variance_`,
    `explained_variance_ratio_`: variance along each component (n − 1), and its share of all variance. `n_seen_`: number
    of rows so far.

    Notes
    -----
    Memory is 2 × `n_components` × features, in float32 for float32 rows; products are summed in float64. Directions
    with less than 10⁻⁷ of the largest standard deviation are dropped.

    Examples
    --------
    >>> X = np.random.default_rng(0).standard_normal((50, 3)) @ np.ones((3, 40))
    >>> pca = IncrementalPCA(2)
    >>> for batch in np.split(X, 5):
    ...     pca = pca.fit_batch(batch)
    >>> pca.transform(X).shape, pca.explained_variance_ratio_.round(6)
    ((50, 1), array([1.]))
    """

    def __init__(self, n_components: int = _COMPONENTS, *, fitted_on: str | None = None) -> None:
        self.n_components = _positive(n_components)
        self.fitted_on = fitted_on
        self.n_seen_ = 0
        self._unchanged = False  # no more features than components
        self._stack: NDArray[np.floating] | None = None  # components × singular values, then the rows collected
        self._mean: NDArray[np.float64]
        self._kept = self._collected = self._merged = 0
        self._squares: NDArray[np.float64] = np.zeros(0)  # squared singular values of what is kept
        self._dropped = 0.0
        self._signs: NDArray[np.floating] | None = None

    def fit_batch(self, X: ArrayLike) -> IncrementalPCA:
        """Learn from rows.

        A ValueError if values are not finite, or the number of features differs from before.
        """
        rows = _rows(X)
        self._check_features(rows)
        if not np.isfinite(rows).all():
            raise ValueError("X has values that are not finite; principal components need finite features")
        self.n_seen_ += len(rows)
        self._signs = None
        if self._unchanged:
            return self
        k = self.n_components
        if self._stack is None:
            # at first 2k rows are collected, k once there are components; one row corrects for the mean
            self._stack = np.empty((2 * k + 1, rows.shape[1]), rows.dtype)
            self._mean = np.zeros(rows.shape[1])
        while len(rows):
            room = 2 * k - self._kept - self._collected
            if room == 0:
                self._merge(k)
                continue
            accepted, rows = rows[:room], rows[room:]
            start = self._kept + self._collected
            self._stack[start : start + len(accepted)] = accepted
            self._collected += len(accepted)
        return self

    def transform(self, X: ArrayLike) -> NDArray[np.floating]:
        """Compute coordinates of rows along the components.

        float32 for float32 and narrower, else float64; `X` itself if it has no more features than components.
        """
        rows = _rows(X)
        self._check_features(rows)
        if self._unchanged:
            return rows
        scaled, signs = self._finished()
        centred = np.subtract(rows, self._mean, dtype=rows.dtype)
        scale = signs / np.sqrt(self._squares)
        return np.asarray(centred @ scaled.T.astype(rows.dtype, copy=False) * scale, rows.dtype)

    def width(self, features: int) -> int:
        """Largest number of features that remain of `features`; the exact number after learning."""
        if self._stack is None or features <= self.n_components:
            return min(features, self.n_components)
        return len(self._finished()[0])

    def describe(self) -> dict[str, Any]:
        """Settings and training data as plain values."""
        return {"kind": "pca", "components": self.n_components, "fitted_on": self.fitted_on, "version": _VERSION}

    @property
    def mean_(self) -> NDArray[np.float64]:
        """Mean of the rows so far."""
        self._finished()
        return self._mean

    @property
    def components_(self) -> NDArray[np.floating]:
        """Orthonormal components × features."""
        scaled, signs = self._finished()
        return np.asarray(scaled * (signs / np.sqrt(self._squares))[:, None], scaled.dtype)

    @property
    def explained_variance_(self) -> NDArray[np.float64]:
        """Variance along each component."""
        self._finished()
        return self._squares / (self.n_seen_ - 1)

    @property
    def explained_variance_ratio_(self) -> NDArray[np.float64]:
        """Share of all variance along each component."""
        self._finished()
        return self._squares / (self._squares.sum() + self._dropped)

    def _check_features(self, rows: NDArray[np.floating]) -> None:
        if self.n_seen_ == 0:
            self._unchanged = rows.shape[1] <= self.n_components
        elif self._stack is not None and rows.shape[1] != self._stack.shape[1]:
            raise ValueError(f"X has {rows.shape[1]} features, but {self._stack.shape[1]} before")

    def _finished(self) -> tuple[NDArray[np.floating], NDArray[np.floating]]:
        """Components times their singular values, and the sign of each."""
        if self.n_seen_ < 2 or self._stack is None:
            raise ValueError("principal components need two rows at least; call fit_batch first")
        if self._collected or self._kept > self.n_components:
            self._merge(self.n_components)
        scaled = self._stack[: self._kept]
        if self._signs is None:
            # row by row, since it may take most of the memory
            largest = np.array([np.abs(row).argmax() for row in scaled], dtype=np.intp)
            self._signs = np.where(scaled[np.arange(self._kept), largest] < 0, -1.0, 1.0)
        return scaled, self._signs

    def _merge(self, k: int) -> None:
        """Merge the collected rows with the components."""
        assert self._stack is not None
        held, new = self._kept, self._collected
        count = held + new + (self._merged > 0)
        block = self._stack[:count]
        fresh = block[held : held + new]
        mean = fresh.mean(axis=0, dtype=np.float64)
        fresh -= mean.astype(fresh.dtype)
        total = self._merged + new
        if self._merged:
            block[-1] = np.sqrt(self._merged * new / total) * (self._mean - mean)
        self._mean += (mean - self._mean) * (new / total)
        self._merged = total
        step = max(_CHUNK // (16 * count), 1)  # a chunk and its product, both in float64
        chunks = [slice(start, start + step) for start in range(0, block.shape[1], step)]
        gram = np.zeros((count, count))
        for chunk in chunks:
            columns = block[:, chunk].astype(np.float64)
            gram += columns @ columns.T
        squares, vectors = np.linalg.eigh(gram)
        squares, vectors = squares[::-1], vectors[:, ::-1]
        n_kept = min(k, int((squares > 1e-14 * max(squares[0], 0.0)).sum()))
        self._dropped += float(np.clip(squares[n_kept:], 0, None).sum())
        for chunk in chunks:
            block[:n_kept, chunk] = vectors[:, :n_kept].T @ block[:, chunk].astype(np.float64)
        self._squares = squares[:n_kept].copy()
        self._kept, self._collected, self._signs = n_kept, 0, None


def learning_bytes(components: int, features: int, rows: int, itemsize: int = 4) -> int:
    """Memory to learn components from a number of rows and to apply them, one chunk of rows at a time."""
    if features <= components:
        return 0
    held = min(2 * components, rows) + 1
    return itemsize * held * features + 8 * features + 8 * 4 * held**2 + 2 * _CHUNK


def _positive(n_components: int) -> int:
    if isinstance(n_components, bool) or int(n_components) != n_components or n_components < 1:
        raise ValueError(f"n_components is {n_components!r}; it needs to be a whole number above 0")
    return int(n_components)


def _rows(X: ArrayLike) -> NDArray[np.floating]:
    rows = np.asarray(X)
    if rows.ndim != 2:
        raise ValueError(f"X has shape {rows.shape}; it needs rows × features")
    return rows if rows.dtype in (np.float32, np.float64) else rows.astype(np.result_type(rows.dtype, np.float32))
