"""Whether rearranging an animal's silhouette costs models as much accuracy as people (Baker & Elder 2022)."""

from functools import partial

from brainscore_vision import benchmark_registry
from brainscore_vision.benchmark_helpers.metadata import read_metadata
from brainscore_vision.benchmarks.baker2022.benchmark import Baker2022AccuracyDelta
from brainscore_vision.data.baker2022 import BIBTEX

METADATA = read_metadata(__file__, bibtex=BIBTEX)

for _comparison in ("frankenstein", "fragmented", "inverted"):
    benchmark_registry[f"Baker2022{_comparison}-accuracy_delta"] = partial(Baker2022AccuracyDelta, _comparison)
