"""What the benchmarks measure, and on whom."""

from brainscore_vision.benchmark_helpers.metadata import (
    BenchmarkMetadata,
    BenchmarkRow,
    DataMetadata,
    StimuliMetadata,
    table_metadata,
)
from brainscore_vision.benchmarks.rajalingham2020 import BIBTEX


def _describe(row: BenchmarkRow) -> BenchmarkMetadata:
    name = row.benchmark.rpartition("-")[2]
    return BenchmarkMetadata(
        title=f"Letters and words in {row.region} ({name})",
        description=(
            "How well do a model's responses to letters and words predict spiking activity in "
            f"{row.region}, on stimuli that the prediction was not fitted to?"
        ),
        stimuli=StimuliMetadata(kind="letters and words"),
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


METADATA = table_metadata(__file__, _describe, bibtex=BIBTEX)
