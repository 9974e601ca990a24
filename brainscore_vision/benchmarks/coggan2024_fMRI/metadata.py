"""What the benchmarks on occluded objects in visual cortex measure, and on whom."""

from brainscore_vision.benchmark_helpers.metadata import read_metadata
from brainscore_vision.data.coggan2024_fMRI import BIBTEX

METADATA = read_metadata(__file__, bibtex=BIBTEX)
