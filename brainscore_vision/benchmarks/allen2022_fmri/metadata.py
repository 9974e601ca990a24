"""What the benchmarks measure, and on whom."""

from brainscore_vision.benchmark_helpers.metadata import (
    BenchmarkMetadata,
    BenchmarkRow,
    DataMetadata,
    StimuliMetadata,
    table_metadata,
)
from brainscore_vision.benchmarks.allen2022_fmri import BIBTEX


def _describe(row: BenchmarkRow) -> BenchmarkMetadata:
    name = row.benchmark.rpartition("-")[2]
    compared = "resemble" if row.metric == "rdm" else "predict"
    people = 4 if "4subj" in row.benchmark else 8
    return BenchmarkMetadata(
        title=f"Natural scenes, {people} people, in a volume, in {row.region} ({name})",
        description=(
            f"How well do a model's responses to natural scenes {compared} fMRI responses in "
            f"{row.region} of {people} people?"
        ),
        stimuli=StimuliMetadata(kind="natural scenes"),
        data=DataMetadata(
            kind="neural",
            species="human",
            regions=(row.region,),
            task="passive viewing",
            method="fMRI",
            n_subjects=people,
            access="private",
            preprocessing="responses of voxels, test scenes averaged over repetitions",
            notes=("Voxels of whose variance more than 30 % can be explained.",),
        ),
    )


METADATA = table_metadata(__file__, _describe, bibtex=BIBTEX)
