"""What recovery finds: confusion of candidates, power for mixtures, and other sizes of the experiment."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from brainscore_core.errors import UserError
from brainscore_core.formatting import number_text

if TYPE_CHECKING:
    from brainscore_core.figures import Svg

POWER: Final = 0.8
"""Share of experiments in which a mixture must be found."""


@dataclass(frozen=True)
class Share:
    """A share of simulated experiments."""

    # How many, of how many
    found: int
    experiments: int
    # Found / experiments, and its Clopper–Pearson interval (95 %); None without experiments
    share: float | None
    low: float | None
    high: float | None

    @classmethod
    def of(cls, found: int, experiments: int) -> Share:
        """The share with its interval."""
        if experiments == 0:
            return cls(found=0, experiments=0, share=None, low=None, high=None)
        from scipy.stats import binomtest

        interval = binomtest(found, experiments).proportion_ci(0.95, method="exact")
        return cls(found, experiments, found / experiments, float(interval.low), float(interval.high))

    def text(self) -> str:
        """Write the share and its interval."""
        if self.share is None or self.low is None or self.high is None:
            return "no experiment"
        return f"{100 * self.share:.0f} % (95 %: {100 * self.low:.0f}–{100 * self.high:.0f} %)"


@dataclass(frozen=True)
class Confusion:
    """Which candidate scores best, by the one that is true."""

    generator: str  # how responses were simulated
    # Experiments in which the candidate of the column scored best, and that of the row was true
    counts: list[list[int]]
    undefined: list[int]  # experiments without any defined score
    found: list[Share]  # how often the candidate scored best where it was true
    overall: Share  # of all experiments


@dataclass(frozen=True)
class MixturePower:
    """How often a mixture (1 − w) · first + w · second scores higher than `first`, where the mixture is true."""

    generator: str  # how responses were simulated
    # Candidates
    first: str
    second: str
    weights: list[float]  # values of w
    found: list[Share]  # how often the mixture scored higher
    # Smallest of the weights that, like all larger ones, is found in at least 80 % of the experiments
    smallest: float | None
    reason: str | None  # why there is none


@dataclass(frozen=True)
class SizeRecovery:
    """Recovery with another number of stimuli or neuroids."""

    generator: str  # how responses were simulated
    stimuli: int
    neuroids: int
    overall: Share | None  # how often the true candidate scored best; None if this size cannot be simulated
    reason: str | None


@dataclass(frozen=True)
class Recovery:
    """Whether a benchmark finds the true model; holds for these candidates and generators only."""

    benchmark: str
    candidates: list[str]
    generators: list[str]
    # stimuli and neuroids: numbers in the benchmark
    stimuli: int
    neuroids: int
    reliability: float  # median over neuroids of the share of variance that is signal
    reliability_source: str  # ``'measured'`` or ``'stated'``
    # repetitions and seed: experiments for each true candidate, and their seed
    repetitions: int
    seed: int
    scores: list[float | None]  # scores of the recordings themselves, before the ceiling; None if undefined
    confusions: list[Confusion]  # one for each generator
    mixtures: list[MixturePower]  # for each pair and generator
    sizes: list[SizeRecovery]  # for each size and generator
    notes: list[str]  # what a reader needs to know about single candidates

    @property
    def holds_for(self) -> str:
        """Candidates and generators to which the numbers are limited."""
        return (
            f"These shares hold for these {len(self.candidates)} candidates ({', '.join(self.candidates)}), for "
            f"responses simulated by {' and '.join(self.generators)}, and for the benchmark's own stimuli."
        )

    def to_dict(self) -> dict[str, Any]:
        """All fields, and ``holds_for``, as plain lists, numbers and texts."""
        return dataclasses.asdict(self) | {"holds_for": self.holds_for}

    def text(self) -> str:
        """Write what the command line prints."""
        lines = [
            f"Recovery on {self.benchmark}: {self.stimuli} stimuli, {self.neuroids} neuroids, median reliability "
            f"{number_text(self.reliability, 2)} ({self.reliability_source})",
            f"How often does the true candidate score best? {self.repetitions} simulated experiments each; "
            f"by chance {100 / len(self.candidates):.0f} %",
        ]
        for confusion in self.confusions:
            lines += ["", f"{confusion.generator}: {confusion.overall.text()}", *_table(self.candidates, confusion)]
        if self.mixtures:
            lines += ["", f"Smallest share w of B in (1 − w) · A + w · B that is found in {100 * POWER:.0f} %"]
        for power in self.mixtures:
            answer = f"w = {power.smallest:g}" if power.smallest is not None else power.reason
            lines.append(f"  {power.generator}, A = {power.first}, B = {power.second}: {answer}")
        if self.sizes:
            lines += ["", "Other sizes"]
        for size in self.sizes:
            answer = size.overall.text() if size.overall is not None else f"not simulated: {size.reason}"
            lines.append(f"  {size.generator}, {size.stimuli} stimuli, {size.neuroids} neuroids: {answer}")
        return "\n".join([*lines, "", *self.notes, self.holds_for])

    def figure(self, generator: str) -> Svg:
        """Draw the confusion matrix of a generator: rows are true, columns score best.

        A UserError if responses were not simulated by this generator.
        """
        from brainscore_core.figures import HeatMap, heat_map

        confusion = next((each for each in self.confusions if each.generator == generator), None)
        if confusion is None:
            raise UserError(f"no confusion matrix of {generator!r}", remedy=f"use {' or '.join(self.generators)}")
        counts = np.asarray(confusion.counts, dtype=np.float64)
        return heat_map(
            HeatMap(
                rows=self.candidates,
                columns=self.candidates,
                values=counts / np.maximum(counts.sum(axis=1, keepdims=True), 1),
                states=np.full(counts.shape, "", dtype=object),
                state_kinds={},
                title=f"Candidate that scores best (columns) by the true candidate (rows): {generator}",
                description=self.holds_for,
                row_title="true candidate",
                column_title="scores best",
            )
        )


def _table(names: Sequence[str], confusion: Confusion) -> list[str]:
    """Lines of a confusion matrix, with a column of numbers for each candidate."""
    wide = max(len(name) for name in names)
    digits = max(2, len(str(len(names))), *(len(str(count)) for row in confusion.counts for count in row))
    head = " ".join(f"{number:>{digits}}" for number in range(1, len(names) + 1))
    lines = [f"  {'true, by the one that scores best':{wide + 4}}", f"  {'':{wide + 4}} {head}"]
    for number, (name, row) in enumerate(zip(names, confusion.counts, strict=True), start=1):
        lines.append(f"  {number:>2}  {name:{wide}} " + " ".join(f"{count:>{digits}}" for count in row))
    return lines
