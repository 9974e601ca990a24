"""Hashes of what a model's activations depend on: weights, code, preprocessing, stimuli."""

import functools
import hashlib
import inspect
import json
import sys
import types
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from enum import Enum
from itertools import chain
from pathlib import Path, PurePath
from typing import TYPE_CHECKING, Any

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

_PLUGIN_PACKAGES = tuple(f"brainscore_vision.{kind}." for kind in ("models", "benchmarks", "metrics", "data"))


class Unhashable(BrainScoreError):
    """An object whose behavior does not depend on visible code and state alone; its results cannot be stored."""


def fingerprint(value: Any) -> str:
    """Hash of a value, or of the code and state of a callable.

    The hash of functions includes their bytecode, defaults, closure and the source of their module (in plugins, of the
    whole plugin); that of objects the source of their class and their attributes, but not the values of cached
    properties, which follow from these; that of arrays and tensors their bytes. Of functions and classes outside of
    libraries, it also includes the functions, classes, callable objects and constants that their code names.

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
    return _digest(_described(value, frozenset(), 0, complete=True, seen=_Seen()))


def weights_fingerprint(network: "torch.nn.Module") -> str:
    """Hash of the names, types, shapes and bytes of all parameters and buffers, and of quantised weights."""
    digest = hashlib.sha256()
    for name, tensor in chain(_tensors(network), _quantised(network)):
        digest.update(f"{name}\0{tensor.dtype}\0{tuple(tensor.shape)}\0".encode())
        digest.update(_bytes_of(tensor))
    return digest.hexdigest()


def code_fingerprint(network: "torch.nn.Module") -> str:
    """Hash of the code and settings of all modules."""
    return _code_of_network(network, frozenset(), 0, _Seen())


def _code_of_network(network: "torch.nn.Module", above: frozenset[int], depth: int, seen: "_Seen") -> str:
    import torch

    inside = above.union(id(module) for module in network.modules())  # a hook may refer to its module
    describe = functools.partial(_described, above=inside, depth=depth, complete=False, seen=seen)
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

    def first_time(self, code: Any) -> bool:
        """Whether a function or class is not described yet; from now on it is."""
        is_described = id(code) in self.code
        self.code[id(code)] = code
        return not is_described


def _described(value: Any, above: frozenset[int], depth: int, *, complete: bool, seen: _Seen) -> Any:
    """Describe a value in plain JSON types; `above` are the objects that contain it.

    `complete`: what cannot be read raises an error; otherwise, as in settings of networks, it counts by its type.
    """
    if value is None or isinstance(value, bool | int | float | str):
        return [type(value).__name__, repr(value)]
    if id(value) in above:
        return ["again", type(value).__name__]
    seen.objects += 1
    if depth > (_DEPTH if complete else _NETWORK_DEPTH):
        if complete:
            raise Unhashable(f"{type(value).__name__} is nested too deeply to be hashed")
        return ["deep", type(value).__name__]
    if complete and seen.objects > _MOST_OBJECTS:
        raise Unhashable(f"functions that refer to more than {_MOST_OBJECTS:,} objects cannot be hashed")
    inside = above | {id(value)}
    describe = functools.partial(_described, above=inside, depth=depth + 1, complete=complete, seen=seen)
    torch = sys.modules.get("torch")
    if torch is not None and isinstance(value, torch.nn.Module):
        return ["network", weights_fingerprint(value), _code_of_network(value, inside, depth + 1, seen)]
    plain = _plain(value, describe)
    if plain is not None:
        return plain
    if isinstance(value, functools.partial):
        return ["partial", describe(value.func), describe(value.args), describe(value.keywords)]
    if isinstance(value, types.MethodType):
        return ["method", describe(value.__func__), describe(value.__self__)]
    if isinstance(value, types.FunctionType):
        return _function(value, describe, seen)
    if isinstance(value, type):
        return ["class", _class(value, describe, seen)]
    if isinstance(value, types.ModuleType | types.BuiltinFunctionType | np.ufunc):
        return ["named", getattr(value, "__module__", None), value.__name__]
    return _object(value, describe, seen, complete=complete)


def _plain(value: Any, describe: Callable[[Any], Any]) -> Any:
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
        array = np.ascontiguousarray(value)
        if array.dtype.hasobject:
            return ["array", *(describe(item) for item in array.reshape(-1).tolist())]
        return ["array", str(array.dtype), list(value.shape), hashlib.sha256(array.tobytes()).hexdigest()]
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
    cells = []
    for cell in function.__closure__ or ():
        try:
            cells.append(describe(cell.cell_contents))
        except ValueError:  # a cell that was never filled
            cells.append(None)
    return [
        *name,
        _source_of(function.__module__, function),
        _bytecode(function.__code__),
        describe(function.__defaults__),
        describe(function.__kwdefaults__),
        cells,
        [] if _is_library(function.__module__) else list(_named_by(function, describe)),
    ]


def _names_in(code: types.CodeType) -> set[str]:
    """Names in the code of a function and the functions defined in it."""
    inner = (_names_in(item) for item in code.co_consts if isinstance(item, types.CodeType))
    return {*code.co_names}.union(*inner)


def _named_by(function: types.FunctionType, describe: Callable[..., Any]) -> Iterator[Any]:
    """Describe what a function calls by name, and constants that it names."""
    namespace = function.__globals__
    for name in sorted(_names_in(function.__code__) & namespace.keys()):
        value = namespace[name]
        if isinstance(value, type | types.FunctionType) and _is_library(value.__module__):
            continue
        if callable(value) or isinstance(value, bool | int | float | str | tuple | PurePath):
            try:
                yield [name, describe(value)]
            except Unhashable:
                yield [name, type(value).__name__]


def _is_library(module_name: str | None) -> bool:
    """Whether a module belongs to Python, an installed library or this platform.

    Examples
    --------
    >>> _is_library("json"), _is_library("__main__")
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
    attributes = {name: item for name, item in state.items() if not _is_cached_property(type(value), name)}
    return ["object", _class(type(value), describe, seen), describe(attributes)]


def _is_cached_property(cls: type, name: Any) -> bool:
    return isinstance(inspect.getattr_static(cls, name, None), functools.cached_property)


def _slots(cls: type) -> tuple[str, ...]:
    slots = cls.__dict__.get("__slots__", ())
    return (slots,) if isinstance(slots, str) else tuple(slots)


def _class(cls: type, describe: Callable[..., Any], seen: _Seen) -> list[Any]:
    """Name and source of a class and its base classes."""
    if not seen.first_time(cls):
        return [cls.__module__, cls.__qualname__]
    return [
        [base.__module__, base.__qualname__, _source_of(base.__module__, base)]
        for base in cls.__mro__
        if base.__module__ not in {"builtins", "abc", "typing"} and not base.__module__.startswith("torch.")
    ]


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
