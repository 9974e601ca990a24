"""What is old is forgotten, what is live stays."""

import os
import sys
from datetime import timedelta
from io import StringIO

import pytest
from allauth.account.models import EmailAddress
from django.contrib.sessions.models import Session
from django.core.management import call_command
from django.utils import timezone
from django_tasks_db.models import DBTaskResult

from brainscore_core.paths import environments_home
from brainscore_core.plugins.environments import Manifest, environments, remove_environment
from brainscore_core.plugins.environments.folder import lease, lease_file, release, write_manifest
from brainscore_web.accounts.models import Lab, User
from brainscore_web.jobs.models import Email, Heartbeat
from brainscore_web.leaderboard.models import Benchmark, VisionModel
from brainscore_web.operations.retention import remove_unused_environments, tidy
from brainscore_web.scoring.models import Job
from brainscore_web.submissions.models import Plugin, Revision, Step, Submission

LONG_AGO = timezone.now() - timedelta(days=1000)


def submission(owner, state, *, live=False, ended=LONG_AGO):
    made = Submission.objects.create(owner=owner, title=state, state=state)
    revision = Revision.objects.create(submission=made, number=1, archive=b"x", digest="x", size=1)
    if live:
        Plugin.objects.create(kind="models", name=f"live{made.pk}", revision=revision)
    return Step.objects.create(
        revision=revision, kind="test", order=2, state="failed", reason="because", log="long", ended=ended
    )


@pytest.fixture
def old(owner, places):
    model, leaf = VisionModel.objects.create(identifier="m"), Benchmark.objects.create(identifier="b")
    job = {"model": model, "benchmark": leaf, "why": "x", "log": "long", "reason": "because"}
    task = {
        "args_kwargs": {"args": [], "kwargs": {}},
        "task_path": "x",
        "backend_name": "default",
        "run_after": LONG_AGO,
    }
    late = User.objects.create_user("late@example.org", "x", date_joined=LONG_AGO)
    EmailAddress.objects.create(user=late, email=late.email, verified=False)
    lab = Lab.objects.create(name="Lab", slug="lab")
    made = {
        "forgotten step": submission(owner, "done"),
        "live step": submission(owner, "done", live=True),
        "open step": submission(owner, "changes"),
        "new step": submission(owner, "done", ended=timezone.now()),
        "forgotten job": Job.objects.create(**job, state="failed", ended=LONG_AGO),
        "open job": Job.objects.create(**job, state="waiting", ended=LONG_AGO),
        "forgotten task": DBTaskResult.objects.create(**task, status="SUCCESSFUL", finished_at=LONG_AGO),
        "open task": DBTaskResult.objects.create(**task, status="READY"),
        "forgotten letter": Email.objects.create(to=owner, subject="x", body="x", sent=LONG_AGO),
        "unsent letter": Email.objects.create(to=owner, subject="x", body="x", created=LONG_AGO),
        "forgotten session": Session.objects.create(session_key="a" * 32, session_data="x", expire_date=LONG_AGO),
        "session": Session.objects.create(
            session_key="b" * 32, session_data="x", expire_date=timezone.now() + timedelta(days=1)
        ),
        "forgotten person": late,
        "person": owner,
        "forgotten beat": Heartbeat.objects.create(kind="worker", name="old", seen=LONG_AGO),
        "forgotten invitation": lab.invitations.create(email="a@example.org", by=owner, created=LONG_AGO),
        "invitation": lab.invitations.create(email="b@example.org", by=owner),
        "beat": Heartbeat.objects.create(kind="worker", name="new"),
    }
    User.objects.filter(pk=owner.pk).update(date_joined=LONG_AGO)
    DBTaskResult.objects.filter(pk=made["forgotten task"].pk).update(enqueued_at=LONG_AGO)
    return made


def there(made):
    """Which of them are as they were."""
    found = set()
    for name, one in made.items():
        row = type(one).objects.filter(pk=one.pk).first()
        if row is not None and getattr(row, "log", "long") == "long":
            found.add(name)
        if row is not None and hasattr(row, "reason"):
            assert row.reason == "because"
    return found


def test_what_is_old_is_forgotten_and_nothing_else(old):
    assert there(old) == set(old)
    said = StringIO()
    call_command("tidy", "--dry-run", stdout=said)
    assert there(old) == set(old)
    assert "1 logs of steps would be deleted" in said.getvalue()
    planned = {one.what: one.number for one in tidy(dry=True)}
    done = {one.what: one.number for one in tidy()}
    assert {what: done[what] for what in planned} == planned
    assert {what for what, number in planned.items() if number == 1} == set(planned) - {
        "folders of plugins",
        "environments of plugins",
        "fetched files",
    }
    assert there(old) == {name for name in old if not name.startswith("forgotten")}
    assert {one.what: one.number for one in tidy()} == dict.fromkeys(done, 0)


def test_how_long_is_a_setting(old, settings):
    settings.OPERATIONS = {**settings.OPERATIONS, "logs": 2000, "letters": 2000, "tasks": 2000, "unconfirmed": 2000}
    tidy()
    assert {"forgotten step", "forgotten job", "forgotten task", "forgotten letter", "forgotten person"} <= there(old)


def test_folders_of_plugins_that_are_live_stay(db, places, settings):
    from brainscore_web.submissions.plugin_folders import published_folder

    live = published_folder()
    other = live.parent / ("f" * len(live.name))
    other.mkdir()
    for folder in (live, other):
        os.utime(folder, (LONG_AGO.timestamp(), LONG_AGO.timestamp()))
    tidy(dry=True)
    assert other.exists()
    tidy()
    assert not other.exists()
    assert published_folder().is_dir()


@pytest.fixture
def environment(places):
    """An environment of a plugin."""
    folder = environments_home()

    def make(digit, *, age=timedelta(0)):
        base = {"python": sys.executable, "version": "3", "prefix": "/", "path": [], "mounts": []}
        manifest = Manifest(
            key=f"{digit * 12}-{digit * 12}", plugin="mine", requirements=(), options=(), installed={}, relied={},
            shadowed={}, notes=(), base=base, made=0.0,
        )  # fmt: skip
        place = folder / manifest.key
        (place / "bin").mkdir(parents=True)
        (place / "bin" / "python").symlink_to(sys.executable)
        (place / "content").write_bytes(bytes(1000))
        write_manifest(place, manifest)
        used = (timezone.now() - age).timestamp()
        os.utime(place / "environment.json", (used, used))
        return place

    return make


def test_environments_that_nobody_uses_are_removed(db, environment, settings):
    """After a time, or for others if there is no space; never one in use, or used while they are removed."""
    settings.OPERATIONS = {**settings.OPERATIONS, "environments": 2500}
    week = timedelta(days=8)
    old, held, new = environment("a", age=week), environment("b", age=week), environment("c")
    lease_held = lease(lease_file(held.parent, held.name))
    listed = next(entry for entry in environments() if entry.folder == old)
    os.utime(old / "environment.json")
    assert not remove_environment(listed)  # used since it was listed
    os.utime(old / "environment.json", (listed.used, listed.used))
    assert remove_unused_environments() == 1
    assert (old.exists(), held.exists(), new.exists()) == (False, True, True)
    newest = environment("d")
    assert remove_unused_environments() == 1
    assert (held.exists(), new.exists(), newest.exists()) == (True, False, True)
    release(lease_held)
    assert remove_unused_environments() == 1
    assert not held.exists()


def test_unusable_environments_are_removed(db, places):
    folder = environments_home() / f"{'a' * 12}-{'b' * 12}"
    folder.mkdir(parents=True)
    tidy(dry=True)
    assert folder.exists()
    tidy()
    assert not folder.exists()
