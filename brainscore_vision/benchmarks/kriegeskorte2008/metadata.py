"""What the benchmarks on 92 objects measure, and on whom."""

from brainscore_vision.benchmark_helpers.metadata import read_metadata
from brainscore_vision.data.kriegeskorte2008 import BIBTEX

METADATA = read_metadata(__file__, bibtex=BIBTEX)
