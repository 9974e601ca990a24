"""What ``check`` and ``test`` are given: identifiers, plugin folders, functions in files."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

from brainscore_core.errors import UserError

__all__ = ["Reference", "find_references", "is_folder"]

_LOADERS = {
    "benchmark_registry": ("benchmark", "load_benchmark"),
    "data_registry": ("data", "load_dataset"),
    "stimulus_set_registry": ("stimulus set", "load_stimulus_set"),
    "metric_registry": ("metric", "load_metric"),
    "model_registry": ("model", "load_model"),
}
_REGISTRIES = {
    "benchmark": ("benchmark_registry",),
    "data": ("data_registry", "stimulus_set_registry"),
    "metric": ("metric_registry",),
    "model": ("model_registry",),
}


class Reference(NamedTuple):
    """Something to check.

    Attributes
    ----------
    kind : str
        ``'benchmark'``, ``'data'``, ``'stimulus set'``, ``'metric'`` or ``'model'``.
    name : str
        Its identifier, or the reference to a file.
    load : callable
        Makes it.
    folder : Path or None
        Folder of the plugin that registers it.
    """

    kind: str
    name: str
    load: Callable[[], Any]
    folder: Path | None


def is_folder(reference: str) -> bool:
    """Whether a plugin's folder is meant."""
    return (Path(reference).expanduser() / "__init__.py").is_file()


def find_references(kind: str, reference: str) -> list[Reference]:
    """Find what is meant by an identifier, a plugin's folder, or ``path/to/file.py:make``.

    Parameters
    ----------
    kind : str
        ``'benchmark'``, ``'data'``, ``'metric'`` or ``'model'``; ``'any'`` for all that a folder registers.
    reference : str
        What the user wrote.

    Raises
    ------
    UserError
        If there is nothing of that name, or the folder registers nothing of the kind.
    """
    from brainscore_vision._subjects import is_file_reference

    if is_file_reference(reference):
        return [_of_file(kind, reference)]
    if is_folder(reference):
        folder = Path(reference).expanduser()
        found = [one for one in _of_folder(folder) if kind in ("any", one.kind, _plugin_kind(one.kind))]
        if not found:
            raise UserError(
                f"{folder} registers no {kind}" if kind != "any" else f"{folder} registers nothing",
                remedy="its __init__.py must give an identifier to a function, such as "
                "benchmark_registry['AuthorYear-metric'] = MyBenchmark",
            )
        return found
    return list(_of_identifier(kind, reference))


def _plugin_kind(kind: str) -> str:
    return "data" if kind == "stimulus set" else kind


def _of_file(kind: str, reference: str) -> Reference:
    from brainscore_vision._subjects import load_subject_file, to_subject

    def load() -> Any:
        made, source = load_subject_file(reference, noun=kind)
        return to_subject(made, source=source).model if kind == "model" else made

    return Reference(kind, reference, load, None)


def _of_folder(folder: Path) -> Iterator[Reference]:
    from brainscore_vision._plugin_folders import make_visible, registered_in

    make_visible(folder)
    for registry, key in registered_in(folder):
        yield _reference(registry.name, key, folder)


def _of_identifier(kind: str, identifier: str) -> Iterator[Reference]:
    import brainscore_vision

    found = False
    for name in _REGISTRIES[kind]:
        registry = getattr(brainscore_vision, name)
        if kind == "benchmark":
            identifier = registry.resolve(identifier)
        if identifier in registry:
            found = True
            yield _reference(name, identifier, registry.location(identifier).folder)
    if not found:
        getattr(brainscore_vision, _REGISTRIES[kind][0]).location(identifier)  # says what there is


def _reference(registry: str, key: str, folder: Path | None) -> Reference:
    import brainscore_vision

    kind, loader = _LOADERS[registry]
    return Reference(kind, key, lambda: getattr(brainscore_vision, loader)(key), folder)
