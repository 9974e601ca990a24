"""What the benchmark on shape and texture measures, and on whom."""

from brainscore_vision.benchmark_helpers.metadata import (
    BenchmarkMetadata,
    DataMetadata,
    MetricMetadata,
    StimuliMetadata,
)
from brainscore_vision.data.geirhos2019 import BIBTEX

METADATA = {
    "Geirhos2019-shape_bias": BenchmarkMetadata(
        title="Shape bias",
        description=(
            "Images have the shape of one object and the texture of another; people go by the shape. Does a model as "
            "often?"
        ),
        stimuli=StimuliMetadata(
            n=1200,
            kind="shape and texture in conflict",
            visual_degrees=3,
            notes=("Without a folder of all images, the 154 of them that are pinned for download are shown.",),
        ),
        data=DataMetadata(
            kind="behavioural",
            species="human",
            task="naming",
            method="behaviour",
            n_subjects=10,
            access="public",
            notes=("16 categories to choose from.",),
        ),
        metric=MetricMetadata(
            name="shape_bias",
            kind="accuracy",
            ceiling="human-human: how close one person's shape bias is to the others'",
        ),
        bibtex=BIBTEX,
    )
}
