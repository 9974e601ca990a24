"""Workers that are killed with signal 9: ``python _killed.py`` does so in each case on a database of its own."""

import json
import os
import shutil
import signal
import time

import django

CASES = {
    "check after": ("check", ()),
    "test before": ("test", ("check",)),
    "publish before": ("publish", ("check", "test")),
    "publish after": ("publish", ("check", "test")),
}
"""The step in which a worker is killed, before or after its work, and the steps that have passed."""


def in_a_worker(kind, after):
    """A process that is killed while it has the step `kind`."""
    from django.db import connections

    from brainscore_web.submissions.pipeline import runner

    connections.close_all()  # no two processes use one
    reads, writes = os.pipe()
    worker = os.fork()
    if worker == 0:
        bodies = dict(runner._STEP_FUNCTIONS)

        def hang(lease):
            if after:
                runner._record_outcome = lambda *_: None
                bodies[lease.row.kind](lease)
            os.write(writes, b"there")
            time.sleep(600)

        try:
            runner._STEP_FUNCTIONS = dict.fromkeys(bodies, hang)
            runner.run_next_step()
        finally:
            os._exit(1)
    os.close(writes)
    try:
        there = os.read(reads, 5)
    finally:
        os.close(reads)
        os.kill(worker, signal.SIGKILL)
        os.waitpid(worker, 0)
    assert there == b"there"


def outcome(name):
    """What is there after another worker has looked."""
    from django.conf import settings
    from django.core.management import call_command
    from django.utils import timezone

    from brainscore_web.accounts.models import User
    from brainscore_web.jobs.models import Email
    from brainscore_web.jobs.workers import sweep
    from brainscore_web.leaderboard.models import VisionModel
    from brainscore_web.submissions import steps
    from brainscore_web.submissions.examining import Zip
    from brainscore_web.submissions.models import Plugin, Step
    from brainscore_web.submissions.pipeline import runner
    from brainscore_web.submissions.receiving import receive
    from brainscore_web.submissions.steps import Outcome
    from tests.web._plugins import model_files, zipped

    call_command("flush", interactive=False, verbosity=0)
    shutil.rmtree(settings.SUBMISSIONS["folder"], ignore_errors=True)
    receive(
        User.objects.create_user("owner@example.org", "correct horse battery"), Zip(zipped(model_files()), "mine.zip")
    )
    kind, passed = CASES[name]
    for one in passed:
        assert runner._record_outcome(steps.claim_next_step(Step.objects.get(kind=one).pk), Outcome(passed=True))
    in_a_worker(kind, after=name.endswith("after"))
    claimed = Step.objects.exclude(claim="").values_list("kind", flat=True).first() or "ended"
    Step.objects.exclude(claim="").update(claimed=timezone.now() - 2 * steps.STEPS.lasts)
    sweep()
    if kind != "test":  # the sandbox is not for this test
        for _ in range(3):
            runner.run_next_step(Step.objects.get(kind=kind).pk)
    step = Step.objects.get(kind=kind)
    counts = [table.objects.count() for table in (Plugin, VisionModel, Email)]
    return [claimed, step.state, step.attempts, *counts]


if __name__ == "__main__":
    django.setup()
    print(json.dumps({name: outcome(name) for name in CASES}))
