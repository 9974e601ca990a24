"""Receipts of assessments: what a benchmark's scores are worth, and how this was computed.

Results are typed objects, which `result_of` reads from a stored assessment. A missing field has its default; a field of
another type is an error, with the same text for all readers of the file.
"""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, replace
from typing import Any, Literal, Self

from brainscore_core.populations import UNRECORDED, condition_of_benchmark
from brainscore_core.receipts.receipt import ErrorInfo
from brainscore_core.receipts.schema import (
    ASSESSMENTS,
    identify,
    mismatch,
    parse,
    present_time,
    read,
    refuse_newer,
)
from brainscore_core.strict_json import dumps, plain

LEVEL = 0.05
"""Level of all tests."""

MOST_MISSED = 0.2
"""Share of its experiments in which a candidate may be missed if candidates count as recovered."""

Interval = tuple[float, float]
"""Limits, infinite on a side without a limit, which is null in files."""


@dataclass(frozen=True, kw_only=True)
class Overlap:
    """Stimuli that belong together: near-duplicates, or those with an equal value of a column."""

    kind: str  # ``'equal files'``, ``'near-duplicates'``, or the column
    # number of groups of such stimuli, and of stimuli in them
    groups: int = 0
    stimuli: int = 0
    pairs: int | None = None  # number of pairs; None for a column
    # share of the test stimuli with another one of their group among the training stimuli; None if not examined
    share: float | None = None
    reason: str | None = None  # why it was not examined


@dataclass(frozen=True, kw_only=True)
class Copies:
    """Presentations (`presentations` `of` all) with the same responses as an earlier one, such as `examples`."""

    kind: str
    presentations: int = 0
    of: int = 0
    examples: tuple[str, ...] = ()


@dataclass(frozen=True, kw_only=True)
class SerialTest:
    """A test of whether responses depend on the `order` of presentations; p after Holm's correction."""

    kind: str
    order: str = ""
    recordings: str = ""
    within: str = ""
    value: float | None = None
    p_corrected: float | None = None

    @property
    def significant(self) -> bool:
        """Whether there is such a dependence."""
        return self.p_corrected is not None and self.p_corrected <= LEVEL


@dataclass(frozen=True, kw_only=True)
class Loss:
    """How much a score decreases when stimuli that belong together stay on one side of splits."""

    rule: str  # what stays together
    model: str  # the scored model or features
    # metric's value by the benchmark's splits, with groups kept together, and their difference
    default: float | None = None
    # 95 % intervals of the three.
    default_ci: Interval | None = None
    grouped: float | None = None
    grouped_ci: Interval | None = None
    loss: float | None = None
    ci: Interval | None = None
    p: float | None = None  # p-value of the difference
    reason: str | None = None  # why a number is missing


@dataclass(frozen=True, kw_only=True)
class StimulusPair:
    """Two similar or equal stimuli; the pictures are data URIs, if the stimuli are public."""

    first: str
    second: str
    similarity: float | None = None
    equal: bool = False
    first_picture: str | None = None
    second_picture: str | None = None


@dataclass(frozen=True, kw_only=True)
class Audit:
    """Result of an audit."""

    stimuli: int = 0  # number of stimuli
    independent: int | None = None  # number of independent units
    units: Mapping[str, int] = field(default_factory=dict)  # unit → number of independent ones
    # what was examined
    overlaps: tuple[Overlap, ...] = ()
    copies: tuple[Copies, ...] = ()
    tests: tuple[SerialTest, ...] = ()
    losses: tuple[Loss, ...] = ()
    pairs: tuple[StimulusPair, ...] = ()
    notes: tuple[str, ...] = ()  # what was not examined, and why
    clean: bool | None = None  # whether there is no finding

    @property
    def outcome(self) -> str:
        """``'no finding'`` or ``'findings'``; empty if this is not stored."""
        return "" if self.clean is None else "no finding" if self.clean else "findings"


@dataclass(frozen=True, kw_only=True)
class Difference:
    """Model minus baseline model, its 95 % interval, and the one-sided p-value that the model is not better.

    `condition` states for which few subjects or groups alone this holds; empty if it holds for new ones.
    """

    value: float | None = None
    ci: Interval | None = None
    p: float | None = None
    condition: str = UNRECORDED
    reason: str | None = None


@dataclass(frozen=True, kw_only=True)
class ControlScore:
    """Score of a baseline model, and the model's difference to it."""

    # name, ``'baseline'`` or ``'artefact check'``, and what the features are
    name: str
    kind: str
    description: str = ""
    score: float | None = None  # score before it is clamped to [0, 1]
    ci: Interval | None = None  # its 95 % interval
    # of the model to it; without values if no model exists
    difference: Difference = field(default_factory=Difference)
    reason: str | None = None  # why there is no score

    @property
    def surpassed(self) -> bool | None:
        """Whether the model is significantly better, one-sided at 5 %; None if this was not tested."""
        return None if self.difference.p is None else self.difference.p <= LEVEL


@dataclass(frozen=True, kw_only=True)
class Controls:
    """Scores of baseline models, with those of a model beside them."""

    model: str | None = None  # the model; None for baseline models alone
    score: float | None = None  # its score before it is clamped to [0, 1]
    ci: Interval | None = None  # its 95 % interval
    reason: str | None = None  # why it has no score
    controls: tuple[ControlScore, ...] = ()  # also those without a score
    # whether the model is above all baseline models with a score; None if this is not known
    above_all_controls: bool | None = None
    p_above_all_controls: float | None = None  # largest p-value

    @property
    def outcome(self) -> str:
        """Empty: a model that is not above a baseline is not a fault of the benchmark."""
        return ""

    @property
    def condition(self) -> str:
        """For which few subjects or groups alone the tests of the model hold; empty if they hold for new ones."""
        tested = [each.difference for each in self.controls if each.difference.p is not None]
        return condition_of_benchmark(each.condition for each in tested)

    @property
    def scored(self) -> tuple[ControlScore, ...]:
        """The baseline models with a score."""
        return tuple(control for control in self.controls if control.score is not None)

    @property
    def best(self) -> ControlScore | None:
        """The baseline model with the highest score; None if none has a score."""
        return max(self.scored, key=lambda control: control.score or 0.0, default=None)


@dataclass(frozen=True, kw_only=True)
class Share:
    """A share of a number of experiments, with its 95 % limits."""

    share: float | None = None
    low: float | None = None
    high: float | None = None
    experiments: int = 0

    @property
    def ci(self) -> Interval | None:
        """The limits."""
        return None if self.low is None or self.high is None else (self.low, self.high)


@dataclass(frozen=True, kw_only=True)
class Confusion:
    """Which candidate scores best in experiments of one generator, by the candidate that is true."""

    generator: str  # how responses were simulated
    # experiments in which the candidate of the column scored best, and that of the row was true
    counts: tuple[tuple[int, ...], ...] = ()
    found: tuple[Share, ...] = ()  # how often each candidate scored best where it was true
    overall: Share = field(default_factory=Share)  # the same for all candidates together

    @property
    def shares(self) -> list[list[float]]:
        """Shares of the experiments of each true candidate; NaN if there are none."""
        return [[count / sum(row) if sum(row) else math.nan for count in row] for row in self.counts]


@dataclass(frozen=True, kw_only=True)
class Mixture:
    """How often a mixture (1 − w) · first + w · second scores higher than `first`, where the mixture is true."""

    # how responses were simulated, and the candidates that are mixed
    generator: str
    first: str
    second: str
    weights: tuple[float, ...] = ()  # values of w
    found: tuple[Share, ...] = ()  # for each weight
    smallest: float | None = None  # smallest w from which on the share is at least 80 %
    reason: str | None = None  # why there is none


@dataclass(frozen=True, kw_only=True)
class Size:
    """Recovery with other numbers of stimuli and neuroids; without `overall`, the reason why it was not simulated."""

    generator: str
    stimuli: int = 0
    neuroids: int = 0
    overall: Share | None = None
    reason: str | None = None


@dataclass(frozen=True, kw_only=True)
class Recovery:
    """Whether the true one of several candidates scores best in simulated experiments."""

    # models, and how their responses were simulated
    candidates: tuple[str, ...] = ()
    generators: tuple[str, ...] = ()
    # of the experiments
    stimuli: int | None = None
    neuroids: int | None = None
    reliability: float | None = None  # median reliability of the neuroids
    reliability_source: str = "unknown source"  # where it is from
    # the results
    confusions: tuple[Confusion, ...] = ()
    mixtures: tuple[Mixture, ...] = ()
    sizes: tuple[Size, ...] = ()
    notes: tuple[str, ...] = ()
    holds_for: str = ""  # what the shares hold for

    def __post_init__(self) -> None:
        n = len(self.candidates)
        for number, confusion in enumerate(self.confusions):
            if confusion.counts and [len(row) for row in confusion.counts] != [n] * n:
                raise mismatch(f"result.confusions[{number}].counts", f"not a table of {n} × {n} candidates")
        for number, mixture in enumerate(self.mixtures):
            if mixture.found and len(mixture.found) != len(mixture.weights):
                raise mismatch(
                    f"result.mixtures[{number}].found", f"not one for each of {len(mixture.weights)} weights"
                )

    @property
    def outcome(self) -> str:
        """``'recovered'`` if no candidate is missed often, else ``'not recovered'``; empty if this is unknown."""
        shares = [found_share.share for confusion in self.confusions for found_share in confusion.found]
        numbers = [share for share in shares if share is not None]
        if not numbers or len(numbers) < len(shares):
            return ""
        return "recovered" if min(numbers) >= 1 - MOST_MISSED else "not recovered"


@dataclass(frozen=True, kw_only=True)
class AnsweredModel:
    """Answer of one model to a question.

    `p` is of the difference to the model of rank 1, after correction for all pairs and for the questions asked so far.
    """

    model: str
    score: float | None = None
    ci: Interval | None = None  # 95 % intervals
    raw: float | None = None
    raw_ci: Interval | None = None
    # rank, and its lowest and highest value
    rank: int | None = None
    best: int | None = None
    worst: int | None = None
    p: float | None = None
    receipt: str = ""  # id of the receipt of the answer
    source: str = ""  # id of the receipt of the score whose products were used
    reason: str | None = None  # why there is no score


@dataclass(frozen=True, kw_only=True)
class Answered:
    """Answers of models to a question about the benchmark."""

    question: str = ""
    asked: int = 1  # number of different questions asked about these data so far
    models: tuple[AnsweredModel, ...] = ()
    refused: int = 0  # number of models without an answer

    outcome = ""


@dataclass(frozen=True, kw_only=True)
class SignalShare:
    """A share of the signal, and what explains it; may be negative."""

    label: str
    share: float | None = None
    ci: Interval | None = None


@dataclass(frozen=True, kw_only=True)
class SignalShares:
    """What models explain of the signal alone and together."""

    question: str = ""  # selection of stimuli and neuroids
    neuroids: int = 0
    condition: str = ""  # what the shares hold for
    shares: tuple[SignalShare, ...] = ()

    outcome = ""


@dataclass(frozen=True, kw_only=True)
class NeuroidShares:
    """Share of the variance of a neuroid that is signal, and shares of the signal that models explain."""

    signal: float | None = None
    best: float | None = None
    combined: float | None = None
    found: bool = False  # whether more than the margin is unexplained


@dataclass(frozen=True, kw_only=True)
class StimulusShown:
    """A stimulus, a number about it, and a small picture if it is public."""

    stimulus: str
    value: float | None = None  # of an atlas: unexplained signal; of a design: expected difference over the noise
    picture: str = ""  # data URI of a JPEG


@dataclass(frozen=True, kw_only=True)
class Unexplained:
    """What no model explains."""

    question: str = ""  # selection of stimuli and neuroids
    neuroids: int = 0
    reliable: int = 0  # number with a signal
    found: int = 0  # number of which more than `margin` of the signal is unexplained
    margin: float | None = None
    # medians over neuroids with a signal: explained by the best model and the best combination
    best: float | None = None
    combined: float | None = None
    condition: str = ""
    points: tuple[NeuroidShares, ...] = ()  # neuroids with a signal
    stimuli_found: int = 0  # number of stimuli of which more than `margin` is unexplained
    stimuli: tuple[StimulusShown, ...] = ()  # the first of these, most unexplained first

    outcome = ""


@dataclass(frozen=True, kw_only=True)
class Power:
    """How often the true model is found by an experiment; of no true model, how often the first one wins."""

    true: str  # a model, or 'none'
    designed: float | None = None  # with the chosen stimuli
    random: float | None = None  # with as many random ones


@dataclass(frozen=True, kw_only=True)
class MeasuredModel:
    """Correlation of a model's sealed predictions with what was measured."""

    model: str
    correlation: float | None = None


@dataclass(frozen=True, kw_only=True)
class Designed:
    """Stimuli that decide between models, with the hash of sealed predictions."""

    question: str = ""
    compared: tuple[str, ...] = ()  # the models to decide between
    neuroids: int = 0
    training: int = 0  # number of stimuli that maps were fitted to
    pool: int = 0  # number of stimuli that were chosen from
    pool_of: str = ""
    repetitions: int = 1
    stimuli: tuple[StimulusShown, ...] = ()
    power: tuple[Power, ...] = ()
    sha256: str = ""  # of the file of predictions
    measured: tuple[MeasuredModel, ...] = ()  # after the experiment

    outcome = ""


Result = Audit | Controls | Recovery | Answered | SignalShares | Unexplained | Designed
_KINDS: Mapping[str, type[Result]] = {
    "audit": Audit,
    "controls": Controls,
    "recovery": Recovery,
    "question": Answered,
    "explanation": SignalShares,
    "atlas": Unexplained,
    "design": Designed,
}


def result_of(part: str, result: Any) -> Result:
    """Read the result of a part of an assessment.

    `part` is one of :data:`PARTS` or :data:`QUESTION_PARTS`; `result` is the ``result`` of a stored assessment. Raises
    ReceiptError if a field has another type, or a name is missing.

    Examples
    --------
    >>> result_of("audit", {"stimuli": 90, "clean": True}).outcome
    'no finding'
    >>> result_of("audit", {"stimuli": "many"})
    Traceback (most recent call last):
        ...
    brainscore_core.receipts.schema.ReceiptError: not a valid assessment: result.stimuli is 'many', not a whole number
    """
    if part not in _KINDS:
        raise mismatch("part", f"{part!r:.40}, not one of {', '.join(_KINDS)}")
    return read(_KINDS[part], result, "result")


SCHEMA_VERSION = 1

Part = Literal["audit", "controls", "recovery", "question", "explanation", "atlas", "design"]
PARTS: tuple[Part, ...] = ("audit", "controls", "recovery")
"""Parts of an assessment of a benchmark's validity, in the order in which they are computed."""
QUESTION_PARTS: tuple[Part, ...] = ("question", "explanation", "atlas", "design")
"""Results of questions about stored scores; only visitors who may see the benchmark's data see them."""


@dataclass(frozen=True, kw_only=True)
class Used:
    """A plugin that was used."""

    kind: str  # ``'benchmark'``, ``'model'``, ``'data'``, ``'metric'`` …
    identifier: str  # its name
    version: int | str | None = None  # version of a benchmark
    sha256: str | None = None  # hash of the plugin's code, as in receipts of scores; None if no plugin registers it


@dataclass(frozen=True, kw_only=True)
class Assessment:
    """One part of the assessment of a benchmark.

    Examples
    --------
    >>> found = Assessment(part="audit", benchmark=Used(kind="benchmark", identifier="Some2026.V1-pls"),
    ...                    state="assessed", result={"findings": []}, text="All checks passed.")
    >>> Assessment.from_json(found.identified().to_json()).text
    'All checks passed.'
    """

    part: Part
    benchmark: Used  # the benchmark
    models: tuple[Used, ...] = ()  # models that take part: the scored model, or the candidates of a recovery
    data: tuple[Used, ...] = ()  # data sets, stimulus sets and metrics that were used
    settings: dict[str, Any] = field(default_factory=dict)  # arguments of the computation, such as seeds
    state: Literal["assessed", "not applicable", "failed"]
    reason: str | None = None  # why there is no result
    error: ErrorInfo | None = None  # the error, if it failed
    result: dict[str, Any] | None = None  # fields of the part's result, as JSON types
    text: str = ""  # the result as the command line prints it
    environment: dict[str, Any] = field(default_factory=dict)  # interpreter, machine and libraries
    code: str | None = None  # hash of the platform's code
    seconds: float = 0.0
    # set when it is stored
    id: str | None = None
    created: str | None = None

    def identified(self) -> Self:
        """Return the assessment with time and id."""
        created = self.created or present_time()
        dated = replace(self, created=created)
        return replace(dated, id=identify({**plain(asdict(dated)), "id": None}, created))

    @property
    def outcome(self) -> str:
        """``'findings'``, ``'recovered'`` … of an audit or a recovery; empty without one, and for controls."""
        result = self.typed_result
        return "" if result is None else result.outcome

    @property
    def topic(self) -> str:
        """What is asked, as JSON; empty for parts of which only the newest counts whatever the settings are."""
        return json.dumps(self.settings, sort_keys=True) if self.part in QUESTION_PARTS else ""

    @property
    def typed_result(self) -> Result | None:
        """The result as an object; None without one.

        Raises ReceiptError if a field has another type.
        """
        return None if self.result is None else result_of(self.part, self.result)

    def to_dict(self) -> dict[str, Any]:
        """Convert to plain JSON types that follow the schema.

        Raises ReceiptError if the content does not follow the schema.
        """
        data: dict[str, Any] = {"schema_version": SCHEMA_VERSION, "id": self.id, "created": self.created}
        data |= {key: value for key, value in plain(asdict(self)).items() if key not in data}
        _validate(data)
        return data

    def to_json(self) -> str:
        """Convert to strict JSON: without NaN, UTF-8, indented."""
        return dumps(self.to_dict()) + "\n"

    @classmethod
    def from_json(cls, text: str | bytes) -> Self:
        """Read and check an assessment.

        Raises ReceiptError if the text is not JSON, does not follow the schema, or was written by a newer version.
        """
        data = parse(text)
        refuse_newer(data, SCHEMA_VERSION)
        _validate(data)
        return read(cls, data, checked=False)


def _validate(data: Any) -> None:
    ASSESSMENTS.validate(data)
    if data["result"] is not None:
        result_of(data["part"], data["result"])
