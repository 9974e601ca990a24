"""Untrained twins of a network: the same architecture with initial weights."""

import copy
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from importlib import import_module
from typing import TYPE_CHECKING, Any

from brainscore_core.errors import UserError

if TYPE_CHECKING:
    import torch

__all__ = ["channels_last", "initial_weights", "network_of", "other_weights"]


def network_of(model: Any, name: str) -> "torch.nn.Module":
    """The network of a model, whose weights can be exchanged."""
    network: Any = getattr(getattr(model, "activations_model", None), "model", None)
    if not (hasattr(network, "state_dict") and hasattr(network, "named_parameters")):
        raise UserError(f"{name} has no PyTorch network whose weights could be initialised again")
    if not any(True for _ in network.parameters()):
        raise UserError(f"the network of {name} has no weights")
    return network


def initial_weights(network: "torch.nn.Module", name: str, seed: int) -> Mapping[str, Any]:
    """Weights before training: of the registered reference model, else as its modules draw them."""
    from brainscore_vision.model_helpers.weights import seeded

    untrained = import_module("brainscore_vision.models.untrained")
    if name.removesuffix("-untrained") in untrained.TRAINED and name.endswith("-untrained"):
        raise UserError(f"{name} is not trained itself")
    with seeded(seed):
        if name in untrained.TRAINED:
            folder = untrained.TRAINED[name]
            built = import_module(f"brainscore_vision.models.{folder}.model").MODEL.build()
            if {key: value.shape for key, value in built.state_dict().items()} == {
                key: value.shape for key, value in network.state_dict().items()
            }:
                return built.state_dict()
        twin = copy.deepcopy(network)
        initialised: set[int] = set()
        for module in twin.modules():
            reset = getattr(module, "reset_parameters", None) or getattr(module, "_reset_parameters", None)
            if callable(reset):
                reset()
                initialised |= {id(parameter) for parameter in module.parameters(recurse=False)}
    left = [key for key, parameter in twin.named_parameters() if id(parameter) not in initialised]
    if left:
        raise UserError(f"it is not known how the weights {', '.join(left[:3])} of {name} are initialised")
    return twin.state_dict()


@contextmanager
def other_weights(network: "torch.nn.Module", weights: Mapping[str, Any]) -> Iterator[None]:
    """Exchange the weights of a network; afterwards it has its own again."""
    own = {name: value.clone() for name, value in network.state_dict().items()}
    try:
        network.load_state_dict(weights)
        yield
    finally:
        network.load_state_dict(own)


@contextmanager
def channels_last(network: "torch.nn.Module") -> Iterator[None]:
    """Order weights of convolutions by position, then channel: a pass takes about three quarters of the time.

    Activations differ by rounding. Networks that rely on the usual order raise a RuntimeError.
    """
    import torch

    if any(value.ndim == 4 and not value.is_contiguous() for value in network.parameters()):
        yield  # they have another order already
        return
    try:
        network.to(memory_format=torch.channels_last)  # type: ignore[call-overload] # lacks this argument
        yield
    finally:
        network.to(memory_format=torch.contiguous_format)  # type: ignore[call-overload]
