"""Layers of an activations model: their names, and candidates where none are named."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from fnmatch import fnmatchcase
from inspect import getattr_static
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol

from brainscore_core.errors import UserError, nearest
from brainscore_core.supported_data_standards.brainio.assemblies import NeuroidAssembly
from brainscore_core.supported_data_standards.brainio.stimuli import StimulusSet

if TYPE_CHECKING:
    import torch

__all__ = [
    "ActivationsModel",
    "candidate_layers",
    "layer_names",
    "logits_width",
    "resolve_layers",
    "time_step",
    "unique",
]

_GLOB = re.compile(r"[*?\[]")
_TIME_STEP = re.compile(r"-t(\d+)$")
_LOGITS = "logits"
_HELPERS = "brainscore_vision.model_helpers."


class ActivationsModel(Protocol):
    """What gives activations: presentation × neuroid, presentations in the order of the stimuli.

    It may also have ``layers()`` (names of all layers, in order), ``set_visual_degrees(degrees)``, ``identifier``.
    """

    def __call__(
        self, stimuli: StimulusSet, layers: Sequence[str], *, number_of_trials: int = 1, require_variance: bool = False
    ) -> NeuroidAssembly: ...


class UnknownLayer(UserError, ValueError):
    """A name or pattern that means no layer of the network."""


def layer_names(activations_model: Any) -> list[str] | None:
    """All layers of a network in order; None where `activations_model` does not tell them."""
    network: Any = getattr(activations_model, "_model", None)
    if callable(getattr(network, "named_modules", None)):
        # a wrapper that reads layers in a way of its own may have names of its own
        own = getattr(getattr(activations_model, "_extractor", None), "_resolve", None) is None
        return None if own else [name for name, _ in network.named_modules(remove_duplicate=False) if name]
    layers = getattr(activations_model, "layers", None)
    if callable(layers):
        layers = layers()
    if layers is None or isinstance(layers, str) or not isinstance(layers, Iterable):
        return None
    return [str(layer) for layer in layers]


def resolve_layers(wanted: str | Sequence[str], known: Sequence[str] | None, *, identifier: str) -> list[str]:
    """Layers that names and patterns mean, each once.

    Parameters
    ----------
    wanted : str or sequence of str
        Names, or patterns with ``*``, ``?`` and ``[…]``. ``'logits'`` and names with a time step (``'IT.output-t1'``)
        are accepted where the network has the layer without it.
    known : sequence of str, optional
        All layers in order; None where they are not known: names are then taken as they are.
    identifier : str
        Name of the model, for messages.

    Raises
    ------
    UnknownLayer
        If a name or a pattern means no layer.

    Examples
    --------
    >>> resolve_layers(["conv*", "fc"], ["conv1", "conv2", "fc"], identifier="net")
    ['conv1', 'conv2', 'fc']
    """
    found: list[str] = []
    for name in [wanted] if isinstance(wanted, str) else wanted:
        if known is None:
            if _GLOB.search(name):
                raise UnknownLayer(
                    f"the pattern {name!r} cannot be looked up: {identifier!r} does not tell the names of its layers",
                    remedy="name each layer",
                )
            found.append(name)
        elif name in known or _TIME_STEP.sub("", name) in {*known, _LOGITS}:
            found.append(name)
        elif _GLOB.search(name) and (matching := [layer for layer in known if fnmatchcase(layer, name)]):
            found += matching
        else:
            raise _unknown(name, known, identifier)
    if not found:
        raise UnknownLayer(f"no layers of {identifier!r} are named", remedy="name at least one")
    return unique(found)


def time_step(layer: str) -> int | None:
    """Time step at the end of a layer's name.

    Examples
    --------
    >>> time_step("IT.output-t1"), time_step("layer4")
    (1, None)
    """
    match = _TIME_STEP.search(layer)
    return None if match is None else int(match.group(1))


def logits_width(activations_model: Any, layer: str = _LOGITS) -> int | None:
    """How many logits a network has, where that can be told before it runs; 0 where it has none."""
    known = layer_names(activations_model)
    get_layer = getattr(activations_model, "get_layer", None)
    if callable(get_layer):
        if _changes_what_it_returns(getattr(get_layer, "__self__", activations_model)):
            return None
        try:
            return getattr(get_layer(layer), "out_features", None)
        except (AttributeError, IndexError, KeyError, UserError):
            return None  # a wrapper of its own kind: what it gives for the stimuli tells
    return 0 if known is not None and layer not in known else None


def _changes_what_it_returns(wrapper: Any) -> bool:
    """Whether a wrapper has a ``__call__`` of its own, which may drop a background class or pool tokens."""
    call: Any = getattr_static(type(wrapper), "__call__", None)
    return not str(getattr(call, "__module__", "")).startswith(_HELPERS)


def unique(names: Iterable[str]) -> list[str]:
    """Each name once, in order of first appearance."""
    return list(dict.fromkeys(names))


def _unknown(name: str, known: Sequence[str], identifier: str) -> UnknownLayer:
    near = nearest(name, known)
    shown = ", ".join(known[:40]) + (f" and {len(known) - 40} more" if len(known) > 40 else "")
    wrong = f"no layer that matches {name}" if _GLOB.search(name) else f"no layer {name}"
    return UnknownLayer(
        f"model {identifier!r} has {wrong}; it has {shown}", remedy=f"nearest: {', '.join(near)}" if near else None
    )


class _Output(NamedTuple):
    name: str
    depth: int
    tensor: Any


def candidate_layers(model: torch.nn.Module, inputs: Any, *, limit: int = 24) -> list[str]:
    """Name up to `limit` layers that cover a network, in the order in which they compute.

    The network runs once. Layers that hand on the same values (a block and its last member, an activation that works
    in place) count once, under the shortest name. The nesting is followed down, level by level, as long as no more
    than `limit` layers come out: blocks are preferred to what is inside them.

    Parameters
    ----------
    model : torch.nn.Module
        The network.
    inputs : torch.Tensor
        What it takes, for one or more stimuli.
    limit : int
        Most layers to name.

    Returns
    -------
    list of str
        Names as in ``model.named_modules()``.

    Raises
    ------
    UserError
        If no layer gives a tensor whose first axis is the stimuli.

    Examples
    --------
    >>> import torch
    >>> from torch.nn import Conv2d, Flatten, Linear, ReLU, Sequential
    >>> network = Sequential(Conv2d(3, 4, 3), ReLU(), Flatten(), Linear(16, 2))
    >>> candidate_layers(network, torch.zeros(1, 3, 4, 4))
    ['0', '1', '3']
    """
    if limit < 1:
        raise ValueError(f"limit is {limit}: there must be room for one layer")
    outputs = _distinct(_run(model, inputs))
    if not outputs:
        raise UserError(
            f"no layer of {type(model).__name__} gives a tensor whose first axis is the stimuli",
            remedy="name the layers to record from: layers=[...]",
        )
    deepest = max(output.depth for output in outputs)
    chosen: list[_Output] = []
    for depth in range(1, deepest + 1):
        level = _level(outputs, depth)
        if len(level) > limit and len(chosen) >= min(4, limit):
            break
        chosen = level
        if len(level) > limit:
            break
    return [output.name for output in _thin(chosen, limit)]


def _run(model: torch.nn.Module, inputs: Any) -> list[_Output]:
    import torch

    stimuli = inputs.shape[0]
    found: list[_Output] = []

    def hook(name: str) -> Any:
        def keep(module: torch.nn.Module, args: Any, output: Any) -> None:
            values = output[0] if isinstance(output, tuple) and output else output
            if isinstance(values, torch.Tensor) and values.ndim > 1 and values.shape[0] == stimuli:
                found.append(_Output(name, name.count(".") + 1, values))

        return keep

    handles = [module.register_forward_hook(hook(name)) for name, module in model.named_modules() if name]
    training = model.training
    model.eval()
    try:
        with torch.inference_mode():
            _call(model, inputs)
    finally:
        model.train(training)
        for handle in handles:
            handle.remove()
    return found


def _call(model: torch.nn.Module, inputs: Any) -> None:
    try:
        model(inputs)
    except Exception as error:
        shape = " × ".join(map(str, getattr(inputs, "shape", ())))
        raise UserError(
            f"{type(model).__name__} fails on an input of {shape}: {type(error).__name__}: {error}",
            remedy="it must take images, stimuli × channels × height × width; "
            "for another size or preprocessing wrap it in PytorchWrapper and ModelCommitment",
        ) from error


def _distinct(outputs: Iterable[_Output]) -> list[_Output]:
    """Keep one name for each tensor; views and reshapes of it that hold the same values count as it."""
    groups: dict[tuple[int, int], _Output] = {}
    for output in outputs:
        key = (output.tensor.data_ptr(), output.tensor.numel())
        known = groups.get(key)
        if known is None or (output.depth, len(output.name)) < (known.depth, len(known.name)):
            groups[key] = output  # the place in the order of computation stays that of the first
    return list({output.name: output for output in groups.values()}.values())


def _level(outputs: list[_Output], depth: int) -> list[_Output]:
    """Layers at most `depth` deep; a container gives way to what it holds."""
    within = [output for output in outputs if output.depth <= depth]
    holders = {output.name.rpartition(".")[0] for output in within if output.depth > 1}
    ancestors = {name for holder in holders for name in _with_ancestors(holder)}
    ends = {id(output): output for output in within if output.name not in ancestors}
    # a container whose last value none of its members gives is kept: it adds something, such as a skip connection
    tensors = {(output.tensor.data_ptr(), output.tensor.numel()) for output in ends.values()}
    return [
        output
        for output in within
        if id(output) in ends or (output.tensor.data_ptr(), output.tensor.numel()) not in tensors
    ]


def _with_ancestors(name: str) -> list[str]:
    parts = name.split(".")
    return [".".join(parts[:count]) for count in range(1, len(parts) + 1)]


def _thin(outputs: list[_Output], limit: int) -> list[_Output]:
    """Keep `limit` of them, evenly spread, the first and the last among them."""
    if len(outputs) <= limit:
        return outputs
    if limit == 1:
        return outputs[-1:]
    steps = (len(outputs) - 1) / (limit - 1)
    return [outputs[round(step * steps)] for step in range(limit)]
