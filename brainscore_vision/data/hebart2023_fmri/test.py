"""The rows of this plugin's tables."""

# ruff: noqa: F401
from brainscore_vision.testing.table_tests import test_published_assembly, test_published_stimuli, test_stand_in
