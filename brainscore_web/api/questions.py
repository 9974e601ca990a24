"""Questions about stored scores in the API."""

from __future__ import annotations

import uuid
from datetime import datetime
from typing import Any, Literal

from django.http import HttpRequest
from ninja import Router, Schema, Status
from pydantic import ConfigDict, Field

from brainscore_core.errors import UserError
from brainscore_core.questions.question import LONGEST, Question
from brainscore_web.accounts.callers import has_confirmed_email
from brainscore_web.api.authentication import Access, caller_of
from brainscore_web.api.responses import Problem, operation, refuse_unknown_parameters
from brainscore_web.leaderboard.ingest.assessments import MOST_MODELS
from brainscore_web.leaderboard.models import Benchmark
from brainscore_web.questions.answering import TooMany, ask_question
from brainscore_web.questions.models import AskedQuestion

router = Router()


class QuestionAsked(Schema):
    """A question about a benchmark; what is left out is as the benchmark has it."""

    model_config = ConfigDict(extra="forbid")

    benchmark: str = Field(max_length=500, description="Identifier of a benchmark whose data you may see.")
    part: Literal["question", "explanation", "atlas"] = Field(
        "question",
        description="Scores of all models, what two to four models explain alone and together, or what none explains.",
    )
    models: list[str] = Field([], max_length=MOST_MODELS, description="Models; all public ones if left out.")
    stimuli: str | None = Field(None, max_length=LONGEST, description="An expression that selects stimuli.")
    neuroids: str | None = Field(None, max_length=LONGEST, description="An expression that selects neuroids.")
    subjects: list[str] = Field([], max_length=50, description="Only neuroids of these subjects.")
    regions: list[str] = Field([], max_length=50, description="Only neuroids of these regions.")
    metric: str | None = Field(None, max_length=100, description="Another metric.")
    split: str | None = Field(None, max_length=LONGEST, description="groups:COLUMN, each:COLUMN or test:EXPRESSION.")


class QuestionState(Schema):
    """A question, and its answer."""

    id: str
    benchmark: str
    part: str
    question: dict[str, Any] = Field(description="What differs from the benchmark.")
    models: list[str] = Field(description="Models; empty for all public ones.")
    state: str = Field(json_schema_extra={"enum": AskedQuestion.State.values})
    created: datetime
    ended: datetime | None
    reason: str = Field(description="Why there is no answer.")
    answer: str = Field(description="Id of the answer in /api/v1/assessments.")


@router.post(
    "questions",
    **operation("benchmarks", "Ask about scores", QuestionState, 403, 404, auth=Access(scope="submit"), status=201),
)
def create_question(request: HttpRequest, asked: QuestionAsked) -> Status[dict[str, Any]]:
    """Ask a question about the scores of a benchmark, answered by a worker without running models.

    The answer becomes one of the benchmark's assessments, and counts in no average.
    """
    refuse_unknown_parameters(request)
    user = caller_of(request).user
    if user is None or not has_confirmed_email(user):
        raise Problem(403, "the address of the token's owner is not confirmed", "confirm it at /accounts/email/")
    benchmark = Benchmark.objects.filter(identifier=asked.benchmark, is_mean=False).first()
    if benchmark is None:
        raise Problem(404, f"there is no benchmark {asked.benchmark[:100]!r}", "see /api/v1/benchmarks")
    content = asked.dict(exclude={"part", "models", "benchmark"})
    try:
        row = ask_question(user, benchmark, asked.part, Question.about(benchmark.identifier, **content), asked.models)
    except UserError as error:
        raise Problem(429 if isinstance(error, TooMany) else 400, error.message, error.remedy) from error
    return Status(201, _shown(row))


@router.get(
    "questions/{uuid:question}",
    **operation("benchmarks", "Show a question", QuestionState, 403, 404, auth=Access(required=True)),
)
def show_question(request: HttpRequest, question: uuid.UUID) -> dict[str, Any]:
    """Show the state of one of your questions."""
    refuse_unknown_parameters(request)
    caller = caller_of(request)
    if caller.token is not None and not caller.may("read"):
        raise Problem(403, "the token lacks the scope read", "use another token")
    row = AskedQuestion.objects.filter(pk=question, owner=caller.user).select_related("benchmark").first()
    if row is None:
        raise Problem(404, f"there is no question {question} of yours", "ask one: POST /api/v1/questions")
    return _shown(row)


def _shown(row: AskedQuestion) -> dict[str, Any]:
    names = ("part", "question", "state", "created", "ended", "reason", "answer")
    shown = {name: getattr(row, name) for name in names}
    return {"id": str(row.pk), "benchmark": row.benchmark.identifier, "models": row.model_names, **shown}
