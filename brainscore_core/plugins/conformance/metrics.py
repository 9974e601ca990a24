"""Checks of metrics, and example arguments for them."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple, get_args

import numpy as np
from numpy.typing import NDArray

from brainscore_core.errors import NotApplicable, UserError
from brainscore_core.metrics import Ceiling, Meaning, Metric, Scale, Score, Uncertainty
from brainscore_core.plugins.conformance import Failed, Unusual
from brainscore_core.plugins.conformance.benchmarks import tests_load, tests_show
from brainscore_core.supported_data_standards.brainio.assemblies import (
    BehavioralAssembly,
    DataAssembly,
    NeuroidAssembly,
    walk_coords,
)

_STIMULI, _FEATURES, _NEUROIDS, _REPETITIONS, _SUBJECTS = 60, 40, 30, 4, 5
_LABELS = np.array(["cat", "dog"])


class Arguments(NamedTuple):
    """Arguments of a metric; a ceiling takes only the target."""

    source: DataAssembly | None
    target: DataAssembly


def _ids() -> list[str]:
    return [f"stimulus_{number:02d}" for number in range(_STIMULI)]


def _neural(values: NDArray[Any], prefix: str, repetitions: int = 1) -> NeuroidAssembly:
    count = values.shape[1]
    coords: dict[str, Any] = {
        "stimulus_id": ("presentation", _ids() * repetitions),
        "object_name": ("presentation", [f"object_{number % 4}" for number in range(_STIMULI)] * repetitions),
        "neuroid_id": ("neuroid", [f"{prefix}{number}" for number in range(count)]),
        "region": ("neuroid", ["IT"] * count),
    }
    if repetitions > 1:
        coords["repetition"] = ("presentation", np.repeat(np.arange(repetitions), _STIMULI))
    return NeuroidAssembly(values, coords=coords, dims=["presentation", "neuroid"])


def _recordings() -> Arguments:
    """Features, and responses that they mostly explain."""
    random = np.random.default_rng(0)
    features = random.standard_normal((_STIMULI, 6)) @ random.standard_normal((6, _FEATURES))
    features += 0.3 * random.standard_normal(features.shape)
    responses = features @ random.standard_normal((_FEATURES, _NEUROIDS)) / np.sqrt(_FEATURES)
    responses += 0.3 * random.standard_normal(responses.shape)
    return Arguments(_neural(features, "feature_"), _neural(responses, "neuroid_"))


def _repeated_target() -> Arguments:
    """Features, and responses that were recorded four times."""
    source, target = _recordings()
    if source is None:  # pragma: no cover - there is one
        raise TypeError("recordings have two sides")
    noise = 0.3 * np.random.default_rng(2).standard_normal((_REPETITIONS, *target.shape))
    return Arguments(source, _neural((target.values + noise).reshape(-1, _NEUROIDS), "neuroid_", _REPETITIONS))


def _in_time() -> Arguments:
    """Features and responses in two time bins."""
    sides = []
    for side in _recordings():
        if side is not None:
            coords: dict[Any, Any] = {name: (dims, values) for name, dims, values in walk_coords(side)}
            coords |= {"time_bin_start": ("time_bin", [70, 120]), "time_bin_end": ("time_bin", [120, 170])}
            values = np.stack([side.values, 0.5 * side.values[:, ::-1]], axis=-1)
            sides.append(NeuroidAssembly(values, coords=coords, dims=[*side.dims, "time_bin"]))
    return Arguments(*sides)


def _choices() -> Arguments:
    """Labels of a model, and of people who are right four times in five, each in trials of two conditions."""
    random = np.random.default_rng(0)
    truth = np.arange(_STIMULI) % 2
    chosen = np.where(random.random(_STIMULI) < 0.75, truth, 1 - truth)
    source = BehavioralAssembly(
        _LABELS[chosen], coords={"stimulus_id": ("presentation", _ids())}, dims=["presentation"]
    )
    truths = np.tile(truth, _SUBJECTS)
    answered = np.where(random.random(len(truths)) < 0.8, truths, 1 - truths)
    target = BehavioralAssembly(
        _LABELS[answered],
        coords={
            "stimulus_id": ("presentation", _ids() * _SUBJECTS),
            "truth": ("presentation", _LABELS[truths]),
            "subject": ("presentation", np.repeat([f"subject_{n}" for n in range(_SUBJECTS)], _STIMULI)),
            "condition": ("presentation", np.tile(["plain", "plain", "blurred", "blurred"], len(truths) // 4)),
        },
        dims=["presentation"],
    )
    return Arguments(source, target)


def _labels() -> Arguments:
    """Labels of a model, and the right ones."""
    source, trials = _choices()
    first = trials.isel(presentation=slice(0, _STIMULI))
    right = BehavioralAssembly(
        first["truth"].values,
        coords={"stimulus_id": ("presentation", first["stimulus_id"].values)},
        dims=["presentation"],
    )
    return Arguments(source, right)


def _repetitions() -> Arguments:
    """Responses that were recorded four times."""
    random = np.random.default_rng(0)
    signal = random.standard_normal((_STIMULI, _NEUROIDS))
    noise = 0.5 * random.standard_normal((_REPETITIONS, _STIMULI, _NEUROIDS))
    return Arguments(None, _neural((signal + noise).reshape(-1, _NEUROIDS), "neuroid_", _REPETITIONS))


EXAMPLES: dict[str, Callable[[], Arguments]] = {
    "recordings": _recordings,
    "recordings with repetitions": _repeated_target,
    "recordings in time": _in_time,
    "labels": _labels,
    "choices": _choices,
}
CEILING_EXAMPLES: dict[str, Callable[[], Arguments]] = {
    "repeated recordings": _repetitions,
    "choices": lambda: Arguments(None, _choices().target),
}


_SAME = 1e-6
_LEFT_OUT = 1e-3  # counting a neuroid as 0 changes a mean over neuroids by more
_REFUSALS = (UserError, ValueError, KeyError)


@dataclass(frozen=True)
class MetricUnderTest:
    """A metric, example arguments, and its score for them."""

    metric: Any
    arguments: Arguments | None
    score: Any
    refusals: tuple[str, ...]
    folder: Path | None

    @classmethod
    def of(
        cls, metric: Any, source: DataAssembly | None, target: DataAssembly | None, *, folder: Path | None
    ) -> MetricUnderTest:
        """Find example arguments that the metric accepts."""
        if target is not None:
            arguments = Arguments(source, target)
            return cls(metric, arguments, _call(metric, arguments), (), folder)
        refusals = []
        for name, make in (CEILING_EXAMPLES if isinstance(metric, Ceiling) else EXAMPLES).items():
            arguments = make()
            try:
                score = _call(metric, arguments)
            except Exception as error:  # noqa: BLE001 - after any error, the example is not accepted
                refusals.append(f"{name}: {type(error).__name__}: {_first_line(error)}")
                continue
            return cls(metric, arguments, score, (), folder)
        return cls(metric, None, None, tuple(refusals), folder)

    def changed(self, **sides: DataAssembly) -> Any:
        """Call the metric with one side replaced."""
        if self.arguments is None:
            raise NotApplicable("it was called with nothing")
        return _call(self.metric, self.arguments._replace(**sides))

    def sides(self) -> dict[str, DataAssembly]:
        """Its arguments by name."""
        if self.arguments is None:
            raise NotApplicable("no example suits it: pass source= and target=")
        return {name: side for name, side in self.arguments._asdict().items() if side is not None}


def _call(metric: Any, arguments: Arguments) -> Any:
    return metric(arguments.target) if arguments.source is None else metric(arguments.source, arguments.target)


def _first_line(error: Exception) -> str:
    return (str(error).splitlines() or [""])[0]


def _is_metric(tested: MetricUnderTest) -> None:
    metric = tested.metric
    if not isinstance(metric, Metric | Ceiling):
        raise Failed(
            f"it is a {type(metric).__name__}, neither a Metric nor a Ceiling",
            "derive it: class MyMetric(Metric), from brainscore_core.metrics",
        )
    name, allowed = ("scale", get_args(Scale)) if isinstance(metric, Metric) else ("meaning", get_args(Meaning))
    if (value := getattr(metric, name)) not in allowed:
        raise Failed(
            f"{name} is {value!r}, so it is undefined how score and ceiling are related",
            f"declare it in the class: {name} = one of {', '.join(map(repr, allowed))}",
        )


def _takes_examples(tested: MetricUnderTest) -> None:
    if tested.arguments is None:
        raise Unusual(
            "it takes none of the examples: " + "; ".join(tested.refusals),
            "pass what it takes: check_metric(metric, source=…, target=…)",
        )


def _returns_score(tested: MetricUnderTest) -> None:
    tested.sides()
    score = tested.score
    if not isinstance(score, Score):
        raise Failed(f"it returned a {type(score).__name__}", "return a Score")
    if Score.RAW_VALUES_KEY not in score.attrs:
        raise Failed("the score has no attrs['raw']", "keep the values before aggregation in attrs['raw']")
    uncertainty = Uncertainty.of(score)
    if uncertainty.error is None:
        raise Failed(
            "the score has no attrs['error']",
            "set the standard error, or call brainscore_core.metrics.declare_no_error(score, 'reason')",
        )
    if np.isnan(np.asarray(uncertainty.error, dtype=float)).all() and not uncertainty.error_reason:
        raise Failed("attrs['error'] is NaN and no reason is given", "set attrs['error_reason']")


def _repeats(tested: MetricUnderTest) -> None:
    tested.sides()
    _require_same(tested, tested.changed(), "the same arguments gave another score", "seed what is random")


def _leaves_arguments(tested: MetricUnderTest) -> None:
    sides = tested.sides()
    before = {name: side.copy(deep=True) for name, side in sides.items()}
    tested.changed()
    for name, side in sides.items():
        same_coords = all(
            np.array_equal(now[2], original[2])
            for now, original in zip(walk_coords(side), walk_coords(before[name]), strict=True)
        )
        if not np.array_equal(side.values, before[name].values) or not same_coords:
            raise Failed(f"it changed the {name} that it was given", "work on a copy: assembly.copy()")


def _order(tested: MetricUnderTest) -> None:
    for name, side in tested.sides().items():
        if "presentation" not in side.dims:
            raise NotApplicable("its arguments have no presentations")
        order = np.random.default_rng(1).permutation(side.sizes["presentation"])
        _require_same(
            tested,
            tested.changed(**{name: side.isel(presentation=order)}),
            f"with the presentations of the {name} in another order the score was another",
            "match presentations by stimulus_id, not by position, and sort them before they are divided at random",
        )


def _dimensions(tested: MetricUnderTest) -> None:
    sides = {name: side for name, side in tested.sides().items() if side.ndim > 1}
    if not sides:
        raise NotApplicable("its arguments have one dimension")
    for name, side in sides.items():
        try:
            score = tested.changed(**{name: side.transpose(*reversed(side.dims))})
        except _REFUSALS:
            continue  # a refusal is not a wrong score
        _require_same(
            tested,
            score,
            f"with the dimensions of the {name} in another order the score was another",
            "transpose both sides first: assembly.transpose('presentation', 'neuroid')",
        )


def _other_stimuli(tested: MetricUnderTest) -> None:
    sides = tested.sides()
    if "source" not in sides:
        raise NotApplicable("it compares nothing: it takes one assembly")
    source = sides["source"]
    levels = {name: (dims, values) for name, dims, values in walk_coords(source)}
    if "stimulus_id" not in levels:
        raise NotApplicable("its arguments have no stimulus_id")
    dims, values = levels["stimulus_id"]
    levels["stimulus_id"] = (dims, np.array([f"other_{value}" for value in values]))
    renamed = type(source)(source.values, coords=levels, dims=source.dims)
    try:
        tested.changed(source=renamed)
    except _REFUSALS:
        return
    except Exception as error:
        raise Failed(
            f"stimuli of the source that the target lacks raised {type(error).__name__}",
            "raise an error that names them: UserError(message, remedy)",
        ) from error
    raise Failed(
        "it compared presentations of different stimuli",
        "match presentations by stimulus_id, and raise where the two sides hold different ones",
    )


def _nan_neuroids(tested: MetricUnderTest) -> None:
    sides = {name: side for name, side in tested.sides().items() if "neuroid" in side.dims and side.dtype.kind == "f"}
    if not sides:
        raise NotApplicable("its arguments have no neuroids")
    for name, side in sides.items():
        values = np.array(side.values)
        np.moveaxis(values, side.dims.index("neuroid"), 0)[min(3, side.sizes["neuroid"] - 1)] = np.nan
        damaged = side.copy(data=values)
        try:
            score = tested.changed(**{name: damaged})
        except _REFUSALS:
            continue
        except Exception as error:
            raise Failed(
                f"a neuroid of NaN in the {name} raised {type(error).__name__}",
                "raise an error that names it: UserError(message, remedy)",
            ) from error
        value = _number(score)
        if math.isnan(value):
            continue
        remaining = np.delete(np.arange(side.sizes["neuroid"]), min(3, side.sizes["neuroid"] - 1))
        without = _number(tested.changed(**{name: side.isel(neuroid=remaining)}))
        if not abs(value - without) <= _LEFT_OUT:
            raise Failed(
                f"a neuroid of NaN in the {name} changed the score from {without:.3g} (without it) to {value:.3g}",
                "refuse NaN, or leave such neuroids out; do not count them as 0",
            )


def _number(score: Any) -> float:
    return float(np.nanmean(np.asarray(score, dtype=float))) if np.isfinite(np.asarray(score)).any() else math.nan


def _require_same(tested: MetricUnderTest, score: Any, problem: str, remedy: str) -> None:
    first, second = np.asarray(tested.score, dtype=float), np.asarray(score, dtype=float)
    if first.shape != second.shape or not np.allclose(first, second, rtol=0, atol=_SAME, equal_nan=True):
        raise Failed(f"{problem}: {_number(second):.4g} in place of {_number(first):.4g}", remedy)


CHECKS: Mapping[str, Callable[[MetricUnderTest], None]] = {
    "it is a Metric with a scale, or a Ceiling with a meaning": _is_metric,
    "it takes one of the examples": _takes_examples,
    "it returns a Score with raw and error": _returns_score,
    "it repeats": _repeats,
    "it leaves its arguments as they were": _leaves_arguments,
    "the order of presentations does not matter": _order,
    "the order of dimensions does not matter, on either side": _dimensions,
    "other stimuli are refused": _other_stimuli,
    "a neuroid of NaN never counts as 0": _nan_neuroids,
    "its tests load it": tests_load("metric"),
    "its tests know a reference score": tests_show(
        lambda tests: tests.reference,
        "no test compares a score with a number",
        "test it on arguments whose score is known: assert float(score) == pytest.approx(0.212, abs=0.005)",
    ),
}
