"""Baseline models of a benchmark: simple features, and features that have nothing to do with the stimuli."""

import math
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass, replace
from tempfile import TemporaryFile
from typing import TYPE_CHECKING, Any, Final, Literal

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from brainscore_core.errors import NotApplicable, UserError
from brainscore_core.formatting import estimate_text, number_text, p_text, range_text
from brainscore_core.lazy import content_of
from brainscore_core.metrics import Score, Uncertainty, unclamped_value
from brainscore_core.plurals import counted, plural
from brainscore_core.populations import condition_of_benchmark
from brainscore_core.progress import stage
from brainscore_core.statistics.comparison import compare_scores
from brainscore_core.strict_json import plain
from brainscore_core.supported_data_standards.brainio.assemblies import NeuroidAssembly
from brainscore_core.supported_data_standards.brainio.stimuli import StimulusSet
from brainscore_vision.assessment.baselines import (
    FEWEST,
    NO_LABELS,
    Features,
    channels_last,
    code_features,
    colour_features,
    gabor_features,
    initial_weights,
    labels_of,
    network_of,
    other_weights,
    pixel_features,
    shuffle_groups,
    time_features,
)
from brainscore_vision.benchmark_helpers.measurements import VisualMeasurements, visual_measurements_of
from brainscore_vision.benchmark_helpers.precomputed import PrecomputedFeatures, ReplayingModel
from brainscore_vision.model_interface import BrainModel

if TYPE_CHECKING:
    from brainscore_core.benchmarks import Benchmark

_LEVEL: Final = 0.95
_ROWS: Final = 16  # stimuli whose features are copied together

Kind = Literal["baseline", "artefact check"]


@dataclass(frozen=True, kw_only=True)
class Difference:
    """Paired difference between the score of a model and that of a baseline model.

    Attributes
    ----------
    value : float
        Model minus baseline model, before scores are clamped to [0, 1].
    ci : (float, float) or None
        95 % interval.
    p : float or None
        One-sided p-value of the hypothesis that the model is not better than the baseline model.
    units : str or None
        What was resampled, and how many.
    condition : str
        For which few subjects or groups alone it holds.
    reason : str or None
        Why there is no interval or p-value.
    notes : tuple of str
        Further remarks of :func:`~brainscore_core.statistics.comparison.compare_scores`.
    """

    value: float
    ci: tuple[float, float] | None = None
    p: float | None = None
    units: str | None = None
    condition: str = ""
    reason: str | None = None
    notes: tuple[str, ...] = ()


@dataclass(frozen=True, kw_only=True)
class Control:
    """Score of one baseline model.

    Attributes
    ----------
    name : str
        Name, unique within a benchmark.
    kind : {'baseline', 'artefact check'}
        Baselines describe the stimuli in a simple way. Features of artefact checks have nothing to do with what is in
        the stimuli.
    description : str
        What the features are.
    features : int or None
        Number of features.
    scale : float or None
        Total standard deviation of its features over the first stimuli that the benchmark shows: the root of the summed
        variances.
    score : float or None
        Score relative to the ceiling, before it is clamped to [0, 1].
    ci : (float, float) or None
        95 % interval of the score.
    difference : Difference or None
        Model minus baseline model; None without a model.
    reason : str or None
        Why there is no score, no interval, or no difference.
    """

    name: str
    kind: Kind
    description: str
    features: int | None = None
    scale: float | None = None
    score: float | None = None
    ci: tuple[float, float] | None = None
    difference: Difference | None = None
    reason: str | None = None

    @property
    def surpassed(self) -> bool | None:
        """Whether the model is significantly better at the 5 % level, one-sided; None if this was not tested."""
        if self.difference is None or self.difference.p is None:
            return None
        return self.difference.p <= 1 - _LEVEL


@dataclass(frozen=True, kw_only=True)
class Controls:
    """Baseline models of a benchmark, and a model beside them.

    Attributes
    ----------
    benchmark : str
        Identifier.
    controls : tuple of Control
        Baselines, then artefact checks; also those that could not be scored, with the reason.
    model : str or None
        Identifier of the model.
    score : float or None
        Its score relative to the ceiling, before it is clamped to [0, 1].
    ci : (float, float) or None
        95 % interval of its score.
    scale : float or None
        Total standard deviation of its features; features of all baseline models are multiplied to have the same.
    reason : str or None
        Why the model has no score or no interval.

    Examples
    --------
    >>> better = Difference(value=0.1, p=0.01)
    >>> pixels = Control(name="pixels", kind="baseline", description="", score=0.2, difference=better)
    >>> time = Control(name="time codes", kind="artefact check", description="", reason="the order is not known")
    >>> controls = Controls(benchmark="Author2024.IT-pls", controls=(pixels, time), model="mine", score=0.3)
    >>> controls.above(), controls.p_above(), controls.best.name
    (True, 0.01, 'pixels')
    """

    benchmark: str
    controls: tuple[Control, ...]
    model: str | None = None
    score: float | None = None
    ci: tuple[float, float] | None = None
    scale: float | None = None
    reason: str | None = None

    @property
    def scored(self) -> tuple[Control, ...]:
        """Baseline models with a score."""
        return tuple(control for control in self.controls if control.score is not None)

    @property
    def best(self) -> Control | None:
        """The baseline model with the highest score; None if no baseline model has a score."""
        return max(self.scored, key=lambda control: control.score or 0.0, default=None)

    def p_above(self, kind: Kind | None = None) -> float | None:
        """p-value of the hypothesis that the model is not better than every baseline model, or every one of a kind.

        The largest of the one-sided p-values (intersection–union test); None if a baseline model was not tested, or
        there is none.
        """
        of_kind = [control for control in self.scored if kind is None or control.kind == kind]
        values = [None if control.difference is None else control.difference.p for control in of_kind]
        p_values = [value for value in values if value is not None]
        return max(p_values) if p_values and len(p_values) == len(values) else None

    def above(self, kind: Kind | None = None) -> bool | None:
        """Whether the model is significantly better than every baseline model, or every one of a kind.

        True if every one-sided test of a baseline model with a score is significant at 5 %; False if one is not; None
        if this is not known, or there is no baseline model.
        """
        surpassed = [control.surpassed for control in self.scored if kind is None or control.kind == kind]
        if False in surpassed:
            return False
        return None if None in surpassed or not surpassed else True

    def to_dict(self) -> dict[str, Any]:
        """All values as JSON types, with those that follow from the tests."""
        difference = None if self.best is None else self.best.difference
        return {
            **plain(asdict(self)),
            "best": None if self.best is None else self.best.name,
            "difference_to_best": None if difference is None else plain(asdict(difference)),
            "above_all_controls": self.above(),
            "above_all_baselines": self.above("baseline"),
            "above_all_artefact_checks": self.above("artefact check"),
            "p_above_all_controls": self.p_above(),
        }

    def text(self) -> str:
        """Text for a terminal."""
        lines = [f"Baseline models of {self.benchmark} (relative to the ceiling, before clamping; 95 % intervals)"]
        if self.model is not None:
            lines.append(f"{self.model}: {estimate_text(self.score, ci=self.ci, brief=True)}")
        titles: dict[Kind, str] = {
            "baseline": "Baselines: would something simpler score the same?",
            "artefact check": "Artefact checks: does the score come from something other than the stimuli?",
        }
        width = max((len(control.name) for control in self.controls), default=0)
        for kind, title in titles.items():
            lines += ["", title]
            lines += [_line(control, width) for control in self.controls if control.kind == kind]
        return "\n".join([*lines, *(["", *self._conclusions()] if self.model is not None else [])])

    def figure(self) -> str:
        """Scores and intervals as an SVG file."""
        from brainscore_core.figures import Dots, DotsRow, dots_with_intervals, standalone

        def row(label: str, score: float | None, ci: tuple[float, float] | None, kind: int) -> DotsRow:
            if score is None:
                return DotsRow(label=label, text="not scored", kind=kind)
            low, high = ci or (math.nan, math.nan)
            return DotsRow(label=label, value=score, low=low, high=high, text=number_text(score), kind=kind)

        of_model = [] if self.model is None else [row(self.model, self.score, self.ci, 0)]
        kinds = ("baseline", "artefact check")
        of_controls = [row(each.name, each.score, each.ci, 1 + kinds.index(each.kind)) for each in self.controls]
        chart = Dots(
            rows=[*of_model, *of_controls],
            title=f"Baseline models of {self.benchmark}",
            x_title="score relative to the ceiling, with 95 % interval",
            kinds=("model", *kinds),
            reference=0.0,
        )
        return standalone(dots_with_intervals(chart))

    def _conclusions(self) -> list[str]:
        best = self.best
        differences = [each.difference for each in self.controls if each.difference is not None]
        holds_for = condition_of_benchmark(each.condition for each in differences if each.p is not None)
        lines = [f"Tests hold for {holds_for}."] if holds_for else []
        if best is not None and best.difference is not None:
            difference = _difference_text(best.difference)
            lines.append(f"Best baseline model: {best.name}; {self.model} − {best.name} {difference}")
        if self.above():
            controls, p = counted(len(self.scored), "baseline model"), p_text(self.p_above())
            return [*lines, f"{self.model} is above all {controls} ({p}; each test is one-sided at 5 %)."]
        for kind, meaning in (
            ("baseline", "This does not make the score invalid: so simple a description scores as well."),
            ("artefact check", "The score may come from something other than what is in the stimuli."),
        ):
            of_kind = [control for control in self.scored if control.kind == kind]
            below = [control.name for control in of_kind if control.surpassed is False]
            untested = [control.name for control in of_kind if control.surpassed is None]
            if below:
                lines.append(
                    f"{self.model} is not above {_list(below)} ({plural(kind) if len(below) > 1 else kind}). {meaning}"
                )
            if untested:
                lines.append(f"{self.model} was not tested against {_list(untested)}.")
        return lines


def score_controls(benchmark: "str | Benchmark", *, model: Any = None, seeds: Sequence[int] = (0, 1)) -> Controls:
    """Score simple features, and features that have nothing to do with the stimuli, in the place of a model.

    Parameters
    ----------
    benchmark : str or Benchmark
        A benchmark that records responses to images.
    model : str, BrainModel, torch.nn.Module, callable or Score, optional
        The model to compare with the baseline models, as for :func:`brainscore_vision.score`; or its score on this
        benchmark, from which there are no untrained twins, and no model features to shuffle.
    seeds : sequence of int
        Seeds of the untrained twins; the first is also that of the shuffle.

    Returns
    -------
    Controls
        All scores with intervals; with a model, the paired difference to each baseline model.

    Raises
    ------
    UserError
        If the benchmark does not record responses, does not say what it measures, or `seeds` is empty.
    Exception
        Any error of the benchmark with the model.

    Notes
    -----
    *Baselines.* ``pixels``: 16 × 16 means of red, green and blue. ``gabor``: amplitudes of Gabor filters of 6
    orientations and 4 frequencies (4 to 32 cycles per image) at 8 × 8 positions. ``colour and luminance``: moments
    of luminance, of two colour axes and of saturation, and percentiles of luminance; standardised over stimuli.
    ``labels``: orthogonal codes of the columns :data:`LABELS` that occur, and of the coordinate that groups splits, if
    their values are shared by two stimuli on average. ``untrained, seed …``: the model itself with initial weights.
    They are drawn as by ``<model>-untrained`` if that is registered, else as the constructor of the network draws them;
    see :func:`~brainscore_vision.assessment.baselines.initial_weights`.

    *Screen.* Beside a model, baseline models see its screen: stimuli at its visual angle. Without a model, the screen
    is as wide as the benchmark's stimuli; 8° where these have no visual angle, or several.

    *Scale.* Metrics with a penalty give the same features another score in other units. Beside a model, the features of
    each baseline model are therefore multiplied so that their total standard deviation is that of the model's features.

    *Artefact checks.* ``time codes``: Gaussian functions of the presentation's rank in time, within each session, as
    in the null model of [1]_, averaged over repetitions; where recordings have ``presentation_time`` or ``trial``.
    ``shuffled groups``: features of the model (of the Gabor filters, without one) with every group of stimuli given
    those of another group. They tell groups apart and nothing else, so that their score needs stimuli of the same
    group on both sides of a split.

    *Test.* A model is above all baseline models if each paired one-sided test is significant at 5 %. No correction is
    needed: the hypothesis that it is not above at least one of them is rejected only if all are (intersection–union
    test [2]_). Baseline models without a score are left out, with the reason.

    References
    ----------
    .. [1] Feghhi et al. (2024). What Are Large Language Models Mapping to in the Brain? A Case Against Over-Reliance on
           Brain Scores. https://doi.org/10.48550/arXiv.2406.01538
    .. [2] Berger (1982). Multiparameter hypothesis testing and acceptance sampling. Technometrics 24, 295–300.
           https://doi.org/10.2307/1267823

    Examples
    --------
    >>> controls = score_controls("Simulated2026.V1-rdm")  # doctest: +SKIP
    >>> controls.best.name  # doctest: +SKIP
    'gabor'
    """
    if not seeds:
        raise UserError("no seed was given", remedy="pass at least one, such as seeds=(0,)")
    with stage(f"baseline models of {benchmark if isinstance(benchmark, str) else benchmark.identifier}"):
        if isinstance(benchmark, str):
            from brainscore_vision.registries import load_benchmark

            benchmark = load_benchmark(benchmark)
        if model is None or isinstance(model, Score):
            return _Scoring(benchmark, seeds).controls(score=model)
        from brainscore_core.domains import domain
        from brainscore_core.runner.scoring import ScoredModel

        with ScoredModel(domain("vision"), model) as scored:
            return _Scoring(benchmark, seeds).controls(scored.load(), name=scored.name)


class _Scoring:
    """Scores the baseline models of a benchmark, one after the other."""

    def __init__(self, benchmark: Any, seeds: Sequence[int]) -> None:
        self._benchmark = benchmark
        self._seeds = tuple(seeds)
        self._measurements = visual_measurements_of(benchmark)
        self._degrees = self._measurements.screen_degrees
        self._model_score: Score | None = None
        self._model_name = "the model"
        self._scale: float | None = None  # of the model's features

    def controls(self, model: Any = None, *, name: str | None = None, score: Score | None = None) -> Controls:
        """All baseline models, beside a model or a score."""
        if model is not None:
            self._degrees = float(model.visual_degrees())
        recorded = _Recorder(_FeatureModel("pixels", pixel_features, self._degrees))
        try:
            pixels = _attempt(self._benchmark, recorded)
        except NotApplicable as error:
            raise self._unsuited(str(error)) from error
        if not recorded.shown:
            raise self._unsuited("it shows no stimuli")
        stimuli = _table_of(recorded.shown)
        source = None
        if model is not None:
            source = _Recorder(model)
            score = self._benchmark(source)
            self._scale = source.scale
        if score is not None:
            self._model_score = score
            self._model_name = name or str(score.attrs.get("model_identifier", "the model"))
        coordinates = _coordinates(self._measurements)
        labels = labels_of(stimuli, coordinates, getattr(self._measurements.splits, "group_coord", None))
        coded = f"orthogonal codes of {_list(list(labels)) or 'labels'}"
        timed = "smooth functions of presentation time"
        if self._scale is not None:
            recorded = self._recorder(_FeatureModel("pixels", pixel_features, self._degrees))
            pixels = _attempt(self._benchmark, recorded)
        controls = [
            self._control("pixels", "baseline", "16 × 16 pixels in colour", pixels, recorded),
            self._scored("gabor", "baseline", "amplitudes of Gabor filters", lambda: gabor_features),
            self._scored(
                "colour and luminance",
                "baseline",
                "statistics of colour and luminance",
                lambda: colour_features(stimuli),
            ),
            self._scored("labels", "baseline", coded, lambda: code_features(labels)),
            *self._twins(model, self._model_name),
            self._scored("time codes", "artefact check", timed, lambda: time_features(coordinates, stimuli)),
            self._shuffled(labels, source),
        ]
        value, ci = (None, None) if score is None else _numbers(score)
        return Controls(
            benchmark=str(self._benchmark.identifier),
            controls=tuple(controls),
            model=None if score is None else self._model_name,
            score=value,
            ci=ci,
            scale=self._scale,
            reason=None if score is None else _reason(score),
        )

    def _unsuited(self, why: str) -> UserError:
        return UserError(
            f"baseline models of {self._benchmark.identifier!r} cannot be scored: {why}",
            remedy="name a benchmark that records responses to images, such as MajajHong2015public.IT-pls",
        )

    def _scored(self, name: str, kind: Kind, description: str, make: Callable[[], Features]) -> Control:
        """Score features; the function that makes them raises a UserError if there are none."""
        try:
            candidate = self._recorder(_FeatureModel(name, make(), self._degrees))
        except UserError as error:
            return Control(name=name, kind=kind, description=description, reason=error.message)
        return self._control(name, kind, description, _attempt(self._benchmark, candidate), candidate)

    def _recorder(self, model: Any) -> "_Recorder":
        """Records a baseline model, with features on the scale of the model's."""
        return _Recorder(model, scale=self._scale)

    def _control(self, name: str, kind: Kind, description: str, score: Score | str, recorded: "_Recorder") -> Control:
        control = Control(
            name=name, kind=kind, description=description, features=recorded.features, scale=recorded.scale
        )
        if isinstance(score, str):
            return replace(control, reason=score)
        value, ci = _numbers(score)
        control = replace(control, score=value, ci=ci, reason=_reason(score))
        if self._model_score is None or value is None:
            return control
        try:
            comparison = compare_scores(self._model_score, score, names=(self._model_name, name))
        except UserError as error:
            return replace(control, reason=error.message)
        if comparison.difference is None:
            return replace(control, reason=comparison.reason)
        p = comparison.p
        if p is not None:
            p = p / 2 if comparison.difference > 0 else 1 - p / 2
        shared = {name: getattr(comparison, name) for name in ("ci", "units", "condition", "reason", "notes")}
        return replace(control, difference=Difference(value=comparison.difference, p=p, **shared))

    def _twins(self, model: Any, name: str) -> Iterator[Control]:
        described = f"{name if model is not None else 'the model'} with initial weights"
        for seed in self._seeds:
            try:
                if model is None:
                    raise UserError("no model was given")
                network = network_of(model, name)
                weights = initial_weights(network, name, seed)
            except UserError as error:
                yield Control(name="untrained", kind="baseline", description=described, reason=error.message)
                return
            recorder = self._recorder(model)
            with other_weights(network, weights):
                try:
                    with channels_last(network):
                        score = _attempt(self._benchmark, recorder)
                except RuntimeError:  # its layers rely on the usual order in memory
                    recorder = self._recorder(model)
                    score = _attempt(self._benchmark, recorder)
            scales = ""
            if recorder.scale is not None and self._scale is not None:
                scales = (
                    f"; total standard deviation of its features {recorder.scale:.2g}, of the model's {self._scale:.2g}"
                )
            yield self._control(f"untrained, seed {seed}", "baseline", described + scales, score, recorder)

    def _shuffled(self, labels: Mapping[str, pd.Series], source: "_Recorder | None") -> Control:
        of = "the Gabor filters" if source is None else self._model_name
        about: Any = {"name": "shuffled groups", "kind": "artefact check"}
        if not labels:
            description = f"features of {of}, those of each group given to another"
            return Control(**about, description=description, reason=NO_LABELS)
        coordinate, groups = next(iter(labels.items()))
        shown = _FeatureModel("gabor", gabor_features, self._degrees) if source is None else source.replay()
        candidate = _Recorder(shown, scale=self._scale, shuffled=groups, seed=self._seeds[0])
        score = _attempt(self._benchmark, candidate)
        description = f"features of {of}, those of each {coordinate} given to another"
        return self._control(**about, description=description, score=score, recorded=candidate)


class _FeatureModel(ReplayingModel):
    """A model whose recordings of any region are a function of the stimuli."""

    def __init__(self, identifier: str, features: Features, visual_degrees: float) -> None:
        super().__init__(identifier, visual_degrees)
        self._features = features
        self._time_bins: Sequence[tuple[int, int]] | None = None
        self.number: int | None = None

    def start_task(self, task: str, fitting_stimuli: Any = None) -> None:
        """Not applicable, except `passive`."""
        if task != BrainModel.Task.passive:
            raise NotApplicable("it measures behaviour, which features alone do not have")

    def start_recording(
        self, recording_target: str, time_bins: Sequence[tuple[int, int]] | None = None, **kwargs: Any
    ) -> None:
        """Return features from now on."""
        self._time_bins = time_bins

    def look_at(
        self, stimuli: StimulusSet, number_of_trials: int = 1, require_variance: bool = False
    ) -> NeuroidAssembly:
        """Features of the stimuli, the same in each time bin."""
        from brainscore_vision.model_helpers.brain_transformation.temporal import in_time_bins

        values = self._features(stimuli)
        self.number = values.shape[1]
        # copies change no fit and no geometry; PLS refuses fewer features than components
        values = np.tile(values, (1, math.ceil(FEWEST / self.number)))
        coords: dict[str, Any] = {str(name): ("presentation", stimuli[name].to_numpy()) for name in stimuli.columns}
        coords["neuroid_id"] = ("neuroid", np.arange(values.shape[1]))
        coords["region"] = ("neuroid", np.full(values.shape[1], "feature"))
        recordings = NeuroidAssembly(values, coords=coords, dims=["presentation", "neuroid"])
        return in_time_bins(recordings, self._time_bins)


class _Recorder:
    """Hands everything to a model, and keeps what was shown to it and recorded from it.

    `scale` is the total standard deviation that its features get over the first stimuli; by default they are not
    multiplied. The attribute ``scale`` is that of the features as recorded; None before. `shuffled`, the group of each
    stimulus, exchanges the responses to each group for those to another one, which `seed` draws.
    """

    def __init__(
        self, model: Any, *, scale: float | None = None, shuffled: "pd.Series | None" = None, seed: int = 0
    ) -> None:
        self._model = model
        self._wanted = scale
        self._groups, self._seed = shuffled, seed
        self._factor = 1.0
        self.scale: float | None = None
        self.shown: list[StimulusSet] = []
        self._recorded: list[Any] = []

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        return getattr(self._model, name)

    @property
    def features(self) -> int | None:
        """Number of recorded features; None if nothing was recorded."""
        if isinstance(self._model, _FeatureModel):
            return self._model.number
        return int(self._recorded[0].sizes["neuroid"]) if self._recorded else None

    def look_at(self, stimuli: StimulusSet, *args: Any, **kwargs: Any) -> Any:
        """Show the stimuli to the model."""
        self.shown.append(stimuli)
        recorded = self._model.look_at(stimuli, *args, **kwargs)
        if self._groups is not None:
            rows = shuffle_groups(self._groups.loc[recorded["stimulus_id"].values].to_numpy(), seed=self._seed)
            axis = recorded.get_axis_num("presentation")
            recorded = recorded.copy(data=_taken(recorded.values, rows, axis=axis))
        if self.scale is None and getattr(recorded, "dims", ())[:1] == ("presentation",):
            self.scale = _total_deviation(recorded.values)
            if self._wanted and self.scale and math.isfinite(self._wanted / self.scale):
                self._factor = self._wanted / self.scale
        if not math.isclose(self._factor, 1, rel_tol=1e-6):
            recorded = recorded.copy(data=_multiplied(recorded.values, self._factor))
        self._recorded.append(recorded)
        return recorded

    def replay(self) -> BrainModel:
        """A model that repeats the recordings, without the model."""
        sets = {str(stimuli.identifier): recorded for stimuli, recorded in zip(self.shown, self._recorded, strict=True)}
        return PrecomputedFeatures(sets, visual_degrees=self.visual_degrees(), identifier=self.identifier)


def _taken(values: NDArray[Any], rows: NDArray[np.intp], *, axis: int) -> NDArray[Any]:
    """Values of some rows; those of a memory map are copied into a temporary file, not into memory."""
    if axis != 0 or not _in_file(values):
        return np.take(values, rows, axis=axis)
    result = _temporary((len(rows), *values.shape[1:]), values.dtype)
    for start in range(0, len(rows), _ROWS):
        result[start : start + _ROWS] = values[rows[start : start + _ROWS]]
    return result


def _multiplied(values: NDArray[Any], factor: float) -> NDArray[Any]:
    """Values times a factor, as floating-point numbers; in a temporary file as by :func:`_taken`."""
    dtype = np.result_type(values.dtype, np.float32)
    result = _temporary(values.shape, dtype) if _in_file(values) else np.empty(values.shape, dtype)
    for start in range(0, len(values), _ROWS):
        np.multiply(values[start : start + _ROWS], factor, out=result[start : start + _ROWS], casting="same_kind")
    return result


def _total_deviation(values: NDArray[Any]) -> float:
    """Root of the summed variances of all columns, over rows."""
    total, squares = np.zeros(values.shape[1:]), 0.0
    for start in range(0, len(values), _ROWS):
        block = np.subtract(values[start : start + _ROWS], values[0], dtype=np.float64)
        total += block.sum(axis=0)
        squares += float(np.square(block).sum())
    number = len(values)
    return math.sqrt(max(squares / number - float(np.square(total / number).sum()), 0.0))


def _in_file(values: NDArray[Any]) -> bool:
    """Whether values are those of a memory map."""
    base: Any = values
    while isinstance(base, np.ndarray) and not isinstance(base, np.memmap):
        base = base.base
    return isinstance(base, np.memmap)


def _temporary(shape: tuple[int, ...], dtype: np.dtype[Any]) -> NDArray[Any]:
    with TemporaryFile(prefix="brainscore-") as file:  # it stays until the array is not needed any more
        return np.memmap(file, dtype=dtype, mode="w+", shape=shape)


def _attempt(benchmark: Any, candidate: _Recorder) -> Score | str:
    """Score of a candidate, or why there is none."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # about features that depend linearly on each other, and the like
            score: Score = benchmark(candidate)
    except (UserError, ValueError) as error:
        if not candidate.shown:  # the benchmark itself fails
            raise
        return str(getattr(error, "message", error))
    return score


def _numbers(score: Score) -> tuple[float | None, tuple[float, float] | None]:
    value, limits = unclamped_value(score), Uncertainty.of(score).unclamped_limits
    if math.isnan(value):
        return None, None
    return value, None if any(map(math.isnan, limits)) else limits


def _reason(score: Score) -> str | None:
    value, ci = _numbers(score)
    if ci is not None:
        return None
    uncertainty = Uncertainty.of(score)
    reason = uncertainty.ci_reason or uncertainty.error_reason
    default = "the score is undefined" if value is None else "the benchmark gives no interval"
    return str(reason or default)


def _table_of(shown: Sequence[StimulusSet]) -> pd.DataFrame:
    """Columns of all stimuli that were shown, by identifier, with their files as ``_file``."""
    tables = []
    for stimuli in shown:
        columns = pd.DataFrame({str(name): stimuli[name].to_numpy() for name in stimuli.columns})
        columns["_file"] = [str(stimuli.get_stimulus(name)) for name in stimuli["stimulus_id"]]
        tables.append(columns)
    table = pd.concat(tables, ignore_index=True)
    return table.drop_duplicates("stimulus_id").set_index("stimulus_id")


def _coordinates(measurements: VisualMeasurements) -> list[pd.DataFrame]:
    """Coordinates of the presentations of recordings: of averaged ones, then of single repetitions."""
    if measurements.compares != "recordings":
        return []
    assemblies = [content_of(part) for part in measurements.parts]
    with suppress(UserError):
        assemblies.append(measurements.single_repetitions())
    return [
        pd.DataFrame(
            {
                str(name): np.asarray(assembly[name].values)
                for name in assembly.coords
                if assembly[name].dims == ("presentation",) and name != "presentation"
            }
        )
        for assembly in assemblies
    ]


def _line(control: Control, width: int) -> str:
    name = f"  {control.name:{width}}  "
    if control.score is None:
        return f"{name}not scored: {control.reason}"
    text = name + estimate_text(control.score, ci=control.ci, brief=True)
    if control.difference is not None:
        text += f"; model − baseline {_difference_text(control.difference)}"
    elif control.reason is not None:
        text += f"; {control.reason}"
    return text


def _difference_text(difference: Difference) -> str:
    text = number_text(difference.value, plus=True)
    if difference.ci is not None:
        text += f" ({range_text(*difference.ci)})"
    return f"{text}, {'not tested' if difference.p is None else p_text(difference.p)}"


def _list(names: Sequence[str]) -> str:
    return " and ".join([", ".join(names[:-1]), names[-1]] if len(names) > 2 else names)
