"""What the benchmarks on 17 sets of distorted images measure, and on whom."""

from brainscore_vision.benchmark_helpers.metadata import read_metadata
from brainscore_vision.data.geirhos2021 import BIBTEX

METADATA = read_metadata(__file__, bibtex=BIBTEX)
