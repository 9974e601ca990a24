"""What the benchmarks on vernier offsets measure, and on whom."""

from brainscore_vision.benchmark_helpers.metadata import read_metadata
from brainscore_vision.data.malania2007 import BIBTEX

METADATA = read_metadata(__file__, bibtex=BIBTEX)
