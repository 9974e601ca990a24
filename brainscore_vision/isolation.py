"""Models that run in a process and an environment of their own, optionally sandboxed.

A sandboxed model sees its plugin, its environment, its declared files, and stimuli only while they are shown.
"""

from __future__ import annotations

import math
import os
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self
from uuid import uuid4

import xarray as xr

import brainscore_vision
from brainscore_core.errors import UserError
from brainscore_core.isolation import (
    MAX_OUTPUT,
    START_TIMEOUT,
    TIMEOUT,
    ModelProcess,
    SubjectFailed,
    start_model_process,
)
from brainscore_core.isolation.sandbox import Sandbox, require_sandbox
from brainscore_core.memory import memory_limit
from brainscore_core.plugins.environments import environment_of, plugin_requirements, without_python_settings
from brainscore_core.provenance import note, recording
from brainscore_core.scoring import RunInfo
from brainscore_core.supported_data_standards.brainio.fetch import cache_home
from brainscore_core.supported_data_standards.brainio.stimuli import StimulusSet
from brainscore_vision.model_helpers.activations.store import activations_home
from brainscore_vision.model_interface import BehavioralAssembly, BrainModel, NeuroidAssembly
from brainscore_vision.unregistered_models import is_file_reference

if TYPE_CHECKING:
    from brainscore_core.isolation.sandbox import Exchange, Loan
    from brainscore_core.plugins.environments import Environment

__all__ = ["SANDBOX_REMARK", "Isolation", "environment_for", "isolated_model", "sandbox_for"]

SANDBOX_REMARK = "the model ran in a cage: without network, seeing only its own files and the stimuli"

_OPTIONS = frozenset({"files", "memory", "processes", "seconds", "file_size", "scratch", "environment"})
_HOMES = {"BRAINSCORE_HOME": "~/.brain-score", "TORCH_HOME": "~/.cache/torch", "HF_HOME": "~/.cache/huggingface"}


def sandbox_for(model: str, environment: Environment | None, given: Mapping[str, Any]) -> Sandbox:
    """Make the cage of a model, without importing it.

    Parameters
    ----------
    model : str
        Key of `model_registry`, or ``path/to/file.py:make_model``.
    environment : Environment, optional
        Where it runs.
    given : mapping
        Plain values: ``files`` (paths of files and folders that it sees beyond its plugin), ``environment``
        (variables), and the limits of `Sandbox`, whose defaults apply; memory: what this process may use.

    Returns
    -------
    Sandbox
        For :func:`~brainscore_core.isolation.start_model_process`.
    """
    if unknown := sorted(set(given) - _OPTIONS):
        raise UserError(f"a cage has no {unknown[0]!r}", remedy=f"it has {', '.join(sorted(_OPTIONS))}")
    shown = [Path(one).expanduser().absolute() for one in given.get("files", ())]
    files = [one for one in shown if not one.is_dir()]
    folders = [one for one in shown if one.is_dir()]
    variables = _homes(shown)
    if is_file_reference(model):
        files.append(Path(model.rpartition(":")[0]).expanduser().resolve())
    else:
        location = brainscore_vision.model_registry.location(model)
        if location.folder is None:
            raise UserError(
                f"{model!r} was registered by {location.file}, which is no plugin", remedy="move it into a plugin"
            )
        plugin = location.folder.absolute()
        if location.source == "BRAINSCORE_PLUGINS":
            variables["BRAINSCORE_PLUGINS"] = str(plugin.parent.parent)  # in which it is then alone
        elif location.source != "built in" and plugin.is_dir():
            plugin = plugin.parents[location.package.count(".") - 1] if "." in location.package else plugin
        (folders if plugin.is_dir() else files).append(plugin)
    if environment is not None:
        folders.append(environment.folder)
    limits = {name: given[name] for name in ("processes", "seconds", "file_size", "scratch") if name in given}
    return Sandbox(
        folders=folders,
        files=files,
        environment={**variables, **given.get("environment", {})},
        memory=int(given.get("memory") or memory_limit()),
        **limits,
    )


def _homes(files: list[Path]) -> dict[str, str]:
    """Variables that let files be found where they are looked for."""
    homes = {"BRAINIO_HOME": cache_home()}
    homes |= {name: Path(os.environ.get(name) or usual).expanduser().absolute() for name, usual in _HOMES.items()}
    return {name: str(home) for name, home in homes.items() if any(one.is_relative_to(home) for one in files)}


class StimulusAccess:
    """What of the stimuli a caged model can see at the moment.

    Parameters
    ----------
    exchange : Exchange
        Of its cage.
    """

    def __init__(self, exchange: Exchange) -> None:
        self._exchange = exchange
        self._fitting: list[Loan] = []

    def lend(self, value: Any) -> tuple[Any, list[Loan]]:
        """The same with paths that hold in the cage, and what is to be given back; anything else as it is."""
        if not isinstance(value, StimulusSet):
            return value, []
        # a part of a stimulus set knows the files of the whole
        ids = set(value["stimulus_id"]) if "stimulus_id" in value.columns else None
        paths = {
            name: {key: file for key, file in files.items() if ids is None or key in ids}
            for name in ("_stimulus_paths", "_original_paths")
            if (files := getattr(value, name)) is not None
        }
        loan = self._exchange.lend(file for files in paths.values() for file in files.values())
        lent = value.copy(deep=False)
        for name, files in paths.items():
            # what is no file stays as it is: the model says so, as it does without a cage
            inside = {key: loan.inside.get(str(file), file) for key, file in files.items()}
            object.__setattr__(lent, name, inside)
        return lent, [loan]

    @contextmanager
    def all_of(self, args: Sequence[Any], options: Mapping[str, Any]) -> Iterator[tuple[list[Any], dict[str, Any]]]:
        """Arguments of a call, with all stimuli among them shown until it has returned."""
        lent: list[Loan] = []
        try:
            shown_args, shown_options = self._lend_all(args, options, lent)
            yield shown_args, shown_options
        finally:
            _give_back(lent)

    @contextmanager
    def for_fitting(
        self, args: Sequence[Any], options: Mapping[str, Any]
    ) -> Iterator[tuple[list[Any], dict[str, Any]]]:
        """Arguments of a call, with all stimuli among them shown until the next such call."""
        lent: list[Loan] = []
        before, self._fitting = self._fitting, lent
        try:
            yield self._lend_all(args, options, lent)
        finally:
            _give_back(before)

    def _lend_all(
        self, args: Sequence[Any], options: Mapping[str, Any], lent: list[Loan]
    ) -> tuple[list[Any], dict[str, Any]]:
        def shown(value: Any) -> Any:
            inside, loans = self.lend(value)
            lent.extend(loans)
            return inside

        return [shown(one) for one in args], {name: shown(one) for name, one in options.items()}


def _give_back(loans: list[Loan]) -> None:
    for loan in loans:
        loan.give_back()


_LOADER = "brainscore_vision.model_process:load"


def isolated_model(
    model: str,
    *,
    identifier: str | None = None,
    how: Mapping[str, Any] | None = None,
    environment: Environment | None = None,
    timeout: float = TIMEOUT,
    start_timeout: float = START_TIMEOUT,
    max_output: int = MAX_OUTPUT,
    variables: Mapping[str, str] | None = None,
    prefix: Sequence[str] = (),
    on_output: Callable[[str], None] | None = None,
    cage: Mapping[str, Any] | None = None,
) -> IsolatedModel:
    """Start a process in which a model is loaded, and give what talks to it.

    Parameters
    ----------
    model : str
        Key of `model_registry`, or ``path/to/file.py:make_model``.
    identifier : str, optional
        Name in the results of a model of a file.
    how : mapping, optional
        Further options of a model of a file, as `brainscore_vision.score` takes them; plain types.
    environment : Environment, optional
        Where it runs; by default :func:`environment_for`.
    timeout : float
        Seconds that loading, and each call, may take.
    start_timeout : float
        Seconds until the process must be ready.
    max_output : int
        Bytes that it may print; beyond, it is killed.
    variables : mapping, optional
        All environment variables of the process; by default this one's, in an environment without ``PYTHONPATH`` and
        its like: they would come before its packages.
    prefix : sequence of str
        What stands before the interpreter on the command line, such as a sandbox with its arguments.
    on_output : callable, optional
        Called with each piece of text that it prints; by default that goes to standard error.
    cage : mapping, optional
        Has the model run in a cage; what it sees and may use there, as :func:`~brainscore_vision.isolation.sandbox_for`
        takes it. Empty: what is usual.

    Returns
    -------
    IsolatedModel
        To be closed; a context manager.

    Raises
    ------
    SubjectFailed
        The process did not start, or loading the model failed.
    UserError
        Requirements that cannot be met; a wrong name.

    Examples
    --------
    >>> with isolated_model("pixels") as model:
    ...     model.identifier, model.visual_degrees()
    ('pixels', 8)
    """
    _require_nameable(model, identifier, how)
    if is_file_reference(model):
        model = f"{_file_of(model)}:{model.rpartition(':')[2]}"
    if environment is None:
        environment = environment_for(model)
    if environment is not None and variables is None:
        variables = without_python_settings()  # the environment names the folders of PYTHONPATH behind its own
    options = {"identifier": identifier, "how": dict(how or {})}
    subject = start_model_process(
        _LOADER,
        model,
        options=options if is_file_reference(model) else None,
        python=None if environment is None else environment.python,
        environment=variables,
        prefix=prefix,
        timeout=timeout,
        start_timeout=start_timeout,
        max_output=max_output,
        on_output=_to_standard_error if on_output is None else on_output,
        # what a sandbox shows is not known here, and whoever needs one is not trusted with the files
        shared=[] if prefix or cage is not None or (store := activations_home()) is None else [store],
        cage=None if cage is None else sandbox_for(model, environment, cage),
    )
    try:
        return IsolatedModel(subject, environment)
    except BaseException:
        subject.close()
        raise


def environment_for(model: str) -> Environment | None:
    """Find or make the environment that a model asks for with a ``requirements.txt`` in its folder.

    Parameters
    ----------
    model : str
        Key of `model_registry`, or ``path/to/file.py:make_model``.

    Returns
    -------
    Environment or None
        None for a model without requirements: it runs in that of the running interpreter.
    """
    if is_file_reference(model):
        folder: Path | None = _file_of(model).parent
    else:
        folder = brainscore_vision.model_registry.location(model).folder
    requirements = plugin_requirements(folder)
    if not requirements:
        return None
    return environment_of(requirements, plugin=model, on_progress=lambda line: _to_standard_error(f"{line}\n"))


class IsolatedModel(BrainModel):
    """A model in a process of its own; made by `isolated_model`.

    It answers as the model does: with the same recordings, the same refusals (`NotApplicable`) and errors for users.
    Any other error is a `SubjectFailed`, and so is the end of the process.

    Parameters
    ----------
    subject : ModelProcess
        The process, with the model loaded.
    environment : Environment, optional
        Where it runs.

    Attributes
    ----------
    subject : ModelProcess
        As above; its ``log`` is what the model printed.
    environment : Environment or None
        As above.
    name : str
        What the model is called in the results.
    looks_at_files : bool
        Whether it answers from the stimuli's files, not by their names.
    """

    def __init__(self, subject: ModelProcess, environment: Environment | None = None) -> None:
        self.subject = subject
        self.environment = environment
        self._shown = None if subject.cage is None else StimulusAccess(subject.cage.exchange)
        self._identifier = _text_attribute(subject, "identifier")
        self.name = _text_attribute(subject, "name")
        self.looks_at_files = subject.call("looks_at_files") is True
        # some benchmarks look at which parameters there are
        for method in ("start_task", "start_recording"):
            setattr(self, method, _StartMethod(self, method))

    @property
    def identifier(self) -> str:
        """Unique name of the model."""
        return self._identifier

    def visual_degrees(self) -> float:
        """Visual angle that the model's input spans, in degrees."""
        degrees = self.subject.call("visual_degrees")
        if isinstance(degrees, bool) or not isinstance(degrees, int | float) or not math.isfinite(degrees):
            raise SubjectFailed(f"{self.name!r} says that its input spans {degrees!r} degrees", cause="protocol")
        return degrees

    def start_task(self, task: BrainModel.Task | str, fitting_stimuli: Any = None, **options: Any) -> None:
        """Instruct the model; see :meth:`BrainModel.start_task`."""
        _StartMethod(self, "start_task")(task, fitting_stimuli, **options)

    def start_recording(
        self, recording_target: BrainModel.RecordingTarget | str, time_bins: Any = None, **options: Any
    ) -> None:
        """Record from a region; see :meth:`BrainModel.start_recording`."""
        _StartMethod(self, "start_recording")(recording_target, time_bins, **options)

    def look_at(
        self, stimuli: StimulusSet | Sequence[str | Path], *args: Any, **options: Any
    ) -> BehavioralAssembly | NeuroidAssembly:
        """Show stimuli; see :meth:`ModelCommitment.look_at`."""
        if not isinstance(stimuli, StimulusSet):
            stimuli = StimulusSet.from_paths(stimuli)
        if self._shown is None:
            seen = self.subject.call("look_at", stimuli, *args, **options)
        else:
            with self._shown.all_of([stimuli, *args], options) as (shown, further):
                seen = self.subject.call("look_at", *shown, **further)
        if not isinstance(seen, xr.DataArray):
            raise SubjectFailed(
                f"{self.name!r} looked at stimuli and returned a {type(seen).__name__}, no assembly", cause="protocol"
            )
        return seen  # type: ignore[return-value] # of whatever class the model returned

    def expect_recordings(self, regions: Sequence[str]) -> None:
        """Tell from which regions will be recorded; see :meth:`ModelCommitment.expect_recordings`."""
        self.subject.call("expect_recordings", list(regions))

    def close(self) -> None:
        """End the process."""
        self.subject.close()  # the environment stays in use until this process ends: others may share it

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        self.close()


class _StartMethod:
    """``start_task`` or ``start_recording`` of an isolated model, with the parameters that the model's own has."""

    def __init__(self, model: IsolatedModel, method: str) -> None:
        self._subject = model.subject
        self._shown = model._shown
        self._method = method
        self._kind: Any = BrainModel.Task if method == "start_task" else BrainModel.RecordingTarget
        self.__name__ = method
        signature = self._subject.signature(method)
        if signature is not None:
            self.__signature__ = signature

    def __call__(self, *args: Any, **options: Any) -> None:
        first = "task" if self._method == "start_task" else "recording_target"
        what, *rest = args or (options.pop(first, None),)
        named = isinstance(what, self._kind)
        if self._shown is None:
            self._subject.call("start", self._method, str(what), named, rest, options)
            return
        with self._shown.for_fitting(rest, options) as (shown, further):
            self._subject.call("start", self._method, str(what), named, shown, further)


class Isolation:
    """An isolated model for one pair: what `brainscore_vision.run_pair` needs, and the end of the process.

    Parameters
    ----------
    model, identifier, how, cage
        As for :func:`isolated_model`.

    Attributes
    ----------
    name : str
        The model's name in the results.
    """

    def __init__(
        self,
        model: Any,
        *,
        identifier: str | None = None,
        how: Mapping[str, Any] | None = None,
        cage: Mapping[str, Any] | None = None,
    ) -> None:
        _require_nameable(model, identifier, how)
        if cage is not None:
            require_sandbox()
        self._cage = cage
        self._reference = model
        self._identifier = identifier
        self._how = how
        self._model: IsolatedModel | None = None
        self._environment: Environment | None = None
        self._error: UserError | None = None
        self._source = _file_of(model) if is_file_reference(model) else None
        self._notes: list[dict[str, Any]] = []
        try:
            self._environment = environment_for(model)
        except UserError as error:  # belongs to the pair, as everything that happens while the model is loaded
            self._error = error
        self.name = identifier or ("" if self._source is not None else model)
        if not self.name:
            with recording() as record:
                self.name = self._started().name
            self._notes = record.items

    def load(self, identifier: str) -> BrainModel:
        """Give the model; note again what was noted when it was loaded before the pair began."""
        for item in self._notes:
            note(**item)
        if self._cage is not None:
            note("remark", text=SANDBOX_REMARK)
        return self._started()

    def _started(self) -> IsolatedModel:
        """Start the process, once."""
        if self._error is not None:
            raise self._error
        if self._model is None:
            self._model = isolated_model(
                self._reference,
                identifier=self._identifier,
                how=self._how,
                environment=self._environment,
                cage=self._cage,
            )
        return self._model

    def folder(self, kind: str, identifier: str) -> Path | None:
        """Where the code of the model, and of everything else, lies."""
        if kind == "model" and self._source is not None:
            return self._source
        try:
            return brainscore_vision.registered_folder(kind, identifier)
        except UserError:
            return None  # loading it says what is wrong

    @property
    def alive(self) -> bool:
        """Whether it can still be asked; one that was not started yet can."""
        return self._model is None or self._model.subject.running

    def run(self, run: RunInfo | None) -> RunInfo:
        """What the receipt says of the run."""
        environment = self._environment
        return replace(
            run or RunInfo(id=uuid4().hex[:12]),
            isolated=True,
            environment=None if environment is None else environment.key,
            packages={} if environment is None else dict(environment.packages),
        )

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        if self._model is not None:
            self._model.close()


def _file_of(reference: str) -> Path:
    return Path(reference.rpartition(":")[0]).expanduser().resolve()


def _require_nameable(model: Any, identifier: str | None, how: Mapping[str, Any] | None) -> None:
    """Say what is wrong with a name before anything is started."""
    if not isinstance(model, str):
        raise UserError(
            f"a {type(model).__name__} cannot move into another process",
            remedy="name a registered model, or a file and a function in it: path/to/file.py:make_model",
        )
    if is_file_reference(model):
        return
    if identifier is not None or how:
        superfluous = [*(["identifier"] if identifier else []), *(how or {})]
        raise UserError(
            f"{model!r} is registered: its plugin says how it is made", f"leave out {', '.join(superfluous)}"
        )
    brainscore_vision.model_registry.location(model)


def _text_attribute(subject: ModelProcess, name: str) -> str:
    value = subject.call(name)
    if not isinstance(value, str) or not 0 < len(value) <= 500:
        raise SubjectFailed(f"{subject.name!r} has no {name}, or one that is no text", cause="protocol")
    return value


def _to_standard_error(text: str) -> None:
    sys.stderr.write(text)
    sys.stderr.flush()
