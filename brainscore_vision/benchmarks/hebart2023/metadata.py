"""What the benchmark on odd ones out measures, and on whom."""

from brainscore_vision.benchmark_helpers.metadata import (
    BenchmarkMetadata,
    DataMetadata,
    MetricMetadata,
    StimuliMetadata,
)
from brainscore_vision.data.hebart2023 import BIBTEX

METADATA = {
    "Hebart2023-match": BenchmarkMetadata(
        title="Odd one out of three objects",
        description=(
            "People said which of three objects is the odd one, 453,642 times. How often does a model choose the same?"
        ),
        stimuli=StimuliMetadata(n=1854, kind="photographs of things", visual_degrees=8),
        data=DataMetadata(
            kind="behavioural",
            species="human",
            task="odd one out",
            method="behaviour",
            access="private",
        ),
        metric=MetricMetadata(
            name="odd_one_out",
            kind="accuracy",
            ceiling="human-human: share of people who make the most frequent choice, .6767",
            notes=("Chance, one third, counts as 0.",),
        ),
        bibtex=BIBTEX,
    )
}
