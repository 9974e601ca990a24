"""What the benchmark on ImageNet measures."""

from brainscore_vision.benchmark_helpers.metadata import (
    BenchmarkMetadata,
    DataMetadata,
    MetricMetadata,
    StimuliMetadata,
)
from brainscore_vision.data.imagenetslim15000 import BIBTEX

METADATA = {
    "ImageNet-top1": BenchmarkMetadata(
        title="Accuracy on ImageNet",
        description="How often do models name the 50,000 validation images of ImageNet, of 1,000 classes, rightly?",
        stimuli=StimuliMetadata(n=50_000, kind="photographs of things", notes=("Images are on request.",)),
        data=DataMetadata(
            kind="engineering",
            task="naming",
            notes=("No people were measured.", "1,000 classes to choose from."),
        ),
        metric=MetricMetadata(name="accuracy", kind="accuracy", ceiling="upper bound: every image named rightly"),
        bibtex=BIBTEX,
    )
}
