"""Name and find the function that scores a pair."""

from __future__ import annotations

import importlib
from collections.abc import Callable
from typing import Any

from brainscore_core.errors import UserError

__all__ = ["import_scorer", "run_info", "split_scorer"]


def split_scorer(scorer: str) -> tuple[str, str]:
    """Split ``'package.module:function'``.

    Raises
    ------
    UserError
        If it is not written like that.

    Examples
    --------
    >>> split_scorer("brainscore_vision.scoring:score_pair")
    ('brainscore_vision.scoring', 'score_pair')
    """
    module, colon, function = scorer.partition(":")
    if not (colon and all(part.isidentifier() for part in (*module.split("."), function))):
        raise UserError(f"{scorer!r} names no function", remedy="write it like package.module:function")
    return module, function


def import_scorer(scorer: str) -> Callable[..., Any]:
    """Import the function that ``'package.module:function'`` names.

    Raises
    ------
    UserError
        If it cannot be imported here.

    Examples
    --------
    >>> import_scorer("brainscore_core.scoring:run_pair").__name__
    'run_pair'
    """
    module, function = split_scorer(scorer)
    try:
        found: Callable[..., Any] = getattr(importlib.import_module(module), function)
    except (ImportError, AttributeError) as error:
        raise UserError(
            f"the worker cannot import {scorer!r}: {error}",
            remedy="install the same version of brainscore, and of private packages, where the workers run",
        ) from error
    return found


def run_info(identifier: str, *, isolated: bool) -> Any:
    """Which run makes a receipt, as receipts say it."""
    from brainscore_core.scoring import RunInfo

    return RunInfo(id=identifier, isolated=isolated, environment=None, packages={})
