"""Whether properties of V1 neurons are distributed alike in models (Marques, Schrimpf & DiCarlo 2021)."""

from functools import partial

from brainscore_core.plugins.tables import table_keys
from brainscore_vision import benchmark_registry
from brainscore_vision.benchmark_helpers.metadata import read_metadata
from brainscore_vision.benchmarks.marques2020.benchmark import STUDIES, property_benchmark, rows

METADATA = read_metadata(
    __file__, bibtex={identifier: STUDIES[row["study"]].bibtex for identifier, row in rows().items()}
)

for _key in table_keys(__file__, "properties.csv"):
    benchmark_registry[_key] = partial(property_benchmark, _key)
