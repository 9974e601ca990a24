"""A first look: three models on controls with a known answer, and on real measurements where these can be reached."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple

from brainscore_core.errors import DataUnavailable
from brainscore_core.scoring import Receipt, ResultsStore

__all__ = ["DEMO_PAIRS", "DemoResult", "Pair", "run_demo"]

_MODELS = ("pixels", "gabor", "simulated-truth")
_RECORDED = ("alexnet-recorded2019", "googlenet-recorded2019", "resnet50-recorded2019", "vgg16-recorded2019")
_CONTROLS = ("Simulated2026.V1-pls", "Simulated2026.V1-rdm", "Simulated2026.IT-pls", "Simulated2026.IT-rdm")
_NEURAL = ("Kriegeskorte2008.IT-human-rdm", "Kriegeskorte2008.IT-monkey-rdm")
_BEHAVIOURAL = ("Geirhos2021edge-error_consistency", "Geirhos2019-shape_bias")


class Pair(NamedTuple):
    """One model and one benchmark."""

    model: str
    benchmark: str


DEMO_PAIRS = (
    *(Pair(model, benchmark) for benchmark in (*_CONTROLS, *_NEURAL) for model in _MODELS),
    *(Pair(model, benchmark) for benchmark in _BEHAVIOURAL for model in _RECORDED),
)
"""What the demo scores. People named objects in the last two; published decisions of networks stand for models."""


@dataclass
class DemoResult:
    """What a demo gives.

    Attributes
    ----------
    receipts : list of Receipt
        Of all pairs that were scored, not applicable or failed.
    skipped : dict
        Benchmark whose data cannot be reached → why, and what to do.
    failed : list of Pair
        Pairs that ended in an error other than that.
    """

    receipts: list[Receipt] = field(default_factory=list)
    skipped: dict[str, str] = field(default_factory=dict)
    failed: list[Pair] = field(default_factory=list)


def run_demo(
    results: ResultsStore | Path,
    *,
    pairs: Sequence[Pair] = DEMO_PAIRS,
    before: Callable[[Pair], Any] = lambda pair: None,
    after: Callable[[Pair, Receipt | None, str | None], Any] = lambda pair, receipt, skipped: None,
    run: Callable[..., Any] | None = None,
) -> DemoResult:
    """Score the demo's pairs, one after the other.

    Parameters
    ----------
    results : ResultsStore or path
        Where the receipts go.
    pairs : sequence of Pair
        What to score.
    before, after : callable
        Told of each pair; `after` gets its receipt, and why its benchmark was skipped, each or None.
    run : callable, optional
        Stands for :func:`brainscore_vision.run_pair`.

    Returns
    -------
    DemoResult
        Once data of a benchmark cannot be reached, its other models are skipped, too.
    """
    if run is None:
        from brainscore_vision import run_pair as run
    store = results if isinstance(results, ResultsStore) else ResultsStore(results)
    result = DemoResult()
    for pair in pairs:
        before(pair)
        receipt = None
        if pair.benchmark not in result.skipped:
            try:
                receipt = run(pair.model, pair.benchmark, results=store).receipt
            except DataUnavailable as error:
                result.skipped[pair.benchmark] = str(error)
            except Exception:  # noqa: BLE001 - its receipt says what happened; the other pairs go on
                result.failed.append(pair)
                receipt = store.latest(pair.model, pair.benchmark)
        if receipt is not None:
            result.receipts.append(receipt)
        after(pair, receipt, result.skipped.get(pair.benchmark))
    return result
