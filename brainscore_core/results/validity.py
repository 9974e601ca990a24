"""What stored assessments say, in sentences and in the numbers that tables and figures show."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Final

from brainscore_core.formatting import estimate_text, number_text, p_text
from brainscore_core.plurals import counted, plural
from brainscore_core.populations import UNRECORDED, condition_of_benchmark
from brainscore_core.receipts.assessment import Assessment

_LEVEL: Final = 0.05
_PAIRS: Final = 8
_PICTURES: Final = 12
_PICTURE: Final = re.compile(r"data:image/jpeg;base64,[A-Za-z0-9+/]+={0,2}")
_LONGEST_PICTURE: Final = 16_000  # characters
_LONGEST_NAME: Final = 200  # characters
_MEANINGS: Final = {
    "baseline": "this does not make the score invalid; it was not shown that the model predicts more than so simple a "
    "description",
    "artefact check": "the score may come from something other than what is in the stimuli",
}
Interval = tuple[float, float]


@dataclass(frozen=True, kw_only=True)
class PairPictures:
    """Small pictures of two similar stimuli.

    Attributes
    ----------
    first, second : str
        The stimuli.
    first_picture, second_picture : str
        Data URIs of JPEG pictures.
    caption : str
        How similar they are.
    """

    first: str
    second: str
    first_picture: str
    second_picture: str
    caption: str


@dataclass(frozen=True, kw_only=True)
class LossOfScore:
    """How much a score decreases when stimuli that belong together stay on one side of splits.

    Attributes
    ----------
    rule : str
        What stays together.
    model : str
        The scored model or features.
    default, grouped, loss : float or None
        Metric's value by the benchmark's splits, with groups kept together, and their difference.
    ci : (float, float) or None
        95 % interval of the difference.
    reason : str or None
        Why a number is missing.
    """

    rule: str
    model: str
    default: float | None = None
    grouped: float | None = None
    loss: float | None = None
    ci: Interval | None = None
    reason: str | None = None


@dataclass(frozen=True, kw_only=True)
class ControlScore:
    """Score of a baseline model, and the model's difference to it.

    Attributes
    ----------
    name, kind, description : str
        Name, ``'baseline'`` or ``'artefact check'``, and what the features are.
    value : float or None
        Score before it is clamped to [0, 1].
    ci : (float, float) or None
        Its 95 % interval.
    difference, p : float or None
        Model minus baseline model, and the one-sided p-value that the model is not better.
    difference_ci : (float, float) or None
        95 % interval of the difference.
    reason : str or None
        Why something is missing.
    """

    name: str
    kind: str
    description: str = ""
    value: float | None = None
    ci: Interval | None = None
    difference: float | None = None
    difference_ci: Interval | None = None
    p: float | None = None
    reason: str | None = None

    @property
    def surpassed(self) -> bool | None:
        """Whether the model is significantly better, one-sided at 5 %; None if this was not tested."""
        return None if self.p is None else self.p <= _LEVEL


@dataclass(frozen=True, kw_only=True)
class Recovered:
    """Which candidate scores best in experiments of one generator, by the candidate that is true.

    Attributes
    ----------
    generator : str
        How responses were simulated.
    counts : tuple of tuples of int, candidates × candidates
        Experiments in which the candidate of the column scored best, and that of the row was true.
    share : float or None
        How often the true candidate scored best.
    ci : (float, float) or None
        Its 95 % interval.
    experiments : int
        Number of experiments.
    """

    generator: str
    counts: tuple[tuple[int, ...], ...]
    share: float | None = None
    ci: Interval | None = None
    experiments: int = 0

    @property
    def shares(self) -> list[list[float]]:
        """Shares of the experiments of each true candidate; NaN if there are none."""
        return [[count / sum(row) if sum(row) else math.nan for count in row] for row in self.counts]


@dataclass(frozen=True, kw_only=True)
class Power:
    """How often a mixture (1 − w) · first + w · second scores higher than `first`, where the mixture is true.

    Attributes
    ----------
    generator, first, second : str
        How responses were simulated, and the candidates that are mixed.
    shares : tuple of (float, float or None, (float, float) or None)
        Values of w, each with the share of experiments and its 95 % interval.
    smallest : float or None
        Smallest w from which on the share is at least 80 %.
    reason : str or None
        Why there is none.
    """

    generator: str
    first: str
    second: str
    shares: tuple[tuple[float, float | None, Interval | None], ...]
    smallest: float | None = None
    reason: str | None = None


@dataclass(frozen=True, kw_only=True)
class Summary:
    """What an assessment says.

    Attributes
    ----------
    sentence : str
        The result in one line; for an assessment without a result, why.
    findings : tuple of str
        Further sentences.
    losses : tuple of LossOfScore
        Of an audit.
    pairs : tuple of str
        Most similar stimuli of an audit, up to eight pairs.
    pictures : tuple of PairPictures
        Up to twelve of these pairs, if the benchmark's stimuli are public.
    model : str or None
        Model beside the baseline models.
    score : float or None
        Its score, before it is clamped to [0, 1].
    ci : (float, float) or None
        Its 95 % interval.
    controls : tuple of ControlScore
        Of baseline models, those without a score among them.
    above : bool or None
        Whether the model is above all baseline models with a score; None if this is not known.
    candidates : tuple of str
        Of a recovery.
    recovered : tuple of Recovered
        One for each generator.
    power : tuple of Power
        One for each pair of mixed candidates and generator.
    sizes : tuple of str
        Sentences about other numbers of stimuli and neuroids.
    """

    sentence: str
    findings: tuple[str, ...] = ()
    losses: tuple[LossOfScore, ...] = ()
    pairs: tuple[str, ...] = ()
    pictures: tuple[PairPictures, ...] = ()
    model: str | None = None
    score: float | None = None
    ci: Interval | None = None
    controls: tuple[ControlScore, ...] = ()
    above: bool | None = None
    candidates: tuple[str, ...] = ()
    recovered: tuple[Recovered, ...] = ()
    power: tuple[Power, ...] = ()
    sizes: tuple[str, ...] = ()

    @property
    def best(self) -> ControlScore | None:
        """The baseline model with the highest score; None if no baseline model has a score."""
        scored = [control for control in self.controls if control.value is not None]
        return max(scored, key=lambda control: control.value or 0.0, default=None)


def summary_of(assessment: Assessment) -> Summary:
    """Read an assessment.

    Fields that are missing from its result are left out; of a result in another form, only its text can be shown.

    Examples
    --------
    >>> from brainscore_core.receipts.assessment import Used
    >>> found = Assessment(part="audit", benchmark=Used(kind="benchmark", identifier="Some2026.V1-pls"),
    ...                    state="assessed", result={"stimuli": 90, "clean": True})
    >>> summary_of(found).sentence
    'No problem was found in 90 stimuli.'
    """
    if assessment.state != "assessed" or assessment.result is None:
        state = assessment.state.capitalize()
        return Summary(sentence=_ended(f"{state}: {assessment.reason or 'no reason is stored'}"))
    read = {"audit": _audit, "controls": _controls, "recovery": _recovery}[assessment.part]
    try:
        return read(assessment.result)
    except (AttributeError, IndexError, KeyError, TypeError, ValueError):
        return Summary(sentence="The result has a form that this version does not read; see its text.")


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


def _audit(result: Mapping[str, Any]) -> Summary:
    stimuli = int(result.get("stimuli") or 0)
    independent = result.get("independent")
    units = result.get("units") or {}
    findings, kinds = [], []
    if units:
        by = ", ".join(f"{number:,} by {name}" for name, number in units.items())
        findings.append(f"Independent units: {by}.")
    for overlap in result.get("overlaps") or ():
        kind, share = overlap["kind"], overlap.get("share")
        if share or overlap.get("pairs"):
            kinds.append(kind if overlap.get("pairs") is not None else f"the same {kind} in training and test stimuli")
        findings.append(_overlap(overlap, share))
    for copies in result.get("copies") or ():
        which = "different repetitions" if copies.get("kind") == "repetitions" else "different stimuli"
        kinds.append(f"equal responses to {which}" if which == "different stimuli" else "duplicated repetitions")
        findings.append(
            f"{copies.get('presentations', 0):,} of {copies.get('of', 0):,} presentations have the same responses "
            f"as another one ({which})."
        )
    for test in result.get("tests") or ():
        p = test.get("p_corrected")
        found = p is not None and p <= _LEVEL
        if found:
            kinds.append(f"{test['kind']} over {test.get('order')}")
        within = f", within {test['within']}" if test.get("within") else ""
        recordings = "averaged recordings" if test.get("recordings") == "averaged" else "single repetitions"
        findings.append(
            f"{str(test['kind']).capitalize()} over {test.get('order')} ({recordings}{within}): "
            f"{number_text(test.get('value'))}, {p_text(p)} after Holm's correction"
            f"{'' if found else ', not significant'}."
        )
    findings += [f"Note: {_ended(note)}" for note in result.get("notes") or ()]
    losses = tuple(
        LossOfScore(
            rule=loss["rule"],
            model=loss["model"],
            default=loss.get("default"),
            grouped=loss.get("grouped"),
            loss=loss.get("loss"),
            ci=_interval(loss.get("ci")),
            reason=loss.get("reason"),
        )
        for loss in result.get("losses") or ()
    )
    if kinds:
        sentence = f"Found in {stimuli:,} stimuli: {'; '.join(dict.fromkeys(kinds))}."
        if independent is not None and independent < stimuli:
            sentence += f" {independent:,} units are independent."
        sentence += _largest_loss(losses)
    else:
        examined = " what was examined of" if result.get("notes") else ""
        sentence = f"No problem was found in{examined} {stimuli:,} stimuli."
    pairs = sorted(result.get("pairs") or (), key=lambda pair: bool(pair.get("equal")))
    return Summary(
        sentence=sentence,
        findings=tuple(findings),
        losses=losses,
        pairs=tuple(
            f"{pair['first']} and {pair['second']}: "
            + ("equal files" if pair.get("equal") else f"similarity {number_text(pair.get('similarity'), 2)}")
            for pair in pairs[:_PAIRS]
        ),
        pictures=pair_pictures(pairs),
    )


def pair_pictures(pairs: Iterable[Mapping[str, Any]]) -> tuple[PairPictures, ...]:
    """Return the pictures of pairs, near-duplicates first; what is not a small JPEG is left out.

    Parameters
    ----------
    pairs : iterable of mapping
        Pairs of an audit. Those of a benchmark whose stimuli are not public have no pictures.

    Examples
    --------
    >>> shown = dict.fromkeys(("first_picture", "second_picture"), "data:image/jpeg;base64,/9j/4AAQ")
    >>> pair = {"first": "a", "second": "b", "similarity": 0.97, "equal": False}
    >>> [found.caption for found in pair_pictures([{**pair, **shown}, pair])]
    ['similarity 0.97']
    """
    found = []
    for pair in sorted(pairs, key=lambda pair: bool(pair.get("equal"))):
        pictures = [pair.get(name) for name in ("first_picture", "second_picture")]
        if not all(isinstance(each, str) and _is_picture(each) for each in pictures):
            continue
        similarity = pair.get("similarity")
        known = isinstance(similarity, float | int) and not isinstance(similarity, bool)
        alike = f"similarity {number_text(similarity, 2)}" if known else "similar"
        found.append(
            PairPictures(
                first=str(pair.get("first"))[:_LONGEST_NAME],
                second=str(pair.get("second"))[:_LONGEST_NAME],
                first_picture=str(pictures[0]),
                second_picture=str(pictures[1]),
                caption="equal files" if pair.get("equal") else alike,
            )
        )
    return tuple(found[:_PICTURES])


def _is_picture(address: str) -> bool:
    return len(address) <= _LONGEST_PICTURE and _PICTURE.fullmatch(address) is not None


def _overlap(overlap: Mapping[str, Any], share: float | None) -> str:
    kind, pairs = overlap["kind"], overlap.get("pairs")
    groups, stimuli = overlap.get("groups", 0), overlap.get("stimuli", 0)
    if pairs == 0:
        return f"No {kind}."
    about = f"By {kind}: " if pairs is None else f"{pairs:,} pairs of {kind}: "
    about += f"{stimuli:,} stimuli in {groups:,} groups"
    if share is None:
        reason = overlap.get("reason")
        return f"{about}{f'; {reason}' if reason else ''}."
    if not share:
        return f"{about}; splits do not divide them."
    return (
        f"{about}; {100 * share:.0f} % of the test stimuli have another one of their group among the training stimuli."
    )


def _largest_loss(losses: Sequence[LossOfScore]) -> str:
    known = [loss for loss in losses if loss.loss is not None and loss.loss > 0]
    if not known:
        return ""
    worst = max(known, key=lambda loss: loss.loss or 0.0)
    return (
        f" With {worst.rule} kept on one side of splits, the score of "
        f"{worst.model} falls by {estimate_text(worst.loss, ci=worst.ci, brief=True)}."
    )


def condition_of_tests(result: Mapping[str, Any]) -> str:
    """State for which few subjects or groups alone the tests of a model against controls hold.

    Examples
    --------
    >>> condition_of_tests({"controls": [{"difference": {"p": 0.01}}, {"difference": None}]})
    'unknown subjects and groups: not recorded'
    """
    differences = [item.get("difference") for item in result.get("controls") or () if isinstance(item, Mapping)]
    tested = [each for each in differences if isinstance(each, Mapping) and each.get("p") is not None]
    stated = [each.get("condition", UNRECORDED) for each in tested]
    return condition_of_benchmark(text[:_LONGEST_NAME] for text in stated if isinstance(text, str))


def _controls(result: Mapping[str, Any]) -> Summary:
    controls = tuple(_control(each) for each in result.get("controls") or ())
    model, score = result.get("model"), result.get("score")
    scored = [control for control in controls if control.value is not None]
    summary = Summary(
        sentence="No baseline model has a score.",
        model=model,
        score=score,
        ci=_interval(result.get("ci")),
        controls=controls,
        above=result.get("above_all_controls"),
    )
    best = summary.best
    if best is None:
        return summary
    about_best = f"Best baseline model: {best.name}, {estimate_text(best.value, ci=best.ci, brief=True)}."
    if model is None:
        return replace(summary, sentence=about_best)
    condition = condition_of_tests(result)
    holds_for = [f"Tests hold for {condition}."] if condition else []
    if summary.above:
        above = f"{model} is above all {counted(len(scored), 'baseline model')} with a score"
        above += f" (largest {p_text(result.get('p_above_all_controls'))})."
        return replace(summary, sentence=" ".join([above, about_best, *holds_for]))
    comparisons = list(_not_above(model, scored))
    return replace(
        summary,
        sentence=" ".join([*(f"{fact}." for fact, _ in comparisons), about_best, *holds_for]),
        findings=tuple(f"{fact}{f': {meaning}' if meaning else ''}." for fact, meaning in comparisons),
    )


def _not_above(model: str, scored: Sequence[ControlScore]) -> Iterable[tuple[str, str]]:
    """Baseline models that the model is not above, by kind, each with what this means."""
    for kind, meaning in _MEANINGS.items():
        below = [control.name for control in scored if control.kind == kind and control.surpassed is False]
        if below:
            yield f"{model} is not above {_list(below)} ({plural(kind) if len(below) > 1 else kind})", meaning
    untested = [control.name for control in scored if control.surpassed is None]
    if untested:
        yield f"{model} was not tested against {_list(untested)}", ""


def _control(control: Mapping[str, Any]) -> ControlScore:
    difference = control.get("difference") or {}
    return ControlScore(
        name=control["name"],
        kind=control["kind"],
        description=control.get("description") or "",
        value=control.get("score"),
        ci=_interval(control.get("ci")),
        difference=difference.get("value"),
        difference_ci=_interval(difference.get("ci")),
        p=difference.get("p"),
        reason=control.get("reason") or difference.get("reason"),
    )


def _recovery(result: Mapping[str, Any]) -> Summary:
    candidates = tuple(str(name) for name in result.get("candidates") or ())
    recovered = []
    for confusion in result.get("confusions") or ():
        overall = confusion.get("overall") or {}
        recovered.append(
            Recovered(
                generator=confusion["generator"],
                counts=tuple(tuple(int(count) for count in row) for row in confusion["counts"]),
                share=overall.get("share"),
                ci=_share_limits(overall),
                experiments=int(overall.get("experiments") or 0),
            )
        )
        if [len(row) for row in recovered[-1].counts] != [len(candidates)] * len(candidates):
            raise ValueError("a confusion matrix does not fit its candidates")
    shares = ", ".join(f"{percent_text(one.share, one.ci)} with {one.generator}" for one in recovered)
    by_chance = f"; by chance {100 / len(candidates):.0f} %" if candidates else ""
    findings = []
    if "stimuli" in result and "neuroids" in result:
        reliability = number_text(result.get("reliability"), 2)
        findings.append(
            f"{result['stimuli']:,} stimuli, {result['neuroids']:,} neuroids, median reliability {reliability}"
            f" ({result.get('reliability_source', 'unknown source')})."
        )
    findings += [str(note) for note in result.get("notes") or ()]
    if result.get("holds_for"):
        findings.append(str(result["holds_for"]))
    return Summary(
        sentence=f"The true one of {len(candidates)} candidates scores best in {shares}{by_chance}.",
        findings=tuple(findings),
        candidates=candidates,
        recovered=tuple(recovered),
        power=tuple(_power(mixture) for mixture in result.get("mixtures") or ()),
        sizes=tuple(_size(size) for size in result.get("sizes") or ()),
    )


def _power(mixture: Mapping[str, Any]) -> Power:
    return Power(
        generator=mixture["generator"],
        first=mixture["first"],
        second=mixture["second"],
        shares=tuple(
            (weight, found.get("share"), _share_limits(found))
            for weight, found in zip(mixture["weights"], mixture["found"], strict=True)
        ),
        smallest=mixture.get("smallest"),
        reason=mixture.get("reason"),
    )


def _size(size: Mapping[str, Any]) -> str:
    about = f"{size['generator']}, {size['stimuli']:,} stimuli and {size['neuroids']:,} neuroids"
    overall = size.get("overall")
    if overall is None:
        return f"{about}: not simulated ({size.get('reason')})."
    return f"{about}: the true candidate scores best in {percent_text(overall['share'], _share_limits(overall))}."


def _share_limits(share: Mapping[str, Any]) -> Interval | None:
    return _interval((share.get("low"), share.get("high")))


def _interval(limits: Sequence[float | None] | None) -> Interval | None:
    if limits is None:
        return None
    low, high = limits
    return None if low is None or high is None or math.isnan(low) or math.isnan(high) else (float(low), float(high))


def _list(names: Sequence[str]) -> str:
    return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} and {names[-1]}"


def _ended(text: str) -> str:
    return text if text.endswith((".", "!", "?")) else f"{text}."
