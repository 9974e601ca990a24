"""Models of any domain that run in a process and an environment of their own, optionally sandboxed."""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from brainscore_core.domains import Domain
from brainscore_core.errors import UserError
from brainscore_core.isolation.process import TIMEOUT, start_model_process
from brainscore_core.isolation.sandbox import Sandbox
from brainscore_core.memory import memory_limit
from brainscore_core.paths import cache_home, home
from brainscore_core.plugins.environments import environment_of, plugin_requirements, without_python_settings
from brainscore_core.plugins.file_references import is_file_reference, referenced_file

if TYPE_CHECKING:
    from brainscore_core.plugins.environments import Environment


SANDBOX_REMARK = "the model ran in a cage: without network, seeing only its own files and the stimuli"

_OPTIONS = frozenset({"files", "memory", "processes", "seconds", "file_size", "scratch", "environment"})
_HOMES = {"TORCH_HOME": "~/.cache/torch", "HF_HOME": "~/.cache/huggingface"}


def sandbox_for(domain: Domain, model: str, environment: Environment | None, given: Mapping[str, Any]) -> Sandbox:
    """Configure the sandbox of a model, without importing the model.

    `domain`: that of the model. `model`: key of its `model_registry`, or ``path/to/file.py:make_model``. `given`: plain
    values: ``files`` (paths of files and folders that the model sees in addition to its plugin), ``environment``
    (variables), and the limits of `Sandbox`. Missing limits are the defaults of `Sandbox`; missing memory is the limit
    of this process. Result: argument for :func:`~brainscore_core.isolation.start_model_process`.
    """
    if unknown := sorted(set(given) - _OPTIONS):
        raise UserError(f"a sandbox has no option {unknown[0]!r}", remedy=f"options: {', '.join(sorted(_OPTIONS))}")
    paths = [Path(path).expanduser().absolute() for path in given.get("files", ())]
    files = [path for path in paths if not path.is_dir()]
    folders = [path for path in paths if path.is_dir()]
    variables = _homes(paths)
    registry = domain.registries["model"]
    if is_file_reference(model):
        files.append(referenced_file(model))
    elif registry.resolver_of(model) is None:  # libraries are installed where the sandbox sees them
        location = registry.location(model)
        if location.folder is None:
            raise UserError(
                f"{model!r} was registered by {location.file}, which is not a plugin", remedy="move it into a plugin"
            )
        plugin = location.folder.absolute()
        variable = domain.plugin_index.variable
        if location.source == variable:
            variables[variable] = str(plugin.parent.parent)  # inside, it is the only plugin there
            variables[f"{variable}_REPLACE"] = os.environ.get(f"{variable}_REPLACE", "")
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
    """Variables of the cache folders that contain some of these files, so that libraries find them."""
    homes = {"BRAINIO_HOME": cache_home(), "BRAINSCORE_HOME": home()}
    homes |= {name: Path(os.environ.get(name) or default).expanduser().absolute() for name, default in _HOMES.items()}
    return {name: str(folder) for name, folder in homes.items() if any(file.is_relative_to(folder) for file in files)}


def isolated_model(
    domain: Domain,
    model: str,
    *,
    identifier: str | None = None,
    how: Mapping[str, Any] | None = None,
    environment: Environment | None = None,
    timeout: float = TIMEOUT,
    cage: Mapping[str, Any] | None = None,
) -> Any:
    """Start a process that loads a model, and return a model of the domain that forwards calls to it.

    `model`: key of the domain's `model_registry`, or ``path/to/file.py:make_model``. `identifier`, `how`: name in the
    results and further options, for a model from a file. `environment`: by default that of :func:`environment_for`.
    `timeout`: limit for loading and for each call, in seconds. `cage`: runs the model in a sandbox with these options
    of :func:`sandbox_for`; an empty mapping: the defaults. Result: a context manager; close it to end the process. A
    SubjectFailed if the process did not start, or loading the model failed.
    """
    require_reference(domain, model, identifier, how)
    if is_file_reference(model):
        model = f"{referenced_file(model)}:{model.rpartition(':')[2]}"
    if environment is None:
        environment = environment_for(domain, model)
    options = {"identifier": identifier, "how": dict(how or {})}
    process = start_model_process(
        domain.features["model server"],
        model,
        options=options if is_file_reference(model) else None,
        python=None if environment is None else environment.python,
        # the environment lists the folders of PYTHONPATH after its own
        environment=None if environment is None else without_python_settings(),
        timeout=timeout,
        on_output=_to_standard_error,
        sandbox=None if cage is None else sandbox_for(domain, model, environment, cage),
    )
    try:
        return domain.feature("isolated model")(process, environment)
    except BaseException:
        process.close()
        raise


def environment_for(domain: Domain, model: str) -> Environment | None:
    """Find or make the environment that the ``requirements.txt`` in a model's folder requires.

    `model`: key of the domain's `model_registry`, or ``path/to/file.py:make_model``. Result: None for a model without
    requirements: it runs in the environment of this interpreter.
    """
    if is_file_reference(model):
        folder: Path | None = referenced_file(model).parent
    else:
        registry = domain.registries["model"]
        folder = None if registry.resolver_of(model) is not None else registry.location(model).folder
    requirements = plugin_requirements(folder)
    if not requirements:
        return None
    return environment_of(requirements, plugin=model, on_progress=lambda line: _to_standard_error(f"{line}\n"))


def require_reference(domain: Domain, model: Any, identifier: str | None, how: Mapping[str, Any] | None) -> None:
    """Raise an error for a model that cannot be made in another process, before anything is started."""
    if not isinstance(model, str):
        raise UserError(
            f"a {type(model).__name__} cannot move into another process",
            remedy="name a registered model, or a file and a function in it: path/to/file.py:make_model",
        )
    if not is_file_reference(model):
        domain.require_model(model, identifier, how)


def _to_standard_error(text: str) -> None:
    sys.stderr.write(text)
    sys.stderr.flush()
