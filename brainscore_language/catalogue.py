"""Metadata of the models and benchmarks of language, and published scores.

>>> (entry,) = catalogue(models=[], benchmarks=["NaturalStories2021-added"]).benchmarks
>>> entry.version, entry.metadata.stimuli.n, entry.metadata.stimuli.kind
(1, 10256, 'words of 10 stories')
>>> pairs = [("gpt-neo-125m", "Wikitext-accuracy"), ("gpt2", "Wikitext-accuracy"), ("phi-2", "Wikitext-accuracy")]
>>> [finding.state for finding in findings_of(pairs).values()]
['trained on it', 'clean', 'unknown']
"""

from typing import Final

from brainscore_core.catalogue import DomainCatalogue
from brainscore_core.runner.reproduction import PublishedScore

catalogue = DomainCatalogue("language")
training_of = catalogue.training_of
findings_of = catalogue.findings_of

PUBLISHED_SCORES: Final = tuple(
    PublishedScore(model=model, benchmark=benchmark, value=value, tolerance=0.005)
    for model, benchmark, value in (
        ("distilgpt2", "Futrell2018-pearsonr", 0.36144805),
        ("gpt2-xl", "Futrell2018-pearsonr", 0.31825621),
        ("distilgpt2", "Pereira2018.243sentences-linear-shuffle", 0.82228507),
        ("glove-840b", "Pereira2018.384sentences-linear-shuffle", 0.18385368),
        ("randomembedding-100", "Pereira2018.243sentences-linear-shuffle", 0.0285022),
    )
)
"""Five pairs that tests of brainscore_language 2.3 score."""
