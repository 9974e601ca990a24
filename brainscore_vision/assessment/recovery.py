"""Whether a benchmark would find the true model among candidates."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from itertools import product, takewhile
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from brainscore_core.errors import UserError, nearest
from brainscore_core.formatting import number_text
from brainscore_core.metric_helpers.alignment import MetricInputError
from brainscore_core.parallel import evaluate
from brainscore_core.progress import Stage, stage
from brainscore_vision.assessment.simulation import (
    GENERATORS,
    Candidate,
    Experiment,
    Generator,
    Mixture,
    features_of,
)
from brainscore_vision.model_interface import BrainModel

if TYPE_CHECKING:
    from brainscore_core.benchmarks import Benchmark
    from brainscore_core.figures import Svg
    from brainscore_vision.assessment.simulation import Array, Rows

_SAME = 1e-9  # relative difference of scores that counts as none
_MAIN, _MIXTURE, _SIZE, _PAIRS = range(4)  # first number of the seeds of each part


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
        return asdict(self) | {"holds_for": self.holds_for}

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


@dataclass(frozen=True)
class Progress:
    """State of a running estimate."""

    # Steps: features of a candidate, or simulated experiments
    done: int
    total: int
    step: str  # what is done next


def recover(
    benchmark: Benchmark | str,
    candidates: Mapping[str, Any] | Sequence[str | BrainModel],
    *,
    repetitions: int = 12,
    seed: int = 0,
    generators: Sequence[str] = GENERATORS[:2],
    generated_from: Mapping[str, Any] | None = None,
    reliability: float | None = None,
    mixtures: Sequence[tuple[str, str]] | None = None,
    weights: Sequence[float] = (0.1, 0.25, 0.5, 1.0),
    stimuli: Sequence[int] = (),
    neuroids: Sequence[int] = (),
    on_progress: Callable[[Progress], None] | None = None,
) -> Recovery:
    """Simulate experiments in which one of the candidates is the true model, and count how often it scores best.

    Parameters
    ----------
    benchmark : Benchmark or str
        A :class:`~brainscore_vision.benchmark_helpers.neural_common.NeuralBenchmark`, a composed one, or its
        identifier.
    candidates : mapping of str to candidate, or sequence of (str or BrainModel)
        At least two. A candidate is an identifier of a model, a `BrainModel`, an assembly of features (presentation ×
        neuroid, with ``stimulus_id``) or an array of features (stimuli × features, in the order of the benchmark's
        averaged recordings).
    repetitions : int
        Experiments for each true candidate and generator.
    seed : int
        Seed of the simulations.
    generators : sequence of str
        Some of :data:`GENERATORS`.
    generated_from : mapping of str to candidate, optional
        Features from which responses are simulated, if they are not those that are scored: to learn what a different
        preprocessing or layer changes. By default both are the same array.
    reliability : float, optional
        Share of each averaged neuroid's variance that is signal, in (0, 1]; noise is then independent. By default it
        is measured, with the correlations of the noise, from the repetitions.
    mixtures : sequence of (str, str), optional
        Pairs of candidates A and B, for the power to tell (1 − w) · A + w · B from A. By default the two candidates
        that score best on the recordings; empty for none.
    weights : sequence of float
        Values of w, in (0, 1].
    stimuli, neuroids : sequence of int
        Other sizes to simulate, each as long as the confusion matrix takes. More stimuli than the benchmark has cannot
        be simulated, nor fitted readouts of more neuroids than were recorded.
    on_progress : callable, optional
        Receives a :class:`Progress` before each step.

    Returns
    -------
    Recovery
        Of scores before the ceiling, which is the same for all candidates.

    Raises
    ------
    UserError
        If the benchmark does not compare averaged recordings of one set of stimuli, its repetitions are unknown and
        no reliability is stated, or there are fewer than two candidates, unknown names, or features with NaN.

    Notes
    -----
    Expected responses are predictions of a ridge regression that maps the candidate's features to the recordings, its
    penalty chosen for each neuroid by leave-one-out errors (*fitted readout* [1]_), or units that are drawn from the
    candidate (*sampled units* [2]_ [3]_), or Gaussian combinations of all units (*random projections*). Units keep
    their scales and means. A simulated neuroid has the variance of its unit (of the recorded neuroid for fitted
    readouts); the share of it that is signal is the reliability of the recorded neuroid, the rest Gaussian noise with
    the measured correlations between neuroids, larger for stimuli with fewer repetitions. Estimates of reliability are
    moved towards their mean by the part of their variance that chance explains [4]_; negative ones count as 0.

    Candidates are scored by the benchmark's metric with its splits. Ties are broken at random. Between the experiments
    of a true candidate, noise and drawn units differ; stimuli, and the fitted map, do not. Shares and their intervals
    are about such experiments, not about other stimuli.

    More features than stimuli are replaced by as many axes as there are stimuli, rotated so that products, distances
    and the mean over features remain the same; this is done only if the metric gives the same score for both.

    References
    ----------
    .. [1] Avitan & Golan (2025). https://doi.org/10.48550/arXiv.2510.23321
    .. [2] Han, Poggio & Cheung (2023). https://doi.org/10.48550/arXiv.2302.06677
    .. [3] Schütt et al. (2023). eLife 12, e82566. https://doi.org/10.7554/eLife.82566
    .. [4] Efron & Morris (1975). JASA 70, 311–319. https://doi.org/10.1080/01621459.1975.10479864

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> found = recover(
    ...     "Simulated2026.V1:cka",
    ...     {"first": rng.standard_normal((800, 40)), "second": rng.standard_normal((800, 40))},
    ...     repetitions=1, generators=["sampled units"], mixtures=[],
    ... )
    >>> found.confusions[0].counts
    [[1, 0], [0, 1]]
    """
    named = _named(candidates)
    generators, weights = list(dict.fromkeys(generators)), [float(weight) for weight in weights]
    numbers = (repetitions, *stimuli, *neuroids)
    _check(named, generators, weights, generated_from, mixtures, numbers, reliability)
    mixtures = mixtures if weights else ()
    k, pairs = len(named), 1 if mixtures is None else len(mixtures)
    planned = 1 + 2 * k + len(generated_from or ())
    planned += len(generators) * repetitions * (k * len(numbers) + pairs * len(weights))
    benchmark_name = benchmark if isinstance(benchmark, str) else benchmark.identifier
    with (
        stage(f"recovery on {benchmark_name}"),
        stage("simulated experiments", planned, unit="steps") as shown,
    ):
        steps = _Steps(shown, on_progress)
        steps.next("recordings of the benchmark")
        if isinstance(benchmark, str):
            from brainscore_vision.registries import load_benchmark

            benchmark = load_benchmark(benchmark)
        experiment = Experiment.of(benchmark, reliability)
        models = []
        for name, candidate in named.items():
            steps.next(f"features of {name}")
            models.append(Candidate(name, features_of(experiment, name, candidate)))
        scored = {model.name: model for model in models}
        sources = dict(scored)
        for name, candidate in (generated_from or {}).items():
            steps.next(f"features that generate responses of {name}")
            sources[name] = Candidate(name, features_of(experiment, name, candidate))
        experiment.simplify(models, seed)
        scores = []
        for model in models:
            steps.next(f"score of {model.name} on the recordings")
            scores.append(experiment.score(model, experiment.target))

        run = _Run(experiment, models, [sources[model.name] for model in models], seed, steps)
        confusions = [run.confusion(generator, repetitions) for generator in generators]
        if mixtures is None:
            order = np.argsort([-score if score is not None else math.inf for score in scores], kind="stable")
            mixtures = [(models[order[0]].name, models[order[1]].name)]
        powers = [
            power
            for first, second in mixtures
            for power in run.powers(generators, scored[first], scored[second], weights, repetitions)
        ]
        sizes = [(n, experiment.neuroids) for n in stimuli] + [(experiment.stimuli, m) for m in neuroids]
        recovered = [run.size(generator, *size, repetitions) for size in sizes for generator in generators]
        return Recovery(
            benchmark=benchmark.identifier,
            candidates=list(named),
            generators=generators,
            stimuli=experiment.stimuli,
            neuroids=experiment.neuroids,
            reliability=float(np.median(experiment.reliability)),
            reliability_source="measured" if reliability is None else "stated",
            repetitions=repetitions,
            seed=seed,
            scores=scores,
            confusions=confusions,
            mixtures=powers,
            sizes=recovered,
            notes=_notes(models, sources, scores, generators, generated_from, experiment),
        )


class _Steps:
    """Reports progress."""

    def __init__(self, shown: Stage, report: Callable[[Progress], None] | None) -> None:
        self._shown, self._total, self._report = shown, shown.total or 0, report
        self._begun = 0

    def next(self, step: str) -> None:
        """Report that a step begins."""
        self._shown.text, self._shown.done = step, self._begun
        if self._report is not None:
            self._report(Progress(self._begun, self._total, step))
        self._begun += 1


class _Run:
    """Simulated experiments of one benchmark with the same candidates."""

    def __init__(
        self,
        experiment: Experiment,
        models: Sequence[Candidate],
        sources: Sequence[Candidate],
        seed: int,
        steps: _Steps,
    ) -> None:
        self._experiment = experiment
        self._models = models
        self._seed = seed
        self._steps = steps
        self._generators = {kind: [Generator(experiment, kind, source) for source in sources] for kind in GENERATORS}

    def confusion(self, kind: str, repetitions: int) -> Confusion:
        """Which candidate scores best, by the true one."""
        k = len(self._models)
        counts, undefined = np.zeros((k, k), dtype=np.intp), np.zeros(k, dtype=np.intp)

        def winner(experiment: tuple[int, int]) -> int | None:
            true, repetition = experiment
            rng = np.random.default_rng([_MAIN, self._seed, GENERATORS.index(kind), true, repetition])
            return self._winner(self._models, self._generators[kind][true].simulate(rng), rng)

        experiments = list(product(range(k), range(repetitions)))
        steps = [f"{kind}: {self._models[true].name} is true, experiment {number + 1}" for true, number in experiments]
        for (true, _), best in zip(experiments, self._evaluate(winner, experiments, steps, repetitions), strict=True):
            if best is None:
                undefined[true] += 1
            else:
                counts[true, best] += 1
        correct = np.diag(counts)
        return Confusion(
            generator=kind,
            counts=counts.tolist(),
            undefined=undefined.tolist(),
            found=[
                Share.of(int(number), repetitions - int(n_undefined))
                for number, n_undefined in zip(correct, undefined, strict=True)
            ],
            overall=Share.of(int(correct.sum()), k * repetitions - int(undefined.sum())),
        )

    def powers(
        self,
        kinds: Sequence[str],
        first: Candidate,
        second: Candidate,
        weights: Sequence[float],
        repetitions: int,
    ) -> list[MixturePower]:
        """How often mixtures of two candidates score higher than the first, for each generator."""
        # the same pairs of units for all weights
        rngs = (np.random.default_rng([_PAIRS, self._seed]) for _ in weights)
        mixtures = [Mixture(first, second, weight, rng) for weight, rng in zip(weights, rngs, strict=True)]
        generators = {
            (number, kind): Generator(self._experiment, kind, mixture)
            for number, mixture in enumerate(mixtures)
            for kind in kinds
        }

        def winner(experiment: tuple[int, str, int]) -> int | None:
            number, kind, repetition = experiment
            rng = np.random.default_rng([_MIXTURE, self._seed, GENERATORS.index(kind), number, repetition])
            return self._winner([first, mixtures[number]], generators[number, kind].simulate(rng), rng)

        experiments = list(product(range(len(weights)), kinds, range(repetitions)))
        steps = [f"{kind}: {mixtures[number].name} is true, experiment {n + 1}" for number, kind, n in experiments]
        together = len(kinds) * repetitions
        winners: dict[tuple[str, int], list[int | None]] = defaultdict(list)
        for (number, kind, _), best in zip(
            experiments, self._evaluate(winner, experiments, steps, together), strict=True
        ):
            winners[kind, number].append(best)
        shares = {key: Share.of(best.count(1), len(best) - best.count(None)) for key, best in winners.items()}
        return [
            _power(kind, first, second, weights, [shares[kind, number] for number in range(len(weights))])
            for kind in kinds
        ]

    def size(self, kind: str, stimuli: int, neuroids: int, repetitions: int) -> SizeRecovery:
        """Recovery with other numbers of stimuli or neuroids."""
        experiment = self._experiment
        reason = None
        if stimuli > experiment.stimuli:
            reason = f"features of only {experiment.stimuli} stimuli are known"
        elif kind == "fitted readout" and neuroids > experiment.neuroids:
            reason = f"readouts are fitted to the {experiment.neuroids} recorded neuroids"

        def winner(each: tuple[int, int]) -> int | str | None:
            true = each[0]
            if reason is not None:
                return reason
            rng = np.random.default_rng([_SIZE, self._seed, GENERATORS.index(kind), stimuli, neuroids, *each])
            rows = None if stimuli == experiment.stimuli else experiment.draw_stimuli(stimuli, rng)
            neuroid_rows = None if neuroids == experiment.neuroids else experiment.draw_neuroids(neuroids, rng)
            try:
                return self._winner(
                    self._models, self._generators[kind][true].simulate(rng, neuroid_rows), rng, rows, neuroid_rows
                )
            except MetricInputError as error:
                return str(error.message)

        experiments = list(product(range(len(self._models)), range(repetitions)))
        text = f"{kind}, {stimuli} stimuli, {neuroids} neuroids"
        steps = [f"{text}: {self._models[true].name} is true, experiment {n + 1}" for true, n in experiments]
        best = list(self._evaluate(winner, experiments, steps, repetitions))
        reason = next((each for each in best if isinstance(each, str)), None)
        wins = sum(each == true for (true, _), each in zip(experiments, best, strict=True))
        overall = Share.of(wins, len(best) - best.count(None)) if reason is None else None
        return SizeRecovery(generator=kind, stimuli=stimuli, neuroids=neuroids, overall=overall, reason=reason)

    def _evaluate(
        self, winner: Callable[[Any], Any], experiments: Sequence[Any], steps: Sequence[str], together: int
    ) -> Iterator[Any]:
        """Winners of all experiments, with a report before each."""
        winners = evaluate(winner, experiments, together=together)
        for step in steps:
            self._steps.next(step)
            yield next(winners)

    def _winner(
        self,
        models: Sequence[Candidate],
        values: Array,
        rng: np.random.Generator,
        rows: Rows | None = None,
        places: Rows | None = None,
    ) -> int | None:
        """Place of the candidate that scores best on simulated responses to all stimuli."""
        measured = self._experiment.measured(values if rows is None else values[rows], rows, places)
        scores = [self._experiment.score(model, measured, rows) for model in models]
        defined = [score for score in scores if score is not None]
        if not defined:
            return None
        least = max(defined) - _SAME * max(1.0, abs(max(defined)))
        return int(rng.choice([index for index, score in enumerate(scores) if score is not None and score >= least]))


def _power(
    kind: str, first: Candidate, second: Candidate, weights: Sequence[float], found: list[Share]
) -> MixturePower:
    largest_first = sorted(zip(weights, found, strict=True), key=lambda pair: -pair[0])
    powerful = takewhile(lambda pair: (pair[1].share or 0) >= POWER, largest_first)
    smallest = min((weight for weight, _ in powerful), default=None)
    return MixturePower(
        generator=kind,
        first=first.name,
        second=second.name,
        weights=list(weights),
        found=found,
        smallest=smallest,
        reason=None if smallest is not None else f"no weight up to {max(weights):g} is found in {100 * POWER:.0f} %",
    )


def _named(candidates: Mapping[str, Any] | Sequence[str | BrainModel]) -> dict[str, Any]:
    if isinstance(candidates, Mapping):
        return {str(name): candidate for name, candidate in candidates.items()}
    if isinstance(candidates, str) or not all(isinstance(each, str | BrainModel) for each in candidates):
        raise UserError(
            "candidates in a sequence are identifiers of models or BrainModels",
            remedy="pass a dictionary of names and features, such as {'mine': features}",
        )
    names = [each if isinstance(each, str) else each.identifier for each in candidates]
    repeated = sorted({name for name in names if names.count(name) > 1})
    if repeated:
        raise UserError(f"several candidates are called {repeated[0]!r}", remedy="pass a dictionary with other names")
    return dict(zip(names, candidates, strict=True))


def _check(
    named: Mapping[str, Any],
    generators: Sequence[str],
    weights: Sequence[float],
    generated_from: Mapping[str, Any] | None,
    mixtures: Sequence[tuple[str, str]] | None,
    numbers: Sequence[int],
    reliability: float | None,
) -> None:
    if len(named) < 2:
        raise UserError(f"there are {len(named)} candidates", remedy="pass at least two, such as ['pixels', 'gabor']")
    if not generators:
        raise UserError("there are no generators", remedy=f"use some of {', '.join(GENERATORS)}")
    for name in generators:
        if name not in GENERATORS:
            raise UserError(f"{name!r} is not a generator", remedy=f"use some of {', '.join(GENERATORS)}")
    for name in [*(generated_from or {}), *(name for pair in mixtures or () for name in pair)]:
        if name not in named:
            close = nearest(name, list(named))
            raise UserError(f"{name!r} is not a candidate", remedy=f"use {', '.join(close or named)}")
    wrong = [weight for weight in weights if not 0 < weight <= 1]
    if wrong:
        raise ValueError(f"a weight is {wrong[0]}; weights of mixtures are above 0 and at most 1")
    if min(numbers) < 1:
        raise ValueError(f"a number of repetitions, stimuli or neuroids is {min(numbers)}; at least 1 is needed")
    if reliability is not None and not 0 < reliability <= 1:
        raise ValueError(f"reliability is {reliability}; it is a share of variance, above 0 and at most 1")


def _notes(
    models: Sequence[Candidate],
    sources: Mapping[str, Candidate],
    scores: Sequence[float | None],
    generators: Sequence[str],
    generated_from: Mapping[str, Any] | None,
    experiment: Experiment,
) -> list[str]:
    notes = [
        f"The score of {model.name} on the recordings is undefined."
        for model, score in zip(models, scores, strict=True)
        if score is None
    ]
    if "sampled units" in generators:
        notes += [
            f"{name} has {len(source.varying)} units that vary, fewer than the {experiment.neuroids} neuroids: instead "
            "of units, random projections of them are drawn."
            for name, source in sources.items()
            if len(source.varying) < experiment.neuroids
        ]
    if generated_from:
        notes.append(f"Responses of {', '.join(generated_from)} are simulated from other features than are scored.")
    return notes
