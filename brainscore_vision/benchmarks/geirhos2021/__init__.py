"""Error consistency with people, and accuracy, on 17 sets of out-of-distribution images (Geirhos et al. 2021)."""

from functools import partial

from brainscore_core.plugins.tables import table_keys
from brainscore_vision import benchmark_registry
from brainscore_vision.benchmark_helpers.metadata import read_metadata
from brainscore_vision.benchmarks.geirhos2021.benchmark import TESTS, Geirhos2021Accuracy, Geirhos2021ErrorConsistency
from brainscore_vision.data.geirhos2021 import BIBTEX

METADATA = read_metadata(__file__, bibtex=BIBTEX)

for _name in table_keys(__file__, "tests.csv"):
    benchmark_registry[f"Geirhos2021{_name}-error_consistency"] = partial(Geirhos2021ErrorConsistency, TESTS[_name])
    benchmark_registry[f"Geirhos2021{_name}-top1"] = partial(Geirhos2021Accuracy, TESTS[_name])
