"""What the benchmark on naming occluded objects measures, and on whom."""

from brainscore_vision.benchmark_helpers.metadata import (
    BenchmarkMetadata,
    DataMetadata,
    MetricMetadata,
    StimuliMetadata,
)
from brainscore_vision.data.coggan2024_behavior import BIBTEX

METADATA = {
    "tong.Coggan2024_behavior-ConditionWiseAccuracySimilarity": BenchmarkMetadata(
        title="Naming occluded objects",
        description=(
            "Nine kinds of occluders, black or white, make objects more or less hard to recognise. Are the same "
            "occluders hard for a model as for people?"
        ),
        stimuli=StimuliMetadata(
            n=22_560,
            kind="occluded objects",
            visual_degrees=10,
            notes=("Images without an occluder do not count.", "Models learn the objects from 2,048 other images."),
        ),
        data=DataMetadata(
            kind="behavioural",
            species="human",
            task="choice",
            method="behaviour",
            n_subjects=30,
            access="private",
            notes=("Eight objects to choose from; each person saw 752 images that no one else saw.",),
        ),
        metric=MetricMetadata(
            name="ConditionWiseAccuracySimilarity",
            kind="accuracy",
            ceiling="human-human: the mean of the other people in the model's place",
            notes=("Squared correlation of accuracies over 18 conditions, relative to the ceiling.",),
        ),
        bibtex=BIBTEX,
    )
}
