"""Neural benchmarks: one set of stimuli, fixed training and test stimuli, or similarity analysis."""

from abc import abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd
import xarray as xr
from numpy.typing import NDArray

from brainscore_core.benchmarks import (
    BenchmarkBase,
    bound_score,
    ceil_score,
    explained_variance,
    normalise,
    note_undeclared,
)
from brainscore_core.errors import UserError
from brainscore_core.formatting import first_few
from brainscore_core.lazy import LazyLoad, content_of
from brainscore_core.metric_helpers.alignment import (
    MetricInputError,
    as_table,
    coord_values,
    finite_values,
    listed,
    match_rows,
)
from brainscore_core.metric_helpers.geometry import RDM, RDMSimilarity
from brainscore_core.metrics import Metric, Score
from brainscore_core.plurals import plural
from brainscore_core.results.products import collect_products
from brainscore_core.supported_data_standards.brainio.assemblies import DataAssembly
from brainscore_core.supported_data_standards.brainio.stimuli import StimulusSet
from brainscore_core.supported_data_standards.brainio.stimulus_groups import ATTRIBUTE
from brainscore_vision.benchmark_helpers.aggregation import (
    ceiling_of_neuroids,
    concatenate_neuroids,
    mean_of_fixed,
    mean_of_sampled,
    neuroid_wise_explained_var,
    values_along,
)
from brainscore_vision.benchmark_helpers.measurements import (  # noqa: F401 - published import path
    VisualMeasurements,
    apply_keep_attrs,
    average_repetition,
    describe,
    errors_naming_data,
    filter_reliable_neuroids,
    flatten_timebins_into_neuroids,
    one_region,
    require_stimuli,
    temporally_varying,
    timebins_from_assembly,
    without_single_time_bin,
)
from brainscore_vision.benchmark_helpers.screen import place_on_screen
from brainscore_vision.model_interface import BrainModel


def record(
    candidate: BrainModel, measurements: VisualMeasurements, assemblies: Sequence[DataAssembly | StimulusSet]
) -> list[DataAssembly]:
    """Show a model the stimuli of assemblies and record from the measured region.

    `measurements`: region, time bins, visual angle and number of trials. `assemblies`: whose stimuli are shown, such as
    ``measurements.parts``. Result: one for each assembly, presentation × neuroid[ × time_bin]; a single time bin is
    squeezed. A UserError if a stimulus set lacks stimuli of its assembly, or the model did not return recordings of
    these stimuli: see :func:`check_recordings`.
    """
    sets = [_stimuli_of(content_of(assembly)) for assembly in assemblies]
    region, time_bins = measurements.recorded_region, measurements.recorded_time_bins
    candidate.start_recording(region, time_bins=time_bins)  # type: ignore[arg-type] # fractions may be given
    recorded = []
    for stimulus_set in sets:
        stimuli = place_on_screen(
            stimulus_set,
            target_visual_degrees=candidate.visual_degrees(),
            source_visual_degrees=measurements.visual_degrees,
        )
        recordings = candidate.look_at(stimuli, number_of_trials=measurements.number_of_trials)
        check_recordings(
            recordings,
            list(stimuli["stimulus_id"]),
            what=f"what {_model_name(candidate)} recorded from {region} for {measurements.benchmark!r}",
            region=region,
            time_bins=time_bins,
        )
        recorded.append(without_single_time_bin(recordings))
    collect_products(recorded, region)
    return recorded


def _stimuli_of(shown: DataAssembly | StimulusSet) -> StimulusSet:
    if isinstance(shown, StimulusSet):
        return shown
    require_stimuli(shown)
    stimuli: StimulusSet = shown.stimulus_set
    return stimuli


def check_recordings(
    recordings: Any, stimulus_ids: Sequence[Any], *, what: str, region: str, time_bins: Sequence[tuple[float, float]]
) -> None:
    """Raise an error for recordings of a model that cannot be compared with neural recordings.

    `stimulus_ids`: stimuli that were shown. `what`: name of the recordings in messages. A UserError if dimensions are
    missing or empty, or stimuli or time bins differ from those requested.
    """
    layers = (
        f"check which layers the model maps to {region!r} (its region_layer_map), and that they return "
        "presentation × neuroid: activations of several axes are flattened, not averaged"
    )
    if not isinstance(recordings, xr.DataArray):
        raise UserError(f"{what} is a {type(recordings).__name__}, not a NeuroidAssembly", remedy=layers)
    missing = [dim for dim in ("presentation", "neuroid") if not recordings.sizes.get(dim)]
    if missing:
        sizes = ", ".join(f"{dim}: {size}" for dim, size in recordings.sizes.items()) or "none"
        raise UserError(f"{what} is empty along {' and '.join(missing)}; its dimensions: {sizes}", remedy=layers)
    _check_stimuli(recordings, stimulus_ids, what=what)
    wanted, returned = len(time_bins), int(recordings.sizes.get("time_bin", 1))
    if wanted != returned:
        raise UserError(
            f"time bins not found: {what} has {returned} of the {wanted} requested time bins "
            f"({', '.join(f'{start}–{end} ms' for start, end in list(time_bins)[:3])}{', …' if wanted > 3 else ''})",
            remedy="store time_bins in start_recording, and return a dimension 'time_bin' of that length from look_at "
            "(a single time bin may be left out)",
        )


def _check_stimuli(recordings: xr.DataArray, stimulus_ids: Sequence[Any], *, what: str) -> None:
    if "stimulus_id" not in recordings.coords:
        raise UserError(
            f"{what} has no coordinate 'stimulus_id'",
            remedy="set the stimulus_id of each presentation to that of the stimulus that was shown",
        )
    recorded, shown = set(np.ravel(recordings["stimulus_id"].values).tolist()), set(stimulus_ids)
    if recorded == shown:
        return
    parts = [
        f"{len(ids)} {which}: {first_few(sorted(map(str, ids)), 5)}"
        for ids, which in ((shown - recorded, "were shown but not recorded"), (recorded - shown, "were never shown"))
        if ids
    ]
    raise UserError(
        f"{what} is not of the stimuli that were shown; {'; '.join(parts)}",
        remedy="return one presentation for each stimulus, with the stimulus_id of the stimulus set: a score over "
        "misaligned stimuli would be near 0, or negative",
    )


def rows_in_order(recordings: DataAssembly, stimulus_ids: Sequence[Any]) -> NDArray[np.intp]:
    """Rows of a model's recordings in the order of the stimuli that it was shown once each."""
    returned = pd.Index(coord_values(recordings, "stimulus_id", role="recordings").astype(str))
    shown = list(map(str, stimulus_ids))
    missing = [name for name in shown if name not in returned]
    if missing or not returned.is_unique or len(returned) != len(shown):
        raise UserError(
            f"the model's recordings are of {len(returned)} presentations of {returned.nunique()} stimuli, but "
            f"{len(shown)} stimuli were shown, once each" + (f"; {missing[0]!r} is missing" if missing else ""),
            remedy="look_at must return one presentation for each stimulus, with its stimulus_id",
        )
    return np.asarray(returned.get_indexer(shown), dtype=np.intp)


def patterns(recordings: DataAssembly, stimulus_ids: Sequence[Any]) -> NDArray[Any]:
    """Responses of a model, stimuli × neuroids, in the order of the stimuli that it was shown once each."""
    table = as_table(recordings, ("presentation", "neuroid"), role="recordings")
    return np.asarray(finite_values(table, role="recordings")[rows_in_order(table, stimulus_ids)])


def _model_name(candidate: Any) -> str:
    return repr(getattr(candidate, "identifier", type(candidate).__name__))


class RecordingBenchmark(BenchmarkBase):
    """A benchmark that records from a region, and says in ``measurements()`` from which one, and when."""

    @abstractmethod
    def measurements(self) -> VisualMeasurements:
        """What is measured."""

    @property
    def region(self) -> str:
        """The recorded region."""
        return self.measurements().recorded_region

    @property
    def timebins(self) -> list[tuple[float, float]]:
        """Time bins that are recorded, in milliseconds after stimulus onset."""
        return self.measurements().recorded_time_bins


class NeuralBenchmark(RecordingBenchmark):
    """Shows the stimuli of a neural experiment to a model, records from the same region, and compares.

    Parameters
    ----------
    identifier : str
        Unique name, by convention ``AuthorYear.region-metric``.
    assembly : NeuroidAssembly
        Recordings (presentation × neuroid[ × time_bin]) of one region, repetitions averaged, with its
        ``stimulus_set``. A :class:`~brainscore_vision.utils.LazyLoad` is loaded when it is first needed.
    similarity_metric : Metric
        Compares the model's recordings with `assembly`.
    visual_degrees : float
        Visual angle that the stimuli spanned in the experiment, in degrees.
    number_of_trials : int
        How often each stimulus was shown.
    ceiling_func : callable
        Returns the ceiling, estimated from the recordings with their repetitions.
    version : int
        Increases whenever a change to the benchmark changes scores.
    parent : str, optional
        The benchmark to group under: ``'V1'``, ``'V2'``, ``'V4'``, ``'IT'`` or another.
    bibtex : str, optional
        Citation of the recordings.
    timebins : sequence of (int, int), optional
        Time bins to record, in milliseconds after stimulus onset. By default those of `assembly`; ``[(70, 170)]``
        if it has none.
    repetitions : NeuroidAssembly, optional
        The recordings before averaging over repetitions, from which other ceilings can be estimated and experiments
        simulated.

    Raises
    ------
    UserError
        When called: if the stimulus set lacks stimuli of the assembly, or the model's recordings are not of the
        requested stimuli and time bins.

    Notes
    -----
    A correlation with a reliability as its ceiling gives sign(r) · r² / reliability, any other pair score / ceiling
    (:func:`~brainscore_core.benchmarks.normalise`); a metric or ceiling that does not declare its scale counts as
    correlation or reliability. The result and its interval are clamped to [0, 1]; ``attrs['unclamped']`` and
    ``attrs['unclamped_ci']`` are the values before.
    """

    def __init__(
        self,
        identifier: str,
        assembly: DataAssembly,
        similarity_metric: Metric,
        visual_degrees: float,
        number_of_trials: int,
        ceiling_func: Callable[[], Score | float],
        version: int | str,
        parent: str | None = None,
        bibtex: str | None = None,
        timebins: Sequence[tuple[int, int]] | None = None,
        repetitions: DataAssembly | LazyLoad[DataAssembly] | None = None,
    ) -> None:
        super().__init__(
            identifier=identifier, ceiling_func=ceiling_func, version=version, parent=parent, bibtex=bibtex
        )
        self._assembly = assembly
        self._similarity_metric = similarity_metric
        self._visual_degrees = visual_degrees
        self._number_of_trials = number_of_trials
        self._timebins = _integers(timebins)
        self._repetitions = repetitions

    def measurements(self) -> VisualMeasurements:
        """The recordings, and how models are compared with them."""
        return VisualMeasurements(
            benchmark=self.identifier,
            measured=self._assembly,
            metric=self._similarity_metric,
            relate=relate_to_ceiling,
            repetitions=self._repetitions,
            time_bins=self._timebins,
            number_of_trials=self._number_of_trials,
            visual_degrees=self._visual_degrees,
        )

    def __call__(self, candidate: BrainModel) -> Score:
        """Record from `candidate` and compare.

        Returns
        -------
        Score
            In [0, 1], with ``raw``, ``ceiling``, ``error`` and ``ci`` in its attributes.
        """
        measurements = self.measurements()
        (recordings,) = record(candidate, measurements, measurements.parts)
        with errors_naming_data(measurements.measured, self.identifier):
            raw = self.compare(recordings, without_single_time_bin(measurements.target()))
        return bound_score(measurements.relate(raw, self.ceiling))

    def compare(self, recordings: DataAssembly, target: DataAssembly) -> Score:
        """Compare recordings of a model with the measured ones; the score is not yet related to the ceiling."""
        return self._similarity_metric(recordings, target)


def benchmark_of_repetitions(
    load: Callable[[], DataAssembly], metric: Metric, ceiling: Callable[[DataAssembly], Score], **options: Any
) -> NeuralBenchmark:
    """A NeuralBenchmark of the averages over repetitions, which are loaded when they are first needed.

    `load`: returns single repetitions. `ceiling`: of these. `options`: further arguments of :class:`NeuralBenchmark`.
    """
    repetitions = LazyLoad(load)
    return NeuralBenchmark(
        assembly=LazyLoad(lambda: average_repetition(repetitions.content)),  # type: ignore[arg-type] # stands for one
        similarity_metric=metric,
        ceiling_func=lambda: ceiling(repetitions.content),
        repetitions=repetitions,
        **options,
    )


def _integers(time_bins: Sequence[tuple[int, int]] | None) -> tuple[tuple[int, int], ...] | None:
    return None if time_bins is None else tuple((int(start), int(end)) for start, end in time_bins)


def relate_to_ceiling(raw: Score, ceiling: Score) -> Score:
    """Normalise a score by its ceiling as both declare; without a declaration, as a correlation by a reliability.

    The latter is said in a remark, since it squares the score.
    """
    return explained_variance(raw, ceiling) if note_undeclared(raw, ceiling) else normalise(raw, ceiling)


class TrainTestNeuralBenchmark(RecordingBenchmark):
    """A neural benchmark with separate training and test stimuli.

    Parameters
    ----------
    identifier : str
        Unique name, by convention ``AuthorYear.region-metric``.
    ceiling_func : callable
        Returns the ceiling, estimated from the test recordings with their repetitions; with `alpha_coord` or
        `per_voxel_ceilings`, its ``raw`` must have one value per neuroid, as that of `internal_consistency` does.
    version : int
        Increases whenever a change to the benchmark changes scores.
    train_assembly, test_assembly : NeuroidAssembly or LazyLoad
        Recordings of the same neuroids of one region (presentation × neuroid[ × time_bin]), one presentation
        per stimulus, each with its ``stimulus_set``.
    similarity_metric : callable
        ``metric(source_train=…, source_test=…, target_train=…, target_test=…)``: one of the metrics ``'…_split'``.
    visual_degrees : float
        Visual angle that the stimuli spanned in the experiment, in degrees.
    number_of_trials : int
        How often each stimulus was shown.
    parent : str, optional
        The benchmark to group under.
    alpha_coord : str, optional
        Coordinate of ``neuroid``, such as ``'subject'``: neuroids of each of its values are fitted separately (a
        cross-validated ridge regression then chooses a penalty for each) and normalised by their own ceiling, the mean
        over splits of the median over these neuroids. The score is the mean over values.
    per_voxel_ceilings : bool
        Whether each neuroid is normalised by its own ceiling before averaging over neuroids
        (:func:`~brainscore_vision.benchmark_helpers.neural_common.neuroid_wise_explained_var`).
    bibtex : str, optional
        Citation of the recordings.
    timebins : sequence of (int, int), optional
        Time bins to record, in milliseconds after stimulus onset; by default those of `train_assembly`.
    repetitions : NeuroidAssembly, optional
        The test recordings before averaging over repetitions.

    Notes
    -----
    ``attrs`` of a score: ``raw`` (of `alpha_coord`: mean over its values; its own ``raw`` has one value per neuroid),
    ``ceiling`` (of all neuroids together), ``error``, ``ci``, ``unclamped``. With `alpha_coord` also
    ``attrs[value]``, the score of each value, and ``attrs['raw_<alpha_coord>s']``, all of them; for the interval,
    neuroids are resampled and the values (the experiment's subjects) are fixed.
    """

    def __init__(
        self,
        identifier: str,
        ceiling_func: Callable[[], Score | float],
        version: int | str,
        train_assembly: DataAssembly,
        test_assembly: DataAssembly,
        similarity_metric: Callable[..., Score],
        visual_degrees: float,
        number_of_trials: int,
        parent: str | None = None,
        alpha_coord: str | None = None,
        per_voxel_ceilings: bool = False,
        bibtex: str | None = None,
        timebins: Sequence[tuple[int, int]] | None = None,
        repetitions: DataAssembly | LazyLoad[DataAssembly] | None = None,
    ) -> None:
        super().__init__(
            identifier=identifier, ceiling_func=ceiling_func, version=version, parent=parent, bibtex=bibtex
        )
        self.train_assembly = train_assembly
        self.test_assembly = test_assembly
        self.alpha_coord = alpha_coord
        self._similarity_metric = similarity_metric
        self._visual_degrees = visual_degrees
        self._number_of_trials = number_of_trials
        self._relate = neuroid_wise_explained_var if per_voxel_ceilings else relate_to_ceiling
        self._timebins = _integers(timebins)
        self._repetitions = repetitions

    def measurements(self) -> VisualMeasurements:
        """The recordings for training and testing, and how models are compared with them."""
        return VisualMeasurements(
            benchmark=self.identifier,
            measured=self.test_assembly,
            training=self.train_assembly,
            fitted_by=self.alpha_coord,
            metric=self._similarity_metric,
            relate=self._relate,
            repetitions=self._repetitions,
            time_bins=self._timebins,
            number_of_trials=self._number_of_trials,
            visual_degrees=self._visual_degrees,
        )

    @property
    def region(self) -> str:
        """The recorded region."""
        test, train = (one_region(part, self.identifier) for part in (self.test_assembly, self.train_assembly))
        if train != test:
            raise MetricInputError(
                f"{self.identifier!r} is trained on {train} and tested on {test}", remedy="select the same region"
            )
        return train

    def __call__(self, candidate: BrainModel) -> Score:
        """Record from `candidate` while it looks at training and test stimuli, and compare.

        Returns
        -------
        Score
            In [0, 1], with ``raw``, ``ceiling``, ``error`` and ``ci`` in its attributes.

        Raises
        ------
        MetricInputError
            If training and test recordings are not of the same neuroids, or the ceiling has no values per neuroid where
            they are needed.
        """
        measurements = replace(self.measurements(), region=self.region)
        targets = [without_single_time_bin(part) for part in measurements.parts]
        groups = groups_of_neuroids(measurements, targets)
        sources = record(candidate, measurements, targets[::-1])[::-1]  # training comes first
        if groups is None:
            return bound_score(measurements.relate(compare_trained(measurements, sources, targets), self.ceiling))
        scores = {}
        for value, rows in groups.items():
            raw = compare_trained(measurements, sources, [part.isel(neuroid=rows) for part in targets])
            scores[value] = measurements.relate(raw, ceiling_of_neuroids(self.ceiling, str(self.alpha_coord), value))
        return bound_score(self._mean(scores))

    def _mean(self, scores: dict[Any, Score]) -> Score:
        units = plural(str(self.alpha_coord))
        raws = [score.attrs[Score.RAW_VALUES_KEY] for score in scores.values()]
        raw = mean_of_fixed(raws, units=units)
        if "scale" in raws[0].attrs:
            raw.attrs["scale"] = raws[0].attrs["scale"]
        for key in (Score.RAW_VALUES_KEY, "predictions", "targets"):
            joined = concatenate_neuroids([part.attrs.get(key) for part in raws])
            if joined is not None:
                raw.attrs[key] = joined
                if key == "predictions":
                    joined.attrs["groups"] = str(self.alpha_coord)
                    joined.attrs |= {name: part for name, part in raws[0].attrs[key].attrs.items() if name == ATTRIBUTE}
        score = mean_of_fixed(list(scores.values()), units=units)
        score.attrs.update(raw=raw, ceiling=self.ceiling, scale="ceiled")
        score.attrs[f"raw_{units}"] = values_along(list(scores.values()), list(scores), str(self.alpha_coord))
        score.attrs.update(scores)
        return score


def compare_trained(
    measurements: VisualMeasurements, sources: Sequence[DataAssembly], targets: Sequence[DataAssembly]
) -> Score:
    """Fit on training recordings and compare test recordings by the metric; both arguments: test, then training."""
    assert measurements.metric is not None
    try:
        return measurements.metric(
            source_train=sources[1], source_test=sources[0], target_train=targets[1], target_test=targets[0]
        )
    except MetricInputError as error:
        data = " and ".join(describe(part) for part in reversed(targets))
        raise MetricInputError(f"{measurements.benchmark}, {data}: {error.message}", remedy=error.remedy) from error


def groups_of_neuroids(
    measurements: VisualMeasurements, targets: Sequence[DataAssembly]
) -> dict[Any, NDArray[np.intp]] | None:
    """Positions of the neuroids that are fitted together, by value of ``fitted_by``; None: all together.

    A MetricInputError if the test and training recordings `targets` are not of the same neuroids.
    """
    test, train = targets
    for name in filter(None, ("neuroid_id", measurements.fitted_by)):
        ours, theirs = (
            coord_values(part, name, role=f"{kind} assembly", dim="neuroid")
            for part, kind in ((train, "training"), (test, "test"))
        )
        if not np.array_equal(ours, theirs):
            raise MetricInputError(
                f"training and test recordings of {measurements.benchmark!r} are of different neuroids, or in another "
                f"order: {name!r} is {listed(ours)} and {listed(theirs)}",
                remedy="filter both by the same coordinate of neuroid, such as the same reliability",
            )
    if measurements.fitted_by is None:
        return None
    labels = coord_values(train, measurements.fitted_by, role="training assembly", dim="neuroid")
    return {value: np.flatnonzero(labels == value) for value in np.unique(labels).tolist()}


class RSABenchmark(RecordingBenchmark):
    """Compares the dissimilarities of stimuli in a model with those in each subject, and averages over subjects.

    Nothing is fitted, so all stimuli are in one assembly. The raw score is the mean over subjects of the
    similarity of the two dissimilarity matrices; it is divided by the ceiling (not squared: both are similarities).

    Parameters
    ----------
    identifier : str
        Unique name, such as ``'Allen2022_fmri.IT-rdm'``.
    version : int
        Increases whenever a change to the benchmark changes scores.
    assembly : NeuroidAssembly or LazyLoad
        Recordings (presentation × neuroid) with repetitions averaged and ``subject`` on ``neuroid``.
    region : str
        Region to record from.
    visual_degrees : float
        Visual angle that the stimuli spanned in the experiment, in degrees.
    number_of_trials : int
        How often each stimulus was shown.
    bibtex : str
        Citation of the recordings.
    ceiler : callable, optional
        Function from `assembly` to the ceiling. By default ``load_ceiling('rsa_ceiling')``: the upper bound of Nili et
        al. [1]_, with the lower bound in ``ceiling.attrs['lower_bound_loo']``.
    parent : str, optional
        The benchmark to group under; by default `region`.
    rdm : callable, optional
        Function from recordings to their dissimilarity matrix; by default 1 − Pearson correlation.
    similarity : callable, optional
        Function from two dissimilarity matrices to a score; by default Spearman's correlation.
    repetitions : NeuroidAssembly or LazyLoad, optional
        The recordings before averaging over repetitions, for audits and other metrics.

    Notes
    -----
    ``attrs['raw']`` of a score: mean similarity, its ``attrs['subject_scores']`` one number per subject and
    ``attrs['raw']`` the same with their names; ``error`` and ``ci`` are those of the mean over subjects (Student's t),
    NaN with a reason below three subjects.

    References
    ----------
    .. [1] Nili et al. 2014, https://doi.org/10.1371/journal.pcbi.1003553
    """

    def __init__(
        self,
        identifier: str,
        version: int | str,
        assembly: DataAssembly,
        region: str,
        visual_degrees: float,
        number_of_trials: int,
        bibtex: str | None = None,
        ceiler: Callable[[DataAssembly], Score] | None = None,
        parent: str | None = None,
        rdm: Callable[[DataAssembly], DataAssembly] | None = None,
        similarity: Callable[[Any, Any], Score] | None = None,
        repetitions: DataAssembly | LazyLoad[DataAssembly] | None = None,
    ) -> None:
        self._assembly = assembly
        self._repetitions = repetitions
        self._region = region
        self._visual_degrees = visual_degrees
        self._number_of_trials = number_of_trials
        self._ceiler = ceiler
        self._rdm = rdm
        self._similarity = similarity
        super().__init__(
            identifier=identifier,
            ceiling_func=self._estimate_ceiling,
            version=version,
            parent=parent or region,
            bibtex=bibtex,
        )

    def measurements(self) -> VisualMeasurements:
        """The recordings of all subjects; the comparison with each subject is the benchmark's own."""
        return VisualMeasurements(
            benchmark=self.identifier,
            measured=self._assembly,
            relate=ceil_score,
            repetitions=self._repetitions,
            region=self._region,
            number_of_trials=self._number_of_trials,
            visual_degrees=self._visual_degrees,
        )

    def __call__(self, candidate: BrainModel) -> Score:
        """Record from `candidate` and compare with each subject.

        Returns
        -------
        Score
            In [0, 1], with ``raw``, ``ceiling``, ``error`` and ``ci`` in its attributes.
        """
        rdm, similarity = self._rdm or RDM(), self._similarity or RDMSimilarity()
        (recordings,) = record(candidate, self.measurements(), [self._assembly])
        measured = without_single_time_bin(self._assembly)
        order = match_rows(recordings, measured, roles=("the model's recordings", "the benchmark's assembly"))
        of_model = rdm(recordings.isel(presentation=order))
        of_neuroids = coord_values(measured, "subject", role="assembly", dim="neuroid")
        subjects = list(dict.fromkeys(sorted(of_neuroids.tolist())))
        values = [
            float(similarity(of_model, rdm(measured.isel(neuroid=np.flatnonzero(of_neuroids == subject)))))
            for subject in subjects
        ]
        each = Score(values, coords={"subject": ("subject", subjects)}, dims=["subject"])
        raw = mean_of_sampled(each, units="subjects")
        raw.attrs.update({Score.RAW_VALUES_KEY: each, "subject_scores": values, "scale": "similarity"})
        return bound_score(ceil_score(raw, self.ceiling))

    def _estimate_ceiling(self) -> Score:
        if self._ceiler is None:
            from brainscore_vision.registries import load_ceiling

            self._ceiler = load_ceiling("rsa_ceiling")
        return self._ceiler(without_single_time_bin(self._assembly))
