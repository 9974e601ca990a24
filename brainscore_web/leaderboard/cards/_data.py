"""Database queries of the cards: a fixed number for each, and only for data that the visitor may see."""

from __future__ import annotations

from functools import lru_cache
from typing import Any

from brainscore_core.errors import nearest
from brainscore_web.leaderboard.cards._benchmark import BenchmarkData, Sample
from brainscore_web.leaderboard.cards._history import ScorePoint, VersionSince
from brainscore_web.leaderboard.cards._model import ModelData
from brainscore_web.leaderboard.cards._scores import ScoreLine
from brainscore_web.leaderboard.models import (
    Benchmark,
    BenchmarkVersion,
    LayerProfile,
    Score,
    StimulusSample,
    VisionModel,
    Visitor,
)
from brainscore_web.leaderboard.withheld import withheld_reason

__all__ = ["benchmark_data", "find_benchmark", "find_model", "model_data", "near_benchmarks", "near_models"]

_LINE = ("receipt", "version", "created", "state", "reason", "error_reason", "value", "error", "low", "high")


def find_model(identifier: str, visitor: Visitor) -> VisionModel | None:
    """Return the model if it exists and the visitor may see it."""
    return VisionModel.objects.visible_to(visitor).select_related("owner").filter(identifier=identifier).first()


def find_benchmark(identifier: str) -> Benchmark | None:
    """Return the benchmark or mean; all of them are public."""
    return Benchmark.objects.select_related("owner").filter(identifier=identifier).first()


def near_models(identifier: str, visitor: Visitor) -> list[str]:
    """Return similar identifiers among the models that the visitor may see."""
    return nearest(identifier, VisionModel.objects.visible_to(visitor).values_list("identifier", flat=True))


def near_benchmarks(identifier: str) -> list[str]:
    """Return similar identifiers of benchmarks."""
    return nearest(identifier, Benchmark.objects.values_list("identifier", flat=True))


def model_data(model: VisionModel, visitor: Visitor) -> ModelData:
    """Return the data of a model that the visitor may see, with four queries."""
    rows = list(Benchmark.objects.filter(is_mean=False).order_by().values_list("pk", "identifier", "created"))
    benchmarks = {pk: identifier for pk, identifier, _ in rows}
    scores = {}
    rows_of_scores = Score.objects.filter(model=model).with_shows_data(visitor).order_by("created", "receipt")
    for row in rows_of_scores.values("pk", "benchmark_id", "shows_data", *_LINE):
        if not row["shows_data"]:
            row["reason"] = withheld_reason(row["state"], row["reason"])
        if row["benchmark_id"] in benchmarks:
            scores[row["pk"]] = _point(benchmarks[row["benchmark_id"]], row), _line(row)
    versions = BenchmarkVersion.objects.order_by().values_list("benchmark_id", "version", "since")
    profiles = LayerProfile.objects.filter(model=model).values_list("region", "benchmark", "document")
    return ModelData(
        scores=scores,
        versions=[VersionSince(benchmarks[pk], version, since) for pk, version, since in versions if pk in benchmarks],
        there={identifier: created for _, identifier, created in rows},
        profiles=list(profiles),
        packaged=_packaged("model", model.identifier),
    )


def benchmark_data(benchmark: Benchmark, visitor: Visitor) -> BenchmarkData:
    """Return the data of a benchmark, with three queries; empty for a mean."""
    shows_data = not benchmark.is_mean and benchmark.shows_data_to(visitor)
    if benchmark.is_mean:
        return BenchmarkData(scores={}, versions=())
    rows = Score.objects.visible_to(visitor).filter(benchmark=benchmark).order_by("created", "receipt")
    samples = StimulusSample.objects.filter(benchmark=benchmark) if shows_data else ()
    return BenchmarkData(
        scores={
            row["pk"]: (
                row["model__identifier"],
                _line({**row, "reason": benchmark.reason_to(visitor, row["state"], row["reason"])}),
            )
            for row in rows.values("pk", "model__identifier", *_LINE)
        },
        versions=list(benchmark.versions.all()),
        samples=[Sample(row.pk, row.image.name.rsplit("/", 1)[-1], row.caption) for row in samples],
        shows_data=shows_data,
        packaged=_packaged("benchmark", benchmark.identifier),
        models=_registered("model"),
    )


def _point(benchmark: str, row: dict[str, Any]) -> ScorePoint:
    return ScorePoint(
        benchmark=benchmark,
        version=row["version"],
        state=row["state"],
        value=row["value"],
        error=row["error"],
        created=row["created"],
        receipt=row["receipt"],
        reason=row["reason"],
        low=row["low"],
        high=row["high"],
    )


def _line(row: dict[str, Any]) -> ScoreLine:
    return ScoreLine(*(row[name] for name in ScoreLine._fields))


def _packaged(kind: str, identifier: str) -> bool:
    """Whether an installed package registers it; nothing is imported for this."""
    return identifier in _registered(kind)


@lru_cache(maxsize=2)
def _registered(kind: str) -> frozenset[str]:
    """Return the installed identifiers; cached, since they are read from folders and do not change in a process."""
    import brainscore_vision

    return frozenset(getattr(brainscore_vision, f"{kind}_registry"))
