"""Which pairs are to be scored because of a submission."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from typing import Any

from django.db import connection, transaction
from django.utils import timezone

from brainscore_web.leaderboard.models import Benchmark, Score, VisionModel
from brainscore_web.scoring.models import OPEN, Job
from brainscore_web.scoring.registered import BENCHMARKS, MODELS, keys_of, scored_identifiers
from brainscore_web.submissions.models import Submission

__all__ = ["plan", "plan_for"]

_AT_ONCE = 400  # of the parameters that a query takes
_MODEL_FIRST = 5  # somebody waits for one model's scores, rather than for those of all models
_OF_DATA = ("data_registry", "stimulus_set_registry", "metric_registry")


def plan_for(submission: Submission) -> int:
    """Plan what a submission that was just published makes necessary; in the transaction that publishes it.

    Its models are scored on all benchmarks, all models on its benchmarks, and on those whose newest receipts name its
    data or metrics. There is one open job a pair: where one waits already it is done for this submission, too, and one
    that runs with what was published before begins anew.

    Parameters
    ----------
    submission : Submission
        Its newest revision counts.

    Returns
    -------
    int
        How many pairs are open for it now.
    """
    revision = submission.latest
    own = keys_of(revision)
    changed = revision.number > 1
    with transaction.atomic():
        Job.submissions.through.objects.filter(submission=submission).exclude(job__state__in=OPEN).delete()
        models = _rows(VisionModel, scored_identifiers(MODELS), runnable=True)
        benchmarks = _rows(Benchmark, scored_identifiers(BENCHMARKS), is_mean=False)
        new_models = [models[key] for key in sorted(own.get(MODELS, ())) if key in models]
        new_benchmarks = [benchmarks[key] for key in sorted(own.get(BENCHMARKS, ())) if key in benchmarks]
        data = set().union(*(own.get(registry, set()) for registry in _OF_DATA))
        known, planned = set(new_benchmarks), set(new_models)
        others = [pk for pk in models.values() if pk not in planned]
        users = [pk for pk in _that_use(data, list(benchmarks.values())) if pk not in known] if data else []
        word = "new version of the" if changed else "new"
        plan(new_models, list(benchmarks.values()), why=f"{word} model", priority=_MODEL_FIRST, submission=submission)
        plan(others, new_benchmarks, why=f"{word} benchmark", submission=submission)
        plan(others, users, why="its data or metric changed", submission=submission)
        return Job.objects.open().filter(submissions=submission).count()


def plan(
    models: Sequence[int],
    benchmarks: Sequence[int],
    *,
    why: str,
    priority: int = 0,
    submission: Submission | None = None,
    asked_by: Any = None,
) -> None:
    """Plan all pairs of some models and benchmarks, given by their primary keys.

    A thousand models on three hundred benchmarks are a matter of seconds: the database makes the rows itself.
    """
    with transaction.atomic(), connection.cursor() as cursor:
        for some_models in _parts(models):
            for some_benchmarks in _parts(benchmarks):
                pairs = Job.objects.open().filter(model__in=some_models, benchmark__in=some_benchmarks)
                # also what waits is touched: who claims it meanwhile does so after this is published
                pairs.update(
                    state=Job.State.WAITING, claim="", claimed=None, attempts=0, started=None, stop=False,
                    created=timezone.now(), due=timezone.now(),
                )  # fmt: skip
                made = Job(why=why, priority=priority, asked_by=asked_by)
                cursor.execute(*_insertion(made, some_models, some_benchmarks))
                if submission is not None:
                    cursor.execute(*_linking(submission, some_models, some_benchmarks))


def _rows(kind: type[VisionModel] | type[Benchmark], wanted: set[str], **conditions: Any) -> dict[str, int]:
    rows: Any = kind._default_manager.filter(**conditions).order_by("identifier").values_list("identifier", "pk")
    return {identifier: pk for identifier, pk in rows.iterator(chunk_size=5000) if identifier in wanted}


def _that_use(names: set[str], benchmarks: Collection[int]) -> list[int]:
    """Benchmarks whose newest receipt names one of these data sets, stimulus sets or metrics."""
    found = []
    for pk in benchmarks:
        newest = Score.objects.filter(benchmark=pk, document__isnull=False).order_by("-created")
        document = newest.values_list("document", flat=True).first()
        items = document.get("data", []) if isinstance(document, dict) else []
        if any(isinstance(item, dict) and item.get("identifier") in names for item in items):
            found.append(pk)
    return found


def _parts(keys: Sequence[int]) -> Iterator[Sequence[int]]:
    for start in range(0, len(keys), _AT_ONCE):
        yield keys[start : start + _AT_ONCE]


def _insertion(made: Job, models: Sequence[int], benchmarks: Sequence[int]) -> tuple[str, list[Any]]:
    """Make all pairs that are not open, as `made` is."""
    quoted = connection.ops.quote_name
    fields = [field for field in Job._meta.concrete_fields if not field.primary_key]
    selected, values = [], []
    for field in fields:
        if field.name == "model":
            selected.append("m.id")
        elif field.name == "benchmark":
            selected.append("b.id")
        else:
            # PostgreSQL does not know otherwise of which type a value is that stands in a list of columns
            selected.append(
                f"CAST(%s AS {field.rel_db_type(connection) if field.is_relation else field.cast_db_type(connection)})"
            )
            values.append(field.get_db_prep_save(getattr(made, field.attname), connection))
    columns = ", ".join(quoted(field.column or "") for field in fields)
    statement = (
        f"INSERT INTO {quoted(Job._meta.db_table)} ({columns}) SELECT {', '.join(selected)} "  # noqa: S608 # names only
        f"FROM {quoted(VisionModel._meta.db_table)} m CROSS JOIN {quoted(Benchmark._meta.db_table)} b "
        f"WHERE m.id IN ({_places(models)}) AND b.id IN ({_places(benchmarks)}) "
        "ORDER BY m.identifier, b.identifier ON CONFLICT DO NOTHING"
    )
    return statement, [*values, *models, *benchmarks]


def _linking(submission: Submission, models: Sequence[int], benchmarks: Sequence[int]) -> tuple[str, list[Any]]:
    """Let all open pairs be for a submission."""
    quoted = connection.ops.quote_name
    through = Job.submissions.through._meta.db_table
    key = Submission._meta.pk.get_db_prep_save(submission.pk, connection)
    statement = (
        f"INSERT INTO {quoted(through)} (job_id, submission_id) "  # noqa: S608 # names only
        f"SELECT j.id, CAST(%s AS {Submission._meta.pk.cast_db_type(connection)}) FROM {quoted(Job._meta.db_table)} j "
        f"WHERE j.state IN (%s, %s) AND j.model_id IN ({_places(models)}) "
        f"AND j.benchmark_id IN ({_places(benchmarks)}) "
        "ON CONFLICT DO NOTHING"
    )
    return statement, [key, *OPEN, *models, *benchmarks]


def _places(values: Sequence[int]) -> str:
    return ", ".join(["%s"] * len(values))
