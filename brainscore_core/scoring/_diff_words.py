"""What a difference is due to, in plain words."""

from collections.abc import Iterable
from typing import TYPE_CHECKING

from brainscore_core.scoring._diff_parts import CAUSES, Change

if TYPE_CHECKING:
    from brainscore_core.scoring._diff import Difference
    from brainscore_core.scoring._receipt import Receipt

__all__ = ["explain"]

_NAMED_IN_FULL = 6  # more changes of one part are counted


def explain(a: "Receipt", b: "Receipt", found: "Difference") -> str:
    """Say in plain words whether two receipts have the same numbers, and what may be the reason if not."""
    return " ".join(text for text in _sentences(a, b, found) if text)


def _sentences(a: "Receipt", b: "Receipt", found: "Difference") -> Iterable[str]:
    if found.verdict == "other pair":
        yield from _of_other_pairs(a, b, found)
    elif found.verdict == "same":
        if a.state == "scored":
            yield "All numbers are the same."
        else:
            yield f"Neither receipt has a score: {_outcome(a)}."
        if found.changes:
            yield f"They are, although there are differences in {_all(found.changes)}."
    elif found.verdict == "within tolerance":
        number = found.largest
        if number is not None:
            yield (
                f"The numbers are the same within tolerance: the largest difference, of {number.name}, is "
                f"{number.apart:.2g}, and {number.allowed:.2g} is allowed."
            )
        yield f"There are differences in {_all(found.changes)}." if found.changes else "No recorded part differs."
    else:
        yield _what_differs(a, b, found)
        yield from _attribution(found)
    if found.verdict == "different" and found.not_recorded:
        yield f"Not compared: {', '.join(found.not_recorded)}."


def _of_other_pairs(a: "Receipt", b: "Receipt", found: "Difference") -> Iterable[str]:
    if a.benchmark.identifier == b.benchmark.identifier:
        yield (
            f"The receipts are of other models ({a.model.identifier}, {b.model.identifier}): their scores are "
            "expected to differ. `brainscore compare` tests by how much."
        )
    elif a.model.identifier == b.model.identifier:
        yield (
            f"The receipts are of other benchmarks ({a.benchmark.identifier}, {b.benchmark.identifier}): their "
            "scores cannot be compared."
        )
    else:
        yield "The receipts are of other models and other benchmarks: their scores cannot be compared."
    if found.changes:
        yield f"Of what can be compared, there are differences in {_all(found.changes)}."


def _what_differs(a: "Receipt", b: "Receipt", found: "Difference") -> str:
    if a.state != b.state:
        return f"The first receipt is {_outcome(a)}, the second is {_outcome(b)}."
    if a.state == "failed":
        return f"Both failed, but otherwise: {_outcome(a)}, and {_outcome(b)}."
    number = found.largest
    if number is None:
        return ""
    score = next((other for other in found.numbers if other.name == "score"), number)
    shown = score if score.verdict == "different" else number
    return f"{shown.name}: {_digits(shown.a)} and {_digits(shown.b)}."


def _outcome(receipt: "Receipt") -> str:
    return f"{receipt.state} ({receipt.reason})" if receipt.reason else str(receipt.state)


def _attribution(found: "Difference") -> Iterable[str]:
    causes = [change for change in found.changes if change.part in CAUSES]
    circumstances = [change for change in found.changes if change.part not in CAUSES]
    if any(change.part == "benchmark version" for change in causes):
        yield "The benchmark has another version: scores of different versions are not meant to be the same."
    if not found.changes:
        yield (
            "No part that receipts record differs, so they do not explain the difference. It may come from code that "
            "is not deterministic, or from what they do not record."
        )
    elif not causes:
        yield (
            f"Only where it was computed differs ({_all(circumstances)}), which usually changes the last digits alone."
        )
    elif len({change.part for change in found.changes}) == 1:
        several = _is_plural(found.changes[0].part, len(found.changes))
        yield (
            f"Of all that both receipts record, only {_all(found.changes, verb=True)}: the difference "
            f"{'may be' if found.not_recorded else 'is'} due to {'them' if several else 'it'}."
        )
    else:
        yield f"Candidates are differences in {_all(causes)}."
        if circumstances:
            yield f"Where it was computed differs, too ({_all(circumstances)})."
        if len({change.part for change in causes}) > 1:
            yield "Score again with one of them as it was, to tell which it is."


_NOUNS = {
    "benchmark version": ("the benchmark's version", "the benchmark's version"),
    "data": ("one item of the data", "the data"),
    "weights": ("the weights", "the weights"),
    "model code": ("the model's code", "the model's code"),
    "benchmark code": ("the benchmark's code", "the benchmark's code"),
    "metric code": ("a metric's code", "the metrics' code"),
    "libraries": ("one library", "libraries"),
    "seeds": ("a seed", "seeds"),
    "device": ("the device", "the device"),
    "settings": ("a setting", "settings"),
    "python": ("Python", "Python"),
    "platform": ("the operating system", "the operating system"),
    "processor": ("the processor", "the processor"),
    "stored activations": ("where activations come from", "where activations come from"),
    "other libraries": ("a library that one environment lacks", "libraries that one environment lacks"),
}
_PLURAL = {"libraries", "seeds", "settings", "other libraries"}


def _all(changes: Iterable[Change], *, verb: bool = False) -> str:
    """Name the parts, each with what changed in it."""
    by_part: dict[str, list[str]] = {}
    for change in changes:
        by_part.setdefault(change.part, []).append(str(change))
    texts = []
    for part, items in by_part.items():
        noun = _NOUNS[part][len(items) > 1]
        if verb:
            noun += " differ" if _is_plural(part, len(items)) else " differs"
        more = f", and {len(items) - _NAMED_IN_FULL} more" if len(items) > _NAMED_IN_FULL else ""
        texts.append(f"{noun} ({'; '.join(items[:_NAMED_IN_FULL])}{more})")
    return ", ".join(texts)


def _is_plural(part: str, count: int) -> bool:
    return count > 1 and part in _PLURAL


def _digits(value: float | None) -> str:
    return "none" if value is None else f"{value:.10g}"
