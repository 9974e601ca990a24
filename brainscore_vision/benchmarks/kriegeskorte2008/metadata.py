"""What the benchmarks on 92 objects measure, and on whom."""

from brainscore_vision.benchmark_helpers.metadata import (
    BenchmarkMetadata,
    DataMetadata,
    MetricMetadata,
    StimuliMetadata,
)
from brainscore_vision.data.kriegeskorte2008 import BIBTEX

_STIMULI = "objects on grey"
_DESCRIPTION = "Are 92 faces, bodies, natural and artificial things similar to a model as they are to {} IT?"

METADATA = {
    "Kriegeskorte2008.IT-human-rdm": BenchmarkMetadata(
        title="92 objects in human IT",
        description=_DESCRIPTION.format("human"),
        stimuli=StimuliMetadata(n=92, kind=_STIMULI, visual_degrees=2.9),
        data=DataMetadata(
            kind="neural",
            species="human",
            regions=("IT",),
            task="passive viewing",
            method="fMRI",
            n_subjects=4,
            access="public",
            preprocessing="matrices of dissimilarities, averaged over two sessions of each person",
        ),
        metric=MetricMetadata(
            name="rdm",
            kind="similarity",
            ceiling="upper bound: correlation of each person with the mean of all, itself included",
        ),
        bibtex=BIBTEX,
    ),
    "Kriegeskorte2008.IT-monkey-rdm": BenchmarkMetadata(
        title="92 objects in monkey IT",
        description=_DESCRIPTION.format("macaque"),
        stimuli=StimuliMetadata(n=92, kind=_STIMULI, visual_degrees=7),
        data=DataMetadata(
            kind="neural",
            species="macaque",
            regions=("IT",),
            task="passive viewing",
            method="electrophysiology",
            n_subjects=2,
            n_neuroids=674,
            access="public",
            preprocessing="one matrix of dissimilarities, of the neurons of both animals",
        ),
        metric=MetricMetadata(
            name="rdm",
            kind="similarity",
            ceiling="none: one matrix does not tell how reliable it is, and the score is the correlation itself",
        ),
        bibtex=BIBTEX,
    ),
}
