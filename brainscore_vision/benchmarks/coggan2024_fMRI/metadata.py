"""What the benchmarks on occluded objects in visual cortex measure, and on whom."""

from brainscore_vision.benchmark_helpers.metadata import (
    BenchmarkMetadata,
    DataMetadata,
    MetricMetadata,
    StimuliMetadata,
)
from brainscore_vision.data.coggan2024_fMRI import BIBTEX

METADATA = {
    f"tong.Coggan2024_fMRI.{region}-rdm": BenchmarkMetadata(
        title=f"Occluded objects in {region}",
        description=(
            "Eight objects were shown under three conditions of occlusion. Are these stimuli similar to a model as "
            f"they are to human {region}?"
        ),
        stimuli=StimuliMetadata(n=24, kind="occluded objects", visual_degrees=9),
        data=DataMetadata(
            kind="neural",
            species="human",
            regions=(region,),
            task="passive viewing",
            method="fMRI",
            n_subjects=9,
            access="public",
            preprocessing="matrices of similarities, one a subject and region",
        ),
        metric=MetricMetadata(
            name="rdm",
            kind="similarity",
            ceiling="human-human, a lower bound: correlation of each subject with the mean of the others",
            notes=("Squared correlation of similarities, relative to the ceiling.",),
        ),
        bibtex=BIBTEX,
    )
    for region in ("V1", "V2", "V4", "IT")
}
