"""What the benchmark on ImageNet measures."""

from brainscore_vision.benchmark_helpers.metadata import read_metadata
from brainscore_vision.data.imagenetslim15000 import BIBTEX

METADATA = read_metadata(__file__, bibtex=BIBTEX)
