"""Devices of PyTorch, and copies of arrays to and from them."""

import os
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from brainscore_core.errors import UserError

if TYPE_CHECKING:
    import torch

_STAGED_BYTES = 2**25
"""Size of the parts in which larger arrays are copied to and from a GPU through page-locked memory."""

_COPYING_THREADS = 8


def import_torch() -> Any:
    """Import and return the module ``torch``."""
    try:
        import torch
    except ImportError as error:
        raise UserError("computing on a device needs PyTorch", remedy="pip install 'brainscore[torch]'") from error
    return torch


def resolve_device(device: "str | torch.device | None") -> "torch.device | None":
    """Return the device to compute on; None stands for NumPy."""
    if device is None:
        return None
    if isinstance(device, str) and device == "auto":
        try:
            torch = import_torch()
        except UserError:
            return None
        return torch.device("cuda") if torch.cuda.is_available() else None
    torch = import_torch()
    try:
        resolved = torch.device(device)
    except (RuntimeError, TypeError) as error:
        raise UserError(f"unknown device {device!r}", remedy="use None, 'auto', 'cpu' or 'cuda'") from error
    if resolved.type == "mps":
        raise UserError(
            "device 'mps' does not support float64, which sums over thousands of features require",
            remedy="use device=None (NumPy), which is multi-threaded",
        )
    if resolved.type not in ("cpu", "cuda"):
        raise UserError(f"device {str(resolved)!r} is not supported", remedy="use None, 'auto', 'cpu' or 'cuda'")
    if resolved.type == "cuda" and (resolved.index or 0) >= torch.cuda.device_count():
        count = torch.cuda.device_count()
        raise UserError(
            f"device {str(resolved)!r} is not available: PyTorch finds {count} CUDA devices",
            remedy="use device='auto' or None",
        )
    return resolved


def to_device(array: NDArray[Any], device: "torch.device", dtype: Any = np.float64) -> "torch.Tensor":
    """Copy `array` to the device and convert it there, so that float32 is transferred as float32."""
    torch = import_torch()
    torch_dtype = dtype if isinstance(dtype, torch.dtype) else getattr(torch, np.dtype(dtype).name)
    if device.type != "cuda" or not array.ndim:
        values = np.array(array, copy=True, subok=False, order="C")  # as PyTorch warns about read-only memory
        return torch.from_numpy(values).to(device=device, dtype=torch_dtype)
    result = torch.empty(array.shape, dtype=getattr(torch, array.dtype.name), device=device)
    for rows in _staged_rows(array):
        staged = torch.empty(result[rows].shape, dtype=result.dtype, pin_memory=True)
        _copy(array[rows], staged.numpy())
        result[rows].copy_(staged, non_blocking=True)
    return result.to(torch_dtype)


def to_numpy(tensor: "torch.Tensor | NDArray[Any]") -> NDArray[Any]:
    """Convert a tensor to a NumPy array of the same type; return an array unchanged."""
    if isinstance(tensor, np.ndarray):
        return tensor
    tensor = tensor.detach()
    if not tensor.is_cuda or not tensor.ndim:
        return np.asarray(tensor.cpu().numpy())
    torch = import_torch()
    result = np.empty(tensor.shape, dtype=torch.empty(0, dtype=tensor.dtype).numpy().dtype)
    for rows in _staged_rows(result):
        staged = torch.empty(result[rows].shape, dtype=tensor.dtype, pin_memory=True)
        staged.copy_(tensor[rows])
        _copy(staged.numpy(), result[rows])
    return result


def _staged_rows(array: NDArray[Any]) -> Iterator[slice]:
    step = max(1, _STAGED_BYTES * len(array) // max(1, array.nbytes))
    return (slice(start, min(start + step, len(array))) for start in range(0, len(array), step))


def _copy(source: NDArray[Any], target: NDArray[Any]) -> None:
    """Copy an array, if it is large by several threads, since one is slower than the transfer to a GPU."""
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else 1
    count = min(_COPYING_THREADS, cores, source.nbytes // 2**20)
    if count < 2:
        np.copyto(target, source)
        return
    bounds = np.linspace(0, len(source), count + 1).astype(int)
    with ThreadPoolExecutor(count) as pool:
        slices = [slice(*pair) for pair in pairwise(bounds)]
        list(pool.map(lambda rows: np.copyto(target[rows], source[rows]), slices))


def on_device(values: NDArray[np.float64], device: "torch.device | None") -> Any:
    """Copy values to a device; for None (NumPy), return them unchanged."""
    return values if device is None else to_device(values, device)
