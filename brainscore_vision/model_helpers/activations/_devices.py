"""Where a network computes, and in which precision."""

import copy
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import AbstractContextManager, ExitStack, contextmanager, nullcontext
from itertools import chain
from typing import TYPE_CHECKING, Any

from brainscore_core.errors import UserError
from brainscore_vision.model_helpers.activations._hooks import Listener
from brainscore_vision.model_helpers.activations._pooling import tensor_of
from brainscore_vision.model_helpers.activations._run import Forward, Take

if TYPE_CHECKING:
    import torch

__all__ = ["as_input", "autocast_type", "autocasting", "choose_devices", "shared_out"]

Run = Callable[["torch.nn.Module", Any], None]


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


def as_input(network: "torch.nn.Module", images: Any) -> Any:
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
def shared_out(
    network: "torch.nn.Module", devices: "Sequence[torch.device]", layers: Sequence[str], run: Run
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

        def forward(images: Any, take: Take) -> None:
            import torch

            size = -(-len(images) // len(networks))
            shares = [images[start : start + size] for start in range(0, len(images), size)]
            found = list(pool.map(part, range(len(shares)), shares))
            for layer in layers:
                take(layer, torch.cat([one[layer] for one in found]))

        yield forward
