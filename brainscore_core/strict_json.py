"""Python and NumPy values as strict JSON."""

import json
import math
from collections.abc import Mapping
from typing import Any

import numpy as np


def plain(value: Any) -> Any:
    """Convert a value to plain JSON types: NaN and infinities become null, NumPy types become Python types.

    Examples
    --------
    >>> plain({"score": np.float32(0.5), "interval": (np.nan, np.int64(1))})
    {'score': 0.5, 'interval': [None, 1]}
    """
    if value is None or isinstance(value, bool | np.bool_):
        return None if value is None else bool(value)
    if isinstance(value, int | np.integer):
        return int(value)
    if isinstance(value, float | np.floating):
        number = float(value)
        return number if math.isfinite(number) else None
    if isinstance(value, str):
        # lone surrogates (in file names that are not valid Unicode) cannot be written as UTF-8
        return str(value).encode("utf-8", "replace").decode()
    if isinstance(value, Mapping):
        return {str(key): plain(entry) for key, entry in value.items()}
    if isinstance(value, np.ndarray):
        return plain(value.tolist())
    if isinstance(value, list | tuple):
        return [plain(entry) for entry in value]
    if isinstance(value, set | frozenset):
        return sorted((plain(entry) for entry in value), key=repr)
    return str(value)


def dumps(value: Any) -> str:
    """Write plain values as indented JSON without NaN."""
    return json.dumps(plain(value), indent=2, ensure_ascii=False, allow_nan=False)


def loads(text: str | bytes) -> Any:
    """Read JSON; raise a ValueError for NaN and infinities, too.

    Examples
    --------
    >>> loads('{"score": 0.5}')
    {'score': 0.5}
    """
    return json.loads(text, parse_constant=_refuse_constant)


def _refuse_constant(name: str) -> None:
    raise ValueError(f"{name} is not valid in JSON")
