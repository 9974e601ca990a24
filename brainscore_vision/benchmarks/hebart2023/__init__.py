"""Whether models take the same of three objects for the odd one as people do (Hebart et al. 2023)."""

from brainscore_vision import benchmark_registry
from brainscore_vision.benchmark_helpers.metadata import read_metadata
from brainscore_vision.benchmarks.hebart2023.benchmark import Hebart2023Match
from brainscore_vision.data.hebart2023 import BIBTEX

METADATA = read_metadata(__file__, bibtex=BIBTEX)

benchmark_registry["Hebart2023-match"] = Hebart2023Match
