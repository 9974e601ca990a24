"""Experiments on simulated responses: features of a candidate instead of a brain, the rest as in a benchmark."""

from __future__ import annotations

import math
import warnings
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from brainscore_core.benchmarks import Benchmark
from brainscore_core.errors import UserError
from brainscore_core.metric_helpers.alignment import (
    PUBLISHED_ORDER,
    MetricInputError,
    as_table,
    canonical_rows,
    finite_values,
    match_rows,
)
from brainscore_core.metrics import STIMULUS_GROUPS, Metric
from brainscore_core.numerics import ResponseMoments, RidgeCV
from brainscore_core.supported_data_standards.brainio.assemblies import DataAssembly, NeuroidAssembly, coords_for_dim
from brainscore_vision.assessment.attainable import as_recorded, comparison_of, moments_of_repetitions
from brainscore_vision.benchmark_helpers.measurements import (
    VisualMeasurements,
    errors_naming_data,
    visual_measurements_of,
)
from brainscore_vision.benchmark_helpers.neural_common import compare_trained, groups_of_neuroids, record
from brainscore_vision.model_interface import BrainModel

Array = NDArray[np.floating]
Rows = NDArray[np.intp]

GENERATORS: Final = ("fitted readout", "sampled units", "random projections")
"""Ways to simulate responses from a candidate's features."""

_BLOCK = 4096  # features that are read at once


class Candidate:
    """Features of a candidate, and what is computed from them once."""

    def __init__(self, name: str, values: Array) -> None:
        self._values = values
        self._begin(name, *values.shape)

    def _begin(self, name: str, stimuli: int, units: int) -> None:
        self.name, self.stimuli, self.units = name, stimuli, units
        self.source: NeuroidAssembly | None = None
        """Features as an assembly of all stimuli, once they were scored."""

    def columns(self, places: Rows) -> Array:
        """Responses of some units to the stimuli of a benchmark, stimuli × places, float64."""
        return self._values[:, places].astype(np.float64)

    def blocks(self) -> Iterator[Array]:
        """All features, some at a time."""
        for start in range(0, self.units, _BLOCK):
            yield self.columns(np.arange(start, min(start + _BLOCK, self.units)))

    @cached_property
    def _deviations(self) -> Array:
        return np.concatenate([block.std(axis=0) for block in self.blocks()])

    @cached_property
    def varying(self) -> Rows:
        """Units whose responses differ between stimuli."""
        return np.flatnonzero(self._deviations > 1e-12 * self._deviations.max(initial=0))

    @property
    def spread(self) -> float:
        """Root of the mean variance over stimuli of the units."""
        return float(np.sqrt(np.mean(self._deviations**2)))

    @cached_property
    def all(self) -> Array:
        """All features."""
        return np.concatenate(list(self.blocks()), axis=1)

    @cached_property
    def rotated(self) -> Array:
        """Features on at most stimuli + 1 axes, with the same products, distances and mean over features."""
        return _rotated(self.blocks(), self.stimuli)


class Mixture(Candidate):
    """Sums of pairs of units, (1 − w) · first + w · second; the second ones are scaled to the variance of the first.

    Each unit of the candidate with more units occurs once; units of the other one are repeated.
    """

    def __init__(self, first: Candidate, second: Candidate, weight: float, rng: np.random.Generator) -> None:
        self._begin(f"{first.name} with {weight:g} {second.name}", first.stimuli, max(first.units, second.units))
        self._candidates = (first, second)
        self._factors = (1 - weight, weight * first.spread / second.spread)
        self._places = [
            np.concatenate([rng.permutation(candidate.units) for _ in range(math.ceil(self.units / candidate.units))])
            for candidate in self._candidates
        ]

    def columns(self, places: Rows) -> Array:
        """Sums of the responses of pairs of units."""
        first, second = (
            candidate.columns(columns[places])
            for candidate, columns in zip(self._candidates, self._places, strict=True)
        )
        return self._factors[0] * first + self._factors[1] * second


def _rotated(blocks: Iterator[Array], n: int) -> Array:
    """Coordinates on orthogonal axes: the constant vector, and principal axes of the rest.

    A reflection then turns the first axis into the constant vector of the new features. Centring each stimulus's
    responses, as Pearson correlations between stimuli do, therefore removes the same part before and after.
    """
    number, total, products = 0, np.zeros(n), np.zeros((n, n))
    for block in blocks:
        number += block.shape[1]
        total += block.sum(axis=1)
        products += block @ block.T
    products -= np.outer(total, total) / number
    values, vectors = np.linalg.eigh(products)
    above_rounding = values > max(values[-1], 0.0) * n * np.finfo(np.float64).eps
    coordinates = np.column_stack(
        [total / math.sqrt(number), vectors[:, above_rounding] * np.sqrt(values[above_rounding])]
    )
    axis = np.full(coordinates.shape[1], 1 / math.sqrt(coordinates.shape[1]))
    axis[0] -= 1
    length = float(axis @ axis)
    return coordinates if length == 0 else coordinates - np.outer(coordinates @ axis, 2 * axis / length)


def _lean(target: DataAssembly) -> NeuroidAssembly:
    """Recordings without coordinates and attributes that few metrics use, which take time to copy."""
    rank = np.empty(len(target), dtype=np.intp)
    rank[canonical_rows(target)] = np.arange(len(target))
    names = [name for name in ("stimulus_id", STIMULUS_GROUPS) if name in target.coords]
    coords: dict[str, Any] = {name: ("presentation", target[name].values) for name in names}
    coords[PUBLISHED_ORDER] = ("presentation", rank)  # splits depend on it
    coords |= {str(name): ("neuroid", variable.values) for name, variable in coords_for_dim(target, "neuroid").items()}
    return NeuroidAssembly(target.values, coords=coords, dims=["presentation", "neuroid"])


def _reliability(moments: ResponseMoments) -> Array:
    """Share of variance that is signal, for each neuroid.

    Estimates of single neuroids vary by chance. Used as they are, simulated neuroids would differ more than real ones,
    so they are moved towards their mean by the part of their variance that chance explains (Efron & Morris 1975,
    https://doi.org/10.1080/01621459.1975.10479864). Each is a ratio of independent variances of Gaussian responses; the
    mean of 1 / variance is too large by (n − 1) / (n − 3).
    """
    n = len(moments.counts)
    free = int(moments.counts.sum()) - n
    noise = np.nan_to_num(1 - moments.reliability, nan=1.0)
    if n > 3:
        noise = noise * (n - 3) / (n - 1)
    mean = float(noise.mean())
    chance = mean**2 * (2 / (n - 1) + 2 / free)
    spread = float(noise.var(ddof=1)) if len(noise) > 1 else 0.0
    shrinkage = max(0.0, 1 - chance / spread) if spread > 0 else 0.0
    return np.asarray(np.clip(1 - mean - shrinkage * (noise - mean), 0.0, 1.0))


@dataclass
class Experiment:
    """Design of a benchmark's experiment, and its metric."""

    benchmark: Benchmark
    recordings: DataAssembly
    """Averaged recordings of the benchmark."""
    target: DataAssembly
    """The same, as the metric receives them."""
    reliability: Array
    """Share of variance that is signal, for each neuroid."""
    noise: Array
    """Root of the correlation matrix of the noise of the neuroids."""
    amplitude: Array
    """Relative standard deviation of the noise of each stimulus's average."""
    training: NDArray[np.bool_] | None = None
    """Whether each stimulus is only fitted; None if the metric divides the stimuli itself."""
    rotates: bool = False
    """Whether the metric gives rotated features the same score."""

    @classmethod
    def of(cls, benchmark: Any, reliability: float | None) -> Experiment:
        purpose = f"recovery on {benchmark.identifier!r}"
        target: DataAssembly
        training: NDArray[np.bool_] | None = None
        measurements = visual_measurements_of(benchmark)
        if measurements.training is not None:
            target, training = _joined(measurements, purpose)
        else:
            if measurements.compares == "recordings" and measurements.metric is None:
                raise UserError(
                    f"{purpose} cannot be simulated: it compares with each subject, whose reliability its averaged "
                    "recordings do not tell",
                    remedy="compare the recordings with the metric 'rdm' in a NeuralBenchmark",
                )
            target = as_recorded(comparison_of(benchmark, purpose).averaged())
        with errors_naming_data(target, benchmark.identifier):
            finite_values(target, role="recordings")
        n, m = target.shape
        if reliability is not None:
            return cls(benchmark, target, target, np.full(m, reliability), np.eye(m), np.ones(n), training)
        try:
            tested = target if training is None else target.isel(presentation=np.flatnonzero(~training))
            moments = moments_of_repetitions(benchmark.identifier, measurements.single_repetitions(), tested)
        except UserError as error:
            error.message, error.remedy = f"{purpose}: {error.message}", f"{error.remedy}; or state reliability=…"
            raise
        deviations = np.sqrt(np.diag(moments.noise))
        correlations = moments.noise / np.where(deviations > 0, np.outer(deviations, deviations), 1.0)
        np.fill_diagonal(correlations, 1.0)
        values, vectors = np.linalg.eigh(correlations)
        amplitude = np.ones(n)
        amplitude[slice(None) if training is None else ~training] = np.sqrt(
            1 / moments.counts / np.mean(1 / moments.counts)
        )
        root = vectors * np.sqrt(np.maximum(values, 0.0))
        return cls(benchmark, target, target, _reliability(moments), root, amplitude, training)

    @property
    def measurements(self) -> VisualMeasurements:
        """What the benchmark measures."""
        return visual_measurements_of(self.benchmark)

    @property
    def stimuli(self) -> int:
        return int(self.target.shape[0])

    @property
    def neuroids(self) -> int:
        return int(self.target.shape[1])

    @cached_property
    def scales(self) -> tuple[Array, Array]:
        """Mean and standard deviation of the recorded neuroids."""
        values = np.asarray(self.target.values, dtype=np.float64)
        return values.mean(axis=0), values.std(axis=0)

    def simplify(self, models: Sequence[Candidate], seed: int) -> None:
        """Find out what changes no score: coordinates that are left out, features that are rotated.

        Neither depends on the responses, so one score of the recordings with and without decides it.
        """
        n, rng = self.stimuli, np.random.default_rng(seed)
        widest = max(models, key=lambda model: model.units)
        drawn = widest.columns(np.sort(rng.permutation(widest.units)[: 2 * n]))
        score = self._metric(widest, self._source(drawn), self.target)
        lean = _lean(self.target)
        try:
            same = self._metric(widest, self._source(drawn), lean) == score
        except (UserError, AttributeError, KeyError, ValueError):  # the metric uses what was left out
            same = False
        if same:
            self.target = lean
        if drawn.shape[1] > n + 1:
            rotated = self._metric(widest, self._source(_rotated(iter([drawn]), n)), self.target)
            self.rotates = bool(abs(rotated - score) <= 1e-6 * max(1.0, abs(score)))

    def features(self, model: Candidate) -> Array:
        """Features as they are scored, and as readouts are fitted to them."""
        return model.rotated if self.rotates and model.units > self.stimuli + 1 else model.all

    def measured(self, values: Array, rows: Rows | None, places: Rows | None) -> DataAssembly:
        """Simulated responses as recordings of the benchmark; `places` are the neuroids that they stand for."""
        if rows is None and places is None:
            return self.target.copy(data=values)
        rows = np.arange(self.stimuli) if rows is None else rows
        drawn = self.target.isel(presentation=rows)
        if places is None:
            return drawn.copy(data=values)
        coords: dict[str, Any] = dict(coords_for_dim(drawn, "presentation"))
        for name, variable in coords_for_dim(drawn, "neuroid").items():
            coords[str(name)] = ("neuroid", np.asarray(variable.values)[places])
        coords["neuroid_id"] = ("neuroid", np.arange(len(places)))
        return NeuroidAssembly(values, coords=coords, dims=["presentation", "neuroid"])

    def score(self, model: Candidate, measured: DataAssembly, rows: Rows | None = None) -> float | None:
        """Score of a candidate before the ceiling; None if it is undefined."""
        if model.source is None:
            model.source = self._source(self.features(model))
        source = model.source if rows is None else self._source(self.features(model)[rows], rows)
        score = self._metric(model, source, measured, rows)
        return score if math.isfinite(score) else None

    def _source(self, values: Array, rows: Rows | None = None) -> NeuroidAssembly:
        names = self.target["stimulus_id"].values
        coords = {
            "stimulus_id": ("presentation", names if rows is None else names[rows]),
            "neuroid_id": ("neuroid", np.arange(values.shape[1])),
        }
        return NeuroidAssembly(values, coords=coords, dims=["presentation", "neuroid"])

    def _metric(
        self, model: Candidate, source: DataAssembly, measured: DataAssembly, rows: Rows | None = None
    ) -> float:
        with warnings.catch_warnings(), errors_naming_data(self.recordings, self.benchmark.identifier):
            warnings.simplefilter("ignore")
            try:
                if self.training is None:
                    metric: Any = self.measurements.metric
                    if isinstance(metric, Metric):
                        return metric.value(source, measured)
                    return float(metric(source, measured))
                training = self.training if rows is None else self.training[rows]
                return self._of_parts(source, measured, [np.flatnonzero(~training), np.flatnonzero(training)])
            except MetricInputError as error:
                raise MetricInputError(f"candidate {model.name!r}: {error.message}", remedy=error.remedy) from error

    def _of_parts(self, source: DataAssembly, measured: DataAssembly, parts: Sequence[Rows]) -> float:
        """Mean score over the groups of neuroids that the benchmark fits separately."""
        sources = [source.isel(presentation=rows) for rows in parts]
        targets = [measured.isel(presentation=rows) for rows in parts]
        measurements = self.measurements
        groups = groups_of_neuroids(measurements, targets)
        neuroids = [slice(None)] if groups is None else list(groups.values())
        scores = [
            float(compare_trained(measurements, sources, [target.isel(neuroid=which) for target in targets]))
            for which in neuroids
        ]
        return float(np.mean(scores))

    def draw_stimuli(self, number: int, rng: np.random.Generator) -> Rows:
        """Some of the stimuli, in equal shares from each of their groups, and from those for training and testing."""
        n = self.stimuli
        groups = np.zeros(n, dtype=np.intp)
        if STIMULUS_GROUPS in self.target.coords:
            groups = np.unique(self.target[STIMULUS_GROUPS].values, return_inverse=True)[1]
        if self.training is not None:
            groups = 2 * groups + self.training
        order = np.lexsort((rng.random(n), groups))
        return np.sort(order[np.arange(number) * n // number])

    def draw_neuroids(self, number: int, rng: np.random.Generator) -> Rows:
        """Recorded neuroids whose reliability and noise the simulated ones have; all of them before any again."""
        rounds = math.ceil(number / self.neuroids)
        return np.concatenate([rng.permutation(self.neuroids) for _ in range(rounds)])[:number]

    def draw_noise(self, places: Rows | None, rng: np.random.Generator) -> Array:
        """Noise with variance 1 (stimuli × neuroids); repeated neuroids have independent noise."""
        n, m = self.stimuli, self.neuroids
        if places is None:
            return rng.standard_normal((n, m)) @ self.noise.T * self.amplitude[:, None]
        draws = [
            (rng.standard_normal((n, m)) @ self.noise.T)[:, places[start : start + m]]
            for start in range(0, len(places), m)
        ]
        return np.concatenate(draws, axis=1) * self.amplitude[:, None]


class Generator:
    """Simulates responses of neuroids from the features of a candidate."""

    def __init__(self, experiment: Experiment, kind: str, model: Candidate) -> None:
        self._experiment = experiment
        self._kind = kind
        self._model = model

    def simulate(self, rng: np.random.Generator, places: Rows | None = None) -> Array:
        """Measured responses to all stimuli, for the recorded neuroids or for those at `places`."""
        experiment = self._experiment
        reliability = experiment.reliability if places is None else experiment.reliability[places]
        if self._kind == "fitted readout":
            expected, (mean, deviation) = self._readout, experiment.scales
            if places is not None:
                expected, mean, deviation = expected[:, places], mean[places], deviation[places]
        else:
            drawn = self._drawn(len(reliability), rng)
            mean, deviation = drawn.mean(axis=0), drawn.std(axis=0)
            expected = _standardised(drawn)
        noise = experiment.draw_noise(places, rng)
        return np.asarray(mean + deviation * (np.sqrt(reliability) * expected + np.sqrt(1 - reliability) * noise))

    @cached_property
    def _readout(self) -> Array:
        """Predictions of the fitted map, each neuroid with mean 0 and variance 1."""
        features = self._experiment.features(self._model)
        largest = float(np.sum((features - features.mean(axis=0)) ** 2))
        penalties = largest * np.logspace(-8, 2, 21)
        fit = RidgeCV(alphas=penalties.tolist(), alpha_per_target=True).fit(
            features, np.asarray(self._experiment.target.values)
        )
        return _standardised(fit.predict(features))

    def _drawn(self, number: int, rng: np.random.Generator) -> Array:
        if self._kind == "sampled units" and len(self._model.varying) >= number:
            return self._model.columns(rng.choice(self._model.varying, number, replace=False))
        features = self._experiment.features(self._model)
        return features @ rng.standard_normal((features.shape[1], number)) / math.sqrt(self._model.units)


def _standardised(values: Array) -> Array:
    centred = values - values.mean(axis=0)
    deviation = centred.std(axis=0)
    return np.asarray(centred / np.where(deviation > 0, deviation, 1.0))


def _joined(measurements: VisualMeasurements, what: str) -> tuple[NeuroidAssembly, NDArray[np.bool_]]:
    """Recordings for training and testing in one assembly, and which of them are for training."""
    assemblies = [as_recorded(assembly) for assembly in (measurements.training, measurements.measured)]
    groups_of_neuroids(measurements, assemblies[::-1])  # an error if their neuroids differ
    train, test = (set(assembly["stimulus_id"].values.tolist()) for assembly in assemblies)
    if train & test:
        raise UserError(
            f"{what} cannot be simulated: {len(train & test)} stimuli are both for training and for testing",
            remedy="leave them out of one of the assemblies",
        )
    levels = [coords_for_dim(assembly, "presentation") for assembly in assemblies]
    coords: dict[str, Any] = {
        str(name): ("presentation", np.concatenate([assembly[name].values for assembly in assemblies]))
        for name in levels[0]
        if name in levels[1] and name != PUBLISHED_ORDER
    }
    coords |= {
        str(name): ("neuroid", variable.values) for name, variable in coords_for_dim(assemblies[1], "neuroid").items()
    }
    values = np.concatenate([assembly.values for assembly in assemblies])
    joined = NeuroidAssembly(values, coords=coords, dims=["presentation", "neuroid"])
    return joined, np.arange(len(values)) < len(assemblies[0])


def _in_order(features: DataAssembly, target: DataAssembly, role: str) -> Array:
    """Values of features, one row for each stimulus of the recordings, in their order."""
    features = as_table(features, ("presentation", "neuroid"), role=role)
    return np.asarray(features.values[match_rows(features, target, roles=(role, "recordings"))])


def features_of(experiment: Experiment, name: str, candidate: Any) -> Array:
    """Features of a candidate, stimuli × features, in the order of the recordings."""
    target = experiment.target
    if isinstance(candidate, str):
        from brainscore_vision.registries import load_model

        candidate = load_model(candidate)
    role = f"features of {name!r}"
    if isinstance(candidate, BrainModel):
        measurements = experiment.measurements
        training = np.zeros(len(target), dtype=bool) if experiment.training is None else experiment.training
        recorded = record(candidate, measurements, measurements.parts)
        assemblies = zip(recorded, (~training, training)[: len(recorded)], strict=True)
        candidate = np.concatenate(
            [
                _in_order(assembly, target.isel(presentation=np.flatnonzero(rows)), role)
                for assembly, rows in reversed(list(assemblies))  # training comes first
            ]
        )
    if isinstance(candidate, DataAssembly):
        candidate = _in_order(candidate, target, role)
    values = np.asarray(candidate)
    if values.ndim != 2 or len(values) != experiment.stimuli or values.shape[1] == 0 or values.dtype.kind not in "fiub":
        raise UserError(
            f"features of {name!r} are an array of shape {values.shape} and type {values.dtype}; "
            f"{experiment.stimuli} stimuli × features are needed",
            remedy="pass numbers, one row for each stimulus of the recordings, in their order",
        )
    if not np.isfinite(values).all():
        raise UserError(
            f"features of {name!r} contain NaN or infinity: {int((~np.isfinite(values)).sum())} values",
            remedy="leave out these features",
        )
    if (values == values[0]).all():
        raise UserError(f"features of {name!r} are the same for all stimuli", remedy="check how they were computed")
    return values
