"""Whether animals, lookalikes and objects are similar to models as to human ventral cortex (Bracci et al. 2019)."""

from functools import partial

from brainscore_vision import benchmark_registry
from brainscore_vision.benchmark_helpers.metadata import read_metadata
from brainscore_vision.benchmarks.bracci2019.benchmark import Bracci2019RSA
from brainscore_vision.data.bracci2019 import BIBTEX

METADATA = read_metadata(__file__, bibtex=BIBTEX)

benchmark_registry["Bracci2019.anteriorVTC-rdm"] = partial(Bracci2019RSA, "anteriorVTC")
