"""Files that hold a run: what stands in them, checked, and on which line a mistake is."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

from brainscore_core.errors import UserError, nearest

__all__ = ["KEYS", "read_run_file"]


class _WrongValueError(Exception):
    """Says what a value must be."""


def read_run_file(path: Path) -> dict[str, Any]:
    """Read a YAML file that holds a run.

    Parameters
    ----------
    path : Path
        Names of files and folders in it are relative to its folder.

    Returns
    -------
    dict
        What stands there, by the names of the command's options; only what stands there.

    Raises
    ------
    UserError
        If PyYAML is not installed, the file cannot be read or is no YAML, or something in it is unknown or wrong; with
        the line.
    """
    try:
        import yaml
    except ModuleNotFoundError as error:
        raise UserError(
            "a file that holds a run needs PyYAML", remedy='install it: pip install "brainscore[cluster]"'
        ) from error
    try:
        text = path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise UserError(f"{path} cannot be read: {getattr(error, 'strerror', None) or error}") from error
    loader = yaml.SafeLoader(text)
    try:
        node = loader.get_single_node()
        pairs = [(key, value, loader.construct_object(value, deep=True)) for key, value in _entries(node, path)]
    except yaml.YAMLError as error:
        mark = getattr(error, "problem_mark", None)
        where = f"{path}:{mark.line + 1}" if mark is not None else str(path)
        raise UserError(f"{where}: no valid YAML: {getattr(error, 'problem', None) or error}") from error
    finally:
        loader.dispose()
    found: dict[str, Any] = {}
    lines: dict[str, int] = {}
    for key, value_node, value in pairs:
        name, line = str(key.value), key.start_mark.line + 1
        if name not in KEYS:
            near = nearest(name, KEYS, limit=2)
            remedy = f"did you mean {' or '.join(near)}?" if near else f"there are: {', '.join(KEYS)}"
            raise UserError(f"{path}:{line}: there is no {name!r}", remedy=remedy)
        if name in found:
            raise UserError(f"{path}:{line}: {name!r} stands on line {lines[name]} already", remedy="keep one")
        try:
            found[name] = KEYS[name](value)
        except _WrongValueError as error:
            raise UserError(f"{path}:{_line_of(value_node, value, name)}: {name!r} must be {error}") from None
        lines[name] = line
    return {name: _placed(name, value, path.parent) for name, value in found.items()}


def _entries(node: Any, path: Path) -> list[tuple[Any, Any]]:
    if node is None:
        raise UserError(f"{path} is empty", remedy="it needs models and benchmarks")
    if node.id != "mapping":
        raise UserError(
            f"{path}:{node.start_mark.line + 1}: names and values are needed, such as  models: [pixels, gabor]"
        )
    entries: list[tuple[Any, Any]] = node.value
    return entries


def _line_of(node: Any, value: Any, name: str) -> int:
    """Line of what is wrong in a value: of the first wrong item of a list."""
    if node.id == "sequence" and KEYS[name] is _names and isinstance(value, list):
        for item, made in zip(node.value, value, strict=True):
            if not isinstance(made, str) or not made:
                return int(item.start_mark.line) + 1
    return int(node.start_mark.line) + 1


def _names(value: Any) -> list[str]:
    items = [value] if isinstance(value, str) else value
    if not isinstance(items, list) or not items or not all(isinstance(item, str) and item for item in items):
        raise _WrongValueError("a name or a list of names")
    return items


def _text(value: Any) -> str:
    if not isinstance(value, str) or not value:
        raise _WrongValueError("a text")
    return value


def _count(least: int) -> Callable[[Any], int]:
    def check(value: Any) -> int:
        if not isinstance(value, int) or isinstance(value, bool) or value < least:
            raise _WrongValueError(f"a whole number of at least {least}")
        return value

    return check


def _seconds(value: Any) -> float:
    if not isinstance(value, int | float) or isinstance(value, bool) or not value > 0:
        raise _WrongValueError("a number of seconds above 0")
    return float(value)


def _size(value: Any) -> str:
    from brainscore_core.memory import parse_size

    try:
        return str(parse_size(value))
    except (UserError, TypeError, ValueError):
        raise _WrongValueError("a size such as 8GB") from None


def _switch(value: Any) -> bool:
    if not isinstance(value, bool):
        raise _WrongValueError("true or false")
    return value


def _again(value: Any) -> str:
    if value not in ("failed", "none", "all"):
        raise _WrongValueError("failed, none or all")
    return str(value)


KEYS: dict[str, Callable[[Any], Any]] = {
    "models": _names,
    "benchmarks": _names,
    "results": _text,
    "workers": _count(1),
    "max_memory": _size,
    "gpus": _count(0),
    "isolated": _switch,
    "cage": _switch,
    "scheduler": _text,
    "slurm": _text,
    "again": _again,
    "timeout": _seconds,
}
"""What may stand in such a file, and what checks it."""


def _placed(name: str, value: Any, folder: Path) -> Any:
    """Relate names of files to the folder of the file that they stand in."""
    if name == "slurm" or (name == "results" and "://" not in value):
        return str(folder / Path(value).expanduser())
    if name == "models":
        return [_model(one, folder) for one in value]
    return value


def _model(one: str, folder: Path) -> str:
    from brainscore_vision.unregistered_models import is_file_reference

    if not is_file_reference(one):
        return one
    name, separator, reference = one.rpartition("=") if "=" in one.partition(".py:")[0] else ("", "", one)
    return f"{name}{separator}{folder / Path(reference).expanduser()}"
