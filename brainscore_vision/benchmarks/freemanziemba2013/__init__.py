"""How well models predict responses in V1 and V2 to textures (Freeman, Ziemba et al. 2013)."""

from functools import partial

from brainscore_vision import benchmark_registry
from brainscore_vision.benchmark_helpers.metadata import read_metadata
from brainscore_vision.benchmarks.freemanziemba2013.benchmarks.benchmark import pls_benchmark
from brainscore_vision.data.freemanziemba2013 import BIBTEX

METADATA = read_metadata(__file__, bibtex=BIBTEX)

for _region in ("V1", "V2"):
    benchmark_registry[f"FreemanZiemba2013.{_region}-pls"] = partial(pls_benchmark, _region, "private")
    benchmark_registry[f"FreemanZiemba2013public.{_region}-pls"] = partial(pls_benchmark, _region, "public")
