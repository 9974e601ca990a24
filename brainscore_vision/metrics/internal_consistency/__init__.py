"""How consistent neural measurements are with themselves."""

from brainscore_core.plugins.tables import read_citation
from brainscore_vision import metric_registry

from .ceiling import InternalConsistency, TemporalInternalConsistency

metric_registry["internal_consistency"] = InternalConsistency
metric_registry["internal_consistency_temporal"] = TemporalInternalConsistency

BIBTEX = read_citation(__file__)
