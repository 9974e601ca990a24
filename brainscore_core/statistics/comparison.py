"""Comparison of models from their receipts: differences with intervals, corrected tests, ranks."""

import math
import os
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass, field, fields, replace
from itertools import combinations

import numpy as np
import pandas as pd

from brainscore_core.errors import UserError
from brainscore_core.metrics import Score
from brainscore_core.numerics.influence import ScoreInfluence, comparable, joint_influence
from brainscore_core.numerics.ranks import Ranks, ranks_from_influence, ranks_from_tests
from brainscore_core.numerics.significance import Correction, PairedTest, corrected
from brainscore_core.populations import condition_of_benchmark
from brainscore_core.progress import track
from brainscore_core.receipts.receipt import BenchmarkInfo, CeilingEstimate, Estimate, ModelInfo, Receipt
from brainscore_core.receipts.schema import ReceiptError
from brainscore_core.results.store import ResultsStore, arrays_of
from brainscore_core.statistics.units import Incomparable, Side, compare_sides, influence_of, read_side, units_of


@dataclass(frozen=True, kw_only=True)
class Comparison:
    """Two models on one benchmark.

    Attributes
    ----------
    benchmark, first, second : str
        Identifiers.
    scores : (float, float)
        Scores before they were clamped to [0, 1], on `scale`; None for a model without a score.
    biases : (float, float)
        Known biases of the two scores, which are subtracted in `difference`.
    difference : float or None
        First minus second, corrected for the known biases.
    error, df : float or None
        Standard error, and degrees of freedom of Student's t.
    ci : (float, float) or None
        Confidence interval, with the uncertainty of the ceiling.
    p, p_corrected : float or None
        Two-sided p-value of no difference; corrected for all comparisons made together.
    level : float
        Level of the interval; models with p_corrected ≤ 1 − level differ significantly.
    scale : str
        ``'ceiled'``, ``'unceiled'``, or ``'raw'`` if raw scores were compared.
    units : str
        What was resampled, and how many.
    receipts : (str, str)
        Ids of the receipts; None if there is no receipt.
    condition : str
        For which few subjects or groups alone the outcome holds, such as ``'these 2 subjects only; other subjects:
        unknown'``; empty if it holds for new ones.
    reason : str or None
        Why there is no difference, or no interval.
    notes : tuple of str
        Further remarks.
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
    condition: str = ""
    receipts: tuple[str | None, str | None] = (None, None)
    reason: str | None = None
    notes: tuple[str, ...] = ()

    @property
    def better(self) -> str | None:
        """The significantly better model; None if there is none."""
        p = self.p if self.p_corrected is None else self.p_corrected
        if p is None or self.difference is None or p > 1 - self.level or self.difference == 0:
            return None
        return self.first if self.difference > 0 else self.second

    @property
    def verdict(self) -> str:
        """The outcome as text, with the condition under which it holds."""
        if self.p is None:
            return "not compared"
        outcome = "no difference found" if self.better is None else f"{self.better} is better"
        return f"{outcome} ({self.condition})" if self.condition else outcome


@dataclass(frozen=True, kw_only=True)
class RankedModel:
    """One model's place on a benchmark."""

    model: str  # identifier
    score: float  # score before it was clamped, corrected for its known bias; the raw score if raw scores were compared
    # rank of the score, and the range of its possible ranks
    rank: int
    best: int
    worst: int
    # Groups of the model, as letters; models with a common letter do not differ significantly. Empty if the model was
    # not tested against any other
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
        Models that could not be ranked, with reasons.
    level : float
        Confidence level of all intervals together, or of each if not `simultaneous`.
    simultaneous : bool
        Whether the intervals hold simultaneously.
    condition : str
        For which few subjects or groups alone the ranks hold; empty if they hold for new ones.
    notes : tuple of str
        Pairs without a test, which count as not significantly different.
    """

    benchmark: str
    models: tuple[RankedModel, ...]
    left_out: dict[str, str]
    level: float
    simultaneous: bool
    condition: str = ""
    notes: tuple[str, ...] = ()

    def to_pandas(self) -> pd.DataFrame:
        """Convert to a table with one row for each ranked model, the best one first."""
        names = [column.name for column in fields(RankedModel)]
        return pd.DataFrame([asdict(model) for model in self.models], columns=names)


@dataclass(frozen=True)
class Comparisons(Sequence[Comparison]):
    """All pairs of some models on some benchmarks, benchmark after benchmark."""

    items: tuple[Comparison, ...]  # in the requested order of benchmarks and models
    correction: Correction  # ``'holm'``, ``'benjamini-hochberg'`` or ``'none'``
    level: float  # level of intervals and tests
    # (benchmark, model) → how units influence the score, by which models are ranked
    influences: Mapping[tuple[str, str], ScoreInfluence] = field(default_factory=dict)

    def __getitem__(self, position: int) -> Comparison:  # type: ignore[override] # no slices
        return self.items[position]

    def __len__(self) -> int:
        return len(self.items)

    def to_pandas(self) -> pd.DataFrame:
        """Convert to a table with one row for each pair of models on each benchmark."""
        rows: list[list[object]] = []
        for item in self.items:
            rows.append([item.benchmark, item.first, item.second, *item.scores, item.difference])
            rows[-1] += [*(item.ci or (None, None)), item.p, item.p_corrected]
            rows[-1] += [item.verdict, item.condition, item.units, item.reason]
        numbers = ("first_score", "second_score", "difference", "ci_low", "ci_high", "p", "p_corrected")
        columns = ("benchmark", "first", "second", *numbers, "verdict", "condition", "units", "reason")
        return pd.DataFrame(rows, columns=list(columns)).astype(dict.fromkeys(numbers, "float64"))

    def ranks(self, benchmark: str, *, simultaneous: bool = True) -> Ranking:
        """Rank the models on one of the benchmarks.

        `benchmark`: one of the compared benchmarks. `simultaneous`: whether the intervals hold simultaneously; if
        False, each holds separately, for a question about one model. Raises UserError if the benchmark was not
        compared.

        See :func:`~brainscore_core.numerics.ranks_from_influence`. If the influences of units are not known of all
        models that were compared, or raw scores were compared, the tests of pairs are corrected by Holm's method
        instead.
        """
        pairs = [comparison for comparison in self.items if comparison.benchmark == benchmark]
        if not pairs:
            raise UserError(f"{benchmark!r} was not compared", remedy="name it in `benchmarks`")
        raw = any(pair.scale == "raw" and pair.p is not None for pair in pairs)
        scores: dict[str, float] = {}
        reasons: dict[str, str] = {}
        # pairs without a test first, since their biases are unknown
        for pair in sorted(pairs, key=lambda pair: pair.p is not None):
            for model, score, bias in zip((pair.first, pair.second), pair.scores, pair.biases, strict=True):
                if score is None or (raw and pair.scale != "raw"):  # a ceiled score has no rank among raw scores
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
        influences = [self.influences.get((benchmark, model)) for model in models]
        tested = np.isfinite(p).any(axis=1)
        shared = comparable(influences)
        if not raw and all(influence is not None for influence, each in zip(shared, tested, strict=True) if each):
            ranks = rank_jointly(values, shared, level=self.level, simultaneous=simultaneous)
        else:  # no joint distribution
            ranks = ranks_from_tests(values, p, level=self.level, simultaneous=simultaneous, most_groups=None)
        return Ranking(
            benchmark=benchmark,
            models=ranked_models(models, values, ranks),
            left_out=left_out,
            level=self.level,
            simultaneous=simultaneous,
            condition=condition_of_benchmark(pair.condition for pair in pairs),
            notes=tuple(notes),
        )


def rank_jointly(
    values: Sequence[float], influences: Sequence[ScoreInfluence | None], *, level: float, simultaneous: bool = True
) -> Ranks:
    """Rank scores of one benchmark by the influence of the units that they share."""
    joint = joint_influence([[influence] for influence in influences], [1.0], ceilings=False)
    return ranks_from_influence(
        values, joint.parts, units=joint.units, twice=joint.twice, level=level, simultaneous=simultaneous
    )


def ranked_models(models: Iterable[str], values: Iterable[float], ranks: Ranks) -> tuple[RankedModel, ...]:
    """Models with their ranks, the best one first."""
    limits = zip(ranks.rank.tolist(), ranks.best.tolist(), ranks.worst.tolist(), strict=True)
    ranked = [
        RankedModel(model=model, score=score, rank=rank, best=best, worst=worst, groups="".join(names))
        for model, score, (rank, best, worst), names in zip(models, values, limits, ranks.letters, strict=True)
    ]
    return tuple(sorted(ranked, key=lambda entry: (entry.rank, entry.model)))


def compare(
    models: Iterable[str],
    benchmarks: Iterable[str],
    *,
    results: ResultsStore | str | os.PathLike[str] | None = None,
    correction: Correction = "holm",
    level: float = 0.95,
) -> Comparisons:
    """Compare the newest scores of all pairs of models on each benchmark.

    The difference of two scores is tested on the units that both were measured on: stimuli and neuroids from the stored
    out-of-fold predictions, or stimuli, subjects or objects from their stored influence on the score. Nothing is scored
    or fitted again.

    Parameters
    ----------
    models, benchmarks : iterable of str
        Identifiers; at least two models.
    results : ResultsStore or path, optional
        The store of receipts; by default :func:`~brainscore_core.paths.default_results_address`.
    correction : ``'holm'``, ``'benjamini-hochberg'`` or ``'none'``
        Correction of the p-values for all pairs and benchmarks.
    level : float
        Confidence level in (0, 1).

    Returns
    -------
    Comparisons
        One comparison for each benchmark and pair. A pair that cannot be compared has a reason and no p.

    Raises
    ------
    UserError
        If there are fewer than two models, no benchmark, or an argument is out of range.

    Notes
    -----
    The interval of a ceiled difference includes the uncertainty of the ceiling; p does not depend on it. For coverage
    of the intervals and false positive rates see docs/comparison_coverage.md.
    """
    names, chosen = list(dict.fromkeys(models)), list(dict.fromkeys(benchmarks))
    if len(names) < 2:
        raise UserError(f"{len(names)} model cannot be compared", remedy="name at least two")
    if not chosen:
        raise UserError("no benchmark was given", remedy="name at least one")
    if not 0 < level < 1:
        raise UserError(f"the confidence level is {level}", remedy="pass a number between 0 and 1, such as 0.95")
    store = results if isinstance(results, ResultsStore) else ResultsStore(results)
    known = {benchmark: {model: _side(store, model, benchmark) for model in names} for benchmark in chosen}
    return compare_known(known, correction=correction, level=level)


def compare_known(
    known: Mapping[str, Mapping[str, Side | tuple[Receipt | None, str]]],
    *,
    correction: Correction = "holm",
    level: float = 0.95,
) -> Comparisons:
    """Compare all pairs of models by units that are in memory, as :func:`compare` does.

    `known`: benchmark → model → its units; or its receipt, if any, and why it cannot be compared.
    """
    comparisons: list[Comparison] = []
    influences: dict[tuple[str, str], ScoreInfluence] = {}
    pairs = [(benchmark, pair) for benchmark, sides in known.items() for pair in combinations(sides, 2)]
    for benchmark, sides in known.items():
        for model, side in sides.items():
            if isinstance(side, Side):
                with suppress(Incomparable):
                    influences[benchmark, model] = influence_of(side)
    for benchmark, pair in track(pairs, "comparing models", len(pairs), unit="pairs"):
        comparisons.append(_compared(benchmark, pair, known[benchmark], level))
    try:
        adjusted = corrected(
            [math.nan if comparison.p is None else comparison.p for comparison in comparisons], correction
        )
    except ValueError as error:
        raise UserError(str(error)) from error
    items = (
        replace(comparison, p_corrected=None if comparison.p is None else float(p))
        for comparison, p in zip(comparisons, adjusted, strict=True)
    )
    return Comparisons(tuple(items), correction, level, influences)


def compare_scores(
    first: Score, second: Score, *, level: float = 0.95, names: tuple[str, str] = ("first", "second")
) -> Comparison:
    """Compare two scores of the same benchmark or metric that are in memory.

    - `first`, `second`: single values, with the attributes that were attached when they were computed.
    - `level`: confidence level in (0, 1).
    - `names`: names of the two scores.

    Returns: as from :func:`compare`; p is not corrected. Raises UserError if the two cannot be compared.

    Examples
    --------
    >>> from brainscore_core.supported_data_standards.brainio.assemblies import DataAssembly
    >>> def accuracy(right):
    ...     score = Score(np.mean(right))
    ...     score.attrs["influence"] = DataAssembly(
    ...         right - np.mean(right), coords={"stimulus_id": ("presentation", list("abcdefgh"))},
    ...         dims=["presentation"])
    ...     return score
    >>> result = compare_scores(accuracy([1, 1, 1, 1, 1, 1, 1, 0]), accuracy([1, 1, 1, 0, 0, 0, 0, 0]))
    >>> round(result.difference, 2), round(result.p, 3), result.units
    (0.5, 0.033, '8 stimuli')
    """
    sides = []
    for score, name in zip((first, second), names, strict=True):
        if np.size(score) != 1 or not math.isfinite(float(score)):
            raise UserError(f"the {name} score is {score.values}; it must be a single number")
        sides.append(side_of(score, name))
    test, scale, units, notes, biases = compare_sides(*sides, level=level)
    return _with_test(
        Comparison(benchmark="score", first=names[0], second=names[1], level=level, biases=biases),
        sides,
        test,
        scale,
        units,
        notes,
    )


def side_of(score: Score, model: str, benchmark: str = "score") -> Side:
    """Read the units of a score that is in memory, as of a receipt of this model and benchmark.

    Raises Incomparable if there is nothing by which models can be compared.
    """
    raw, ceiling = score.attrs.get("raw"), score.attrs.get("ceiling")
    receipt = Receipt(
        model=ModelInfo(identifier=model),
        benchmark=BenchmarkInfo(identifier=benchmark),
        state="scored",
        score=Estimate.from_score(score),
        raw=Estimate.from_score(raw if raw is not None and np.size(raw) == 1 else score),
        ceiling=CeilingEstimate.from_score(ceiling) if ceiling is not None and np.size(ceiling) == 1 else None,
    )
    return Side(receipt, units_of(arrays_of(score)[0], receipt))


def _side(store: ResultsStore, model: str, benchmark: str) -> Side | tuple[Receipt | None, str]:
    receipt = store.latest(model, benchmark)
    if receipt is None:
        return None, f"{model} was not scored on {benchmark}"
    if receipt.state != "scored" or receipt.score is None or receipt.score.value is None:
        return receipt, f"{model} on {benchmark}: {receipt.state}" + (f" ({receipt.reason})" if receipt.reason else "")
    try:
        return read_side(store, receipt)
    except (Incomparable, ReceiptError) as error:
        return receipt, error.message


def _compared(
    benchmark: str, pair: tuple[str, str], sides: Mapping[str, Side | tuple[Receipt | None, str]], level: float
) -> Comparison:
    both = [sides[model] for model in pair]
    receipts = [side.receipt if isinstance(side, Side) else side[0] for side in both]
    ids = tuple(None if receipt is None else receipt.id for receipt in receipts)
    comparison = Comparison(
        benchmark=benchmark,
        first=pair[0],
        second=pair[1],
        scores=(_score(receipts[0]), _score(receipts[1])),
        level=level,
        condition=condition_of_benchmark(
            side.condition if isinstance(side, Side) else receipt.condition
            for side, receipt in zip(both, receipts, strict=True)
            if receipt is not None and _score(receipt) is not None
        ),
        receipts=(ids[0], ids[1]),
    )
    reasons = [side[1] for side in both if not isinstance(side, Side)]
    if reasons:
        return replace(comparison, reason="; ".join(reasons))
    first, second = (side for side in both if isinstance(side, Side))
    try:
        notes = _same_benchmark(first.receipt, second.receipt)
        test, scale, units, more, biases = compare_sides(first, second, level=level)
    except Incomparable as error:
        return replace(comparison, reason=error.message)
    return _with_test(replace(comparison, biases=biases), (first, second), test, scale, units, [*notes, *more])


def _with_test(
    comparison: Comparison, sides: Sequence[Side], test: PairedTest, scale: str, units: str, notes: Sequence[str]
) -> Comparison:
    value = _raw if scale == "raw" else _score
    return replace(
        comparison,
        scores=(value(sides[0].receipt), value(sides[1].receipt)),
        difference=_number(test.difference),
        error=_number(test.error),
        df=_number(test.df),
        ci=(test.low, test.high) if math.isfinite(test.low) and math.isfinite(test.high) else None,
        p=_number(test.p),
        scale=scale,
        units=units,
        condition=condition_of_benchmark(side.condition for side in sides),
        reason=test.reason,
        notes=tuple(notes),
    )


def _same_benchmark(first: Receipt, second: Receipt) -> list[str]:
    """Check that two receipts are comparable; return notes on possible changes."""
    a, b = first.benchmark, second.benchmark
    if str(a.version) != str(b.version):
        raise Incomparable(f"scored on different versions of {a.identifier}: {a.version} and {b.version}")
    hashes: dict[str, tuple[str | None, str | None]] = {file.url: (file.sha1, file.sha256) for file in first.files}
    for file in second.files:
        ours = hashes.get(file.url)
        if ours and any(
            first and second and first != second for first, second in zip(ours, (file.sha1, file.sha256), strict=True)
        ):
            raise Incomparable(f"scored on different data: {file.url} has changed between the two")
    limits = [receipt.ceiling.value if receipt.ceiling is not None else None for receipt in (first, second)]
    if limits[0] != limits[1] and (
        limits[0] is None or limits[1] is None or not math.isclose(limits[0], limits[1], rel_tol=1e-6)
    ):
        raise Incomparable(f"scored against different ceilings: {limits[0]} and {limits[1]}")
    notes = []
    angles = [angle.degrees for receipt in (first, second) if (angle := receipt.model.visual_angle) is not None]
    if len(set(angles)) == 2:
        notes.append(f"the models have different visual angles: {angles[0]:g}° and {angles[1]:g}°")
    if a.plugin and b.plugin and a.plugin.sha256 != b.plugin.sha256:
        notes.append("the benchmark's code has changed between the two, but not its version")
    code = {(item.kind, item.identifier): item.plugin.sha256 for item in first.data if item.plugin}
    changed = [
        item.identifier
        for item in second.data
        if item.plugin and code.get((item.kind, item.identifier), item.plugin.sha256) != item.plugin.sha256
    ]
    if changed:
        notes.append(f"the code of {', '.join(sorted(changed))} has changed between the two")
    return notes


def _score(receipt: Receipt | None) -> float | None:
    if receipt is None or receipt.score is None:
        return None
    return receipt.score.value if receipt.score.unclamped is None else receipt.score.unclamped


def _raw(receipt: Receipt) -> float | None:
    return receipt.raw.value if receipt.raw is not None else None


def _number(value: float) -> float | None:
    return value if math.isfinite(value) else None
