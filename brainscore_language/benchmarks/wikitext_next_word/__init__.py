"""Prediction of the next word in Wikipedia articles (Merity et al. 2017)."""

from brainscore_core.benchmarks.metadata import read_metadata
from brainscore_language import benchmark_registry
from brainscore_language.benchmarks.wikitext_next_word.benchmark import WikitextAccuracy
from brainscore_language.data.wikitext import BIBTEX

METADATA = read_metadata(__file__, bibtex=BIBTEX)

benchmark_registry["Wikitext-accuracy"] = WikitextAccuracy
