"""Ranks with intervals, from the predictions that are stored beside the receipts."""

from __future__ import annotations

from typing import TYPE_CHECKING

from brainscore.report._report import Report
from brainscore_core.scoring import ResultsStore

if TYPE_CHECKING:
    from brainscore_core.statistics.comparison import Ranking

__all__ = ["rankings_of"]


def rankings_of(report: Report, store: ResultsStore) -> dict[str, Ranking]:
    """Rank the models of each benchmark on which at least two were scored.

    All pairs of models are compared on what both were measured on, which reads all stored predictions.

    Parameters
    ----------
    report : Report
        Which models and benchmarks.
    store : ResultsStore
        Where its receipts are from.

    Returns
    -------
    dict
        Benchmark → Ranking. Left out are benchmarks of which the store has newer receipts than the report shows.
    """
    from brainscore_core.statistics.comparison import compare

    found = {}
    for _, group in report.groups:
        models = [row.model for row in group.rows if row.value is not None]
        if len(models) < 2:
            continue
        comparisons = compare(models, [group.benchmark], results=store)
        shown = {row.receipt.id for row in group.rows}
        if all(receipt in shown for one in comparisons for receipt in one.receipts):
            found[group.benchmark] = comparisons.ranks(group.benchmark)
    return found
