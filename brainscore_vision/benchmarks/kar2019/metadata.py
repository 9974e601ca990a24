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
            "Macaque IT solves some pictures of objects later than others. Does a model that responds over time solve "
            "each picture as early or as late?"
        ),
        stimuli=StimuliMetadata(n=1318, kind="objects on backgrounds", visual_degrees=8),
        data=DataMetadata(
            kind="neural",
            species="macaque",
            regions=("IT",),
            task="passive viewing",
            method="electrophysiology",
            access="private",
        ),
        metric=MetricMetadata(
            name="ost",
            kind="similarity",
            mapping="objects are read out of the model's IT over time; compared is when they can be",
            ceiling="upper bound that the authors computed, .79; without an error",
        ),
    )
}
