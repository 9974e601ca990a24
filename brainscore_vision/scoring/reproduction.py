"""Published scores of the existing platform, and the same pairs scored with this package."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any, Final, Literal


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


def _alexnet(benchmark: str, value: float, tolerance: float) -> PublishedScore:
    return PublishedScore(model="alexnet", benchmark=benchmark, value=value, tolerance=tolerance)


PUBLISHED_SCORES: Final = (
    _alexnet("tong.Coggan2024_fMRI.V1-rdm", 0.0182585, 0.005),
    _alexnet("tong.Coggan2024_fMRI.V2-rdm", 0.3352083, 0.005),
    _alexnet("tong.Coggan2024_fMRI.V4-rdm", 0.3008136, 0.005),
    _alexnet("tong.Coggan2024_fMRI.IT-rdm", 0.4486508, 0.005),
    _alexnet("tong.Coggan2024_behavior-ConditionWiseAccuracySimilarity", 0.1318, 0.001),
    _alexnet("Papale2025.V1-ridgecv", 0.75668312, 0.001),
    _alexnet("Papale2025.V4-ridgecv", 0.57444855, 0.001),
    _alexnet("Papale2025.IT-ridgecv", 0.46021319, 0.001),
    *(
        PublishedScore(model=model, benchmark="Rajalingham2018-i2n", value=value, tolerance=0.005, quantity="raw")
        for model, value in (("alexnet", 0.253), ("pixels", 0.0139))
    ),
)
"""Ten pairs that tests of brainscore-vision 2.4.2 score with the model itself rather than with stored features."""


def reproduce(scores: Iterable[PublishedScore] = PUBLISHED_SCORES, *, results: Any = None) -> Iterator[Reproduction]:
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
    from brainscore_vision.scoring.pairs import run_pair

    for published in scores:
        receipt = run_pair(published.model, published.benchmark, results=results, raise_errors=False).receipt
        estimate = receipt.raw if published.quantity == "raw" else receipt.score
        if receipt.state == "scored" and estimate is not None:
            yield Reproduction(published=published, value=estimate.value)
        else:
            yield Reproduction(published=published, value=None, reason=receipt.reason or receipt.state)
