"""Whether model and people confuse the same images and objects."""

from brainscore_core.plugins.tables import read_citation
from brainscore_vision import metric_registry

from .metric import I1, I2, O1, O2, I1n, I2n

metric_registry["i1"] = I1
metric_registry["i1n"] = I1n
metric_registry["i2"] = I2
metric_registry["i2n"] = I2n
metric_registry["o1"] = O1
metric_registry["o2"] = O2

BIBTEX = read_citation(__file__)
