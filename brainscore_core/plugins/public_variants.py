"""Public variants of objects whose data are private."""

from __future__ import annotations

import contextlib
import re
from collections.abc import Iterable, Iterator
from typing import Any

from brainscore_core.errors import UserError
from brainscore_core.plugins.registry import Registry

_ACCESS_WORD = re.compile("private|public", re.IGNORECASE)


def public_variants(identifier: str, names: Iterable[str]) -> list[str]:
    """Names that differ from `identifier` only by containing *public*, or by *public* in place of *private*.

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
    return re.sub(r"[._-]", "", _ACCESS_WORD.sub("", name)).lower()


@contextlib.contextmanager
def suggesting_public_variants(identifier: str, registry: Registry[Any]) -> Iterator[None]:
    """Suggest the public variants of an object in errors about denied access to its data."""
    try:
        yield
    except UserError as error:
        variants = public_variants(identifier, registry) if _is_access_denied(error) else []
        hint = f"A public variant of the {registry.noun} {identifier!r}: {', '.join(map(repr, variants))}."
        if variants and hint not in (error.remedy or ""):
            error.remedy = f"{error.remedy}\n{hint}" if error.remedy else hint
        raise


def _is_access_denied(error: UserError) -> bool:
    from brainscore_core.supported_data_standards.brainio.fetch import AccessDenied, SeveralFailures  # imports pandas

    if isinstance(error, SeveralFailures):
        return any(isinstance(failure, AccessDenied) for failure in error.errors)
    return isinstance(error, AccessDenied)
