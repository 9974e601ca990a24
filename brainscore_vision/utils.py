"""Small helpers for plugins."""

import copy
from collections.abc import Mapping
from typing import Any

from brainscore_core.lazy import LazyLoad as LazyLoad
from brainscore_core.lazy import fullname as fullname


def recursive_dict_merge(dict1: Mapping[Any, Any], dict2: Mapping[Any, Any]) -> dict[Any, Any]:
    """Merge two dictionaries and their nested dictionaries; values of the second take precedence.

    Examples
    --------
    >>> recursive_dict_merge({"V1": {"layer": "conv1", "bins": 1}}, {"V1": {"bins": 2}})
    {'V1': {'layer': 'conv1', 'bins': 2}}
    """
    merged = copy.deepcopy(dict(dict1))
    for key, value in dict2.items():
        both = isinstance(merged.get(key), Mapping) and isinstance(value, Mapping)
        merged[key] = recursive_dict_merge(merged[key], value) if both else value
    return merged
