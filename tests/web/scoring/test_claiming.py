"""Claims: one worker a job, and none is lost."""

import threading
from datetime import timedelta

import pytest
from django.db import connection
from django.utils import timezone

from brainscore_core.results.claims import this_process
from brainscore_web.jobs.leases import Renewal, process_name
from brainscore_web.scoring.claims import (
    claim_job,
    claim_jobs_of_model,
    release_expired_jobs,
    release_job,
)
from brainscore_web.scoring.models import Job

from ._site import SIMULATED, in_tree


def jobs(models=("pixels", "gabor"), **values):
    made, benchmarks = in_tree(models)
    return [
        Job.objects.create(model=model, benchmark=benchmark, why="new model", **values)
        for model in made
        for benchmark in benchmarks
    ]


@pytest.mark.django_db
def test_the_model_that_is_loaded_comes_first_then_what_is_urgent():
    first, _, third, fourth = jobs()
    Job.objects.filter(pk=fourth.pk).update(priority=9)
    assert claim_job("w", prefer=first.model.identifier).row == first
    assert claim_job("w").row == fourth
    assert claim_job("w", without=[first.model_id]).row == third
    assert claim_job("w", without=[first.model_id]) is None
    batch = claim_jobs_of_model("w", 5)
    assert [one.row.model_id for one in batch] == [first.model_id]


@pytest.mark.django_db
def test_what_is_not_due_waits():
    jobs(("pixels",), due=timezone.now() + timedelta(minutes=5))
    assert claim_job("w") is None


@pytest.mark.django_db
def test_a_job_that_is_given_back_is_as_before_but_for_its_time():
    (job, *_) = jobs(("pixels",))
    one = claim_job("w")
    release_job(one, wait=60)
    job.refresh_from_db()
    assert (job.state, job.claim, job.attempts) == ("waiting", "", 0)
    assert job.due > timezone.now() + timedelta(seconds=30)
    again = claim_job("w", prefer=job.model.identifier)
    assert again.row.pk != job.pk
    release_job(again, counts=True)
    assert Job.objects.get(pk=again.row.pk).attempts == 1
    release_job(again)  # the claim is no longer valid
    assert Job.objects.get(pk=again.row.pk).attempts == 1


@pytest.mark.django_db
@pytest.mark.parametrize(
    ("worker", "age", "freed"),
    [
        ("another-machine abc 12 34", 0, 0),
        ("another-machine abc 12 34", 150, 1),
        ("dead", 0, 1),
        ("alive", 0, 0),
    ],
)
def test_claims_of_the_dead_and_the_silent_are_free_again(worker, age, freed):
    jobs(("pixels",))
    name = worker
    if worker in ("dead", "alive"):
        host, machine, pid, started = process_name().split(" ")
        name = f"{host} {machine} {pid} {started if worker == 'alive' else '1'}"
        assert int(pid) == this_process()["pid"]
    one = claim_job(name)
    Job.objects.filter(pk=one.row.pk).update(claimed=timezone.now() - timedelta(seconds=age))
    assert release_expired_jobs() == freed
    assert one.rows().exists() == (not freed)
    if freed:
        again = claim_job("w")
        assert (again.row.pk, again.row.attempts) == (one.row.pk, 2)
        assert again.row.started is not None  # receipts since then are its own


@pytest.mark.django_db
def test_what_was_to_be_cancelled_when_its_worker_died_is_cancelled():
    jobs(("pixels",))
    one = claim_job("another-machine abc 12 34")
    Job.objects.filter(pk=one.row.pk).update(stop=True, claimed=timezone.now() - timedelta(hours=1))
    assert release_expired_jobs() == 1
    assert Job.objects.get(pk=one.row.pk).state == "cancelled"


@pytest.mark.django_db(transaction=True)
def test_the_heartbeat_renews_and_learns():
    if connection.vendor == "sqlite":
        pytest.skip("a thread of its own needs a database that is no memory; the worker's tests do this, too")
    jobs(("pixels",))
    first, second = claim_job("w"), claim_job("w")
    long_ago = timezone.now() - timedelta(minutes=1)
    Job.objects.update(claimed=long_ago)
    with Renewal([first, second], every=0.05):
        _soon(lambda: not Job.objects.filter(claimed=long_ago).exists())
        Job.objects.filter(pk=first.row.pk).update(stop=True)
        _soon(lambda: first.stop_requested)
        Job.objects.filter(pk=second.row.pk).update(claim="another")
        _soon(second.is_lost)
        assert not first.is_lost()


def _soon(condition):
    end = threading.Event()
    for _ in range(200):
        if condition():
            return
        end.wait(0.05)
    raise AssertionError("it did not happen")


def test_simulated_benchmarks_exist():
    from brainscore_vision import plugin_index

    assert set(SIMULATED) <= set(plugin_index.locations("benchmark_registry"))
