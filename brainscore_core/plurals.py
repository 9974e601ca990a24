"""Nouns beside counts: ``1 mouse``, ``2 mice``."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Callable

_IRREGULAR: Final = {
    "analysis": "analyses", "atlas": "atlases", "axis": "axes", "basis": "bases", "bias": "biases", "child": "children",
    "cortex": "cortices", "criterion": "criteria", "datum": "data", "fish": "fish", "foot": "feet", "gas": "gases",
    "gyrus": "gyri", "hypothesis": "hypotheses", "index": "indices", "leaf": "leaves", "lens": "lenses",
    "locus": "loci", "man": "men", "matrix": "matrices", "mouse": "mice", "nucleus": "nuclei", "person": "people",
    "phenomenon": "phenomena", "series": "series", "sheep": "sheep", "species": "species", "stimulus": "stimuli",
    "sulcus": "sulci", "tooth": "teeth", "vertex": "vertices", "woman": "women",
}  # fmt: skip
_SINGULAR: Final = {several: one for one, several in _IRREGULAR.items()}
_HISSING: Final = ("s", "x", "z", "ch", "sh")
_ONE: Final = ("ss", "us", "is")  # class, fetus, basis: other words that end with s are plurals


def plural(noun: str) -> str:
    """Return the plural of a noun, which may be a plural already; of ``block of neuroids``, that of ``block``.

    Examples
    --------
    >>> [plural(noun) for noun in ("mouse", "child", "monkey", "category", "class", "time_bin", "block of neuroids")]
    ['mice', 'children', 'monkeys', 'categories', 'classes', 'time_bins', 'blocks of neuroids']
    >>> plural("subjects"), plural("right answer"), plural("Person")
    ('subjects', 'right answers', 'People')
    """
    return _changed(noun, lambda word: _plural_word(_singular_word(word)))


def singular(noun: str) -> str:
    """Return the singular of a noun, which may be one already.

    Examples
    --------
    >>> [singular(noun) for noun in ("mice", "children", "categories", "classes", "images", "stimulus", "bias")]
    ['mouse', 'child', 'category', 'class', 'image', 'stimulus', 'bias']
    """
    return _changed(noun, _singular_word)


def counted(number: int, noun: str) -> str:
    """Return a number with its noun, which may be singular or plural.

    Examples
    --------
    >>> counted(1, "model"), counted(1, "subjects"), counted(2350, "mouse"), counted(0, "entry")
    ('1 model', '1 subject', '2,350 mice', '0 entries')
    """
    return f"{number:,} {singular(noun) if number == 1 else plural(noun)}"


def _changed(noun: str, change: Callable[[str], str]) -> str:
    """Change the last word of a noun, before ``of``; a capital stays."""
    head, of, rest = noun.partition(" of ")
    start = max(map(head.rfind, " _-")) + 1
    word = head[start:]
    changed = change(word.lower() if word.lower() in _KNOWN else word)
    changed = changed[:1].upper() + changed[1:] if word[:1].isupper() else changed
    return head[:start] + changed + of + rest


def _plural_word(word: str) -> str:
    if word in _IRREGULAR or not word:
        return _IRREGULAR.get(word, word)
    if re.search("[^aeiou]y$", word):
        return f"{word[:-1]}ies"
    return f"{word}es" if word.endswith(_HISSING) else f"{word}s"


def _singular_word(word: str) -> str:
    if word in _KNOWN or word.endswith(_ONE) or len(word) < 3 or not word.endswith("s"):
        return _SINGULAR.get(word, word)
    if len(word) > 4 and word.endswith("ies"):
        return f"{word[:-3]}y"
    return word[:-2] if word.endswith(("sses", "xes", "ches", "shes")) else word[:-1]


_KNOWN: Final = frozenset({*_IRREGULAR, *_SINGULAR})
