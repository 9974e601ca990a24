"""What the benchmark on odd ones out measures, and on whom."""

from brainscore_vision.benchmark_helpers.metadata import read_metadata
from brainscore_vision.data.hebart2023 import BIBTEX

METADATA = read_metadata(__file__, bibtex=BIBTEX)
