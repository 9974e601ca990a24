"""What comparing models gives: differences, and ranks."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from brainscore_core.errors import UserError
from brainscore_core.numerics.ranks import group_letters, rank_intervals, significantly_better, tie_groups
from brainscore_core.numerics.significance import Correction

__all__ = ["Comparison", "Comparisons", "RankedModel", "Ranking"]


@dataclass(frozen=True, kw_only=True)
class Comparison:
    """Two models on one benchmark.

    Attributes
    ----------
    benchmark, first, second : str
        Identifiers.
    scores : (float, float)
        Before they were clamped to [0, 1]; None of a model without a score. On `scale`.
    biases : (float, float)
        Known biases of the two scores, which are taken off `difference`.
    difference : float or None
        First less second, without the known biases of the two.
    error, df : float or None
        Standard error, and degrees of freedom of Student's t.
    ci : (float, float) or None
        Confidence interval, with the uncertainty of the ceiling.
    p, p_corrected : float or None
        Two-sided, of there being no difference; corrected for all comparisons that were made together.
    level : float
        Of the interval; what has p_corrected ≤ 1 − level is said to differ.
    scale : str
        ``'ceiled'``, ``'unceiled'``, or ``'raw'`` where the raw scores were compared.
    units : str
        What was resampled, and how many.
    receipts : (str, str)
        Ids; None where there is no receipt.
    reason : str or None
        Why there is no difference, or no interval.
    notes : tuple of str
        What else to know.
    """

    benchmark: str
    first: str
    second: str
    scores: tuple[float | None, float | None] = (None, None)
    biases: tuple[float, float] = (0.0, 0.0)
    difference: float | None = None
    error: float | None = None
    df: float | None = None
    ci: tuple[float, float] | None = None
    p: float | None = None
    p_corrected: float | None = None
    level: float = 0.95
    scale: str | None = None
    units: str | None = None
    receipts: tuple[str | None, str | None] = (None, None)
    reason: str | None = None
    notes: tuple[str, ...] = ()

    @property
    def better(self) -> str | None:
        """The model that was found to be better; None if neither was."""
        p = self.p if self.p_corrected is None else self.p_corrected
        if p is None or self.difference is None or p > 1 - self.level or self.difference == 0:
            return None
        return self.first if self.difference > 0 else self.second

    @property
    def verdict(self) -> str:
        """The outcome in words."""
        if self.p is None:
            return "not compared"
        return "no difference found" if self.better is None else f"{self.better} is better"


@dataclass(frozen=True, kw_only=True)
class RankedModel:
    """One model's place on a benchmark.

    Attributes
    ----------
    model : str
        Identifier.
    score : float
        Before it was clamped, without its known bias; the raw score where raw scores were compared.
    rank, best, worst : int
        Rank of the score, and the ranks that it may have.
    groups : str
        Letters of the groups that the model is in; between models with a letter in common no difference was found.
    """

    model: str
    score: float
    rank: int
    best: int
    worst: int
    groups: str


@dataclass(frozen=True, kw_only=True)
class Ranking:
    """Models ranked on one benchmark.

    Attributes
    ----------
    benchmark : str
        Identifier.
    models : tuple of RankedModel
        The best one first.
    left_out : dict
        Models that could not be ranked, and why.
    level : float
        Confidence in all intervals at once, or in each if not `simultaneous`.
    simultaneous : bool
        Whether the intervals hold together.
    notes : tuple of str
        Pairs without a test: they count as not told apart.
    """

    benchmark: str
    models: tuple[RankedModel, ...]
    left_out: dict[str, str]
    level: float
    simultaneous: bool
    notes: tuple[str, ...] = ()


@dataclass(frozen=True)
class Comparisons(Sequence[Comparison]):
    """All pairs of some models on some benchmarks, benchmark after benchmark.

    Attributes
    ----------
    items : tuple of Comparison
        In the order of benchmarks and models asked for.
    correction : str
        ``'holm'``, ``'benjamini-hochberg'`` or ``'none'``.
    level : float
        Of intervals and tests.
    """

    items: tuple[Comparison, ...]
    correction: Correction
    level: float

    def __getitem__(self, position: int) -> Comparison:  # type: ignore[override] # no slices
        return self.items[position]

    def __len__(self) -> int:
        return len(self.items)

    def ranks(self, benchmark: str, *, simultaneous: bool = True) -> Ranking:
        """Rank the models on one of the benchmarks.

        Parameters
        ----------
        benchmark : str
            One of those compared.
        simultaneous : bool
            Whether the intervals shall hold together; False: each alone, for a question about one model.

        Returns
        -------
        Ranking

        Raises
        ------
        UserError
            If the benchmark was not compared.
        """
        pairs = [one for one in self.items if one.benchmark == benchmark]
        if not pairs:
            raise UserError(f"{benchmark!r} was not compared", remedy="name it in `benchmarks`")
        raw = any(pair.scale == "raw" and pair.p is not None for pair in pairs)
        scores: dict[str, float] = {}
        reasons: dict[str, str] = {}
        for pair in sorted(
            pairs, key=lambda pair: pair.p is not None
        ):  # the biases of those without a test are unknown
            for model, score, bias in zip((pair.first, pair.second), pair.scores, pair.biases, strict=True):
                if score is None or (raw and pair.scale != "raw"):  # among raw scores a ceiled one has no rank
                    reasons.setdefault(model, pair.reason or "it has no score")
                else:
                    scores[model] = score - bias
        left_out = {model: reason for model, reason in reasons.items() if model not in scores}
        models = list(scores)
        p = np.full((len(models), len(models)), np.nan)
        notes = []
        for pair in pairs:
            if pair.first in scores and pair.second in scores:
                i, j = models.index(pair.first), models.index(pair.second)
                if pair.p is None:
                    notes.append(f"{pair.first} and {pair.second}: {pair.reason}")
                else:
                    p[i, j] = p[j, i] = pair.p
        values = [scores[model] for model in models]
        intervals = rank_intervals(values, p, level=self.level, simultaneous=simultaneous)
        found = significantly_better(values, p, level=self.level, simultaneous=simultaneous)
        letters = dict.fromkeys(models, "")
        for number, group in enumerate(tie_groups(values, found | found.T)):
            for member in group:
                letters[models[member]] += group_letters(number)
        ranked = [
            RankedModel(
                model=model,
                score=scores[model],
                rank=interval.rank,
                best=interval.best,
                worst=interval.worst,
                groups=letters[model],
            )
            for model, interval in zip(models, intervals, strict=True)
        ]
        ranked.sort(key=lambda one: (one.rank, one.model))
        return Ranking(
            benchmark=benchmark,
            models=tuple(ranked),
            left_out=left_out,
            level=self.level,
            simultaneous=simultaneous,
            notes=tuple(notes),
        )
