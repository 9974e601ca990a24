"""What the benchmarks measure, and on whom."""

from brainscore_vision.benchmark_helpers.metadata import read_metadata
from brainscore_vision.benchmarks.sanghavi2020 import BIBTEX

METADATA = read_metadata(__file__, bibtex={f"{study}.*": entry for study, entry in BIBTEX.items()})
