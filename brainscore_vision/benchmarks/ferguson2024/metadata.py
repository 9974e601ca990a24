"""What the benchmarks measure, and on whom."""

from brainscore_vision.benchmark_helpers.metadata import (
    BenchmarkMetadata,
    BenchmarkRow,
    DataMetadata,
    StimuliMetadata,
    table_metadata,
)
from brainscore_vision.benchmarks.ferguson2024 import BIBTEX


def _describe(row: BenchmarkRow) -> BenchmarkMetadata:
    experiment = row.data[0].removeprefix("Ferguson2024_").replace("_", " ")
    return BenchmarkMetadata(
        title=f"Asymmetry of search: {experiment}",
        description=(
            "People and models look for an oddball. Is it as much harder for a model as for people to find A among Bs "
            f"than B among As ({experiment})?"
        ),
        stimuli=StimuliMetadata(n=48, kind="arrays of shapes"),
        data=DataMetadata(
            kind="behavioural",
            species="human",
            task="choice",
            method="behaviour",
            access="private",
            preprocessing="accuracies, corrected for lapses, integrated over 1, 5 and 11 distractors",
        ),
    )


METADATA = table_metadata(__file__, _describe, bibtex=BIBTEX)
