"""What the benchmarks measure, and on whom."""

from brainscore_vision.benchmark_helpers.metadata import (
    BenchmarkMetadata,
    BenchmarkRow,
    DataMetadata,
    MetricMetadata,
    StimuliMetadata,
    table_metadata,
)
from brainscore_vision.benchmarks.laion_fmri import BIBTEX

_SPLITS = {"tau": "held-out", "ood": "unusual"}


def _describe(row: BenchmarkRow) -> BenchmarkMetadata:
    of_one_subject = "persubject" in row.benchmark
    shown = "pictures that only the subject saw" if of_one_subject else "pictures that all subjects saw"
    tested = f"{_SPLITS[row.further['split']]} pictures predicted"
    subject_matter = {"rdm": "dissimilarities", "cka": "alignment"}.get(row.metric, tested)
    metric = MetricMetadata()
    if row.kind != "subjects predicted":
        metric = MetricMetadata(
            name=row.metric,
            kind="similarity",
            ceiling="upper bound: root of the published noise ceiling, mean over voxels"
            if row.metric == "rdm"
            else "human-human: the same number between all pairs of subjects",
        )
    return BenchmarkMetadata(
        title=f"Pictures from the web in {row.region}: {subject_matter}, {shown}",
        description=(
            f"How well do a model's responses to pictures from the web match fMRI responses in {row.region} of five "
            f"people, one at a time ({subject_matter}; {shown})?"
        ),
        stimuli=StimuliMetadata(kind="pictures from the web"),
        data=DataMetadata(
            kind="neural",
            species="human",
            regions=(row.region,),
            task="passive viewing",
            method="fMRI",
            n_subjects=5,
            access="private",
            preprocessing="responses of voxels, averaged over repetitions",
            notes=("Voxels of whose variance more than 30 % can be explained.",),
        ),
        metric=metric,
    )


METADATA = table_metadata(__file__, _describe, bibtex=BIBTEX)
