"""Hooks: users' own on batches and stimulus sets, and those that read a network's layers while it runs."""

import fnmatch
import re
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from difflib import get_close_matches
from functools import partial
from threading import Lock, RLock
from typing import TYPE_CHECKING, Any
from weakref import WeakKeyDictionary

from brainscore_core.errors import UserError
from brainscore_vision.model_helpers.activations._pooling import tensor_of

if TYPE_CHECKING:
    import torch

__all__ = ["HookHandle", "LayerNames", "Listener"]

_locks: "WeakKeyDictionary[torch.nn.Module, Any]" = WeakKeyDictionary()
_registering = Lock()
_CALL = re.compile(r"(?P<module>.+)-t(?P<call>\d+)")


class HookHandle:
    """A registered hook: take it away for good, or for a while.

    Examples
    --------
    >>> hooks = {}
    >>> handle = HookHandle(hooks, print)
    >>> handle.disable()
    >>> hooks
    {}
    >>> handle.enable()
    >>> list(hooks.values())
    [<built-in function print>]
    """

    _next = 0

    def __init__(self, hooks: dict[int, Callable[[Any], Any]], hook: Callable[[Any], Any]) -> None:
        self._hooks = hooks
        self._hook = hook
        self.id = HookHandle._next
        HookHandle._next += 1
        hooks[self.id] = hook

    def remove(self) -> Callable[[Any], Any]:
        """Take the hook away and return it."""
        self._hooks.pop(self.id, None)
        return self._hook

    def disable(self) -> None:
        """Take the hook away until :meth:`enable`."""
        self.remove()

    def enable(self) -> None:
        """Put the hook back."""
        self._hooks[self.id] = self._hook


class LayerNames:
    """Names by which layers of a network are asked for.

    A name as in ``named_modules()``; ``'logits'``, the last module that has no others in it; ``'name-t2'``, what a
    module that runs several times gave the third time; a pattern with ``*``, ``?`` or ``[…]``.
    """

    def __init__(self, network: "torch.nn.Module") -> None:
        self._network = network

    def __iter__(self) -> Iterator[str]:
        return (name for name, _ in self._network.named_modules(remove_duplicate=False) if name)

    def module(self, layer: str) -> tuple["torch.nn.Module", int | None]:
        """The module of a layer, and which of its calls counts (None: the first and only)."""
        modules = dict(self._network.named_modules(remove_duplicate=False))
        if layer == "logits" and layer not in modules:
            return self._last(), None
        if layer in modules:
            return modules[layer], None
        numbered = _CALL.fullmatch(layer)
        if numbered and numbered["module"] in modules:
            return modules[numbered["module"]], int(numbered["call"])
        near = get_close_matches(layer, list(modules), n=3, cutoff=0.4)
        raise UserError(
            f"{type(self._network).__name__} has no layer {layer!r}",
            remedy=(f"nearest: {', '.join(near)}; " if near else "") + "layers() lists all",
        )

    def resolve(self, layers: Sequence[str]) -> list[str]:
        """`layers` with patterns replaced by the names that they match, each layer once."""
        found: list[str] = []
        names = list(self)
        for layer in layers:
            if layer in names or not any(sign in layer for sign in "*?["):
                self.module(layer)
                found.append(layer)
                continue
            matches = [name for name in names if fnmatch.fnmatchcase(name, layer)]
            if not matches:
                raise UserError(
                    f"no layer of {type(self._network).__name__} matches {layer!r}", remedy="layers() lists all"
                )
            found += matches
        return list(dict.fromkeys(found))

    def canonical(self, layer: str) -> str:
        """One name for each layer: ``'logits'`` under the name of its module."""
        if layer != "logits":
            return layer
        wanted = self.module(layer)[0]
        modules = self._network.named_modules(remove_duplicate=False)
        return next((name for name, module in modules if module is wanted), layer)

    def _last(self) -> "torch.nn.Module":
        module = self._network
        while children := list(module.children()):
            module = children[-1]
        return module


def _lock_of(network: "torch.nn.Module") -> Any:
    """Held during a pass: a network's hooks hear whoever runs it, so that two threads take turns."""
    with _registering:
        return _locks.setdefault(network, RLock())


class Listener:
    """Hands on what layers of a network return, while it runs; a context manager, outside of which no hook is left.

    A layer whose module runs several times in one pass is the last of its calls, ``'name-t0'`` the first. The first
    pass counts the calls, so that later ones need not hold on to a value that another replaces.

    Parameters
    ----------
    network : torch.nn.Module
        What runs.
    layers : list of str
        Which layers, as :class:`LayerNames` knows them.
    counts : dict, optional
        Calls of each module, as another listener counted them.
    compiled : bool
        Whether the network is translated by ``torch.compile``, which must then leave the hooks alone.
    """

    def __init__(
        self,
        network: "torch.nn.Module",
        layers: Sequence[str],
        counts: "dict[torch.nn.Module, int] | None" = None,
        *,
        compiled: bool = False,
    ) -> None:
        names = LayerNames(network)
        self._network = network
        self._compiled = compiled
        self._layers = [(layer, *names.module(layer)) for layer in layers]
        self.counts: dict[torch.nn.Module, int] = {} if counts is None else counts
        self._calls: Counter[torch.nn.Module] = Counter()
        self._take: Callable[[str, Any], None] | None = None
        self._handles: list[Any] = []
        self._held: dict[str, Any] = {}

    def __enter__(self) -> "Listener":
        wanted: dict[torch.nn.Module, list[tuple[str, int | None]]] = {}
        for layer, module, call in self._layers:
            wanted.setdefault(module, []).append((layer, call))
        for module, layers in wanted.items():
            hook: Callable[..., None] = partial(self._heard, layers=layers)
            if self._compiled:
                from torch.compiler import disable

                hook = disable(hook)
            self._handles.append(module.register_forward_hook(hook))
        return self

    def __exit__(self, *error: object) -> None:
        for handle in self._handles:
            handle.remove()
        self._handles = []

    @contextmanager
    def passing(self, take: Callable[[str, Any], None]) -> Iterator[None]:
        """Around one forward pass: ``take(layer, output)`` gets each layer's output once, before it is changed."""
        with _lock_of(self._network):
            self._calls.clear()
            self._held.clear()
            self._take = take
            try:
                yield
                for layer, output in self._held.items():
                    take(layer, output)
                self._check()
            finally:
                self._take = None
                self._held.clear()

    def _heard(
        self, module: "torch.nn.Module", _inputs: Any, output: Any, layers: list[tuple[str, int | None]]
    ) -> None:
        if self._take is None:
            return
        number = self._calls[module]
        self._calls[module] += 1
        for layer, call in layers:
            if call is not None or module in self.counts:
                if number == (call if call is not None else self.counts[module] - 1):
                    self._take(layer, output)
            else:  # the first pass: nobody knows yet whether it runs again
                self._held[layer] = tensor_of(output, layer).detach().clone()

    def _check(self) -> None:
        for layer, module, call in self._layers:
            ran = self._calls[module]
            if ran <= (call or 0) or self.counts.setdefault(module, ran) != ran:
                often = f"ran {ran} times" if ran else "did not run"
                before = self.counts.get(module, ran)
                raise UserError(
                    f"layer {layer!r} of {type(self._network).__name__} {often} in a forward pass"
                    + (f", {before} times in the one before" if before != ran else ""),
                    remedy="choose a layer that runs as often whatever the stimulus",
                )
