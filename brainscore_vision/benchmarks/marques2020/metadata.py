"""What the benchmarks on properties of V1 neurons measure, and on whom."""

from typing import NamedTuple

from brainscore_vision.benchmark_helpers.metadata import (
    BenchmarkMetadata,
    DataMetadata,
    MetricMetadata,
    StimuliMetadata,
)
from brainscore_vision.benchmarks.marques2020.citations import (
    CAVANAUGH,
    DE_VALOIS_FREQUENCY,
    DE_VALOIS_ORIENTATION,
    FREEMAN_ZIEMBA,
    RINGACH,
    SCHILLER,
)

_GRATINGS = "Further gratings tell where a model's neurons look."


class _Study(NamedTuple):
    """Neurons, stimuli and citation of a study."""

    neurons: int
    stimuli: int
    kind: str
    bibtex: str


_STUDIES = {
    "Cavanaugh2002": _Study(190, 2304, "gratings", CAVANAUGH),
    "DeValois1982-pref_or": _Study(385, 1152, "gratings", DE_VALOIS_ORIENTATION),
    "DeValois1982-peak_sf": _Study(363, 2112, "gratings", DE_VALOIS_FREQUENCY),
    "FreemanZiemba2013": _Study(102, 450, "textures", FREEMAN_ZIEMBA),
    "Ringach2002": _Study(304, 1152, "gratings", RINGACH),
    "Schiller1976": _Study(87, 2112, "gratings", SCHILLER),
}
_PROPERTIES = {
    "Cavanaugh2002-grating_summation_field": "size of the grating that drives a neuron best",
    "Cavanaugh2002-surround_diameter": "size of the suppressive surround",
    "Cavanaugh2002-surround_suppression_index": "suppression by the surround",
    "DeValois1982-pref_or": "preferred orientation",
    "DeValois1982-peak_sf": "preferred spatial frequency",
    "FreemanZiemba2013-texture_modulation_index": "modulation by naturalistic textures, against noise",
    "FreemanZiemba2013-abs_texture_modulation_index": "modulation by naturalistic textures, without its sign",
    "FreemanZiemba2013-texture_selectivity": "selectivity for textures",
    "FreemanZiemba2013-texture_sparseness": "sparseness of responses to textures",
    "FreemanZiemba2013-texture_variance_ratio": "variance over families of textures against that over samples",
    "FreemanZiemba2013-max_texture": "largest response to a texture",
    "FreemanZiemba2013-max_noise": "largest response to noise",
    "Ringach2002-circular_variance": "circular variance over orientations",
    "Ringach2002-or_bandwidth": "bandwidth of orientation tuning",
    "Ringach2002-orth_pref_ratio": "response to the orthogonal against the preferred orientation",
    "Ringach2002-or_selective": "share of orientation-selective neurons",
    "Ringach2002-cv_bandwidth_ratio": "circular variance against orientation bandwidth",
    "Ringach2002-opr_cv_diff": "orthogonal-to-preferred ratio less circular variance",
    "Ringach2002-max_dc": "largest mean response",
    "Ringach2002-modulation_ratio": "modulated against mean response to drifting gratings",
    "Schiller1976-sf_selective": "share of neurons selective for spatial frequency",
    "Schiller1976-sf_bandwidth": "bandwidth of spatial-frequency tuning",
}


def _metadata(name: str) -> BenchmarkMetadata:
    study = _STUDIES.get(name) or _STUDIES[name.partition("-")[0]]
    property_name = _PROPERTIES[name]
    return BenchmarkMetadata(
        title=f"V1: {property_name}",
        description=f"Is this property distributed in a model's V1 as among neurons of macaque V1: {property_name}?",
        stimuli=StimuliMetadata(n=study.stimuli, kind=study.kind, notes=(_GRATINGS,)),
        data=DataMetadata(
            kind="neural",
            species="macaque",
            regions=("V1",),
            task="passive viewing",
            method="electrophysiology",
            n_neuroids=study.neurons,
            access="private",
            preprocessing="distributions of published values",
        ),
        metric=MetricMetadata(
            name="ks_similarity",
            kind="distribution",
            ceiling="upper bound: samples of the measured distribution against that distribution",
        ),
        bibtex=study.bibtex,
    )


METADATA = {f"Marques2020_{name}": _metadata(name) for name in _PROPERTIES}
