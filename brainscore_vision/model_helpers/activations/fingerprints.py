"""Hashes of what a model's activations depend on: weights, code, preprocessing, stimuli."""

import dis
import functools
import hashlib
import inspect
import json
import os
import sys
import types
from argparse import Namespace
from collections import OrderedDict
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, field, is_dataclass
from enum import Enum
from itertools import chain
from pathlib import Path, PurePath
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

import numpy as np

from brainscore_core.errors import BrainScoreError
from brainscore_core.files import file_digest
from brainscore_core.plugins.source import plugin_hash

if TYPE_CHECKING:
    import torch

_DEPTH = 24
"""Levels of objects within each other: a function, its closure, an object's attributes, their items."""

_NETWORK_DEPTH = 8
"""As `_DEPTH`, in settings of networks, whose deeper objects only count by their type."""

_MOST_OBJECTS = 200_000
"""Of a fingerprint, each counted as often as it is reached; with more, objects may refer to each other without end."""

_MOST_NAMED_OBJECTS = 20_000
"""As `_MOST_OBJECTS`, from which on values that code names only count by their type."""

_MOST_BYTES = 1 << 26
"""Of an array that code names; of a larger one, this many bytes are hashed, at equal distances."""

Mode = Literal["complete", "settings", "named"]
"""`complete`: what cannot be read raises an error; `settings` (of networks): it counts by its type; `named` (globals,
attributes of classes): so do objects of libraries, unless they are callable or only hold settings."""

_PLUGIN_PACKAGES = tuple(f"brainscore_vision.{kind}." for kind in ("models", "benchmarks", "metrics", "data"))


class Unhashable(BrainScoreError):
    """An object whose behavior does not depend on visible code and state alone; its results cannot be stored."""


def fingerprint(value: Any) -> str:
    """Hash of a value, or of the code and state of a callable.

    The hash of functions includes their bytecode, defaults, closure and the source of their module (in plugins, of the
    whole plugin); that of objects the source of their class and their attributes, but not the values of cached
    properties, which follow from these; that of arrays and tensors their bytes. Of functions and classes outside of
    libraries, it also includes globals, attributes of classes and environment variables that their code names, and
    functions that it calls by name; but not globals that the code itself changes, such as caches and counters.

    Unhashable if an object in it has neither code nor state that can be read.

    Examples
    --------
    >>> def double(x, factor=2):
    ...     return factor * x
    >>> before = fingerprint(double)
    >>> double.__defaults__ = (3,)
    >>> fingerprint(double) == before
    False
    """
    return _digest(_described(value, frozenset(), 0, mode="complete", seen=_Seen()))


def weights_fingerprint(network: "torch.nn.Module") -> str:
    """Hash of the names, types, shapes and bytes of all parameters and buffers, and of quantised weights."""
    digest = hashlib.sha256()
    for name, tensor in chain(_tensors(network), _quantised(network)):
        digest.update(f"{name}\0{tensor.dtype}\0{tuple(tensor.shape)}\0".encode())
        digest.update(_bytes_of(tensor))
    return digest.hexdigest()


def code_fingerprint(network: "torch.nn.Module") -> str:
    """Hash of the code and settings of all modules, and of globals and class attributes that their code names."""
    return _code_of_network(network, frozenset(), 0, _Seen())


def _code_of_network(network: "torch.nn.Module", above: frozenset[int], depth: int, seen: "_Seen") -> str:
    import torch

    inside = above.union(id(module) for module in network.modules())  # a hook may refer to its module
    describe = functools.partial(_described, above=inside, depth=depth, mode="settings", seen=seen)
    description: list[Any] = [f"torch {torch.__version__}"]
    for name, module in network.named_modules():
        settings = {
            key: value
            for key, value in vars(module).items()
            if key not in {"_parameters", "_buffers", "_modules", "training"}
            and not (key.startswith("_") and _is_empty(value))
        }
        description.append([name, _class(type(module), describe, seen), describe(settings)])
    return _digest(description)


def network_state(network: "torch.nn.Module") -> tuple[Any, ...]:
    """A cheap summary that changes when weights are replaced or modified: addresses, versions, sums."""
    state = []
    for name, tensor in _tensors(network):
        version = -1 if tensor.is_inference() else tensor._version  # noqa: SLF001 -- as PyTorch's notes on autograd name it
        total = tensor.sum().item() if tensor.is_floating_point() and tensor.numel() else 0.0
        state.append((name, tensor.data_ptr(), tuple(tensor.shape), str(tensor.dtype), version, repr(total)))
    packed = [(name, hashlib.sha256(_bytes_of(tensor)).hexdigest()) for name, tensor in _quantised(network)]
    return (*state, *packed)


def calling_plugin() -> str | None:
    """Hash of the plugin whose code made this call; None if there is no plugin."""
    frame = sys._getframe(1)
    while frame is not None:
        folder = _plugin_folder(frame.f_globals.get("__name__", ""))
        if folder is not None:
            return plugin_hash(folder)
        frame = frame.f_back  # type: ignore[assignment] # None ends it
    return None


def named_globals(function: types.FunctionType) -> list[Any]:
    """Values of the closure and defaults of a function, and of globals that its code names; none of a library's.

    Examples
    --------
    >>> __name__ = "__main__"
    >>> def outer(factor):
    ...     return lambda x: x * factor
    >>> named_globals(outer(3))
    [3]
    """
    if is_library(function.__module__):
        return []
    cells = []
    for cell in function.__closure__ or ():
        with suppress(ValueError):  # a cell that was never filled
            cells.append(cell.cell_contents)
    names = sorted(_names_in(function.__code__).read & function.__globals__.keys())
    return [*cells, *(function.__defaults__ or ()), *(function.__globals__[name] for name in names)]


def _tensors(network: "torch.nn.Module") -> Iterable[tuple[str, "torch.Tensor"]]:
    yield from network.named_parameters(remove_duplicate=False)
    yield from network.named_buffers(remove_duplicate=False)


def _quantised(network: "torch.nn.Module") -> Iterable[tuple[str, "torch.Tensor"]]:
    """Weights that quantised modules hold in objects of C++: in the network's state, but not parameters."""
    import torch

    values = (value for module in network.modules() for value in vars(module).values())
    if not any(isinstance(value, torch.ScriptObject) for value in values):
        return
    names_of_tensors = {name for name, _ in _tensors(network)}
    for name, value in network.state_dict().items():
        if name not in names_of_tensors:
            members = value if isinstance(value, tuple) else (value,)
            yield from ((name, tensor) for tensor in members if isinstance(tensor, torch.Tensor))


def _is_empty(value: Any) -> bool:
    """Whether a setting is not set; tensors and objects of C++ have no truth value."""
    return value is None or (isinstance(value, bool | dict | list | set | str | tuple) and not value)


def _bytes_of(tensor: "torch.Tensor") -> Any:
    import torch

    plain = tensor.detach().cpu().contiguous()
    if plain.is_quantized:
        plain = plain.int_repr()
    return plain.reshape(-1).view(torch.uint8).numpy()


def _digest(described: Any) -> str:
    return hashlib.sha256(json.dumps(described, sort_keys=True, separators=(",", ":")).encode()).hexdigest()


@dataclass
class _Seen:
    """What a fingerprint has reached so far."""

    objects: int = 0  # number of objects
    # Functions and classes that are described, by their id; they are described once
    code: dict[int, Any] = field(default_factory=dict)
    # Globals that the code changes: id of the namespace, and name
    changed: set[tuple[int, str]] = field(default_factory=set)

    def first_time(self, code: Any) -> bool:
        """Whether a function or class is not described yet; from now on it is."""
        is_described = id(code) in self.code
        self.code[id(code)] = code
        return not is_described


def _described(value: Any, above: frozenset[int], depth: int, *, mode: Mode, seen: _Seen) -> Any:
    """Describe a value in plain JSON types; `above` are the objects that contain it."""
    if value is None or isinstance(value, bool | int | float | str):
        return [type(value).__name__, repr(value)]
    if id(value) in above:
        return ["again", type(value).__name__]
    complete = mode == "complete"
    seen.objects += 1
    if depth > (_NETWORK_DEPTH if mode == "settings" else _DEPTH):
        if complete:
            raise Unhashable(f"{type(value).__name__} is nested too deeply to be hashed")
        return ["deep", type(value).__name__]
    if complete and seen.objects > _MOST_OBJECTS:
        raise Unhashable(f"functions that refer to more than {_MOST_OBJECTS:,} objects cannot be hashed")
    if mode == "named" and seen.objects > _MOST_NAMED_OBJECTS:
        return ["deep", type(value).__name__]
    inside = above | {id(value)}
    describe = functools.partial(_described, above=inside, depth=depth + 1, mode=mode, seen=seen)
    torch = sys.modules.get("torch")
    if torch is not None and isinstance(value, torch.nn.Module):
        return ["network", weights_fingerprint(value), _code_of_network(value, inside, depth + 1, seen)]
    if mode != "named" or not isinstance(value, Mapping) or type(value) in (dict, OrderedDict):
        plain = _plain(value, describe, most_bytes=_MOST_BYTES if mode == "named" else None)
        if plain is not None:
            return plain
    if isinstance(value, functools.partial):
        return ["partial", describe(value.func), describe(value.args), describe(value.keywords)]
    if isinstance(value, types.MethodType):
        return ["method", describe(value.__func__), describe(value.__self__)]
    if isinstance(value, types.FunctionType):
        if mode == "named" and is_library(value.__module__):
            return ["named", value.__module__, value.__qualname__, _version_of(value.__module__)]
        return _function(value, describe, seen)
    if isinstance(value, type):
        return ["class", _class(value, describe, seen)]
    if isinstance(value, types.ModuleType | types.BuiltinFunctionType | np.ufunc):
        return ["named", getattr(value, "__module__", None), value.__name__]
    if mode == "named" and not _has_settings(value):
        return ["object", type(value).__module__, type(value).__qualname__]
    return _object(value, describe, seen, complete=complete)


def _plain(value: Any, describe: Callable[[Any], Any], most_bytes: int | None) -> Any:
    if isinstance(value, bytes | bytearray | memoryview):
        return ["bytes", hashlib.sha256(value).hexdigest()]
    if isinstance(value, list | tuple):
        return [type(value).__name__, *(describe(item) for item in value)]
    if isinstance(value, set | frozenset):
        return ["set", *sorted(json.dumps(describe(item)) for item in value)]
    if isinstance(value, Mapping):
        return ["map", *([describe(key), describe(item)] for key, item in list(value.items()))]
    if isinstance(value, Enum):
        return ["enum", type(value).__qualname__, value.name]
    if isinstance(value, complex | slice | PurePath | np.dtype):
        return [type(value).__name__, str(value)]
    if isinstance(value, np.ndarray | np.generic):
        shape, array = list(value.shape), value
        if most_bytes is not None and value.nbytes > most_bytes:
            array = value.reshape(-1)[:: -(-value.nbytes // most_bytes)]
        array = np.ascontiguousarray(array)
        if array.dtype.hasobject:
            return ["array", *(describe(item) for item in array.reshape(-1).tolist())]
        return ["array", str(array.dtype), shape, hashlib.sha256(array.tobytes()).hexdigest()]
    torch = sys.modules.get("torch")
    if torch is None:
        return None
    if isinstance(value, torch.Tensor):
        data = hashlib.sha256(_bytes_of(value)).hexdigest()
        return ["tensor", str(value.dtype), list(value.shape), data]
    if isinstance(value, torch.dtype | torch.device | torch.Size):
        return ["torch", str(value)]
    return None


def _function(function: types.FunctionType, describe: Callable[..., Any], seen: _Seen) -> Any:
    name = ["function", function.__module__, function.__qualname__]
    if not seen.first_time(function):
        return [*name, "again"]
    cells, changed = [], _names_in(function.__code__).changed
    for variable, cell in zip(function.__code__.co_freevars, function.__closure__ or (), strict=False):
        try:
            cells.append(None if variable in changed else describe(cell.cell_contents))
        except ValueError:  # a cell that was never filled
            cells.append(None)
    return [
        *name,
        _source_of(function.__module__, function),
        _bytecode(function.__code__),
        describe(function.__defaults__),
        describe(function.__kwdefaults__),
        cells,
        [] if is_library(function.__module__) else list(_named_by(function, describe, seen)),
    ]


class _Names(NamedTuple):
    """Names in the code of a function and the functions defined in it."""

    # Globals that it reads; globals and variables of its closure that it binds anew or changes in place
    read: frozenset[str]
    changed: frozenset[str]
    attributes: frozenset[tuple[str, str]]  # attributes that it reads of globals
    texts: frozenset[str]  # texts in it that may name environment variables; empty if it reads none


_CHANGING = frozenset(
    {"add", "append", "clear", "discard", "extend", "insert", "pop", "popitem", "remove", "setdefault", "update"}
)
"""Methods that change a list, a dictionary or a set."""

_LOADS = ("LOAD_GLOBAL", "LOAD_NAME", "LOAD_DEREF")
_READS_ENVIRONMENT = frozenset({"environ", "getenv"})


@functools.lru_cache(maxsize=1 << 14)
def _names_in(code: types.CodeType) -> _Names:
    read, changed, attributes = set(), set(), set()
    outer_at: dict[Any, str] = {}  # position in the source → the outer variable with which an expression begins
    previous: dis.Instruction | None = None
    for step in dis.get_instructions(code):
        at = step.positions and (step.positions.lineno, step.positions.col_offset)
        if step.opname in _LOADS:
            outer_at[at] = step.argval
            if step.opname != "LOAD_DEREF":
                read.add(step.argval)
        elif step.opname in ("STORE_GLOBAL", "DELETE_GLOBAL", "STORE_DEREF"):
            changed.add(step.argval)
        elif step.opname in ("STORE_SUBSCR", "DELETE_SUBSCR", "STORE_ATTR", "DELETE_ATTR"):
            changed |= {outer_at[at]} if at in outer_at else set()
        elif step.opname in ("LOAD_ATTR", "LOAD_METHOD") and previous is not None and previous.opname in _LOADS:
            attributes.add((previous.argval, step.argval))
            changed |= {previous.argval} if step.argval in _CHANGING else set()
        previous = step
    texts = {item for item in code.co_consts if isinstance(item, str) and item.isidentifier()}
    inner = [_names_in(item) for item in code.co_consts if isinstance(item, types.CodeType)]
    return _Names(
        frozenset(read).union(*(names.read for names in inner)),
        frozenset(changed).union(*(names.changed for names in inner)),
        frozenset(attributes).union(*(names.attributes for names in inner)),
        frozenset(texts if _READS_ENVIRONMENT & {*code.co_names} else ()).union(*(names.texts for names in inner)),
    )


def _named_by(function: types.FunctionType, describe: Callable[..., Any], seen: _Seen) -> Iterator[Any]:
    """Describe the globals and environment variables that a function names."""
    _find_changed(function, seen, set())
    namespace, names = function.__globals__, _names_in(function.__code__)
    variables = set(names.texts)
    for name in sorted(names.read):
        if name not in namespace or name.startswith("__") or (id(namespace), name) in seen.changed:
            continue
        value = namespace[name]
        yield [name, _named(value, describe)]
        if isinstance(value, types.ModuleType) and not is_library(value.__name__):
            for attribute in sorted(attribute for owner, attribute in names.attributes if owner == name):
                yield [name, attribute, _named(vars(value).get(attribute), describe)]
        elif names.texts and isinstance(value, str):
            variables.add(value)
    yield from ([variable, os.environ.get(variable)] for variable in sorted(variables))


def _find_changed(function: types.FunctionType, seen: _Seen, visited: set[int]) -> None:
    """Add the globals that a function, and those that it calls by name, change."""
    if id(function) in visited or is_library(function.__module__):
        return
    visited.add(id(function))
    names = _names_in(function.__code__)
    seen.changed |= {(id(function.__globals__), name) for name in names.changed}
    for name in names.read:
        value = function.__globals__.get(name)
        members = vars(value).values() if isinstance(value, type) else [value]
        for member in map(_unwrapped, members):
            if isinstance(member, types.FunctionType):
                _find_changed(member, seen, visited)


def _named(value: Any, describe: Callable[..., Any]) -> Any:
    """Describe a value that code names; whatever it is, this raises no error."""
    if isinstance(value, types.ModuleType):
        return ["module", value.__name__, _version_of(value.__name__)]
    try:
        return describe(value, mode="named")
    except Exception:  # noqa: BLE001 - objects may raise any error when they are read; then their type counts
        return ["object", type(value).__module__, type(value).__qualname__]


def _has_settings(value: Any) -> bool:
    """Whether the attributes of an object that code names count: not those of files, loggers, generators."""
    if callable(value) or isinstance(value, types.SimpleNamespace | Namespace) or is_dataclass(value):
        return True
    return not is_library(type(value).__module__)


def _unwrapped(member: Any) -> Any:
    """The function of a method or property of a class; other members unchanged."""
    if isinstance(member, staticmethod | classmethod):
        return member.__func__
    if isinstance(member, property):
        return member.fget
    return member.func if isinstance(member, functools.cached_property) else member


def is_library(module_name: str | None) -> bool:
    """Whether a module belongs to Python, an installed library or this platform, whose settings do not count.

    Examples
    --------
    >>> is_library("json"), is_library("__main__")
    (True, False)
    """
    package = (module_name or "").partition(".")[0]
    if _plugin_folder(module_name or "") is not None:
        return False
    if package == "__main__":
        return False
    if package in sys.stdlib_module_names or package in ("brainscore_core", "brainscore_vision"):
        return True
    file = getattr(sys.modules.get(module_name or ""), "__file__", None)
    return file is not None and not {"site-packages", "dist-packages"}.isdisjoint(Path(file).parts)


def _version_of(module_name: str) -> str | None:
    """Version of the library of a module; of other modules the hash of their file."""
    if not is_library(module_name):
        return _source_of(module_name, None)
    version = getattr(sys.modules.get(module_name.partition(".")[0]), "__version__", None)
    return version if isinstance(version, str) else None


def _bytecode(code: types.CodeType) -> Any:
    constants = [_bytecode(item) if isinstance(item, types.CodeType) else _constant(item) for item in code.co_consts]
    return [code.co_code.hex(), constants, list(code.co_names), list(code.co_varnames)]


def _constant(value: Any) -> str:
    return "|".join(sorted(map(repr, value))) if isinstance(value, frozenset) else repr(value)


def _object(value: Any, describe: Callable[..., Any], seen: _Seen, *, complete: bool) -> Any:
    state: Any = getattr(value, "__dict__", None)
    if state is None:
        slots = [name for cls in type(value).__mro__ for name in _slots(cls)]
        state = {name: getattr(value, name) for name in slots if hasattr(value, name)} if slots else None
    if state is None:
        text = repr(value)
        if " at 0x" in text:
            if complete:
                raise Unhashable(f"a {type(value).__module__}.{type(value).__qualname__} has no readable state")
            text = ""
        return ["object", _class(type(value), describe, seen), text]
    attributes = {
        name: item
        for name, item in state.items()
        if not isinstance(inspect.getattr_static(type(value), name, None), functools.cached_property)
    }
    return ["object", _class(type(value), describe, seen), describe(attributes)]


def _slots(cls: type) -> tuple[str, ...]:
    slots = cls.__dict__.get("__slots__", ())
    return (slots,) if isinstance(slots, str) else tuple(slots)


def _class(cls: type, describe: Callable[..., Any], seen: _Seen) -> list[Any]:
    """Name and source of a class and its base classes, and attributes and methods of those outside of libraries."""
    if not seen.first_time(cls):
        return [cls.__module__, cls.__qualname__]
    return [
        [base.__module__, base.__qualname__, _source_of(base.__module__, base), list(_members(base, describe))]
        for base in cls.__mro__
        if base.__module__ not in {"builtins", "abc", "typing"} and not base.__module__.startswith("torch.")
    ]


def _members(cls: type, describe: Callable[..., Any]) -> Iterator[Any]:
    if is_library(cls.__module__):
        return
    for name, value in sorted(vars(cls).items()):
        member = _unwrapped(value)
        if isinstance(member, types.FunctionType) or not (name.startswith("__") or name == "_abc_impl"):
            yield [name, _named(member, describe)]


def _source_of(module_name: str | None, member: Any) -> str | None:
    """Hash of the source of a function or class: of its plugin, else of its module; without a file, its own source."""
    folder = _plugin_folder(module_name or "")
    if folder is not None:
        return plugin_hash(folder)
    module = sys.modules.get(module_name or "")
    file = getattr(module, "__file__", None)
    if file is not None and Path(file).is_file():
        return file_digest(Path(file), "sha256")
    try:
        return hashlib.sha256(inspect.getsource(member).encode()).hexdigest()
    except (OSError, TypeError):
        return None


def _plugin_folder(module_name: str) -> Path | None:
    for package in _PLUGIN_PACKAGES:
        if module_name.startswith(package):
            plugin = sys.modules.get(package + module_name.removeprefix(package).split(".")[0])
            file = getattr(plugin, "__file__", None)
            if file is not None:
                path = Path(file)
                return path.parent if path.name == "__init__.py" else path
    return None
