"""Questions in the queue: their limits, and their answers, which a worker computes in a process of its own."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Sequence
from datetime import timedelta
from functools import partial
from pathlib import Path
from typing import Any

from django.conf import settings
from django.db import transaction
from django.db.models import Q
from django.utils import timezone
from django_tasks import task

from brainscore_core.errors import UserError
from brainscore_core.files import temporary_folder
from brainscore_core.isolation.sandbox import run_guarded
from brainscore_core.questions.question import Question
from brainscore_core.receipts.assessment import Assessment
from brainscore_core.runner.process import scoring_environment
from brainscore_web.accounts.models import User
from brainscore_web.jobs.leases import Lease, LeaseQueue, RetryPolicy
from brainscore_web.jobs.outbox import notify_administrators
from brainscore_web.jobs.workers import do_next, resume, wake_for
from brainscore_web.leaderboard.clean import text
from brainscore_web.leaderboard.ingest.assessments import MOST_MODELS, keep_answer
from brainscore_web.leaderboard.models import Benchmark, Score, Visibility, VisionModel, Visitor
from brainscore_web.questions.models import AskedQuestion
from brainscore_web.scoring.live_plugins import cache_uploaded_files, current_live_plugins
from brainscore_web.scoring.runners import clean_environment
from brainscore_web.submissions.steps import LONG_LANE, PathFilter

_Part, _State = AskedQuestion.Part, AskedQuestion.State
OPEN = (_State.WAITING, _State.RUNNING)
_DAY = timedelta(hours=24)
_KEPT = timedelta(days=30)
_LONGEST_REASON = 1000  # characters
_GAVE_UP = "the site could not answer it; its administrators have been notified"

QUESTIONS = LeaseQueue(
    AskedQuestion,
    waiting=Q(state=_State.WAITING),
    held=Q(state=_State.RUNNING),
    order=("due", "pk"),
    on_claim={"state": _State.RUNNING},
    on_release={"state": _State.WAITING},
    related=("benchmark", "owner"),
    retry=RetryPolicy(timedelta(seconds=30), attempts=2),
    lane=LONG_LANE,
    owner="owner",
    exclusive=True,
    restarted=True,
    task="brainscore_web.questions.answering.do_next_question",
)
"""Questions to be answered. Users take turns."""


class TooMany(UserError):
    """A limit on the number of questions is reached."""


def models_with_products(benchmark: Benchmark, visitor: Visitor) -> list[VisionModel]:
    """Return the models whose stored products of features the visitor may ask about, by name."""
    scores = Score.objects.visible_to(visitor).filter(benchmark=benchmark, document__products__isnull=False)
    return list(VisionModel.objects.filter(pk__in=scores.order_by().values("model")).order_by("identifier"))


def ask_question(
    user: User, benchmark: Benchmark, part: str, question: Question, models: Sequence[str]
) -> AskedQuestion:
    """Put a question into the queue.

    Raises
    ------
    TooMany
        If the user, or all users together, have asked too many.
    UserError
        If the user may not ask this.
    """
    _models_for(user, benchmark, part, models)
    if part != _Part.QUESTION and (question.metric or question.split):
        raise UserError("metric and splits are those of scores", remedy="leave them empty")
    limits = settings.QUESTIONS
    with transaction.atomic():
        User.objects.select_for_update().get(pk=user.pk)
        every, recent = AskedQuestion.objects.filter(state__in=OPEN), timezone.now() - _DAY
        mine, today = every.filter(owner=user), AskedQuestion.objects.filter(created__gt=recent)
        if mine.count() >= limits["open"]:
            raise TooMany(f"{limits['open']} of your questions are not answered yet", remedy="wait for an answer")
        if today.filter(owner=user).count() >= limits["day"]:
            raise TooMany(f"you have asked {limits['day']} questions in 24 hours", remedy="ask again tomorrow")
        if every.count() >= limits["site_open"] or today.count() >= limits["site_day"]:
            raise TooMany("this site has been asked too many questions", remedy="ask again later")
        row = AskedQuestion.objects.create(
            owner=user, benchmark=benchmark, part=part, question=question.as_dict(), model_names=list(models)
        )
        transaction.on_commit(partial(wake_for, QUESTIONS), robust=True)  # the sweep wakes workers as well
    return row


def answer_next(only: Any = None) -> bool:
    """Answer the next due question, or the given one; return whether there was one."""
    return do_next(QUESTIONS, _answer, give_up=_give_up, where=None if only is None else Q(pk=only))


def resume_questions() -> int:
    """Make interrupted questions due again, and wake a worker if any are due; return the number of interrupted ones."""
    released = resume(QUESTIONS)
    wake_for(QUESTIONS)
    return released


def delete_old_questions() -> int:
    """Delete questions that ended long ago, but not their answers; return their number."""
    return AskedQuestion.objects.exclude(state__in=OPEN).filter(ended__lt=timezone.now() - _KEPT).delete()[0]


def _answer(lease: Lease[AskedQuestion]) -> None:
    row = lease.row
    try:
        assessment = _computed(lease, _models_for(row.owner, row.benchmark, row.part, row.model_names))
    except UserError as error:
        lease.finish(state=_State.FAILED, ended=timezone.now(), reason=text(error.line(), _LONGEST_REASON))
    else:
        if assessment is not None:
            keep_answer(assessment)
            lease.finish(state=_State.ANSWERED, ended=timezone.now(), answer=assessment.id)


def _give_up(lease: Lease[AskedQuestion], _why: str, internal: str) -> None:
    if lease.finish(state=_State.FAILED, ended=timezone.now(), reason=_GAVE_UP):
        notify_administrators(str(lease.row), internal)


def _models_for(user: User, benchmark: Benchmark, part: str, names: Sequence[str]) -> list[str]:
    """Return the models that a user asks about; UserError if the user may not see them or the data."""
    if not benchmark.shows_data_to(user):
        raise UserError(
            "stimuli and measurements of this benchmark are withheld", remedy="only its owner can ask about them"
        )
    known = {model.identifier: model.visibility for model in models_with_products(benchmark, user)}
    unknown = [name for name in names if name not in known]
    if unknown:
        raise UserError(f"there are no stored features of {', '.join(unknown)[:200]}", remedy="choose listed models")
    chosen = list(names) or [name for name, visibility in known.items() if visibility == Visibility.PUBLIC]
    if part == _Part.EXPLANATION and not 2 <= len(names) <= 4:
        raise UserError(f"{len(names)} models are chosen", remedy="choose two to four")
    if not 0 < len(chosen) <= MOST_MODELS:
        raise UserError(f"{len(chosen)} models can be asked about", remedy=f"choose up to {MOST_MODELS}")
    return chosen


def _computed(lease: Lease[AskedQuestion], models: list[str]) -> Assessment | None:
    """Compute the answer in another process; None if the lease was lost meanwhile."""
    row, limits = lease.row, settings.QUESTIONS
    live = current_live_plugins()
    cache_uploaded_files(live.folder)
    environment = {**clean_environment(scoring_environment(1, limits["memory"])), **live.environment}
    store = str(settings.SUBMISSIONS["results"])
    request = {
        "question": row.question, "part": row.part, "models": models, "store": store, "memory": limits["memory"]
    }  # fmt: skip
    with temporary_folder("brainscore-question-") as folder:
        (folder / "request.json").write_text(json.dumps(request))
        ended = run_guarded(
            [sys.executable, "-P", "-m", "brainscore_web.questions.answering_process", str(folder)],
            timeout=limits["seconds"],
            environment=environment,
            stopped=lease.is_lost,
        )
        if ended.cause == "stopped":
            return None
        if ended.cause == "timeout":
            raise UserError(f"it took more than {limits['seconds']} s", remedy="ask about fewer stimuli or models")
        if ended.cause:
            raise RuntimeError(f"the process {ended.message}: {ended.output[-2000:]}")
        result = json.loads((folder / "answer.json").read_bytes())
    if "error" in result:
        message, _, remedy = PathFilter([], [Path(store), Path(os.path.expanduser("~"))])(result["error"]).partition(
            "\n"
        )
        raise UserError(message, remedy=remedy or None)
    return Assessment.from_json(json.dumps(result["assessment"]))


@task(queue_name="long")
def do_next_question() -> bool:
    """Answer the next question."""
    return answer_next()
