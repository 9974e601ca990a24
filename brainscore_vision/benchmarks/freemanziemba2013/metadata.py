"""What the benchmarks on textures measure, and on whom."""

from typing import Literal

from brainscore_vision.benchmark_helpers.metadata import (
    BenchmarkMetadata,
    DataMetadata,
    MetricMetadata,
    StimuliMetadata,
)
from brainscore_vision.data.freemanziemba2013 import BIBTEX

_NEURONS = {"V1": 102, "V2": 103}


def _metadata(region: str, access: Literal["public", "private"], stimuli: int | None) -> BenchmarkMetadata:
    return BenchmarkMetadata(
        title=f"Textures in {region}{', public' * (access == 'public')}",
        description=(
            "How well do a model's responses to naturalistic textures, and to their noise counterparts, predict those "
            f"of neurons in {region}?"
        ),
        stimuli=StimuliMetadata(n=stimuli, kind="textures", visual_degrees=4),
        data=DataMetadata(
            kind="neural",
            species="macaque",
            regions=(region,),
            task="passive viewing",
            method="electrophysiology",
            n_neuroids=_NEURONS[region],
            access=access,
            preprocessing="mean rates 50–200 ms after onset, averaged over repetitions",
        ),
        metric=MetricMetadata(
            name="pls",
            kind="regression",
            mapping="PLS regression with 25 components, cross-validated over stimuli",
            ceiling="reliability: split halves of the repetitions, Spearman–Brown corrected, median over neurons",
        ),
        bibtex=BIBTEX,
    )


METADATA = {f"FreemanZiemba2013.{region}-pls": _metadata(region, "private", 315) for region in _NEURONS} | {
    f"FreemanZiemba2013public.{region}-pls": _metadata(region, "public", None) for region in _NEURONS
}
