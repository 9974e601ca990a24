"""Contexts: the text that a subject has read when a part ends."""

import re
from collections.abc import Iterator, Sequence

import numpy as np


def prepare_context(context_parts: Sequence[str]) -> str:
    """Join parts to a text: by one space, without spaces before punctuation, without parts that are blank.

    Examples
    --------
    >>> prepare_context(["the quick", ", and sneaky", "", "brown fox"])
    'the quick, and sneaky brown fox'
    """
    joined = " ".join(part for part in context_parts if part.strip())
    return re.sub(r"\s+([.,!?;:])", r"\1", joined)


def parts_of(text: str | Sequence[str] | np.ndarray) -> list[str]:
    """The parts of a text; a string is one part.

    Raises
    ------
    TypeError
        If a part is not a string, or there is none.
    """
    parts = [text] if isinstance(text, str) else list(np.asarray(text, dtype=object).ravel())
    if not parts:
        raise TypeError("a text is a string or a list of strings; this list is empty")
    for part in parts:
        if not isinstance(part, str):
            raise TypeError(f"a text is a string or a list of strings; this part is a {type(part).__name__}: {part!r}")
    return [str(part) for part in parts]


def contexts_of(parts: Sequence[str]) -> Iterator[str]:
    """The context of each part in turn, including the part itself."""
    context = ""
    for part in parts:
        if part.strip():
            before = context.rstrip()
            context = (
                before + prepare_context([context[len(before) :] + " " + part]) if context else prepare_context([part])
            )
        yield context
