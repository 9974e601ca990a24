"""PyTorch networks: names of layers, recording of outputs, devices and precision."""

import copy
import math
import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import AbstractContextManager, ExitStack, contextmanager, nullcontext
from dataclasses import dataclass, field, replace
from difflib import get_close_matches
from functools import cached_property, lru_cache, partial
from itertools import chain
from threading import Lock, RLock
from typing import TYPE_CHECKING, Any
from weakref import WeakKeyDictionary

from brainscore_core.errors import NotApplicable, UserError
from brainscore_vision.model_helpers.activations.layouts import StimulusAxis
from brainscore_vision.model_helpers.activations.passes import Forward, TakeOutput, tensor_of
from brainscore_vision.model_helpers.activations.preprocessing import require_one_shape
from brainscore_vision.stimuli.labels import NUMBER_OF_CLASSES

if TYPE_CHECKING:
    import torch

LOGITS = "logits"
_COMPILED = "_orig_mod"  # name that torch.compile gives to the network inside
# hooks of a network are called for all threads that run it, so that threads take turns
_locks: "WeakKeyDictionary[torch.nn.Module, Any]" = WeakKeyDictionary()
_registering = Lock()
_CALL = re.compile(r"(?P<module>.+)-t(?P<call>\d+)")


def is_pattern(layer: str) -> bool:
    """Whether a name of a layer is a pattern."""
    return any(sign in layer for sign in "*?[")


def match_layers(pattern: str, known: Iterable[str]) -> list[str]:
    """Names that match a pattern, in their order.

    Names of layers are paths with dots. ``*`` and ``?`` stand for characters of one component, ``[…]`` for one of some
    characters, and ``**`` for anything, dots included. If nothing matches, the prefixes of ``torch.compile`` and
    DataParallel are left out.

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
    known = list(known)
    shorter = plain_name(pattern).removeprefix("module.")
    matching = [layer for layer in known if matches(layer)]
    return matching if matching or shorter == pattern else match_layers(shorter, known)


@lru_cache(maxsize=64)
def _compiled(pattern: str) -> re.Pattern[str]:
    return re.compile("".join(map(_as_regex, re.split(r"(\*+|\?|\[!?\]?[^\]]*\])", pattern))))


def _as_regex(piece: str) -> str:
    if piece.startswith("[") and len(piece) > 2:
        negated = piece[1] == "!"
        characters = re.sub(r"[\\\[\^]", r"\\\g<0>", piece[2:-1] if negated else piece[1:-1])
        return f"[{'^' if negated else ''}{characters}]"
    if piece.startswith("*"):
        return "[^.]*" if piece == "*" else ".*"
    return "[^.]" if piece == "?" else re.escape(piece)


def unwrapped(network: "torch.nn.Module") -> tuple["torch.nn.Module", list[str]]:
    """The network inside ``torch.compile`` and (Distributed)DataParallel, and a sentence about each."""
    import torch

    remarks = []
    while True:
        if list(dict(network.named_children())) == [_COMPILED]:
            network = network.get_submodule(_COMPILED)
            remarks.append("the network was compiled by torch.compile, and is recorded without compilation")
        elif isinstance(network, torch.nn.DataParallel | torch.nn.parallel.DistributedDataParallel):
            remarks.append(f"the network was wrapped in {type(network).__name__}, and is recorded without it")
            network = network.module
        elif isinstance(network, torch.nn.ModuleDict | torch.nn.ModuleList):
            network = _only_module(network, remarks)
        else:
            return network, remarks


def _only_module(container: "torch.nn.Module", remarks: list[str]) -> "torch.nn.Module":
    """The module in a container that cannot run itself."""
    named = dict(container.named_children())
    kind = type(container).__name__
    if len(named) != 1:
        raise UserError(
            f"a {kind} cannot be run: it does not say in which order its modules run ({', '.join(named) or 'none'})",
            remedy="pass one of them, or a torch.nn.Sequential of them",
        )
    ((name, network),) = named.items()
    remarks.append(f"the network was in a {kind}, as {name!r}")
    return network


def plain_name(layer: str) -> str:
    """Name of a layer without the components that ``torch.compile`` adds.

    Examples
    --------
    >>> plain_name("_orig_mod.blocks.0"), plain_name("blocks._orig_mod")
    ('blocks.0', 'blocks')
    """
    if _COMPILED not in layer:
        return layer
    return ".".join(component for component in layer.split(".") if component != _COMPILED)


def without_compilation(network: "torch.nn.Module") -> AbstractContextManager[Any]:
    """Context in which compiled modules of a network run as they were written, so that their layers can be recorded."""
    import torch

    for name, module in network.named_modules():
        # Module.compile() leaves no other trace
        if name.endswith(_COMPILED) or vars(module).get("_compiled_call_impl") is not None:
            return torch.compiler.set_stance("force_eager")
    return nullcontext()


def run_images(network: "torch.nn.Module", inputs: Any, **options: Any) -> Any:
    """Output of a network for images; of a network of images and text, that of its image tower.

    The image tower is what ``get_image_features`` (transformers) or ``encode_image`` (open_clip, clip) runs.
    """
    tower = image_tower(network)
    if tower is None:
        return network(inputs, **options)
    features = getattr(network, tower)(inputs, **options)
    return getattr(features, "pooler_output", features)  # transformers 5 wraps them


def image_tower(network: "torch.nn.Module") -> str | None:
    """Name of the method of a network of images and text that takes images alone; None if there is none."""
    return next(
        (name for name in ("get_image_features", "encode_image") if callable(getattr(network, name, None))), None
    )


Entry = str | int
"""Key of a mapping, name of a field, or position in a sequence."""


def is_logits(tensor: Any) -> bool:
    """Whether a tensor is a list of numbers for each stimulus: at most one axis besides that of stimuli exceeds 1."""
    return hasattr(tensor, "shape") and tensor.ndim > 0 and sum(size > 1 for size in tensor.shape[1:]) <= 1


def entries_of(output: Any) -> dict[Entry, Any]:
    """Entries of the output of a network that returns several values; empty for a tensor."""
    if hasattr(output, "shape"):
        return {}
    if isinstance(output, Mapping):
        return dict(output)
    if isinstance(output, tuple | list):
        names: Iterable[Entry] = getattr(output, "_fields", None) or range(len(output))
        return dict(zip(names, output, strict=True))
    return {"logits": output.logits} if hasattr(output, "logits") else {}


def candidates_for_logits(output: Any) -> dict[Entry, Any]:
    """Entries of the output of a network that may be its logits; several if they cannot be told apart.

    That named ``logits``; else those that are lists of numbers and are not named ``aux…``; of these, the one with the
    1,000 classes of ImageNet, if there is only one.

    Examples
    --------
    >>> import numpy as np
    >>> list(candidates_for_logits((np.zeros((2, 512)), np.zeros((2, 1000)))))
    [1]
    >>> list(candidates_for_logits({"out": np.zeros((2, 10)), "aux": np.zeros((2, 10))}))
    ['out']
    >>> list(candidates_for_logits((np.zeros((2, 10)), np.zeros((2, 10)))))
    [0, 1]
    """
    entries = {name: value for name, value in entries_of(output).items() if is_logits(value)}
    if LOGITS in entries:
        return {LOGITS: entries[LOGITS]}
    main = {name: value for name, value in entries.items() if not str(name).startswith("aux")}
    of_imagenet = {name: value for name, value in main.items() if math.prod(value.shape[1:]) == NUMBER_OF_CLASSES}
    return of_imagenet if len(of_imagenet) == 1 else main


def stated_entry(output: Any, entry: Entry) -> Any:
    """The entry of a network's output that is stated to be its logits."""
    entries = entries_of(output)
    if is_logits(entries.get(entry)):
        return entries[entry]
    having = f"has the entries {', '.join(map(repr, entries))}" if entries else f"is a {type(output).__name__}"
    problem = "is not a list of numbers for each stimulus" if entry in entries else f"is missing: the output {having}"
    raise UserError(f"the entry {entry!r} of the network's output, stated as logits, {problem}", remedy=_STATE_ENTRY)


_STATE_ENTRY = "state the entry that has the classes: logits='name' or logits=0, or --logits on the command line"


class LayerNames:
    """Names of layers of a network.

    A name as in ``named_modules()``, with or without the components ``_orig_mod`` of ``torch.compile`` and the prefix
    ``module.`` of DataParallel; ``'logits'``, the output of the network, else of its last module without children (see
    :class:`Listener`); ``'name-t2'``, the output of a module in its third call of a pass; a pattern as for
    :func:`match_layers`. The modules are those at the first use.
    """

    def __init__(self, network: "torch.nn.Module") -> None:
        self._network = network

    def __iter__(self) -> Iterator[str]:
        return (name for name in self._modules if name)

    def module(self, layer: str) -> tuple["torch.nn.Module", int | None]:
        """The module of a layer, and the number of its call (None: the last call)."""
        if self.is_output(layer):
            return self._last(), None
        name, call = self._name(layer)
        return self._recordable(name), call

    def is_output(self, layer: str) -> bool:
        """Whether a layer is ``'logits'``, the output of the network, and not a module of this name."""
        return layer == LOGITS and layer not in self._modules

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
        """Unique name of a layer: for ``'logits'`` the name of the last module without children."""
        if self.is_output(layer):
            last = self._last()
            return next((name for name, module in self._modules.items() if module is last), layer)
        name, call = self._name(layer)
        return name if call is None else f"{name}-t{call}"

    def _name(self, layer: str) -> tuple[str, int | None]:
        """Plain name of a layer's module, and the number of its call."""
        modules = self._modules
        for name in (layer, plain_name(layer), plain_name(layer).removeprefix("module.")):
            if name in modules:
                return name, None
            numbered = _CALL.fullmatch(name)
            if numbered and numbered["module"] in modules:
                return numbered["module"], int(numbered["call"])
        near = get_close_matches(layer, list(modules), n=3, cutoff=0.4)
        raise UserError(
            f"{type(self._network).__name__} has no layer {layer!r}",
            remedy=(f"nearest: {', '.join(near)}; " if near else "") + "layers() lists all",
        )

    @cached_property
    def _modules(self) -> dict[str, "torch.nn.Module"]:
        # of a compiled module and the one inside, which have the same plain name, the one inside
        return {plain_name(name): module for name, module in self._network.named_modules(remove_duplicate=False)}

    def _recordable(self, layer: str) -> "torch.nn.Module":
        """The module, unless it is inside a module of TorchScript, which does not report the outputs of its members."""
        import torch

        modules = self._modules
        holders = [layer[: match.start()] for match in re.finditer(r"\.", layer)]
        if layer and any(isinstance(modules.get(holder), torch.jit.ScriptModule) for holder in ["", *holders]):
            raise _of_torchscript(layer, self._network)
        return modules[layer]

    def _last(self) -> "torch.nn.Module":
        module = self._network
        while children := list(module.children()):
            module = children[-1]
        return module


def _of_torchscript(layer: str, network: "torch.nn.Module") -> UserError:
    return UserError(
        f"layer {layer!r} of {type(network).__name__} was compiled by TorchScript and cannot be recorded",
        remedy="pass the network as it was before torch.jit.script or torch.jit.trace, or record 'logits', its output",
    )


@contextmanager
def passing_outputs(
    modules: "Iterable[tuple[str, torch.nn.Module]]", take: Callable[[str, Any], None]
) -> Iterator[None]:
    """Context in which ``take(name, output)`` gets each output of these modules."""
    with ExitStack() as stack:
        for name, module in modules:
            handle = module.register_forward_hook(lambda _module, _inputs, output, name=name: take(name, output))
            stack.callback(handle.remove)
        yield


@dataclass
class FirstPass:
    """What the first pass of an extraction showed about a network, for later passes."""

    # How often each module runs, so that later passes need not keep values that are replaced
    counts: "dict[torch.nn.Module, int]" = field(default_factory=dict)
    # ``'logits'`` is the output of the network, which is or is not that of the last module; or it is the output of
    # the last module, because that of the network does not have the form of logits
    logits: str | None = None
    entry: Entry | None = None  # entry of the network's output that is ``'logits'``; None: the output itself
    shape: str = ""  # what the network returns, in words, if it does not have the form of logits
    axes: dict[str, StimulusAxis] = field(default_factory=dict)  # axis of stimuli, of layers where it is not the first
    # Type of the output of layers that do not return a tensor itself, such as ``'tuple'``
    containers: dict[str, str] = field(default_factory=dict)


class Listener:
    """Passes on the outputs of layers while a network runs; a context manager that removes its hooks on exit.

    If a module runs several times in one pass, its name is the last call, ``'name-t0'`` the first. ``'logits'`` is the
    output of the network, which :meth:`finish` gets: a tensor with one axis besides that of stimuli (others have length
    1), or the entry of an output of several that :func:`candidates_for_logits` finds; else the output of the last
    module without children.

    `known` are the results of the first pass; they are entered if it has not taken place. `compiled` says that the
    network is compiled by ``torch.compile``, which must not compile the hooks.
    """

    def __init__(
        self,
        network: "torch.nn.Module",
        layers: Sequence[str],
        known: FirstPass | None = None,
        *,
        compiled: bool = False,
    ) -> None:
        names = LayerNames(network)
        self._network = network
        self._compiled = compiled
        self._layers = [(layer, *names.module(layer)) for layer in layers]
        self._known = FirstPass() if known is None else known
        self._output = next((layer for layer in layers if names.is_output(layer)), None)
        self._calls: Counter[torch.nn.Module] = Counter()
        self._take: Callable[[str, Any], None] | None = None
        self._handles: list[Any] = []
        self._held: dict[str, Any] = {}

    def __enter__(self) -> "Listener":
        calls: dict[torch.nn.Module, list[tuple[str, int | None]]] = {}
        for layer, module, call in self._layers:
            calls.setdefault(module, []).append((layer, call))
        for module, layers in calls.items():
            hook: Callable[..., None] = partial(self._on_output, layers=layers)
            if self._compiled:
                from torch.compiler import disable

                hook = disable(hook)
            try:
                self._handles.append(module.register_forward_hook(hook))
            except RuntimeError as error:  # of TorchScript; the output of the network is known without it
                if any(layer != self._output for layer, _ in layers):
                    self.__exit__()
                    raise _of_torchscript(layers[0][0], self._network) from error
        return self

    def __exit__(self, *error: object) -> None:
        for handle in self._handles:
            handle.remove()
        self._handles = []

    @contextmanager
    def passing(self, take: Callable[[str, Any], None]) -> Iterator[None]:
        """Surround one forward pass: ``take(layer, output)`` gets each layer's output once, before it is modified.

        Call :meth:`finish` with the output of the network.
        """
        with _registering:
            lock = _locks.setdefault(self._network, RLock())
        with lock:
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

    def finish(self, output: Any) -> None:
        """Pass on the output of the network, if it is recorded as ``'logits'``."""
        if self._output is None or self._take is None:
            return
        known = self._known
        if known.logits is None and known.entry is None:
            known.entry = self._entry_of(output)
        if known.entry is not None:
            logits = stated_entry(output, known.entry)
        else:
            logits = output if is_logits(output) else None
        if known.logits is None:
            last = self._held.get(self._output)
            if logits is None:
                known.logits = "not the output"
                known.shape = (
                    f"stimuli × {' × '.join(map(str, output.shape[1:]))}"
                    if hasattr(output, "shape")
                    else type(output).__name__
                )
            else:
                known.logits = "last module" if _equal(last, logits) else "output"
        if known.logits != "not the output":
            self._held.pop(self._output, None)
            self._take(self._output, output if logits is None else logits)

    def _entry_of(self, output: Any) -> Entry | None:
        """The entry of the network's output that has its logits; None if it is the output itself, or there is none."""
        assert self._output is not None
        candidates = candidates_for_logits(output)
        if len(candidates) < 2:
            return next(iter(candidates), None)
        (last,) = (module for layer, module, _ in self._layers if layer == self._output)
        name, value = list(candidates.items())[-1]
        if self._calls[last] == len(candidates) and _equal(self._held.get(self._output), value):
            return name  # the steps of a recurrent network
        raise UserError(
            f"{type(self._network).__name__} returns several lists of numbers for each stimulus, and it is not known "
            f"which has its classes: {', '.join(f'{key!r} ({value.shape[-1]})' for key, value in candidates.items())}",
            remedy=_STATE_ENTRY,
        )

    def _on_output(
        self, module: "torch.nn.Module", _inputs: Any, output: Any, layers: list[tuple[str, int | None]]
    ) -> None:
        import torch

        if self._take is None:
            return
        number = self._calls[module]
        self._calls[module] += 1
        counts = self._known.counts
        if module not in counts and not isinstance(output, torch.Tensor):
            self._known.containers |= {layer: type(output).__name__ for layer, _ in layers}
        for layer, call in layers:
            if layer == self._output and self._known.logits in ("last module", "output"):
                continue
            if call is not None or module in counts:
                if number == (call if call is not None else counts[module] - 1):
                    self._take(layer, output)
            else:  # the first pass: the module may run again
                self._held[layer] = tensor_of(output, layer).detach().clone()

    def _check(self) -> None:
        counts = self._known.counts
        for layer, module, call in self._layers:
            ran = self._calls[module]
            if layer == self._output and self._known.logits == "not the output" and not ran:
                raise NotApplicable(f"{type(self._network).__name__} has no logits: it returns {self._known.shape}")
            if layer == self._output and self._known.logits == "output":
                counts.setdefault(module, ran)
                continue
            if ran <= (call or 0) or counts.setdefault(module, ran) != ran:
                times = f"ran {ran} times" if ran else "did not run"
                before = counts.get(module, ran)
                raise UserError(
                    f"layer {layer!r} of {type(self._network).__name__} {times} in a forward pass"
                    + (f", {before} times in the one before" if before != ran else ""),
                    remedy="choose a layer that runs equally often for all stimuli",
                )


def _equal(held: Any, output: Any) -> bool:
    """Whether the output of the network is that of its last module, perhaps without axes of length 1."""
    return (
        held is not None
        and held.numel() == output.numel()
        and held.dtype == output.dtype
        and bool((held.reshape(-1) == output.reshape(-1)).all())
    )


RunNetwork = Callable[["torch.nn.Module", Any], Any]


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
        require_one_shape(images)
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
    network: "torch.nn.Module",
    devices: "Sequence[torch.device]",
    layers: Sequence[str],
    run: RunNetwork,
    known: FirstPass,
) -> Iterator[Forward]:
    """Run a network on several devices, each with a copy of the network and a share of every batch."""
    with ExitStack() as stack:
        networks = [network, *(copy.deepcopy(network).to(device) for device in devices[1:])]
        listeners = [stack.enter_context(Listener(replica, layers, replace(known, counts={}))) for replica in networks]
        pool = stack.enter_context(ThreadPoolExecutor(len(networks)))

        def part(number: int, images: Any) -> dict[str, Any]:
            outputs: dict[str, Any] = {}

            def keep(layer: str, output: Any) -> None:
                tensor = tensor_of(output, layer).detach()
                if layer in known.axes:
                    tensor = known.axes[layer].first(tensor, len(images))
                outputs[layer] = tensor.to("cpu", copy=True)

            with listeners[number].passing(keep):
                listeners[number].finish(run(networks[number], images))
            return outputs

        def forward(images: Any, take: TakeOutput) -> None:
            import torch

            size = -(-len(images) // len(networks))
            shares = [images[start : start + size] for start in range(0, len(images), size)]
            outputs = list(pool.map(part, range(len(shares)), shares))
            for layer in layers:
                take(layer, torch.cat([output[layer] for output in outputs]))

        yield forward
