"""What a caged model sees: its plugin, its environment, declared files, and stimuli while they are shown."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import brainscore_vision
from brainscore_core.errors import UserError
from brainscore_core.memory import memory_limit
from brainscore_core.scoring.subjects.cage import Cage
from brainscore_core.supported_data_standards.brainio.fetch import cache_home
from brainscore_core.supported_data_standards.brainio.stimuli import StimulusSet
from brainscore_vision._subjects import is_file_reference

if TYPE_CHECKING:
    from brainscore_core.plugins.environments import Environment
    from brainscore_core.scoring.subjects.cage import Exchange, Loan

__all__ = ["REMARK", "Shown", "cage_for"]

REMARK = "the model ran in a cage: without network, seeing only its own files and the stimuli"

_OPTIONS = frozenset({"files", "memory", "processes", "seconds", "file_size", "scratch", "environment"})
_HOMES = {"BRAINSCORE_HOME": "~/.brain-score", "TORCH_HOME": "~/.cache/torch", "HF_HOME": "~/.cache/huggingface"}


def cage_for(model: str, environment: Environment | None, given: Mapping[str, Any]) -> Cage:
    """Make the cage of a model, without importing it.

    Parameters
    ----------
    model : str
        Key of `model_registry`, or ``path/to/file.py:make_model``.
    environment : Environment, optional
        Where it runs.
    given : mapping
        Plain values: ``files`` (paths of files and folders that it sees beyond its plugin), ``environment``
        (variables), and the limits of `Cage`; what is left out is that of `Cage`, memory what this process may use.

    Returns
    -------
    Cage
        For :func:`~brainscore_core.scoring.subjects.start_subject`.
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
    return Cage(
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


class Shown:
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
