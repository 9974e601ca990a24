"""PyTorch networks: names of layers, outputs captured while they run, devices and precision."""

import copy
import fnmatch
import re
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import AbstractContextManager, ExitStack, contextmanager, nullcontext
from difflib import get_close_matches
from functools import partial
from itertools import chain
from threading import Lock, RLock
from typing import TYPE_CHECKING, Any
from weakref import WeakKeyDictionary

import numpy as np
from numpy.typing import NDArray

from brainscore_core.errors import UserError
from brainscore_vision.model_helpers.activations.passes import Forward, TakeOutput

if TYPE_CHECKING:
    import torch

__all__ = [
    "LayerNames",
    "Listener",
    "across_devices",
    "as_rows",
    "autocast_type",
    "autocasting",
    "choose_devices",
    "tensor_of",
    "to_input",
]

_locks: "WeakKeyDictionary[torch.nn.Module, Any]" = WeakKeyDictionary()
_registering = Lock()
_CALL = re.compile(r"(?P<module>.+)-t(?P<call>\d+)")


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


RunNetwork = Callable[["torch.nn.Module", Any], None]


def choose_devices(device: Any) -> "list[torch.device]":
    """Devices that are meant by ``'auto'``, a device, or a list of devices."""
    import torch

    if isinstance(device, list | tuple):
        if not device:
            raise UserError("device is an empty list", remedy="pass 'auto', 'cpu', 'cuda', 'mps' or a list of them")
        return [one for each in device for one in choose_devices(each)]
    if device == "auto":
        if torch.cuda.is_available():
            device = "cuda"
        else:
            device = "mps" if torch.backends.mps.is_available() else "cpu"
    chosen = torch.device(device)
    if chosen.type == "cuda" and not torch.cuda.is_available():
        raise UserError("device is 'cuda', but PyTorch finds no GPU", remedy="pass device='auto'")
    return [chosen]


def autocast_type(autocast: Any) -> "torch.dtype | None":
    """Type in which is computed under autocast; None without it."""
    import torch

    if autocast is None or autocast is False:
        return None
    chosen = torch.bfloat16 if autocast is True else autocast
    chosen = getattr(torch, chosen, None) if isinstance(chosen, str) else chosen
    if chosen not in (torch.bfloat16, torch.float16):
        raise UserError(f"autocast is {autocast!r}", remedy="pass True, torch.bfloat16 or torch.float16")
    return chosen


def autocasting(device: "torch.device", dtype: "torch.dtype | None") -> AbstractContextManager[Any]:
    """Context in which `device` computes in `dtype` where that is safe."""
    import torch

    return nullcontext() if dtype is None else torch.autocast(device.type, dtype=dtype)


def to_input(network: "torch.nn.Module", images: Any) -> Any:
    """Preprocessed images as one tensor on the network's device, in the type of its weights."""
    import torch

    if isinstance(images, list | tuple):
        images = torch.stack([torch.as_tensor(image) for image in images])
    images = torch.as_tensor(images)
    tensors = chain(network.parameters(), network.buffers())
    weights = next((one for one in tensors if one.is_floating_point()), None)
    if weights is None:
        return images
    dtype = weights.dtype if images.is_floating_point() else images.dtype
    return images.to(weights.device, dtype, non_blocking=images.is_pinned())


@contextmanager
def across_devices(
    network: "torch.nn.Module", devices: "Sequence[torch.device]", layers: Sequence[str], run: RunNetwork
) -> Iterator[Forward]:
    """Copies of a network on several devices, each of which takes its share of every batch."""
    with ExitStack() as stack:
        networks = [network, *(copy.deepcopy(network).to(device) for device in devices[1:])]
        listeners = [stack.enter_context(Listener(one, layers)) for one in networks]
        pool = stack.enter_context(ThreadPoolExecutor(len(networks)))

        def part(number: int, images: Any) -> dict[str, Any]:
            found: dict[str, Any] = {}

            def keep(layer: str, output: Any) -> None:
                found[layer] = tensor_of(output, layer).detach().to("cpu", copy=True)

            with listeners[number].passing(keep):
                run(networks[number], images)
            return found

        def forward(images: Any, take: TakeOutput) -> None:
            import torch

            size = -(-len(images) // len(networks))
            shares = [images[start : start + size] for start in range(0, len(images), size)]
            found = list(pool.map(part, range(len(shares)), shares))
            for layer in layers:
                take(layer, torch.cat([one[layer] for one in found]))

        yield forward


def as_rows(output: Any) -> NDArray[Any]:
    """Array of a tensor (brought to the CPU, not copied where it is there) or array; bfloat16 becomes float32."""
    if isinstance(output, np.ndarray):
        return output
    if hasattr(output, "detach"):
        import torch

        tensor = output.detach()
        if tensor.dtype == torch.bfloat16:
            tensor = tensor.float()
        return tensor.cpu().resolve_conj().resolve_neg().numpy()
    return np.asarray(output)


def tensor_of(output: Any, layer: str) -> Any:
    """The tensor in what a layer returned: itself, the first of several, ``last_hidden_state`` of a model output."""
    while not hasattr(output, "shape"):
        named = getattr(output, "last_hidden_state", None)
        if named is not None:
            return named
        members = list(output.values()) if hasattr(output, "values") else output
        usable = [one for one in members if one is not None] if isinstance(members, list | tuple) else []
        if not usable:
            raise UserError(
                f"layer {layer!r} returns a {type(output).__name__}, in which there is no tensor",
                remedy="choose another layer",
            )
        output = usable[0]
    return output
