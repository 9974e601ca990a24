"""Noise ceiling of representational similarity."""

from brainscore_core.plugins.tables import read_citation
from brainscore_vision import metric_registry

from .ceiling import RSACeiling

metric_registry["rsa_ceiling"] = RSACeiling

BIBTEX = read_citation(__file__)
