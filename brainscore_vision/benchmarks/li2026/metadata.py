"""What the benchmarks measure, and on whom."""

from brainscore_vision.benchmark_helpers.metadata import (
    BenchmarkMetadata,
    BenchmarkRow,
    DataMetadata,
    StimuliMetadata,
    table_metadata,
)
from brainscore_vision.benchmarks.li2026 import BIBTEX


def _describe(row: BenchmarkRow) -> BenchmarkMetadata:
    name = row.benchmark.rpartition("-")[2]
    compared = "resemble" if row.metric == "rdm" else "predict"
    return BenchmarkMetadata(
        title=f"Natural scenes, macaques, in {row.region} ({name})",
        description=(
            f"How well do a model's responses to natural scenes {compared} spiking activity in "
            f"{row.region} of macaques?"
        ),
        stimuli=StimuliMetadata(n=1000, kind="natural scenes"),
        data=DataMetadata(
            kind="neural",
            species="macaque",
            regions=(row.region,),
            task="passive viewing",
            method="electrophysiology",
            n_subjects=5 if row.region == "IT" else 2,
            access="private",
            preprocessing="activity 70–170 ms after onset, averaged over repetitions",
            notes=("Neurons of a reliability above .4.",),
        ),
    )


METADATA = table_metadata(__file__, _describe, bibtex=BIBTEX)
