"""Reading times of ten stories, compared with the surprisal of their words."""

from functools import partial

from brainscore_core.benchmarks.metadata import read_metadata
from brainscore_language import benchmark_registry
from brainscore_language.benchmarks.natural_stories2021.benchmark import (
    NaturalStories2021Added,
    NaturalStories2021Pearsonr,
)
from brainscore_language.data.natural_stories2021 import BIBTEX

METADATA = read_metadata(__file__, bibtex=BIBTEX)

benchmark_registry["NaturalStories2021-pearsonr"] = NaturalStories2021Pearsonr
benchmark_registry["NaturalStories2021.listed-pearsonr"] = partial(NaturalStories2021Pearsonr, listed=True)
benchmark_registry["NaturalStories2021-added"] = NaturalStories2021Added
