"""Models that run in a process and an environment of their own, optionally sandboxed.

A sandboxed model sees its plugin, its environment, its declared files, and stimuli only while they are shown.

>>> with isolated_model("pixels") as model:
...     model.identifier, model.visual_degrees()
('pixels', 8)
"""

from __future__ import annotations

import functools
import math
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

import xarray as xr

from brainscore_core.domains import domain
from brainscore_core.isolation import ModelProcess, SubjectFailed, process
from brainscore_core.plugins.loading import is_file_reference
from brainscore_core.supported_data_standards.brainio.stimuli import StimulusSet
from brainscore_vision.benchmark_helpers.precomputed import PrecomputedFeatures, RecordedDecisions
from brainscore_vision.model_interface import BehavioralAssembly, BrainModel, NeuroidAssembly
from brainscore_vision.model_sources.unregistered import load_unregistered_model
from brainscore_vision.registries import load_model

if TYPE_CHECKING:
    from brainscore_core.isolation.sandbox import OpenSandbox
    from brainscore_core.plugins.environments import Environment


class StimulusAccess:
    """Grants a sandboxed model access to stimuli, and revokes it.

    `sandbox`: where the stimuli are visible; None if the model sees all files.
    """

    def __init__(self, sandbox: OpenSandbox | None) -> None:
        self._sandbox = sandbox
        self._fitting = ExitStack()  # until the next task

    def grant(self, value: Any, loans: ExitStack) -> Any:
        """Copy a stimulus set with its paths in the sandbox, where they exist until `loans` ends; keep other values."""
        if self._sandbox is None or not isinstance(value, StimulusSet):
            return value
        # a subset of a stimulus set still has the paths of the whole set
        ids = set(value["stimulus_id"]) if "stimulus_id" in value.columns else None
        paths = {
            name: {key: file for key, file in files.items() if ids is None or key in ids}
            for name in ("_stimulus_paths", "_original_paths")
            if (files := getattr(value, name)) is not None
        }
        inside = loans.enter_context(self._sandbox.lend(file for files in paths.values() for file in files.values()))
        copy = value.copy(deep=False)
        for name, files in paths.items():
            # missing files keep their path: the model raises the same error as without a sandbox
            object.__setattr__(copy, name, {key: inside.get(str(file), file) for key, file in files.items()})
        return copy

    @contextmanager
    def of_call(
        self, args: Sequence[Any], options: Mapping[str, Any], *, keep: bool = False
    ) -> Iterator[tuple[list[Any], dict[str, Any]]]:
        """Arguments of a call; the model has access to the stimuli among them until the call returns.

        `keep`: until the next such call.
        """
        loans, before = ExitStack(), self._fitting
        if keep:
            self._fitting = loans
        with before if keep else loans:
            yield (
                [self.grant(value, loans) for value in args],
                {name: self.grant(value, loans) for name, value in options.items()},
            )


class IsolatedModel(BrainModel):
    """A model in a process of its own; made by `isolated_model`.

    It returns the same recordings as the model itself, and raises the same `NotApplicable` and errors for users. Any
    other error, and the end of the process, raises `SubjectFailed`.

    `process`: the process, with the model loaded. `environment`: environment of the process. `process`: as above; its
    ``log`` is the output of the model. `looks_at_files`: whether the model reads the stimulus files; False if it
    answers by stimulus identifiers.
    """

    def __init__(self, process: ModelProcess, environment: Environment | None = None) -> None:
        self.process = process
        self.environment = environment
        self.stimulus_access = StimulusAccess(process.sandbox)
        self._identifier = _text_attribute(process, "identifier")
        self.name = _text_attribute(process, "name")
        self.looks_at_files = process.call("looks_at_files") is True
        # some benchmarks inspect the parameters of these methods
        for method in _FIRST:
            start: Any = functools.partial(_start, process, self.stimulus_access, method)
            if (signature := process.signature(method)) is not None:
                start.__signature__ = signature
            setattr(self, method, start)

    @property
    def identifier(self) -> str:
        """Unique name of the model."""
        return self._identifier

    def visual_degrees(self) -> float:
        """Visual angle that the model's input spans, in degrees."""
        degrees = self.process.call("visual_degrees")
        if isinstance(degrees, bool) or not isinstance(degrees, int | float) or not math.isfinite(degrees):
            raise SubjectFailed(f"{self.name!r} reports that its input spans {degrees!r} degrees", cause="protocol")
        return degrees

    @property
    def states_visual_degrees(self) -> bool:
        """Whether the model states its visual angle."""
        return self.process.call("states_visual_degrees") is not False

    def start_task(self, task: BrainModel.Task | str, fitting_stimuli: Any = None, **options: Any) -> None:
        """Instruct the model; see :meth:`BrainModel.start_task`."""
        _start(self.process, self.stimulus_access, "start_task", task, fitting_stimuli, **options)

    def start_recording(
        self, recording_target: BrainModel.RecordingTarget | str, time_bins: Any = None, **options: Any
    ) -> None:
        """Record from a region; see :meth:`BrainModel.start_recording`."""
        _start(self.process, self.stimulus_access, "start_recording", recording_target, time_bins, **options)

    def look_at(
        self, stimuli: StimulusSet | Sequence[str | Path], *args: Any, **options: Any
    ) -> BehavioralAssembly | NeuroidAssembly:
        """Show stimuli; see :meth:`ModelCommitment.look_at`."""
        if not isinstance(stimuli, StimulusSet):
            stimuli = StimulusSet.from_paths(stimuli)
        with self.stimulus_access.of_call([stimuli, *args], options) as (granted_args, granted_options):
            responses = self.process.call("look_at", *granted_args, **granted_options)
        if not isinstance(responses, xr.DataArray):
            raise SubjectFailed(
                f"{self.name!r} looked at stimuli and returned a {type(responses).__name__}, not an assembly",
                cause="protocol",
            )
        return responses  # type: ignore[return-value] # of the class that the model returned

    def expect_recordings(self, regions: Sequence[str]) -> None:
        """Announce the regions that benchmarks will record; see :meth:`ModelCommitment.expect_recordings`."""
        self.process.call("expect_recordings", list(regions))

    def close(self) -> None:
        """End the process."""
        self.process.close()  # the environment stays in use until this process ends: other models may share it

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        self.close()


_FIRST: dict[str, tuple[str, Any]] = {
    "start_task": ("task", BrainModel.Task),
    "start_recording": ("recording_target", BrainModel.RecordingTarget),
}
"""Method → its first parameter, and the class of its values."""


def _start(process: ModelProcess, access: StimulusAccess, method: str, *args: Any, **options: Any) -> None:
    """Call ``start_task`` or ``start_recording`` of an isolated model."""
    first, kind = _FIRST[method]
    value, *rest = args or (options.pop(first, None),)
    with access.of_call(rest, options, keep=True) as (granted_args, granted_options):
        process.call("start", method, str(value), isinstance(value, kind), granted_args, granted_options)


def _text_attribute(process: ModelProcess, name: str) -> str:
    value = process.call(name)
    if not isinstance(value, str) or not 0 < len(value) <= 500:
        raise SubjectFailed(f"{process.name!r} has no {name}, or its {name} is not a text", cause="protocol")
    return value


def serve(reference: str, *, identifier: str | None = None, how: Mapping[str, Any] | None = None) -> ModelServer:
    """Load a model in its own process, for the calls of an :class:`IsolatedModel`.

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
        self.start_task, self.start_recording = model.start_task, model.start_recording

    def __getattr__(self, name: str) -> Any:
        return getattr(self._model, name)

    @property
    def states_visual_degrees(self) -> bool:
        """Whether the model states its visual angle."""
        return bool(getattr(self._model, "states_visual_degrees", True))

    def start(self, method: str, what: str, named: bool, args: Sequence[Any], options: Mapping[str, Any]) -> None:
        """Call ``start_task`` or ``start_recording``.

        `method`: ``'start_task'`` or ``'start_recording'``. `named`: whether `what` is a member of `BrainModel.Task` or
        `BrainModel.RecordingTarget`.
        """
        getattr(self._model, method)(_FIRST[method][1](what) if named else what, *args, **options)

    def expect_recordings(self, regions: Sequence[str]) -> None:
        """Announce the regions that benchmarks will record, if the model supports it."""
        expect = getattr(self._model, "expect_recordings", None)
        if expect is not None:
            expect(regions)


isolated_model = functools.partial(process.isolated_model, domain("vision"))
"""`brainscore_core.isolation.process.isolated_model` for models of vision."""
