"""One benchmark for each property of V1 neurons that Marques, Schrimpf & DiCarlo (2021) compare."""

from collections.abc import Callable
from typing import NamedTuple

from brainscore_core.plugins.tables import citations_by_key, read_citation, read_table
from brainscore_core.supported_data_standards.brainio.assemblies import PropertyAssembly
from brainscore_vision import load_dataset
from brainscore_vision.benchmark_helpers.properties_common import PropertiesBenchmark
from brainscore_vision.benchmarks.marques2020 import properties
from brainscore_vision.data.freemanziemba2013 import BIBTEX as FREEMAN_ZIEMBA
from brainscore_vision.metrics.distribution_similarity import BootstrapDistributionSimilarity, NeuronalPropertyCeiling

TIMEBINS = [(70, 170)]
_CITATIONS = citations_by_key(read_citation(__file__))


class Study(NamedTuple):
    """How a study's properties are computed, and its citation."""

    properties: Callable[..., PropertyAssembly]
    bibtex: str


STUDIES = {
    "Cavanaugh2002a": Study(properties.cavanaugh2002_properties, _CITATIONS["Cavanaugh2002"]),
    "DeValois1982a": Study(properties.devalois1982a_properties, _CITATIONS["DeValois1982"]),
    "DeValois1982b": Study(properties.devalois1982b_properties, _CITATIONS["DeValois1982b"]),
    "FreemanZiemba2013_V1_properties": Study(properties.freemanziemba2013_properties, FREEMAN_ZIEMBA),
    "Ringach2002": Study(properties.ringach2002_properties, _CITATIONS["Ringach2002"]),
    "Schiller1976c": Study(properties.schiller1976_properties, _CITATIONS["Schiller1976"]),
}
"""By the identifier of the study's data."""


def rows() -> dict[str, dict[str, str]]:
    """Study, property and parent of each benchmark, by its identifier."""
    return {row["benchmark"]: row for row in read_table(__file__, "properties.csv")}


def property_benchmark(identifier: str) -> PropertiesBenchmark:
    """Compare one property with the neurons of one study; the data are loaded."""
    row = rows()[identifier]
    study, metric = STUDIES[row["study"]], BootstrapDistributionSimilarity(row["property"])
    return PropertiesBenchmark(
        identifier=identifier,
        assembly=load_dataset(row["study"]),  # type: ignore[arg-type] # of the class that its registration names
        neuronal_property=study.properties,
        similarity_metric=metric,
        timebins=TIMEBINS,
        ceiling_func=NeuronalPropertyCeiling(metric),
        version=1,
        parent=row["parent"],
        bibtex=study.bibtex,
    )
