"""Parts of what arrived, if they are what they should be."""

from __future__ import annotations

from typing import Any, TypeVar

from brainscore_core.scoring.subjects._files import WireError

__all__ = ["expect", "only"]

T = TypeVar("T")


def expect(value: Any, kind: type[T]) -> T:
    """The value, if it is of just this type; else `WireError`."""
    if type(value) is not kind:
        raise WireError(f"a {type(value).__name__} where a {kind.__name__} should be")
    return value


def only(value: dict[str, Any], *names: str) -> dict[str, Any]:
    """The dictionary, if it has no other keys; else `WireError`."""
    if unknown := set(value) - set(names):
        raise WireError(f"an unknown part of a value: {sorted(unknown)[0][:40]!r}")
    return _Parts(value)


class _Parts(dict[str, Any]):
    def __missing__(self, key: str) -> Any:
        raise WireError(f"a value without its part {key!r}")
