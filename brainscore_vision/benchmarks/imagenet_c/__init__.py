"""Accuracy on distorted images of ImageNet (Hendrycks & Dietterich 2019)."""

from brainscore_core.plugins.tables import read_citation
from brainscore_vision import benchmark_registry
from brainscore_vision.benchmark_helpers.metadata import read_metadata
from brainscore_vision.benchmark_helpers.table_benchmarks import make_benchmark

BIBTEX = read_citation(__file__)
METADATA = read_metadata(__file__, bibtex=BIBTEX)

benchmark_registry.add_table(
    __file__, "benchmarks.csv", make_benchmark, bibtex=BIBTEX, truth="synset", choices="imagenet"
)
