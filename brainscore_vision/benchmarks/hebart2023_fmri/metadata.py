"""What the benchmarks measure, and on whom."""

from brainscore_vision.benchmark_helpers.metadata import (
    BenchmarkMetadata,
    BenchmarkRow,
    DataMetadata,
    StimuliMetadata,
    table_metadata,
)
from brainscore_vision.benchmarks.hebart2023_fmri import BIBTEX


def _describe(row: BenchmarkRow) -> BenchmarkMetadata:
    name = row.benchmark.rpartition("-")[2]
    return BenchmarkMetadata(
        title=f"Pictures of things, fMRI in {row.region} ({name})",
        description=(
            "How well do a model's responses to pictures of things predict fMRI responses in "
            f"{row.region}, on stimuli that the prediction was not fitted to?"
        ),
        stimuli=StimuliMetadata(kind="photographs of things"),
        data=DataMetadata(
            kind="neural",
            species="human",
            regions=(row.region,),
            task="passive viewing",
            method="fMRI",
            n_subjects=3,
            access="private",
            preprocessing="responses of voxels, test pictures averaged over repetitions",
            notes=("Voxels of whose variance more than 30 % can be explained.",),
        ),
    )


METADATA = table_metadata(__file__, _describe, bibtex=BIBTEX)
