"""Subjects whose reading times depend on single words."""

import hashlib
from collections.abc import Callable
from math import log2

from brainscore_core.errors import UserError
from brainscore_language.model_helpers.reading import ReadingSubject


class WordSubject(ReadingSubject):
    """A subject whose time for a part is the sum of a property of its words.

    Parameters
    ----------
    identifier : str
        Unique name.
    property_of : callable
        Word → number.
    """

    def __init__(self, identifier: str, property_of: Callable[[str], float]) -> None:
        super().__init__(identifier)
        self._property_of = property_of

    def times_of(self, parts: list[str]) -> list[float]:
        """Times of the parts, each without the others."""
        return [float(sum(self._property_of(word) for word in part.split())) for part in parts]


def word_length() -> WordSubject:
    """Number of characters."""
    return WordSubject("word-length", len)


def word_frequency() -> WordSubject:
    """−log2 of a word's frequency in English; 1e-9, of unknown words, is the least. UserError without wordfreq."""
    try:
        from wordfreq import word_frequency as frequency
    except ImportError as error:
        raise UserError(f"word-frequency needs the package wordfreq: {error}", "pip install wordfreq") from error
    return WordSubject("word-frequency", lambda word: -log2(frequency(word, "en", minimum=1e-9)))


def random_words() -> WordSubject:
    """A number in 0 … 1 from the word's hash."""
    return WordSubject("random-words", lambda word: int(hashlib.sha256(word.encode()).hexdigest()[:8], 16) / 2**32)
