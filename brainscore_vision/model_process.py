"""Entry point of a model's own process: loads the model and serves its methods."""

from __future__ import annotations

import functools
from collections.abc import Mapping, Sequence
from typing import Any

import brainscore_vision
from brainscore_core.provenance import note
from brainscore_vision.benchmark_helpers.precomputed import PrecomputedFeatures, RecordedDecisions
from brainscore_vision.model_interface import BrainModel
from brainscore_vision.unregistered_models import is_file_reference, load_file_reference, to_unregistered_model

__all__ = ["ModelServer", "load"]

_NAMES: dict[str, Any] = {"start_task": BrainModel.Task, "start_recording": BrainModel.RecordingTarget}


def load(reference: str, *, identifier: str | None = None, how: Mapping[str, Any] | None = None) -> ModelServer:
    """Load a model.

    Parameters
    ----------
    reference : str
        Key of `model_registry`, or ``path/to/file.py:make_model``.
    identifier : str, optional
        Name in the results of a model of a file.
    how : mapping, optional
        Further options of a model of a file, as `brainscore_vision.score` takes them.

    Returns
    -------
    Answering
        Is asked in the model's stead.
    """
    if not is_file_reference(reference):
        return ModelServer(brainscore_vision.load_model(reference), reference)
    made, source = load_file_reference(reference)
    subject = to_unregistered_model(made, identifier=identifier, source=source, **(how or {}))
    for remark in subject.remarks:
        note("remark", text=remark)
    return ModelServer(subject.model, subject.identifier)


class ModelServer:
    """Asks a model what `IsolatedModel` was asked.

    Parameters
    ----------
    model : BrainModel
        The model.
    name : str
        What it is called in the results.

    Attributes
    ----------
    name : str
        As above.
    looks_at_files : bool
        Whether it answers from the stimuli's files, not by their names.
    start_task, start_recording : callable
        The model's own; only their parameters are looked at.
    """

    def __init__(self, model: BrainModel, name: str) -> None:
        self._model = model
        self.name = name
        self.looks_at_files = not isinstance(model, RecordedDecisions | PrecomputedFeatures)
        self.start_task = _parameters_of(model.start_task)
        self.start_recording = _parameters_of(model.start_recording)

    @property
    def identifier(self) -> str:
        """The model's own name."""
        return self._model.identifier

    def visual_degrees(self) -> float:
        """Visual angle that its input spans."""
        return self._model.visual_degrees()

    def start(self, method: str, what: str, named: bool, args: Sequence[Any], options: Mapping[str, Any]) -> None:
        """Call ``start_task`` or ``start_recording``.

        Parameters
        ----------
        method : str
            Which of the two.
        what : str
            Task or region.
        named : bool
            Whether it was given as a member of `BrainModel.Task` or `BrainModel.RecordingTarget`.
        args, options
            Further arguments.
        """
        getattr(self._model, method)(_NAMES[method](what) if named else what, *args, **options)

    def expect_recordings(self, regions: Sequence[str]) -> None:
        """Tell the model from which regions will be recorded, if it wants to know."""
        expect = getattr(self._model, "expect_recordings", None)
        if expect is not None:
            expect(regions)

    def look_at(self, *args: Any, **options: Any) -> Any:
        """Show stimuli to the model."""
        return self._model.look_at(*args, **options)


def _parameters_of(method: Any) -> Any:
    @functools.wraps(method)
    def described(*args: Any, **options: Any) -> Any:
        return method(*args, **options)

    return described
