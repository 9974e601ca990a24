"""Axes of layers' outputs: stimuli, channels, and tokens before those of the image.

A layout is what a network states, or follows from shapes; otherwise it is unknown.
"""

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, TypeGuard

from brainscore_core.errors import UserError

if TYPE_CHECKING:
    import torch

_TOLERANCE = 1e-3  # relative to the largest value, between responses to a stimulus alone and beside another
_MOST_EXTRA_TOKENS = 16  # of networks that do not name theirs
_STAGES = 6  # each of which may halve the height and the width of the map of tokens
_CLASS_TOKENS = ("cls_token", "class_token", "class_embedding")
_OTHER_TOKENS = ("dist_token", "distillation_token", "reg_token", "register_tokens", "storage_tokens")


class StimulusAxis(NamedTuple):
    """Axis of stimuli in a layer's output, which is not the first one, or which stimuli share with something else."""

    axis: int  # its number; −1 if outputs for one stimulus do not have it
    # Whether only stimuli are along it, or positions, such as windows of attention, of one stimulus after the other
    # (``'outer'``) or of all stimuli in turn (``'inner'``)
    order: Literal["alone", "outer", "inner"] = "alone"

    def first(self, tensor: Any, stimuli: int) -> Any:
        """The output with the stimuli on the first axis, the other axes in their order."""
        if self.axis < 0:
            return tensor[None] if stimuli == 1 else tensor
        if self.order == "alone":
            return tensor.movedim(self.axis, 0)
        sizes = (stimuli, -1) if self.order == "outer" else (-1, stimuli)
        return tensor.unflatten(self.axis, sizes).movedim(self.axis + (self.order == "inner"), 0)

    def __str__(self) -> str:
        if self.axis < 0:
            return "outputs for a single stimulus have no axis of stimuli, which is added"
        if self.order == "alone":
            return f"stimuli are axis {self.axis + 1} of its output, and are moved to the front"
        return f"stimuli share axis {self.axis + 1} of its output with other positions, and are separated"


def stimulus_axis(layer: str, alone: Any, pair: Any) -> StimulusAxis:
    """Find the axis of stimuli from the outputs for a stimulus alone, and for this stimulus and another.

    A UserError if no axis or several ones depend on the number of stimuli, or the responses to a stimulus cannot be
    separated.
    """
    if tuple(pair.shape) == (2, *alone.shape):
        return StimulusAxis(-1)
    sizes = list(zip(alone.shape, pair.shape, strict=False)) if alone.ndim == pair.ndim else []
    changed = [axis for axis, (first, second) in enumerate(sizes) if first != second]
    if len(changed) == 1:
        (axis,) = changed
        first, second = sizes[axis]
        if (first, second) == (1, 2):
            return StimulusAxis(axis)
        if second == 2 * first:
            axes = [StimulusAxis(axis, "outer"), StimulusAxis(axis, "inner")]
            matching = [
                candidate for candidate in axes if _near(candidate.first(pair, 2)[:1], candidate.first(alone, 1))
            ]
            if len(matching) == 1:
                return matching[0]
    shapes = f"{_shown(alone)} for one stimulus and {_shown(pair)} for two"
    raise UserError(
        f"the axis of stimuli in the output of layer {layer!r} is not known: its shape is {shapes}",
        remedy="choose the module that contains it, or another layer whose output has one axis for stimuli; or "
        "return the layer's output, stimuli first, from a module of your own",
    )


def _near(first: Any, second: Any) -> bool:
    scale = float(second.abs().max()) if second.numel() else 0.0
    return first.shape == second.shape and bool(((first - second).abs() <= _TOLERANCE * scale).all())


def _shown(tensor: Any) -> str:
    return " × ".join(map(str, tensor.shape)) or "a single number"


class Layout(NamedTuple):
    """Layout of a layer's output."""

    layer: str  # name of the layer
    # Of a feature map, whether channels are the last axis, not the first one after stimuli; None if not known
    channels_last: bool | None = None
    prefix_tokens: int | None = None  # number of tokens before those of the image; None if not known
    class_token: bool | None = None  # whether the first token is a class token; None if not known


class TokenStatement(NamedTuple):
    """What a network states about its tokens."""

    # Tokens before those of the image in its blocks; None if neither an attribute nor parameters tell
    number: int | None
    class_token: bool  # whether it has a parameter for a class token
    # Whether the number is an attribute of the network (``num_prefix_tokens`` of timm), not that of its parameters
    exact: bool
    patch: tuple[int, int] | None  # height and width of a patch

    @classmethod
    def of(cls, network: "torch.nn.Module") -> "TokenStatement":
        """Read the attributes and parameters of a network."""
        number: int | None = None
        sizes: dict[str, int] = {}
        for name, parameter in network.named_parameters():
            last = name.rpartition(".")[2]
            if last in (*_CLASS_TOKENS, *_OTHER_TOKENS):
                sizes.setdefault(last, parameter.shape[-2] if parameter.ndim > 1 else 1)
        stated = next(
            (value for module in network.modules() if _is_count(value := getattr(module, "num_prefix_tokens", None))),
            None,
        )
        if sizes:
            number = sum(sizes.values())
        return cls(
            number=number if stated is None else stated,
            class_token=any(name in sizes for name in _CLASS_TOKENS),
            exact=stated is not None,
            patch=_patch(network),
        )

    def prefix(self, number: int, image: tuple[int, int] | None) -> int | None:
        """How many of a layer's tokens precede those of the image; None if not known.

        The tokens of the image are its patches, or a quarter of them, a sixteenth … in later stages.
        """
        if self.patch is None or image is None:
            return self.number if self.exact else None
        patches = (image[0] // self.patch[0]) * (image[1] // self.patch[1])
        for stated in dict.fromkeys((self.number or 0, 0)):
            if number - stated > 1 and patches in [(number - stated) * 4**stage for stage in range(_STAGES)]:
                return stated
        inferred = number - patches
        return inferred if self.number is None and 0 <= inferred <= _MOST_EXTRA_TOKENS else None


def _is_count(value: Any) -> TypeGuard[int]:
    return isinstance(value, int) and not isinstance(value, bool)


def _patch(network: "torch.nn.Module") -> tuple[int, int] | None:
    """Size of patches: of the first convolution, if it has one response to each patch, else as an attribute states."""
    import torch

    first = next((module for module in network.modules() if isinstance(module, torch.nn.Conv2d)), None)
    if first is not None and first.kernel_size == first.stride and first.stride[0] > 1:
        return first.stride[0], first.stride[1]
    config = getattr(network, "config", None)
    holders = (network, getattr(network, "patch_embed", None), config, getattr(config, "vision_config", None))
    for size in (getattr(holder, "patch_size", None) for holder in holders):
        if _is_count(size):
            return size, size
        if isinstance(size, tuple | list) and len(size) == 2 and all(map(_is_count, size)):
            return int(size[0]), int(size[1])
    return None


def find_layout(
    layer: str,
    shape: tuple[int, ...],
    *,
    module: Any,
    network: "torch.nn.Module",
    image: tuple[int, int] | None,
) -> Layout:
    """Find the layout of an output.

    `shape` is that of the output for one stimulus; `image` the height and width of the network's input.
    """
    if len(shape) == 3:
        return Layout(layer, channels_last=_channels_last(shape, module, network, image))
    if len(shape) != 2:
        return Layout(layer)
    tokens = TokenStatement.of(network)
    number = tokens.prefix(shape[0], image)
    if number is None:
        return Layout(layer)
    if number == 0:
        return Layout(layer, prefix_tokens=0, class_token=False)
    # without parameters of known names, a single further token is a class token
    class_token = tokens.class_token or (tokens.number is None and number == 1)
    return Layout(layer, prefix_tokens=number, class_token=class_token)


def _channels_last(
    shape: tuple[int, ...], module: Any, network: "torch.nn.Module", image: tuple[int, int] | None
) -> bool | None:
    """Whether the channels of a feature map are its last axis: as its module computes, or the sides of the map tell."""
    computed = {_kind(leaf) for leaf in ([] if module is None else _leaves(module))} - {None}
    if module is not None and next(module.children(), None) is None and len(computed) == 1:
        return "last" in computed
    if image is not None:
        first, last = _is_map(shape[1:], image), _is_map(shape[:2], image)
        if first != last:
            return last
        if not first:
            return None
    if computed == {"first"}:  # a block of convolutions
        return False
    return True if getattr(network, "output_fmt", None) == "NHWC" else None


def _leaves(module: "torch.nn.Module") -> Iterator["torch.nn.Module"]:
    return (submodule for submodule in module.modules() if next(submodule.children(), None) is None)


def _kind(module: "torch.nn.Module") -> str | None:
    """Where a module of PyTorch expects the channels of a feature map."""
    from torch import nn

    first = (nn.Conv2d, nn.ConvTranspose2d, nn.BatchNorm2d, nn.InstanceNorm2d, nn.GroupNorm)
    pools = (nn.MaxPool2d, nn.AvgPool2d, nn.AdaptiveAvgPool2d, nn.AdaptiveMaxPool2d)
    if isinstance(module, (*first, *pools)):
        return "first"
    return "last" if type(module) in (nn.Linear, nn.LayerNorm) else None  # derived norms may move the axis


def _is_map(sides: tuple[int, ...], image: tuple[int, int]) -> bool:
    """Whether two axes have the proportions of the image, up to one position."""
    height, width = sides
    if image[0] == image[1]:
        return height == width
    return abs(height * image[1] - width * image[0]) <= max(image)
