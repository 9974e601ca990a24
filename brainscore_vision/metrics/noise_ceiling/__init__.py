"""Noise ceilings from signal-to-noise ratios and from other subjects."""

from brainscore_core.plugins.tables import read_citation
from brainscore_vision import metric_registry

from .ceiling import InterSubjectConsistency, NoiseCeilingSNR

metric_registry["ncsnr"] = NoiseCeilingSNR
metric_registry["inter_subject"] = InterSubjectConsistency

BIBTEX = read_citation(__file__)
