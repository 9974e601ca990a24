"""Prediction of the response of the left language network to single sentences; there is no ceiling."""

from brainscore_language import load_dataset, load_metric
from brainscore_language.benchmark_helpers.recordings import RecordingBenchmark
from brainscore_language.data.tuckute2024 import BIBTEX


def _benchmark(metric: str) -> RecordingBenchmark:
    return RecordingBenchmark(
        f"Tuckute2024-{metric}",
        version=2,
        parent="neural_language",
        bibtex=BIBTEX,
        load_data=lambda: load_dataset("Tuckute2024.language"),
        metric=load_metric(metric),
        text_coord="stimulus_id",
    )


def Tuckute2024_linear() -> RecordingBenchmark:  # noqa: N802 - published name
    """Least squares."""
    return _benchmark("linear_pearsonr")


def Tuckute2024_ridge() -> RecordingBenchmark:  # noqa: N802 - published name
    """Ridge regression."""
    return _benchmark("ridge_pearsonr")


def Tuckute2024_rdm() -> RecordingBenchmark:  # noqa: N802 - published name
    """Dissimilarities."""
    return _benchmark("rdm")


def Tuckute2024_cka() -> RecordingBenchmark:  # noqa: N802 - published name
    """Centred kernel alignment."""
    return _benchmark("cka")
