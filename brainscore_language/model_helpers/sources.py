"""Subjects that are not registered, and subjects in processes of their own."""

from __future__ import annotations

import inspect
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

from brainscore_core.errors import UserError
from brainscore_core.isolation.values import SubjectFailed
from brainscore_core.plugins.loading import UnregisteredModel, is_file_reference, load_file_reference
from brainscore_language import load_model
from brainscore_language.artificial_subject import ArtificialSubject

if TYPE_CHECKING:
    from brainscore_core.isolation import ModelProcess
    from brainscore_core.plugins.environments import Environment


def load_unregistered_model(
    model: Any, *, identifier: str | None = None, how: Mapping[str, Any] | None = None
) -> UnregisteredModel:
    """Take a subject, or make one by a function in a file, ``path/to/file.py:make_model``.

    `identifier`: name in the results; by default the subject's own. `how`: has to be empty: a subject has no options.
    """
    if how:
        raise UserError(f"a model of language takes no {', '.join(how)}", remedy="set it where the subject is made")
    source = None
    if is_file_reference(model):
        model, source = load_file_reference(model)
    if not callable(getattr(model, "digest_text", None)):
        raise UserError(
            f"a {type(model).__name__} is not a model of language: it has no method digest_text",
            remedy="return an ArtificialSubject, such as HuggingfaceSubject(model_id=..., model=..., tokenizer=...)",
        )
    if source is None and (file := inspect.getsourcefile(type(model))) and "site-packages" not in file:
        source = Path(file)
    name = identifier or identifier_of(model)
    model.identifier = name
    return UnregisteredModel(name, model, source)


def identifier_of(subject: Any) -> str:
    """Name of a subject, whose ``identifier`` is a method in classes and a text once it was loaded by its name."""
    identifier = getattr(subject, "identifier", None)
    value = identifier() if callable(identifier) else identifier
    return value if isinstance(value, str) and value else type(subject).__name__


class IsolatedSubject(ArtificialSubject):
    """A subject in a process of its own.

    `process`: the process, with the subject loaded by :func:`serve`. `environment`: environment of the process.
    """

    def __init__(self, process: ModelProcess, environment: Environment | None = None) -> None:
        self.process = process
        self.environment = environment
        self.name = str(process.call("name"))
        self.identifier = self.name  # type: ignore[method-assign,assignment] # as of loaded subjects

    def identifier(self) -> str:
        """Unique name of the subject."""
        return self.name

    def start_behavioral_task(self, task: str) -> None:
        """Do a task from now on; see :class:`ArtificialSubject`."""
        self.process.call("start", "start_behavioral_task", [str(task)])

    def start_neural_recording(self, recording_target: str, recording_type: str) -> None:
        """Record from now on; see :class:`ArtificialSubject`."""
        self.process.call("start", "start_neural_recording", [str(recording_target), str(recording_type)])

    def digest_text(self, text: str | list[str]) -> dict[str, Any]:
        """Read a text; see :class:`ArtificialSubject`."""
        parts = [text] if isinstance(text, str) else [str(part) for part in text]
        output = self.process.call("digest_text", parts)
        if not isinstance(output, dict):
            raise SubjectFailed(f"{self.name!r} read a text and returned a {type(output).__name__}", cause="protocol")
        return output

    def close(self) -> None:
        """End the process."""
        self.process.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        self.close()


class SubjectServer:
    """Forwards the calls of an :class:`IsolatedSubject`."""

    def __init__(self, subject: Any, name: str) -> None:
        self._subject = subject
        self.name = name

    def start(self, method: str, arguments: list[str]) -> None:
        """Start a task or a recording."""
        if method not in ("start_behavioral_task", "start_neural_recording"):
            raise UserError(f"a subject has no method {method!r} to start")
        getattr(self._subject, method)(*arguments)

    def digest_text(self, text: list[str]) -> dict[str, Any]:
        """Let the subject read a text; its answers for tasks and recordings are returned."""
        output = self._subject.digest_text(text)
        return {name: output[name] for name in ("behavior", "neural") if output.get(name) is not None}


def serve(reference: str, *, identifier: str | None = None, how: Mapping[str, Any] | None = None) -> SubjectServer:
    """Load a subject in its own process, for the calls of an :class:`IsolatedSubject`."""
    if not is_file_reference(reference):
        return SubjectServer(load_model(reference), reference)
    unregistered = load_unregistered_model(reference, identifier=identifier, how=how)
    return SubjectServer(unregistered.model, unregistered.identifier)
