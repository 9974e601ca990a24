"""What the benchmarks on confusions of objects measure, and on whom."""

from typing import Literal

from brainscore_vision.benchmark_helpers.metadata import (
    BenchmarkMetadata,
    DataMetadata,
    MetricMetadata,
    StimuliMetadata,
)


def _metadata(title: str, access: Literal["public", "private"], images: int, note: str) -> BenchmarkMetadata:
    return BenchmarkMetadata(
        title=title,
        description=(
            "People saw an object, then chose between it and one of 23 others. Does a model confuse the same images "
            "with the same objects?"
        ),
        stimuli=StimuliMetadata(n=images, kind="objects on backgrounds", visual_degrees=8, notes=(note,)),
        data=DataMetadata(
            kind="behavioural",
            species="human",
            task="choice",
            method="behaviour",
            access=access,
            notes=("24 objects; two on offer in each trial.",),
        ),
        metric=MetricMetadata(
            name="i2n",
            kind="consistency",
            ceiling="reliability: correlation of two halves of the trials, whose square root scores are related to",
        ),
    )


METADATA = {
    "Rajalingham2018-i2n": _metadata(
        "Confusions of objects", "private", 240, "Models learn the objects from 2,160 other images."
    ),
    "Rajalingham2018public-i2n": _metadata(
        "Confusions of objects, public images", "public", 2160, "Models have learned the objects from these images."
    ),
}
