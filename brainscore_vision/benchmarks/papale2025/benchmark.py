"""Predictivity of spiking activity, fitted on 22,248 pictures and tested on 100 others (Papale et al. 2025)."""

from typing import Final

from brainscore_core.errors import UserError
from brainscore_core.plugins.tables import read_citation
from brainscore_core.supported_data_standards.brainio.assemblies import DataAssembly
from brainscore_vision import load_ceiling, load_dataset, load_metric
from brainscore_vision.benchmark_helpers.measurements import of_region, require_coords, single_time_bin
from brainscore_vision.benchmark_helpers.neural_common import (
    TrainTestNeuralBenchmark,
    average_repetition,
    filter_reliable_neuroids,
)
from brainscore_vision.utils import LazyLoad

VISUAL_DEGREES: Final = 18
"""The two animals saw the pictures at 17.3° and 18.6°. Of a picture that a model sees at 8°, most is cropped."""

RELIABILITY_THRESHOLD: Final = 0.3
NUMBER_OF_TRIALS: Final = 1
VERSION: Final = 3
_METRICS: Final = {"ridge": "ridge_split", "ridgecv": "ridgecv_split"}
BIBTEX = read_citation(__file__)


def Papale2025(region: str, metric_type: str) -> TrainTestNeuralBenchmark:  # noqa: N802 -- the published name
    """Predict the reliable neuroids of one region, each animal's by a mapping of its own.

    `region`: ``'V1'``, ``'V4'`` or ``'IT'``. `metric_type`: ``'ridge'`` or ``'ridgecv'``; ridge regression with penalty
    1, or with a penalty for each animal, chosen on left-out training pictures. Result: data are loaded when it is
    called, or asked for its ceiling: the reliability of each animal's neuroids over the 30 repetitions of the test
    pictures. A UserError if the metric is unknown.
    """
    if metric_type not in _METRICS:
        raise UserError(f"Papale2025 has no metric {metric_type!r}", remedy=f"there are {', '.join(_METRICS)}")
    train = LazyLoad(lambda: load_assembly(region, split="train", average_repetitions=False))  # shown once each
    test = LazyLoad(lambda: load_assembly(region, split="test", average_repetitions=False))
    return TrainTestNeuralBenchmark(
        identifier=f"Papale2025.{region}-{metric_type}",
        version=VERSION,
        train_assembly=train,  # type: ignore[arg-type] # stands for one
        test_assembly=LazyLoad(lambda: average_repetition(test.content)),  # type: ignore[arg-type] # stands for one
        similarity_metric=load_metric(_METRICS[metric_type]),
        ceiling_func=lambda: load_ceiling("internal_consistency")(test.content),
        repetitions=test,
        visual_degrees=VISUAL_DEGREES,
        number_of_trials=NUMBER_OF_TRIALS,
        alpha_coord="subject",
        parent=region,
        bibtex=BIBTEX,
    )


def load_assembly(
    region: str, split: str, average_repetitions: bool, reliability_threshold: float = RELIABILITY_THRESHOLD
) -> DataAssembly:
    """Load the reliable neuroids of one region.

    `region`: ``'V1'``, ``'V4'`` or ``'IT'``. `split`: ``'train'`` or ``'test'``; training pictures, each shown once; or
    test pictures, each shown 30 times. `average_repetitions`: whether repetitions are averaged.
    `reliability_threshold`: neuroids of greater ``reliability`` are kept. Result: presentation × neuroid. A UserError
    if the data set lacks a coordinate, or has several time bins; names data set, file and coordinate.
    """
    assembly = load_dataset(f"Papale2025_{split}")
    require_coords(assembly, {"stimulus_id": "presentation", "subject": "neuroid", "reliability": "neuroid"})
    assembly = of_region(assembly, region)
    assembly = single_time_bin(filter_reliable_neuroids(assembly, reliability_threshold, "reliability"))
    return average_repetition(assembly) if average_repetitions else assembly
