"""Benchmarks that compare a model's recordings with neural recordings."""

from collections.abc import Callable, Sequence

import numpy as np

from brainscore_core.benchmarks import BenchmarkBase, bound_score, explained_variance, normalise
from brainscore_core.metrics import Metric, Score
from brainscore_core.supported_data_standards.brainio.assemblies import DataAssembly
from brainscore_vision.benchmark_helpers.screen import place_on_screen
from brainscore_vision.model_interface import BrainModel

__all__ = ["NeuralBenchmark", "average_repetition"]


class NeuralBenchmark(BenchmarkBase):
    """Shows the stimuli of a neural experiment to a model, records from the same region, and compares.

    Parameters
    ----------
    identifier : str
        Unique name, by convention ``AuthorYear.region-metric``.
    assembly : NeuroidAssembly
        Recordings (presentation × neuroid[ × time_bin]) of one region, repetitions averaged, with its
        ``stimulus_set``.
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
    timebins : sequence of (int, int)
        Time bins to record, in milliseconds after stimulus onset.

    Notes
    -----
    A correlation is related to a reliability as sign(r) · r² / reliability, any other pair as score / ceiling
    (:func:`~brainscore_core.benchmarks.normalise`); a metric or ceiling that does not declare its scale counts as
    correlation or reliability. The result and its interval
    are clamped to [0, 1]; ``attrs['unclamped']`` and ``attrs['unclamped_ci']`` hold them as they were before.
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
        timebins: Sequence[tuple[int, int]] = ((70, 170),),
    ) -> None:
        super().__init__(
            identifier=identifier, ceiling_func=ceiling_func, version=version, parent=parent, bibtex=bibtex
        )
        self._assembly = assembly
        self._similarity_metric = similarity_metric
        self._visual_degrees = visual_degrees
        self._number_of_trials = number_of_trials
        self.timebins = [(int(start), int(end)) for start, end in timebins]

    @property
    def region(self) -> str:
        """The one region that was recorded from."""
        if "region" not in self._assembly.coords:
            raise ValueError(
                f"the assembly of {self.identifier!r} has no coordinate 'region'; "
                "add one on the neuroid dimension, such as 'region': ('neuroid', ['IT'] * number_of_neuroids)"
            )
        regions = np.unique(self._assembly["region"].values)
        if len(regions) != 1:
            raise ValueError(
                f"the assembly of {self.identifier!r} holds the regions {', '.join(map(str, regions))}; "
                "select one, such as assembly.sel(region='IT')"
            )
        return str(regions[0])

    def __call__(self, candidate: BrainModel) -> Score:
        """Record from `candidate` and compare.

        Returns
        -------
        Score
            In [0, 1], with ``raw``, ``ceiling``, ``error`` and ``ci`` in its attributes.
        """
        candidate.start_recording(self.region, time_bins=self.timebins)
        stimulus_set = place_on_screen(
            self._assembly.stimulus_set,
            target_visual_degrees=candidate.visual_degrees(),
            source_visual_degrees=self._visual_degrees,
        )
        recordings = candidate.look_at(stimulus_set, number_of_trials=self._number_of_trials)
        raw = self._similarity_metric(_without_single_time_bin(recordings), _without_single_time_bin(self._assembly))
        return bound_score(self._relate(raw))

    def _relate(self, raw: Score) -> Score:
        ceiling = self.ceiling
        if "meaning" in ceiling.attrs and "scale" in raw.attrs:
            return normalise(raw, ceiling)
        return explained_variance(raw, ceiling)


def average_repetition(assembly: DataAssembly) -> DataAssembly:
    """Average over the repetitions of each stimulus.

    Parameters
    ----------
    assembly : DataAssembly
        With ``repetition`` as a coordinate of ``presentation``, or as a dimension of its own.

    Returns
    -------
    DataAssembly
        One presentation a stimulus (and condition), in order of first appearance, attributes kept; measurements that
        are NaN are left out of the mean. An assembly without repetitions is returned as it is.
    """
    if "repetition" not in assembly.dims and "repetition" not in assembly.coords:
        return assembly
    averaged = assembly.mean(dim="repetition")
    averaged.attrs = dict(assembly.attrs)
    return averaged


def _without_single_time_bin(assembly: DataAssembly) -> DataAssembly:
    if "time_bin" in assembly.dims and assembly.sizes["time_bin"] == 1:
        return assembly.isel(time_bin=0, drop=True)
    return assembly
