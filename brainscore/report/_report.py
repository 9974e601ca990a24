"""All that a report shows, put together from receipts."""

from __future__ import annotations

import json
import math
from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, TypeVar

from markupsafe import Markup

from brainscore.report._board import Board, board_of, newest_of_each
from brainscore.report._view import Group, Row, Scale, View, short, view_of
from brainscore_core.domains import Domain
from brainscore_core.domains import domain as domain_named
from brainscore_core.formatting import estimate_text
from brainscore_core.identifiers import series_point, states_of_models
from brainscore_core.numerics.influence import ScoreInfluence
from brainscore_core.paths import layer_profiles_home
from brainscore_core.receipts.assessment import PARTS, QUESTION_PARTS, Assessment, Controls, ControlScore, Recovery
from brainscore_core.results.aggregates import Over, Tree
from brainscore_core.results.layer_profile import LayerProfile, LayerScore
from brainscore_core.results.validity import Summary, summary_of
from brainscore_core.scoring import Environment, PluginCode, Problem, Receipt
from brainscore_core.training_data import Finding

if TYPE_CHECKING:
    from brainscore_core.statistics.comparison import Ranking


_PICTURES = 2_000_000  # characters of all pictures of similar stimuli in a report


@dataclass(frozen=True)
class AssessedPart:
    """One part of the assessment of a benchmark."""

    assessment: Assessment  # as it is stored
    summary: Summary  # what it says
    changed: tuple[str, ...] = ()  # plugins whose code has changed since, or is not installed

    @property
    def origin(self) -> str:
        """Date, version of the benchmark, and models."""
        version = self.assessment.benchmark.version
        texts = [(self.assessment.created or "unknown date")[:10]]
        texts += [] if version is None else [f"version {version} of the benchmark"]
        texts += [f"with {', '.join(model.identifier for model in self.assessment.models)}"] * bool(
            self.assessment.models
        )
        return ", ".join(texts)


@dataclass(frozen=True)
class Validity:
    """Assessments of one benchmark."""

    benchmark: str  # its identifier
    # the newest
    audit: AssessedPart | None = None
    controls: tuple[AssessedPart, ...] = ()  # the newest of each model, the newest first
    recovery: AssessedPart | None = None
    questions: tuple[AssessedPart, ...] = ()  # answers to questions, the newest first
    # older audits with other models and recoveries with other candidates, which are not shown
    others: tuple[str, ...] = ()

    @property
    def parts(self) -> tuple[tuple[str, AssessedPart], ...]:
        """All parts that are shown, with their names; of answers to questions the newest."""
        named = [
            ("audit", self.audit),
            *(("controls", assessed) for assessed in self.controls),
            ("recovery", self.recovery),
            *(("questions", answer) for answer in self.questions[:1]),
        ]
        return tuple((name, assessed) for name, assessed in named if assessed is not None)

    @property
    def missing(self) -> tuple[str, ...]:
        """Names of parts that are not stored."""
        there = {name for name, _ in self.parts}
        return tuple(name for name in PARTS if name not in there)

    @property
    def recovery_result(self) -> Recovery:
        """Result of the recovery; an empty one without a recovery."""
        result = None if self.recovery is None else self.recovery.summary.result
        return result if isinstance(result, Recovery) else Recovery()

    @property
    def controls_results(self) -> tuple[Controls, ...]:
        """Results of the baseline models that were assessed, the newest first."""
        results = [assessed.summary.result for assessed in self.controls]
        return tuple(result for result in results if isinstance(result, Controls))

    @property
    def by_model(self) -> dict[str, Controls]:
        """Model → baseline models beside it."""
        return {result.model: result for result in self.controls_results if result.model is not None}

    @property
    def control_scores(self) -> tuple[ControlScore, ...]:
        """Controls of all models, baselines first; equal ones once, of others the name tells the model."""
        by_name: dict[str, list[tuple[str, ControlScore]]] = {}
        for result in self.controls_results:
            for control in result.controls:
                alike = by_name.setdefault(control.name, [])
                if not any(_same(control, alike_one) for _, alike_one in alike):
                    alike.append((result.model or "no model", control))
        scores = []
        for name, alike in by_name.items():
            scored = [(model, control) for model, control in alike if control.score is not None] or alike[:1]
            for model, control in scored:
                scores.append(replace(control, name=name if len(scored) == 1 else f"{name} ({model})"))
        return tuple(sorted(scores, key=lambda control: control.kind != "baseline"))


def validity_of(assessments: Iterable[Assessment], benchmarks: Sequence[str]) -> dict[str, Validity]:
    """Sort assessments by benchmark."""
    newest: dict[tuple[str, ...], Assessment] = {}
    for assessment in sorted(assessments, key=lambda assessment: assessment.id or ""):
        models = (model.identifier for model in assessment.models)
        newest[assessment.benchmark.identifier, assessment.part, assessment.topic, *models] = assessment
    by_benchmark: dict[str, list[AssessedPart]] = {}
    size = 0
    for assessment in sorted(newest.values(), key=lambda assessment: assessment.id or "", reverse=True):
        if assessment.benchmark.identifier in benchmarks:
            summary = summary_of(assessment)
            size += sum(len(pair.first_picture) + len(pair.second_picture) for pair in summary.pictures)
            if size > _PICTURES:
                summary = replace(summary, pictures=())
            assessed = AssessedPart(
                assessment, summary, domain_named().feature("assessment").changed_plugins(assessment)
            )
            by_benchmark.setdefault(assessment.benchmark.identifier, []).append(assessed)
    validities = {}
    for name in benchmarks:
        assessed_parts = by_benchmark.get(name)
        if assessed_parts is None:
            continue
        of_kind = {
            kind: [assessed for assessed in assessed_parts if assessed.assessment.part == kind] for kind in PARTS
        }
        validities[name] = Validity(
            benchmark=name,
            audit=next(iter(of_kind["audit"]), None),
            controls=tuple(of_kind["controls"]),
            recovery=next(iter(of_kind["recovery"]), None),
            questions=tuple(
                each
                for each in assessed_parts
                if each.assessment.part in QUESTION_PARTS and each.summary.result is not None
            ),
            others=tuple(
                f"{kind} ({assessed.origin})" for kind in ("audit", "recovery") for assessed in of_kind[kind][1:]
            ),
        )
    return validities


def _same(one: ControlScore, other: ControlScore) -> bool:
    if one.score is None or other.score is None:
        return one.score is other.score
    return abs(one.score - other.score) < 1e-9


_MOST_FACTS = 40
_Item = TypeVar("_Item")


def cards_of(
    view: View, board: Board, states: Mapping[str, Sequence[Receipt]] = MappingProxyType({})
) -> tuple[dict[str, Any], ...]:
    """One card a model for `card.html.j2`, in the leaderboard's order; `states`: receipts of models with several."""
    order = {board.nodes[row_number].identifier: number for number, row_number in enumerate(board.benchmarks)}
    rows: dict[str, list[Row]] = {model: [] for model in board.models}
    for group in view.groups:
        for row in group.rows:
            rows[row.model].append(row)
    cards = []
    for row_number, model in enumerate(board.models):
        its = sorted(rows[model], key=lambda row: (order[row.benchmark], row.benchmark))
        cards.append(_card(model, row_number, its) | {"states": tuple(states.get(model, ()))})
    return tuple(cards)


def sources_of(group: Group) -> dict[str, Any]:
    """Gather what the receipts of one benchmark say about its code and data."""
    receipts = [row.receipt for row in group.rows]
    newest = max(receipts, key=lambda receipt: receipt.id)
    return {
        "plugins": _facts(_plugin(receipt.benchmark.plugin) for receipt in receipts),
        "data": _facts(
            f"{item.identifier} ({item.kind.replace('_', ' ')})" for r in receipts for item in _unique(r.data)
        ),
        "files": _facts(f"{item.url} {short(item.sha256 or item.sha1)}" for r in receipts for item in _unique(r.files)),
        "methods": _facts(
            f"{receipt.score.ci_method}; {receipt.score.ci_estimates}"
            for receipt in receipts
            if receipt.score and receipt.score.ci_method
        ),
        "bibtex": newest.benchmark.bibtex,
        "n": len(receipts),
    }


def _plugin(plugin: PluginCode | None) -> str:
    if plugin is None:
        return "unknown"
    package = f"{plugin.distribution} {plugin.version}, " if plugin.distribution else ""
    return f"{plugin.name} ({package}sha256 {short(plugin.sha256)})"


def _environment(environment: Environment) -> str:
    packages = ", ".join(f"{name} {version}" for name, version in sorted(environment.packages.items()))
    texts = [environment.python, packages, environment.platform, environment.cpu or ""]
    return "; ".join(text for text in texts if text) or "unknown"


def _card(model: str, place: int, rows: Sequence[Row]) -> dict[str, Any]:
    receipts = [row.receipt for row in rows]
    totals = [receipt.timings.total for receipt in receipts if receipt.timings.total is not None]
    extraction = [receipt.timings.extraction for receipt in receipts if receipt.timings.extraction is not None]
    peaks = [receipt.memory.peak_bytes for receipt in receipts if receipt.memory.peak_bytes is not None]
    return {
        "model": model,
        "place": place,
        "rows": tuple(rows),
        "plugins": _facts(_plugin(receipt.model.plugin) for receipt in receipts),
        "weights": _facts(
            f"{item.identifier} (sha256 {short(item.sha256)})" for r in receipts for item in _unique(r.weights)
        ),
        "environments": _environments(receipts),
        "devices": _facts(receipt.device for receipt in receipts),
        "angles": _facts(_angle(receipt) for receipt in receipts),
        "runs": _facts(_run(receipt) for receipt in receipts if receipt.run is not None),
        "seconds": sum(totals) if totals else None,
        "extraction": sum(extraction) if extraction else None,
        "peak": max(peaks, default=None),
        "newest": max((receipt.created for receipt in receipts), default="")[:16].replace("T", " "),
    }


def _angle(receipt: Receipt) -> str:
    """Visual angle of the model, without scores at other angles."""
    angle = receipt.model.visual_angle
    return "not recorded" if angle is None else replace(angle, others=()).text()


def _environments(receipts: Sequence[Receipt]) -> list[tuple[str, int]]:
    texts: dict[int, str] = {}  # many receipts share one object
    for receipt in receipts:
        if id(receipt.environment) not in texts:
            texts[id(receipt.environment)] = _environment(receipt.environment)
    return _facts(texts[id(receipt.environment)] for receipt in receipts)


def _run(receipt: Receipt) -> str:
    run = receipt.run
    if run is None:
        return ""
    where = f", isolated in environment {(run.environment or 'unknown')[:12]}" if run.isolated else ""
    packages = ", ".join(f"{name} {version}" for name, version in sorted(run.packages.items()))
    return f"{run.id}{where}" + (f": {packages}" if packages else "")


def _unique(items: Iterable[_Item]) -> list[_Item]:
    return list(dict.fromkeys(items))


def _facts(texts: Iterable[str]) -> list[tuple[str, int]]:
    """Texts with how many of the receipts they hold for, the most frequent first."""
    ordered = sorted(Counter(texts).items(), key=lambda item: (-item[1], item[0]))
    more = [(f"and {len(ordered) - _MOST_FACTS} more", 0)] if len(ordered) > _MOST_FACTS else []
    return ordered[:_MOST_FACTS] + more


@dataclass(frozen=True)
class Report:
    """What a page, figures and tables are made of."""

    view: View  # receipts by benchmark
    board: Board  # the leaderboard
    cards: tuple[dict[str, Any], ...]  # one a model
    profiles: tuple[LayerProfile, ...] = ()  # scores of layers
    log_ends: Mapping[str, str] = field(default_factory=dict)  # receipt's id → the last of what a failed pair printed
    remarks: tuple[str, ...] = ()  # what the reader should know of the choice that was made
    # benchmark → what its scores are worth; without benchmarks that were not assessed
    validity: Mapping[str, Validity] = field(default_factory=dict)
    # (model, benchmark) → whether the model was trained on the stimuli
    exposure: Mapping[tuple[str, str], Finding] = field(default_factory=dict)
    # benchmark → ranks with intervals; from :func:`rankings_of`
    rankings: Mapping[str, Ranking] = field(default_factory=dict)

    @property
    def groups(self) -> tuple[tuple[int, Group], ...]:
        """Benchmarks with their places on the leaderboard, in its order."""
        by_name = {group.benchmark: group for group in self.view.groups}
        return tuple((index, by_name[self.board.nodes[index].identifier]) for index in self.board.benchmarks)


def report_of(
    receipts: Sequence[Receipt],
    problems: Iterable[Problem] = (),
    *,
    domain: Domain | None = None,
    tree: Tree | None = None,
    over: Over = "all",
    profiles: Sequence[LayerProfile] = (),
    log_ends: Mapping[str, str] | None = None,
    remarks: Sequence[str] = (),
    influences: Mapping[str, ScoreInfluence] | None = None,
    assessments: Iterable[Assessment] = (),
) -> Report:
    """Put a report together, of any number of receipts of each model and benchmark.

    The newest of the tree's version counts; of benchmarks outside the tree the newest. By default, domain and tree are
    those of vision. Models are ordered by the means `over` ``'all'`` or ``'scored'`` benchmarks. Without `influences`,
    by id of the receipt, means of several scores have no standard error. Assessments of benchmarks without a receipt
    are not shown.
    """
    domain = domain or domain_named()
    tree = domain.tree() if tree is None else tree
    states = states_of_models(receipt.model.identifier for receipt in receipts)
    trained = {listed: several for listed, several in states.items() if len(several) > 1}
    by_state = newest_of_each(receipts)
    board = board_of(
        [receipt for receipt in receipts if receipt.model.identifier in states],
        tree,
        over=over,
        influences=influences,
        table=domain.table,
    )
    outdated = {pair for pair, state in board.states.items() if state == "outdated"}
    view = view_of(board.receipts.values(), problems, outdated=outdated)
    return Report(
        view=view,
        board=board,
        cards=cards_of(
            view,
            board,
            {
                listed: [receipt for (model, _), receipt in sorted(by_state.items()) if model in several]
                for listed, several in trained.items()
            },
        ),
        profiles=tuple(profiles),
        log_ends=dict(log_ends or {}),
        remarks=(*remarks, *_training_remarks(trained)),
        exposure=domain.exposure(pair for pair, state in board.states.items() if state == "scored"),
        validity=validity_of(assessments, [board.nodes[index].identifier for index in board.benchmarks]),
    )


def _training_remarks(trained: Mapping[str, Sequence[str]]) -> Iterable[str]:
    for listed, states in trained.items():
        yield (
            f"{series_point(listed).model} has {len(states)} states, of epochs or seeds of its training. It is listed "
            f"as {listed}; all states are under Models."
        )


def find_profiles(models: Collection[str], folder: Path | None = None) -> tuple[LayerProfile, ...]:
    """Read the profiles of some models, by default from ``$BRAINSCORE_HOME/layers``.

    One of each model and benchmark, sorted by both: of several the one with halves, then the one of most layers. Files
    that cannot be read are left out, as the selection itself leaves them out.
    """
    files = sorted((folder or layer_profiles_home()).glob("*/*.json"))
    if not files:
        return ()
    profiles: dict[tuple[str, str], LayerProfile] = {}
    for file in files:
        try:
            profile = LayerProfile.from_dict(json.loads(file.read_text(encoding="utf-8")))
        except (OSError, ValueError, KeyError, TypeError, IndexError):
            continue
        if profile.model not in models or not profile.scores:
            continue
        pair = (profile.model, profile.benchmark)
        if pair not in profiles or _completeness(profile) > _completeness(profiles[pair]):
            profiles[pair] = profile
    return tuple(profiles[pair] for pair in sorted(profiles))


def _completeness(profile: LayerProfile) -> tuple[bool, int, str]:
    return (profile.held_out is not None, len(profile.scores), profile.version)


def layer_rows(profile: LayerProfile) -> dict[str, Any]:
    """Write and draw a profile's layers, in the network's order."""
    values = [0.0, 1.0]
    for score in profile.scores:
        values += [value for value in (score.score, *score.ci) if math.isfinite(value)]
    scale = Scale(max(min(values), -0.5), min(max(values), 1.5))
    ceiled = math.isfinite(profile.ceiling)
    held_out, best = profile.held_out, profile.best
    shares = held_out.chosen if held_out else {}
    return {
        "axis": scale.axis(),
        "ceiled": ceiled,
        "rows": [
            {
                "layer": score.layer,
                "best": score.layer == best,
                "mark": _mark(scale, score, ceiled),
                "score": estimate_text(score.score, error=score.error, ci=score.ci, brief=True),
                "chosen": f"{shares.get(score.layer, 0):.0%}" if held_out else "–",
                "reason": score.reason,
            }
            for score in profile.scores
        ],
    }


def _mark(scale: Scale, score: LayerScore, ceiled: bool) -> Markup:
    value = _finite(score.score)
    if value is None:
        return Markup()
    return scale.mark(value, score.ci if _has_interval(score) else None, filled=ceiled, ceiling=ceiled)


def _has_interval(score: LayerScore) -> bool:
    return math.isfinite(score.ci[0]) and math.isfinite(score.ci[1])


def _finite(value: float) -> float | None:
    return value if math.isfinite(value) else None
