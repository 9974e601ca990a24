"""Public variants of private data, which errors about denied access suggest."""

from __future__ import annotations

import contextlib
import re
from contextvars import ContextVar
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from brainscore_core.plugins import Registry

__all__ = ["public_variants", "scored_benchmark", "suggesting_public_variants"]

_WORD = re.compile("private|public", re.IGNORECASE)
_benchmark: ContextVar[tuple[str, Registry[Any]] | None] = ContextVar("scored_benchmark", default=None)


def public_variants(identifier: str, names: Iterable[str]) -> list[str]:
    """Names that differ from `identifier` only in that they contain the word *public*.

    Examples
    --------
    >>> public_variants("MajajHong2015.private", ["MajajHong2015.public", "MajajHong2015.temporal.public"])
    ['MajajHong2015.public']
    >>> public_variants("MajajHong2015.IT-pls", ["MajajHong2015public.IT-pls", "MajajHong2015public.V4-pls"])
    ['MajajHong2015public.IT-pls']
    """
    if "public" in identifier.lower():
        return []
    wanted = _without_access(identifier)
    return sorted(name for name in names if "public" in name.lower() and _without_access(name) == wanted)


def _without_access(name: str) -> str:
    """The name without *public*, *private* and separators, in lower case."""
    return re.sub(r"[._-]", "", _WORD.sub("", name)).lower()


@contextlib.contextmanager
def scored_benchmark(identifier: str, registry: Registry[Any]) -> Iterator[None]:
    """Name the public variant of this benchmark, too, in errors about denied data while it is scored."""
    token = _benchmark.set((identifier, registry))
    try:
        yield
    finally:
        _benchmark.reset(token)


@contextlib.contextmanager
def suggesting_public_variants(identifier: str, registry: Registry[Any]) -> Iterator[None]:
    """Add public variants to errors about denied data."""
    from brainscore_core.errors import UserError

    try:
        yield
    except UserError as error:
        if _is_access_denied(error):
            scored = _benchmark.get()
            for name, names in ((identifier, registry), *((scored,) if scored is not None else ())):
                _add_suggestion(error, name, names)
        raise


def _is_access_denied(error: Any) -> bool:
    from brainscore_core.supported_data_standards.brainio.fetch import AccessDenied, SeveralFailures

    if isinstance(error, SeveralFailures):
        return any(isinstance(failure, AccessDenied) for failure in error.errors)
    return isinstance(error, AccessDenied)


def _add_suggestion(error: Any, identifier: str, registry: Registry[Any]) -> None:
    variants = public_variants(identifier, registry)
    remark = f"A public variant of the {registry.noun} {identifier!r}: {', '.join(map(repr, variants))}."
    if variants and remark not in (error.remedy or ""):
        error.remedy = f"{error.remedy}\n{remark}" if error.remedy else remark
