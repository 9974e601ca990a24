"""Small helpers that model plugins import."""

import inspect
from typing import Any

__all__ = ["fullname"]


def fullname(obj: Any) -> str:
    """Module and name of a function or class, or of an object's class, joined by a dot.

    Examples
    --------
    >>> fullname(inspect.isclass)
    'inspect.isclass'
    >>> fullname(fullname)
    'brainscore_vision.model_helpers.utils.fullname'
    """
    named = obj if inspect.isfunction(obj) or inspect.isclass(obj) else type(obj)
    return f"{obj.__module__}.{named.__name__}"
