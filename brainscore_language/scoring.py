"""Scores pairs of a model and a benchmark."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from brainscore_core.receipts.output import capture_output
from brainscore_core.runner import pair
from brainscore_language import REGISTRIES, load_benchmark, load_model

if TYPE_CHECKING:
    from brainscore_core.receipts.receipt import Receipt, RunInfo
    from brainscore_core.results.store import ResultsStore


def run_pair(model_identifier: str, benchmark_identifier: str, **options: Any) -> pair.Outcome:
    """Score a model on a benchmark, and return the score together with its receipt.

    `options`: as for :func:`brainscore_core.scoring.run_pair`.
    """
    return pair.run_pair(
        model_identifier,
        benchmark_identifier,
        load_model=load_model,
        load_benchmark=load_benchmark,
        plugins=_folder,
        domain="language",
        **options,
    )


def _folder(kind: str, identifier: str) -> Path | None:
    registry = REGISTRIES.get(kind)
    return registry.location(identifier).folder if registry is not None and identifier in registry else None


def score_pair(
    model: str, benchmark: str, *, store: ResultsStore, run: RunInfo, products: bool = True, **options: Any
) -> Receipt:
    """Score a pair for the runner and write its receipt, even if a plugin fails.

    `products`: whether products of features are stored. Other `options` have no influence.
    """
    with capture_output() as captured:
        outcome = run_pair(
            model, benchmark, results=store, run=run, products=products, log=captured.text, raise_errors=False
        )
    return outcome.receipt
