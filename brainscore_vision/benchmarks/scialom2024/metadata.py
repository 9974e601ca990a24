"""What the benchmarks measure, and on whom."""

from brainscore_vision.benchmark_helpers.metadata import (
    BenchmarkMetadata,
    BenchmarkRow,
    DataMetadata,
    StimuliMetadata,
    table_metadata,
)
from brainscore_vision.benchmarks.scialom2024 import BIBTEX

_DRAWN = {"rgb": "photographs", "contours": "contours", "phosphenes": "phosphenes", "segments": "segments"}
_ASKED = {
    "accuracy": "How often is a model right?",
    "accuracy_distance": "Is a model right as often as each person?",
    "error_consistency": "Is a model right on the same pictures as people?",
}


def _describe(row: BenchmarkRow) -> BenchmarkMetadata:
    condition = row.data[0].partition("_")[2]
    drawn, _, share = condition.partition("-")
    how = _DRAWN[drawn] + (f", {'all shares' if share == 'all' else f'{share} %'} of the elements" if share else "")
    people = row.metric != "accuracy"
    measure = {"accuracy": "Accuracy", "accuracy_distance": "Naming", "error_consistency": "Error consistency"}
    return BenchmarkMetadata(
        title=f"{measure[row.metric]}: objects as {how}",
        description=f"Objects, drawn as {how}, are named with one of 12 words. {_ASKED[row.metric]}",
        stimuli=StimuliMetadata(
            n=528 if share == "all" else 48, kind="photographs of things" if drawn == "rgb" else "outlines"
        ),
        data=DataMetadata(
            kind="behavioural" if people else "engineering",
            species="human" if people else None,
            task="naming",
            method="behaviour" if people else None,
            access="private",
            n_subjects=(50 if drawn in ("rgb", "contours") else 25) if people else None,
            notes=("12 objects to choose from.",),
        ),
    )


METADATA = table_metadata(__file__, _describe, bibtex=BIBTEX)
