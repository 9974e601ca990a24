"""Scenarios of a site with real workers; each function runs in its own process: ``python _scenarios.py NAME``."""

import importlib
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

HERE = Path(__file__).resolve().parent


def worker(*options):
    """Start one."""
    command = [sys.executable, "-m", "brainscore", "worker", "--jobs-only", *options]
    return subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)


def ended(process, seconds=600):
    """What it said; it must end by itself and well."""
    try:
        said = process.communicate(timeout=seconds)[0]
    except subprocess.TimeoutExpired:
        process.kill()
        raise AssertionError(f"it does not end: {process.communicate()[0]}") from None
    print(said)
    assert process.returncode == 0, process.returncode
    return said


def wait_for(condition, seconds=600.0):
    """Wait until something is true."""
    end = time.monotonic() + seconds
    while not (found := condition()):
        assert time.monotonic() < end, "it did not happen"
        time.sleep(0.1)
    return found


def states():
    """Of all jobs, by model and benchmark."""
    from brainscore_web.scoring.models import Job

    rows = Job.objects.values_list("model__identifier", "benchmark__identifier", "state")
    return {f"{model} {benchmark}": state for model, benchmark, state in rows}


def receipts():
    """Of each pair: how many."""
    from django.conf import settings

    from brainscore_core.scoring import ResultsStore

    found = {}
    for receipt in ResultsStore(settings.SUBMISSIONS["results"]).listing().receipts:
        pair = f"{receipt.model.identifier} {receipt.benchmark.identifier}"
        found[pair] = found.get(pair, 0) + 1
    return found


def _owner():
    from brainscore_web.accounts.models import User

    return User.objects.create_user("owner@example.org", "correct horse battery", display_name="Olga Owner")


def _submitted(files, **values):
    from django.db import transaction

    from brainscore_web.scoring.services import plan_for

    with transaction.atomic():
        submission = site.publish(site.submit(_owner(), files, **values))
        plan_for(submission)
    return submission


def scored():
    """A submitted model and a submitted benchmark are scored; the leaderboard has them; a failure hides nothing."""
    from django.contrib.auth.models import AnonymousUser

    from brainscore_web.leaderboard.models import Score, VisionModel
    from brainscore_web.leaderboard.snapshot import snapshot_for
    from brainscore_web.submissions.status import progress

    site.in_tree(benchmarks=site.SIMULATED[:1])
    broken = plugins.model_files("broken-8")
    broken["models/broken_8/model.py"] += "\n\ndef tiles():\n    raise ValueError('no tiles today')\n"
    submission = _submitted(
        {**plugins.model_files(size=16), **broken, **plugins.small_benchmark_files()}, visibility="private"
    )
    said = ended(worker("--until-idle"))
    done = progress(submission)
    assert (done.total, done.scored, done.failed, done.open) == (5, 3, 2, 0), (done, said)
    assert receipts() == dict.fromkeys(states(), 1)
    assert Score.objects.filter(state="scored").count() == 3
    assert VisionModel.objects.get(identifier="tiles-8").visibility == "private"
    from brainscore_web.scoring.models import Job

    failed = Job.objects.filter(state="failed").order_by("pk").first()
    assert "no tiles today" in failed.reason
    assert "no tiles today" in failed.log
    shown = snapshot_for(AnonymousUser())
    assert "tiles-8" not in str(vars(shown))
    submission.refresh_from_db()
    assert submission.state == "done"
    _nothing_is_scored_twice()


def _nothing_is_scored_twice():
    """The same pair again finds its receipt, and so does one whose worker was killed before the database knew of it."""
    from datetime import timedelta

    from brainscore_web.leaderboard.models import Benchmark, VisionModel
    from brainscore_web.scoring.models import Job
    from brainscore_web.scoring.services import plan

    pixels, author = VisionModel.objects.get(identifier="pixels"), Benchmark.objects.get(identifier="Author2026-pls")
    job, before = Job.objects.filter(state="scored").exclude(model=pixels).order_by("pk").first(), receipts()
    plan([pixels.pk], [author.pk], why="new benchmark")
    again = Job.objects.get(state="waiting")
    Job.objects.filter(pk=job.pk).update(
        state="running", claim="x", claimed=job.ended - timedelta(minutes=5), worker="gone", receipt="", why="asked for"
    )
    receipt = job.receipt
    ended(worker("--until-idle"))
    again.refresh_from_db()
    assert (again.state, again.model, again.benchmark) == ("scored", pixels, author)
    job.refresh_from_db()
    assert (job.state, job.receipt) == ("scored", receipt)
    assert receipts() == before


def killed():
    """A worker that is killed leaves its pair to another; each pair has one receipt."""
    site.in_tree(benchmarks=site.SIMULATED[:1])
    _submitted(plugins.model_files(size=16))
    first = worker("--until-idle")
    wait_for(lambda: "running" in states().values())
    time.sleep(1.0)
    first.send_signal(signal.SIGKILL)
    first.communicate()
    assert "running" in states().values()
    _minutes_later()
    ended(worker("--until-idle"))
    assert states() == {f"tiles-8 {site.SIMULATED[0]}": "scored"}
    assert receipts() == dict.fromkeys(states(), 1)


def _minutes_later():
    """Claims of workers that are gone have become old."""
    from datetime import timedelta

    from django.db.models import F

    from brainscore_web.scoring.models import Job

    Job.objects.filter(state="running").update(claimed=F("claimed") - timedelta(minutes=5))


def on_a_cluster():
    """A scheduler's workers score what is submitted, in cages; what has a receipt is not scored again."""
    from distributed import LocalCluster

    from brainscore_web.scoring.models import Job
    from brainscore_web.scoring.services import cancel_job

    site.in_tree(benchmarks=site.SIMULATED[:1])
    with LocalCluster(n_workers=1, threads_per_worker=1, processes=True, dashboard_address=None) as cluster:
        submission = _submitted(plugins.model_files(size=16))
        ended(worker("--scheduler", cluster.scheduler_address, "--until-idle"))
        assert states() == {f"tiles-8 {site.SIMULATED[0]}": "scored"}
        assert receipts() == dict.fromkeys(states(), 1)
        submission.refresh_from_db()
        assert submission.state == "done"
        job = Job.objects.order_by("pk").first()
        assert job.receipt
        # the same again finds what is there
        from brainscore_web.scoring.services import plan

        plan([job.model_id], [job.benchmark_id], why="new benchmark")
        cancelled = Job.objects.get(state="waiting")
        ended(worker("--scheduler", cluster.scheduler_address, "--once"))
        cancelled.refresh_from_db()
        assert (cancelled.state, cancelled.receipt) == ("scored", job.receipt)
        cancel_job(cancelled, None)  # it has ended: nothing happens
        cancelled.refresh_from_db()
        assert cancelled.state == "scored"


if __name__ == "__main__":
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "brainscore_web.settings")
    import django

    django.setup()
    sys.path.insert(0, str(HERE.parents[2]))
    plugins = importlib.import_module("tests.web._plugins")
    site = importlib.import_module("tests.web.scoring._site")
    globals()[sys.argv[1]]()
