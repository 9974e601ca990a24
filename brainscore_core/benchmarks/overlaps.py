"""Stimuli that are equal or belong together, and splits that divide them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from brainscore_core.metric_helpers.transformations import SplitRows
from brainscore_core.supported_data_standards.brainio.findings import Finding

__all__ = ["Overlap", "find_overlaps", "finding_of", "percent"]

Codes = NDArray[np.intp]


@dataclass(frozen=True)
class Overlap:
    """Stimuli that are equal or belong together."""

    kind: str  # ``'equal files'``, ``'near-duplicates'``, or the coordinate that groups stimuli
    # groups and stimuli: number of groups of at least two stimuli, and of stimuli in them
    groups: int
    stimuli: int
    pairs: int | None  # number of pairs; None for a coordinate
    share: float | None  # share of test stimuli whose group is also among the training stimuli, mean over splits
    reason: str | None  # why there is no share

    @property
    def across(self) -> bool:
        """Whether splits divide groups."""
        return bool(self.share)


def find_overlaps(
    codes: Mapping[str, Codes], pairs: Mapping[str, int], splits: Sequence[SplitRows], reason: str | None
) -> Iterator[Overlap]:
    """Describe each grouping.

    `codes`: what groups stimuli → group of each. `pairs`: numbers of pairs of equal or nearly equal stimuli, by the
    same names. `splits`: rows on both sides of each split; `reason`: why there are none.

    Examples
    --------
    >>> splits = [SplitRows(np.array([0, 2]), np.array([1])), SplitRows(np.array([1, 2]), np.array([0]))]
    >>> [overlap] = find_overlaps({"story": np.array([0, 0, 1])}, {}, splits, None)
    >>> overlap.share, overlap.groups, overlap.stimuli
    (1.0, 1, 2)
    """
    for kind, groups in codes.items():
        sizes = np.bincount(groups)
        shares = [float(np.isin(groups[split.test], groups[split.train]).mean()) for split in splits]
        yield Overlap(
            kind=kind,
            groups=int((sizes > 1).sum()),
            stimuli=int(sizes[sizes > 1].sum()),
            pairs=pairs.get(kind),
            share=float(np.mean(shares)) if shares else None,
            reason=reason,
        )


def finding_of(overlap: Overlap, remedy: str) -> Finding:
    """What a check says of splits that divide groups; `remedy` says how to keep these together."""
    kind = overlap.kind if overlap.pairs is not None else f"values of {overlap.kind!r}"
    return Finding(
        f"splits divide {kind}",
        f"{percent(overlap.share)} of the test stimuli share a group with training stimuli "
        f"({overlap.stimuli} stimuli in {overlap.groups} groups)",
        f"{remedy}; or set ungrouped_splits of the benchmark to the reason why not",
        source="splits",
    )


def percent(share: float | None) -> str:
    """A share in percent."""
    return "?" if share is None else f"{100 * share:.0f} %"
