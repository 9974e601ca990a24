"""What stored assessments say, in sentences: each finding is worded here, once, for report, command line and site."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Final, NamedTuple

from brainscore_core.formatting import count_text, estimate_text, number_text, p_text, range_text
from brainscore_core.plurals import plural
from brainscore_core.receipts.assessment import (
    MOST_MISSED,
    Assessment,
    Audit,
    Controls,
    Interval,
    Loss,
    Overlap,
    Recovery,
    Result,
    Share,
    Size,
    StimulusPair,
)

_MOST_PAIRS: Final = 10
_MOST_PICTURES: Final = 12
_PICTURE: Final = re.compile(r"data:image/jpeg;base64,[A-Za-z0-9+/]+={0,2}")
_LONGEST_PICTURE: Final = 16_000  # characters
_LONGEST_NAME: Final = 200  # characters
_MEANINGS: Final = {
    "baseline": "This does not make the score invalid: so simple a description of the stimuli may score as well.",
    "artefact check": "The score may come from something other than what is in the stimuli.",
}
_NAMES: Final = {
    "equal files": "Equal files",
    "near-duplicates": "Near-duplicates",
    "repetitions": "Equal repetitions",
    "stimuli": "Equal responses to different stimuli",
    "autocorrelation": "Successive responses are correlated",
    "drift": "Responses drift over time",
}


class Finding(NamedTuple):
    """What an audit examined: its name, a sentence, and ``'finding'``, ``'no finding'`` or ``'not examined'``."""

    name: str
    sentence: str
    state: str


class Conclusion(NamedTuple):
    """What tests of a model against baseline models show, and what this means; empty if there is nothing to add."""

    fact: str
    meaning: str = ""


@dataclass(frozen=True, kw_only=True)
class PairPictures:
    """Small pictures of two similar stimuli."""

    # the stimuli
    first: str
    second: str
    # data URIs of JPEG pictures
    first_picture: str
    second_picture: str
    caption: str  # how similar they are


@dataclass(frozen=True, kw_only=True)
class Summary:
    """What an assessment says."""

    sentence: str  # the result in one line; for an assessment without a result, why
    findings: tuple[str, ...] = ()  # further sentences
    result: Result | None = None  # the numbers
    pairs: tuple[str, ...] = ()  # most similar stimuli of an audit, up to ten pairs
    pictures: tuple[PairPictures, ...] = ()  # up to twelve of these pairs, if the benchmark's stimuli are public
    sizes: tuple[str, ...] = ()  # sentences about other numbers of stimuli and neuroids in a recovery


def summary_of(assessment: Assessment) -> Summary:
    """Read an assessment.

    Fields that are missing from its result are left out.

    Raises `ReceiptError` if a field has another type.

    Examples
    --------
    >>> from brainscore_core.receipts.assessment import Used
    >>> found = Assessment(part="audit", benchmark=Used(kind="benchmark", identifier="Some2026.V1-pls"),
    ...                    state="assessed", result={"stimuli": 90, "clean": True})
    >>> summary_of(found).sentence
    'No problem was found in 90 stimuli.'
    """
    result = assessment.typed_result
    if isinstance(result, Audit):
        return _of_audit(result)
    if isinstance(result, Controls):
        conclusions = conclusions_of(result)
        return Summary(
            sentence=_control_sentence(result, conclusions),
            findings=tuple(f"{fact} {meaning}".strip() for fact, meaning in conclusions if meaning),
            result=result,
        )
    if isinstance(result, Recovery):
        return _of_recovery(result)
    if result is not None:
        return Summary(sentence=_ended(assessment.text.splitlines()[0] if assessment.text else ""), result=result)
    return Summary(sentence=_ended(f"{assessment.state.capitalize()}: {assessment.reason or 'no reason is stored'}"))


def percent_text(share: float | None, ci: Interval | None = None) -> str:
    """Write a share as a percentage with its interval.

    Examples
    --------
    >>> percent_text(2 / 3, (0.49, 0.814)), percent_text(None)
    ('67 % (49–81 %)', '–')
    """
    if share is None:
        return "–"
    limits = "" if ci is None else f" ({100 * ci[0]:.0f}–{100 * ci[1]:.0f} %)"
    return f"{100 * share:.0f} %{limits}"


def difference_text(value: float | None, ci: Interval | None) -> str:
    """Write a difference with its sign and its interval; empty if it is unknown.

    Examples
    --------
    >>> difference_text(0.544, (0.089, 0.999))
    '+0.544 (0.089–0.999)'
    """
    if value is None:
        return ""
    return number_text(value, plus=True) + ("" if ci is None else f" ({range_text(*ci)})")


def findings_of(audit: Audit) -> Iterator[Finding]:
    """Yield what an audit examined, with its result."""
    for overlap in audit.overlaps:
        yield _of_overlap(overlap)
    for copies in audit.copies:
        examples = f", such as {', '.join(copies.examples[:3])}" if copies.examples else ""
        counts = f"{count_text(copies.presentations)} of {count_text(copies.of)}"
        sentence = f"{counts} presentations equal an earlier one{examples}"
        yield Finding(_NAMES.get(copies.kind, copies.kind), sentence, "finding")
    for test in audit.tests:
        within = f", permuted within {test.within}" if test.within else ""
        p = "" if test.p_corrected is None else f"; {p_text(test.p_corrected)} after Holm’s correction"
        sentence = f"{number_text(test.value)} over {test.order} ({test.recordings}{within}){p}"
        name = _NAMES.get(test.kind, test.kind) if test.significant else test.kind.capitalize()
        yield Finding(name, sentence, "finding" if test.significant else "no finding")


def _of_overlap(overlap: Overlap) -> Finding:
    share = overlap.share
    where = f"not examined across splits{f': {overlap.reason}' if overlap.reason else ''}"
    if share is not None:
        where = f"{100 * share:.0f} % of test stimuli have one of their group among the training stimuli"
    is_finding = bool(overlap.pairs or share)
    return Finding(
        _NAMES.get(overlap.kind, f"Stimuli with the same {overlap.kind}"),
        f"{count_text(overlap.stimuli)} stimuli in {count_text(overlap.groups)} groups; {where}",
        "finding" if is_finding else "no finding" if share is not None or overlap.pairs == 0 else "not examined",
    )


def loss_text(loss: Loss) -> str:
    """Write what grouped splits do to a score, as a sentence.

    Examples
    --------
    >>> loss_text(Loss(rule="scene", model="pixels", default=0.3, grouped=0.1, loss=0.2, ci=(0.15, 0.25)))
    'With scene kept on one side of splits, the score of pixels falls by 0.200 (0.150–0.250), from 0.300 to 0.100.'
    """
    condition = f"With {loss.rule} kept on one side of splits,"
    if loss.loss is None:
        reason = f": {loss.reason}" if loss.reason else ""
        return _ended(f"{condition} how much the score of {loss.model} changes is not known{reason}")
    scores = f", from {number_text(loss.default)} to {number_text(loss.grouped)}"
    p = "" if loss.p is None else f"; {p_text(loss.p)}"
    return (
        f"{condition} the score of {loss.model} falls by {estimate_text(loss.loss, ci=loss.ci, brief=True)}{scores}{p}."
    )


def _of_audit(audit: Audit) -> Summary:
    findings = list(findings_of(audit))
    names = dict.fromkeys(finding.name for finding in findings if finding.state == "finding")
    examined = " what was examined of" if audit.notes else ""
    sentence = f"No problem was found in{examined} {audit.stimuli:,} stimuli."
    if names:
        sentence = f"Found in {audit.stimuli:,} stimuli: {'; '.join(name[:1].lower() + name[1:] for name in names)}."
        if audit.independent is not None and audit.independent < audit.stimuli:
            sentence += f" {audit.independent:,} units are independent."
        losses = [loss for loss in audit.losses if loss.loss is not None and loss.loss > 0]
        if losses:
            sentence += f" {loss_text(max(losses, key=lambda loss: loss.loss or 0.0))}"
    units = ", ".join(f"{number:,} by {name}" for name, number in audit.units.items())
    return Summary(
        sentence=sentence,
        findings=(
            *([f"Independent units: {units}."] if units else ()),
            *(_ended(f"{finding.name} ({finding.state}): {finding.sentence}") for finding in findings),
            *(f"Note: {_ended(note)}" for note in audit.notes),
        ),
        result=audit,
        pairs=pair_texts(audit.pairs),
        pictures=pair_pictures(audit.pairs),
    )


def _near_duplicates_first(pairs: Iterable[StimulusPair]) -> list[StimulusPair]:
    return sorted(pairs, key=lambda pair: pair.equal)


def _similarity(pair: StimulusPair) -> str:
    if pair.equal:
        return "equal files"
    return "similar" if pair.similarity is None else f"similarity {number_text(pair.similarity, 2)}"


def pair_texts(pairs: Iterable[StimulusPair]) -> tuple[str, ...]:
    """Return the names of similar stimuli, near-duplicates first."""
    ordered = _near_duplicates_first(pairs)[:_MOST_PAIRS]
    return tuple(f"{pair.first} and {pair.second}: {_similarity(pair)}" for pair in ordered)


def pair_pictures(pairs: Iterable[StimulusPair]) -> tuple[PairPictures, ...]:
    """Return the pictures of pairs, near-duplicates first; what is not a small JPEG is left out.

    Pairs of a benchmark whose stimuli are not public have no pictures.

    Examples
    --------
    >>> picture = "data:image/jpeg;base64,/9j/4AAQ"
    >>> pair = StimulusPair(first="a", second="b", similarity=0.97, first_picture=picture, second_picture=picture)
    >>> [shown.caption for shown in pair_pictures([pair, StimulusPair(first="a", second="c")])]
    ['similarity 0.97']
    """
    shown = [
        PairPictures(
            first=pair.first[:_LONGEST_NAME],
            second=pair.second[:_LONGEST_NAME],
            first_picture=pair.first_picture,
            second_picture=pair.second_picture,
            caption=_similarity(pair),
        )
        for pair in _near_duplicates_first(pairs)
        if pair.first_picture is not None
        and pair.second_picture is not None
        and all(map(is_small_picture, (pair.first_picture, pair.second_picture)))
    ]
    return tuple(shown[:_MOST_PICTURES])


def is_small_picture(address: str) -> bool:
    """Whether an address is the data URI of a small JPEG."""
    return len(address) <= _LONGEST_PICTURE and _PICTURE.fullmatch(address) is not None


def conclusions_of(controls: Controls) -> tuple[Conclusion, ...]:
    """Return what the tests of a model against the baseline models show; nothing without a model."""
    model, scored = controls.model, controls.scored
    if model is None:
        return ()
    conclusions = []
    if scored and all(control.surpassed for control in scored):
        all_of_them = f"each of the {len(scored)} baseline models that have a score"
        conclusions.append(
            Conclusion(f"{model} is above {all_of_them} (one-sided tests at 5 %, all of them required).")
        )
    for kind, meaning in _MEANINGS.items():
        names = [control.name for control in scored if control.kind == kind and control.surpassed is False]
        if names:
            noun = plural(kind) if len(names) > 1 else kind
            conclusions.append(Conclusion(f"{model} is not significantly above {listed(names)} ({noun}).", meaning))
    untested = [control.name for control in scored if control.surpassed is None]
    if untested:
        conclusions.append(Conclusion(f"{model} was not tested against {listed(untested)}."))
    return tuple(conclusions)


def _control_sentence(controls: Controls, conclusions: Sequence[Conclusion]) -> str:
    best = controls.best
    if best is None:
        return "No baseline model has a score."
    about_best = f"Best baseline model: {best.name}, {estimate_text(best.score, ci=best.ci, brief=True)}."
    holds_for = [f"Tests hold for {controls.condition}."] if controls.model and controls.condition else []
    return " ".join([*(fact for fact, _ in conclusions), about_best, *holds_for])


def outcome_text(recovery: Recovery) -> str:
    """Return whether each candidate was found, as a sentence; empty if this is not known."""
    least, n = f"{100 * (1 - MOST_MISSED):.0f} %", len(recovery.candidates)
    if not recovery.outcome:
        return ""
    missed = [
        f"{name} in {100 * share.share:.0f} % ({confusion.generator})"
        for confusion in recovery.confusions
        for name, share in zip(recovery.candidates, confusion.found, strict=False)
        if share.share is not None and share.share < 1 - MOST_MISSED
    ]
    if not missed:
        return f"Each of the {n} candidates scored best in at least {least} of the experiments in which it was true."
    more = f" and {len(missed) - 5} more" if len(missed) > 5 else ""
    return (
        f"Not every candidate scored best in at least {least} of the experiments in which it was true: "
        f"{'; '.join(missed[:5])}{more}."
    )


def scope_text(recovery: Recovery) -> str:
    """Return for which candidates and responses a recovery holds, as a sentence."""
    simulated = f", and for responses simulated by {listed(recovery.generators)}" if recovery.generators else ""
    return f"This holds for these {len(recovery.candidates)} candidates{simulated}; other models may differ."


def size_text(size: Size) -> str:
    """Return the recovery with another number of stimuli or neuroids; why there is none if it was not simulated."""
    if size.overall is None or size.overall.share is None:
        return f"not simulated{f': {size.reason}' if size.reason else ''}"
    return share_text(size.overall)


def share_text(share: Share) -> str:
    """Write a share of experiments with its interval."""
    return percent_text(share.share, share.ci)


def _of_recovery(recovery: Recovery) -> Summary:
    n = len(recovery.candidates)
    shares = ", ".join(
        f"{share_text(confusion.overall)} with {confusion.generator}" for confusion in recovery.confusions
    )
    by_chance = f"; by chance {100 / n:.0f} %" if n else ""
    findings = [outcome_text(recovery)]
    if recovery.stimuli is not None and recovery.neuroids is not None:
        reliability = f"median reliability {number_text(recovery.reliability, 2)} ({recovery.reliability_source})"
        findings.append(f"{recovery.stimuli:,} stimuli, {recovery.neuroids:,} neuroids, {reliability}.")
    findings += [*recovery.notes, scope_text(recovery)]
    return Summary(
        sentence=f"The true one of {n} candidates scores best in {shares}{by_chance}.",
        findings=tuple(filter(None, findings)),
        result=recovery,
        sizes=tuple(
            f"{size.generator}, {size.stimuli:,} stimuli and {size.neuroids:,} neuroids: {size_text(size)}."
            for size in recovery.sizes
        ),
    )


def listed(names: Sequence[str]) -> str:
    """Join names with commas and *and*."""
    return " and ".join([", ".join(names[:-1]), names[-1]] if len(names) > 2 else names)


def _ended(text: str) -> str:
    return text if text.endswith((".", "!", "?")) else f"{text}."
