"""Workers that are killed, disks that are full, storages that are down, sandboxes that are missing."""

import errno
import subprocess
from pathlib import Path

import pytest
from django.utils import timezone

from brainscore_web.jobs.models import Email
from brainscore_web.jobs.workers import sweep
from brainscore_web.submissions import pipeline, plugin_folders, steps
from brainscore_web.submissions.models import Plugin, Step
from brainscore_web.submissions.pipeline import runner
from brainscore_web.submissions.pipeline.runner import run_next_step
from tests.web._plugins import model_files
from tests.web.pipeline._claims import claim_next_step

pytestmark = pytest.mark.django_db(transaction=True)


def fall_silent(revision):
    """Let the signs of life of a worker be too old."""
    Step.objects.filter(revision=revision, state="running").exclude(claim="").update(
        claimed=timezone.now() - 2 * steps.STEPS.lasts
    )


def test_stale_claims_are_freed(submit, states):
    """A worker that fell silent loses the step; what it says afterwards counts no more."""
    revision = submit()
    lease = claim_next_step()
    sweep()
    assert states(revision) == "runn wait skip wait wait"  # it is alive
    fall_silent(revision)
    sweep()
    assert states(revision) == "wait wait skip wait wait"
    another = claim_next_step()
    assert another is not None
    lease.renew(log="from the dead")
    assert lease.is_lost()
    assert not another.is_lost()
    assert Step.objects.get(pk=lease.row.pk).log == ""


def test_a_worker_that_dies_each_time(submit, states):
    """After some attempts the site gives up: submitter and administrators get one e-mail, and it can be retried."""
    revision = submit()
    for _ in range(steps.STEPS.retry.attempts):
        assert claim_next_step() is not None
        fall_silent(revision)
        sweep()
    assert run_next_step()
    assert states(revision) == "fail wait skip wait wait"
    step = revision.steps.get(kind="check")
    assert "administrators have been notified" in step.reason
    assert "ended unexpectedly" in step.internal
    assert "unexpectedly" not in step.reason
    assert Email.objects.filter(submission=revision.submission).count() == 1
    pipeline.retry(step, revision.submission.owner)
    assert run_next_step()
    assert states(revision) == "pass wait skip wait wait"
    assert Email.objects.filter(submission=revision.submission).count() == 1


def test_errors_of_the_site_are_tried_again(submit, states, monkeypatch):
    """With pauses that grow; the submitter reads no traceback."""
    revision = submit()

    def broken(claim):
        raise RuntimeError("secret detail")

    monkeypatch.setattr(runner, "_STEP_FUNCTIONS", {"check": broken})
    assert run_next_step()
    step = revision.steps.get(kind="check")
    assert (step.state, step.attempts) == ("waiting", 1)
    assert step.due > timezone.now()
    assert "secret" in step.internal
    assert "secret" not in step.reason
    assert not run_next_step()
    for _ in range(steps.STEPS.retry.attempts - 1):
        Step.objects.filter(pk=step.pk).update(due=timezone.now())
        assert run_next_step()
    assert states(revision) == "fail wait skip wait wait"
    assert "secret" not in Email.objects.get(submission=revision.submission).body


def test_without_a_sandbox_tests_wait(submit, states, staff, pass_step, monkeypatch):
    """They are not skipped: the step waits, its submitter knows, and administrators get one e-mail a day."""
    from brainscore_core.errors import UserError
    from brainscore_web.submissions.pipeline import testing

    missing = UserError("bubblewrap is not installed", remedy="apt install bubblewrap")
    monkeypatch.setattr(testing, "sandbox_problem", lambda: missing)
    revision = submit()
    pass_step(revision, "check")
    for _ in range(2 * steps.STEPS.retry.attempts):
        assert run_next_step()
        step = revision.steps.get(kind="test")
        assert (step.state, step.reason) == ("waiting", "the site cannot run tests at the moment")
        assert "bubblewrap" in step.internal
        Step.objects.filter(pk=step.pk).update(due=timezone.now())
    assert Email.objects.filter(to=staff, body__contains="apt install bubblewrap").count() == 1
    assert not Email.objects.exclude(to=staff).exists()


def test_a_full_disk_is_waited_for(submit, states, pass_step, monkeypatch, folders):
    """Nothing half-written stays, and once there is room the step is done."""
    revision = submit()
    pass_step(revision, "check", "test")
    real = Path.write_bytes
    written = []

    def full(self, content):
        written.append(self)
        if len(written) > 1:
            raise OSError(errno.ENOSPC, "No space left on device")
        return real(self, content)

    monkeypatch.setattr(Path, "write_bytes", full)
    assert run_next_step()
    monkeypatch.setattr(Path, "write_bytes", real)
    assert len(written) > 1
    step = revision.steps.get(kind="publish")
    assert (step.state, step.reason) == ("waiting", "the disk of the site is full: it will be tried again")
    assert not Plugin.objects.exists()
    assert [path for path in (folders / "plugins").rglob("*") if path.is_file()] == []
    Step.objects.filter(pk=step.pk).update(due=timezone.now())
    assert run_next_step()
    assert states(revision).startswith("pass pass skip pass")
    assert Plugin.objects.count() == 1


def test_a_small_disk(submit, tmp_path, settings):
    """A real file system without room: neither unpacked nor published folders are there by halves."""
    small = tmp_path / "small"
    small.mkdir()
    done = subprocess.run(["mount", "-t", "tmpfs", "-o", "size=64k", "tmpfs", small], capture_output=True, check=False)
    if done.returncode:
        pytest.skip("needs the right to mount")
    try:
        settings.SUBMISSIONS = {**settings.SUBMISSIONS, "folder": str(small / "plugins")}
        files = model_files()
        files["models/tiles_8/table.json"] = "1" * 100_000
        revision = submit(files)
        with pytest.raises(OSError, match="No space left") as caught:
            plugin_folders.unpacked(revision)
        assert caught.value.errno == errno.ENOSPC
        assert [path for path in small.rglob("*") if path.is_file()] == []
    finally:
        subprocess.run(["umount", small], check=True)


def test_the_storage_is_down(submit, states, monkeypatch):
    """The step is tried again, and the submitter's work is not blamed."""
    from brainscore_web.submissions.pipeline import checking
    from brainscore_web.uploads.storage import StorageFailure

    def down(*_, **__):
        raise StorageFailure("cannot read the bucket: EndpointConnectionError", remedy="try again later")

    revision = submit()
    monkeypatch.setattr(checking, "fetch_declared_files", down)
    assert run_next_step()
    step = revision.steps.get(kind="check")
    assert (step.state, step.reason) == ("waiting", "storage failed: it will be tried again")
    monkeypatch.undo()
    Step.objects.filter(pk=step.pk).update(due=timezone.now())
