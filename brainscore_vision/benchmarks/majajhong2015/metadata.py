"""What the benchmarks on objects in V4 and IT measure, and on whom."""

from typing import Literal

from brainscore_vision.benchmark_helpers.metadata import (
    BenchmarkMetadata,
    DataMetadata,
    MetricMetadata,
    StimuliMetadata,
)

_SITES = {"V4": 88, "IT": 168}
_RELIABILITY = "reliability: split halves of the repetitions, Spearman–Brown corrected, median over sites"
_PLS = "PLS regression with 25 components, cross-validated over stimuli"
_STATIC = MetricMetadata(name="pls", kind="regression", mapping=_PLS, ceiling=_RELIABILITY)
_TEMPORAL = MetricMetadata(
    name="spantime_pls",
    kind="regression",
    mapping=f"{_PLS}; one regression for all time bins",
    ceiling=f"{_RELIABILITY}; mean over time bins",
)


def _metadata(region: str, access: Literal["public", "private"], *, over_time: bool = False) -> BenchmarkMetadata:
    objects = "objects of little variation" if access == "public" else "objects"
    return BenchmarkMetadata(
        title=f"{objects.capitalize()} in {region}{' over time' if over_time else ''}",
        description=(
            f"How well do a model's responses to objects on backgrounds predict {'the time course of ' * over_time}"
            f"those of sites in {region}?"
        ),
        stimuli=StimuliMetadata(
            n=3200 if access == "public" else 2560, kind="objects on backgrounds", visual_degrees=8
        ),
        data=DataMetadata(
            kind="neural",
            species="macaque",
            regions=(region,),
            task="passive viewing",
            method="electrophysiology",
            n_neuroids=_SITES[region] if access == "private" else None,
            access=access,
            preprocessing=(
                "mean rates in bins of 10 ms, averaged over repetitions"
                if over_time
                else "mean rates 70–170 ms after onset, averaged over repetitions"
            ),
        ),
        metric=_TEMPORAL if over_time else _STATIC,
    )


METADATA = (
    {f"MajajHong2015.{region}-pls": _metadata(region, "private") for region in _SITES}
    | {f"MajajHong2015public.{region}-pls": _metadata(region, "public") for region in _SITES}
    | {f"MajajHong2015public.{region}-temporal-pls": _metadata(region, "public", over_time=True) for region in _SITES}
)
