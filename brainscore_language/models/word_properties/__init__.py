"""Baseline models that look at single words: length, rarity, and a random number that is the same for equal words.

``word-frequency`` needs the package wordfreq: frequencies of English words in texts of several kinds, until 2021.
"""

from pkgutil import resolve_name

from brainscore_core.benchmarks.model_metadata import read_metadata
from brainscore_language import model_registry

METADATA = read_metadata(__file__, bibtex=None)

model_registry["word-length"] = lambda: resolve_name(f"{__name__}.model:word_length")()
model_registry["random-words"] = lambda: resolve_name(f"{__name__}.model:random_words")()
model_registry["word-frequency"] = lambda: resolve_name(f"{__name__}.model:word_frequency")()
