"""Objects that a function in a file makes: ``path/to/file.py:make_model``."""

from __future__ import annotations

import importlib.util
import inspect
import sys
import traceback
from hashlib import sha256
from pathlib import Path
from typing import Any, NamedTuple

from brainscore_core.errors import UserError, nearest


class UnregisteredModel(NamedTuple):
    """A model without a registration, ready to be scored."""

    identifier: str
    model: Any
    source: Path | None  # file that defines the model, if known; the receipt has its hash
    remarks: tuple[str, ...] = ()  # choices made automatically, for the receipt


def is_file_reference(model: Any) -> bool:
    """Whether a reference has the form ``path/to/file.py:make_model``.

    A UserError if it is the name of a file without a function.
    """
    if isinstance(model, str) and model.endswith(".py"):
        raise UserError(f"{model!r} names a file without a function", remedy=f"write it as {model}:make_model")
    return isinstance(model, str) and ".py:" in model


def referenced_file(reference: str) -> Path:
    """Absolute path of the file in ``path/to/file.py:make_model``.

    Examples
    --------
    >>> referenced_file("/models/mine.py:make_model")
    PosixPath('/models/mine.py')
    """
    return Path(reference.rpartition(":")[0]).expanduser().resolve()


def load_file_reference(reference: str, *, noun: str = "model") -> tuple[Any, Path]:
    """Call the function that a reference names.

    `reference`: ``path/to/file.py:make_model``, or the name of a variable in the file. `noun`: what the function makes,
    for messages. Result: what the function returned, and the file. A UserError if the file or the name in it does not
    exist, or the function needs arguments or returns nothing.
    """
    file_name, _, name = reference.rpartition(":")
    path = referenced_file(reference)
    if not path.is_file():
        raise UserError(f"there is no file {file_name!r}", remedy=f"write it as path/to/file.py:make_{noun}")
    if not name.isidentifier():
        raise UserError(
            f"{reference!r} does not name a function in {path.name}", remedy=f"write it as {file_name}:make_{noun}"
        )
    module = _import_file(path)
    if not hasattr(module, name):
        near = nearest(name, [known for known in vars(module) if not known.startswith("_")], limit=3)
        raise UserError(
            f"{path} has no {name!r}",
            remedy=f"did you mean {' or '.join(near)}?" if near else f"name a function that returns the {noun}",
        )
    value = getattr(module, name)
    if _is_factory(value):
        needed = [
            parameter.name
            for parameter in inspect.signature(value).parameters.values()
            if parameter.default is parameter.empty
            and parameter.kind not in (parameter.VAR_POSITIONAL, parameter.VAR_KEYWORD)
        ]
        if needed:
            raise UserError(
                f"{reference} needs arguments: {', '.join(needed)}",
                remedy="give them defaults: it is called without arguments",
            )
        value = value()
    if value is None:
        raise UserError(f"{reference} returned nothing", remedy=f"return the {noun}")
    return value, path


def _import_file(path: Path) -> Any:
    # the module name is unique to the path, so that two files of the same name do not collide
    name = f"_brainscore_file_{sha256(str(path).encode()).hexdigest()[:16]}"
    spec = importlib.util.spec_from_file_location(name, path)
    if spec is None or spec.loader is None:
        raise UserError(f"{path} cannot be imported", remedy="name a Python file")
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    sys.path.insert(0, str(path.parent))  # neighbouring modules can be imported, as if the file were run
    try:
        spec.loader.exec_module(module)
    except (Exception, SystemExit) as error:
        del sys.modules[name]
        raise UserError(
            f"{path} cannot be imported{_error_line(error, path)}: {type(error).__name__}: {error}",
            remedy=f"fix it; `python {path.name}` shows where it fails",
        ) from error
    finally:
        sys.path.remove(str(path.parent))
    return module


def _error_line(error: BaseException, path: Path) -> str:
    """Line of the file that raised an error, as part of a sentence."""
    if isinstance(error, SyntaxError):
        return f" (line {error.lineno})"
    lines = [frame.lineno for frame in traceback.extract_tb(error.__traceback__) if frame.filename == str(path)]
    return f" (line {lines[-1]})" if lines else ""


def _is_factory(value: Any) -> bool:
    return inspect.isfunction(value) or inspect.isclass(value)
