"""Networks of PyTorch: their modules, weights, and those of the Hugging Face hub."""

from __future__ import annotations

import difflib
import hashlib
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any

import torch

from brainscore_core.errors import DataUnavailable, UserError


def module_named(network: torch.nn.Module, name: str) -> torch.nn.Module:
    """The module of a dotted name; AssertionError, with the nearest names, if there is none."""
    modules = dict(network.named_modules())
    if name not in modules:
        nearest = difflib.get_close_matches(name, modules, n=3, cutoff=0.3)
        raise AssertionError(f"No submodule found for layer {name}; the nearest: {', '.join(nearest)}")
    return modules[name]


class AllRecorded(Exception):
    """Ends a pass: all modules have been recorded, and the rest of the network is not needed."""


@contextmanager
def recorded_outputs(
    modules: Mapping[str, torch.nn.Module], *, calls: Counter[str] | None = None, stop: bool = False
) -> Iterator[dict[str, torch.Tensor]]:
    """Outputs of modules in the latest pass; of a tuple or list, its first element.

    `calls` counts how often each module is called; `stop` raises `AllRecorded` when there is an output of each.
    """
    outputs: dict[str, torch.Tensor] = {}

    def hook(name: str) -> Callable[..., None]:
        def keep(_module: Any, _inputs: Any, output: Any) -> None:
            outputs[name] = output[0] if isinstance(output, tuple | list) else output
            if calls is not None:
                calls[name] += 1
            if stop and len(outputs) == len(modules):
                raise AllRecorded

        return keep

    handles = [module.register_forward_hook(hook(name)) for name, module in modules.items()]
    try:
        yield outputs
    finally:
        for handle in handles:
            handle.remove()


def weights_digest(network: torch.nn.Module) -> str:
    """SHA-256 of the names and values of all weights."""
    digest = hashlib.sha256()
    for name, values in sorted(network.state_dict().items()):
        digest.update(f"{name} {values.dtype} {tuple(values.shape)}\0".encode())
        digest.update(values.detach().cpu().contiguous().reshape(-1).view(torch.uint8).numpy().data)
    return digest.hexdigest()


def load_network(model_id: str, kind: str = "AutoModelForCausalLM") -> Any:
    """A network of the hub, on the GPU if there is one; `kind` is a class of transformers."""
    device = "mps" if torch.backends.mps.is_available() else "cuda" if torch.cuda.is_available() else "cpu"
    options = {"device_map": "auto"} if torch.cuda.device_count() > 1 else {}
    network = from_hub(kind, model_id, low_cpu_mem_usage=True, use_safetensors=True, **options)
    return network if options else network.to(torch.device(device))


def load_tokenizer(model_id: str) -> Any:
    """A tokenizer of the hub; long texts lose their beginning."""
    return from_hub("AutoTokenizer", model_id, truncation_side="left")


def from_hub(kind: str, model_id: str, **options: Any) -> Any:
    """Call ``from_pretrained`` of a class of transformers.

    Raises
    ------
    UserError
        If transformers is not installed.
    DataUnavailable
        If the hub or the model cannot be reached.
    """
    try:
        import transformers
    except ImportError as error:
        raise UserError(f"{model_id} needs transformers: {error}", 'pip install "brainscore[language]"') from error
    try:
        return getattr(transformers, kind).from_pretrained(model_id, **options)
    except OSError as error:
        reason = str(error).strip().splitlines()[0]
        raise DataUnavailable(
            f"{model_id} is not available from the Hugging Face hub: {reason}",
            f"on a machine with network access: hf download {model_id}, and copy the folder $HF_HOME; a model that "
            "asks for permission needs hf auth login",
        ) from error
