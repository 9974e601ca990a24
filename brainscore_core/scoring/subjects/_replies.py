"""What comes with an answer: errors, warnings, notes of what was read."""

from __future__ import annotations

import builtins
import math
import re
import warnings
from collections.abc import Callable
from typing import Any, NoReturn

from brainscore_core import errors
from brainscore_core.errors import NotApplicable, UserError
from brainscore_core.plugins import MissingRequirementError, PluginWarning
from brainscore_core.provenance import note
from brainscore_core.scoring.subjects._errors import SubjectFailed, SubjectOutOfMemory
from brainscore_core.scoring.subjects._files import WireError
from brainscore_core.scoring.subjects._values import expect, only

__all__ = ["raise_error", "take_over"]

_seen: dict[Any, Any] = {}  # warnings that need not be given again, as each module keeps them
_MOST_SEEN = 1000
_MOST_NOTES = 10_000
_MOST_WARNINGS = 100
_MOST_CHARACTERS = 100_000  # of a warning
_LONGEST_PLACE = 500
_LARGEST = 1 << 53  # numbers beyond have no place in JSON
_USER_ERRORS: dict[str, type[UserError]] = {
    "DataUnavailable": errors.DataUnavailable,
    "MissingRequirementError": MissingRequirementError,
    "UnknownIdentifier": errors.UnknownIdentifier,
}


def raise_error(name: str, error: Any) -> NoReturn:
    """Raise an error of a subject as this process's own.

    Parameters
    ----------
    name : str
        Of the subject.
    error : object
        As it arrived.

    Raises
    ------
    NotApplicable, UserError, SubjectFailed
        The error, with the subject's traceback as a note.
    WireError
        It describes none.
    """
    error = only(expect(error, dict), "kind", "type", "message", "remedy", "traceback")
    kind, type_name, message, trace = (expect(error[part], str) for part in ("kind", "type", "message", "traceback"))
    remedy = None if error["remedy"] is None else expect(error["remedy"], str)
    raised: Exception
    if kind == "not applicable":
        raised = NotApplicable(message)
    elif kind == "user":
        raised = _USER_ERRORS.get(type_name, UserError)(message, remedy)
    elif kind in ("other", "memory"):
        failed = SubjectOutOfMemory if kind == "memory" else SubjectFailed
        raised = failed(f"the subject {name!r} raised {type_name}: {message}", cause="exception")
    else:
        raise WireError(f"an error of unknown kind: {kind[:40]!r}")
    raised.add_note(f"In the subject's process:\n{trace}")
    raise raised


def take_over(about: Any) -> int:
    """Note what the subject noted, and warn of what it warned of.

    Returns
    -------
    int
        Highest resident memory of its process, in bytes.
    """
    about = only(expect(about, dict), "notes", "warnings", "peak_bytes")
    notes, warned = expect(about["notes"], list), expect(about["warnings"], list)
    peak = expect(about["peak_bytes"], int)
    if len(notes) > _MOST_NOTES:
        raise WireError(f"{len(notes)} notes")
    if len(warned) > _MOST_WARNINGS:
        raise WireError(f"{len(warned)} warnings")
    for item in notes:
        fields = dict(expect(item, dict))
        kind = expect(fields.pop("kind", None), str)
        if not kind:
            raise WireError("a note of no kind")
        _check_note(kind, fields)
        note(kind, **fields)
    for one in warned:
        if not isinstance(one, list) or len(one) != 4:
            raise WireError("a warning that is none")
        message, names, file, line = one
        if len(expect(message, str)) > _MOST_CHARACTERS:
            raise WireError(f"a warning of {len(message)} characters")
        if len(_seen) > _MOST_SEEN:
            _seen.clear()
        category = _category(expect(names, list))
        # in brackets: who shows a warning looks up its line, and would read any file of this machine for it
        place = f"<{expect(file, str)[:_LONGEST_PLACE]}>"
        warnings.warn_explicit(message, category, place, expect(line, int), registry=_seen)
    return peak


def _check_note(kind: str, fields: dict[str, Any]) -> None:
    """Refuse what would break the receipt: those who read notes rely on what they hold."""
    for name, needed in _NEEDED.get(kind, {}).items():
        if name in fields and not isinstance(fields[name], needed):
            raise WireError(f"a note of kind {kind[:40]!r} whose {name} is a {type(fields[name]).__name__}")
    if kind in _REQUIRED and not _REQUIRED[kind] <= set(fields):
        raise WireError(f"a note of kind {kind[:40]!r} without {', '.join(sorted(_REQUIRED[kind]))}")
    for name, fits in _FITS.get(kind, {}).items():
        if name in fields and not fits(fields[name]):
            raise WireError(f"a note of kind {kind!r} with an impossible {name}: {str(fields[name])[:40]!r}")


def _is_amount(value: Any) -> bool:
    return type(value) in (int, float) and 0 <= value < _LARGEST and math.isfinite(value)


def _is_digest(digits: int) -> Callable[[Any], bool]:
    pattern = re.compile(f"[0-9a-f]{{{digits}}}")
    return lambda value: value is None or pattern.fullmatch(value) is not None


_NEEDED: dict[str, dict[str, Any]] = {
    "file": {"url": str, "path": str, "sha1": str | None, "sha256": str | None},
    "cache": {"hits": int, "misses": int, "hit": bool},
    "time": {"step": str, "seconds": int | float},
    "weights": {"identifier": str, "sha256": str},
}
_FITS: dict[str, dict[str, Callable[[Any], bool]]] = {
    "cache": {"hits": _is_amount, "misses": _is_amount},
    "device": {"name": lambda value: isinstance(value, str) and value.strip() != ""},
    "file": {"sha1": _is_digest(40), "sha256": _is_digest(64)},
    "seed": {"value": lambda value: type(value) in (int, str, type(None))},
    "time": {"seconds": _is_amount},
}
_REQUIRED = {
    "device": {"name"},
    "readout": {"text"},
    "remark": {"text"},
    "time": {"step", "seconds"},
    "weights": {"identifier", "sha256"},
}


def _category(names: list[Any]) -> type[Warning]:
    """The nearest of the categories that this process knows."""
    for name in names:
        if name == "PluginWarning":
            return PluginWarning
        known = getattr(builtins, name, None) if isinstance(name, str) else None
        if isinstance(known, type) and issubclass(known, Warning):
            return known
    return UserWarning
