"""Subjects in processes of their own: a model answers from its own interpreter and environment.

``python -m brainscore_core.scoring.subjects`` is the other side.
"""

from brainscore_core.scoring.subjects._errors import SubjectFailed, SubjectOutOfMemory
from brainscore_core.scoring.subjects._process import MAX_OUTPUT, START_TIMEOUT, TIMEOUT, SubjectProcess, start_subject
from brainscore_core.scoring.subjects._values import CannotTravel

__all__ = [
    "MAX_OUTPUT",
    "START_TIMEOUT",
    "TIMEOUT",
    "CannotTravel",
    "SubjectFailed",
    "SubjectOutOfMemory",
    "SubjectProcess",
    "start_subject",
]
