"""What the benchmarks measure, and on whom."""

from brainscore_vision.benchmark_helpers.metadata import (
    BenchmarkMetadata,
    BenchmarkRow,
    DataMetadata,
    StimuliMetadata,
    table_metadata,
)
from brainscore_vision.benchmarks.cadena2017 import BIBTEX


def _describe(row: BenchmarkRow) -> BenchmarkMetadata:
    name = row.benchmark.rpartition("-")[2]
    return BenchmarkMetadata(
        title=f"Natural images and textures in {row.region} ({name})",
        description=(
            "How well do a model's responses to natural images and textures predict spiking "
            f"activity in {row.region}, on stimuli that the prediction was not fitted to?"
        ),
        stimuli=StimuliMetadata(kind="natural images and textures"),
        data=DataMetadata(
            kind="neural",
            species="macaque",
            regions=(row.region,),
            task="passive viewing",
            method="electrophysiology",
            n_subjects=2,
            access="private",
            preprocessing="spike counts, averaged over repetitions",
            notes=("Only stimuli that all neurons were recorded for.",),
        ),
    )


METADATA = table_metadata(__file__, _describe, bibtex=BIBTEX)
