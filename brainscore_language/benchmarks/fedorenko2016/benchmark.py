"""Prediction of the responses of 97 electrodes to the words of 52 sentences."""

from functools import partial

from brainscore_language.artificial_subject import ArtificialSubject
from brainscore_language.benchmark_helpers.recordings import RecordingBenchmark, benchmark_of_subjects
from brainscore_language.data.fedorenko2016 import BIBTEX

Fedorenko2016 = partial(
    benchmark_of_subjects,
    "Fedorenko2016",
    version=3,
    bibtex=BIBTEX,
    data_set="Fedorenko2016.language",
    text_coord="sentence_id",
    subject_coord="subject_UID",
    recording_type=ArtificialSubject.RecordingType.ECoG,
)


def Fedorenko2016_ridge() -> RecordingBenchmark:  # noqa: N802 - published name
    """Ridge regression; whole sentences are predicted from others."""
    options = {"splits": 10, "split_coord": "sentence_id", "kfold": "group", "random_state": 1234}
    return Fedorenko2016("ridge_pearsonr", options)


def Fedorenko2016_linear_shuffle() -> RecordingBenchmark:  # noqa: N802 - published name
    """Least squares; random tenths of the words are predicted, whose sentences were seen."""
    options = {"splits": 10, "train_size": 0.9, "kfold": False, "random_state": 1}
    return Fedorenko2016("linear_pearsonr", options, "-shuffle")
