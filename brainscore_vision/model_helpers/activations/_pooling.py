"""Fewer features from tokens and feature maps, on their way from the network."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from brainscore_core.errors import UserError

__all__ = ["Pooling", "as_rows", "tensor_of"]

_TOKENS = ("cls", "mean", "patch_mean", "last")
_SPATIAL = ("mean", "max")


@dataclass(frozen=True)
class Pooling:
    """What is kept of a layer's output.

    Parameters
    ----------
    tokens : {'cls', 'mean', 'patch_mean', 'last'}, optional
        Of outputs stimuli × tokens × channels: the first token, the mean over all, the mean over all but the first
        `prefix_tokens`, the last token. By default all of them.
    spatial : {'mean', 'max'}, optional
        Of outputs stimuli × channels × height × width: mean or maximum over the places. By default all of them.
    prefix_tokens : int
        Tokens before those of the image (class, registers); ``'patch_mean'`` leaves them out.

    Examples
    --------
    >>> import numpy as np
    >>> Pooling(tokens="cls").apply(np.zeros((2, 197, 768))).shape
    (2, 768)
    """

    tokens: str | None = None
    spatial: str | None = None
    prefix_tokens: int = 1

    def __post_init__(self) -> None:
        for name, value, known in (("tokens", self.tokens, _TOKENS), ("spatial", self.spatial, _SPATIAL)):
            if value is not None and value not in known:
                raise ValueError(f"{name} is {value!r}, not one of {', '.join(map(repr, known))} or None")

    @property
    def described(self) -> dict[str, str | int | None]:
        """What tells it from another, in plain types."""
        prefix = self.prefix_tokens if self.tokens == "patch_mean" else None
        return {"tokens": self.tokens, "spatial": self.spatial, "prefix_tokens": prefix}

    def apply(self, output: Any) -> Any:
        """Pool an array or tensor of one batch; what has another shape comes back as it is."""
        if output.ndim == 3 and self.tokens is not None:
            if self.tokens == "cls":
                return output[:, 0]
            if self.tokens == "last":
                return output[:, -1]
            first = self.prefix_tokens if self.tokens == "patch_mean" else 0
            if output.shape[1] <= first:
                raise UserError(
                    f"{output.shape[1]} tokens, of which {first} come before the image's: none is left to average",
                    remedy="pass Pooling(tokens='patch_mean', prefix_tokens=…) with the network's own number",
                )
            return output[:, first:].mean(1)
        if output.ndim == 4 and self.spatial is not None:
            places = output.reshape(*output.shape[:2], -1)
            return places.mean(-1) if self.spatial == "mean" else _amax(places)
        return output


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


def _amax(places: Any) -> Any:
    return places.max(-1) if isinstance(places, np.ndarray) else places.amax(-1)
