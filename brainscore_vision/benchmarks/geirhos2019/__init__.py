"""Whether models recognise objects by their shape, as people do, or by their texture (Geirhos et al. 2019)."""

from brainscore_vision import benchmark_registry
from brainscore_vision.benchmark_helpers.metadata import read_metadata
from brainscore_vision.benchmarks.geirhos2019.benchmark import Geirhos2019ShapeBias
from brainscore_vision.data.geirhos2019 import BIBTEX

METADATA = read_metadata(__file__, bibtex=BIBTEX)

benchmark_registry["Geirhos2019-shape_bias"] = Geirhos2019ShapeBias
