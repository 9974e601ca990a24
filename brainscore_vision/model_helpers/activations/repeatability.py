"""Whether responses are a function of the stimulus: comparison of responses, and what is known to be random."""

import functools
import re
import sys
import types
from collections import deque
from collections.abc import Iterable, Iterator, Mapping
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from brainscore_core.provenance import NOT_REPEATABLE
from brainscore_vision.model_helpers.activations.fingerprints import (
    Unhashable,
    fingerprint,
    is_library,
    named_globals,
)

_TOLERANCE = 1e-3  # relative to a layer's largest value, between two responses to one stimulus
_WIDE_TOLERANCE = 5e-2  # in half precision
_TINY = float(np.finfo(np.float32).tiny)  # smaller values are 0 on some devices
_MOST_OBJECTS = 20_000  # that are searched for what is known to be random

_PLAIN = (type(None), bool, int, float, str, bytes, np.ndarray, np.generic, types.ModuleType)
_UNMASKED = (
    "patches are masked at random; set {} = 0.0, and record the class token or the mean of tokens, since their order "
    "may stay random"
)
_TRANSFORM_LIBRARIES = frozenset({"albumentations", "kornia", "monai", "timm", "torchio", "torchvision"})
_RANDOM_NAME = re.compile(
    r"(Random(?!State)|RandAug|TrivialAugment|AutoAugment|AugMix|Mix[Uu]p|CutMix|Cutmix)\w*|\w*Jitter"
)
_DROPOUT_NAME = re.compile(r"\w*Drop(out|Path|Block)\w*|StochasticDepth")


def nearly_equal(before: NDArray[Any], now: NDArray[Any], *, half: bool = False) -> bool:
    """Whether two arrays of the same size are equal within the accuracy of the arithmetic.

    `half`: they are computed in half precision.

    Examples
    --------
    >>> nearly_equal(np.array([1e-9, -2e-9]), np.array([1.00001e-9, -2e-9]))
    True
    """
    before = np.asarray(before, dtype=np.float64).reshape(-1)
    now = np.asarray(now, dtype=np.float64).reshape(-1)
    finite = np.isfinite(now)
    if before.shape != now.shape or not np.array_equal(np.isfinite(before), finite):
        return False
    limit = _TINY + (_WIDE_TOLERANCE if half else _TOLERANCE) * np.abs(before[finite]).max(initial=0)
    return bool(np.all(np.abs(before[finite] - now[finite]) <= limit))


def are_random(inputs: Iterable[Any]) -> bool:
    """Whether the inputs that preprocessing made of one stimulus differ; False if they cannot be compared."""
    try:
        return len({fingerprint(item) for item in inputs}) > 1
    except Unhashable:
        return False


class Cause(NamedTuple):
    """What makes responses depend on more than the stimulus."""

    text: str  # its name
    remedy: str  # how to avoid it
    # Whether responses are not a function of the stimulus wherever it is used, even if two of them are equal
    suffices: bool = False


def explanation(model: str, what: str, causes: Iterable[Cause]) -> str:
    """Say that responses are not a function of the stimulus, and what is known about it.

    Examples
    --------
    >>> explanation("net", "they are random", [Cause("RandomCrop", "crop the centre")])
    'the responses of net are not a function of the stimulus: they are random (RandomCrop: crop the centre)'
    """
    causes_text = "; ".join(dict.fromkeys(f"{cause.text}: {cause.remedy}" for cause in causes))
    return f"the responses of {model} are {NOT_REPEATABLE}: {what}" + (f" ({causes_text})" if causes_text else "")


def known_causes(preprocess: Any, model: Any, *, sufficient: bool = False) -> list[Cause]:
    """Find what is known by its name to be random, or to depend on a batch, in preprocessing and a model.

    Closures, attributes, items and globals of both are searched. `sufficient`: only random transforms of libraries in
    preprocessing are needed.

    Examples
    --------
    >>> __name__ = "__main__"
    >>> class RandomCrop:
    ...     def __call__(self, image):
    ...         return image
    >>> transform = RandomCrop()
    >>> known_causes(lambda paths: [transform(path) for path in paths], None)[0].text
    'RandomCrop'
    """
    if sufficient and _TRANSFORM_LIBRARIES.isdisjoint(sys.modules):
        return []
    seen: dict[int, Any] = {}
    named_causes = [cause for value in _reachable(preprocess, seen) for cause in _causes(value)]
    if sufficient:
        return list(dict.fromkeys(cause for cause in named_causes if cause.suffices))
    named_causes += [cause._replace(suffices=False) for value in _reachable(model, seen) for cause in _causes(value)]
    return list(dict.fromkeys(named_causes))


def _causes(value: Any) -> Iterator[Cause]:
    """Causes that an object is."""
    kind, settings = type(value), _attributes(value)
    chance = settings.get("p")
    chance = chance if isinstance(chance, int | float) else None
    if callable(value) and not isinstance(value, type | types.FunctionType) and chance != 0:
        library = kind.__module__.partition(".")[0]
        if _RANDOM_NAME.fullmatch(kind.__name__) or (library == "albumentations" and chance not in (None, 1)):
            # other classes may draw their random numbers once
            yield Cause(kind.__name__, "use the transforms of evaluation", library in _TRANSFORM_LIBRARIES)
    torch = sys.modules.get("torch")
    if torch is None or not isinstance(value, torch.nn.Module):
        return
    for name, owner in (("mask_ratio", settings), ("config.mask_ratio", _attributes(settings.get("config")))):
        ratio = owner.get("mask_ratio")
        if isinstance(ratio, int | float) and ratio > 0:
            yield Cause(f"{name} = {ratio}", _UNMASKED.format(name))
    if value.training and _DROPOUT_NAME.fullmatch(kind.__name__) and chance != 0:
        yield Cause(f"{kind.__name__} in training mode", "call its eval()")
    if "BatchNorm" in kind.__name__ and (value.training or settings.get("_buffers", {}).get("running_mean") is None):
        yield Cause(f"{kind.__name__} with statistics of the batch", "use running statistics, and call its eval()")
    if ".quantized.dynamic." in kind.__module__:
        yield Cause(f"dynamically quantized {kind.__name__}", "its scale is that of the batch; use static quantization")


def _attributes(value: Any) -> Mapping[str, Any]:
    attributes = getattr(value, "__dict__", None)
    return attributes if isinstance(attributes, Mapping) else {}


def _reachable(root: Any, seen: dict[int, Any]) -> Iterator[Any]:
    """Objects that a function or an object uses, without those that were seen."""
    waiting, most = deque([root]), len(seen) + _MOST_OBJECTS
    while waiting and len(seen) < most:
        value = waiting.popleft()
        if isinstance(value, _PLAIN) or id(value) in seen:
            continue
        seen[id(value)] = value
        yield value
        waiting.extend(_items(value))


def _items(value: Any) -> Iterable[Any]:
    """What an object refers to."""
    if isinstance(value, dict):
        return [*value.values()]
    if isinstance(value, list | tuple | set | frozenset):
        return [*value]
    if isinstance(value, functools.partial):
        return [value.func, *value.args, *value.keywords.values()]
    if isinstance(value, types.MethodType):
        return [value.__self__, value.__func__]
    if isinstance(value, types.FunctionType):
        return named_globals(value)
    if isinstance(value, type):
        return () if is_library(value.__module__) else [*vars(value).values()]
    return [*_attributes(value).values(), type(value)]
