"""Prediction of the response of the left language network to single sentences; there is no ceiling."""

from brainscore_language import load_dataset, load_metric
from brainscore_language.benchmark_helpers.recordings import RecordingBenchmark
from brainscore_language.data.tuckute2024 import BIBTEX


class _Tuckute2024(RecordingBenchmark):
    def __init__(self, metric: str) -> None:
        super().__init__(
            f"Tuckute2024-{metric}",
            version=2,
            parent="neural_language",
            bibtex=BIBTEX,
            load_data=lambda: load_dataset("Tuckute2024.language"),
            metric=load_metric(metric),
            text_coord="stimulus_id",
        )


def Tuckute2024_linear() -> _Tuckute2024:  # noqa: N802 - published name
    """Least squares."""
    return _Tuckute2024("linear_pearsonr")


def Tuckute2024_ridge() -> _Tuckute2024:  # noqa: N802 - published name
    """Ridge regression."""
    return _Tuckute2024("ridge_pearsonr")


def Tuckute2024_rdm() -> _Tuckute2024:  # noqa: N802 - published name
    """Dissimilarities."""
    return _Tuckute2024("rdm")


def Tuckute2024_cka() -> _Tuckute2024:  # noqa: N802 - published name
    """Centred kernel alignment."""
    return _Tuckute2024("cka")
