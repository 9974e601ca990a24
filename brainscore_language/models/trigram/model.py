"""A model of three words."""

import re
from collections.abc import Callable
from math import log, log2
from pathlib import Path

from brainscore_core.errors import UserError
from brainscore_language.model_helpers.reading import ReadingSubject

_SENTENCE_END = (".", "?", "!")


class TrigramSubject(ReadingSubject):
    """A subject whose reading time of a word is its surprisal after the two words before it, in bits.

    Words are in lower case and without punctuation; a sentence starts anew after ``. ? !``. The time of a part is the
    sum over its words.

    Parameters
    ----------
    identifier : str
        Unique name.
    surprisal : callable
        A word, and the words before it, the latest first and the start of the sentence as ``<s>`` → bits.
    """

    def __init__(self, identifier: str, surprisal: Callable[[str, list[str]], float]) -> None:
        super().__init__(identifier)
        self._surprisal = surprisal

    def times_of(self, parts: list[str]) -> list[float]:
        """Times of the parts, each after the words before it."""
        times, history = [], ["<s>"]
        for part in parts:
            bits = 0.0
            for token in part.split():
                word = re.sub(r"[^a-z0-9']", "", token.lower()).strip("'")
                if word:
                    bits += self._surprisal(word, history[:2])
                    history = [word, *history[:1]]
                if token.endswith(_SENTENCE_END):
                    history = ["<s>"]
            times.append(bits)
        return times


def trigram() -> TrigramSubject:
    """The model of pocketsphinx; an unknown word is as surprising as one of a million equally likely ones.

    Raises
    ------
    UserError
        If pocketsphinx is not installed.
    """
    try:
        import pocketsphinx
    except ImportError as error:
        raise UserError(f"trigram needs the package pocketsphinx: {error}", "pip install pocketsphinx") from error
    model = pocketsphinx.NGramModel.readfile(str(Path(pocketsphinx.get_model_path()) / "en-us" / "en-us.lm.bin"))
    logarithms = pocketsphinx.LogMath()

    def surprisal(word: str, before: list[str]) -> float:
        if not logarithms.exp(model.prob([word])):
            return log2(1e6)
        return -logarithms.log_to_ln(model.prob([word, *before])) / log(2)

    return TrigramSubject("trigram", surprisal)
