"""What the benchmarks measure, and on whom."""

from brainscore_vision.benchmark_helpers.metadata import (
    BenchmarkMetadata,
    BenchmarkRow,
    DataMetadata,
    StimuliMetadata,
    table_metadata,
)
from brainscore_vision.benchmarks.maniquet2024 import BIBTEX


def _describe(row: BenchmarkRow) -> BenchmarkMetadata:
    compared = "confusions of objects" if row.metric == "confusion_similarity" else "accuracies of tasks"
    return BenchmarkMetadata(
        title=f"Clear, blurred, cluttered and occluded objects: {compared}",
        description=f"People and models name objects that are clear or hard to see. Do their {compared} correlate?",
        stimuli=StimuliMetadata(kind="objects that are hard to see"),
        data=DataMetadata(kind="behavioural", species="human", task="choice", method="behaviour", access="private"),
    )


METADATA = table_metadata(__file__, _describe, bibtex=BIBTEX)
