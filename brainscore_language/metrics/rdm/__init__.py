"""Correlation of dissimilarities of stimuli."""

from brainscore_core.plugins.tables import read_citation
from brainscore_language import metric_registry
from brainscore_language.metrics.rdm.metric import RDMCrossValidated

metric_registry["rdm"] = RDMCrossValidated

BIBTEX = read_citation(__file__)
