"""Whether models and people err on the same stimuli."""

from brainscore_core.plugins.tables import read_citation
from brainscore_vision import metric_registry

from .metric import ErrorConsistency

metric_registry["error_consistency"] = ErrorConsistency

BIBTEX = read_citation(__file__)
