"""Schemas of the requests and responses of the API."""

from __future__ import annotations

from datetime import datetime
from typing import Annotated, Any, Generic, Literal, TypeVar

from ninja import Schema
from pydantic import BeforeValidator, ConfigDict, Field

from brainscore_core.domain_names import DOMAINS, FIRST
from brainscore_core.numerics.means import ASSUMPTION
from brainscore_core.receipts.assessment import Part
from brainscore_web.leaderboard.clean import finite

T = TypeVar("T")


Finite = Annotated[float | None, BeforeValidator(finite)]
"""A number, or null."""


class Strict(Schema):
    """A schema without additional fields."""

    model_config = ConfigDict(extra="forbid")


class Fault(Strict):
    """What is wrong with one parameter."""

    where: str = Field(description="The parameter.")
    message: str = Field(description="What is wrong with it.")


class ProblemAnswer(Strict):
    """An error."""

    status: int = Field(description="The HTTP status.")
    title: str = Field(description="The status in words.")
    message: str = Field(description="What is wrong.")
    remedy: str | None = Field(description="What to do about it.")
    errors: list[Fault] = Field(description="What is wrong with each parameter.")


class Page(Strict, Generic[T]):
    """Some of the items, in a fixed order."""

    items: list[T]
    total: int = Field(description="Total number of items.")
    limit: int = Field(description="Maximum number of items on this page.")
    offset: int = Field(description="Number of items before these.")
    next: str | None = Field(description="URL of the next page; null on the last.")
    previous: str | None = Field(description="URL of the previous page; null on the first.")


class DomainAsked(Schema):
    """The domain of a leaderboard."""

    domain: Literal[*DOMAINS] = Field(FIRST, description="Domain of models and benchmarks.")  # type: ignore[valid-type] # computed names


class OfDomain(Schema):
    """A filter of rows by their domain."""

    domain: Literal[*DOMAINS] | None = Field(None, description="Only this domain.")  # type: ignore[valid-type] # computed names


_DOMAIN = "Domain, such as vision or language."


class ModelEntry(Strict):
    """A model."""

    identifier: str
    domain: str = Field(description=_DOMAIN)
    title: str = Field(description="Shown instead of the identifier; may be empty.")
    visibility: Literal["public", "private"] = Field(description="Private: only its owner and its lab see it.")
    architecture: str
    family: str
    parameters: int | None = Field(description="Number of parameters.")
    size_mb: Finite = Field(description="Size of the weights in MB.")
    training_data: str
    runnable: bool = Field(description="Whether it can be loaded from published code and weights.")
    source: str = Field(description="URL of a description.")
    created: datetime = Field(description="When it was added to the site.")


class Profile(Strict):
    """How well each layer of a model predicts a region."""

    region: str
    benchmark: str = Field(description="The benchmark on which the layers were scored.")
    document: dict[str, Any] = Field(description="The profile.")
    created: datetime


class ModelCard(ModelEntry):
    """A model with all details."""

    regions: dict[str, Any] = Field(description="Layers of regions: {region: [layer, …]}.")
    plugin: str = Field(description="Folder of its code.")
    bibtex: str = Field(description="Citation as BibTeX.")
    profiles: list[Profile]


class Ceiling(Strict):
    """How well a perfect model could do, as far as the data can tell."""

    value: Finite
    error: Finite = Field(description="Standard error.")
    low: Finite = Field(description="Lower end of the confidence interval; null with `high`: there is no lower limit.")
    high: Finite = Field(description="Upper end of the confidence interval; null with `low`: there is no upper limit.")
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
    lower_bound: Finite = Field(description="Score of a model without any knowledge.")
    changes: str = Field(description="Changes since the previous version.")


class BenchmarkEntry(Strict):
    """A benchmark, or a mean of the nodes below it. All scores are public."""

    identifier: str
    domain: str = Field(description=_DOMAIN)
    title: str = Field(description="Shown instead of the identifier; may be empty.")
    parent: str | None = Field(description="Identifier of the mean above.")
    depth: int = Field(description="Number of means above it.")
    is_mean: bool = Field(description="Whether it is a mean of the nodes below it.")
    version: str = Field(description="The version whose scores count; empty: any.")
    control: bool = Field(description="Checks the method; counts in no mean.")
    in_tree: bool = Field(description="Whether it counts in means.")
    access: Literal["public", "private"] | None = Field(
        description="Access to stimuli and measurements; null for a mean."
    )
    region: str
    species: str
    task: str
    method: str = Field(description="Method of measurement.")
    stimuli: str = Field(description="Kind of stimuli.")
    metric: str


class BenchmarkCard(BenchmarkEntry):
    """A benchmark with all details."""

    children: list[str] = Field(description="Identifiers of the nodes directly below it.")
    description: str
    n_stimuli: int | None = Field(description="Number of stimuli.")
    n_subjects: int | None = Field(description="Number of subjects.")
    n_neuroids: int | None = Field(description="Number of recorded sites or voxels.")
    credit: str = Field(description="Who contributed the benchmark.")
    source: str = Field(description="URL of a description of the data.")
    plugin: str = Field(description="Folder of its code.")
    bibtex: str = Field(description="Citation as BibTeX.")
    versions: list[Version] = Field(description="Newest first.")


class ScoreEntry(Strict):
    """One model scored on one version of one benchmark."""

    receipt: str = Field(description="Identifier of the receipt.")
    domain: str = Field(description=_DOMAIN)
    model: str
    benchmark: str
    version: str = Field(description="Version of the benchmark; empty if not known.")
    counts: bool = Field(description="Whether it is the newest score on the current version of the benchmark.")
    state: Literal["scored", "undefined", "not applicable", "failed", "not run"] = Field(
        description="undefined: the score is NaN; not applicable: the model cannot do what the benchmark asks; "
        "not run: the site lacked data, weights, space or software, which says nothing about the model."
    )
    reason: str = Field(description="Why there is no score.")
    value: Finite = Field(description="The score; relative to the ceiling where `scale` is ceiled.")
    error: Finite = Field(description="Standard error of the score.")
    low: Finite = Field(description="Lower end of the confidence interval.")
    high: Finite = Field(description="Upper end of the confidence interval.")
    level: Finite = Field(description="Confidence level of the interval, such as 0.95.")
    estimates: str = Field(description="What the interval estimates.")
    error_reason: str = Field(description="Why there is no error.")
    undetermined: str = Field(
        description="Why the score relative to the ceiling says nothing: the ceiling may be 0. Empty otherwise."
    )
    scale: str = Field(description="ceiled: relative to the ceiling; raw: not.")
    unclamped: Finite = Field(description="The score before it was clamped to its range.")
    raw: Finite = Field(description="Score before normalisation by the ceiling.")
    raw_error: Finite = Field(description="Standard error of `raw`.")
    raw_low: Finite = Field(description="Lower end of the confidence interval of `raw`.")
    raw_high: Finite = Field(description="Upper end of the confidence interval of `raw`.")
    ceiling: Finite = Field(description="The ceiling at that time.")
    seconds: Finite = Field(description="How long scoring took, in seconds.")
    created: datetime = Field(description="When the receipt was made.")


class ScorePage(Strict):
    """Scores, oldest receipt first."""

    items: list[ScoreEntry]
    limit: int = Field(description="Maximum number of items on this page.")
    next: str | None = Field(description="URL of the next page; null on the last.")


class UsedPlugin(Strict):
    """A plugin that an assessment used."""

    kind: str = Field(description="benchmark, model, data, metric …")
    identifier: str
    version: str | int | None = Field(description="Version of a benchmark.")
    sha256: str | None = Field(description="Hash of the plugin's code.")


class AssessmentEntry(Strict):
    """One part of the assessment of a benchmark."""

    id: str
    created: datetime = Field(description="When it was computed.")
    part: Part
    benchmark: str
    version: str = Field(description="Version of the benchmark; empty if not known.")
    models: list[str] = Field(
        description="The model whose score is assessed; candidates of a recovery; models that a question is about."
    )
    state: Literal["assessed", "not applicable", "failed"] = Field(
        description="not applicable: this part is not defined for the benchmark."
    )
    outcome: Literal["", "no finding", "findings", "recovered", "not recovered"] = Field(
        description=(
            "Of an audit and of a recovery, as on the leaderboard. recovered: each candidate scored best in at least "
            "80 % of the experiments in which it was true. Empty otherwise."
        )
    )
    reason: str = Field(description="Why there is no result.")
    code: str | None = Field(description="Hash of the platform's code.")
    seconds: Finite = Field(description="Duration.")
    text: str = Field(description="The result as the command line prints it; empty if the data are withheld.")
    used: list[UsedPlugin] = Field(description="Plugins that were used.")
    settings: dict[str, Any] = Field(description="Arguments of the computation, such as seeds.")
    environment: dict[str, Any] = Field(description="Interpreter, machine and libraries.")
    result: dict[str, Any] | None = Field(description="Fields of the part's result; null if there is none.")


class AssessmentPage(Strict):
    """Assessments, oldest first."""

    items: list[AssessmentEntry]
    limit: int = Field(description="Maximum number of items on this page.")
    next: str | None = Field(description="URL of the next page; null on the last.")


class Refused(Strict):
    """A receipt that was refused."""

    receipt: str = Field(description="Its identifier, or its number in the list.")
    message: str = Field(description="Why.")
    remedy: str | None = Field(description="What to do about it.")


class Posted(Strict):
    """Result of posting receipts."""

    added: int = Field(description="Number of new receipts.")
    known: int = Field(description="Number of known receipts.")
    problems: list[Refused] = Field(description="Refused receipts, and why.")


class TokenAnswer(Strict):
    """A token, without its secret text."""

    name: str
    prefix: str = Field(description="First characters of its text.")
    scopes: list[str]
    created: datetime
    expires: datetime | None


class Me(Strict):
    """The caller."""

    name: str = Field(description="Public name.")
    email: str = Field(description="E-mail address, which is not public.")
    kind: Literal["token", "session"] = Field(description="How the caller is authenticated.")
    token: TokenAnswer | None
    may_post_receipts: bool


class RankedModel(Strict):
    """A model on the leaderboard, ranked by the first mean."""

    identifier: str
    title: str
    private: bool = Field(description="Whether the model is private.")
    architecture: str
    family: str
    parameters: int | None = Field(description="Number of parameters.")
    training_data: str
    trained_on: list[str] = Field(description="Data sets, with those of the models that it was fine-tuned from.")
    training_known: bool = Field(description="Whether `trained_on` has all of them.")
    runnable: bool = Field(description="Whether it can be loaded from published code and weights.")
    size_mb: Finite = Field(description="Size of the weights in MB.")
    rank: int | None = Field(description="Null for models below the coverage; see `unranked`.")
    best: int | None = Field(description=f"Best rank in the range of ranks; null if no two were tested. {ASSUMPTION}")
    worst: int | None = Field(description="Worst rank in this range, under the same condition.")
    groups: str = Field(description="Models that share a letter do not differ significantly; empty if not tested.")
    unranked: str | None = Field(description="Why the model has no rank; null if it has one.")
    n_scored: int = Field(description="Number of benchmarks of the first mean on which the model was scored.")
    n_all: int = Field(description="Number of benchmarks of the first mean that pass the filters.")
    published: int | None = Field(description="Year in the model's citation.")


class BoardColumn(Strict):
    """A node of the leaderboard's tree: a mean or a benchmark."""

    identifier: str
    title: str
    parent: str | None = Field(description="Identifier of the mean above.")
    depth: int
    kind: Literal["mean", "benchmark"]
    n_benchmarks: int = Field(description="Benchmarks here and below that pass the filters.")
    version: str | None = Field(description="Of a benchmark: the version whose scores count; empty: any.")
    taken_from: list[str] | None = Field(description="Of a benchmark: data sets that hold the stimuli; null: unknown.")
    shown: bool = Field(description="Whether the page shows it.")
    best: Finite = Field(description="The highest value of the models that pass the filters.")
    median: Finite = Field(description="Their median.")
    ceiling: Finite = Field(description="On the scale of raw scores.")
    condition: str = Field(
        description="For which few subjects or groups alone values, differences and ranks hold; empty: for new ones."
    )


class BoardAnswer(Strict):
    """The leaderboard; matrices have one row per model and one column per node."""

    domain: str = Field(description=_DOMAIN)
    query: str = Field(description="The requested query in its canonical form.")
    total: int = Field(description="Number of models that pass the filters.")
    limit: int = Field(description="Maximum number of items on this page.")
    offset: int = Field(description="Number of items before these.")
    state_names: list[str] = Field(description="Names of the states; numbers in `state` are indices into this list.")
    models: list[RankedModel] = Field(description="In the requested order.")
    nodes: list[BoardColumn] = Field(description="Depth first; benchmarks that count in no mean last.")
    value: list[list[float | None]] = Field(description="Scores, and means of scores.")
    error: list[list[float | None]] = Field(
        description="Their standard errors; of a mean of several scores only if influences of units are stored of all."
    )
    low: list[list[float | None]] = Field(description="Lower ends of their intervals.")
    high: list[list[float | None]] = Field(description="Upper ends of their intervals.")
    state: list[list[int]] = Field(description="Results of scoring: see `state_names`.")
    n_scored: list[list[int]] = Field(description="Number of benchmarks with a score at or below the node.")
    exposure_names: list[str] = Field(description="Numbers in `exposure` are indices into this list.")
    exposure: list[list[int | None]] = Field(
        description="Whether models were trained on the stimuli; of a mean, the most exposed score; null: no score."
    )
    verification_names: list[str] = Field(description="Numbers in `verification` are indices into this list.")
    verification: list[list[int]] = Field(
        description="Whether scores were computed by remote workers and are not verified by this site, or are "
        "contradicted; of a mean, the most doubtful score; 0: no doubt."
    )
    notes: list[str] = Field(description="Sentences that explain what is shown.")


_State = Literal["queued", "changes", "review", "publishing", "scoring", "done", "rejected", "withdrawn"]


class SubmissionEntry(Strict):
    """A submission."""

    id: str
    title: str = Field(description="Names of its plugins.")
    visibility: Literal["public", "private"] = Field(description="Visibility of its models.")
    lab: str = Field(description="The end of the URL of the lab that owns it with its submitter; empty without one.")
    state: _State
    words: str = Field(description="Its state in words.")
    next: str = Field(description="The next step.")
    open: bool = Field(description="Whether it can still change.")
    created: datetime
    changed: datetime = Field(description="When its state last changed.")
    url: str = Field(description="URL of its page.")
    revision: int = Field(description="Number of the newest revision.")


class SubmittedRegistration(Strict):
    """What a plugin registers."""

    registry: str = Field(description="Such as `model_registry`.")
    key: str = Field(description="The identifier.")
    line: int = Field(description="Line in its `__init__.py`.")


class PluginEntry(Strict):
    """A plugin of a revision."""

    domain: str = Field(FIRST, description="Domain whose package it imports: vision or language.")
    kind: str = Field(description="models, benchmarks, data or metrics.")
    name: str = Field(description="Name of its folder.")
    registrations: list[SubmittedRegistration]


class FindingEntry(Strict):
    """A result of the checks of a revision."""

    severity: Literal["error", "warning", "note"] = Field(description="If there is an error, nothing is run.")
    check: str = Field(description="The check.")
    file: str = Field(description="Path in the submission; empty if it concerns all of it.")
    line: int | None = Field(description="From 1.")
    message: str
    remedy: str = Field(description="What to do about it.")


class StepEntry(Strict):
    """A step in the processing of a revision."""

    kind: Literal["check", "test", "review", "publish", "score"]
    name: str = Field(description="In words.")
    state: Literal["waiting", "running", "passed", "failed", "skipped", "cancelled"]
    words: str = Field(description="What it has come to, such as `changes requested`.")
    attempts: int = Field(description="Number of attempts.")
    started: datetime | None
    ended: datetime | None
    reason: str = Field(description="Why it failed or was skipped.")
    log: str = Field(description="Its output.")


class RevisionEntry(Strict):
    """A revision of a submission's files."""

    number: int = Field(description="1, 2, …")
    created: datetime
    origin: Literal["zip", "git", "pull"]
    address: str = Field(description="URL of the repository, or name of the file.")
    commit: str
    note: str = Field(description="Comment of the submitter.")
    digest: str = Field(description="SHA-256 of the archive.")
    size: int = Field(description="Size of the archive in bytes.")
    plugins: list[PluginEntry]
    findings: list[FindingEntry]
    steps: list[StepEntry]


class PairCounts(Strict):
    """Number of pairs of a model and a benchmark in each state."""

    total: int = Field(description="Number of all pairs.")
    waiting: int = Field(description="To be scored.")
    running: int = Field(description="Being scored.")
    scored: int = Field(description="With a score.")
    not_applicable: int = Field(description="The model cannot do what the benchmark asks.")
    undefined: int = Field(description="The score is not defined.")
    failed: int = Field(description="With an error.")
    cancelled: int = Field(description="Cancelled.")
    not_run: int = Field(default=0, description="Which the site could not run yet; it tries again by itself.")


class SubmissionCard(SubmissionEntry):
    """A submission with its revisions."""

    revisions: list[RevisionEntry] = Field(description="Oldest first.")
    pairs: PairCounts | None = Field(description="Available after publication.")
