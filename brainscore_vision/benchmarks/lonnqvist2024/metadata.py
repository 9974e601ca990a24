"""What the benchmarks measure, and on whom."""

from brainscore_vision.benchmark_helpers.metadata import (
    BenchmarkMetadata,
    BenchmarkRow,
    DataMetadata,
    StimuliMetadata,
    table_metadata,
)
from brainscore_vision.benchmarks.lonnqvist2024 import BIBTEX


def _describe(row: BenchmarkRow) -> BenchmarkMetadata:
    asked = row.data[0].removeprefix("Lonnqvist2024_").replace("-", ", ")
    accuracy = row.metric == "accuracy"
    return BenchmarkMetadata(
        title="Accuracy of integrating contours" if accuracy else f"Integrating contours as people do ({asked})",
        description=(
            "Models learn to judge fragmented contours, and judge new ones. "
            + ("How often are they right?" if accuracy else f"Are they right as often as each person ({asked})?")
        ),
        stimuli=StimuliMetadata(n=380, kind="contours"),
        data=DataMetadata(
            kind="behavioural",
            species="human",
            task="choice",
            method="behaviour",
            n_subjects=92 if "online" in row.data[0] else 10,
            access="private",
            notes=("Judged by the truth alone.",) if accuracy else (),
        ),
    )


METADATA = table_metadata(__file__, _describe, bibtex=BIBTEX)
