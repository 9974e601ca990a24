"""Receipts of pairs whose process did not live to write one."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from brainscore_core.scoring import BenchmarkInfo, ErrorInfo, ModelInfo, Receipt, ResultsStore, Timings
from brainscore_core.scoring._environment import current_environment
from brainscore_core.scoring._log import kept_log
from brainscore_core.scoring._privacy import scrub_text

__all__ = ["error_receipt", "write_failed"]


def write_failed(
    store: ResultsStore,
    model: str,
    benchmark: str,
    *,
    kind: str,
    message: str,
    printed: str = "",
    traceback: str = "",
    seconds: float | None = None,
    run: Any = None,
) -> Receipt:
    """Write a receipt that says *failed*.

    Parameters
    ----------
    store : ResultsStore
        Where to.
    model, benchmark : str
        The pair.
    kind, message : str
        What went wrong.
    printed : str
        The end of what the process printed; kept as its log.
    traceback : str
        Where it went wrong; by default `printed`, which holds the stack of a crash.
    seconds : float, optional
        After which it did.
    run : RunInfo, optional
        Which run.

    Returns
    -------
    Receipt
        As stored.
    """
    log = kept_log(printed)
    receipt = Receipt(
        model=ModelInfo(identifier=model),
        benchmark=BenchmarkInfo(identifier=benchmark),
        state="failed",
        reason=scrub_text(message),
        error=ErrorInfo(type=kind, message=scrub_text(message), traceback=traceback or log),
        environment=current_environment(),
        timings=Timings(total=seconds),
        run=run,
    )
    return store.write(receipt, {"log": log} if log else None)


def error_receipt(
    store: ResultsStore, model: str, benchmark: str, error: Mapping[str, Any], run: Any = None
) -> Receipt:
    """Write a receipt of what the scorer raised instead of a receipt of its own."""
    return write_failed(
        store,
        model,
        benchmark,
        kind=error["type"],
        message=f"{error['type']}: {error['message']}".rstrip(": "),
        traceback=error["traceback"],
        run=run,
    )
