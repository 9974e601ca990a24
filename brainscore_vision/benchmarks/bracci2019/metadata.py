"""What the benchmark on animals and their lookalikes measures, and on whom."""

from brainscore_vision.benchmark_helpers.metadata import read_metadata
from brainscore_vision.data.bracci2019 import BIBTEX

METADATA = read_metadata(__file__, bibtex=BIBTEX)
