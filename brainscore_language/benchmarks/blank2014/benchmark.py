"""Prediction of the responses of twelve regions in each of five subjects to eight stories."""

from collections.abc import Mapping
from typing import Any

from brainscore_language import load_dataset, load_metric
from brainscore_language.benchmark_helpers.extrapolation import ExtrapolationCeiling
from brainscore_language.benchmark_helpers.recordings import RecordingBenchmark
from brainscore_language.data.blank2014 import BIBTEX


class Blank2014(RecordingBenchmark):
    """One metric on these recordings.

    Parameters
    ----------
    metric : str
        Key of `metric_registry`.
    cross_validation_kwargs : dict, optional
        Cross-validation of the metric.
    identifier_suffix : str
        End of the identifier.
    """

    def __init__(
        self, metric: str, cross_validation_kwargs: Mapping[str, Any] | None = None, identifier_suffix: str = ""
    ) -> None:
        super().__init__(
            f"Blank2014-{metric.removesuffix('_pearsonr')}{identifier_suffix}",
            version=1,
            parent="neural_language",
            bibtex=BIBTEX,
            load_data=lambda: load_dataset("Blank2014.fROI"),
            metric=load_metric(metric, crossvalidation_kwargs=cross_validation_kwargs),
            text_coord="story",
            copied=("stimulus_id", "story"),
            estimate_ceiling=ExtrapolationCeiling(),
        )


def Blank2014_ridge() -> Blank2014:  # noqa: N802 - published name
    """Ridge regression; each story is predicted from the others."""
    return Blank2014("ridge_pearsonr", {"splits": 8, "split_coord": "story", "kfold": "group", "random_state": 1234})


def Blank2014_linear_shuffle() -> Blank2014:  # noqa: N802 - published name
    """Least squares; random tenths of the scans are predicted, whose neighbours were seen."""
    options = {"splits": 10, "train_size": 0.9, "kfold": False, "random_state": 1}
    return Blank2014("linear_pearsonr", options, "-shuffle")
