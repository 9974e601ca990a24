"""Planning, retrying and cancelling of jobs, and those of submissions."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from fnmatch import fnmatchcase
from functools import partial
from typing import Any

from django.conf import settings
from django.db import IntegrityError, connection, transaction
from django.db.models import Q
from django.dispatch import receiver
from django.utils import timezone

from brainscore_core.domains import domains
from brainscore_core.errors import UserError
from brainscore_web.accounts.models import User, owned_by, owns
from brainscore_web.leaderboard.models import Benchmark, Score, VisionModel, Visitor, chunks
from brainscore_web.scoring.models import OPEN, Job
from brainscore_web.submissions.models import Plugin, PluginKind, Submission
from brainscore_web.submissions.pipeline import scoring_ended
from brainscore_web.submissions.status import published, scoring_cancelled, scoring_retried

MODEL_REGISTRY, BENCHMARK_REGISTRY = "model_registry", "benchmark_registry"


def _identifiers(registry: str, **conditions: Any) -> set[str]:
    """Return the keys that live plugins register, optionally only plugins that match the conditions."""
    rows = Plugin.objects.filter(**conditions).select_related("revision").defer("revision__archive").order_by("pk")
    return {
        key
        for plugin in rows.iterator(chunk_size=200)
        for key in plugin.revision.registered(registry, plugin=(plugin.kind, plugin.name))
    }


def scored_identifiers(registry: str) -> set[str]:
    """Return all models or benchmarks that the site scores: those in the settings, and those of live plugins."""
    patterns = settings.SUBMISSIONS["models" if registry == MODEL_REGISTRY else "benchmarks"]
    installed = {key for each in domains() for key in each.plugin_index.locations(registry)}
    chosen = {key for key in installed if any(fnmatchcase(key, pattern) for pattern in patterns)}
    return chosen | _identifiers(registry)


def submitted_models() -> set[str]:
    """Return the submitted models, whose code runs in a sandbox."""
    return _identifiers(MODEL_REGISTRY, kind=PluginKind.MODELS)


def notify_submissions(jobs: Collection[int]) -> None:
    """Close submissions of which these jobs were the last ones, after this transaction."""
    submissions: set[Any] = set()
    for keys in chunks(sorted(jobs)):
        links = Job.submissions.through.objects.filter(job__in=keys)
        submissions |= set(links.values_list("submission", flat=True))
    for key in sorted(submissions):
        transaction.on_commit(partial(scoring_ended, key), robust=True)  # the worker's sweep repeats it


REQUESTED = "asked for"
"""The reason of jobs that a user requested, also if the pair has a score."""

_REQUESTED_PRIORITY = 10
_State = Job.State


def may_change(job: Job, visitor: Visitor) -> bool:
    """Whether a visitor may retry or cancel a job: owners of its model or a submission of it, and administrators."""
    if not visitor.is_authenticated or not Job.objects.filter(pk=job.pk).visible_to(visitor).exists():
        return False
    if visitor.is_staff or owns(visitor, job.model):
        return True
    return job.submissions.filter(owned_by(visitor)).exists()


def retry_job(job: Job, by: User | None) -> None:
    """Score a pair again."""
    now = timezone.now()
    try:
        with transaction.atomic():
            changed = Job.objects.filter(pk=job.pk).exclude(state__in=OPEN).update(
                state=_State.WAITING, asked_by=by, why=REQUESTED, priority=_REQUESTED_PRIORITY, created=now, due=now,
                claim="", claimed=None, worker="", attempts=0, stop=False, started=None, ended=None, receipt="",
                reason="", internal="", pauses=0, log="",
            )  # fmt: skip
    except IntegrityError:
        changed = 0
    if not changed:
        raise UserError(f"{job} is already waiting or being scored", remedy="wait until it has ended")


def cancel_job(job: Job, by: User | None) -> None:
    """Cancel a job: at once if it waits, within seconds if it runs. A job that has ended is unchanged."""
    _cancel(Q(pk=job.pk), by)


def cancel_all(submission: Submission, by: User | None) -> None:
    """Cancel a submission's jobs, except those that other submissions also wait for."""
    through = Job.submissions.through.objects
    with transaction.atomic():
        mine = set(Job.objects.open().filter(submissions=submission).order_by("pk").values_list("pk", flat=True))
        shared_links = through.filter(job__submissions=submission, job__state__in=OPEN).exclude(submission=submission)
        shared = set(shared_links.exclude(submission__state__in=Submission.CLOSED).values_list("job", flat=True))
        for keys in chunks(sorted(shared)):
            through.filter(submission=submission, job__in=keys).delete()
        for keys in chunks(sorted(mine - shared)):
            _cancel(Q(pk__in=keys), by)


def _cancel(which: Q, by: User | None) -> None:
    reason = f"cancelled by {by.public_name}" if by is not None else "cancelled"
    with transaction.atomic():
        waiting = Job.objects.filter(which, state=_State.WAITING).select_for_update()
        keys = list(waiting.order_by("pk").values_list("pk", flat=True))
        Job.objects.filter(pk__in=keys, state=_State.WAITING).update(
            state=_State.CANCELLED, ended=timezone.now(), reason=reason, claim="", claimed=None
        )
        Job.objects.filter(which, state=_State.RUNNING).update(stop=True, reason=reason)
        notify_submissions(keys)


_NEW_MODEL_PRIORITY = 5  # a submitter waits for the scores of one model, rather than of all models
_OF_DATA = ("data_registry", "stimulus_set_registry", "metric_registry")


def plan_for(submission: Submission) -> int:
    """Plan the jobs of a submission, in the transaction that publishes it.

    Its models are scored on all benchmarks, all models on its benchmarks, and on those whose newest receipts name its
    data or metrics. A pair has one open job: a waiting job also counts for this submission, and a job that runs with
    earlier versions of the plugins starts again.
    """
    revision = submission.latest
    changed = revision.number > 1
    with transaction.atomic():
        Job.submissions.through.objects.filter(submission=submission).exclude(job__state__in=OPEN).delete()
        domain = submission.domain
        models = _rows(VisionModel, scored_identifiers(MODEL_REGISTRY), domain=domain, runnable=True)
        benchmarks = _rows(Benchmark, scored_identifiers(BENCHMARK_REGISTRY), domain=domain, is_mean=False)
        new_models, new_benchmarks = (
            [rows[key] for key in sorted(revision.registered(registry)) if key in rows]
            for rows, registry in ((models, MODEL_REGISTRY), (benchmarks, BENCHMARK_REGISTRY))
        )
        data, new = set().union(*map(revision.registered, _OF_DATA)), "new version of the" if changed else "new"
        other_models = [pk for pk in models.values() if pk not in set(new_models)]
        others = [pk for pk in benchmarks.values() if pk not in set(new_benchmarks)]
        users = _benchmarks_using(data, others) if data else []
        first: dict[str, Any] = {"priority": _NEW_MODEL_PRIORITY, "submission": submission}
        plan(new_models, list(benchmarks.values()), why=f"{new} model", **first)
        plan(other_models, new_benchmarks, why=f"{new} benchmark", submission=submission)
        plan(other_models, users, why="its data or metric changed", submission=submission)
        return Job.objects.open().filter(submissions=submission).count()


def plan(
    models: Sequence[int],
    benchmarks: Sequence[int],
    *,
    why: str,
    priority: int = 0,
    submission: Submission | None = None,
) -> None:
    """Plan all pairs of some models and benchmarks of one domain, given as primary keys.

    The database creates the rows itself, so that a thousand models on three hundred benchmarks take seconds.
    """
    with transaction.atomic(), connection.cursor() as cursor:
        for some_models in chunks(models):
            for some_benchmarks in chunks(benchmarks):
                pairs = Job.objects.open().filter(model__in=some_models, benchmark__in=some_benchmarks)
                # updates waiting jobs as well, so that a worker can claim them only after this publication
                pairs.update(
                    state=Job.State.WAITING, claim="", claimed=None, attempts=0, started=None, stop=False,
                    created=timezone.now(), due=timezone.now(),
                )  # fmt: skip
                template = Job(why=why, priority=priority)
                cursor.execute(*_insertion(template, some_models, some_benchmarks))
                if submission is not None:
                    cursor.execute(*_linking(submission, some_models, some_benchmarks))


def _rows(kind: type[VisionModel] | type[Benchmark], wanted: set[str], **conditions: Any) -> dict[str, int]:
    rows: Any = kind._default_manager.filter(**conditions).order_by("identifier").values_list("identifier", "pk")
    return {identifier: pk for identifier, pk in rows.iterator(chunk_size=5000) if identifier in wanted}


def _benchmarks_using(names: set[str], benchmarks: Collection[int]) -> list[int]:
    """Return benchmarks whose newest receipt names one of these data sets, stimulus sets or metrics."""
    using = []
    for pk in benchmarks:
        newest = Score.objects.filter(benchmark=pk, document__isnull=False).order_by("-created")
        document = newest.values_list("document", flat=True).first()
        items = document.get("data", []) if isinstance(document, dict) else []
        if any(isinstance(item, dict) and item.get("identifier") in names for item in items):
            using.append(pk)
    return using


def _insertion(template: Job, models: Sequence[int], benchmarks: Sequence[int]) -> tuple[str, list[Any]]:
    """Return the statement that inserts all pairs without an open job, with the values of `template`."""
    quoted = connection.ops.quote_name
    fields = [field for field in Job._meta.concrete_fields if not field.primary_key]
    selected, values = [], []
    for field in fields:
        if field.name == "model":
            selected.append("m.id")
        elif field.name == "benchmark":
            selected.append("b.id")
        else:
            # PostgreSQL cannot infer the type of a value in a list of columns
            type_name = field.rel_db_type(connection) if field.is_relation else field.cast_db_type(connection)
            selected.append(f"CAST(%s AS {type_name})")
            values.append(field.get_db_prep_save(getattr(template, field.attname), connection))
    columns = ", ".join(quoted(field.column or "") for field in fields)
    statement = (
        f"INSERT INTO {quoted(Job._meta.db_table)} ({columns}) SELECT {', '.join(selected)} "  # noqa: S608 # names only
        f"FROM {quoted(VisionModel._meta.db_table)} m CROSS JOIN {quoted(Benchmark._meta.db_table)} b "
        f"WHERE m.domain = b.domain AND m.id IN ({_placeholders(models)}) AND b.id IN ({_placeholders(benchmarks)}) "
        "ORDER BY m.identifier, b.identifier ON CONFLICT DO NOTHING"
    )
    return statement, [*values, *models, *benchmarks]


def _linking(submission: Submission, models: Sequence[int], benchmarks: Sequence[int]) -> tuple[str, list[Any]]:
    """Return the statement that links all open jobs of these pairs to a submission."""
    quoted = connection.ops.quote_name
    through = Job.submissions.through._meta.db_table
    key = Submission._meta.pk.get_db_prep_save(submission.pk, connection)
    statement = (
        f"INSERT INTO {quoted(through)} (job_id, submission_id) "  # noqa: S608 # names only
        f"SELECT j.id, CAST(%s AS {Submission._meta.pk.cast_db_type(connection)}) FROM {quoted(Job._meta.db_table)} j "
        f"WHERE j.state IN (%s, %s) AND j.model_id IN ({_placeholders(models)}) "
        f"AND j.benchmark_id IN ({_placeholders(benchmarks)}) "
        "ON CONFLICT DO NOTHING"
    )
    return statement, [key, *OPEN, *models, *benchmarks]


def _placeholders(values: Sequence[int]) -> str:
    return ", ".join(["%s"] * len(values))


@receiver(published, dispatch_uid="scoring-published")
def _published(*, submission: Submission, **_: Any) -> None:
    plan_for(submission)


@receiver(scoring_retried, dispatch_uid="scoring-retried")
def _retried(*, submission: Submission, by: User, **_: Any) -> None:
    for job in Job.objects.filter(submissions=submission, state=_State.FAILED).order_by("pk"):
        retry_job(job, by)


@receiver(scoring_cancelled, dispatch_uid="scoring-cancelled")
def _cancelled(*, submission: Submission, by: User, **_: Any) -> None:
    cancel_all(submission, by)
