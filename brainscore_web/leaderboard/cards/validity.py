"""The *validity* panel on the card of a benchmark: what its assessments say.

Results of assessments are read tolerantly, as their fields may differ between versions: what is missing is left out.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final, NamedTuple

from django.utils.safestring import SafeString

from brainscore_core.formatting import count_text, number_text, p_text, range_text
from brainscore_core.plurals import plural
from brainscore_core.results.validity import PairPictures, condition_of_tests, pair_pictures
from brainscore_web.leaderboard.assessments import MOST_MISSED, outcome_of
from brainscore_web.leaderboard.cards.formatting import Axis, axis_of, bar, estimate
from brainscore_web.leaderboard.clean import number, objects_in, or_nan, text
from brainscore_web.leaderboard.models import Benchmark, StoredAssessment, Visibility, Visitor
from brainscore_web.leaderboard.withheld import WITHHELD, withheld_assessment

_LEVEL: Final = 0.05
_MOST: Final = 100  # rows of a table
_MEANINGS = {
    "baseline": "This does not make the score invalid: so simple a description of the stimuli may score as well.",
    "artefact check": "The score may come from something other than what is in the stimuli.",
}
_KINDS = {
    "equal files": "Equal files",
    "near-duplicates": "Near-duplicates",
    "repetitions": "Equal repetitions",
    "stimuli": "Equal responses to different stimuli",
    "autocorrelation": "Successive responses are correlated",
    "drift": "Responses drift over time",
}


class AssessmentKey(NamedTuple):
    """Identifies an assessment without its content."""

    identifier: str
    part: str


@dataclass(frozen=True)
class Origin:
    """When and with what an assessment was computed: texts; `outdated` is another version than the one that counts."""

    identifier: str
    day: str
    version: str
    code: str
    outdated: bool


@dataclass(frozen=True)
class Missing:
    """A part without a result, and why."""

    part: str
    state: str
    reason: str
    origin: Origin


@dataclass(frozen=True)
class ControlLine:
    """The score of a baseline model, and the paired difference of the model to it."""

    name: str
    kind: str
    description: str
    score: str
    bar: SafeString
    difference: str
    p: str
    reason: str


@dataclass(frozen=True)
class ModelLine:
    """A model beside the baseline models."""

    identifier: str
    score: str
    best: str
    difference: str
    above: str
    origin: Origin


@dataclass(frozen=True)
class ControlsPanel:
    """Baseline models: those of the newest assessment, and all models that were assessed."""

    origin: Origin
    model: str
    score: str
    bar: SafeString
    axis: tuple[str, str]
    lines: tuple[ControlLine, ...]
    sentences: tuple[str, ...]
    condition: str
    models: tuple[ModelLine, ...]


@dataclass(frozen=True)
class Examined:
    """What an audit looked for: its name, a sentence, and ``'finding'``, ``'no finding'`` or ``'not examined'``."""

    what: str
    sentence: str
    state: str


@dataclass(frozen=True)
class LossLine:
    """Loss of a score if stimuli that belong together stay on one side of splits."""

    rule: str
    model: str
    default: str
    grouped: str
    loss: str
    p: str
    reason: str


@dataclass(frozen=True)
class AuditPanel:
    """An audit."""

    origin: Origin
    outcome: str
    units: str
    examined: tuple[Examined, ...]
    losses: tuple[LossLine, ...]
    pairs: tuple[str, ...]
    pictures: tuple[PairPictures, ...]
    notes: tuple[str, ...]


class Cell(NamedTuple):
    """How often a candidate scored best, and the shade from 0 to 9."""

    text: str
    shade: int


@dataclass(frozen=True)
class ConfusionTable:
    """Which candidate scores best, by the one that is true."""

    generator: str
    overall: str
    rows: tuple[tuple[str, tuple[Cell, ...], str], ...]


@dataclass(frozen=True)
class RecoveryPanel:
    """A recovery."""

    origin: Origin
    outcome: str
    sentences: tuple[str, ...]
    candidates: tuple[str, ...]
    confusions: tuple[ConfusionTable, ...]
    mixtures: tuple[tuple[str, str, str, str], ...]
    sizes: tuple[tuple[str, str, str, str], ...]
    notes: tuple[str, ...]


@dataclass(frozen=True)
class Validity:
    """Content of the panel.

    Attributes
    ----------
    controls, audit, recovery
        The parts; None if not assessed.
    missing : tuple of Missing
        Parts whose newest assessment has no result.
    withheld : bool
        Whether texts are left out since the benchmark's data are private.
    command : str
        How to compute an assessment.
    not_assessed : tuple of str
        Parts without an assessment.
    """

    controls: ControlsPanel | None = None
    audit: AuditPanel | None = None
    recovery: RecoveryPanel | None = None
    missing: tuple[Missing, ...] = ()
    withheld: bool = False
    command: str = ""
    not_assessed: tuple[str, ...] = ()

    @property
    def assessed(self) -> bool:
        """Whether there is any assessment."""
        return bool(self.controls or self.audit or self.recovery or self.missing)


def assessment_keys(benchmark: Benchmark, visitor: Visitor) -> tuple[AssessmentKey, ...]:
    """Return the newest assessments that the visitor may see, newest first, with one query."""
    rows = StoredAssessment.objects.visible_to(visitor).newest().filter(benchmark=benchmark)
    return tuple(AssessmentKey(*row) for row in rows.values_list("identifier", "part"))


def load_validity(benchmark: Benchmark, keys: Sequence[AssessmentKey], *, shows_data: bool) -> Validity:
    """Read the assessments and return the panel, with at most one query."""
    identifiers = [key.identifier for key in keys]
    rows = StoredAssessment.objects.newest().filter(identifier__in=identifiers) if identifiers else ()
    documents = [row.document for row in rows if row.document is not None]
    if not shows_data:
        documents = [withheld_assessment(document) for document in documents]
    return validity_of(benchmark, documents, withheld=not shows_data)


def validity_of(benchmark: Benchmark, documents: Iterable[Mapping[str, Any]], *, withheld: bool = False) -> Validity:
    """Return the panel."""
    assessed: dict[str, list[Mapping[str, Any]]] = {part: [] for part in StoredAssessment.Part.values}
    missing: dict[str, Missing] = {}
    for document in documents:
        part = str(document.get("part"))
        if isinstance(document.get("result"), dict):
            assessed.setdefault(part, []).append(document)
        else:
            state, reason = str(document.get("state")), str(document.get("reason") or "").strip()
            first = reason.splitlines()[0][:300] if reason else ""
            missing.setdefault(part, Missing(part, state, first, _origin(benchmark, document)))
    controls, audits, recoveries = (assessed[part] for part in ("controls", "audit", "recovery"))
    return Validity(
        controls=_controls(benchmark, controls) if controls else None,
        audit=_audit(benchmark, audits) if audits else None,
        recovery=_recovery(benchmark, recoveries[0]) if recoveries else None,
        missing=tuple(missing[part] for part in assessed if part in missing and not assessed[part]),
        withheld=withheld,
        command=f"brainscore assess {benchmark.identifier}",
        not_assessed=tuple(part for part in assessed if not assessed[part] and part not in missing),
    )


def _origin(benchmark: Benchmark, document: Mapping[str, Any]) -> Origin:
    about = document.get("benchmark")
    version = about.get("version") if isinstance(about, dict) else None
    known = "" if version is None else str(version)
    return Origin(
        identifier=str(document.get("id") or ""),
        day=str(document.get("created") or "")[:10],
        version=known,
        code=str(document.get("code") or "")[:12],
        outdated=bool(known and benchmark.version and known != benchmark.version),
    )


def _controls(benchmark: Benchmark, documents: Sequence[Mapping[str, Any]]) -> ControlsPanel:
    document = documents[0]
    result = document["result"]
    model = str(result.get("model") or "")
    rows = objects_in(result, "controls")[:_MOST]
    limits = [value for row in [*rows, result] for value in (number(row.get("score")), *_interval(row))]
    axis = axis_of([or_nan(value) for value in limits])
    low, high = _interval(result)
    return ControlsPanel(
        origin=_origin(benchmark, document),
        model=model,
        score=estimate(number(result.get("score")), None, low, high) if model else "",
        bar=bar(axis, number(result.get("score")), low, high) if model else SafeString(""),
        axis=axis.texts,
        lines=tuple(_control_line(row, axis) for row in rows),
        sentences=tuple(_conclusions(model, rows)) if model else (),
        condition=text(condition_of_tests({"controls": rows}), 200) if model else "",
        models=tuple(
            _model_line(each["result"], _origin(benchmark, each))
            for each in documents[:_MOST]
            if each["result"].get("model")
        ),
    )


def _control_line(row: Mapping[str, Any], axis: Axis) -> ControlLine:
    low, high = _interval(row)
    score = number(row.get("score"))
    difference = _part(row, "difference")
    return ControlLine(
        name=str(row.get("name")),
        kind=str(row.get("kind")),
        description=_text(row, "description"),
        score=estimate(score, None, low, high, none="not scored"),
        bar=SafeString("") if score is None else bar(axis, score, low, high),
        difference=_difference(difference),
        p=_p(number(difference.get("p"))),
        reason=_text(row, "reason") or _text(difference, "reason"),
    )


def _model_line(result: Mapping[str, Any], origin: Origin) -> ModelLine:
    scored = [row for row in objects_in(result, "controls") if number(row.get("score")) is not None]
    best: Mapping[str, Any] = max(scored, key=lambda row: number(row.get("score")) or 0.0, default={})
    tested = [_surpassed(row) for row in scored]
    above = f"{sum(map(bool, tested))} of {len(scored)}" if any(each is not None for each in tested) else "not tested"
    return ModelLine(
        identifier=str(result.get("model")),
        score=estimate(number(result.get("score")), None, *_interval(result)),
        best=str(best.get("name") or ""),
        difference=_difference(_part(best, "difference")),
        above=above,
        origin=origin,
    )


def _surpassed(row: Mapping[str, Any]) -> bool | None:
    """Whether the model is significantly above a baseline model; None if it was not tested."""
    p = number(_part(row, "difference").get("p"))
    return None if p is None else p <= _LEVEL


def _conclusions(model: str, rows: Sequence[Mapping[str, Any]]) -> Iterable[str]:
    scored = [row for row in rows if number(row.get("score")) is not None]
    if scored and all(_surpassed(row) for row in scored):
        yield (
            f"{model} is above each of the {len(scored)} baseline models that have a score (one-sided tests at 5 %, "
            "all of them required)."
        )
    for kind, meaning in _MEANINGS.items():
        names = [str(row.get("name")) for row in scored if row.get("kind") == kind and _surpassed(row) is False]
        if names:
            what = kind if len(names) == 1 else plural(kind)
            yield f"{model} is not significantly above {_list(names)} ({what}). {meaning}"
    if untested := [str(row.get("name")) for row in scored if _surpassed(row) is None]:
        yield f"{model} was not tested against {_list(untested)}."


def _audit(benchmark: Benchmark, documents: Sequence[Mapping[str, Any]]) -> AuditPanel:
    document = documents[0]
    result = document["result"]
    units = result.get("units")
    by = [f"{count:,} by {name}" for name, count in _counts(units)]
    stimuli = result.get("stimuli")
    losses: dict[tuple[str, str], LossLine] = {}
    for each in documents:
        for row in objects_in(each["result"], "losses"):
            losses.setdefault((str(row.get("rule")), str(row.get("model"))), _loss_line(row))
    return AuditPanel(
        origin=_origin(benchmark, document),
        outcome=outcome_of("audit", result),
        units=f"{stimuli:,} stimuli; independent units: {', '.join(by)}" if isinstance(stimuli, int) and by else "",
        examined=tuple(_examined(result))[:_MOST],
        losses=tuple(losses.values())[:_MOST],
        pairs=tuple(_pairs(result)),
        pictures=pair_pictures(objects_in(result, "pairs")) if benchmark.access == Visibility.PUBLIC else (),
        notes=tuple(_texts(result, "notes")),
    )


def _examined(result: Mapping[str, Any]) -> Iterable[Examined]:
    for row in objects_in(result, "overlaps"):
        kind, pairs, share = str(row.get("kind")), number(row.get("pairs")), number(row.get("share"))
        size = f"{_count(row, 'stimuli')} stimuli in {_count(row, 'groups')} groups"
        if share is not None:
            where = f"{100 * share:.0f} % of test stimuli have one of their group among the training stimuli"
        else:
            where = "not examined across splits" + _because(row)
        name = _KINDS.get(kind, f"Stimuli with the same {kind}")
        state = "finding" if pairs or share else "not examined" if share is None else "no finding"
        yield Examined(name, f"{size}; {where}", state)
    for row in objects_in(result, "copies"):
        such = ", ".join(map(str, row["examples"][:3])) if isinstance(row.get("examples"), list) else ""
        sentence = f"{_count(row, 'presentations')} of {_count(row, 'of')} presentations equal an earlier one"
        kind = str(row.get("kind"))
        yield Examined(_KINDS.get(kind, kind), f"{sentence}{', such as ' + such if such else ''}", "finding")
    for row in objects_in(result, "tests"):
        p = number(row.get("p_corrected"))
        within = f", permuted within {row['within']}" if row.get("within") else ""
        value = number_text(number(row.get("value")))
        kind = str(row.get("kind"))
        found = p is not None and p <= _LEVEL
        name = _KINDS.get(kind, kind) if found else kind.capitalize()
        sentence = f"{value} over {row.get('order')} ({row.get('recordings')}{within}); {_p(p)} after Holm’s correction"
        yield Examined(name, sentence, "finding" if found else "no finding")


def _loss_line(row: Mapping[str, Any]) -> LossLine:
    low, high = _interval(row)
    loss = number(row.get("loss"))
    return LossLine(
        rule=str(row.get("rule")),
        model=str(row.get("model")),
        default=estimate(number(row.get("default")), None, *_interval(row, "default_ci")),
        grouped=estimate(number(row.get("grouped")), None, *_interval(row, "grouped_ci")),
        loss="" if loss is None else _signed(loss, low, high),
        p=_p(number(row.get("p"))),
        reason=_text(row, "reason"),
    )


def _pairs(result: Mapping[str, Any]) -> Iterable[str]:
    for pair in objects_in(result, "pairs")[:10]:
        names = [str(pair[name]) for name in ("first", "second") if name in pair]
        if len(names) == 2:
            yield " and ".join(names)


def _recovery(benchmark: Benchmark, document: Mapping[str, Any]) -> RecoveryPanel:
    result = document["result"]
    candidates = tuple(_texts(result, "candidates"))
    confusions = objects_in(result, "confusions")[:10]
    missed = []
    for confusion in confusions:
        for name, found in zip(candidates, objects_in(confusion, "found"), strict=False):
            share = number(found.get("share"))
            if share is not None and share < 1 - MOST_MISSED:
                missed.append(f"{name} in {100 * share:.0f} % ({confusion.get('generator')})")
    outcome = outcome_of("recovery", result)
    sentences = [_recovered(missed, len(candidates))] if outcome else []
    return RecoveryPanel(
        origin=_origin(benchmark, document),
        outcome=outcome,
        sentences=(*sentences, _limits(candidates, _texts(result, "generators"))),
        candidates=candidates,
        confusions=tuple(_confusion(confusion, candidates) for confusion in confusions),
        mixtures=tuple(
            (
                str(row.get("generator")),
                str(row.get("first")),
                str(row.get("second")),
                f"{smallest:g}" if (smallest := number(row.get("smallest"))) is not None else "none" + _because(row),
            )
            for row in objects_in(result, "mixtures")[:_MOST]
        ),
        sizes=tuple(
            (
                str(row.get("generator")),
                _count(row, "stimuli"),
                _count(row, "neuroids"),
                _share(_part(row, "overall")) or "not simulated" + _because(row),
            )
            for row in objects_in(result, "sizes")[:_MOST]
        ),
        notes=tuple(_texts(result, "notes")),
    )


def _recovered(missed: Sequence[str], n: int) -> str:
    least = 100 * (1 - MOST_MISSED)
    if not missed:
        return (
            f"Each of the {n} candidates scored best in at least {least:.0f} % of the experiments in which it was true."
        )
    more = f" and {len(missed) - 5} more" if len(missed) > 5 else ""
    return (
        f"Not every candidate scored best in at least {least:.0f} % of the experiments in which it was true: "
        f"{'; '.join(missed[:5])}{more}."
    )


def _limits(candidates: Sequence[str], generators: Sequence[str]) -> str:
    simulated = f", and for responses simulated by {_list(generators)}" if generators else ""
    return f"This holds for these {len(candidates)} candidates{simulated}; other models may differ."


def _confusion(confusion: Mapping[str, Any], candidates: Sequence[str]) -> ConfusionTable:
    counts = confusion.get("counts")
    table = counts if isinstance(counts, list) else []
    rows = []
    for name, row, found in zip(candidates, table, objects_in(confusion, "found"), strict=False):
        numbers = [number(value) or 0.0 for value in row] if isinstance(row, list) else []
        total = sum(numbers) or 1.0
        cells = tuple(Cell(f"{value:.0f}", round(9 * min(max(value / total, 0.0), 1.0))) for value in numbers)
        rows.append((name, cells[: len(candidates)], _share(found)))
    return ConfusionTable(str(confusion.get("generator")), _share(_part(confusion, "overall")), tuple(rows))


def _share(row: Mapping[str, Any]) -> str:
    share, low, high = (number(row.get(name)) for name in ("share", "low", "high"))
    if share is None:
        return ""
    interval = "" if low is None or high is None else f" ({100 * low:.0f}–{100 * high:.0f} %)"
    return f"{100 * share:.0f} %{interval}"


def _difference(row: Mapping[str, Any]) -> str:
    value = number(row.get("value"))
    return "" if value is None else _signed(value, *_interval(row))


def _signed(value: float, low: float | None, high: float | None) -> str:
    shown = number_text(value, plus=True)
    return shown if low is None or high is None else f"{shown} ({range_text(low, high)})"


def _p(value: float | None) -> str:
    return "" if value is None else p_text(value)


def _part(row: Mapping[str, Any], name: str) -> Mapping[str, Any]:
    part = row.get(name)
    return part if isinstance(part, dict) else {}


def _interval(row: Mapping[str, Any], name: str = "ci") -> tuple[float | None, float | None]:
    limits = row.get(name)
    if not isinstance(limits, list | tuple) or len(limits) != 2:
        return None, None
    return number(limits[0]), number(limits[1])


def _counts(value: object) -> list[tuple[str, int]]:
    items = value.items() if isinstance(value, dict) else ()
    return [(str(name), count) for name, count in items if isinstance(count, int)][:20]


def _count(row: Mapping[str, Any], name: str) -> str:
    value = number(row.get(name))
    return count_text(value) or "–"


def _texts(row: Mapping[str, Any], name: str) -> list[str]:
    items = row.get(name)
    return [text(item, 1000) for item in items[:_MOST] if item != WITHHELD] if isinstance(items, list | tuple) else []


def _text(row: Mapping[str, Any], name: str) -> str:
    """Return a text, cut to 1,000 characters; empty without one, and if it is withheld."""
    value = row.get(name)
    return text(value, 1000) if isinstance(value, str) and value != WITHHELD else ""


def _because(row: Mapping[str, Any]) -> str:
    reason = _text(row, "reason")
    return f": {reason}" if reason else ""


def _list(names: Sequence[str]) -> str:
    return " and ".join([", ".join(names[:-1]), names[-1]] if len(names) > 2 else names)
