"""Prediction of the next word in Wikipedia articles (Merity et al. 2017)."""

from brainscore_language import benchmark_registry
from brainscore_language.benchmarks.wikitext_next_word.benchmark import WikitextAccuracy

benchmark_registry["Wikitext-accuracy"] = WikitextAccuracy
