"""What a submission makes necessary."""

import re

import pytest
from allauth.account.models import EmailAddress
from django.contrib.auth.models import Permission
from django.db import transaction
from django.urls import reverse

from brainscore_web.accounts.models import User
from brainscore_web.jobs.models import Email
from brainscore_web.leaderboard.models import Benchmark, Score, VisionModel
from brainscore_web.scoring.claims import claim_job
from brainscore_web.scoring.models import Job
from brainscore_web.scoring.services import cancel_all, plan, plan_for, scored_identifiers
from brainscore_web.submissions.models import Plugin
from brainscore_web.submissions.pipeline import scoring_ended
from brainscore_web.submissions.status import progress

from .._plugins import benchmark_files, model_files
from ._site import SIMULATED, in_tree, publish, submit

pytestmark = pytest.mark.django_db


def planned(submission):
    rows = Job.objects.filter(submissions=submission)
    return {(job.model.identifier, job.benchmark.identifier) for job in rows.select_related("model", "benchmark")}


@pytest.fixture
def site(owner):
    in_tree(("pixels", "gabor", "alexnet"), (*SIMULATED, "Simulated2026.IT-pls"))
    VisionModel.objects.create(identifier="gone-model")  # has a row, but no code
    Benchmark.objects.create(identifier="V1", is_mean=True)


def test_a_model_is_scored_on_the_benchmarks_of_the_site(site, owner):
    submission = publish(submit(owner, model_files()))
    assert plan_for(submission) == 2  # not Simulated2026.IT-pls, which the settings leave out
    assert planned(submission) == {("tiles-8", name) for name in SIMULATED}
    assert progress(submission).waiting == progress(submission).total == 2


def test_pairs_have_one_domain(site, owner, settings):
    """Models of language are not scored on benchmarks of vision, even if a caller plans it."""
    settings.SUBMISSIONS = {**settings.SUBMISSIONS, "models": ["*"], "benchmarks": [*SIMULATED, "NaturalStories2021-*"]}
    reader = VisionModel.objects.create(identifier="word-length", domain="language")
    text = Benchmark.objects.create(identifier="NaturalStories2021-added", domain="language", version="1")
    seen = Benchmark.objects.get(identifier=SIMULATED[0])
    assert "word-length" in scored_identifiers("model_registry")
    submission = publish(submit(owner, model_files()))
    plan_for(submission)
    assert planned(submission) == {("tiles-8", name) for name in SIMULATED}
    plan([reader.pk], [seen.pk, text.pk], why="try")
    assert Job.objects.get(model=reader).benchmark == text


def test_a_benchmark_is_scored_with_all_models_that_can_be_loaded(site, owner):
    VisionModel.objects.filter(identifier="gabor").update(runnable=False)
    submission = publish(submit(owner, benchmark_files()))
    plan_for(submission)
    assert planned(submission) == {("pixels", "Author2026-pls")}


def test_what_is_submitted_counts_whatever_the_patterns_say(site, owner):
    publish(submit(owner, model_files()))
    submission = publish(submit(owner, {**model_files("tiles-4", size=4), **benchmark_files()}))
    plan_for(submission)
    own = {("tiles-4", name) for name in (*SIMULATED, "Author2026-pls")}
    assert planned(submission) == own | {(name, "Author2026-pls") for name in ("tiles-8", "pixels", "gabor")}


def test_a_benchmark_whose_data_changed_is_scored_again(site, owner):
    pixels = VisionModel.objects.get(identifier="pixels")
    named = {"data": [{"kind": "data", "identifier": "Mine2026"}]}
    for benchmark, document in zip(
        Benchmark.objects.filter(identifier__in=SIMULATED).order_by("pk"), (named, {"data": []}), strict=True
    ):
        Score.objects.create(
            receipt=f"20260101T000000000000Z-{benchmark.pk:012x}", model=pixels, benchmark=benchmark, state="failed",
            created="2026-01-01T00:00:00Z", document=document,
        )  # fmt: skip
    code = 'from brainscore_vision import data_registry\n\ndata_registry["Mine2026"] = lambda: None\n'
    submission = publish(submit(owner, {"data/mine/__init__.py": code}))
    plan_for(submission)
    assert planned(submission) == {(name, SIMULATED[0]) for name in ("pixels", "gabor")}


def test_one_job_serves_all_submissions_that_wait_for_it(site, owner, member):
    first = publish(submit(owner, model_files()))
    plan_for(first)
    second = publish(submit(member, benchmark_files()))
    plan_for(second)
    third = publish(submit(owner, model_files("tiles-4", size=4)))
    plan_for(third)
    shared = Job.objects.get(model__identifier="tiles-4", benchmark__identifier="Author2026-pls")
    assert list(shared.submissions.all()) == [third]
    again = publish(submit(owner, model_files(size=9), submission=first))
    plan_for(again)
    shared = Job.objects.get(model__identifier="tiles-8", benchmark__identifier="Author2026-pls")
    assert set(shared.submissions.all()) == {first, second}
    cancel_all(first, owner)
    shared.refresh_from_db()
    assert (shared.state, list(shared.submissions.all())) == ("waiting", [second])  # another waits for it
    assert progress(first).cancelled == progress(first).total == 2


def test_a_new_version_takes_pairs_from_the_process_that_runs_them(site, owner):
    submission = publish(submit(owner, model_files()))
    plan_for(submission)
    running = claim_job("somebody")
    assert running.row.attempts == 1
    publish(submit(owner, model_files(size=9), submission=submission))
    assert plan_for(submission) == 2
    job = Job.objects.get(pk=running.row.pk)
    assert (job.state, job.claim, job.attempts) == ("waiting", "", 0)
    assert not running.rows().exists()


def test_ended_pairs_of_an_earlier_revision_no_longer_count(site, owner):
    submission = publish(submit(owner, model_files()))
    plan_for(submission)
    Job.objects.update(state="failed")
    publish(submit(owner, model_files(size=9), submission=submission))
    plan_for(submission)
    assert (progress(submission).total, progress(submission).failed) == (2, 0)
    assert Job.objects.count() == 4


def test_nothing_is_planned_where_the_publication_is_taken_back(site, owner):
    submission = submit(owner, model_files())
    with transaction.atomic():
        publish(submission)
        plan_for(submission)
        assert Job.objects.exists()
        transaction.set_rollback(True)
    assert not Job.objects.exists()
    assert not Plugin.objects.exists()


@pytest.mark.parametrize("count", [100, pytest.param(970, marks=pytest.mark.slow(reason="makes 29,100 rows"))])
def test_many_models_on_thirty_benchmarks_cost_few_queries(owner, django_assert_max_num_queries, count):
    keys = [f"B2026.{number}" for number in range(30)]
    text = "\n".join(f'benchmark_registry["{key}"] = _load' for key in keys)
    code = f"from brainscore_vision import benchmark_registry\n\n\ndef _load():\n    return None\n\n\n{text}\n"
    names = [f"m-{number}" for number in range(count)]
    models = "\n".join(f'model_registry["{name}"] = _load' for name in names)
    files = {
        "benchmarks/many/__init__.py": code,
        "models/many/__init__.py": code.replace("benchmark_registry", "model_registry").split("\n\n\nmodel_")[0]
        + f"\n\n\n{models}\n",
    }
    VisionModel.objects.bulk_create(VisionModel(identifier=name) for name in names)
    Benchmark.objects.bulk_create(Benchmark(identifier=key) for key in keys)
    submission = publish(submit(owner, files))
    for _ in range(2):  # a second time makes no more
        with django_assert_max_num_queries(20 + count // 100):  # rows are written in batches
            assert plan_for(submission) == 30 * count
    assert Job.objects.count() == 30 * count


@pytest.mark.django_db(transaction=True)
def test_pairs_of_private_models_of_others_are_not_counted(site, owner, member, staff, client):
    """A submitted benchmark is scored on all models; each reader sees the numbers of those that the reader may see."""
    reviewer = User.objects.create_user("reviewer@example.org", "correct horse battery")
    reviewer.user_permissions.add(Permission.objects.get(codename="review_submissions"))
    for user in (owner, member, reviewer, staff):
        EmailAddress.objects.update_or_create(user=user, email=user.email, defaults={"verified": True, "primary": True})
    submission = publish(submit(member, benchmark_files()))
    VisionModel.objects.create(identifier="others", owner=owner, visibility="private")
    VisionModel.objects.create(identifier="mine", owner=member, visibility="private")
    benchmark = Benchmark.objects.get(identifier="Author2026-pls")
    for model in VisionModel.objects.filter(identifier__in=["pixels", "gabor", "others", "mine"]):
        Job.objects.create(model=model, benchmark=benchmark, why="new benchmark").submissions.add(submission)
    failed = {"state": "failed", "reason": "wrong size"}
    Job.objects.filter(model__identifier__in=["others", "mine"]).update(**failed)
    Job.objects.filter(model__identifier__in=["pixels", "gabor"]).update(state="scored")
    scoring_ended(submission.pk)
    body = Email.objects.get(to=member, submission=submission).body
    assert "2 scored, 1 failed." in body
    assert "mine on Author2026-pls" in body
    assert "others" not in body
    for address in (reverse("submissions:show", args=[submission.pk]), f"/api/v1/submissions/{submission.pk}"):
        for reader, counts in ((member, "2 scored, 1 failed"), (reviewer, "2 scored"), (staff, "2 scored, 2 failed")):
            client.force_login(reader)
            text = client.get(address).content.decode()
            assert set(re.findall(r"\d scored(?:, \d failed)?", text)) == {counts}, (address, reader)
            assert ("1 pair failed" in text, "2 pairs failed" in text) == (reader == member, reader == staff)
        client.force_login(owner)
        assert client.get(address).status_code == 404
    client.force_login(member)
    assert "1 pair failed" in client.get("/api/v1/submissions").content.decode()


def test_the_message_about_cancelled_pairs_counts_those_of_the_reader(site, owner, member, client):
    submission = publish(submit(member, benchmark_files()))
    VisionModel.objects.create(identifier="others", owner=owner, visibility="private")
    benchmark = Benchmark.objects.get(identifier="Author2026-pls")
    for model in VisionModel.objects.filter(identifier__in=["pixels", "others"]):
        Job.objects.create(model=model, benchmark=benchmark, why="new benchmark").submissions.add(submission)
    client.force_login(member)
    page = client.post(reverse("scoring:cancel-all", args=[submission.pk]), follow=True)
    assert "1 pairs are cancelled" in page.content.decode()
    assert not Job.objects.open().exists()
