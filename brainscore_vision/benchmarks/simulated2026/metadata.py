"""What the controls check."""

from brainscore_vision.benchmark_helpers.metadata import (
    BenchmarkMetadata,
    DataMetadata,
    MetricMetadata,
    StimuliMetadata,
)

_METRICS = {
    "pls": MetricMetadata(
        name="pls",
        kind="regression",
        mapping="PLS regression with 25 components, cross-validated over stimuli",
        ceiling="reliability: split halves of the repetitions, Spearman–Brown corrected, median over neuroids",
    ),
    "rdm": MetricMetadata(
        name="rdm",
        kind="similarity",
        ceiling="upper bound: what a matrix of dissimilarities without noise reaches, from split halves",
    ),
}

METADATA = {
    f"Simulated2026.{region}-{name}": BenchmarkMetadata(
        title=f"Simulated {region} ({name})",
        description=(
            f"A control: responses of {region} are computed, so that the truth is known. Do metric and ceiling find "
            "it? It says nothing about brains."
        ),
        stimuli=StimuliMetadata(n=800, kind="drawn patterns", visual_degrees=8),
        data=DataMetadata(
            kind="neural",
            regions=(region,),
            task="passive viewing",
            method="simulation",
            n_neuroids=96,
            access="public",
            preprocessing="averaged over 12 simulated repetitions",
            notes=("No people or animals were measured.",),
        ),
        metric=metric,
    )
    for region in ("V1", "IT")
    for name, metric in _METRICS.items()
}
