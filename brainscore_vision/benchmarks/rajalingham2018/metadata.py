"""What the benchmarks on confusions of objects measure, and on whom."""

from brainscore_vision.benchmark_helpers.metadata import read_metadata

METADATA = read_metadata(__file__)
