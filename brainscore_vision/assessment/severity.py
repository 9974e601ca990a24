"""What a score owes to stimuli that belong together."""

from __future__ import annotations

import copy
import math
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from brainscore_core.errors import UserError
from brainscore_core.metric_helpers.alignment import coord_values
from brainscore_core.metrics import Score, Uncertainty
from brainscore_core.numerics.predictions import PredictivityOfUnits, compare_predictivity
from brainscore_core.numerics.significance import student_test
from brainscore_core.supported_data_standards.brainio.assemblies import DataAssembly, NeuroidAssembly
from brainscore_vision.assessment.dependence import Order, Parts, fitted_metric
from brainscore_vision.assessment.duplicates import Duplicates
from brainscore_vision.benchmark_helpers.measurements import visual_measurements_of
from brainscore_vision.benchmark_helpers.neural_common import record, relate_to_ceiling
from brainscore_vision.model_interface import BrainModel

DUPLICATES = "duplicates"
BLOCKS = "blocks of time"
_UNITS = "audited_group"
_PLACE = "audited_place"
_FEATURES = 200
_OF_GROUP = 0.1
_DRAWS = 8
_SMOOTHED = 2.0
_GAP = 10
_BLOCKS = 10
_FEWEST_TRAINING = 10

Codes = NDArray[np.intp]
Array = NDArray[np.float64]


@dataclass(frozen=True)
class Loss:
    """How much a score decreases when stimuli that belong together stay on one side of splits.

    Attributes
    ----------
    rule : str
        What stays together: ``'duplicates'``, a coordinate, or ``'blocks of time'``.
    model : str
        The scored model; ``'unrelated features'`` only identify the group of a stimulus (for blocks: vary slowly over
        time), and numbers are means over 8 draws of them; ``'pixels'`` are 16 × 16 grey levels.
    default, grouped : float or None
        Metric's value by the benchmark's own splits, and with groups kept together, before the ceiling.
    default_ci, grouped_ci : (float, float) or None
        Their 95 % intervals: of unrelated features over draws of them; else over new groups of stimuli and neuroids.
    score, grouped_score : float or None
        The same relative to the ceiling, not clamped.
    loss : float or None
        `default` − `grouped`.
    ci : (float, float) or None
        95 % interval of `loss`, paired: over draws of unrelated features; else over groups and neuroids.
    p : float or None
        Two-sided p-value of the paired test.
    reason : str or None
        Why a number is missing.
    """

    rule: str
    model: str
    default: float | None = None
    grouped: float | None = None
    default_ci: tuple[float, float] | None = None
    grouped_ci: tuple[float, float] | None = None
    score: float | None = None
    grouped_score: float | None = None
    loss: float | None = None
    ci: tuple[float, float] | None = None
    p: float | None = None
    reason: str | None = None


def find_losses(
    parts: Parts,
    table: pd.DataFrame,
    rules: Mapping[str, Codes],
    duplicates: Duplicates,
    order: Order | None,
    model: BrainModel | None,
    seed: int,
) -> Iterator[Loss]:
    """Score each rule by the benchmark's splits and with its groups on one side; by a model or by baseline models."""
    rng = np.random.default_rng(seed)
    recorded = None if model is None else record(model, visual_measurements_of(parts.benchmark), parts.recordings)
    for rule, codes in rules.items():
        positions = None
        if rule == BLOCKS and order is not None:
            positions = order.place[pd.Index(order.ids).get_indexer(table["stimulus_id"])]
        both = partial(_both, parts, table, codes, positions)
        if recorded is not None:
            yield _loss(parts, rule, str(getattr(model, "identifier", "model")), both, recorded)
            continue
        yield _loss_of_unrelated(parts, table, rule, codes, positions, both, rng)
        if duplicates.pixels is not None and np.isfinite(duplicates.pixels).all():
            pixels = duplicates.pixels.astype(np.float64)
            pixels = (pixels - pixels.mean(axis=0)) / np.maximum(pixels.std(axis=0), 1e-6)
            yield _loss(parts, rule, "pixels", both, _as_recordings(parts, table, pixels))


def blocks_of_time(table: pd.DataFrame, order: Order) -> Codes:
    """Ten blocks of successive stimuli."""
    positions = order.place[pd.Index(order.ids).get_indexer(table["stimulus_id"])]
    ranks = np.argsort(np.argsort(positions, kind="stable"))
    return np.asarray(ranks * _BLOCKS // len(table), dtype=np.intp)


def _unrelated(table: pd.DataFrame, codes: Codes, place: Codes | None, rng: np.random.Generator) -> Array:
    """Features that identify the group of a stimulus, or vary slowly over time."""
    if place is not None:
        from scipy.ndimage import gaussian_filter1d

        noise = rng.standard_normal((int(place.max()) + 1, _FEATURES))
        return np.asarray(gaussian_filter1d(noise, _SMOOTHED, axis=0)[place] * 2 * math.sqrt(_SMOOTHED))
    features = rng.standard_normal((int(codes.max()) + 1, _FEATURES))[codes]
    features = features + _OF_GROUP * rng.standard_normal(features.shape)
    # the same for the same stimulus, also if it is in training and test recordings
    distinct, first = np.unique(table["stimulus_id"].to_numpy(), return_index=True)
    return np.asarray(features[first[np.searchsorted(distinct, table["stimulus_id"].to_numpy())]])


def _as_recordings(parts: Parts, table: pd.DataFrame, features: Array) -> list[DataAssembly]:
    result: list[DataAssembly] = []
    for number, recordings in enumerate(parts.recordings):
        rows = np.flatnonzero(table["part"] == number)
        ids = table["stimulus_id"].to_numpy()[rows]
        coords: dict[str, Any] = {
            "stimulus_id": ("presentation", ids),
            "neuroid_id": ("neuroid", np.arange(features.shape[1])),
        }
        if "object_name" in recordings.coords and "object_name" in table:
            coords["object_name"] = ("presentation", table["object_name"].to_numpy()[rows])
        result.append(NeuroidAssembly(features[rows], coords=coords, dims=["presentation", "neuroid"]))
    return result


def _loss(parts: Parts, rule: str, model: str, both: Callable[..., Any], sources: Sequence[DataAssembly]) -> Loss:
    try:
        default, grouped = both(sources)
    except UserError as error:
        return Loss(rule, model, reason=error.message)
    numbers: dict[str, Any] = {
        "default": _number(default),
        "grouped": _number(grouped),
        "default_ci": _limits(*Uncertainty.of(default).limits),
        "grouped_ci": _limits(*Uncertainty.of(grouped).limits),
        "score": _relative(default, parts.benchmark),
        "grouped_score": _relative(grouped, parts.benchmark),
    }
    if numbers["default"] is None or numbers["grouped"] is None:
        return Loss(rule, model, **numbers, reason="a score is undefined")
    numbers["loss"] = numbers["default"] - numbers["grouped"]
    ours, theirs = (Uncertainty.of(score).predictivity for score in (default, grouped))
    if isinstance(ours, PredictivityOfUnits) and isinstance(theirs, PredictivityOfUnits):
        matched = theirs.in_order(ours.stimuli, ours.neuroids)
        if matched is not None:
            test = compare_predictivity(ours.found, matched.found, clusters=ours.clusters)
            ci = _limits(test.low, test.high)
            return Loss(rule, model, **numbers, ci=ci, p=_number(test.p), reason=test.reason)
    return Loss(rule, model, **numbers, reason="there are too few test stimuli in a split for an interval")


def _loss_of_unrelated(
    parts: Parts,
    table: pd.DataFrame,
    rule: str,
    codes: Codes,
    place: Codes | None,
    both: Callable[..., Any],
    rng: np.random.Generator,
) -> Loss:
    """Mean over several draws of unrelated features; how it varies over them gives the interval."""
    model, drawn = "unrelated features", []
    for _ in range(_DRAWS):
        try:
            drawn.append(both(_as_recordings(parts, table, _unrelated(table, codes, place, rng))))
        except UserError as error:
            return Loss(rule, model, reason=error.message)
    values = np.array([[float(score) for score in pair] for pair in drawn])
    if not np.isfinite(values).all():
        return Loss(rule, model, reason="a score is undefined")
    relative = [[_relative(score, parts.benchmark) for score in pair] for pair in drawn]
    ceiled = [None if None in side else float(np.mean(side)) for side in zip(*relative, strict=True)]
    numbers: dict[str, Any] = {}
    for name, side in (("default", values[:, 0]), ("grouped", values[:, 1]), ("loss", values[:, 0] - values[:, 1])):
        test = student_test(float(side.mean()), float(side.var(ddof=1)) / _DRAWS, _DRAWS - 1)
        numbers |= {name: test.difference, "ci" if name == "loss" else f"{name}_ci": _limits(test.low, test.high)}
    numbers |= {"score": ceiled[0], "grouped_score": ceiled[1]}
    return Loss(rule, model, **numbers, p=_number(test.p), reason=test.reason)


def _both(
    parts: Parts, table: pd.DataFrame, codes: Codes, place: Codes | None, sources: Sequence[DataAssembly]
) -> tuple[Score, Score]:
    """Scores by the benchmark's own splits, and with groups on one side."""
    metric = copy.copy(fitted_metric(parts.benchmark))
    if hasattr(metric, "stimulus_groups"):
        metric.stimulus_groups = _UNITS
    targets = []
    for number, recordings in enumerate(parts.recordings):
        rows_of_part = np.flatnonzero(table["part"].to_numpy() == number)
        row = rows_of_part[_rows(table["stimulus_id"].to_numpy()[rows_of_part], recordings)]
        targets.append(recordings.assign_coords({_UNITS: ("presentation", codes[row])}))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        if len(targets) == 1:
            source = sources[0]
            default = metric(source, targets[0])
            if place is not None:
                row = _rows(table["stimulus_id"], source)
                source = source.assign_coords({_PLACE: ("presentation", place[row])})
            metric.cross_validation = metric.cross_validation.by_groups(
                _UNITS,
                groups=len(np.unique(codes)),
                stimuli=len(codes),
                preprocess_indices=None if place is None else _without_neighbours,
            )
            return default, metric(source, targets[0])
        unshared = np.flatnonzero(~np.isin(targets[1][_UNITS].values, targets[0][_UNITS].values))
        if len(unshared) < _FEWEST_TRAINING:
            raise UserError(f"only {len(unshared)} training stimuli share no group with test stimuli", remedy="")
        scores = []
        for rows in (np.arange(targets[1].sizes["presentation"]), unshared):
            training = targets[1].isel(presentation=rows)
            scores.append(
                metric(
                    source_train=sources[1].isel(
                        presentation=_rows(coord_values(sources[1], "stimulus_id", role="features"), training)
                    ),
                    source_test=sources[0],
                    target_train=training,
                    target_test=targets[0],
                )
            )
    return scores[0], scores[1]


def _rows(ids: Any, assembly: DataAssembly) -> Codes:
    """Position among the ids of each presentation's stimulus."""
    stimuli = coord_values(assembly, "stimulus_id", role="recordings")
    return np.asarray(pd.Index(ids).get_indexer(stimuli), dtype=np.intp)


def _without_neighbours(train: Codes, test: Codes, source: DataAssembly) -> tuple[Codes, Codes]:
    """Training stimuli that were not presented shortly before or after a test stimulus."""
    positions = source[_PLACE].values
    tested = np.sort(positions[test])
    after = np.searchsorted(tested, positions[train])
    distance = np.minimum(
        np.abs(positions[train] - tested[np.maximum(after - 1, 0)]),
        np.abs(positions[train] - tested[np.minimum(after, len(tested) - 1)]),
    )
    return train[distance > _GAP], test


def _relative(score: Score, benchmark: Any) -> float | None:
    try:
        return _number(relate_to_ceiling(score, benchmark.ceiling))
    except UserError:
        return None


def _number(score: Any) -> float | None:
    value = float(score) if np.size(score) == 1 else math.nan
    return value if math.isfinite(value) else None


def _limits(low: Any, high: Any) -> tuple[float, float] | None:
    low, high = float(low), float(high)
    return (low, high) if math.isfinite(low) and math.isfinite(high) else None
