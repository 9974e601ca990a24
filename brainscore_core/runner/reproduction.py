"""Published scores, and the same pairs scored here."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any, Literal

from brainscore_core.domains import domain, find_pair
from brainscore_core.runner.scoring import run_pair


@dataclass(frozen=True, kw_only=True)
class PublishedScore:
    """A score of a model on a benchmark, from a test of the published platform."""

    # model and benchmark: identifiers in both platforms
    model: str
    benchmark: str
    value: float
    tolerance: float  # largest difference that the published test accepts
    # Whether `value` is the score after or before division by the ceiling
    quantity: Literal["ceiled", "raw"] = "ceiled"


@dataclass(frozen=True, kw_only=True)
class Reproduction:
    """A published score and the one computed here."""

    published: PublishedScore  # the pair and its published value
    value: float | None  # value computed here; None if scoring failed
    reason: str | None = None  # why there is no value, such as weights or data that could not be fetched

    @property
    def difference(self) -> float | None:
        """Value computed here minus the published value; None if there is no value."""
        return None if self.value is None else self.value - self.published.value

    @property
    def agrees(self) -> bool:
        """Whether the difference is within the published tolerance."""
        return self.difference is not None and abs(self.difference) <= self.published.tolerance


def reproduce(scores: Iterable[PublishedScore], *, results: Any = None) -> Iterator[Reproduction]:
    """Score the pairs of published scores, one after the other.

    `results`: where to write the receipts; by default they are not written. Yielded: one for each pair; for a pair that
    fails, such as without a network, `reason` explains why.

    Examples
    --------
    >>> chance = PublishedScore(model="pixels", benchmark="Simulated2026.V1-rdm", value=0.5, tolerance=0.5)
    >>> [result] = reproduce([chance])  # doctest: +SKIP
    >>> result.agrees, result.difference == result.value - 0.5  # doctest: +SKIP
    (True, True)
    """
    for published in scores:
        owner, model, benchmark = find_pair(published.model, published.benchmark)
        receipt = run_pair(domain(owner), model, benchmark, results=results, raise_errors=False).receipt
        estimate = receipt.raw if published.quantity == "raw" else receipt.score
        if receipt.state == "scored" and estimate is not None:
            yield Reproduction(published=published, value=estimate.value)
        else:
            yield Reproduction(published=published, value=None, reason=receipt.reason or receipt.state)
