"""What computations in PyTorch share: the device, transfers, and chunks that fit its memory."""

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from brainscore_core.errors import UserError
from brainscore_core.numerics import _arrays

if TYPE_CHECKING:
    import torch

__all__ = ["chunk_columns", "chunk_rows", "import_torch", "resolve", "to_device", "to_numpy"]

_SHARE = 16
"""One chunk takes at most this fraction of the memory that is free on a device; a product needs a few of them."""

_LARGEST = 2**30
"""Bytes of one chunk from which on products are no faster."""


def import_torch() -> Any:
    """The module ``torch``.

    Raises
    ------
    UserError
        If it is not installed.
    """
    try:
        import torch
    except ImportError as error:
        raise UserError("computing on a device needs PyTorch", remedy="pip install 'brainscore[torch]'") from error
    return torch


def resolve(device: "str | torch.device | None") -> "torch.device | None":
    """The device to compute on; None stands for NumPy.

    Parameters
    ----------
    device : str, torch.device or None
        None: NumPy. ``'cpu'``, ``'cuda'``, ``'cuda:1'``, …: PyTorch on that device. ``'auto'``: CUDA where there is
        one, otherwise NumPy.

    Raises
    ------
    UserError
        If PyTorch or the device is not there, or the device does not compute in float64.
    """
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
        found = torch.device(device)
    except (RuntimeError, TypeError) as error:
        raise UserError(f"unknown device {device!r}", remedy="use None, 'auto', 'cpu' or 'cuda'") from error
    if found.type == "mps":
        raise UserError(
            "device 'mps' has no float64, which sums over thousands of features need",
            remedy="use device=None (NumPy), which is multi-threaded",
        )
    if found.type not in ("cpu", "cuda"):
        raise UserError(f"device {str(found)!r} is not supported", remedy="use None, 'auto', 'cpu' or 'cuda'")
    if found.type == "cuda" and (found.index or 0) >= torch.cuda.device_count():
        count = torch.cuda.device_count()
        raise UserError(
            f"device {str(found)!r} is not there: PyTorch sees {count} CUDA devices", remedy="use device='auto' or None"
        )
    return found


def to_device(array: NDArray[Any], device: "torch.device", dtype: Any = np.float64) -> "torch.Tensor":
    """A copy of `array` on the device, converted there, so that float32 crosses the bus as float32.

    Parameters
    ----------
    array : array
        Any real type, any layout; may be read-only or a memory map.
    device : torch.device
        As from :func:`resolve`.
    dtype : data type
        NumPy's or torch's, by default float64.
    """
    torch = import_torch()
    kind = dtype if isinstance(dtype, torch.dtype) else getattr(torch, np.dtype(dtype).name)
    values = np.array(array, copy=True, subok=False, order="C")  # torch warns of read-only memory
    return torch.from_numpy(values).to(device=device, dtype=kind)


def to_numpy(tensor: "torch.Tensor | NDArray[Any]") -> NDArray[Any]:
    """The tensor's values as a NumPy array of its type; an array as it is."""
    if isinstance(tensor, np.ndarray):
        return tensor
    return np.asarray(tensor.detach().cpu().numpy())


def chunk_rows(n_rows: int, n_columns: int, device: "torch.device | None" = None) -> Iterator[slice]:
    """Slices of the rows such that a block of them in float64 stays below the device's memory bound."""
    step = max(1, _bytes(device) // (8 * max(1, n_columns)))
    return (slice(start, min(start + step, n_rows)) for start in range(0, n_rows, step))


def chunk_columns(n_rows: int, n_columns: int, device: "torch.device | None" = None) -> Iterator[slice]:
    """Slices of the columns such that a block of them in float64 stays below the device's memory bound."""
    return chunk_rows(n_columns, n_rows, device)


def _bytes(device: "torch.device | None") -> int:
    if device is None or device.type != "cuda":
        return _arrays.CHUNK_BYTES
    free, _ = import_torch().cuda.mem_get_info(device)
    return int(max(2**20, min(free // _SHARE, _LARGEST)))
