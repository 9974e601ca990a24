"""Leases: one process a row, renewed while it works, lost when it falls silent; the same for all tables."""

import threading
import time
import uuid
from datetime import timedelta

import pytest
from django.db import OperationalError, connection, connections
from django.db.models import QuerySet
from django.utils import timezone

from brainscore_web.jobs.leases import Renewal, claim, expired_leases, process_name
from brainscore_web.jobs.outbox import EMAILS
from brainscore_web.leaderboard.models import Benchmark, VisionModel
from brainscore_web.scoring.claims import JOBS
from brainscore_web.scoring.models import Job
from brainscore_web.submissions.models import Submission
from brainscore_web.submissions.steps import STEPS
from brainscore_web.uploads.checking import CHECKS
from brainscore_web.uploads.models import Upload

QUEUES = {"steps": STEPS, "jobs": JOBS, "uploads": CHECKS, "e-mails": EMAILS}


@pytest.fixture
def fill(django_user_model):
    """Create rows that are due."""

    def fill(queue, number=1):
        for place in range(number):
            owner = django_user_model.objects.create_user(f"{uuid.uuid4().hex}@example.org", "correct horse battery")
            if queue is CHECKS:
                Upload.objects.create(owner=owner, identifier=f"S{place}", state="checking")
            elif queue is EMAILS:
                EMAILS.model.objects.create(to=owner, subject="x", body="x")
            elif queue is STEPS:
                submission = Submission.objects.create(owner=owner)
                revision = submission.revisions.create(number=1, archive=b"", digest="", size=0)
                revision.steps.create(kind="check", order=0, due=timezone.now())
            else:
                model = VisionModel.objects.create(identifier=f"m{place}-{owner.pk}")
                benchmark = Benchmark.objects.create(identifier=f"b{place}-{owner.pk}")
                Job.objects.create(model=model, benchmark=benchmark, why="new")

    return fill


@pytest.fixture(params=QUEUES)
def queue(request):
    return QUEUES[request.param]


@pytest.mark.django_db
def test_a_row_is_claimed_once_renewed_and_released(queue, fill):
    fill(queue)
    (lease,) = claim(queue)
    assert lease.attempts == 1
    assert lease.row.worker == process_name()
    assert not claim(queue)
    queue.model.objects.update(claimed=timezone.now() - timedelta(minutes=1))
    assert lease.renew()
    assert lease.rows().get().claimed > timezone.now() - timedelta(seconds=10)
    assert not expired_leases(queue)  # this process is alive
    assert lease.release(after=timedelta(minutes=1), counts=False)
    assert not claim(queue)  # not due yet
    assert not lease.renew()
    assert lease.is_lost()
    queue.model.objects.update(due=timezone.now())
    (again,) = claim(queue)
    assert again.attempts == 1


@pytest.mark.django_db
def test_a_failure_is_tried_again_after_a_pause_and_not_for_ever(queue, fill):
    fill(queue)
    most = queue.retry.attempts or 12
    for attempt in range(1, most + 1):
        (lease,) = claim(queue)
        assert not lease.attempts_exceeded()
        again = lease.retry()
        assert again == (attempt < most or queue.retry.attempts is None)
        if again:
            due = queue.model.objects.get().due - timezone.now()
            assert due > 0.9 * queue.retry.pause(attempt)
            assert not claim(queue)
            queue.model.objects.update(due=timezone.now())
    assert lease.rows().exists() == (queue.retry.attempts is not None)  # the caller ends it


@pytest.mark.django_db
@pytest.mark.parametrize(("worker", "silent", "freed"), [("dead", 0, True), ("other", 0, False), ("other", 10, True)])
def test_the_dead_and_the_silent_lose_their_rows(queue, fill, worker, silent, freed):
    fill(queue)
    host, machine, pid, _started = process_name().split(" ")
    (lease,) = claim(queue, worker=f"{host} {machine} {pid} 1" if worker == "dead" else "elsewhere 1 2 3")
    queue.model.objects.update(claimed=timezone.now() - timedelta(minutes=silent))
    expired = expired_leases(queue)
    assert bool(expired) == freed
    if freed:
        assert expired[0].release()
        assert not lease.finish()  # it is too late
        (again,) = claim(queue)
        assert again.attempts == 2
        assert not lease.renew()
        assert again.rows().exists()


@pytest.mark.django_db
@pytest.mark.parametrize("days", [1, -1])
def test_clocks_that_are_set_by_a_day(queue, fill, monkeypatch, days):
    """A process that is alive keeps its row if it renews its claim; the row of a dead one is free at once."""
    fill(queue)
    (lease,) = claim(queue, worker="elsewhere 1 2 3")
    now = timezone.now
    monkeypatch.setattr("django.utils.timezone.now", lambda: now() + timedelta(days=days))
    assert lease.renew()  # its own time is measured by a clock that nobody sets
    assert not expired_leases(queue)
    monkeypatch.setattr("django.utils.timezone.now", lambda: now() + timedelta(days=2 * days))
    (expired,) = expired_leases(queue)
    assert expired.release()
    assert not lease.finish()  # what it writes now reaches nothing


@pytest.mark.django_db
def test_who_renews_in_time_is_not_released(queue, fill):
    """Between the look of the sweep and its release, the process said that it is alive."""
    fill(queue)
    (lease,) = claim(queue, worker="elsewhere 1 2 3")
    queue.model.objects.update(claimed=timezone.now() - timedelta(minutes=10))
    (expired,) = expired_leases(queue)
    assert lease.renew()
    assert not expired.release()
    assert lease.rows().exists()


@pytest.mark.django_db
def test_a_database_that_is_away_for_longer_than_the_lease(queue, fill, monkeypatch):
    """Then the process knows by itself that the row may be another's; for a shorter time it goes on."""
    fill(queue)
    (lease,) = claim(queue)
    problems, clock = [], [0.0]
    start = time.monotonic()
    monkeypatch.setattr("brainscore_web.jobs.leases.time.monotonic", lambda: start + clock[0])
    real = QuerySet.update

    def away(*_args, **_kwargs):
        problems.append("asked")
        raise OperationalError("the server is gone")

    monkeypatch.setattr(QuerySet, "update", away)
    with pytest.raises(OperationalError):
        lease.renew()
    clock[0] = queue.lasts.total_seconds() - 5
    assert not lease.is_lost()
    monkeypatch.setattr(QuerySet, "update", real)
    assert lease.renew()
    clock[0] += queue.lasts.total_seconds() - 5
    assert not lease.is_lost()
    clock[0] += 10
    assert lease.is_lost()
    assert not lease.renew()  # also when the database is back: another process may have had it meanwhile
    assert problems == ["asked"]


@pytest.mark.django_db(transaction=True)
def test_workers_that_race_never_get_the_same_row(queue, fill):
    fill(queue, 6)
    found, problems, start = [], [], threading.Barrier(4)

    def race():
        try:
            start.wait()
            while leases := claim(queue, limit=2):
                found.extend(lease.row.pk for lease in leases)
        except OperationalError as error:
            problems.append(error)
        finally:
            connections.close_all()

    threads = [threading.Thread(target=race) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)
    # SQLite in memory does not wait for locks: who comes second gives up
    assert all("locked" in str(error) for error in problems), problems
    assert connection.vendor == "sqlite" or not problems
    left = claim(queue, limit=6)
    rows = queue.model.objects.exclude(claim="")
    assert len(found) == len(set(found))
    assert not set(found) & {lease.row.pk for lease in left}
    assert rows.count() == 6
    assert set(rows.values_list("attempts", flat=True)) == {1}


@pytest.mark.django_db(transaction=True)
def test_the_renewal_survives_a_database_that_is_away(queue, fill):
    if connection.vendor == "sqlite":
        pytest.skip("SQLite in memory does not wait for locks")
    fill(queue)
    (lease,) = claim(queue)
    long_ago = timezone.now() - timedelta(minutes=1)
    messages, real, away = [], lease.rows, threading.Event()
    away.set()

    def rows():
        if away.is_set():
            raise OperationalError("the server is gone")
        return real()

    lease.rows = rows
    queue.model.objects.update(claimed=long_ago)
    with Renewal([lease], every=0.02, on_problem=messages.append):
        _soon(lambda: len(messages) > 2)
        away.clear()
        _soon(lambda: not queue.model.objects.filter(claimed=long_ago).exists())
        assert not lease.is_lost()
        queue.model.objects.update(claim="another")
        _soon(lease.is_lost)


def _soon(condition):
    end = threading.Event()
    for _ in range(200):
        if condition():
            return
        end.wait(0.05)
    raise AssertionError("it did not happen")
