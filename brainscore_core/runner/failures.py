"""Receipts of pairs that failed outside of the scorer: their process died, or the scorer itself raised an error."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from brainscore_core.receipts.environment import current_environment
from brainscore_core.receipts.output import kept_log
from brainscore_core.receipts.privacy import scrub_text
from brainscore_core.receipts.receipt import BenchmarkInfo, ErrorInfo, ModelInfo, Receipt, Timings
from brainscore_core.results.store import ResultsStore


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
    """Write a receipt with the state *failed*.

    `printed` is the end of what the process printed, kept as its log; without a traceback it replaces it, since it
    contains the stack after a crash. `seconds` is the time until the error.
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
    """Write a receipt for an error that the scorer raised without writing a receipt."""
    return write_failed(
        store,
        model,
        benchmark,
        kind=error["type"],
        message=f"{error['type']}: {error['message']}".rstrip(": "),
        traceback=error["traceback"],
        run=run,
    )
