"""What a perfect model would reach on a benchmark."""

import math
import warnings
from typing import Any

import numpy as np
import pandas as pd
from scipy.special import stdtrit

from brainscore_core.benchmarks import Benchmark
from brainscore_core.errors import UserError
from brainscore_core.metric_helpers.alignment import as_table, coord_values
from brainscore_core.metrics import Score, attach_uncertainty, declarations_of
from brainscore_core.numerics import ResponseMoments, response_moments
from brainscore_core.progress import stage, track
from brainscore_core.supported_data_standards.brainio.assemblies import DataAssembly
from brainscore_vision.benchmark_helpers.measurements import (
    VisualMeasurements,
    errors_naming_data,
    visual_measurements_of,
    without_single_time_bin,
)

LEAST_RELIABILITY = 0.3
"""Median reliability of the neuroids below which the covariance of the signal is not known well enough."""


def attach_attainable(benchmark: Benchmark, *, simulations: int = 10, seed: int = 0) -> Score:
    """Estimate what a perfect model would reach, once, and keep it in ``attrs['attainable']`` of the ceiling.

    Arguments as for :func:`attainable`; without effect if the estimate is already there. Returns the ceiling, which
    later scores of the benchmark have in their attributes.
    """
    ceiling = benchmark.ceiling
    if "attainable" not in ceiling.attrs:
        ceiling.attrs["attainable"] = attainable(benchmark, simulations=simulations, seed=seed)
    return ceiling


def attainable(benchmark: Benchmark, *, simulations: int = 10, seed: int = 0) -> Score:
    """Score of a model whose features are the expected responses of the recorded neuroids.

    Not even such a model reaches 1: maps are fitted to few, noisy responses, and a penalty or a number of components
    need not suit them. The value tells what is left to gain. It is not a ceiling, and nothing is divided by it.

    `benchmark`: its :meth:`~brainscore_core.benchmarks.Benchmark.measurements` have a metric, and single repetitions
    without missing values. `simulations`: simulated experiments, at least 3; each calls the metric twice. `seed`: seed
    of the simulations. Result: relative to the benchmark's ceiling and not clamped. ``error`` and ``ci`` are about the
    score of a single perfect model on these recordings. ``raw``: scores of the simulated perfect models;
    ``reliability``: median over neuroids. NaN with a reason if that is below 0.3. A UserError if the benchmark is of
    another kind, has several time bins, or single repetitions are unknown or incomplete.

    Notes
    -----
    The covariance of the expected responses is that of the averaged responses minus that of their noise, made positive
    semidefinite with its trace and its sum of squares preserved
    (:meth:`~brainscore_core.numerics.noise.ResponseMoments.signal`). Expected responses are drawn with this covariance,
    noise of the measured size is added, and the former are scored as features on the latter, by the benchmark's metric
    with its splits. The estimate is repeated on each simulated experiment, whose truth is known: the mean difference is
    subtracted as a bias, and its spread and the bias make up the error (parametric bootstrap [1]_).

    References
    ----------
    .. [1] Efron & Tibshirani (1993). An Introduction to the Bootstrap, chapter 10.
           https://doi.org/10.1201/9780429246593
    """
    if simulations < 3:
        raise ValueError(f"simulations is {simulations}; at least 3 are needed to tell how much they vary")
    with stage(f"attainable score on {benchmark.identifier}"):
        what = f"what a perfect model would reach on {benchmark.identifier!r}"
        measurements = comparison_of(benchmark, what)
        target = as_recorded(measurements.averaged())
        moments = moments_of_repetitions(benchmark.identifier, measurements.single_repetitions(), target)
        reliability = float(np.median(moments.reliability))
        if not reliability >= LEAST_RELIABILITY:
            result = attach_uncertainty(
                Score(math.nan), reason=f"the median reliability {reliability:.2f} is below {LEAST_RELIABILITY}"
            )
            result.attrs["reliability"] = reliability
            return result
        rng = np.random.default_rng(seed)
        known, estimated = [], []
        for _ in track(range(simulations), "simulating a perfect model", simulations, unit="experiments"):
            expected, measured, again = moments.simulate(rng)
            known.append(_score(measurements, benchmark, target, expected, measured))
            estimated.append(_score(measurements, benchmark, target, *again.simulate(rng)[:2]))
        differences = np.subtract(estimated, known)
        bias = float(differences.mean())
        value = float(np.mean(known)) - bias
        spread = float(differences.std(ddof=1)) * math.sqrt(1 + 1 / simulations)
        half = math.hypot(float(stdtrit(simulations - 1, 0.975)) * spread, bias)
        result = Score(value)
        result.attrs[Score.RAW_VALUES_KEY] = Score(
            known, coords={"simulation": np.arange(simulations)}, dims=["simulation"]
        )
        result.attrs["reliability"] = reliability
        return attach_uncertainty(
            result,
            error=math.hypot(spread, bias),
            ci=(value - half, value + half),
            estimates=f"score of a perfect model on these recordings; {simulations} simulated experiments",
            method="simulation",
            reason="a simulated score is undefined",
        )


def moments_of_repetitions(name: str, repetitions: DataAssembly, target: DataAssembly) -> ResponseMoments:
    """Moments of repetitions whose averages are `target` (:func:`as_recorded`), with stimuli in its order.

    `name` is that of the benchmark. A UserError if repetitions are incomplete, or of other neuroids or stimuli.
    """
    repeated = as_recorded(repetitions)
    ours, theirs = (coord_values(part, "neuroid_id", role="recordings", dim="neuroid") for part in (target, repeated))
    if not np.array_equal(ours, theirs):
        raise UserError(
            f"averaged and repeated recordings of {name!r} are of different neuroids",
            remedy="average the recordings from which the ceiling is estimated",
        )
    ours, theirs = (coord_values(part, "stimulus_id", role="recordings") for part in (target, repeated))
    stimuli = pd.Index(ours).get_indexer(theirs)
    try:
        moments = response_moments(repeated.values[stimuli >= 0], stimuli[stimuli >= 0])
    except ValueError as error:
        raise UserError(f"repeated recordings of {name!r}: {error}", remedy="see the message") from error
    if len(moments.counts) != len(target):
        raise UserError(
            f"{len(target) - len(moments.counts)} stimuli of {name!r} are not among the repeated recordings",
            remedy="average the recordings from which the ceiling is estimated",
        )
    return moments


def comparison_of(benchmark: Benchmark, what: str) -> VisualMeasurements:
    """Measurements of a benchmark that compares averaged recordings of one set of stimuli by a metric.

    A UserError if it is of another kind; `what` cannot be simulated.
    """
    measurements = visual_measurements_of(benchmark)
    averages = measurements.compares == "recordings" and measurements.training is None
    if not averages or measurements.metric is None or declarations_of(measurements.metric).needs_repetitions:
        raise UserError(
            f"{what} cannot be simulated",
            remedy="name a benchmark that compares averaged recordings of one set of stimuli",
        )
    return measurements


def as_recorded(assembly: DataAssembly) -> DataAssembly:
    """Recordings as presentation × neuroid; a UserError if they have several time bins."""
    return as_table(without_single_time_bin(assembly), ("presentation", "neuroid"), role="recordings")


def _score(
    measurements: VisualMeasurements, benchmark: Any, target: DataAssembly, expected: Any, measured: Any
) -> float:
    with warnings.catch_warnings(), errors_naming_data(target, benchmark.identifier):
        warnings.simplefilter("ignore")
        assert measurements.metric is not None
        raw = measurements.metric(target.copy(data=expected), target.copy(data=measured))
    return float(measurements.relate(raw, benchmark.ceiling))
