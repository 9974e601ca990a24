"""Representational dissimilarities of 92 objects in human and monkey IT (Kriegeskorte et al. 2008)."""

from brainscore_vision import benchmark_registry
from brainscore_vision.benchmark_helpers.metadata import read_metadata
from brainscore_vision.benchmarks.kriegeskorte2008.benchmark import Kriegeskorte2008HumanRDM, Kriegeskorte2008MonkeyRDM
from brainscore_vision.data.kriegeskorte2008 import BIBTEX

METADATA = read_metadata(__file__, bibtex=BIBTEX)

benchmark_registry["Kriegeskorte2008.IT-human-rdm"] = Kriegeskorte2008HumanRDM
benchmark_registry["Kriegeskorte2008.IT-monkey-rdm"] = Kriegeskorte2008MonkeyRDM
