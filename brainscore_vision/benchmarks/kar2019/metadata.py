"""What Kar2019-ost measures, and on whom."""

from brainscore_vision.benchmark_helpers.metadata import (
    BenchmarkMetadata,
    DataMetadata,
    MetricMetadata,
    StimuliMetadata,
)

METADATA = {
    "Kar2019-ost": BenchmarkMetadata(
        title="Object solution times in IT",
        description=(
            "Macaque IT solves some pictures of objects later than others. Whether a model that responds over time "
            "solves each picture as early or late as IT does."
        ),
        stimuli=StimuliMetadata(kind="objects on backgrounds", visual_degrees=8),
        data=DataMetadata(
            kind="neural",
            species="macaque",
            regions=("IT",),
            task="passive viewing",
            method="electrophysiology",
            access="private",
        ),
        metric=MetricMetadata(name="ost"),
    )
}
