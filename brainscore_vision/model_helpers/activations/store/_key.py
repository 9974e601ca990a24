"""What a layer is found by: the hash of all that its values depend on."""

import hashlib
import json
import math
from collections.abc import Mapping
from typing import Any

__all__ = ["is_key", "layer_key", "plain"]

_FORMAT = 1  # counts up when the same parts come to mean other values


def layer_key(parts: Mapping[str, Any]) -> str:
    """Hash of all that a layer's values depend on.

    Parameters
    ----------
    parts : mapping of str
        Text, whole numbers, finite floats, booleans, None, and lists and mappings of these. The order of a mapping
        does not matter; a tuple counts as a list; 1 and 1.0 are different.

    Returns
    -------
    str
        64 hexadecimal digits, the same in every process and on every machine.

    Raises
    ------
    TypeError
        If a part is anything else, such as an array or a path, whose text would not say what it holds.
    ValueError
        If a number is not finite.

    Examples
    --------
    >>> layer_key({"layer": "conv1", "trials": 1}) == layer_key({"trials": 1, "layer": "conv1"})
    True
    >>> layer_key({"layer": "conv1"}) == layer_key({"layer": "conv2"})
    False
    """
    content = json.dumps([_FORMAT, plain(parts)], sort_keys=True, separators=(",", ":"), allow_nan=False)
    return hashlib.sha256(content.encode("ascii")).hexdigest()


def plain(value: Any, where: str = "parts") -> Any:
    """Copy of a value in plain JSON types; anything else is refused, by name."""
    if value is None or type(value) in (bool, int, str):
        return value
    if type(value) is float:
        if not math.isfinite(value):
            raise ValueError(f"{where} is {value}; a key needs finite numbers")
        return value
    if isinstance(value, Mapping):
        for name in value:
            if type(name) is not str:
                raise TypeError(f"{where} has the key {name!r} of type {type(name).__name__}; keys need to be str")
        return {name: plain(item, f"{where}[{name!r}]") for name, item in value.items()}
    if isinstance(value, list | tuple):
        return [plain(item, f"{where}[{number}]") for number, item in enumerate(value)]
    raise TypeError(
        f"{where} is a {type(value).__name__}; a key is made of str, int, float, bool, None, lists and mappings"
    )


def is_key(name: str) -> bool:
    """Whether `name` is written as :func:`layer_key` writes it."""
    return len(name) == 64 and all(character in "0123456789abcdef" for character in name)
