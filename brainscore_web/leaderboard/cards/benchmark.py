"""The card of a benchmark or a mean.

Database queries read what the visitor may see; from these data, pure functions compute the content.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from itertools import zip_longest
from typing import Any, NamedTuple
from urllib.parse import unquote, urlsplit

import numpy as np
from django.urls import reverse

from brainscore_core.domains import domain
from brainscore_core.errors import nearest
from brainscore_core.figures import Dots, DotsRow, Lines, Mark, Series, Svg, dots_with_intervals, lines
from brainscore_core.formatting import number_text
from brainscore_core.plurals import counted
from brainscore_core.supported_data_standards.brainio.croissant import dataset_document
from brainscore_web.leaderboard.board import Board, children_of, why_untested
from brainscore_web.leaderboard.cards.facts import (
    benchmark_code,
    benchmark_facts,
    citation_of,
    distribution_of,
    installed,
    notes_of,
)
from brainscore_web.leaderboard.cards.formatting import (
    Axis,
    axis_of,
    bins,
    estimate,
    number,
    web_address,
)
from brainscore_web.leaderboard.cards.scores import (
    ScoreLine,
    by_state,
    has_ceiling,
    line_of,
    load_lines,
    node_ranks,
    reason_of,
    score_cell,
)
from brainscore_web.leaderboard.cards.validity import AssessmentKey, assessment_keys
from brainscore_web.leaderboard.clean import finite, or_nan
from brainscore_web.leaderboard.descriptions import data_access, plain_name
from brainscore_web.leaderboard.models import Benchmark, BenchmarkVersion, Score, StimulusSample, Visitor
from brainscore_web.leaderboard.simulation import is_simulated
from brainscore_web.leaderboard.snapshot import STATES as NAMES

_FORMATS = {"csv": "text/csv", "zip": "application/zip", "nc": "application/x-netcdf"}
_PREFIXES = ("stimulus_", "assy_")  # names of packaged files; a receipt also lists those of the model


def croissant_document(benchmark: Benchmark, visitor: Visitor, url: str) -> dict[str, Any]:
    """Return the document of a benchmark, with the files that this visitor may see.

    Files are those of the newest scored receipt that have a SHA-256, which Croissant requires.
    """
    details = benchmark.details if isinstance(benchmark.details, dict) else {}
    shows_data = benchmark.shows_data_to(visitor)
    return dataset_document(
        benchmark.identifier,
        description=benchmark.description or _description(benchmark),
        license=str(details.get("data_licence") or "") or None,
        terms=str(details.get("data_terms") or "") or None,
        citation=benchmark.bibtex.strip() or None,
        distribution=_files(benchmark, visitor) if shows_data else [],
        url=url,
        sameAs=web_address(benchmark.source) or None,
        conditionsOfAccess=data_access(benchmark.access, has_access=shows_data).sentence,
    )


def _description(benchmark: Benchmark) -> str:
    name = plain_name(benchmark)
    return f"Stimuli and measurements of the benchmark {benchmark.identifier}{f': {name}' if name else ''}."


def _files(benchmark: Benchmark, visitor: Visitor) -> list[dict[str, Any]]:
    scores = Score.objects.visible_to(visitor).filter(benchmark=benchmark, state="scored").order_by("-created")
    document = scores.values_list("document", flat=True).first()
    files = document.get("files") if isinstance(document, dict) else None
    entries: dict[str, dict[str, Any]] = {}
    for file in files if isinstance(files, list) else []:
        address, sha256 = (file.get("url"), file.get("sha256")) if isinstance(file, dict) else (None, None)
        if not (isinstance(address, str) and isinstance(sha256, str) and web_address(address)):
            continue
        name = unquote(urlsplit(address).path).rpartition("/")[2]
        kind = _FORMATS.get(name.rpartition(".")[2])
        if kind is not None and name.startswith(_PREFIXES):
            entries[name] = {
                "@type": "cr:FileObject",
                "@id": name,
                "name": name,
                "contentUrl": address,
                "encodingFormat": kind,
                "sha256": sha256,
            }
    return list(entries.values())


_MEANINGS = {
    "reliability": (
        "How well repeated measurements agree with each other. A model cannot be expected to predict more than the "
        "reliable part."
    ),
    "upper bound": "An upper bound: what the best possible model would reach, given how much subjects differ.",
    "human-human": (
        "How well people agree with each other. A model that reaches it is as similar to people as they are to each "
        "other."
    ),
}


class Sample(NamedTuple):
    """A stimulus to show."""

    pk: int
    name: str
    caption: str


@dataclass(frozen=True, kw_only=True)
class BenchmarkData:
    """Data of a benchmark from the database, in addition to its row and the snapshot."""

    scores: Mapping[int, ScoreLine]  # scores of all models that the visitor sees, by primary key
    versions: Sequence[BenchmarkVersion]  # newest first
    samples: Sequence[Sample] = ()  # samples of stimuli; empty if the visitor may not see them
    shows_data: bool = False  # whether the visitor may see stimuli and measurements
    packaged: bool = True  # whether the benchmark is part of an installed package
    models: frozenset[str] = frozenset()  # installed models
    assessments: tuple[AssessmentKey, ...] = ()  # newest assessments that the visitor may see


SAMPLES_SHOWN = 8
"""Number of samples of stimuli on a card, evenly spread over all of them."""


def find_benchmark(identifier: str) -> Benchmark | None:
    """Return the benchmark or mean; all of them are public."""
    return Benchmark.objects.select_related("owner", "lab").filter(identifier=identifier).first()


def near_benchmarks(identifier: str, domain: str) -> list[str]:
    """Return similar identifiers of benchmarks of a domain."""
    return nearest(identifier, Benchmark.objects.filter(domain=domain).values_list("identifier", flat=True))


def benchmark_data(benchmark: Benchmark, visitor: Visitor) -> BenchmarkData:
    """Return the data of a benchmark, with four queries; empty for a mean."""
    shows_data = not benchmark.is_mean and benchmark.shows_data_to(visitor)
    if benchmark.is_mean:
        return BenchmarkData(scores={}, versions=())
    samples = list(StimulusSample.objects.filter(benchmark=benchmark)) if shows_data else []
    shown = np.unique(np.linspace(0, len(samples) - 1, min(SAMPLES_SHOWN, len(samples))).round().astype(int))
    return BenchmarkData(
        scores=load_lines(Score.objects.visible_to(visitor).filter(benchmark=benchmark), visitor),
        versions=list(benchmark.versions.all()),
        samples=[Sample(row.pk, row.filename, row.caption) for row in map(samples.__getitem__, shown)],
        shows_data=shows_data,
        packaged=benchmark.identifier in installed(benchmark.domain, "benchmark"),
        models=installed(benchmark.domain, "model"),
        assessments=assessment_keys(benchmark, visitor),
    )


def benchmark_card(benchmark: Benchmark, board: Board, data: BenchmarkData) -> dict[str, Any]:
    """Return the content of the card of a benchmark or a mean."""
    place = board.place(benchmark.identifier)
    mean = benchmark.is_mean
    values = board.values[:, place] if place >= 0 else np.array([])
    axis = axis_of(values, board.low[:, place], board.high[:, place]) if place >= 0 else Axis(0.0, 1.0)
    return {
        "domain": benchmark.domain,
        "identifier": benchmark.identifier,
        "title": str(benchmark),
        "description": benchmark.description,
        "credit": benchmark.credit,
        "distribution": distribution_of(benchmark.details) if data.packaged else "",
        "owner": benchmark.owner,
        "lab": benchmark.lab,
        "source": web_address(benchmark.source),
        "is_mean": mean,
        "control": benchmark.control,
        "in_tree": mean or place < 0 or board.snapshot.benchmarks[board.nodes[place].column].in_tree,
        "path": _path(board, benchmark, place),
        "facts": () if mean else benchmark_facts(benchmark),
        "notes": notes_of(benchmark.details),
        "plain_name": "" if mean else plain_name(benchmark) or benchmark.title,
        "withheld": not mean and benchmark.access != "public",
        "shows_data": data.shows_data,
        "data": "" if mean else data_access(benchmark.access, has_access=data.shows_data).sentence,
        "samples": tuple(data.samples) if data.shows_data else (),
        "ceiling": None if mean else _ceiling(benchmark, data.versions),
        "no_ceiling": any(version.ceiling_meaning == "none" for version in _counting(benchmark, data.versions)),
        "children": tuple(_children(board, place)),
        "models": tuple(_models(board, place, data, axis)) if place >= 0 else (),
        "condition": board.condition(place) if place >= 0 else "",
        "untested": "" if place < 0 or node_ranks(board, place).ranks.tested.any() else why_untested(board, place),
        "unscored": by_state(_unscored(board, place, data)) if place >= 0 else (),
        "doubtful": place >= 0 and bool(board.verification[:, place].any()),
        "axis": axis,
        "bins": bins(values, axis) if place >= 0 and np.isfinite(values).any() else (),
        "best": number(float(board.node_best[place])) if place >= 0 else "",
        "median": number(float(board.node_median[place])) if place >= 0 else "",
        "median_value": finite(float(board.node_median[place])) if place >= 0 else None,
        "versions": () if mean else tuple(_versions(benchmark, data)),
        "code": None
        if mean or (is_simulated(benchmark.identifier) and not distribution_of(benchmark.details))
        else benchmark_code(
            domain(benchmark.domain),
            benchmark.identifier,
            _example(benchmark, board, place, data.models),
            public=benchmark.access == "public",
            packaged=data.packaged,
            distribution=distribution_of(benchmark.details),
        ),
        "citation": citation_of(benchmark.bibtex, benchmark.identifier, benchmark.source),
    }


def models_chart(card: dict[str, Any], most: int | None = None) -> Svg:
    """Draw the scores of models on a benchmark with intervals, highest first."""
    median = card["median_value"]
    marks = () if median is None else (Mark(value=median, kind="median"),)
    rows = [
        DotsRow(
            label=model["title"],
            value=model["value"],
            low=or_nan(model["low"]),
            high=or_nan(model["high"]),
            href=reverse("cards:model", args=[card["domain"], model["identifier"]]),
            marks=marks,
            text=model["score"],
        )
        for model in card["models"][:most]
    ]
    return dots_with_intervals(
        Dots(rows=rows, title=f"Models on {card['title']}", x_title="score", width=640, identifier="models-chart")
    )


def records_chart(card: dict[str, Any]) -> Svg:
    """Draw the best score over the dates of the receipts that count; empty if it did not change."""
    records: list[dict[str, Any]] = []
    for model in sorted(card["models"], key=lambda model: (model["created"], -model["value"])):
        if model["created"] and (not records or model["value"] > records[-1]["value"]):
            records.append(model)
    days = {record["created"]: record for record in records}  # the best of each day
    if len(days) < 2:
        return Svg("")
    labels = [f"{day}: {record['title']}, {record['score']}" for day, record in days.items()]
    return lines(
        Lines(
            series=[
                Series(
                    name="best score",
                    x=[date.fromisoformat(day) for day in days],
                    y=[record["value"] for record in days.values()],
                    low=[or_nan(record["low"]) for record in days.values()],
                    high=[or_nan(record["high"]) for record in days.values()],
                    labels=labels,
                    hrefs=[
                        reverse("cards:model", args=[card["domain"], record["identifier"]]) for record in days.values()
                    ],
                )
            ],
            title=f"Best score on {card['title']} over time",
            description=f"{'; '.join(labels)}.",
            x_title="date of the receipt",
            y_title="best score",
            width=360,
            height=220,
            identifier="records-chart",
        )
    )


def _path(board: Board, benchmark: Benchmark, place: int) -> tuple[tuple[str, str], ...]:
    tree = board.snapshot.tree
    if benchmark.identifier in tree:
        above = tree.ancestors(benchmark.identifier)
        return tuple((name, tree[name].title or name) for name in reversed(above))
    return ()


def _example(benchmark: Benchmark, board: Board, place: int, installed: frozenset[str]) -> str:
    """Return an example model: the best installed one with a score, otherwise one that the domain names."""
    if place >= 0:
        for row in np.argsort(-board.values[:, place], kind="stable").tolist():  # NaN comes last
            model = board.models[row]
            if not np.isfinite(board.values[row, place]):
                break
            if model.identifier in installed and model.runnable and not model.private:
                return model.identifier
    return domain(benchmark.domain).wording.model


def _counting(benchmark: Benchmark, versions: Sequence[BenchmarkVersion]) -> Sequence[BenchmarkVersion]:
    """Return the version whose scores count, if known; the newest one if all versions count."""
    return [row for row in versions if row.version == benchmark.version or not benchmark.version][:1]


def _ceiling(benchmark: Benchmark, versions: Sequence[BenchmarkVersion]) -> dict[str, Any] | None:
    version = next(iter(_counting(benchmark, versions)), None)
    if version is None or version.ceiling is None or version.ceiling_meaning == "none":
        return None
    return {
        "text": estimate(
            version.ceiling,
            version.ceiling_error,
            version.ceiling_low,
            version.ceiling_high,
            level=version.ceiling_level,
        ),
        "meaning": version.ceiling_meaning,
        "words": _MEANINGS.get(version.ceiling_meaning, ""),
        "estimates": version.ceiling_estimates,
        "reason": version.ceiling_reason,
        "lower_bound": "" if version.lower_bound is None else number(version.lower_bound),
    }


def _children(board: Board, place: int) -> Iterable[dict[str, Any]]:
    for at in children_of(board.nodes).get(place, ()) if place >= 0 else ():
        node = board.nodes[at]
        yield {
            "identifier": node.identifier,
            "title": node.title,
            "kind": node.kind,
            "n_benchmarks": node.n_benchmarks,
            "best": number(float(board.node_best[at])),
            "median": number(float(board.node_median[at])),
        }


def _models(board: Board, place: int, data: BenchmarkData, axis: Axis) -> Iterable[dict[str, Any]]:
    tested = node_ranks(board, place)
    ranks, groups = tested
    marks = {
        "median": finite(float(board.node_median[place])), "ceiling": 1.0 if has_ceiling(board)[place] else None
    }  # fmt: skip
    ties = {rank for rank, count in zip(*np.unique(ranks.rank, return_counts=True), strict=True) if count > 1}
    values = board.values[:, place]
    order = sorted(
        np.flatnonzero(np.isfinite(values)).tolist(),
        key=lambda row: (ranks.rank[row] <= 0, -values[row], board.models[row].identifier),
    )
    for row in order:
        model, rank = board.models[row], int(ranks.rank[row])
        yield {
            **score_cell(board, row, place, line_of(board, row, place, data.scores), axis, **marks),
            "identifier": model.identifier,
            "title": model.title,
            "private": model.private,
            "rank": f"{rank}{'=' if rank in ties else ''}" if rank > 0 else "–",
            "places": tested.places(row),
            "group": groups[row],
        }


def _unscored(board: Board, place: int, data: BenchmarkData) -> Iterable[tuple[str, tuple[str, str, str]]]:
    rows = np.flatnonzero(~np.isfinite(board.values[:, place])).tolist()
    for row, model in sorted(((row, board.models[row]) for row in rows), key=lambda item: item[1].identifier):
        state = NAMES[board.states[row, place]]
        reason = reason_of(state, line_of(board, row, place, data.scores), None, None)
        yield state, (model.identifier, model.title, reason)


def _versions(benchmark: Benchmark, data: BenchmarkData) -> Iterable[dict[str, Any]]:
    scored: dict[str, dict[str, float]] = {}  # of each version: the newest score of each model
    for line in data.scores.values():  # oldest first
        if line.state == "scored":
            scored.setdefault(line.version, {})[line.model] = or_nan(line.value)
    for row, before in zip_longest(data.versions, data.versions[1:]):
        yield {
            "version": row.version,
            "since": f"{row.since:%Y-%m-%d}",
            "ceiling": estimate(
                row.ceiling, row.ceiling_error, row.ceiling_low, row.ceiling_high, level=row.ceiling_level
            ),
            "changes": row.changes,
            "facts": () if before is None else _differences(row, before, scored),
            "n_models": len(scored.get(row.version, ())),
            "current": row.version == benchmark.version,
        }


def _differences(
    row: BenchmarkVersion, before: BenchmarkVersion, scored: Mapping[str, Mapping[str, float]]
) -> tuple[str, ...]:
    """Return what differs between two versions of a benchmark, as far as ceilings, conditions and scores tell."""
    ceilings = [number(version.ceiling) for version in (before, row)]
    facts = [f"ceiling {ceilings[0]} → {ceilings[1]}"] if ceilings[0] != ceilings[1] else []
    if row.condition != before.condition:
        facts.append(f"scores hold for {row.condition or 'new subjects, too'}")
    earlier, later = (scored.get(version.version, {}) for version in (before, row))
    changes = [later[model] - earlier[model] for model in earlier.keys() & later.keys()]
    known = [change for change in changes if np.isfinite(change)]
    if known:
        median = number_text(float(np.median(known)), plus=True)
        facts.append(f"median change of the score of {counted(len(known), 'model')}: {median}")
    return tuple(facts)
