"""Scores with their uncertainty, and the contracts of metrics and ceilings."""

import logging
import operator
import warnings
from collections.abc import Callable, Hashable, Iterator, Mapping
from dataclasses import dataclass, fields
from numbers import Real
from typing import Any, Literal, Self

import numpy as np
import pandas as pd
import xarray as xr
from xarray.plot.accessor import DataArrayPlotAccessor

from brainscore_core.formatting import as_html, as_text, folded
from brainscore_core.metrics.uncertainty import (
    ScoreAttrs,
    Uncertainty,
    amend_uncertainty,
    attach_uncertainty,
    declare_no_error,
    unclamped_value,
    undetermined,
)
from brainscore_core.supported_data_standards.brainio.assemblies import DataAssembly, merge_data_arrays
from brainscore_core.supported_data_standards.brainio.stimulus_groups import STIMULUS_GROUPS

__all__ = [
    "NEUROID_GROUPS",
    "STIMULUS_GROUPS",
    "Ceiling",
    "Meaning",
    "Metric",
    "Scale",
    "Score",
    "Uncertainty",
    "amend_uncertainty",
    "attach_uncertainty",
    "declare_no_error",
    "unclamped_value",
    "undetermined",
]

ABOVE_CEILING = "above the ceiling"
"""How the reason begins why a score has no interval that is higher than the best possible model would have."""

NEUROID_GROUPS = "subject"
"""Coordinate of neuroids that resemble each other, unless another one is declared."""

_COMPARISONS = {"eq", "ne", "lt", "le", "gt", "ge", "array_eq", "array_ne", "and_", "or_", "xor"}
_COMPARING_UFUNCS = {"equal", "not_equal", "less", "less_equal", "greater", "greater_equal"}
_PREDICATES = {"isnan", "isfinite", "isinf", "signbit"}
_logger = logging.getLogger(__name__)


class Score(DataAssembly):
    """A number (or an array of numbers) with its uncertainty and its origin.

    Attributes in ``attrs``:

    ``raw``
        The value before the ceiling was applied; for the score of a metric: the values before aggregation.
    ``ceiling``
        The value that the best possible model would reach.
    ``uncertainty``
        Error, interval, and what comparisons with other scores need: an :class:`Uncertainty`, whose fields are
        attributes, too, such as ``error`` and ``ci``.
    ``scale``
        ``'correlation'``, ``'variance'``, ``'similarity'`` or ``'accuracy'``; after :func:`normalise` ``'ceiled'``.
    ``meaning``
        Of a ceiling: ``'reliability'``, ``'upper bound'``, ``'human-human'`` or ``'none'``.

    Every attribute whose name contains ``raw`` follows the score: ``sel``, ``isel``, ``squeeze`` and ``expand_dims``
    also apply to it if it has the dimensions and levels that they name, and leave it unchanged otherwise. ``mean``,
    ``sum``, ``std``, ``min`` and ``reduce`` leave it unchanged unless ``_apply_raw=True`` is passed.

    Indexing keeps the attributes. Multiplying or dividing by a constant scales the uncertainty. Any other arithmetic
    drops the attributes and sets ``error`` and ``ci`` to NaN with a reason: an inherited error would be wrong.

    Examples
    --------
    >>> score = Score(0.4)
    >>> score.attrs["error"] = 0.05
    >>> (score * 2).attrs["error"]
    0.1
    >>> (score + score).attrs["error"]
    nan
    >>> score = Score([0.2, 0.6], coords={"subject": ["a", "b"]}, dims=["subject"])
    >>> score.attrs["raw"] = score * 10
    >>> score.sel(subject="b").raw.item(), score.mean().raw.values, score.mean(_apply_raw=True).raw.item()
    (6.0, array([2., 6.]), 4.0)
    """

    __slots__ = ()

    RAW_VALUES_KEY = "raw"

    @property  # type: ignore[override] # a view of xarray's dictionary
    def attrs(self) -> ScoreAttrs:
        """Attributes; the uncertainty is one of them."""
        return ScoreAttrs(self.variable.attrs)

    @attrs.setter
    def attrs(self, value: Mapping[Any, Any]) -> None:
        self.variable.attrs = dict(value)

    def __repr__(self) -> str:
        from brainscore_core.metrics.score_display import score_rows, score_title

        if self.dtype.kind not in "fiu":  # results of comparisons
            return repr(_plain_array(self, attrs=True))
        text = as_text(score_title(self), score_rows(self))
        return text if self.size == 1 else f"{text}\n{_plain_array(self)!r}"

    def _repr_html_(self) -> str:
        from brainscore_core.metrics.score_display import score_rows, score_title

        if self.dtype.kind not in "fiu":
            return _plain_array(self, attrs=True)._repr_html_()
        more = folded("dimensions and attributes", _plain_array(self, attrs=True)._repr_html_())
        return as_html(score_title(self), score_rows(self), more=more)

    @property
    def plot(self) -> Any:  # type: ignore[override] # xarray's is a descriptor, too
        """Draw the score with its interval, raw value and ceiling; several values are drawn sorted.

        ``score.plot()`` returns a :class:`~brainscore_core.figures.Plot`. With arguments, and in its methods such as
        ``score.plot.hist()``, it is xarray's.
        """
        return _ScorePlot(self)

    def to_pandas(self) -> Any:
        """Convert to pandas: a single score to a table of one row, several values to what xarray makes of them.

        The row has columns of an export of results; `pandas.concat` joins the tables of several scores.

        Examples
        --------
        >>> score = Score(0.4)
        >>> score.attrs.update(model_identifier="pixels", ci=(0.3, 0.5), ceiling=Score(0.8))
        >>> score.to_pandas()[["model", "score", "ci_low", "ceiling"]].to_dict("records")
        [{'model': 'pixels', 'score': 0.4, 'ci_low': 0.3, 'ceiling': 0.8}]
        """
        if self.ndim:
            return super().to_pandas()
        from brainscore_core.metrics.score_display import score_record

        return pd.DataFrame([score_record(self)])

    def __setitem__(self, key: Any, value: Any, _apply_raw: bool = True) -> None:
        """Set values, or a coordinate, which raw values of the same length of its dimension get, too."""
        super().__setitem__(key, value)
        if isinstance(key, str) and _apply_raw:
            for name, raw in self.attrs.items():
                if self.RAW_VALUES_KEY in str(name) and isinstance(raw, DataAssembly):
                    try:
                        raw[key] = value
                    except ValueError as error:  # raw values may have other dimensions
                        _logger.debug("the coordinate %r was not set on the attribute %r: %s", key, name, error)

    def sel(self, *args: Any, _apply_raw: bool = True, **kwargs: Any) -> Self:
        """Select by value, as for an assembly; the raw values follow."""
        return self._followed_by_raw(super().sel(*args, **kwargs), "sel", args, kwargs, _apply_raw)

    def isel(self, *args: Any, _apply_raw: bool = True, **kwargs: Any) -> Self:
        """Select by position, as for an assembly; the raw values follow."""
        return self._followed_by_raw(super().isel(*args, **kwargs), "isel", args, kwargs, _apply_raw)

    def squeeze(self, *args: Any, _apply_raw: bool = True, **kwargs: Any) -> Self:
        """Drop dimensions of length 1 as xarray does; the raw values follow."""
        return self._followed_by_raw(super().squeeze(*args, **kwargs), "squeeze", args, kwargs, _apply_raw)

    def expand_dims(self, *args: Any, _apply_raw: bool = True, **kwargs: Any) -> Self:
        """Add dimensions as xarray does; the raw values follow."""
        return self._followed_by_raw(super().expand_dims(*args, **kwargs), "expand_dims", args, kwargs, _apply_raw)

    def mean(self, *args: Any, _apply_raw: bool = False, **kwargs: Any) -> Self:
        """Mean, as for an assembly; the raw values stay, or follow with `_apply_raw`."""
        return self._followed_by_raw(super().mean(*args, **kwargs), "mean", args, kwargs, _apply_raw)

    def sum(self, *args: Any, _apply_raw: bool = False, **kwargs: Any) -> Self:
        """Sum, as for an assembly; the raw values stay, or follow with `_apply_raw`."""
        return self._followed_by_raw(super().sum(*args, **kwargs), "sum", args, kwargs, _apply_raw)

    def std(self, *args: Any, _apply_raw: bool = False, **kwargs: Any) -> Self:
        """Standard deviation, as for an assembly; the raw values stay, or follow with `_apply_raw`."""
        return self._followed_by_raw(super().std(*args, **kwargs), "std", args, kwargs, _apply_raw)

    def min(self, *args: Any, _apply_raw: bool = False, **kwargs: Any) -> Self:
        """Minimum, as for an assembly; the raw values stay, or follow with `_apply_raw`."""
        return self._followed_by_raw(super().min(*args, **kwargs), "min", args, kwargs, _apply_raw)

    def _followed_by_raw(self, result: Any, method: str, args: Any, kwargs: Any, apply: bool) -> Any:
        for key, value in self.attrs.items():
            if self.RAW_VALUES_KEY not in str(key):
                continue
            if apply and isinstance(value, xr.DataArray):
                try:
                    value = getattr(value, method)(*args, **kwargs)
                except (KeyError, IndexError, ValueError) as error:  # raw values may have other dimensions and levels
                    _logger.debug("%s was not applied to the attribute %r: %s", method, key, error)
            result.attrs[key] = value
        return result

    @classmethod
    def merge(
        cls,
        *scores: "Score",
        exception_handling: Literal["ignore", "warn", "raise"] = "ignore",
        ignore_exceptions: bool | None = None,
    ) -> "Score":
        """Merge scores of different entries into one score, and their raw values likewise.

        Parameters
        ----------
        *scores : Score
            Scores with the same dimensions, as for :func:`merge_data_arrays`.
        exception_handling : {'ignore', 'warn', 'raise'}
            What to do if raw values cannot be merged: leave them out, with or without a warning, or raise an error.
        ignore_exceptions : bool, optional
            Earlier form: True for 'ignore', False for 'raise'.

        Returns
        -------
        Score
            With the merged raw values of every attribute of the first score whose name contains ``raw``.

        Raises
        ------
        ValueError
            If there are no scores, or `exception_handling` is not valid.

        Examples
        --------
        >>> a, b = (Score([i], coords={"subject": [i]}, dims=["subject"]) for i in (1, 2))
        >>> Score.merge(a, b).values
        array([1, 2])
        """
        if ignore_exceptions is not None:
            exception_handling = "ignore" if ignore_exceptions else "raise"
        if exception_handling not in ("ignore", "warn", "raise"):
            raise ValueError(f"exception_handling is 'ignore', 'warn' or 'raise', got {exception_handling!r}")
        if not scores:
            raise ValueError("no scores to merge: pass at least one")
        result = cls(merge_data_arrays(list(scores)))
        result.attrs = {}
        for key in scores[0].attrs:
            if cls.RAW_VALUES_KEY not in str(key):
                continue
            try:
                result.attrs[key] = cls.merge(
                    *(cls(score.attrs[key]) for score in scores), exception_handling=exception_handling
                )
            except (KeyError, ValueError, TypeError) as error:
                if exception_handling == "raise":
                    raise
                if exception_handling == "warn":
                    warnings.warn(f"the attribute {key!r} of the scores could not be merged: {error}", stacklevel=2)
        return result

    def _binary_op(self, other: Any, f: Callable[..., Any], reflexive: bool = False) -> Any:
        result = super()._binary_op(other, f, reflexive)
        if result is NotImplemented:
            return result
        name = getattr(f, "__name__", str(f))
        return _with_attrs(result, _attrs_after(self, name, other, reflexive=reflexive))

    def _inplace_binary_op(self, other: Any, f: Callable[..., Any]) -> Any:
        name = getattr(f, "__name__", str(f)).removeprefix("i")
        attrs = _attrs_after(self, name, other, reflexive=False)
        return _with_attrs(super()._inplace_binary_op(other, f), attrs)

    def _unary_op(self, f: Callable[..., Any], *args: Any, **kwargs: Any) -> Any:
        result = super()._unary_op(f, *args, **kwargs)
        name = getattr(f, "__name__", str(f))
        if f is operator.neg:
            return _with_attrs(result, _scaled(self, -1))
        if f is operator.pos:
            return _with_attrs(result, dict(self.attrs))
        if name in _COMPARISONS | _PREDICATES or f is operator.invert:
            return _with_attrs(result, {})
        return _with_attrs(result, Uncertainty.missing(f"{name} of a score").attributes())

    def __array_ufunc__(self, ufunc: np.ufunc, method: str, *inputs: Any, **kwargs: Any) -> Any:
        result = super().__array_ufunc__(ufunc, method, *inputs, **kwargs)
        if not isinstance(result, Score):
            return result
        name = ufunc.__name__
        if name in _COMPARING_UFUNCS or name in _PREDICATES:
            return _with_attrs(result, {})
        if name in {"multiply", "divide", "true_divide"} and len(inputs) == 2:
            left, right = inputs
            reflexive = not isinstance(left, Score)
            score, other = (right, left) if reflexive else (left, right)
            operation = "mul" if name == "multiply" else "truediv"
            return _with_attrs(result, _attrs_after(score, operation, other, reflexive=reflexive))
        if name == "negative":
            return _with_attrs(result, _scaled(inputs[0], -1))
        return _with_attrs(result, Uncertainty.missing(f"{name} of a score").attributes())

    def reduce(
        self,
        func: Callable[..., Any],
        dim: Hashable | Any = None,
        *,
        axis: int | Any = None,
        keep_attrs: bool | None = None,
        keepdims: bool = False,
        _apply_raw: bool = False,
        **kwargs: Any,
    ) -> Any:
        """Reduce over dimensions as xarray does; the result's ``error`` and ``ci`` are NaN with a reason.

        The raw values stay, or are reduced in the same way with `_apply_raw`.
        """
        if isinstance(dim, Iterator):
            dim = tuple(dim)
        result = super().reduce(func, dim, axis=axis, keep_attrs=keep_attrs, keepdims=keepdims, **kwargs)
        over = dim if dim is not None else "all dimensions"
        _with_attrs(result, dict(self.attrs) if keep_attrs else {})
        Uncertainty.missing(f"{getattr(func, '__name__', 'reduction')} over {over}").write(result.attrs)
        options = {"axis": axis, "keepdims": keepdims, **kwargs}
        return self._followed_by_raw(result, "reduce", (func, dim), options, _apply_raw)


def _attrs_after(score: Score, name: str, other: Any, *, reflexive: bool) -> dict[str, Any]:
    if name in _COMPARISONS:
        return {}
    if _is_constant(other):
        if name == "mul":
            return _scaled(score, float(other))
        if name == "truediv" and not reflexive and float(other) != 0:
            return _scaled(score, 1 / float(other))
    return Uncertainty.missing(f"{name} of a score and {_describe(other)}").attributes()


def _scaled(score: Score, factor: float) -> dict[str, Any]:
    """Attributes after multiplication by a constant."""
    return dict(score.attrs) | Uncertainty.of(score).scaled(factor).attributes()


def _plain_array(score: Score, *, attrs: bool = False) -> xr.DataArray:
    """The score as xarray shows it."""
    array = xr.DataArray(score.variable, coords=score.coords, name=score.name)
    array.attrs = dict(score.attrs) if attrs else {}
    return array


class _ScorePlot(DataArrayPlotAccessor):
    """Plots of xarray, except the one without arguments."""

    __slots__ = ()

    def __call__(self, **kwargs: Any) -> Any:  # type: ignore[override] # all arguments are passed on
        from brainscore_core.metrics.score_display import score_plot

        return super().__call__(**kwargs) if kwargs else score_plot(self._da)  # type: ignore[arg-type] # a score


def _with_attrs(result: Any, attrs: dict[str, Any]) -> Any:
    result.attrs = attrs
    return result


def _is_constant(value: Any) -> bool:
    if isinstance(value, np.ndarray):
        return value.ndim == 0 and np.issubdtype(value.dtype, np.number)
    return isinstance(value, Real | np.number) and not isinstance(value, complex)


def _describe(value: Any) -> str:
    return "a constant" if _is_constant(value) else f"a {type(value).__name__}"


Scale = Literal["correlation", "variance", "similarity", "accuracy"]
Meaning = Literal["reliability", "upper bound", "human-human", "none"]


class Metric:
    """Compares a model's recordings or behaviour (`source`) with measurements (`target`).

    A subclass implements ``__call__(source, target) -> Score`` and declares, as attributes of the class or of its
    objects, what it takes and returns.

    Attributes
    ----------
    scale : str or None
        Scale of the values, which tells :func:`brainscore_core.benchmarks.normalise` how to apply a ceiling to them.
    compares : str or None
        What is passed: ``'recordings'`` of a region (also if matrices are computed from them, see `matrices`),
        ``'choices'``, ``'properties'``, ``'matrices'`` that are published, or another noun;
        None (not declared) counts as choices if the scale is an accuracy, else as recordings.
    predicts : str or None
        Of metrics that fit a map: ``'recordings'`` if it predicts the target, ``'features'`` if it predicts the source.
    needs_training : bool
        Whether it fits on stimuli of their own, which it takes before those of the test.
    min_neuroids : int
        Number of neuroids that are needed.
    needs_repetitions : bool
        Whether the target is single repetitions instead of their averages.
    per_time_bin : bool
        Whether there is a value for each time bin.
    matrices : str or None
        Of which values of all pairs of stimuli matrices are compared, such as ``'dissimilarities'``; None for others.
    from_products : bool
        Whether features matter only by inner products of stimuli and sums over features, so that they may be rotated.
    """

    scale: Scale | None = None
    compares: str | None = None
    predicts: str | None = None
    needs_training: bool = False
    min_neuroids: int = 1
    needs_repetitions: bool = False
    per_time_bin: bool = False
    matrices: str | None = None
    from_products: bool = False

    def __call__(self, source: DataAssembly, target: DataAssembly, /, *args: Any, **kwargs: Any) -> Score:
        """Compare `source` with `target`.

        Returns: similarity, with ``raw``, ``error`` and ``ci`` in its attributes.
        """
        raise NotImplementedError(f"{type(self).__name__} does not implement __call__(source, target)")

    def value(self, source: DataAssembly, target: DataAssembly) -> float:
        """The score alone; a metric may compute it without the interval, which takes most of the time."""
        return float(self(source, target))


class Ceiling:
    """Estimates from the measurements alone the value that the best possible model would reach.

    A subclass implements ``__call__(assembly) -> Score`` and declares the meaning of its value.

    Attributes
    ----------
    meaning : str or None
        What the value is.
    compares, per_time_bin
        As for :class:`Metric`.
    matrices : str or None
        If not None, the ceiling is one of metrics with the same `matrices` only.
    scales : tuple of str or None
        Scales of the metrics that it is a ceiling of; None: shares of variance for a reliability, else any.
    """

    meaning: Meaning | None = None
    compares: str | None = None
    per_time_bin: bool = False
    matrices: str | None = None
    scales: tuple[Scale, ...] | None = None

    def __call__(self, assembly: DataAssembly, /, *args: Any, **kwargs: Any) -> Score:
        """Estimate the ceiling of `assembly`.

        Returns: ceiling, with ``raw``, ``error``, ``ci`` and ``meaning`` in its attributes.
        """
        raise NotImplementedError(f"{type(self).__name__} does not implement __call__(assembly)")


@dataclass(frozen=True)
class Declarations:
    """What a metric or ceiling declares, with defaults for what it does not; attributes as in :class:`Metric`."""

    scale: Scale | None
    compares: str
    needs_training: bool
    min_neuroids: int
    needs_repetitions: bool
    per_time_bin: bool
    matrices: str | None
    from_products: bool


def declarations_of(metric: Any) -> Declarations:
    """What a metric or ceiling, or its class, declares; the one place that infers what it does not.

    Examples
    --------
    >>> class Hits(Metric):
    ...     scale = "accuracy"
    >>> declarations_of(Hits()).compares, declarations_of(max).compares
    ('choices', 'recordings')
    """
    declared = {field.name: getattr(metric, field.name, getattr(Metric, field.name)) for field in fields(Declarations)}
    declared["compares"] = declared["compares"] or ("choices" if declared["scale"] == "accuracy" else "recordings")
    return Declarations(**declared)
