"""Schemas of the requests and responses of the API."""

from __future__ import annotations

from datetime import datetime
from typing import Annotated, Any, Generic, Literal, TypeVar

from ninja import Schema
from pydantic import BeforeValidator, ConfigDict, Field

from brainscore_web.leaderboard.clean import finite

__all__ = [
    "BenchmarkCard",
    "BenchmarkEntry",
    "BoardAnswer",
    "BoardColumn",
    "Ceiling",
    "Me",
    "ModelCard",
    "ModelEntry",
    "Page",
    "Posted",
    "ProblemAnswer",
    "Profile",
    "RankedModel",
    "Refused",
    "ScoreEntry",
    "ScorePage",
    "SubmissionCard",
    "SubmissionEntry",
]

T = TypeVar("T")


Finite = Annotated[float | None, BeforeValidator(finite)]
"""A number, or null."""


class Strict(Schema):
    """No field but those that are written here."""

    model_config = ConfigDict(extra="forbid")


class Fault(Strict):
    """What is wrong with one parameter."""

    where: str = Field(description="The parameter.")
    message: str = Field(description="What is wrong with it.")


class ProblemAnswer(Strict):
    """Why there is no answer."""

    status: int = Field(description="The HTTP status.")
    title: str = Field(description="The status in words.")
    message: str = Field(description="What is wrong and with what.")
    remedy: str | None = Field(description="What to do about it.")
    errors: list[Fault] = Field(description="What is wrong with each parameter.")


class Page(Strict, Generic[T]):
    """Some of the items, in a fixed order."""

    items: list[T]
    total: int = Field(description="How many there are.")
    limit: int = Field(description="How many of them at most are here.")
    offset: int = Field(description="How many precede these.")
    next: str | None = Field(description="Address of the next page; null on the last.")
    previous: str | None = Field(description="Address of the page before; null on the first.")


class ModelEntry(Strict):
    """A model."""

    identifier: str
    title: str = Field(description="Shown instead of the identifier; may be empty.")
    visibility: Literal["public", "private"] = Field(description="Private: only its owner sees it.")
    architecture: str
    family: str
    parameters: int | None = Field(description="How many parameters.")
    size_mb: Finite = Field(description="Size of the weights in MB.")
    training_data: str
    runnable: bool = Field(description="Whether it can be loaded with what is published.")
    source: str = Field(description="Address of what describes it.")
    created: datetime = Field(description="When the site first knew it.")


class Profile(Strict):
    """How well each layer of a model predicts a region."""

    region: str
    benchmark: str = Field(description="What the layers were scored on.")
    document: dict[str, Any] = Field(description="The profile.")
    created: datetime


class ModelCard(ModelEntry):
    """A model, and what is known of it."""

    regions: dict[str, Any] = Field(description="Layers of regions: {region: [layer, …]}.")
    plugin: str = Field(description="Folder of its code.")
    bibtex: str = Field(description="What to cite.")
    profiles: list[Profile]


class Ceiling(Strict):
    """How well a perfect model could do, as far as the data can tell."""

    value: Finite
    error: Finite = Field(description="Standard error.")
    low: Finite = Field(description="Lower end of the confidence interval.")
    high: Finite = Field(description="Upper end of the confidence interval.")
    level: Finite = Field(description="Confidence level of the interval, such as 0.95.")
    meaning: str = Field(description="What the ceiling is: reliability, an upper bound, …")
    estimates: str = Field(description="What the interval estimates.")
    reason: str = Field(description="Why there is no error or interval.")


class Version(Strict):
    """One version of a benchmark."""

    version: str
    counts: bool = Field(description="Whether scores of this version count.")
    since: datetime = Field(description="When it was first seen.")
    ceiling: Ceiling
    lower_bound: Finite = Field(description="What a model that knows nothing reaches.")
    changes: str = Field(description="What changed since the version before.")


class BenchmarkEntry(Strict):
    """A benchmark, or a mean: what benchmarks are gathered under. Scores of all are public."""

    identifier: str
    title: str = Field(description="Shown instead of the identifier; may be empty.")
    parent: str | None = Field(description="Identifier of the mean that it is gathered under.")
    depth: int = Field(description="How many means are above it.")
    is_mean: bool = Field(description="Its value is the mean of those below it.")
    version: str = Field(description="The version whose scores count; empty: any.")
    control: bool = Field(description="Checks the method; counts in no mean.")
    in_tree: bool = Field(description="Whether it counts in means.")
    access: Literal["public", "private"] | None = Field(
        description="Who may have the stimuli and measurements; null of a mean."
    )
    region: str
    species: str
    task: str
    method: str = Field(description="Of the measurement.")
    stimuli: str = Field(description="Kind of stimuli.")
    metric: str


class BenchmarkCard(BenchmarkEntry):
    """A benchmark, and what is known of it."""

    children: list[str] = Field(description="Identifiers of what is gathered directly under it.")
    description: str
    n_stimuli: int | None = Field(description="How many stimuli.")
    n_subjects: int | None = Field(description="How many subjects.")
    n_neuroids: int | None = Field(description="How many recorded sites or voxels.")
    credit: str = Field(description="Who contributed the benchmark.")
    source: str = Field(description="Address of what describes the data.")
    plugin: str = Field(description="Folder of its code.")
    bibtex: str = Field(description="What to cite.")
    versions: list[Version] = Field(description="Newest first.")


class ScoreEntry(Strict):
    """One model scored on one version of one benchmark."""

    receipt: str = Field(description="Identifier of the receipt that says so.")
    model: str
    benchmark: str
    version: str = Field(description="Of the benchmark; empty: not known.")
    counts: bool = Field(description="The newest of the model on the benchmark's version that counts.")
    state: Literal["scored", "undefined", "not applicable", "failed"] = Field(
        description="undefined: the score is NaN; not applicable: the model cannot do what the benchmark asks."
    )
    reason: str = Field(description="Why there is no score.")
    value: Finite = Field(description="The score; relative to the ceiling where `scale` is ceiled.")
    error: Finite = Field(description="Standard error of the score.")
    low: Finite = Field(description="Lower end of the confidence interval.")
    high: Finite = Field(description="Upper end of the confidence interval.")
    level: Finite = Field(description="Confidence level of the interval, such as 0.95.")
    estimates: str = Field(description="What the interval estimates.")
    error_reason: str = Field(description="Why there is no error.")
    scale: str = Field(description="ceiled: relative to the ceiling; raw: not.")
    unclamped: Finite = Field(description="The score before it was limited to its range.")
    raw: Finite = Field(description="Before the ceiling is taken into account.")
    raw_error: Finite = Field(description="Standard error of `raw`.")
    raw_low: Finite = Field(description="Lower end of the confidence interval of `raw`.")
    raw_high: Finite = Field(description="Upper end of the confidence interval of `raw`.")
    ceiling: Finite = Field(description="The ceiling at that time.")
    seconds: Finite = Field(description="How long scoring took, in seconds.")
    created: datetime = Field(description="When the receipt was made.")


class ScorePage(Strict):
    """Scores, oldest receipt first."""

    items: list[ScoreEntry]
    limit: int = Field(description="How many of them at most are here.")
    next: str | None = Field(description="Address of the next page; null on the last.")


class Refused(Strict):
    """A receipt that was not taken."""

    receipt: str = Field(description="Its identifier, or its place in the list.")
    message: str = Field(description="Why.")
    remedy: str | None = Field(description="What to do about it.")


class Posted(Strict):
    """What became of receipts that were posted."""

    added: int = Field(description="New ones.")
    known: int = Field(description="Those that were there already.")
    problems: list[Refused] = Field(description="Those that were not taken, and why.")


class TokenAnswer(Strict):
    """A token, but for its text."""

    name: str
    prefix: str = Field(description="How its text begins.")
    scopes: list[str]
    created: datetime
    expires: datetime | None


class Me(Strict):
    """Who asks."""

    name: str = Field(description="As others see it.")
    email: str = Field(description="Others never see it.")
    kind: Literal["token", "session"] = Field(description="How the site knows.")
    token: TokenAnswer | None
    may_post_receipts: bool


class RankedModel(Strict):
    """A model on the leaderboard, ranked by the first mean."""

    identifier: str
    title: str
    private: bool = Field(description="Others do not see it.")
    architecture: str
    family: str
    parameters: int | None = Field(description="How many parameters.")
    training_data: str
    runnable: bool = Field(description="Whether it can be loaded with what is published.")
    size_mb: Finite = Field(description="Size of the weights in MB.")
    rank: int | None = Field(description="Null where there is no score.")
    best: int | None = Field(description="Best rank in the rank's interval.")
    worst: int | None = Field(description="Worst rank in the rank's interval.")
    groups: str = Field(description="Models that share a letter are not told apart.")


class BoardColumn(Strict):
    """A node of the leaderboard's tree: a mean or a benchmark."""

    identifier: str
    title: str
    parent: str | None = Field(description="Identifier of the mean above.")
    depth: int
    kind: Literal["mean", "benchmark"]
    n_benchmarks: int = Field(description="Benchmarks here and below that pass the filters.")
    version: str | None = Field(description="Of a benchmark: the version whose scores count; empty: any.")
    shown: bool = Field(description="Whether the page shows it.")
    best: Finite = Field(description="The highest value of the models that pass the filters.")
    median: Finite = Field(description="Their median.")
    ceiling: Finite = Field(description="On the scale of raw scores.")


class BoardAnswer(Strict):
    """The leaderboard: matrices have a row a model and a column a node."""

    query: str = Field(description="What was asked for, in its one fixed form.")
    total: int = Field(description="How many models pass the filters.")
    limit: int = Field(description="How many of them at most are here.")
    offset: int = Field(description="How many precede these.")
    state_names: list[str] = Field(description="What the numbers in `state` mean: places in this list.")
    models: list[RankedModel] = Field(description="In the order asked for.")
    nodes: list[BoardColumn] = Field(description="Depth first; what counts in no mean last.")
    value: list[list[float | None]] = Field(description="Scores, and means of scores.")
    error: list[list[float | None]] = Field(description="Their standard errors.")
    low: list[list[float | None]] = Field(description="Lower ends of their intervals; of means 1.96 errors away.")
    high: list[list[float | None]] = Field(description="Upper ends of their intervals; of means 1.96 errors away.")
    state: list[list[int]] = Field(description="What came of scoring: see `state_names`.")
    n_scored: list[list[int]] = Field(description="How many benchmarks here and below have a score.")
    notes: list[str] = Field(description="What is shown, and what it rests on.")


_State = Literal["queued", "changes", "review", "publishing", "scoring", "done", "rejected", "withdrawn"]


class SubmissionEntry(Strict):
    """A submission."""

    id: str
    title: str = Field(description="Names of its plugins.")
    visibility: Literal["public", "private"] = Field(description="Of its models.")
    state: _State
    words: str = Field(description="How it stands.")
    next: str = Field(description="What to do now.")
    open: bool = Field(description="Whether it may still change.")
    created: datetime
    changed: datetime = Field(description="When its state last changed.")
    url: str = Field(description="Of its page.")
    revision: int = Field(description="Number of the newest revision.")


class SubmittedRegistration(Strict):
    """What a plugin registers."""

    registry: str = Field(description="Such as `model_registry`.")
    key: str = Field(description="The identifier.")
    line: int = Field(description="Of its `__init__.py`.")


class PluginEntry(Strict):
    """A plugin of a revision."""

    kind: str = Field(description="models, benchmarks, data or metrics.")
    name: str = Field(description="Of its folder.")
    registrations: list[SubmittedRegistration]


class FindingEntry(Strict):
    """Something about a revision that its submitter should know."""

    severity: Literal["error", "warning", "note"] = Field(description="With an error nothing is run.")
    check: str = Field(description="What was looked at.")
    file: str = Field(description="Path in the submission; empty: it is about all of it.")
    line: int | None = Field(description="From 1.")
    message: str
    remedy: str = Field(description="What to do about it.")


class StepEntry(Strict):
    """One step of a revision's way."""

    kind: Literal["check", "test", "review", "publish", "score"]
    name: str = Field(description="In words.")
    state: Literal["waiting", "running", "passed", "failed", "skipped", "cancelled"]
    attempts: int = Field(description="How often it was begun.")
    started: datetime | None
    ended: datetime | None
    reason: str = Field(description="Why it failed or was left out.")
    log: str = Field(description="What was printed.")


class RevisionEntry(Strict):
    """One state of a submission's files."""

    number: int = Field(description="1, 2, …")
    created: datetime
    origin: Literal["zip", "git", "pull"]
    address: str = Field(description="Of the repository; or the name of the file.")
    commit: str
    note: str = Field(description="What its submitter says about it.")
    digest: str = Field(description="SHA-256 of the archive.")
    size: int = Field(description="Bytes of the archive.")
    plugins: list[PluginEntry]
    findings: list[FindingEntry]
    steps: list[StepEntry]


class PairCounts(Strict):
    """How many pairs of a model and a benchmark are in which state."""

    total: int = Field(description="All.")
    waiting: int = Field(description="To be scored.")
    running: int = Field(description="Being scored.")
    scored: int = Field(description="With a score.")
    not_applicable: int = Field(description="The model cannot do what the benchmark asks.")
    undefined: int = Field(description="The score is not defined.")
    failed: int = Field(description="With an error.")
    cancelled: int = Field(description="Given up.")


class SubmissionCard(SubmissionEntry):
    """A submission with its revisions."""

    revisions: list[RevisionEntry] = Field(description="The first one first.")
    pairs: PairCounts | None = Field(description="Once it is published.")
