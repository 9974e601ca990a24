"""Benchmarks that are the mean of other benchmarks: one per subject, or one per fold."""

import gc
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any, TypeVar

import numpy as np

from brainscore_core.benchmarks import Benchmark, BenchmarkBase, attach_ceiling, bound_score
from brainscore_core.benchmarks.measurements import Measurements
from brainscore_core.errors import UserError
from brainscore_core.formatting import first_few
from brainscore_core.memory import format_size, memory_limit
from brainscore_core.metrics import Score, declare_no_error
from brainscore_core.supported_data_standards.brainio.assemblies import DataAssembly, NeuroidAssembly
from brainscore_vision.benchmark_helpers.aggregation import mean_of_sampled, values_along
from brainscore_vision.metric_helpers.bootstrap_error import bootstrap_error
from brainscore_vision.model_interface import BrainModel

Result = TypeVar("Result")

WRAPPER_N_BOOTSTRAP = 200
"""Resamples of subjects, or folds, for the standard error of a mean over them, as published."""


class _MeanBenchmark(BenchmarkBase):
    """Mean over benchmarks of parts, of which only one is in memory at a time.

    Subclasses define names of the parts: `_dim`, `_units` and `_varying`.
    """

    _dim: str
    _units: str
    _varying: str

    def __init__(
        self, identifier: str, labels: Sequence[Any], factory: Callable[[Any], Any], peak_aggregation: float
    ) -> None:
        self._labels = list(labels)
        self._factory = factory
        self._peak_aggregation = float(peak_aggregation)
        first = factory(self._labels[0])
        # read now, since making a part may load its measurements
        self.region: str = first.region
        self.timebins: list[tuple[float, float]] = list(getattr(first, "timebins", ()))
        super().__init__(
            identifier=identifier,
            ceiling_func=self._mean_ceiling,
            version=getattr(first, "version", 1),
            parent=self.region,
            bibtex=getattr(first, "bibtex", None),
        )
        del first
        gc.collect()  # it may refer to itself

    def measurements(self) -> Measurements | None:
        """Those of the first part, which represents the others; None if it does not say what it measures."""
        part = self.first_part()
        measurements = part.measurements() if isinstance(part, Benchmark) else None
        if measurements is None:
            return None
        compares = f"{measurements.compares} of single {self._units}"
        return replace(measurements, benchmark=self.identifier, compares=compares, metric=None)

    def __call__(self, candidate: BrainModel) -> Score:
        """Run each part and average."""
        scores, ceilings = zip(*self._of_parts(lambda part: (part(candidate), part.ceiling)), strict=True)
        score = self._mean(scores)
        raws = values_along([Score(_child_raw_scalar(part_score)) for part_score in scores], self._labels, self._dim)
        raw = self._mean_of(raws)
        raw.attrs[Score.RAW_VALUES_KEY] = raws
        if all("scale" in getattr(part_score.attrs.get("raw"), "attrs", {}) for part_score in scores):
            raw.attrs["scale"] = scores[0].attrs["raw"].attrs["scale"]
        if self._ceiling is None:
            self._ceiling = self._mean(ceilings)
        attach_ceiling(score, raw, self._ceiling)
        self._keep(score, scores)
        return bound_score(score)

    def first_part(self) -> Any:
        """Make the benchmark of the first subject or fold, which represents the others in checks."""
        return self._factory(self._labels[0])

    def preallocate_memory(self, candidate: BrainModel, raise_if_oom: bool = True) -> int | None:
        """Estimate the memory that a run needs: see :func:`_scaled_preallocate_memory`."""
        return _scaled_preallocate_memory(self, candidate, child_factory=self.first_part, raise_if_oom=raise_if_oom)

    def _of_parts(self, function: Callable[[Any], Result]) -> list[Result]:
        """Results of a function of each part."""
        results = []
        for label in self._labels:
            results.append(function(self._factory(label)))
            gc.collect()  # the ceiling's function may refer to its benchmark in a cycle
        return results

    def _mean_ceiling(self) -> Score:
        return self._mean(self._of_parts(lambda part: part.ceiling))

    def _mean(self, scores: Sequence[Score]) -> Score:
        values = values_along(scores, self._labels, self._dim)
        mean = self._mean_of(values)
        mean.attrs[f"raw_{self._units}"] = values
        mean.attrs[f"sem_{self._units}"] = (
            float(np.std(values.values, ddof=1) / np.sqrt(values.size)) if values.size > 1 else 0.0
        )
        meanings = {score.attrs.get("meaning") for score in scores}
        if len(meanings) == 1 and None not in meanings:
            mean.attrs["meaning"] = meanings.pop()
        return mean

    def _mean_of(self, values: Score) -> Score:
        if values.size < 2:
            return declare_no_error(
                Score(float(values.values[0])), f"one {self._dim}: the variation between {self._units} is unknown"
            )
        error = bootstrap_error(values, [self._dim], n_bootstrap=WRAPPER_N_BOOTSTRAP)
        return mean_of_sampled(values, units=self._units, error=error, note=self._varying)

    def _keep(self, score: Score, scores: Sequence[Score]) -> None:
        raise NotImplementedError


class MultiSubjectNeuralBenchmark(_MeanBenchmark):
    """Mean over the benchmarks of single subjects.

    For experiments whose subjects saw different stimuli: neither presentations nor neuroids can be joined.
    (:class:`~brainscore_vision.benchmark_helpers.neural_common.TrainTestNeuralBenchmark` with ``alpha_coord='subject'``
    is for subjects who saw the same.)

    Parameters
    ----------
    identifier : str
        Unique name.
    subjects : sequence of str
        Names of the subjects.
    per_subject_factory : callable
        ``per_subject_factory(subject)`` returns the benchmark of one subject. It is called each time, so that only one
        subject's measurements are in memory.
    peak_aggregation : float
        Largest memory of a run, as a multiple of that of one subject.

    Notes
    -----
    Region, version and citation are the first subject's; ``parent`` is the region. ``attrs`` of a score:
    ``raw_subjects`` (one value per subject), ``sem_subjects``, and each subject's score under their name; ``error``:
    bootstrap over subjects, as published; ``ci``: Student's t, below three subjects NaN with a reason.
    """

    _dim, _units, _varying = "subject", "subjects", ""

    def __init__(
        self,
        identifier: str,
        subjects: Sequence[str],
        per_subject_factory: Callable[[str], Any],
        peak_aggregation: float = 1.0,
    ) -> None:
        if not len(subjects):
            raise ValueError(f"benchmark {identifier!r} has no subjects; name at least one in `subjects`")
        super().__init__(identifier, subjects, per_subject_factory, peak_aggregation)

    def _keep(self, score: Score, scores: Sequence[Score]) -> None:
        score.attrs.update(zip(self._labels, scores, strict=True))


class KFoldNeuralBenchmark(_MeanBenchmark):
    """Mean over the benchmarks of single folds, which the experiment or its authors defined.

    Parameters
    ----------
    identifier : str
        Unique name.
    n_folds : int
        Number of folds.
    fold_factory : callable
        ``fold_factory(k)`` makes the benchmark of fold k = 0 … n_folds − 1; it is called each time.
    peak_aggregation : float
        Largest memory of a run, as a multiple of that of one fold.

    Notes
    -----
    As :class:`MultiSubjectNeuralBenchmark`, with ``raw_folds``, ``sem_folds`` and the folds' scores in
    ``attrs['folds']``. Folds share training stimuli, so their scores are not independent: error and interval are a
    lower bound.
    """

    _dim, _units = "fold", "folds"
    _varying = ", though they share training stimuli"

    def __init__(
        self, identifier: str, n_folds: int, fold_factory: Callable[[int], Any], peak_aggregation: float = 1.0
    ) -> None:
        if n_folds < 1:
            raise ValueError(f"benchmark {identifier!r} has {n_folds} folds; at least one is needed")
        super().__init__(identifier, range(int(n_folds)), fold_factory, peak_aggregation)

    def _keep(self, score: Score, scores: Sequence[Score]) -> None:
        score.attrs["folds"] = list(scores)


def block_diagonal_concat(
    slices: Sequence[DataAssembly],
    presentation_coords: Sequence[str] = ("stimulus_id", "subject_id_pres", "repetition"),
    neuroid_coords: Sequence[str] = (
        "subject_id",
        "region",
        "roi",
        "voxel_index_in_brain_mask",
        "nc_4rep",
        "nc_12rep",
        "nc_allrep",
    ),
) -> NeuroidAssembly:
    """Join recordings of subjects with different neuroids and presentations into one assembly.

    Parameters
    ----------
    slices : sequence of NeuroidAssembly, presentation × neuroid
        One per subject.
    presentation_coords, neuroid_coords : sequence of str
        Coordinates to keep; those that a slice lacks are left out.

    Returns
    -------
    NeuroidAssembly
        All presentations × all neuroids: each subject's recordings on the diagonal, NaN elsewhere. Other
        types than floats become float32.

    Raises
    ------
    UserError
        If there are no slices, or a slice has other dimensions.

    Examples
    --------
    >>> def subject(name, value):
    ...     return NeuroidAssembly([[value]], dims=["presentation", "neuroid"], coords={
    ...         "stimulus_id": ("presentation", [f"seen_by_{name}"]), "subject_id": ("neuroid", [name])})
    >>> block_diagonal_concat([subject("s1", 1.0), subject("s2", 2.0)]).values
    array([[ 1., nan],
           [nan,  2.]])
    """
    dims = ("presentation", "neuroid")
    wrong = [str(part.dims) for part in slices if part.dims != dims]
    if wrong or not len(slices):
        raise UserError(
            f"slices of {first_few(wrong, 5)} cannot be joined" if wrong else "there are no slices to join",
            remedy="pass one presentation × neuroid assembly per subject",
        )
    dtype = np.result_type(*(part.dtype for part in slices))
    rows, columns = (np.cumsum([0, *(part.sizes[dim] for part in slices)]) for dim in dims)
    values = np.full((rows[-1], columns[-1]), np.nan, dtype=dtype if dtype.kind == "f" else np.float32)
    for part, top, left in zip(slices, rows[:-1], columns[:-1], strict=True):
        height, width = part.shape
        values[top : top + height, left : left + width] = part.values
    coords = {
        name: (dim, np.concatenate([part[name].values for part in slices]))
        for dim, names in zip(dims, (presentation_coords, neuroid_coords), strict=True)
        for name in names
        if all(name in part.coords for part in slices)
    }
    return NeuroidAssembly(values, coords=coords, dims=dims, name="data")


def _scaled_preallocate_memory(
    wrapper: Any, candidate: BrainModel, child_factory: Callable[[], Any], raise_if_oom: bool
) -> int | None:
    """Memory of a benchmark of several parts in bytes: the estimate of one part × the wrapper's `_peak_aggregation`.

    None if parts have no ``preallocate_memory``: models then plan their own memory.
    """
    estimate = getattr(child_factory(), "preallocate_memory", None)
    of_part = None if estimate is None else estimate(candidate, raise_if_oom=False)
    if of_part is None:
        return None
    needed, limit = int(of_part * wrapper._peak_aggregation), memory_limit()  # noqa: SLF001 -- as published
    if raise_if_oom and needed > limit:
        raise UserError(
            f"{wrapper.identifier!r} needs about {format_size(needed)} of memory and may use {format_size(limit)}",
            remedy="run it on a machine with more memory, or raise BRAINSCORE_MAX_MEMORY",
        )
    return needed


def _release(child: Any) -> None:
    """Release the memory of a part, which cannot be used afterwards; as published."""
    for name in ("_assembly", "train_assembly", "test_assembly", "_similarity_metric", "_ceiling_func", "_ceiling"):
        if name in vars(child):
            setattr(child, name, None)


def _child_raw_scalar(child_score: Score) -> float:
    """Raw value of a part's score as a number: the mean of several values; NaN if there is none."""
    raw = child_score.attrs.get(Score.RAW_VALUES_KEY)
    return float("nan") if raw is None else float(np.mean(np.asarray(getattr(raw, "values", raw), dtype=np.float64)))
