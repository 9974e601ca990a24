"""Summary of a receipt as lines of text, for terminals."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from brainscore_core.receipts.receipt import Estimate, Receipt

__all__ = ["summary"]


def summary(receipt: Receipt, *, stored: str | None = None) -> list[tuple[str, str]]:
    """Summarize a receipt, line by line.

    Parameters
    ----------
    receipt : Receipt
        The receipt.
    stored : str, optional
        Address to which it was written.

    Returns
    -------
    list of (str, str)
        Name and text of each line, with reasons of undefined values.
    """
    benchmark = receipt.benchmark.identifier
    if receipt.benchmark.version is not None:
        benchmark += f" (version {receipt.benchmark.version})"
    lines = [("model", receipt.model.identifier), ("benchmark", benchmark)]
    if receipt.benchmark.control:
        lines.append(("", "a control of the method: not part of averages"))
    state = str(receipt.state)
    lines.append(("state", f"{state}: {receipt.reason}" if receipt.reason else state))
    if receipt.score is not None:
        lines.append(("score", _value(receipt.score)))
        lines.append(("interval", _interval(receipt.score)))
        if receipt.score.unclamped is not None and receipt.score.unclamped != receipt.score.value:
            lines.append(("unclamped", _number(receipt.score.unclamped)))
    if receipt.raw is not None:
        scale = f" ({receipt.raw.scale})" if receipt.raw.scale else ""
        lines.append(("raw", _value(receipt.raw) + scale))
    if receipt.ceiling is not None:
        meaning = f" ({receipt.ceiling.meaning})" if receipt.ceiling.meaning else ""
        lines.append(("ceiling", _value(receipt.ceiling) + meaning))
    elif receipt.score is not None:
        lines.append(("ceiling", "none"))
    lines += [("note", note) for note in receipt.notes]
    if stored is not None:
        lines.append(("receipt", stored))
    return lines


def _number(value: float) -> str:
    return f"{value:.4f}"


def _value(estimate: Estimate) -> str:
    if estimate.value is None:
        return "undefined"
    if estimate.error is None:
        reason = f": {estimate.error_reason}" if estimate.error_reason else ""
        return f"{_number(estimate.value)} (no standard error{reason})"
    return f"{_number(estimate.value)} ± {_number(estimate.error)}"


def _interval(estimate: Estimate) -> str:
    if estimate.ci is None:
        return f"none: {estimate.ci_reason or 'no reason is given'}"
    low, high = estimate.ci
    level = f"{100 * (estimate.ci_level or 0.95):g} % interval of "
    what = estimate.ci_estimates or "the score"
    method = f" ({estimate.ci_method})" if estimate.ci_method else ""
    return f"{_number(low)} to {_number(high)}, {level}{what}{method}"
