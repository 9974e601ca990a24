"""What the benchmarks on pictures of things measure, and on whom."""

from brainscore_vision.benchmark_helpers.metadata import read_metadata

METADATA = read_metadata(__file__)
