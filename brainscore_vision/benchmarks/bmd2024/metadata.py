"""What the benchmarks on textured and dotted objects measure, and on whom."""

from brainscore_vision.benchmark_helpers.metadata import (
    BenchmarkMetadata,
    DataMetadata,
    MetricMetadata,
    StimuliMetadata,
)

_PICTURES = {  # name in the identifier: how the objects are drawn, people
    "texture_1": ("silhouettes filled with the character 3", 51),
    "texture_2": ("silhouettes filled with the character %", 52),
    "dotted_1": ("outlines of near dots", 54),
    "dotted_2": ("outlines of distant dots", 54),
}


def _metadata(name: str) -> BenchmarkMetadata:
    drawn, people = _PICTURES[name]
    return BenchmarkMetadata(
        title=f"Naming {drawn}",
        description=f"People and models name ten objects, drawn as {drawn}. Is a model right as often as each person?",
        stimuli=StimuliMetadata(
            n=100, kind="silhouettes" if name.startswith("texture") else "outlines", visual_degrees=8
        ),
        data=DataMetadata(
            kind="behavioural",
            species="human",
            task="naming",
            method="behaviour",
            n_subjects=people,
            access="private",
            notes=("Ten objects to choose from.", "No citation has been published with these data."),
        ),
        metric=MetricMetadata(
            name="accuracy_distance",
            kind="accuracy",
            ceiling="human-human: the same number between all pairs of people",
        ),
    )


METADATA = {f"BMD2024.{name}Behavioral-accuracy_distance": _metadata(name) for name in _PICTURES}
