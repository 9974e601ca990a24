"""What the benchmarks measure, and on whom."""

from brainscore_vision.benchmark_helpers.metadata import (
    BenchmarkMetadata,
    BenchmarkRow,
    DataMetadata,
    StimuliMetadata,
    table_metadata,
)
from brainscore_vision.benchmarks.muzellec2026 import BIBTEX


def _describe(row: BenchmarkRow) -> BenchmarkMetadata:
    name = row.benchmark.rpartition("-")[2]
    return BenchmarkMetadata(
        title=f"Objects, model predicted from recordings in {row.region} ({name})",
        description=(
            f"How well does spiking activity in {row.region} predict a model's responses to "
            "objects, the reverse of the usual direction?"
        ),
        stimuli=StimuliMetadata(kind="objects on backgrounds"),
        data=DataMetadata(
            kind="neural",
            species="macaque",
            regions=(row.region,),
            task="passive viewing",
            method="electrophysiology",
            n_subjects=2,
            access="public",
            preprocessing="activity 70–170 ms after onset, averaged over repetitions",
            notes=("The recordings are those of MajajHong2015public.",),
        ),
    )


METADATA = table_metadata(__file__, _describe, bibtex=BIBTEX)
