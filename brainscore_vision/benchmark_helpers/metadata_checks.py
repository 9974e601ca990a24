"""Validation of the fields of model and benchmark metadata."""

from __future__ import annotations

import math
from dataclasses import MISSING, fields
from typing import Any


def required_fields(metadata: Any) -> list[str]:
    """Names of the fields that a dataclass of metadata requires, in order.

    Examples
    --------
    >>> from brainscore_vision.model_helpers.metadata import ModelMetadata
    >>> required_fields(ModelMetadata)[:3]
    ['architecture', 'parameters', 'training_data']
    """
    return [field.name for field in fields(metadata) if field.default is MISSING and field.default_factory is MISSING]


def described_fields(metadata: Any) -> list[str]:
    """Names of the required fields of a dataclass of metadata; of all fields, if none is required."""
    return required_fields(metadata) or [field.name for field in fields(metadata)]


def require_texts(owner: Any, *names: str) -> None:
    """Raise ValueError if an attribute is empty or not a string; None is allowed.

    Examples
    --------
    >>> from types import SimpleNamespace
    >>> require_texts(SimpleNamespace(species=" "), "species")
    Traceback (most recent call last):
    ...
    ValueError: species is empty
    """
    for name in names:
        value = getattr(owner, name)
        if value is None:
            continue
        if not isinstance(value, str):
            raise ValueError(f"{name} is {value!r}, not a string")
        if not value.strip():
            raise ValueError(f"{name} is empty")


def require_count(owner: Any, *names: str) -> None:
    """Raise ValueError if an attribute is not a whole number ≥ 0; None is allowed."""
    for name in names:
        value = getattr(owner, name)
        if value is None:
            continue
        if isinstance(value, bool) or not isinstance(value, int) or value < 0:
            raise ValueError(f"{name} is {value!r}, not a whole number ≥ 0")


def require_positive(owner: Any, *names: str) -> None:
    """Raise ValueError if an attribute is not a number > 0; None is allowed."""
    for name in names:
        value = getattr(owner, name)
        if value is None:
            continue
        if isinstance(value, bool) or not isinstance(value, int | float) or not math.isfinite(value) or value <= 0:
            raise ValueError(f"{name} is {value!r}, not a positive number")


def require_notes(owner: Any, *names: str) -> None:
    """Raise ValueError if an attribute is not a tuple of non-empty strings."""
    for name in names:
        value = getattr(owner, name)
        if not isinstance(value, tuple) or not all(isinstance(text, str) and text.strip() for text in value):
            raise ValueError(f"{name} is {value!r}, not a tuple of non-empty strings")


def require_url(owner: Any, name: str) -> None:
    """Raise ValueError if an attribute is not a URL; None is allowed."""
    value = getattr(owner, name)
    if value is not None and not str(value).startswith(("https://", "http://")):
        raise ValueError(f"{name} {value!r} is not a URL")


def require_bibtex(owner: Any) -> None:
    """Raise ValueError if ``bibtex`` is not a BibTeX entry; None is allowed."""
    value = owner.bibtex
    if value is None:
        return
    if not isinstance(value, str) or not value.lstrip().startswith("@") or value.count("{") != value.count("}"):
        raise ValueError(f"bibtex is not a BibTeX entry, such as @article{{key, …}}: {str(value)[:60]!r}")
