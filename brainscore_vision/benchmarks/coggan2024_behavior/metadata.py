"""What the benchmark on naming occluded objects measures, and on whom."""

from brainscore_vision.benchmark_helpers.metadata import read_metadata
from brainscore_vision.data.coggan2024_behavior import BIBTEX

METADATA = read_metadata(__file__, bibtex=BIBTEX)
