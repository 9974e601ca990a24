"""Whether occluders make objects hard to recognise for models as for people (Coggan & Tong 2024)."""

from brainscore_vision import benchmark_registry
from brainscore_vision.benchmark_helpers.metadata import read_metadata
from brainscore_vision.benchmarks.coggan2024_behavior.benchmark import ConditionWiseAccuracySimilarity
from brainscore_vision.data.coggan2024_behavior import BIBTEX

METADATA = read_metadata(__file__, bibtex=BIBTEX)

benchmark_registry["tong.Coggan2024_behavior-ConditionWiseAccuracySimilarity"] = ConditionWiseAccuracySimilarity
