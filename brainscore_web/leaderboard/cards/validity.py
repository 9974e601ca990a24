"""The *validity* panel on the card of a benchmark: what its assessments say."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final, NamedTuple

from django.utils.safestring import SafeString

from brainscore_core.formatting import count_text, p_text
from brainscore_core.receipts.assessment import (
    PARTS,
    Audit,
    Confusion,
    Controls,
    ControlScore,
    Interval,
    Loss,
    Recovery,
    Share,
    result_of,
)
from brainscore_core.receipts.schema import ReceiptError
from brainscore_core.results.validity import (
    conclusions_of,
    difference_text,
    findings_of,
    loss_text,
    outcome_text,
    pair_pictures,
    pair_texts,
    scope_text,
    share_text,
    size_text,
)
from brainscore_web.leaderboard.cards.formatting import Axis, axis_of, bar, estimate
from brainscore_web.leaderboard.clean import or_nan, text
from brainscore_web.leaderboard.models import Benchmark, StoredAssessment, Visibility, Visitor
from brainscore_web.leaderboard.reasons import WITHHELD, withheld_assessment

_MOST: Final = 100  # rows of a table


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


class Cell(NamedTuple):
    """How often a candidate scored best, and the shade from 0 to 9."""

    text: str
    shade: int


@dataclass(frozen=True)
class Validity:
    """Content of the panel."""

    # controls, audit, recovery: the parts; None if not assessed
    controls: dict[str, Any] | None = None
    audit: dict[str, Any] | None = None
    recovery: dict[str, Any] | None = None
    missing: tuple[dict[str, Any], ...] = ()  # parts whose newest assessment has no result
    withheld: bool = False  # whether texts are left out since the benchmark's data are private
    command: str = ""  # how to compute an assessment
    not_assessed: tuple[str, ...] = ()  # parts without an assessment

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
    documents = stored_documents(keys, PARTS)
    if not shows_data:
        documents = [withheld_assessment(document) for document in documents]
    return validity_of(benchmark, documents, withheld=not shows_data)


def stored_documents(keys: Sequence[AssessmentKey], parts: Collection[str]) -> list[dict[str, Any]]:
    """Read the assessments of these parts, newest first, with at most one query."""
    identifiers = [key.identifier for key in keys if key.part in parts]
    rows = StoredAssessment.objects.newest().filter(identifier__in=identifiers) if identifiers else ()
    return [row.document for row in rows if row.document is not None]


def validity_of(benchmark: Benchmark, documents: Iterable[Mapping[str, Any]], *, withheld: bool = False) -> Validity:
    """Return the panel of stored assessments; a result that cannot be read is missing, with the error as the reason."""
    audits: list[tuple[Origin, Audit]] = []
    controls: list[tuple[Origin, Controls]] = []
    recoveries: list[tuple[Origin, Recovery]] = []
    missing: dict[str, dict[str, Any]] = {}
    for document in documents:
        part, reason = str(document.get("part")), _text(document.get("reason"))
        origin = origin_of(benchmark, document)
        try:
            result = None if document.get("result") is None else result_of(part, _shown(document["result"]))
        except ReceiptError as error:
            result, reason = None, error.message
        if isinstance(result, Audit):
            audits.append((origin, result))
        elif isinstance(result, Controls):
            controls.append((origin, result))
        elif isinstance(result, Recovery):
            recoveries.append((origin, result))
        else:
            missing.setdefault(
                part,
                {
                    "part": part,
                    "state": str(document.get("state")),
                    "reason": reason.split("\n")[0][:300],
                    "origin": origin,
                },
            )
    assessed = {"audit": audits, "controls": controls, "recovery": recoveries}
    return Validity(
        controls=_controls(controls) if controls else None,
        audit=_audit(audits, pictures=benchmark.access == Visibility.PUBLIC) if audits else None,
        recovery=_recovery(*recoveries[0]) if recoveries else None,
        missing=tuple(missing[part] for part in PARTS if part in missing and not assessed[part]),
        withheld=withheld,
        command=f"brainscore assess {benchmark.identifier}",
        not_assessed=tuple(part for part in PARTS if not assessed[part] and part not in missing),
    )


def _shown(value: Any) -> Any:
    """Return a result without the texts that are withheld."""
    if isinstance(value, dict):
        return {name: _shown(item) for name, item in value.items() if item != WITHHELD}
    return [_shown(item) for item in value if item != WITHHELD] if isinstance(value, list) else value


def origin_of(benchmark: Benchmark, document: Mapping[str, Any]) -> Origin:
    """Return when and with what an assessment was computed."""
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


def _controls(assessed: Sequence[tuple[Origin, Controls]]) -> dict[str, Any]:
    origin, newest = assessed[0]
    rows = newest.controls[:_MOST]
    scored = [(newest.score, newest.ci), *((row.score, row.ci) for row in rows)]
    values = [value for score, ci in scored for value in (score, *(ci or ()))]
    axis = axis_of([or_nan(value) for value in values])
    model = newest.model or ""
    return {
        "origin": origin,
        "model": model,
        "score": _estimate(newest.score, newest.ci) if model else "",
        "bar": bar(axis, newest.score, *_limits(newest.ci)) if model else SafeString(""),
        "axis": axis.texts,
        "lines": tuple(_control_line(row, axis) for row in rows),
        "sentences": tuple(f"{fact} {meaning}".strip() for fact, meaning in conclusions_of(newest)),
        "condition": text(newest.condition, 200) if model else "",
        "models": tuple(_model_line(each.model, at, each) for at, each in assessed[:_MOST] if each.model),
    }


def _control_line(control: ControlScore, axis: Axis) -> dict[str, Any]:
    known = control.score is not None
    return {
        "name": control.name,
        "kind": control.kind,
        "description": _text(control.description),
        "score": _estimate(control.score, control.ci) if known else "not scored",
        "bar": bar(axis, control.score, *_limits(control.ci)) if known else SafeString(""),
        "difference": difference_text(control.difference.value, control.difference.ci),
        "p": _p(control.difference.p),
        "reason": _text(control.reason or control.difference.reason),
    }


def _model_line(model: str, origin: Origin, controls: Controls) -> dict[str, Any]:
    tested = [control.surpassed for control in controls.scored]
    n_above = f"{sum(map(bool, tested))} of {len(tested)}"
    best = controls.best
    return {
        "identifier": model,
        "score": _estimate(controls.score, controls.ci),
        "best": "" if best is None else best.name,
        "difference": "" if best is None else difference_text(best.difference.value, best.difference.ci),
        "above": n_above if any(each is not None for each in tested) else "not tested",
        "origin": origin,
    }


def _audit(assessed: Sequence[tuple[Origin, Audit]], *, pictures: bool) -> dict[str, Any]:
    origin, newest = assessed[0]
    by = ", ".join(f"{count:,} by {name}" for name, count in list(newest.units.items())[:20])
    losses: dict[tuple[str, str], Loss] = {}
    for _, audit in assessed:
        for loss in audit.losses:
            losses.setdefault((loss.rule, loss.model), loss)
    return {
        "origin": origin,
        "outcome": newest.outcome,
        "units": f"{newest.stimuli:,} stimuli; independent units: {by}" if by else "",
        "examined": tuple(findings_of(newest))[:_MOST],
        "losses": tuple(map(_loss_line, list(losses.values())[:_MOST])),
        "severities": tuple(map(loss_text, list(losses.values())[:_MOST])),
        "pairs": pair_texts(newest.pairs),
        "pictures": pair_pictures(newest.pairs) if pictures else (),
        "notes": _texts(newest.notes),
    }


def _loss_line(loss: Loss) -> dict[str, Any]:
    return {
        "rule": loss.rule,
        "model": loss.model,
        "default": _estimate(loss.default, loss.default_ci),
        "grouped": _estimate(loss.grouped, loss.grouped_ci),
        "loss": difference_text(loss.loss, loss.ci),
        "p": _p(loss.p),
        "reason": _text(loss.reason),
    }


def _recovery(origin: Origin, recovery: Recovery) -> dict[str, Any]:
    return {
        "origin": origin,
        "outcome": recovery.outcome,
        "sentences": tuple(filter(None, (outcome_text(recovery), scope_text(recovery)))),
        "candidates": recovery.candidates,
        "confusions": tuple(_confusion(confusion, recovery.candidates) for confusion in recovery.confusions[:10]),
        "mixtures": tuple(
            (
                mixture.generator,
                mixture.first,
                mixture.second,
                f"{mixture.smallest:g}"
                if mixture.smallest is not None
                else ": ".join(filter(None, ("none", mixture.reason))),
            )
            for mixture in recovery.mixtures[:_MOST]
        ),
        "sizes": tuple(
            (size.generator, count_text(size.stimuli), count_text(size.neuroids), size_text(size))
            for size in recovery.sizes[:_MOST]
        ),
        "notes": _texts(recovery.notes),
    }


def _confusion(confusion: Confusion, candidates: Sequence[str]) -> dict[str, Any]:
    rows = []
    for name, counts, shares, found in zip(
        candidates, confusion.counts, confusion.shares, confusion.found, strict=False
    ):
        cells = tuple(
            Cell(str(count), round(9 * min(max(share, 0.0), 1.0)) if share == share else 0)
            for count, share in zip(counts, shares, strict=True)
        )
        rows.append((name, cells, _share(found)))
    return {"generator": confusion.generator, "overall": _share(confusion.overall), "rows": tuple(rows)}


def _share(share: Share) -> str:
    return "" if share.share is None else share_text(share)


def _limits(ci: Interval | None) -> Interval | tuple[None, None]:
    return (None, None) if ci is None else ci


def _estimate(value: float | None, ci: Interval | None) -> str:
    return estimate(value, None, *_limits(ci))


def _p(value: float | None) -> str:
    return "" if value is None else p_text(value)


def _texts(texts: Iterable[str]) -> tuple[str, ...]:
    return tuple(map(_text, list(texts)[:_MOST]))


def _text(value: str | None) -> str:
    """Return a text, cut to 1,000 characters; empty without one, and if it is withheld."""
    return "" if value is None or value == WITHHELD else text(value, 1000)
