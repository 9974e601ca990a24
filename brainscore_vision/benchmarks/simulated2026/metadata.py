"""What the controls check."""

from brainscore_vision.benchmark_helpers.metadata import read_metadata

METADATA = read_metadata(__file__)
