"""What the benchmarks measure, and on whom."""

from brainscore_vision.benchmark_helpers.metadata import (
    BenchmarkMetadata,
    BenchmarkRow,
    DataMetadata,
    StimuliMetadata,
    table_metadata,
)
from brainscore_vision.benchmarks.gifford2022 import BIBTEX


def _describe(row: BenchmarkRow) -> BenchmarkMetadata:
    name = row.benchmark.rpartition("-")[2]
    return BenchmarkMetadata(
        title=f"Pictures of things, electroencephalography in {row.region} ({name})",
        description=(
            "How well do a model's IT responses to pictures of things predict "
            "electroencephalography, at 60 times after onset?"
        ),
        stimuli=StimuliMetadata(kind="photographs of things"),
        data=DataMetadata(
            kind="neural",
            species="human",
            regions=(row.region,),
            task="passive viewing",
            method="electrophysiology",
            n_subjects=10,
            access="private",
            preprocessing="electrodes at 60 times of 10 ms each; averaged over repetitions",
            notes=("Electrodes are outside of the brain; models record from IT.",),
        ),
    )


METADATA = table_metadata(__file__, _describe, bibtex=BIBTEX)
