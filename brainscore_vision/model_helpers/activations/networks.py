"""PyTorch networks: names of layers, recording of outputs, devices and precision."""

import copy
import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import AbstractContextManager, ExitStack, contextmanager, nullcontext
from difflib import get_close_matches
from functools import lru_cache, partial
from itertools import chain
from threading import Lock, RLock
from typing import TYPE_CHECKING, Any
from weakref import WeakKeyDictionary

from brainscore_core.errors import UserError
from brainscore_vision.model_helpers.activations.passes import Forward, TakeOutput, tensor_of

if TYPE_CHECKING:
    import torch

__all__ = [
    "LayerNames",
    "Listener",
    "across_devices",
    "autocast_type",
    "autocasting",
    "choose_devices",
    "is_pattern",
    "match_layers",
    "to_input",
]

_locks: "WeakKeyDictionary[torch.nn.Module, Any]" = WeakKeyDictionary()
_registering = Lock()
_CALL = re.compile(r"(?P<module>.+)-t(?P<call>\d+)")


def is_pattern(layer: str) -> bool:
    """Whether a name of a layer is a pattern."""
    return any(sign in layer for sign in "*?[")


def match_layers(pattern: str, known: Iterable[str]) -> list[str]:
    """Names that match a pattern, in their order.

    Names of layers are paths with dots. ``*`` and ``?`` stand for characters of one component, ``[…]`` for one of some
    characters, and ``**`` for anything, dots included.

    Examples
    --------
    >>> known = ["stem", "blocks.0", "blocks.0.attn", "blocks.1", "blocks.1.attn"]
    >>> match_layers("blocks.*", known), match_layers("blocks.*.attn", known)
    (['blocks.0', 'blocks.1'], ['blocks.0.attn', 'blocks.1.attn'])
    >>> match_layers("**.attn", known) == match_layers("blocks.*.attn", known)
    True
    """
    try:
        matches = _compiled(pattern).fullmatch
    except re.error as error:
        raise UserError(
            f"the pattern {pattern!r} is not valid: {error}", remedy="write it like blocks.[0-3]"
        ) from error
    return [layer for layer in known if matches(layer)]


@lru_cache(maxsize=64)
def _compiled(pattern: str) -> re.Pattern[str]:
    return re.compile("".join(map(_as_regex, re.split(r"(\*+|\?|\[!?\]?[^\]]*\])", pattern))))


def _as_regex(part: str) -> str:
    if part.startswith("[") and len(part) > 2:
        negated = part[1] == "!"
        characters = re.sub(r"[\\\[\^]", r"\\\g<0>", part[2:-1] if negated else part[1:-1])
        return f"[{'^' if negated else ''}{characters}]"
    if part.startswith("*"):
        return "[^.]*" if part == "*" else ".*"
    return "[^.]" if part == "?" else re.escape(part)


class LayerNames:
    """Names of layers of a network.

    A name as in ``named_modules()``; ``'logits'``, the last module without children; ``'name-t2'``, the output of a
    module in its third call of a pass; a pattern as for :func:`match_layers`.
    """

    def __init__(self, network: "torch.nn.Module") -> None:
        self._network = network

    def __iter__(self) -> Iterator[str]:
        return (name for name, _ in self._network.named_modules(remove_duplicate=False) if name)

    def module(self, layer: str) -> tuple["torch.nn.Module", int | None]:
        """The module of a layer, and the number of its call (None: the last call)."""
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
        """Replace patterns in `layers` by the names that they match, without duplicates."""
        resolved: list[str] = []
        names = list(self)
        for layer in layers:
            if layer in names or not is_pattern(layer):
                self.module(layer)
                resolved.append(layer)
                continue
            matches = match_layers(layer, names)
            if not matches:
                raise UserError(
                    f"no layer of {type(self._network).__name__} matches {layer!r}", remedy="layers() lists all"
                )
            resolved += matches
        return list(dict.fromkeys(resolved))

    def canonical(self, layer: str) -> str:
        """Unique name of a layer: for ``'logits'`` the name of its module."""
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
    """Lock of a pass: hooks of a network are called for all threads that run it, so that threads must take turns."""
    with _registering:
        return _locks.setdefault(network, RLock())


class Listener:
    """Passes on the outputs of layers while a network runs; a context manager that removes its hooks on exit.

    If a module runs several times in one pass, its name is the last call, ``'name-t0'`` the first. The first pass
    counts the calls, so that later passes need not keep values that are replaced.

    Parameters
    ----------
    network : torch.nn.Module
        The network.
    layers : list of str
        Names of layers as in :class:`LayerNames`.
    counts : dict, optional
        Number of calls of each module, counted by another listener.
    compiled : bool
        Whether the network is compiled by ``torch.compile``, which must not compile the hooks.
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
            hook: Callable[..., None] = partial(self._on_output, layers=layers)
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
        """Surround one forward pass: ``take(layer, output)`` gets each layer's output once, before it is modified."""
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

    def _on_output(
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
            else:  # the first pass: the module may run again
                self._held[layer] = tensor_of(output, layer).detach().clone()

    def _check(self) -> None:
        for layer, module, call in self._layers:
            ran = self._calls[module]
            if ran <= (call or 0) or self.counts.setdefault(module, ran) != ran:
                times = f"ran {ran} times" if ran else "did not run"
                before = self.counts.get(module, ran)
                raise UserError(
                    f"layer {layer!r} of {type(self._network).__name__} {times} in a forward pass"
                    + (f", {before} times in the one before" if before != ran else ""),
                    remedy="choose a layer that runs equally often for all stimuli",
                )


RunNetwork = Callable[["torch.nn.Module", Any], None]


def choose_devices(device: Any) -> "list[torch.device]":
    """Resolve ``'auto'``, a device, or a list of devices."""
    import torch

    if isinstance(device, list | tuple):
        if not device:
            raise UserError("device is an empty list", remedy="pass 'auto', 'cpu', 'cuda', 'mps' or a list of them")
        return [chosen for item in device for chosen in choose_devices(item)]
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
    """Type of computations under autocast; None without autocast."""
    import torch

    if autocast is None or autocast is False:
        return None
    chosen = torch.bfloat16 if autocast is True else autocast
    chosen = getattr(torch, chosen, None) if isinstance(chosen, str) else chosen
    if chosen not in (torch.bfloat16, torch.float16):
        raise UserError(f"autocast is {autocast!r}", remedy="pass True, torch.bfloat16 or torch.float16")
    return chosen


def autocasting(device: "torch.device", dtype: "torch.dtype | None") -> AbstractContextManager[Any]:
    """Context in which `device` computes in `dtype` where it is safe."""
    import torch

    return nullcontext() if dtype is None else torch.autocast(device.type, dtype=dtype)


@contextmanager
def in_float32(device: "torch.device") -> Iterator[None]:
    """Context in which a GPU computes with all 24 bits of a float32, not with the 11 of TF32, PyTorch's default."""
    if device.type != "cuda":
        yield
        return
    import torch

    kinds: tuple[Any, ...] = (torch.backends.cudnn, torch.backends.cuda.matmul)
    before = [kind.allow_tf32 for kind in kinds]
    try:
        for kind in kinds:
            kind.allow_tf32 = False
        yield
    finally:
        for kind, allowed in zip(kinds, before, strict=True):
            kind.allow_tf32 = allowed


def to_input(network: "torch.nn.Module", images: Any) -> Any:
    """Convert preprocessed images to one tensor on the network's device, in the type of its weights."""
    import torch

    if isinstance(images, list | tuple):
        images = torch.stack([torch.as_tensor(image) for image in images])
    images = torch.as_tensor(images)
    tensors = chain(network.parameters(), network.buffers())
    weights = next((tensor for tensor in tensors if tensor.is_floating_point()), None)
    if weights is None:
        return images
    dtype = weights.dtype if images.is_floating_point() else images.dtype
    return images.to(weights.device, dtype, non_blocking=images.is_pinned())


@contextmanager
def across_devices(
    network: "torch.nn.Module", devices: "Sequence[torch.device]", layers: Sequence[str], run: RunNetwork
) -> Iterator[Forward]:
    """Run a network on several devices, each with a copy of the network and a share of every batch."""
    with ExitStack() as stack:
        networks = [network, *(copy.deepcopy(network).to(device) for device in devices[1:])]
        listeners = [stack.enter_context(Listener(replica, layers)) for replica in networks]
        pool = stack.enter_context(ThreadPoolExecutor(len(networks)))

        def part(number: int, images: Any) -> dict[str, Any]:
            outputs: dict[str, Any] = {}

            def keep(layer: str, output: Any) -> None:
                outputs[layer] = tensor_of(output, layer).detach().to("cpu", copy=True)

            with listeners[number].passing(keep):
                run(networks[number], images)
            return outputs

        def forward(images: Any, take: TakeOutput) -> None:
            import torch

            size = -(-len(images) // len(networks))
            shares = [images[start : start + size] for start in range(0, len(images), size)]
            outputs = list(pool.map(part, range(len(shares)), shares))
            for layer in layers:
                take(layer, torch.cat([output[layer] for output in outputs]))

        yield forward
