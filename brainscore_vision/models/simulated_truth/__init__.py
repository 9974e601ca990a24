"""The model that generates Simulated2026, as a control."""

from pkgutil import resolve_name

from brainscore_vision import model_registry
from brainscore_vision.model_helpers.metadata import read_metadata

METADATA = read_metadata(__file__, bibtex=None)

model_registry["simulated-truth"] = lambda: resolve_name(f"{__name__}.model:simulated_truth")()
