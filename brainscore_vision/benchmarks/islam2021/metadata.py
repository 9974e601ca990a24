"""What the benchmarks measure, and on whom."""

from brainscore_vision.benchmark_helpers.metadata import (
    BenchmarkMetadata,
    BenchmarkRow,
    DataMetadata,
    MetricMetadata,
    StimuliMetadata,
    table_metadata,
)
from brainscore_vision.benchmarks.islam2021 import BIBTEX


def _describe(row: BenchmarkRow) -> BenchmarkMetadata:
    factor = row.further["factor"]
    return BenchmarkMetadata(
        title=f"Dimensions that encode {factor} in {row.region}",
        description=f"How many dimensions of a model's {row.region} covary between pictures of the same {factor}?",
        stimuli=StimuliMetadata(kind="stylised objects"),
        data=DataMetadata(kind="engineering", task="passive viewing", notes=("There are no measurements.",)),
        metric=MetricMetadata(
            name=row.metric, kind="similarity", ceiling="upper bound: all dimensions encode the factor"
        ),
    )


METADATA = table_metadata(__file__, _describe, bibtex=BIBTEX)
