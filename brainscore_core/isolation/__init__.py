"""Isolated models: a model runs in its own process, interpreter and environment.

``python -m brainscore_core.isolation`` is the model's side.
"""

from brainscore_core.isolation.process import MAX_OUTPUT, START_TIMEOUT, TIMEOUT, ModelProcess, start_model_process
from brainscore_core.isolation.values import CannotTravel, SubjectFailed, SubjectOutOfMemory

__all__ = [
    "MAX_OUTPUT",
    "START_TIMEOUT",
    "TIMEOUT",
    "CannotTravel",
    "ModelProcess",
    "SubjectFailed",
    "SubjectOutOfMemory",
    "start_model_process",
]
