"""Published import path of names of ``brainscore_core.metric_helpers.geometry``."""

from brainscore_core.metric_helpers.geometry import RDM, RDMSimilarity

__all__ = ["RDM", "RDMSimilarity"]
