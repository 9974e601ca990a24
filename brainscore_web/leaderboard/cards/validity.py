"""The *validity* panel on the card of a benchmark: what its assessments say."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final, NamedTuple

from django import template
from django.utils.safestring import SafeString

from brainscore_core.formatting import p_text
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
        part, reason = str(document.get("part")), text(document.get("reason")).replace(WITHHELD, "")
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
    shown: list[Controls | ControlScore] = [newest, *rows]
    axis = axis_of([or_nan(value) for of in shown for value in (of.score, *(of.ci or ()))])
    tested = ((at, each, [control.surpassed for control in each.scored]) for at, each in assessed[:_MOST] if each.model)
    return {
        "origin": origin,
        "newest": newest,
        "bar": _bar(axis, newest),
        "axis": axis.texts,
        "lines": [(row, _bar(axis, row)) for row in rows],
        "sentences": [f"{fact} {meaning}".strip() for fact, meaning in conclusions_of(newest)],
        "models": [
            (
                at,
                each,
                f"{sum(map(bool, surpassed))} of {len(surpassed)}" if any(x is not None for x in surpassed) else "",
            )
            for at, each, surpassed in tested
        ],
    }


def _bar(axis: Axis, of: Controls | ControlScore) -> SafeString:
    return SafeString("") if of.score is None else bar(axis, of.score, *(of.ci or (None, None)))


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
        "examined": list(findings_of(newest))[:_MOST],
        "losses": list(losses.values())[:_MOST],
        "pairs": pair_texts(newest.pairs),
        "pictures": pair_pictures(newest.pairs) if pictures else (),
        "notes": [text(note, 1000) for note in newest.notes[:_MOST]],
    }


def _recovery(origin: Origin, recovery: Recovery) -> dict[str, Any]:
    return {
        "origin": origin,
        "outcome": recovery.outcome,
        "sentences": list(filter(None, (outcome_text(recovery), scope_text(recovery)))),
        "candidates": recovery.candidates,
        "confusions": [(each, _confusion_rows(each, recovery.candidates)) for each in recovery.confusions[:10]],
        "mixtures": recovery.mixtures[:_MOST],
        "sizes": recovery.sizes[:_MOST],
        "notes": [text(note, 1000) for note in recovery.notes[:_MOST]],
    }


def _confusion_rows(confusion: Confusion, candidates: Sequence[str]) -> list[tuple[str, list[tuple[int, int]], Share]]:
    """Return for each candidate how often each one scored best, with a shade from 0 to 9, and the share of its own."""
    columns = (candidates, confusion.counts, confusion.shares, confusion.found)
    return [
        (
            name,
            [
                (count, round(9 * min(max(share, 0.0), 1.0)) if share == share else 0)
                for count, share in zip(counts, shares, strict=True)
            ],
            found,
        )
        for name, counts, shares, found in zip(*columns, strict=False)
    ]


register = template.Library()
register.filter("difference", difference_text)
register.filter("size", size_text)


@register.filter
def interval(value: float | None, ci: Interval | None) -> str:
    """Format a number with its interval; – without a number."""
    return estimate(value, None, *(ci or (None, None)))


@register.filter
def p(value: float | None) -> str:
    """Format a p-value; empty without one."""
    return "" if value is None else p_text(value)


@register.filter
def share(of: Share) -> str:
    """Format a share with its interval; empty without one."""
    return "" if of.share is None else share_text(of)
