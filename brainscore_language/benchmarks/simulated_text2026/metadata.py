"""What the benchmarks measure, and on whom."""

from brainscore_core.benchmarks.metadata import read_metadata

METADATA = read_metadata(__file__)
