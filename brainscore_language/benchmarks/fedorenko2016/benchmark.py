"""Prediction of the responses of 97 electrodes to the words of 52 sentences."""

from collections.abc import Mapping
from typing import Any

from brainscore_language import load_dataset, load_metric
from brainscore_language.artificial_subject import ArtificialSubject
from brainscore_language.benchmark_helpers.extrapolation import ExtrapolationCeiling
from brainscore_language.benchmark_helpers.recordings import RecordingBenchmark
from brainscore_language.data.fedorenko2016 import BIBTEX


class Fedorenko2016(RecordingBenchmark):
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
            f"Fedorenko2016-{metric.removesuffix('_pearsonr')}{identifier_suffix}",
            version=3,
            parent="neural_language",
            bibtex=BIBTEX,
            load_data=lambda: load_dataset("Fedorenko2016.language"),
            metric=load_metric(metric, crossvalidation_kwargs=cross_validation_kwargs),
            text_coord="sentence_id",
            recording_type=ArtificialSubject.RecordingType.ECoG,
            copied=("stimulus_id", "sentence_id"),
            estimate_ceiling=ExtrapolationCeiling(subject_column="subject_UID"),
        )


def Fedorenko2016_ridge() -> Fedorenko2016:  # noqa: N802 - published name
    """Ridge regression; whole sentences are predicted from others."""
    options = {"splits": 10, "split_coord": "sentence_id", "kfold": "group", "random_state": 1234}
    return Fedorenko2016("ridge_pearsonr", options)


def Fedorenko2016_linear_shuffle() -> Fedorenko2016:  # noqa: N802 - published name
    """Least squares; random tenths of the words are predicted, whose sentences were seen."""
    options = {"splits": 10, "train_size": 0.9, "kfold": False, "random_state": 1}
    return Fedorenko2016("linear_pearsonr", options, "-shuffle")
