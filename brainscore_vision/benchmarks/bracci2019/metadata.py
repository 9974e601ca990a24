"""What the benchmark on animals and their lookalikes measures, and on whom."""

from brainscore_vision.benchmark_helpers.metadata import (
    BenchmarkMetadata,
    DataMetadata,
    MetricMetadata,
    StimuliMetadata,
)
from brainscore_vision.data.bracci2019 import BIBTEX

METADATA = {
    "Bracci2019.anteriorVTC-rdm": BenchmarkMetadata(
        title="Animals, lookalikes and objects in ventral cortex",
        description=(
            "Objects that look like animals set looks against what a thing is. Are animals, lookalikes and objects "
            "similar to a model as they are to human anterior ventral temporal cortex?"
        ),
        stimuli=StimuliMetadata(n=27, kind="animals and objects", visual_degrees=8),
        data=DataMetadata(
            kind="neural",
            species="human",
            regions=("IT",),
            task="passive viewing",
            method="fMRI",
            access="private",
            preprocessing="voxels centred over stimuli, averaged over subjects by their number",
            notes=("The region is the anterior ventral temporal cortex; models are recorded from in IT.",),
        ),
        metric=MetricMetadata(
            name="rdm",
            kind="similarity",
            ceiling="human-human, a lower bound: correlation of each subject with the mean of the others",
        ),
        bibtex=BIBTEX,
    )
}
