"""Published scores of models of language."""

from typing import Final

from brainscore_core.runner.reproduction import PublishedScore

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
