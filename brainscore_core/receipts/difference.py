"""Differences between two receipts: their numbers, and the arrays stored beside them."""

from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any, Literal

import numpy as np

from brainscore_core.errors import UserError
from brainscore_core.receipts.changes import CAUSES, Change, changes_between
from brainscore_core.receipts.receipt import Estimate, Receipt

_IDENTITIES = ("stimulus_id", "neuroid_id", "subject", "region", "split")


@dataclass(frozen=True, kw_only=True)
class ArrayDifference:
    """Difference of two arrays.

    Attributes
    ----------
    kind : str
        ``'raw'`` or ``'predictions'``.
    largest : float or None
        Largest absolute difference over all values, in the unit of the values; None if they cannot be compared.
    spread : float or None
        Standard deviation of the first array's values, as a reference.
    values : int
        Number of compared values. Two NaN are the same.
    problem : str or None
        Why they cannot be compared.
    """

    kind: str
    largest: float | None = None
    spread: float | None = None
    values: int = 0
    problem: str | None = None

    @property
    def same(self) -> bool:
        """Whether every value is the same."""
        return self.largest == 0

    def __str__(self) -> str:
        if self.largest is None:
            return f"{self.kind}: {self.problem}"
        if self.same:
            return f"{self.kind}: all {self.values} values are the same"
        spread = f", whose standard deviation is {self.spread:.2g}" if self.spread else ""
        return f"{self.kind}: the largest difference is {self.largest:.2g}, of {self.values} values{spread}"


def array_difference(kind: str, a: Any, b: Any) -> ArrayDifference:
    """Compare two arrays of the same layout.

    Parameters
    ----------
    kind : str
        ``'raw'`` or ``'predictions'``.
    a, b : DataAssembly
        Of any dimensions. They are not sorted, since the same benchmark writes the same order.

    Examples
    --------
    >>> import xarray as xr
    >>> array_difference("raw", xr.DataArray([0.5, 0.25]), xr.DataArray([0.5, 0.75])).largest
    0.5
    """
    if a.dims != b.dims or a.shape != b.shape:
        shapes = (" × ".join(f"{size} {dim}" for dim, size in array.sizes.items()) for array in (a, b))
        return ArrayDifference(kind=kind, problem=f"the arrays differ in shape: {next(shapes)} and {next(shapes)}")
    for name in _IDENTITIES:
        if name in a.coords and name in b.coords and not np.array_equal(a[name].values, b[name].values):
            return ArrayDifference(kind=kind, problem=f"the arrays differ in {name} or its order")
    first, second = (np.asarray(array.values, dtype=np.float64) for array in (a, b))
    if not first.size:
        return ArrayDifference(kind=kind, problem="the arrays are empty")
    missing = np.isnan(first)
    if not np.array_equal(missing, np.isnan(second)):
        count = int((missing != np.isnan(second)).sum())
        return ArrayDifference(kind=kind, problem=f"{count} values are undefined in only one of the arrays")
    with np.errstate(invalid="ignore"):  # the same infinity on both sides
        distances = np.where(first == second, 0.0, np.abs(first - second))[~missing]
    finite = np.isfinite(first)
    return ArrayDifference(
        kind=kind,
        largest=float(distances.max(initial=0.0)),
        spread=float(np.std(first[finite])) if finite.any() else None,
        values=int(distances.size),
    )


Verdict = Literal["same", "within tolerance", "different", "other pair"]


@dataclass(frozen=True, kw_only=True)
class Tolerance:
    """Largest difference of two numbers that count as the same result.

    Attributes
    ----------
    absolute : float
        Allowed difference; relative for numbers above 1.
    errors : float
        Allowed difference in standard errors of the estimate. The larger of the two limits counts.

    Examples
    --------
    >>> Tolerance().allowed(0.4, standard_error=0.02)
    2e-05
    >>> Tolerance(errors=0).allowed(0.4, standard_error=0.02)
    1e-06
    """

    absolute: float = 1e-6
    errors: float = 1e-3

    def __post_init__(self) -> None:
        for name in ("absolute", "errors"):
            if not 0 <= getattr(self, name) < float("inf"):
                raise UserError(f"a tolerance of {getattr(self, name)} is not valid", remedy="use 0 or more")

    def allowed(self, value: float, standard_error: float | None) -> float:
        """Largest difference from `value` that is within tolerance."""
        return max(self.absolute * max(1.0, abs(value)), self.errors * (standard_error or 0.0))


@dataclass(frozen=True, kw_only=True)
class NumberDifference:
    """One number in both receipts.

    Attributes
    ----------
    name : str
        ``'score'``, ``'score.error'``, ``'score.ci_low'``, ``'score.ci_high'``, ``'score.unclamped'``; the same of
        ``raw`` and ``ceiling``.
    a, b : float or None
        None if a receipt does not have this number.
    allowed : float or None
        Largest difference within tolerance.
    """

    name: str
    a: float | None
    b: float | None
    allowed: float | None = None

    @property
    def apart(self) -> float | None:
        """Absolute difference; None if one of the two is missing."""
        return None if self.a is None or self.b is None else abs(self.a - self.b)

    @property
    def verdict(self) -> Verdict:
        """Whether the numbers are the same, within tolerance, or different."""
        if self.a == self.b:
            return "same"
        if self.apart is not None and self.allowed is not None and self.apart <= self.allowed:
            return "within tolerance"
        return "different"


@dataclass(frozen=True, kw_only=True)
class Difference:
    """Result of :func:`difference`.

    Attributes
    ----------
    a, b : str
        Ids of the receipts.
    verdict : str
        ``'same'``: all numbers are the same to the last digit; ``'within tolerance'``; ``'different'``;
        ``'other pair'``: the receipts are of different models or benchmarks.
    numbers : tuple of NumberDifference
        For different pairs only the ceiling, if it is the same benchmark.
    states : (str, str)
        State of each.
    changes : tuple of Change
        Parts that differ.
    not_recorded : tuple of str
        Parts that cannot be compared.
    arrays : tuple of ArrayDifference
        Raw values and predictions, if they were compared. They do not change the verdict.
    explanation : str
        Possible reasons of the difference, as text.
    """

    a: str
    b: str
    verdict: Verdict
    numbers: tuple[NumberDifference, ...]
    states: tuple[str, str]
    changes: tuple[Change, ...]
    not_recorded: tuple[str, ...]
    arrays: tuple[ArrayDifference, ...]
    explanation: str

    @property
    def parts(self) -> tuple[str, ...]:
        """The parts that differ, each once."""
        return tuple(dict.fromkeys(change.part for change in self.changes))

    @property
    def largest(self) -> NumberDifference | None:
        """The number with the largest difference relative to its tolerance; None if all are the same."""
        apart = [number for number in self.numbers if number.verdict != "same"]
        return max(apart, key=_excess, default=None)

    def to_dict(self) -> dict[str, Any]:
        """Convert to plain JSON types."""
        return {
            **asdict(self),
            "parts": list(self.parts),
            "numbers": [{**asdict(n), "apart": n.apart, "verdict": n.verdict} for n in self.numbers],
            "changes": [{**asdict(change), "text": str(change)} for change in self.changes],
            "arrays": [{**asdict(array), "text": str(array)} for array in self.arrays],
        }


def difference(
    a: Receipt, b: Receipt, *, tolerance: Tolerance | None = None, arrays: Sequence[ArrayDifference] = ()
) -> Difference:
    """Compare two receipts: their numbers, and the parts that the numbers depend on.

    Parameters
    ----------
    a, b : Receipt
        Of the same pair; of different pairs, only comparable parts are compared.
    tolerance : Tolerance, optional
        Largest differences that count as the same result.
    arrays : sequence of ArrayDifference, optional
        Differences of the arrays stored beside the receipts.

    Returns
    -------
    Difference
        Verdict, numbers, changed parts and explanation.

    Examples
    --------
    >>> from brainscore_core.scoring import BenchmarkInfo, Environment, ModelInfo
    >>> def receipt(value, numpy):
    ...     return Receipt(model=ModelInfo(identifier="pixels"), benchmark=BenchmarkInfo(identifier="Some2026-pls"),
    ...                    state="scored", score=Estimate(value=value),
    ...                    environment=Environment(python="", platform="", cpu=None, cpu_count=None,
    ...                                            packages={"numpy": numpy}))
    >>> result = difference(receipt(0.25, "2.1.0"), receipt(0.26, "2.3.0"))
    >>> result.verdict, result.parts
    ('different', ('libraries',))
    >>> print(result.explanation)
    score: 0.25 and 0.26. Of all that both receipts record, only one part differs, libraries (numpy 2.1.0 → 2.3.0): the difference may be due to it. Not compared: model code (neither receipt has its hash), benchmark code (neither receipt has its hash).
    """  # noqa: E501 - a sentence as it is printed
    numbers = _numbers(a, b, tolerance or Tolerance())
    changes, unknown = changes_between(a, b)
    verdict = _verdict(a, b, numbers)
    result = Difference(
        a=a.id,
        b=b.id,
        verdict=verdict,
        numbers=numbers,
        states=(a.state, b.state),
        changes=changes,
        not_recorded=unknown,
        arrays=tuple(arrays),
        explanation="",
    )
    return replace(result, explanation=explain(a, b, result))


def _numbers(a: Receipt, b: Receipt, tolerance: Tolerance) -> tuple[NumberDifference, ...]:
    names = ["ceiling"] if a.benchmark.identifier == b.benchmark.identifier else []
    if names and a.model.identifier == b.model.identifier:
        names = ["score", "raw", "ceiling"]
    differences = []
    for name in names:
        first, second = _values(getattr(a, name)), _values(getattr(b, name))
        errors = [error for error in (first.get("error"), second.get("error")) if error]
        for entry in _ENTRIES:
            x, y = first.get(entry), second.get(entry)
            if x is None and y is None:
                continue
            allowed = None if x is None else tolerance.allowed(x, min(errors, default=None))
            full_name = name if entry == "value" else f"{name}.{entry}"
            differences.append(NumberDifference(name=full_name, a=x, b=y, allowed=allowed))
    return tuple(differences)


_ENTRIES = ("value", "error", "ci_low", "ci_high", "unclamped")


def _values(estimate: Estimate | None) -> dict[str, float | None]:
    if estimate is None:
        return {}
    low, high = estimate.ci or (None, None)
    numbers = (estimate.value, estimate.error, low, high, estimate.unclamped)
    return dict(zip(_ENTRIES, numbers, strict=True))


def _verdict(a: Receipt, b: Receipt, numbers: Sequence[NumberDifference]) -> Verdict:
    if (a.model.identifier, a.benchmark.identifier) != (b.model.identifier, b.benchmark.identifier):
        return "other pair"
    verdicts = {number.verdict for number in numbers}
    failures = [receipt.error.type if receipt.error else None for receipt in (a, b)]
    if a.state != b.state or failures[0] != failures[1] or "different" in verdicts:
        return "different"
    return "within tolerance" if "within tolerance" in verdicts else "same"


def _excess(number: NumberDifference) -> float:
    if number.apart is None or not number.allowed:
        return float("inf")
    return number.apart / number.allowed


_NAMED_IN_FULL = 6  # further changes of a part are only counted


def explain(a: "Receipt", b: "Receipt", result: "Difference") -> str:
    """Explain whether two receipts have the same numbers, and the possible reasons if not."""
    return " ".join(text for text in _sentences(a, b, result) if text)


def _sentences(a: "Receipt", b: "Receipt", result: "Difference") -> Iterable[str]:
    if result.verdict == "other pair":
        yield from _of_other_pairs(a, b, result)
    elif result.verdict == "same":
        if a.state == "scored":
            yield "All numbers are the same."
        else:
            yield f"Neither receipt has a score: {_outcome(a)}."
        if result.changes:
            yield f"They are, although there are differences in {_list_changes(result.changes)}."
    elif result.verdict == "within tolerance":
        number = result.largest
        if number is not None:
            yield (
                f"The numbers are the same within tolerance: the largest difference, of {number.name}, is "
                f"{number.apart:.2g}, and {number.allowed:.2g} is allowed."
            )
        yield (
            f"There are differences in {_list_changes(result.changes)}."
            if result.changes
            else "No recorded part differs."
        )
    else:
        yield _what_differs(a, b, result)
        yield from _attribution(result)
    if result.verdict == "different" and result.not_recorded:
        yield f"Not compared: {', '.join(result.not_recorded)}."


def _of_other_pairs(a: "Receipt", b: "Receipt", result: "Difference") -> Iterable[str]:
    if a.benchmark.identifier == b.benchmark.identifier:
        yield (
            f"The receipts are of different models ({a.model.identifier}, {b.model.identifier}): their scores are "
            "expected to differ. `brainscore compare` tests by how much."
        )
    elif a.model.identifier == b.model.identifier:
        yield (
            f"The receipts are of different benchmarks ({a.benchmark.identifier}, {b.benchmark.identifier}): their "
            "scores cannot be compared."
        )
    else:
        yield "The receipts are of different models and different benchmarks: their scores cannot be compared."
    if result.changes:
        yield f"Of what can be compared, there are differences in {_list_changes(result.changes)}."


def _what_differs(a: "Receipt", b: "Receipt", result: "Difference") -> str:
    if a.state != b.state:
        return f"The first receipt is {_outcome(a)}, the second is {_outcome(b)}."
    if a.state == "failed":
        return f"Both failed, but differently: {_outcome(a)}, and {_outcome(b)}."
    number = result.largest
    if number is None:
        return ""
    score = next((candidate for candidate in result.numbers if candidate.name == "score"), number)
    named = score if score.verdict == "different" else number
    return f"{named.name}: {_digits(named.a)} and {_digits(named.b)}."


def _outcome(receipt: "Receipt") -> str:
    return f"{receipt.state} ({receipt.reason})" if receipt.reason else str(receipt.state)


def _attribution(result: "Difference") -> Iterable[str]:
    causes = [change for change in result.changes if change.part in CAUSES]
    circumstances = [change for change in result.changes if change.part not in CAUSES]
    if any(change.part == "benchmark version" for change in causes):
        yield "The benchmark's version differs: scores of different versions are not expected to be the same."
    if not result.changes:
        yield (
            "No part that receipts record differs, so they do not explain the difference. It may come from code that "
            "is not deterministic, or from what they do not record."
        )
    elif not causes:
        yield (
            f"Only the computing environment differs ({_list_changes(circumstances)}), "
            "which usually changes only the last digits."
        )
    elif len({change.part for change in result.changes}) == 1:
        yield (
            f"Of all that both receipts record, only one part differs, {_list_changes(result.changes)}: the difference "
            f"{'may be' if result.not_recorded else 'is'} due to it."
        )
    else:
        yield f"Candidates are differences in {_list_changes(causes)}."
        if circumstances:
            yield f"The computing environment also differs ({_list_changes(circumstances)})."
        if len({change.part for change in causes}) > 1:
            yield "Restore one of them and score again to find out which is the reason."


def _list_changes(changes: Iterable[Change]) -> str:
    """List the parts, each with its changes."""
    by_part: dict[str, list[str]] = {}
    for change in changes:
        by_part.setdefault(change.part, []).append(str(change))
    texts = []
    for part, items in by_part.items():
        more = f", and {len(items) - _NAMED_IN_FULL} more" if len(items) > _NAMED_IN_FULL else ""
        texts.append(f"{part} ({'; '.join(items[:_NAMED_IN_FULL])}{more})")
    return ", ".join(texts)


def _digits(value: float | None) -> str:
    return "none" if value is None else f"{value:.10g}"
