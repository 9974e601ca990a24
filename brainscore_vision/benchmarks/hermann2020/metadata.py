"""What the benchmarks measure, and on whom."""

from brainscore_vision.benchmark_helpers.metadata import (
    BenchmarkMetadata,
    BenchmarkRow,
    DataMetadata,
    StimuliMetadata,
    table_metadata,
)
from brainscore_vision.benchmarks.hermann2020 import BIBTEX


def _describe(row: BenchmarkRow) -> BenchmarkMetadata:
    bias = row.benchmark.endswith("shape_bias")
    return BenchmarkMetadata(
        title="Shape bias in cue conflicts" if bias else "Choices of the shape in cue conflicts",
        description=(
            "Pictures have the shape of one object and the texture of another. How often is the shape chosen, "
            + ("of its choices of either?" if bias else "of all choices?")
        ),
        stimuli=StimuliMetadata(
            kind="shape and texture in conflict",
            notes=("Of the authors' files, every eighth is pinned for download; a folder may have all of them.",),
        ),
        data=DataMetadata(kind="engineering", task="naming", notes=("There are no measurements.",)),
    )


METADATA = table_metadata(__file__, _describe, bibtex=BIBTEX)
