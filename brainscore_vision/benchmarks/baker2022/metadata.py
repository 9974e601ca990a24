"""What the benchmarks on silhouettes measure, and on whom."""

from brainscore_vision.benchmark_helpers.metadata import (
    BenchmarkMetadata,
    DataMetadata,
    MetricMetadata,
    StimuliMetadata,
)
from brainscore_vision.data.baker2022 import BIBTEX

_DISTORTIONS = {  # name in the identifier: what is compared with whole silhouettes, number of stimuli, people
    "frankenstein": ("silhouettes rearranged so that their local features stay", 716, 32),
    "fragmented": ("fragmented silhouettes", 716, 32),
    "inverted": ("silhouettes rearranged so that their local features stay, all of them upside down", None, 12),
}


def _metadata(name: str) -> BenchmarkMetadata:
    distorted, stimuli, people = _DISTORTIONS[name]
    return BenchmarkMetadata(
        title=f"Configuration of shapes: {name} silhouettes",
        description=(
            "People name animals from their silhouettes, less often rightly if the parts are not where they belong. "
            f"Does a model lose as much accuracy from whole silhouettes to {distorted}?"
        ),
        stimuli=StimuliMetadata(n=stimuli, kind="silhouettes", visual_degrees=8.8),
        data=DataMetadata(
            kind="behavioural",
            species="human",
            task="naming",
            method="behaviour",
            n_subjects=people,
            access="private",
            notes=("Nine animals to choose from.",),
        ),
        metric=MetricMetadata(
            name="baker_accuracy_delta",
            kind="accuracy",
            ceiling="reliability: the same number between halves of the people, Spearman–Brown corrected, median",
        ),
        bibtex=BIBTEX,
    )


METADATA = {f"Baker2022{name}-accuracy_delta": _metadata(name) for name in _DISTORTIONS}
