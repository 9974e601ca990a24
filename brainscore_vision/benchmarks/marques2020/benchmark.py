"""One benchmark for each property of V1 neurons that Marques, Schrimpf & DiCarlo (2021) compare."""

from collections.abc import Callable
from typing import NamedTuple

from brainscore_core.supported_data_standards.brainio.assemblies import PropertyAssembly
from brainscore_vision import load_dataset
from brainscore_vision.benchmark_helpers.properties_common import PropertiesBenchmark
from brainscore_vision.benchmarks.marques2020 import citations, properties
from brainscore_vision.metrics.distribution_similarity import BootstrapDistributionSimilarity, NeuronalPropertyCeiling

TIMEBINS = [(70, 170)]


class Study(NamedTuple):
    """How a study's properties are computed, and its citation."""

    properties: Callable[..., PropertyAssembly]
    bibtex: str


STUDIES = {
    "Cavanaugh2002a": Study(properties.cavanaugh2002_properties, citations.CAVANAUGH),
    "DeValois1982a": Study(properties.devalois1982a_properties, citations.DE_VALOIS_ORIENTATION),
    "DeValois1982b": Study(properties.devalois1982b_properties, citations.DE_VALOIS_FREQUENCY),
    "FreemanZiemba2013_V1_properties": Study(properties.freemanziemba2013_properties, citations.FREEMAN_ZIEMBA),
    "Ringach2002": Study(properties.ringach2002_properties, citations.RINGACH),
    "Schiller1976c": Study(properties.schiller1976_properties, citations.SCHILLER),
}
"""By the identifier of the study's data."""


def property_benchmark(identifier: str, *, study: str, property_name: str, parent: str) -> PropertiesBenchmark:
    """Compare one property with the neurons of one study.

    `study`: identifier of the data; one of `STUDIES`. `property_name`: one of the data's values of
    ``neuronal_property``. `parent`: the benchmark to group under. Result: its data are loaded.
    """
    metric = BootstrapDistributionSimilarity(property_name)
    return PropertiesBenchmark(
        identifier=identifier,
        assembly=load_dataset(study),  # type: ignore[arg-type] # of the class that its registration names
        neuronal_property=STUDIES[study].properties,
        similarity_metric=metric,
        timebins=TIMEBINS,
        ceiling_func=NeuronalPropertyCeiling(metric),
        version=1,
        parent=parent,
        bibtex=STUDIES[study].bibtex,
    )
