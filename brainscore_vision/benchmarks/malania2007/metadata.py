"""What the benchmarks on vernier offsets measure, and on whom."""

from brainscore_vision.benchmark_helpers.metadata import (
    BenchmarkMetadata,
    DataMetadata,
    MetricMetadata,
    StimuliMetadata,
)
from brainscore_vision.data.malania2007 import BIBTEX

_CONDITIONS = {  # name in the identifier: flankers, people
    "short2": ("two flankers shorter than the vernier", 6),
    "short4": ("four flankers shorter than the vernier", 5),
    "short6": ("six flankers shorter than the vernier", 5),
    "short8": ("eight flankers shorter than the vernier", 5),
    "short16": ("sixteen flankers shorter than the vernier", 6),
    "equal2": ("two flankers as long as the vernier", 5),
    "equal16": ("sixteen flankers as long as the vernier", 5),
    "long2": ("two flankers longer than the vernier", 5),
    "long16": ("sixteen flankers longer than the vernier", 5),
}
_TASK = "People told whether the lower of two lines is offset to the left or to the right. "


def _metadata(title: str, question: str, people: int, metric: MetricMetadata) -> BenchmarkMetadata:
    return BenchmarkMetadata(
        title=title,
        description=_TASK + question,
        stimuli=StimuliMetadata(kind="vernier lines", visual_degrees=2.986667),
        data=DataMetadata(
            kind="behavioural",
            species="human",
            task="choice",
            method="behaviour",
            n_subjects=people,
            access="private",
            notes=("Left or right.",),
        ),
        metric=metric,
        bibtex=BIBTEX,
    )


METADATA = {
    f"Malania2007.{name}-threshold_elevation": _metadata(
        f"Crowding of a vernier by {flankers}",
        f"Do {flankers} elevate a model's threshold as much as people's?",
        people,
        MetricMetadata(
            name="threshold_elevation",
            kind="similarity",
            ceiling="human-human: each person's elevation against the others'",
        ),
    )
    for name, (flankers, people) in _CONDITIONS.items()
} | {
    "Malania2007.vernieracuity-threshold": _metadata(
        "Vernier acuity",
        "Is a model's threshold without flankers near people's?",
        6,
        MetricMetadata(
            name="threshold",
            kind="similarity",
            ceiling="human-human: each person's threshold against the others', mean over nine ways to learn the task",
        ),
    )
}
