"""What the benchmarks measure, and on whom."""

from brainscore_vision.benchmark_helpers.metadata import (
    BenchmarkMetadata,
    BenchmarkRow,
    DataMetadata,
    StimuliMetadata,
    table_metadata,
)
from brainscore_vision.benchmarks.objectnet import BIBTEX


def _describe(_: BenchmarkRow) -> BenchmarkMetadata:
    return BenchmarkMetadata(
        title="Accuracy on ObjectNet",
        description="How often do models name objects in unusual places, rotations and views rightly?",
        stimuli=StimuliMetadata(kind="photographs of things"),
        data=DataMetadata(
            kind="engineering", task="naming", notes=("There are no measurements.", "1,000 classes to choose from.")
        ),
    )


METADATA = table_metadata(__file__, _describe, bibtex=BIBTEX)
