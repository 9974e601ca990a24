"""Whether occluded objects are similar to models as to human visual cortex (Coggan & Tong 2024)."""

from functools import partial

from brainscore_vision import benchmark_registry
from brainscore_vision.benchmark_helpers.metadata import read_metadata
from brainscore_vision.benchmarks.coggan2024_fMRI.benchmark import Coggan2024_fMRI_Benchmark
from brainscore_vision.data.coggan2024_fMRI import BIBTEX

METADATA = read_metadata(__file__, bibtex=BIBTEX)

for _region in ("V1", "V2", "V4", "IT"):
    benchmark_registry[f"tong.Coggan2024_fMRI.{_region}-rdm"] = partial(Coggan2024_fMRI_Benchmark, _region)
