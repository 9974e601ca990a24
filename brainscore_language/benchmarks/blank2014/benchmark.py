"""Prediction of the responses of twelve regions in each of five subjects to eight stories."""

from brainscore_language.artificial_subject import ArtificialSubject
from brainscore_language.benchmark_helpers.recordings import SubjectsBenchmark
from brainscore_language.data.blank2014 import BIBTEX


class Blank2014(SubjectsBenchmark):
    """One metric on these recordings; arguments as for :class:`SubjectsBenchmark`."""

    name = "Blank2014"
    number = 1
    citation = BIBTEX
    data_set = "Blank2014.fROI"
    text_coord = "story"
    subject_coord = "subject_id"
    recording_type = ArtificialSubject.RecordingType.fMRI


def Blank2014_ridge() -> Blank2014:  # noqa: N802 - published name
    """Ridge regression; each story is predicted from the others."""
    return Blank2014("ridge_pearsonr", {"splits": 8, "split_coord": "story", "kfold": "group", "random_state": 1234})


def Blank2014_linear_shuffle() -> Blank2014:  # noqa: N802 - published name
    """Least squares; random tenths of the scans are predicted, whose neighbours were seen."""
    options = {"splits": 10, "train_size": 0.9, "kfold": False, "random_state": 1}
    return Blank2014("linear_pearsonr", options, "-shuffle")
