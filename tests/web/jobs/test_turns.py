"""Turns: users share the processes of a lane equally, whatever the order and number of their jobs."""

from datetime import timedelta

import pytest
from django.db import OperationalError, connection
from django.utils import timezone

from brainscore_web.accounts.models import User
from brainscore_web.jobs.leases import claim
from brainscore_web.leaderboard.models import Benchmark, VisionModel
from brainscore_web.scoring.claims import JOBS, claim_job, release_job
from brainscore_web.scoring.models import Job
from brainscore_web.uploads.checking import CHECKS, begin_checks
from brainscore_web.uploads.models import Upload, UploadedFile
from tests.web.submissions._races import at_once


def plan(owner, number, **values):
    model = VisionModel.objects.create(identifier=f"of {owner or 'the site'}", owner=owner)
    for place in range(number):
        benchmark = Benchmark.objects.get_or_create(identifier=f"b{place}")[0]
        Job.objects.create(model=model, benchmark=benchmark, why="new model", **values)
    return model


def upload(owner, number):
    for place in range(number):
        Upload.objects.create(owner=owner, identifier=f"S{place}", state="checking")


@pytest.mark.django_db
def test_users_and_the_site_take_turns_with_pairs(owner, member):
    """One worker: however many pairs a user has, and however urgent they are, the others come in between."""
    plan(owner, 3, priority=10)
    plan(None, 2)
    plan(member, 1)
    order = []
    while lease := claim_job("w"):
        order.append(lease.row.model.owner)
        lease.finish(state="scored")
    assert order == [owner, None, member, owner, None, owner]


@pytest.mark.django_db
def test_new_accounts_come_after_those_who_waited_before(owner, member):
    plan(owner, 2)
    claim_job("w").finish(state="scored")
    for place in range(3):
        plan(User.objects.create(email=f"{place}@example.org"), 1)
    plan(member, 1)
    assert claim_job("w").row.model.owner == owner


@pytest.mark.django_db
def test_an_upload_waits_since_its_checks_were_requested(owner, member):
    """Not since it was begun: an account could keep old ones."""
    early = Upload.objects.create(owner=owner, identifier="S", due=timezone.now() - timedelta(days=1))
    UploadedFile.objects.create(upload=early, kind="csv", size=1)
    upload(member, 1)
    begin_checks(early)
    assert [lease.row.owner for lease in claim(CHECKS)] == [member]


@pytest.mark.django_db
def test_a_user_has_one_running_pair_while_others_wait(owner, member):
    plan(owner, 5)
    first, second = claim_job("1"), claim_job("2")  # nobody else waits
    plan(member, 3)
    running = [claim_job("3"), claim_job("4")]
    assert [lease.row.model.owner for lease in running] == [member, member]
    release_job(first)
    release_job(second)
    assert claim_job("1").row.model.owner == owner


@pytest.mark.django_db
def test_the_loaded_model_comes_first_in_its_turn_only(owner, member):
    loaded = plan(owner, 3)
    claim_job("w").finish(state="scored")
    plan(member, 1)
    assert claim_job("w", prefer=loaded.identifier).row.model == loaded
    assert claim_job("w", prefer=loaded.identifier, in_turn=True).row.model.owner == member


@pytest.mark.django_db
def test_an_upload_of_a_user_is_checked_at_a_time(owner, member):
    upload(owner, 2)
    upload(member, 1)
    assert [lease.row.owner for lease in claim(CHECKS, limit=3)] == [owner, member]
    assert CHECKS.due().exists()
    assert not CHECKS.has_work()


@pytest.mark.django_db(transaction=True)
def test_processes_that_race_do_not_take_a_turn_twice(owner, member):
    upload(owner, 8)
    upload(member, 8)
    plan(owner, 8)
    plan(member, 8)
    uploads, pairs, problems = [], [], []

    def race():
        try:
            uploads.extend(lease.row.owner_id for lease in claim(CHECKS, limit=4))
            pairs.extend(lease.row.model.owner_id for lease in claim(JOBS))
        except OperationalError as error:
            problems.append(error)

    at_once([race] * 4)
    assert len(uploads) == len(set(uploads))
    if connection.vendor != "sqlite":  # in memory it does not wait for locks
        assert not problems
        assert sorted(uploads) == sorted([owner.pk, member.pk])
        assert sorted(pairs) == sorted([owner.pk, member.pk] * 2)
