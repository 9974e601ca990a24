"""Neural benchmarks whose training and test stimuli the experiment fixed."""

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from brainscore_core.benchmarks import BenchmarkBase, bound_score
from brainscore_core.metrics import Score
from brainscore_core.supported_data_standards.brainio.assemblies import DataAssembly
from brainscore_vision.benchmark_helpers._aggregate import concatenated, mean_of_fixed, values_along
from brainscore_vision.benchmark_helpers._neural import DEFAULT_TIME_BINS, relate
from brainscore_vision.benchmark_helpers._neural_assemblies import time_bins_or_none, without_single_time_bin
from brainscore_vision.benchmark_helpers._neuroid_ceilings import ceiling_of, neuroid_wise_explained_var
from brainscore_vision.benchmark_helpers._recording import one_region, recordings_of
from brainscore_vision.benchmark_helpers.measurements import describe, require_stimuli
from brainscore_vision.metric_helpers.alignment import MetricInputError, coord_values, listed
from brainscore_vision.model_interface import BrainModel

__all__ = ["TrainTestNeuralBenchmark"]


class TrainTestNeuralBenchmark(BenchmarkBase):
    """A neural benchmark with separate training and test stimuli.

    Parameters
    ----------
    identifier : str
        Unique name, by convention ``AuthorYear.region-metric``.
    ceiling_func : callable
        Returns the ceiling, estimated from the test recordings with their repetitions; where `alpha_coord` or
        `per_voxel_ceilings` is given, with one value a neuroid in its ``raw``, as `internal_consistency` has.
    version : int
        Increases whenever a change to the benchmark changes scores.
    train_assembly, test_assembly : NeuroidAssembly or LazyLoad
        Recordings of the same neuroids of one region (presentation × neuroid[ × time_bin]), one presentation a
        stimulus, each with its ``stimulus_set``.
    similarity_metric : callable
        ``metric(source_train=…, source_test=…, target_train=…, target_test=…)``: one of the metrics ``'…_split'``.
    visual_degrees : float
        Visual angle that the stimuli spanned in the experiment, in degrees.
    number_of_trials : int
        How often each stimulus was shown.
    parent : str, optional
        The benchmark to group under.
    alpha_coord : str, optional
        Coordinate of ``neuroid``, such as ``'subject'``: neuroids of each of its values are fitted by themselves (a
        cross-validated ridge regression then chooses a penalty for each) and related to their own ceiling, the mean
        over splits of the median over these neuroids. The score is the mean over values.
    per_voxel_ceilings : bool
        Whether each neuroid is related to its own ceiling before neuroids are averaged
        (:func:`~brainscore_vision.benchmark_helpers.neural_common.neuroid_wise_explained_var`).
    bibtex : str, optional
        Citation of the recordings.
    timebins : sequence of (int, int), optional
        Time bins to record, in milliseconds after stimulus onset; by default those of `train_assembly`.

    Notes
    -----
    ``attrs`` of a score: ``raw`` (of `alpha_coord`: mean over its values; its own ``raw`` has one value a neuroid),
    ``ceiling`` (of all neuroids together), ``error``, ``ci``, ``unclamped``. With `alpha_coord` also
    ``attrs[value]``, the score of each value by itself, and ``attrs['raw_<alpha_coord>s']``, all of them; the
    interval then takes the values (the experiment's subjects) as they are, and neuroids as resampled.
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
        self._relate = neuroid_wise_explained_var if per_voxel_ceilings else relate
        self._timebins = None if timebins is None else [(int(start), int(end)) for start, end in timebins]

    @property
    def region(self) -> str:
        """The one region that was recorded from."""
        train, test = (one_region(part, self.identifier) for part in (self.train_assembly, self.test_assembly))
        if train != test:
            raise MetricInputError(
                f"{self.identifier!r} is trained on {train} and tested on {test}", remedy="select the same region"
            )
        return train

    @property
    def timebins(self) -> list[tuple[float, float]]:
        """Time bins that are recorded, in milliseconds after stimulus onset."""
        if self._timebins is not None:
            return list(self._timebins)
        return time_bins_or_none(self.train_assembly) or list(DEFAULT_TIME_BINS)

    def __call__(self, candidate: BrainModel) -> Score:
        """Record from `candidate` while it looks at training and test stimuli, and compare.

        Returns
        -------
        Score
            In [0, 1], with ``raw``, ``ceiling``, ``error`` and ``ci`` in its attributes.

        Raises
        ------
        MetricInputError
            If training and test recordings are not of the same neuroids, or the ceiling has no values a neuroid where
            they are needed.
        """
        for part in (self.train_assembly, self.test_assembly):
            require_stimuli(part)
        region, time_bins = self.region, self.timebins
        targets = [without_single_time_bin(part) for part in (self.train_assembly, self.test_assembly)]
        groups = self._groups(*targets)
        candidate.start_recording(region, time_bins=time_bins)  # type: ignore[arg-type] # fractions may be given
        sources = [
            recordings_of(
                candidate,
                part,
                benchmark=self.identifier,
                region=region,
                visual_degrees=self._visual_degrees,
                number_of_trials=self._number_of_trials,
                time_bins=time_bins,
            )
            for part in targets
        ]
        if groups is None:
            return bound_score(self._relate(self._compare(sources, targets), self.ceiling))
        scores = {}
        for value, rows in groups.items():
            raw = self._compare(sources, [part.isel(neuroid=rows) for part in targets])
            scores[value] = self._relate(raw, ceiling_of(self.ceiling, str(self.alpha_coord), value))
        return bound_score(self._mean(scores))

    def _compare(self, sources: Sequence[DataAssembly], targets: Sequence[DataAssembly]) -> Score:
        try:
            return self._similarity_metric(
                source_train=sources[0], source_test=sources[1], target_train=targets[0], target_test=targets[1]
            )
        except MetricInputError as error:
            data = " and ".join(describe(part) for part in targets)
            raise MetricInputError(f"{self.identifier}, {data}: {error.message}", remedy=error.remedy) from error

    def _groups(self, train: DataAssembly, test: DataAssembly) -> dict[Any, Any] | None:
        """Positions of the neuroids that are fitted together, by value of `alpha_coord`; None for all at once."""
        for name in filter(None, ("neuroid_id", self.alpha_coord)):
            ours, theirs = (
                coord_values(part, name, role=f"{kind} assembly", dim="neuroid")
                for part, kind in ((train, "training"), (test, "test"))
            )
            if not np.array_equal(ours, theirs):
                raise MetricInputError(
                    f"training and test recordings of {self.identifier!r} are of different neuroids, or in another "
                    f"order: {name!r} is {listed(ours)} and {listed(theirs)}",
                    remedy="filter both by the same coordinate of neuroid, such as the same reliability",
                )
        if self.alpha_coord is None:
            return None
        labels = coord_values(train, self.alpha_coord, role="training assembly", dim="neuroid")
        return {value: np.flatnonzero(labels == value) for value in np.unique(labels).tolist()}

    def _mean(self, scores: dict[Any, Score]) -> Score:
        units = f"{self.alpha_coord}s"
        raws = [score.attrs[Score.RAW_VALUES_KEY] for score in scores.values()]
        raw = mean_of_fixed(raws, units=units)
        if "scale" in raws[0].attrs:
            raw.attrs["scale"] = raws[0].attrs["scale"]
        for key in (Score.RAW_VALUES_KEY, "predictions", "targets"):
            joined = concatenated([one.attrs.get(key) for one in raws])
            if joined is not None:
                raw.attrs[key] = joined
                if key == "predictions":
                    joined.attrs["groups"] = str(self.alpha_coord)
        score = mean_of_fixed(list(scores.values()), units=units)
        score.attrs.update(raw=raw, ceiling=self.ceiling, scale="ceiled")
        score.attrs[f"raw_{units}"] = values_along(list(scores.values()), list(scores), str(self.alpha_coord))
        score.attrs.update(scores)
        return score
