"""Entry point of a model's own process: loads the model and serves its methods."""

from __future__ import annotations

import functools
from collections.abc import Mapping, Sequence
from typing import Any

from brainscore_vision.benchmark_helpers.precomputed import PrecomputedFeatures, RecordedDecisions
from brainscore_vision.model_interface import BrainModel
from brainscore_vision.model_sources.unregistered import is_file_reference, load_unregistered_model
from brainscore_vision.registries import load_model

_NAMES: dict[str, Any] = {"start_task": BrainModel.Task, "start_recording": BrainModel.RecordingTarget}


def load(reference: str, *, identifier: str | None = None, how: Mapping[str, Any] | None = None) -> ModelServer:
    """Load a model.

    `reference`: key of `model_registry`, or ``path/to/file.py:make_model``. `identifier`: name in the results, for a
    model from a file. `how`: further options of `brainscore_vision.score`, for a model from a file. Result: receives
    the calls to the model.
    """
    if not is_file_reference(reference):
        return ModelServer(load_model(reference), reference)
    unregistered = load_unregistered_model(reference, identifier=identifier, how=how)
    return ModelServer(unregistered.model, unregistered.identifier)


class ModelServer:
    """Forwards the calls of `IsolatedModel` to the model.

    `looks_at_files`: whether the model reads the stimulus files; False if it answers by stimulus identifiers.
    `start_task`, `start_recording`: the model's own methods; only their parameters are used.
    """

    def __init__(self, model: BrainModel, name: str) -> None:
        self._model = model
        self.name = name
        self.looks_at_files = not isinstance(model, RecordedDecisions | PrecomputedFeatures)
        self.start_task = _parameters_of(model.start_task)
        self.start_recording = _parameters_of(model.start_recording)

    @property
    def identifier(self) -> str:
        """Unique name of the model."""
        return self._model.identifier

    def visual_degrees(self) -> float:
        """Visual angle that the model's input spans, in degrees."""
        return self._model.visual_degrees()

    @property
    def states_visual_degrees(self) -> bool:
        """Whether the model states its visual angle."""
        return bool(getattr(self._model, "states_visual_degrees", True))

    def start(self, method: str, what: str, named: bool, args: Sequence[Any], options: Mapping[str, Any]) -> None:
        """Call ``start_task`` or ``start_recording``.

        `method`: ``'start_task'`` or ``'start_recording'``. `named`: whether `what` is a member of `BrainModel.Task` or
        `BrainModel.RecordingTarget`.
        """
        getattr(self._model, method)(_NAMES[method](what) if named else what, *args, **options)

    def expect_recordings(self, regions: Sequence[str]) -> None:
        """Announce the regions that benchmarks will record, if the model supports it."""
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
