"""What the benchmarks measure, and on whom."""

from brainscore_vision.benchmark_helpers.metadata import (
    BenchmarkMetadata,
    BenchmarkRow,
    DataMetadata,
    StimuliMetadata,
    table_metadata,
)
from brainscore_vision.benchmarks.imagenet_c import BIBTEX


def _describe(row: BenchmarkRow) -> BenchmarkMetadata:
    distortion = row.stimuli.partition(".")[2]
    return BenchmarkMetadata(
        title=f"Accuracy on ImageNet-C: {distortion}",
        description=f"How often do models name validation images of ImageNet with distortions ({distortion}) rightly?",
        stimuli=StimuliMetadata(kind="distorted photographs"),
        data=DataMetadata(
            kind="engineering", task="naming", notes=("There are no measurements.", "1,000 classes to choose from.")
        ),
    )


METADATA = table_metadata(__file__, _describe, bibtex=BIBTEX)
