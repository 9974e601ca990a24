"""What the benchmarks measure, and on whom."""

from brainscore_core.benchmarks.metadata import read_metadata
from brainscore_language.data.blank2014 import BIBTEX

METADATA = read_metadata(__file__, bibtex=BIBTEX)
