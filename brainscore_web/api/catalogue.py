"""Models and benchmarks in the API."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from typing import Any, Literal

from django.db.models import Q
from django.http import HttpRequest
from ninja import Query, Router, Schema
from pydantic import Field

from brainscore_web.api.authentication import caller_of
from brainscore_web.api.responses import Problem, operation, page_of, refuse_unknown_parameters
from brainscore_web.api.schemas import BenchmarkCard, BenchmarkEntry, ModelCard, ModelEntry, OfDomain, Page, Profile
from brainscore_web.leaderboard.models import Benchmark, BenchmarkVersion, LayerProfile, VisionModel

router = Router()

_ENTRY = tuple(name for name in ModelEntry.model_fields if name != "visibility")
_NODE = ("identifier", "domain", "title", "is_mean", "version", "control", "in_tree", "access", "region", "species",
         "task", "method", "stimuli", "metric")  # fmt: skip


class Paged(Schema):
    """The requested part of a list."""

    limit: int = Field(100, ge=1, le=1000, description="Maximum number of items.")
    offset: int = Field(0, ge=0, le=1_000_000, description="Number of items to skip.")


class ModelsAsked(Paged, OfDomain):
    """Filters of models; a repeated filter matches any of its values."""

    search: str = Field("", max_length=200, description="Part of the identifier or title, ignoring case.")
    family: list[str] = Field([], description="Repeat it for several values.")
    architecture: list[str] = Field([], description="Repeat it for several values.")
    training_data: list[str] = Field([], description="Repeat it for several values.")
    runnable: bool | None = Field(None, description="Whether it can be loaded from published code and weights.")


class BenchmarksAsked(Paged, OfDomain):
    """Filters of benchmarks; a repeated filter matches any of its values."""

    search: str = Field("", max_length=200, description="Part of the identifier or title, ignoring case.")
    kind: Literal["all", "mean", "benchmark"] = Field("all", description="Means, benchmarks, or both.")
    region: list[str] = Field([], description="Repeat it for several values.")
    species: list[str] = Field([], description="Repeat it for several values.")
    metric: list[str] = Field([], description="Repeat it for several values.")
    access: Literal["public", "private"] | None = Field(None, description="Access to stimuli and measurements.")


@router.get("models", **operation("models", "List models", Page[ModelEntry]))
def list_models(request: HttpRequest, query: Query[ModelsAsked]) -> dict[str, Any]:
    """List the models that you may see, by identifier."""
    refuse_unknown_parameters(request, ModelsAsked)
    models = VisionModel.objects.visible_to(caller_of(request).visitor).order_by("identifier")
    for name in ("family", "architecture", "training_data"):
        if values := getattr(query, name):
            models = models.filter(**{f"{name}__in": values})
    if query.domain is not None:
        models = models.filter(domain=query.domain)
    if query.search:
        models = models.filter(Q(identifier__icontains=query.search) | Q(title__icontains=query.search))
    if query.runnable is not None:
        models = models.filter(runnable=query.runnable)
    rows = models.values(*_ENTRY, "visibility")[query.offset : query.offset + query.limit]
    return page_of(request, list(rows), models.count(), query.limit, query.offset)


@router.get("models/{path:identifier}", **operation("models", "Show a model", ModelCard, 404))
def show_model(request: HttpRequest, identifier: str) -> dict[str, Any]:
    """Show a model; one that you may not see gives 404."""
    refuse_unknown_parameters(request)
    visible = VisionModel.objects.visible_to(caller_of(request).visitor)
    rows = visible.filter(identifier=identifier).values("pk", *_ENTRY, "visibility", "regions", "plugin", "bibtex")
    if not rows:
        raise Problem(404, f"there is no model {identifier!r}", "see /api/v1/models")
    profiles = LayerProfile.objects.filter(model=rows[0].pop("pk")).order_by("region", "benchmark")
    return {**rows[0], "profiles": list(profiles.values(*Profile.model_fields))}


@router.get("benchmarks", **operation("benchmarks", "List benchmarks", Page[BenchmarkEntry]))
def list_benchmarks(request: HttpRequest, query: Query[BenchmarksAsked]) -> dict[str, Any]:
    """List means and benchmarks in the order of the tree, each followed by the nodes below it.

    Benchmarks that count in no mean follow, controls last.
    """
    refuse_unknown_parameters(request, BenchmarksAsked)
    rows = [row for row in benchmarks_in_order() if _matches(row, query)]
    items = rows[query.offset : query.offset + query.limit]
    return page_of(request, items, len(rows), query.limit, query.offset)


def _matches(row: dict[str, Any], query: BenchmarksAsked) -> bool:
    text = query.search.casefold()
    return (
        (not text or text in row["identifier"].casefold() or text in row["title"].casefold())
        and (query.kind == "all" or row["is_mean"] == (query.kind == "mean"))
        and all(
            not getattr(query, name) or row[name] in getattr(query, name) for name in ("region", "species", "metric")
        )
        and query.access in (None, row["access"])
        and query.domain in (None, row["domain"])
    )


def benchmarks_in_order() -> list[dict[str, Any]]:
    """Return all means and benchmarks in the order of the tree, with `parent` and `depth`."""
    children: defaultdict[str | None, list[dict[str, Any]]] = defaultdict(list)
    rows = list(Benchmark.objects.order_by("order", "identifier").values(*_NODE, "parent__identifier"))
    for row in rows:
        row["parent"] = row.pop("parent__identifier")
        row["access"] = None if row["is_mean"] else row["access"]
        children[row["parent"]].append(row)
    children[None].sort(key=lambda row: (row["control"], not row["in_tree"]))  # stable

    def below(parent: str | None, depth: int) -> Iterator[dict[str, Any]]:
        for row in children[parent]:
            yield {**row, "depth": depth}
            yield from below(row["identifier"], depth + 1)

    ordered = list(below(None, 0))
    reached = {row["identifier"] for row in ordered}  # rows in a cycle of parents are not reached
    return [*ordered, *({**row, "parent": None, "depth": 0} for row in rows if row["identifier"] not in reached)]


@router.get("benchmarks/{path:identifier}", **operation("benchmarks", "Show a benchmark", BenchmarkCard, 404))
def show_benchmark(request: HttpRequest, identifier: str) -> dict[str, Any]:
    """Show a benchmark or a mean, with all its versions and their ceilings."""
    refuse_unknown_parameters(request)
    rows = {row["identifier"]: row for row in benchmarks_in_order()}
    if identifier not in rows:
        raise Problem(404, f"there is no benchmark {identifier!r}", "see /api/v1/benchmarks")
    benchmark = Benchmark.objects.prefetch_related("versions").get(identifier=identifier)
    more = ("description", "n_stimuli", "n_subjects", "n_neuroids", "credit", "source", "plugin", "bibtex")
    return {
        **rows[identifier],
        **{name: getattr(benchmark, name) for name in more},
        "children": [name for name, row in rows.items() if row["parent"] == identifier],
        "versions": [_version(row, benchmark.version) for row in benchmark.versions.all()],
    }


def _version(row: BenchmarkVersion, counting: str) -> dict[str, Any]:
    names = ("error", "low", "high", "level", "meaning", "estimates", "reason")
    return {
        "version": row.version,
        "counts": counting in ("", row.version),
        "since": row.since,
        "ceiling": {"value": row.ceiling, **{name: getattr(row, f"ceiling_{name}") for name in names}},
        "lower_bound": row.lower_bound,
        "changes": row.changes,
    }
