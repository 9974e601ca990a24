"""Prediction of the responses of twelve regions in each of five subjects to eight stories."""

from functools import partial

from brainscore_language.benchmark_helpers.recordings import RecordingBenchmark, benchmark_of_subjects
from brainscore_language.data.blank2014 import BIBTEX

Blank2014 = partial(
    benchmark_of_subjects,
    "Blank2014",
    version=1,
    bibtex=BIBTEX,
    data_set="Blank2014.fROI",
    text_coord="story",
    subject_coord="subject_id",
)


def Blank2014_ridge() -> RecordingBenchmark:  # noqa: N802 - published name
    """Ridge regression; each story is predicted from the others."""
    return Blank2014("ridge_pearsonr", {"splits": 8, "split_coord": "story", "kfold": "group", "random_state": 1234})


def Blank2014_linear_shuffle() -> RecordingBenchmark:  # noqa: N802 - published name
    """Least squares; random tenths of the scans are predicted, whose neighbours were seen."""
    options = {"splits": 10, "train_size": 0.9, "kfold": False, "random_state": 1}
    return Blank2014("linear_pearsonr", options, "-shuffle")
