"""Predictivity and similarity of one subject at a time, averaged over subjects (Zerbe et al. 2026)."""

from itertools import combinations
from typing import Any, Final

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from brainscore_core.benchmarks import Benchmark, bound_score, normalise
from brainscore_core.errors import UserError
from brainscore_core.metrics import Score, amend_uncertainty
from brainscore_core.plugins import MissingRequirementError
from brainscore_core.supported_data_standards.brainio.assemblies import DataAssembly
from brainscore_core.supported_data_standards.brainio.stimuli import StimulusSet
from brainscore_vision import load_dataset, load_metric
from brainscore_vision.benchmark_helpers.aggregation import constant_ceiling, mean_of_sampled
from brainscore_vision.benchmark_helpers.measurements import (
    VisualMeasurements,
    average_repetition,
    filter_reliable_neuroids,
    of_region,
)
from brainscore_vision.benchmark_helpers.metadata import BenchmarkRow
from brainscore_vision.benchmark_helpers.multi_subject import MultiSubjectNeuralBenchmark
from brainscore_vision.benchmark_helpers.neural_common import (
    RecordingBenchmark,
    RSABenchmark,
    TrainTestNeuralBenchmark,
    record,
)
from brainscore_vision.benchmark_helpers.table_benchmarks import RowBenchmark
from brainscore_vision.model_interface import BrainModel
from brainscore_vision.utils import LazyLoad

SUBJECTS: Final = ("sub-01", "sub-03", "sub-05", "sub-06", "sub-07")
ALPHAS: Final = tuple(10.0**exponent for exponent in range(-10, 11))
"""Penalties among which the regression chooses."""

TIME_BIN: Final = (0, 0)  # the responses are not resolved in time


def subjects_predicted(row: BenchmarkRow, bibtex: str) -> Benchmark:
    """Fit on the split's training pictures and predict the responses to its test pictures."""

    def of_subject(subject: str) -> TrainTestNeuralBenchmark:
        train, test = (_side(row, subject, side) for side in ("train", "test"))
        return TrainTestNeuralBenchmark(
            train_assembly=train,
            test_assembly=test,
            similarity_metric=load_metric(row.metric, alphas=list(ALPHAS)),
            ceiling_func=lambda: _noise_ceiling(test.content, np.median, meaning="reliability"),
            timebins=[TIME_BIN],
            **row.about(bibtex) | {"identifier": f"{row.identifier}-{subject}"},
        )

    return MultiSubjectNeuralBenchmark(row.identifier, SUBJECTS, of_subject)


def subjects_compared(row: BenchmarkRow, bibtex: str) -> Benchmark:
    """Compare dissimilarities of all pictures of the split."""

    def of_subject(subject: str) -> RSABenchmark:
        return RSABenchmark(
            assembly=_side(row, subject, "both"),
            region=row.region,
            ceiler=lambda assembly: _noise_ceiling(assembly, np.mean, meaning="upper bound"),
            **row.about(bibtex) | {"identifier": f"{row.identifier}-{subject}"},
        )

    return MultiSubjectNeuralBenchmark(row.identifier, SUBJECTS, of_subject)


class Alignment(RowBenchmark, RecordingBenchmark):
    """Mean over subjects of the alignment (unbiased linear CKA) of a model with each; the ceiling is that of pairs.

    Parameters
    ----------
    row : BenchmarkRow
        Data, region, metric.
    bibtex : str
        Citation.
    """

    def __init__(self, row: BenchmarkRow, bibtex: str) -> None:
        self._metric = load_metric(row.metric)
        self._subjects = {subject: _side(row, subject, "both") for subject in SUBJECTS}
        super().__init__(row, bibtex, self._pairs)

    def measurements(self) -> VisualMeasurements:
        """Recordings of the first subject, which represents the others."""
        return self._measurements(self._subjects[SUBJECTS[0]], "recordings of single subjects", TIME_BIN)

    def __call__(self, candidate: BrainModel) -> Score:
        """Record from `candidate` and compare with each subject.

        Returns
        -------
        Score
            In [0, 1].
        """
        values = []
        for assembly in self._subjects.values():
            (recordings,) = record(candidate, self.measurements(), [assembly.content])
            values.append(float(self._metric(recordings, assembly.content)))
        each = Score(values, coords={"subject": ("subject", list(SUBJECTS))}, dims=["subject"])
        raw = mean_of_sampled(each, units="subjects")
        raw.attrs.update({Score.RAW_VALUES_KEY: each, "scale": "similarity"})
        return bound_score(normalise(raw, self.ceiling))

    def _pairs(self) -> Score:
        values = [
            float(self._metric(self._subjects[one].content, self._subjects[other].content))
            for one, other in combinations(SUBJECTS, 2)
        ]
        error = float(np.std(values, ddof=1) / np.sqrt(len(values)))
        ceiling = constant_ceiling(float(np.mean(values)), error=error)
        return amend_uncertainty(ceiling, ci_reason="pairs of five subjects are not independent")


def _side(row: BenchmarkRow, subject: str, side: str) -> Any:
    return LazyLoad(lambda: load_side(row, subject, side))


def load_side(row: BenchmarkRow, subject: str, side: str) -> DataAssembly:
    """Load one subject's reliable voxels of the row's region, averaged over repetitions.

    Parameters
    ----------
    row : BenchmarkRow
        Its ``data`` is the beginning of the assemblies' names, its column ``split`` names a division of the pictures.
    subject : str
        One of :data:`SUBJECTS`.
    side : {'train', 'test', 'both'}
        Pictures of one side of the split, or of both.

    Returns
    -------
    NeuroidAssembly, presentation × neuroid
        With ``subject`` on ``neuroid``.

    Raises
    ------
    UserError
        If the split has no pictures on that side.
    """
    assembly = load_dataset(f"{row.data[0]}_{subject}")
    stimuli: StimulusSet = assembly.attrs["stimulus_set"]
    assembly = filter_reliable_neuroids(of_region(assembly, row.region), row.threshold, row.reliability)
    pool = subject if "persubject" in row.data[0] else "shared"
    train, test = _masks(assembly, row.further["split"], pool)
    chosen = {"train": train, "test": test, "both": train | test}[side]
    if not chosen.any():
        raise UserError(
            f"{row.data[0]}_{subject} has no pictures on the side {side!r} of the split {row.further['split']!r}",
            remedy="check its stimulus_id",
        )
    averaged = average_repetition(assembly.isel(presentation=np.flatnonzero(chosen)))
    averaged["subject"] = "neuroid", [subject] * averaged.sizes["neuroid"]
    averaged = averaged.assign_coords(time_bin_start=TIME_BIN[0], time_bin_end=TIME_BIN[1])
    shown = stimuli[stimuli["stimulus_id"].isin(averaged["stimulus_id"].values)].reset_index(drop=True)
    shown.stimulus_paths = stimuli.stimulus_paths
    shown.identifier = f"{row.data[0]}_{row.further['split']}_{side}_{subject}"
    averaged.attrs = {
        "identifier": f"{row.data[0]}_{subject}",
        "stimulus_set": shown,
        "stimulus_set_identifier": shown.identifier,
    }
    return averaged


def _masks(assembly: DataAssembly, split: str, pool: str) -> tuple[NDArray[np.bool_], NDArray[np.bool_]]:
    """Training and test presentations, as the assembly states them, else as the authors' package does."""
    if f"split_{split}" in assembly.coords:
        sides = assembly[f"split_{split}"].values
        return sides == "train", sides == "test"
    try:
        from laion_fmri.splits import get_split_masks
    except ModuleNotFoundError as error:
        raise MissingRequirementError(
            "which pictures are for training, and which for testing, is stated in the package laion_fmri of the data's "
            "authors, which is not installed",
            "install it as they describe it: it comes with the data",
        ) from error
    trials = pd.DataFrame({"label": assembly["stimulus_id"].values, "repetition": assembly["repetition"].values})
    train, test = get_split_masks(trials, split, pool=pool)
    return np.asarray(train, dtype=bool), np.asarray(test, dtype=bool)


def _noise_ceiling(assembly: DataAssembly, average: Any, *, meaning: str) -> Score:
    """Average over voxels of the root of the published share of variance that can be explained."""
    percent = np.asarray(assembly["nc_12rep"].values, dtype=np.float64)
    values = np.sqrt(np.clip(percent, 0, 100) / 100)
    ceiling = constant_ceiling(
        float(average(values[np.isfinite(values)])), meaning=meaning, reason="published without an error of the voxels"
    )
    ids = {"neuroid_id": ("neuroid", assembly["neuroid_id"].values)}
    ceiling.attrs[Score.RAW_VALUES_KEY] = Score(values, coords=ids, dims=["neuroid"])
    return ceiling
