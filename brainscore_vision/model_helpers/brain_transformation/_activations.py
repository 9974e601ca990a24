"""What gives activations, and the names of its layers."""

import re
from collections.abc import Iterable, Sequence
from fnmatch import fnmatchcase
from inspect import getattr_static
from typing import Any, Protocol

from brainscore_core.errors import UserError, nearest
from brainscore_core.supported_data_standards.brainio.assemblies import NeuroidAssembly
from brainscore_core.supported_data_standards.brainio.stimuli import StimulusSet

__all__ = ["ActivationsModel", "UnknownLayer", "layer_names", "logits_width", "resolve_layers", "time_step", "unique"]

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
