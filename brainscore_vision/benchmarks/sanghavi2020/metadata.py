"""What the benchmarks measure, and on whom."""

from brainscore_vision.benchmark_helpers.metadata import (
    BenchmarkMetadata,
    BenchmarkRow,
    DataMetadata,
    StimuliMetadata,
    table_metadata,
)
from brainscore_vision.benchmarks.sanghavi2020 import BIBTEX

_SHOWN = {
    "Sanghavi2020": "objects on backgrounds",
    "SanghaviJozwik2020": "photographs of scenes and objects",
    "SanghaviMurty2020": "objects and scrambled images",
}


def _describe(row: BenchmarkRow) -> BenchmarkMetadata:
    name = row.benchmark.rpartition("-")[2]
    shown = _SHOWN[row.benchmark.partition(".")[0]]
    return BenchmarkMetadata(
        bibtex=BIBTEX[row.benchmark.partition(".")[0]],
        title=f"{shown[0].upper()}{shown[1:]} (Sanghavi 2020) in {row.region} ({name})",
        description=(
            f"How well do a model's responses to {shown} predict spiking activity in {row.region} "
            "of macaques, on other images?"
        ),
        stimuli=StimuliMetadata(kind="photographs and objects on backgrounds"),
        data=DataMetadata(
            kind="neural",
            species="macaque",
            regions=(row.region,),
            task="passive viewing",
            method="electrophysiology",
            n_subjects=None,
            access="private",
            preprocessing="activity 70–170 ms after onset, averaged over repetitions",
        ),
    )


METADATA = table_metadata(__file__, _describe, bibtex=None)
