"""Baseline models that look at single words: length, rarity, and a random number that is the same for equal words.

``word-frequency`` needs the package wordfreq: frequencies of English words in texts of several kinds, until 2021.
"""

from brainscore_core.benchmarks.model_metadata import read_metadata
from brainscore_language import model_registry

METADATA = read_metadata(__file__, bibtex=None)


def _subject(name: str):
    from brainscore_language.models.word_properties import model

    return getattr(model, name)()


model_registry["word-length"] = lambda: _subject("word_length")
model_registry["random-words"] = lambda: _subject("random_words")
model_registry["word-frequency"] = lambda: _subject("word_frequency")
