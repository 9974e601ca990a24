"""Tasks wake workers up: django-tasks' own worker does what is due, steps and uploads."""

from datetime import timedelta

import pytest
from django.core.management import call_command
from django.utils import timezone
from django_tasks_db.models import DBTaskResult

from brainscore_web.jobs.workers import delete_old_tasks, sweep
from brainscore_web.submissions.models import Step
from brainscore_web.submissions.pipeline import runner
from brainscore_web.submissions.steps import Outcome
from tests.web._plugins import model_files

pytestmark = pytest.mark.django_db(transaction=True)


def work():
    """Do all that waits."""
    call_command("db_worker", queue_name="*", batch=True, startup_delay=False, interval=0, reload=False, verbosity=0)


@pytest.fixture
def quick(monkeypatch):
    """Steps that pass at once; notes which were done."""
    done = []

    def passes(lease):
        done.append((lease.row.revision_id, lease.row.kind))
        return Outcome(passed=True)

    monkeypatch.setattr(runner, "_STEP_FUNCTIONS", dict.fromkeys(("check", "test", "publish"), passes))
    return done


def test_one_task_does_all_that_is_due(submit, quick):
    """However many submissions there are; each step is done once, and no task is left."""
    revisions = [submit(model_files(f"tiles-{size}", size=size)) for size in (4, 5, 6)]
    assert DBTaskResult.objects.count() == 1
    work()
    assert sorted(quick) == sorted((one.pk, kind) for one in revisions for kind in ("check", "test", "publish"))
    assert DBTaskResult.objects.ready().count() == 0
    assert not DBTaskResult.objects.failed().exists()


def test_a_lost_task_is_no_loss(submit, quick):
    """The sweep wakes a worker again."""
    submit()
    DBTaskResult.objects.all().delete()
    work()
    assert quick == []
    assert sweep() >= 1
    work()
    assert [kind for _revision, kind in quick] == ["check", "test", "publish"]


def test_records_of_tasks_do_not_pile_up(submit, quick):
    """What ended long ago is forgotten, also where its worker was killed."""
    submit()
    work()
    DBTaskResult.objects.update(enqueued_at=timezone.now() - timedelta(days=15))
    first = DBTaskResult.objects.order_by("enqueued_at", "pk").first()
    DBTaskResult.objects.filter(pk=first.pk).update(status="RUNNING")
    delete_old_tasks()
    assert not DBTaskResult.objects.exists()
    assert Step.objects.filter(state="passed").count() >= 3
