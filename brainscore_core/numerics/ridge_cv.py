"""Ridge regression that chooses its penalty by cross-validation.

One stimulus or one fold is held out at a time. The predictions for a fold are combinations of
1 / (eigenvalue + penalty). As functions of the penalty, these are so dependent on each other that predictions with
about thirty penalties determine those with all others to rounding.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import KW_ONLY, dataclass
from functools import partial
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from brainscore_core.numerics._matrices import (
    CONDITION_LIMIT,
    Array,
    Decomposition,
    above_rounding,
    as_array_like,
    centred_eigh,
    check_inputs,
    chunk_columns,
    column_means,
    eigh,
    product,
)
from brainscore_core.numerics._processors import (
    import_torch,
    in_parallel,
    resolve_device,
    to_device,
    to_numpy,
    worker_threads,
)
from brainscore_core.numerics.linear_regression import (
    LeftOut,
    LinearFit,
    LinearRegression,
    SplitFit,
    Splits,
    centred_blocks,
    centred_features,
    scaled_residuals,
)
from brainscore_core.numerics.stimulus_products import gram_on

Folds = Sequence[tuple[NDArray[np.intp], NDArray[np.intp]]]

_EXACT = 1e-10
"""Relative precision with which functions of the penalty are interpolated."""

_WELL_CONDITIONED = 1e-11, 0.1
"""As `_EXACT`, for the entries of systems, and the smallest pivot (entries are at most 1) with which this suffices."""

_ROUNDING = 1e-15
"""As `_EXACT`, for the entries of systems with any pivots, which amplify errors."""

_SMALLER = 4
"""Chunks on a CPU are smaller by this, as the system hands out larger blocks of memory anew each time."""

_GRID = 100
"""Points of a range of eigenvalues at which functions of these are compared."""

_COMBINED = 2
"""Adding a weighted matrix to another takes as long as its product of about this many eigenvalues."""

_EIGH = 10
"""An eigendecomposition takes about this times n³ operations."""


def check_folds(cv: Any) -> None:
    """Raise an error for values that :func:`make_folds` cannot use, whatever the number of stimuli."""
    if cv is None or (hasattr(cv, "split") and not isinstance(cv, str)):
        return
    if isinstance(cv, int | np.integer):
        if isinstance(cv, bool) or cv < 2:
            raise ValueError(f"cv is {cv!r}; use two or more folds, or None to leave out one stimulus at a time")
        return
    pairs = None if isinstance(cv, str) or not isinstance(cv, Sequence) else cv
    if not pairs or any(not isinstance(pair, Sequence) or len(pair) != 2 for pair in pairs):
        raise ValueError(f"cv is {cv!r}; use a number of folds, a splitter, or pairs of training and test rows")


def make_folds(cv: Any, n: int) -> Folds:
    """Return training and test rows for n stimuli.

    `cv`: a number of folds of consecutive rows (if n is not divisible by it, the first folds have one more row); an
    object with scikit-learn's ``split(X)``; or pairs of training and test rows.
    """
    if isinstance(cv, int | np.integer):
        rows = np.arange(n)
        return [(np.setdiff1d(rows, test, assume_unique=True), test) for test in np.array_split(rows, int(cv))]
    pairs = cv.split(np.zeros((n, 1))) if hasattr(cv, "split") else cv
    folds = [(np.asarray(train), np.asarray(test)) for train, test in pairs]
    for i, fold in enumerate(folds):
        for side, rows in zip(("training", "test"), fold, strict=True):
            if rows.ndim != 1 or not rows.size or rows.dtype.kind not in "iu":
                raise ValueError(f"cv: the {side} rows of pair {i} are not a list of at least one row number")
            if rows.min() < 0 or rows.max() >= n:
                raise ValueError(f"cv: the {side} rows of pair {i} exceed the {n} training stimuli")
        both = np.intersect1d(*fold)
        if both.size:
            raise ValueError(f"cv: pair {i} uses row {both[0]} for both training and test")
    return folds


def errors_dual(K: Any, Y: Any, whole: Decomposition, Q: Any, folds: Folds, alphas: Array, xp: Any) -> Array:
    """Mean over folds of the mean squared error, alphas × q.

    `K`, `Y`: XXᵀ and responses, both centred. `whole`: of K. `Q`: product of its transposed vectors with Y. `folds`:
    training and test rows; both are centred by the mean of the training rows. `alphas`: Penalties.
    """
    n, vectors, eigenvalues = len(K), whole.vectors, to_numpy(whole.values)
    low, high = whole.limits
    condition = (high + alphas.min()) / (low + alphas.min())
    with worker_threads(n * n):
        few, mixing = _support_penalties(alphas, low, high)
        pieces, smallest = _placed(_pieces(eigenvalues, few, _WELL_CONDITIONED[0]), vectors, xp), _WELL_CONDITIONED[1]

    errors = np.zeros((len(alphas), Y.shape[1]))
    systems = None  # of one fold; the next one uses the same memory
    for train, test in folds:
        part = None
        y_mean = Y[train].mean(0)
        targets = (Y[test] - y_mean).T
        rest = len(train)
        cheaper = len(few) * len(test) ** 2 * n < _EIGH * rest**3
        complete = rest + len(test) == n == len(np.union1d(train, test))
        if cheaper and complete and condition * n / rest < CONDITION_LIMIT:
            basis, shape = vectors.T[:, _run(test)], (len(few), len(test) + Q.shape[1], len(test))
            if systems is None or systems.shape != shape:
                systems = np.zeros(shape) if xp is np else vectors.new_zeros(shape)  # as not all of it is written
            part = _left_out(basis, Q, targets, pieces, smallest, systems, xp)
            if part is None and smallest:
                pieces, smallest = _placed(_pieces(eigenvalues, few, _ROUNDING), vectors, xp), 0.0
                part = _left_out(basis, Q, targets, pieces, smallest, systems, xp)
        if part is None:
            inner, outer = centred_blocks(K, train, test)
            own, basis = eigh(inner, xp)
            part = _predicted(outer @ basis, own, basis.T @ (Y[train] - y_mean), few, xp)
        errors += _squared(part, targets, mixing, xp)
    return errors / len(folds)


def _run(rows: NDArray[np.intp]) -> NDArray[np.intp] | slice:
    """Rows as a slice if each follows the one before, so that they are not copied."""
    return slice(int(rows[0]), int(rows[-1]) + 1) if (np.diff(rows) == 1).all() else rows


def errors_primal(X: Any, Y: Any, folds: Folds, alphas: Array, xp: Any) -> Array:
    """As :func:`errors_dual`, from features X (n × p, p < n) that are centred by any mean."""
    errors = np.zeros((len(alphas), Y.shape[1]))
    for train, test in folds:
        fitted, y_mean = X[train], Y[train].mean(0)
        x_mean = fitted.mean(0)
        fitted -= x_mean
        values, vectors = eigh(fitted.T @ fitted, xp)
        few, mixing = _support_penalties(alphas, float(values.min()), float(values.max()))
        Q = vectors.T @ (fitted.T @ (Y[train] - y_mean))
        part = _predicted((X[test] - x_mean) @ vectors, values, Q, few, xp)
        errors += _squared(part, (Y[test] - y_mean).T, mixing, xp)
    return errors / len(folds)


def _support_penalties(alphas: Array, low: float, high: float) -> tuple[Array, Array]:
    """A few penalties, and the weights (few × all) that combine their predictions into those of all penalties."""
    low = max(low, 1e-4 * alphas.min())
    grid = np.geomspace(low, max(high, 2 * low), 400)[:, None]
    # predictions are sums of these functions, each at most 1, with coefficients of about the size of the responses
    chosen, mixing = _independent(np.sqrt(grid * (grid + alphas.min())) / (grid + alphas), _EXACT)
    return alphas[chosen], mixing


def _independent(functions: Array, precision: float) -> tuple[NDArray[np.intp], Array]:
    """Columns that determine all others, and the weights (chosen × all) that combine them into all."""
    from scipy.linalg import qr, solve_triangular

    _, R, order = qr(functions, mode="economic", pivoting=True)
    diagonal = np.abs(R.diagonal())
    rank = int((diagonal > precision * diagonal[0]).sum())
    mixing = np.empty((rank, functions.shape[1]))
    mixing[:, order[:rank]] = np.eye(rank)
    mixing[:, order[rank:]] = solve_triangular(R[:rank, :rank], R[:rank, rank:])
    return order[:rank], mixing


class _Piece(NamedTuple):
    """Neighbouring eigenvalues, whose weights with some penalties determine those with all.

    - `eigenvalues`: which of all eigenvalues, in ascending order.
    - `weights` (eigenvalues × k): 1 / (eigenvalue + penalty) for k penalties, times the smallest of all eigenvalues +
      penalty; at most 1.
    - `mixing` (penalties × k): combines these weights into those with all penalties.
    """

    eigenvalues: slice
    weights: Any
    mixing: Any


def _placed(pieces: list[_Piece], other: Any, xp: Any) -> list[_Piece]:
    """Copy the arrays of pieces to the device of another array."""
    return [
        piece._replace(weights=as_array_like(piece.weights, other, xp), mixing=as_array_like(piece.mixing, other, xp))
        for piece in pieces
    ]


def _pieces(values: Array, alphas: Array, precision: float) -> list[_Piece]:
    """Halves of the eigenvalues (in ascending order), halves of these and so on, as long as this saves operations."""
    smallest = alphas.min()

    def functions(points: Array) -> Array:
        return np.asarray((values[0] + alphas) / (points[:, None] + alphas))

    def piece(start: int, stop: int) -> _Piece:
        own = values[start:stop]
        few = len(own) <= _GRID
        grid = own if few else np.geomspace(own[0] + smallest, own[-1] + smallest, _GRID) - smallest
        chosen, mixing = _independent(functions(grid), precision)
        return _Piece(slice(start, stop), functions(own)[:, chosen], mixing.T)

    def cost(some: _Piece) -> int:
        size, k = some.weights.shape
        return k * (size + _COMBINED * len(alphas))

    def divided(whole: _Piece) -> list[_Piece]:
        start, stop = whole.eigenvalues.start, whole.eigenvalues.stop
        if stop - start < 2:
            return [whole]
        middle = (start + stop) // 2
        halves = [piece(start, middle), piece(middle, stop)]
        if sum(map(cost, halves)) >= cost(whole):
            return [whole]
        return [part for half in halves for part in divided(half)]

    return divided(piece(0, len(values))) if len(values) else []


def _predicted(outer: Any, values: Any, Q: Any, alphas: Array, xp: Any) -> Any:
    """Predictions (alphas × q × n_test) in a basis that diagonalizes the training set."""
    kept = above_rounding(values, len(values))
    outer, values, Q = outer[:, kept], values[kept], Q[kept]
    return xp.stack([(Q.T / (values + float(alpha))) @ outer.T for alpha in alphas])


def _left_out(basis: Any, Q: Any, targets: Any, pieces: list[_Piece], smallest: float, systems: Any, xp: Any) -> Any:
    """Predictions (penalties × q × n_test) for rows by fits to all others; None if a pivot is below `smallest`, or 0.

    With M = (K + alpha · I)⁻¹ on the space orthogonal to the constant, the residuals are M_RR⁻¹ (M Y)_R. Eigenvalues of
    similar size contribute combinations of what they contribute with a few penalties.
    """
    m, n = basis.shape
    mixing = xp.concatenate([piece.mixing for piece in pieces], axis=1)
    few, total = mixing.shape

    def fill(target: Any, left: Any, rows: slice, width: int) -> None:
        parts, start = _empty((total, rows.stop - rows.start, width), basis, xp), 0
        for own, weights, _ in pieces:
            stop = start + weights.shape[1]
            scaled = xp.einsum("ik,ir->ikr", weights, left[own, rows]).reshape(len(weights), -1)
            xp.matmul(scaled.T, basis[own, :width], out=parts[start:stop].reshape(-1, width))
            start = stop
        if xp is np:
            for i in range(parts.shape[1]):  # a row of all parts stays in the cache
                target[:, rows.start + i, :width] = mixing @ parts[:, i]
        else:
            target[:, rows, :width] = (mixing @ parts.reshape(total, -1)).reshape(few, -1, width)

    def slices(length: int) -> Iterator[slice]:
        return _columns((_SMALLER if xp is np else 1) * total * n, length, basis, xp)

    tasks = [partial(fill, systems[:, n:], Q, rows, n) for rows in slices(Q.shape[1])]
    tasks += [partial(fill, systems, basis, rows, rows.stop) for rows in reversed(list(slices(n)))]
    together = partial(in_parallel, numbers=m * n) if xp is np else _in_turn
    together(tasks)

    def solved(some: slice) -> bool:
        residuals = systems[some, n:]
        result = (_solve if xp is np else _solve_on)(systems[some], smallest)
        xp.subtract(targets, residuals, out=residuals)
        return result

    chunks = _columns((2 * _SMALLER if xp is np else 1) * n * n, few, basis, xp)
    results = together([partial(solved, some) for some in chunks])
    return systems[:, n:] if all(results) else None


def _in_turn(functions: Sequence[Callable[[], Any]]) -> list[Any]:
    return [function() for function in functions]


def _empty(shape: tuple[int, ...], other: Any, xp: Any) -> Any:
    return np.empty(shape) if xp is np else other.new_empty(shape)


def _solve(systems: Array, smallest: float) -> bool:
    """Replace right sides by solutions, if all pivots are at least `smallest`, and say whether they are."""
    n = systems.shape[2]
    for system in systems:
        # by NumPy, as SciPy keeps other threads from running
        try:
            factor = np.linalg.cholesky(system[:n])
        except np.linalg.LinAlgError:
            return False
        if factor.diagonal().min() ** 2 < smallest:
            return False
        system[n:] = np.linalg.solve(factor @ factor.T, system[n:].T).T
    return True


def _solve_on(systems: Any, smallest: float) -> bool:
    """As :func:`_solve`, in PyTorch."""
    torch = import_torch()
    n = systems.shape[2]
    factors, info = torch.linalg.cholesky_ex(systems[:, :n])
    if bool(info.any() | (factors.diagonal(dim1=-2, dim2=-1).min() ** 2 < smallest)):
        return False
    rights = systems[:, n:]
    rights.copy_(torch.cholesky_solve(rights.mT, factors).mT)
    return True


def _squared(part: Any, targets: Any, mixing: Array, xp: Any) -> Array:
    """Mean squared error (alphas × q) of predictions (few × q × n) that are combined from a few."""
    q, n = targets.shape
    weights = as_array_like(mixing.T, targets, xp)
    errors = np.empty((len(weights), q))

    def fill(columns: slice) -> None:
        deviations = xp.matmul(weights, part[:, columns].reshape(len(part), -1)).reshape(len(weights), -1, n)
        deviations -= targets[columns]
        errors[:, columns] = to_numpy(xp.einsum("aji,aji->aj", deviations, deviations)) / n

    together = partial(in_parallel, numbers=part.size) if xp is np else _in_turn
    together([partial(fill, columns) for columns in _columns(_SMALLER * len(weights) * n, q, targets, xp)])
    return errors


def _columns(height: int, q: int, reference: Any, xp: Any) -> Iterator[slice]:
    return chunk_columns(height, q, None if xp is np else reference.device)


class _Solution(NamedTuple):
    """Weights with the chosen penalty, and the eigenvalues and -vectors that they were computed with.

    `alpha` is one of the regression's `alphas`, `penalty` what is added to eigenvalues.
    """

    weights: Any
    alpha: float | Array
    penalty: float | Array
    values: Any
    vectors: Any


@dataclass
class _LeftOutOfChoice(LeftOut):
    """Effects of training rows, with the chosen penalty of each response."""

    basis: Array  # n_train × k: training rows in the basis that diagonalises the training set
    tested: Array  # n_test × k: test rows
    penalised: Array  # k × q: eigenvalues plus penalties

    def hat_transposed(self, slopes: Array) -> Array:
        inner = product(self.tested.T, slopes) / self.penalised
        return np.asarray(product(self.basis, inner) + slopes.sum(axis=0) / len(self.basis))

    def through(self, slopes: Array, residuals: Array, tested: NDArray[np.intp], trained: NDArray[np.intp]) -> Array:
        slopes, residuals = slopes[tested], residuals[trained]
        inner = product(self.tested[tested].T, slopes) * product(self.basis[trained].T, residuals)
        constant = slopes.sum(axis=0) * residuals.sum(axis=0) / len(self.basis)
        return np.asarray(np.sum(inner / self.penalised, axis=0) + constant)


def _left_out_of_choice(
    basis: Array, tested: Array, values: Array, alpha: float | Array, responses: Array, *, primal: bool
) -> LeftOut:
    """Effects of training rows, with the chosen penalty, or that of each response.

    `values`: eigenvalues. `responses` (n_train × q): dual weights; residuals if `primal`: the basis then has a column
    for each feature.
    """
    alphas = np.broadcast_to(alpha, responses.shape[1])
    penalised, n = values[:, None] + alphas, len(basis)

    def residuals(groups: NDArray[np.intp]) -> Array:
        squares, result = basis**2, np.empty_like(responses)
        for penalty in np.unique(alphas):
            shrinkage = 1 / (values + penalty)
            # M² in this basis; in the primal form, M is I − H without the constant
            weights = values * shrinkage**2 - 2 * shrinkage if primal else shrinkage**2

            def block(rows: NDArray[np.intp], weights: Array = weights) -> Array:
                square = product(basis[rows] * weights, basis[rows].T)
                return np.eye(len(rows)) - 1 / n + square if primal else square

            diagonal, columns = squares @ weights, alphas == penalty
            diagonal = 1 - 1 / n + diagonal if primal else diagonal
            result[:, columns] = scaled_residuals(responses[:, columns], diagonal, block, groups)
        return result

    hat = product(tested * np.mean(1 / penalised, axis=1), basis.T) + 1 / n
    return _LeftOutOfChoice(hat, residuals, basis, tested, penalised)


@dataclass(frozen=True)
class RidgeCV(LinearRegression):
    """Ridge regression with a free intercept, and the penalty with the smallest error on held-out stimuli.

    Parameters
    ----------
    alphas : sequence of float
        Penalties to choose from; the first of equally good ones is chosen.
    relative : bool
        Whether they are multiples of the mean squared distance of the features of a fit's stimuli from their mean (the
        trace of XXᵀ divided by n, X centred). The predictions are then the same whatever the unit of the features.
        Otherwise, features times 10 have the effect of penalties divided by 100.
    alpha_per_target : bool
        Whether each response has its own penalty. Otherwise one is chosen by the mean squared error of all responses.
    cv : int, splitter or sequence of (array, array), optional
        Cross-validation. None: leave out one stimulus at a time. A number: that many folds of consecutive stimuli. An
        object with scikit-learn's ``split(X)``: for example shuffled folds. Or pairs of training and test rows, counted
        within the stimuli of a fit. The error is the squared error averaged over the test stimuli of a fold, then over
        folds.
    device : str or torch.device, optional
        None: NumPy; ``'cpu'``, ``'cuda'``, …: PyTorch; ``'auto'``: a CUDA device if available, otherwise NumPy. Results
        agree to rounding.

    Notes
    -----
    Leave-one-out errors follow from the residuals and the diagonal of the hat matrix [1]_, for all penalties from one
    eigendecomposition: of XᵀX if there are fewer features than stimuli, otherwise of XXᵀ. Equal to
    ``sklearn.linear_model.RidgeCV``. Shrinkage factors of many penalties are nearly linearly dependent, so about thirty
    products suffice for a hundred penalties, to rounding.

    With folds, features and responses are centred by the means of each training set, and the model with the chosen
    penalty is fitted to all stimuli. The choice is that of ``himalaya.kernel_ridge.KernelRidgeCV(fit_intercept=True)``
    [2]_ in float64, which prefers larger penalties if errors differ by less than about 10⁻⁹. If training and test
    stimuli together are all stimuli, the residuals of the test stimuli follow from the eigendecomposition of all: they
    solve a system with the test stimuli's block of (XXᵀ + alpha · I)⁻¹ and the same rows of its product with the
    responses. What eigenvalues of similar size contribute to both with five to fifteen penalties determines what they
    contribute with all others: within 10⁻¹¹ where the systems hardly amplify errors, otherwise to rounding.

    References
    ----------
    .. [1] Golub, Heath & Wahba (1979). Technometrics 21, 215–223. https://doi.org/10.1080/00401706.1979.10489751
    .. [2] Dupré la Tour et al. (2022). NeuroImage 264, 119728. https://doi.org/10.1016/j.neuroimage.2022.119728

    Examples
    --------
    >>> import numpy as np
    >>> rng = np.random.default_rng(0)
    >>> X = rng.standard_normal((50, 20))
    >>> RidgeCV(alphas=[0.1, 10.0, 1e6]).fit(X, X[:, :3] + rng.standard_normal((50, 3))).alpha
    10.0
    >>> RidgeCV(alphas=[0.1, 10.0, 1e6], cv=5).fit(X, X[:, :3] + rng.standard_normal((50, 3))).alpha
    10.0
    """

    alphas: Sequence[float]
    alpha_per_target: bool = False
    _: KW_ONLY
    relative: bool = False
    cv: Any = None
    device: Any = None

    def __post_init__(self) -> None:
        values = np.asarray(self.alphas, dtype=np.float64)
        if values.ndim != 1 or not values.size:
            raise ValueError(f"alphas is {self.alphas!r}; it must be a list of at least one penalty")
        wrong = values[~(np.isfinite(values) & (values > 0))]
        if wrong.size:
            raise ValueError(f"alphas contains {float(wrong[0])}; penalties must be positive")
        check_folds(self.cv)

    def fit(self, X: ArrayLike, Y: ArrayLike) -> LinearFit:
        """Fit responses Y (n × q) from features X (n × p); ``alpha`` of the result is the chosen penalty.

        Raises
        ------
        ValueError
            If X or Y contain NaN or infinity, or differ in length, if there are fewer than two stimuli or fewer than
            folds, or if rows of `cv` are not among the stimuli.
        UserError
            If the device or PyTorch is not available.
        """
        return self._fit(*check_inputs(X, Y))[0]

    def cross_fit(self, X: ArrayLike, Y: ArrayLike, splits: Splits) -> Iterator[SplitFit]:
        """Predictions as in :meth:`cross_predict`, each with the penalty chosen on its training rows.

        The effects of the training rows on the predictions are those with this penalty.
        """
        X, Y = check_inputs(X, Y)
        n, p = X.shape
        for train, _ in splits:
            self.check(len(train), p)
        device = resolve_device(self.device)
        K = gram_on(X, device=device) if p >= n else None
        responses = Y if device is None or K is None else to_device(Y, device)
        for train, test in splits:
            if K is None:
                yield self._split_fit(X, Y, train, test)
                continue
            inner, outer = centred_blocks(K, train, test)
            y_mean = responses[train].mean(0)
            found = self._dual(inner, responses[train] - y_mean, self._folds(len(train)))
            left_out = partial(
                _left_out_of_choice,
                to_numpy(found.vectors),
                to_numpy(outer @ found.vectors),
                to_numpy(found.values),
                found.penalty,
                to_numpy(found.weights),
                primal=False,
            )
            yield SplitFit(to_numpy(outer @ found.weights + y_mean), found.alpha, left_out)

    def _split_fit(self, X: NDArray, Y: Array, train: NDArray[np.intp], test: NDArray[np.intp]) -> SplitFit:
        """Predictions of the test rows if there are fewer features than stimuli."""
        fit, found = self._fit(X[train], Y[train])
        left_out = None
        if fit.features is None:
            vectors, values = to_numpy(found.vectors), to_numpy(found.values)
            basis, tested = ((X[rows] - fit.x_mean) @ vectors for rows in (train, test))
            residuals = Y[train] - fit.predict(X[train])
            left_out = partial(_left_out_of_choice, basis, tested, values, found.penalty, residuals, primal=True)
        return SplitFit(fit.predict(X[test]), found.alpha, left_out)

    def check(self, n: int, p: int) -> None:
        """Raise an error for fewer than two training stimuli, fewer than folds, or no features."""
        if n < 2 or p < 1:
            raise ValueError(f"the choice of a penalty requires at least two stimuli and one feature, not {n} and {p}")
        if isinstance(self.cv, int | np.integer) and n < self.cv:
            raise ValueError(f"{self.cv} folds require at least as many stimuli, not {n}")

    def _folds(self, n: int) -> Folds | None:
        return None if self.cv is None else make_folds(self.cv, n)

    def _fit(self, X: NDArray, Y: Array) -> tuple[LinearFit, _Solution]:
        n, p = X.shape
        self.check(n, p)
        device, folds = resolve_device(self.device), self._folds(n)
        x_mean, y_mean = column_means(X), Y.mean(axis=0)
        responses = Y - y_mean if device is None else to_device(Y - y_mean, device)
        if p >= (n if folds is None else min(len(train) for train, _ in folds)):
            found = self._dual(gram_on(X, device=device), responses, folds)
            return LinearFit(x_mean, y_mean, to_numpy(found.weights), X, alpha=found.alpha), found
        centred = centred_features(X, mean=x_mean)
        features = centred if device is None else to_device(centred, device)
        found = self._primal(features, responses, folds)
        return LinearFit(x_mean, y_mean, to_numpy(found.weights), alpha=found.alpha), found

    def _primal(self, X: Any, Y: Any, folds: Folds | None) -> _Solution:
        n, xp = len(X), _array_module(X)
        values, vectors = eigh(X.T @ X, xp)
        unit = self._unit(float(values.sum()), n)
        alphas = unit * np.asarray(self.alphas, dtype=np.float64)
        Q = vectors.T @ (X.T @ Y)
        if folds is None:
            shift = (values + alphas.min()) ** 0.5  # keeps the shrinkage factors within (0, 1]
            shrinkage = to_numpy(shift)[:, None] ** 2 / (to_numpy(values)[:, None] + alphas)
            errors = _leave_one_out(X @ vectors / shift, Q / shift[:, None], shrinkage, Y, 1 - 1 / n, xp)
        else:
            errors = errors_primal(X, Y, folds, alphas, xp)
        return self._chosen(Decomposition(values, vectors), Q, errors, unit, xp)

    def _dual(self, K: Any, Y: Any, folds: Folds | None) -> _Solution:
        n, xp = len(K), _array_module(K)
        unit = self._unit(float(K.diagonal().sum()), n)
        alphas = unit * np.asarray(self.alphas, dtype=np.float64)
        whole = centred_eigh(K if folds is None else K + 0.0, xp)  # without folds, K is not needed any more
        values, vectors = whole
        Q = product(vectors.T, Y) if xp is np else vectors.T @ Y
        if folds is None:
            shrinkage = (float(values.min()) + alphas) / (to_numpy(values)[:, None] + alphas)
            errors = _leave_one_out(vectors, Q, shrinkage, None, 0.0, xp)
        else:
            errors = errors_dual(K, Y, whole, Q, folds, alphas, xp)
        # directions in which stimuli do not differ do not change a fit
        return self._chosen(whole, xp.where(above_rounding(values, n)[:, None], Q, 0.0), errors, unit, xp)

    def _unit(self, trace: float, n: int) -> float:
        """What `alphas` are multiples of, for n stimuli and the trace of XXᵀ; 1 if all features are equal."""
        return trace / n if self.relative and trace > 0 else 1.0

    def _chosen(self, whole: Decomposition, Q: Any, errors: Array, unit: float, xp: Any) -> _Solution:
        errors = errors if self.alpha_per_target else errors.mean(axis=1, keepdims=True)
        best = np.asarray(self.alphas, dtype=np.float64)[errors.argmin(axis=0)]
        penalties = np.broadcast_to(unit * best, Q.shape[1])
        weights = whole.vectors @ (Q / (whole.values[:, None] + as_array_like(penalties, whole.values, xp)))
        alpha = best if self.alpha_per_target else float(best[0])
        return _Solution(weights, alpha, unit * alpha, whole.values, whole.vectors)


def _array_module(x: Any) -> Any:
    return np if isinstance(x, np.ndarray) else import_torch()


def _leave_one_out(basis: Any, Q: Any, shrinkage: Array, Y: Any, diagonal: float, xp: Any) -> Array:
    """Mean squared leave-one-out error of each penalty × response.

    The error is (Y − basis · shrinkage · Q) / (diagonal − basis² · shrinkage); numerator and denominator may have a
    common factor. Without Y, both lack the first term.
    """
    n, q, n_alphas = len(basis), Q.shape[1], shrinkage.shape[1]
    factors, mixing = (as_array_like(part, basis, xp) for part in _compressed(shrinkage))
    remaining = (diagonal - basis**2 @ as_array_like(shrinkage, basis, xp)).T[:, :, None]
    errors = np.empty((n_alphas, q))
    for columns in chunk_columns(n * (n_alphas + 2 * len(mixing)), q, None if xp is np else basis.device):
        parts = xp.stack([basis @ (factor[:, None] * Q[:, columns]) for factor in factors.T])
        fitted = (mixing.T @ parts.reshape(len(mixing), -1)).reshape(n_alphas, n, -1)
        if Y is not None:
            fitted -= Y[:, columns]
        fitted /= remaining
        errors[:, columns] = to_numpy(xp.einsum("aij,aij->aj", fitted, fitted)) / n
    return errors


def _compressed(shrinkage: Array) -> tuple[Array, Array]:
    """A few factors, and the weights that combine them into each penalty's factors; exact to rounding."""
    n_alphas = shrinkage.shape[1]
    left, singular, right = np.linalg.svd(shrinkage, full_matrices=False)
    rank = int((singular > np.finfo(np.float64).eps * singular[0]).sum())
    if rank >= n_alphas:
        return shrinkage, np.eye(n_alphas)
    return left[:, :rank] * singular[:rank], right[:rank]
