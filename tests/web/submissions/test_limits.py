"""Quotas, counted correctly on the server under concurrent requests."""

import io
import json
import os
import subprocess
import sys
from datetime import timedelta
from pathlib import Path

import pytest
from django.utils import timezone

from brainscore_web.submissions.models import Revision, Submission
from tests.web._plugins import model_files, zipped

from .conftest import confirm


@pytest.mark.slow(reason="sends requests from several processes")
def test_requests_at_the_same_time(transactional_db, django_db_setup, tmp_path):
    """In a process of its own: SQLite in memory does not wait for locks."""
    folder = tmp_path / "site"
    environment = {
        **os.environ,
        "BRAINSCORE_SITE_HOME": str(folder),
        "DATABASE_URL": django_db_setup.write(folder),
        "DJANGO_SETTINGS_MODULE": "brainscore_web.settings",
    }
    program = Path(__file__).with_name("_races.py")
    done = subprocess.run([sys.executable, program], env=environment, capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stderr
    many, again, twice, tokens = json.loads(done.stdout.splitlines()[-1])
    assert sorted(set(many["answers"])) == [201, 429]
    assert many["answers"].count(201) == many["kept"] == 3
    assert again == {
        "answers": [201] * 5,
        "numbers": [1, 2, 3, 4, 5],
        "begun": True,
        "before": ["cancelled", "skipped"],
    }
    assert sorted(twice["answers"]) == [201, 409, 409, 409]
    assert twice["kept"] == 1
    assert tokens == 50


@pytest.mark.django_db
def test_bytes_and_days(submitter, send, settings):
    settings.SUBMISSIONS = {**settings.SUBMISSIONS, "day": 2}
    assert send(model_files("tiles-1", size=1)).status_code == 302
    assert send(model_files("tiles-2", size=2)).status_code == 302
    answer = send(model_files("tiles-3", size=3))
    assert answer.status_code == 429
    assert "You have sent 2 revisions in 24 hours" in answer.content.decode()
    Revision.objects.update(created=timezone.now() - timedelta(hours=25))
    used = sum(Revision.objects.values_list("size", flat=True))
    settings.SUBMISSIONS = {**settings.SUBMISSIONS, "person": used + 100}
    answer = send(model_files("tiles-3", size=3))
    assert answer.status_code == 413
    assert "ask the administrators for more space" in answer.content.decode()
    settings.SUBMISSIONS = {**settings.SUBMISSIONS, "person": used + 100_000}
    assert send(model_files("tiles-3", size=3)).status_code == 302


@pytest.mark.django_db
def test_what_ended_counts_as_open_no_more(submitter, send, settings, client):
    settings.SUBMISSIONS = {**settings.SUBMISSIONS, "open": 1}
    assert send(model_files()).status_code == 302
    answer = send(model_files("tiles-9", size=9))
    assert answer.status_code == 429
    assert "withdraw some" in answer.content.decode()
    row = Submission.objects.get()
    assert client.post(f"/submissions/{row.pk}/withdraw/").status_code == 302
    assert send(model_files("tiles-9", size=9)).status_code == 302


@pytest.mark.django_db
@pytest.mark.parametrize("state", ["publishing", "scoring", "done", "rejected", "withdrawn"])
def test_what_is_published_or_over_takes_no_revision(owner, ask, token_of, submitted, state):
    made = submitted(confirm(owner))
    Submission.objects.update(state=state)
    token = token_of(owner, "submit")
    archive = io.BytesIO(zipped(model_files(size=9)))
    told = ask("POST", f"submissions/{made.submission_id}/revisions", token=token, data={"archive": archive})
    assert told.status_code == 409
    assert "accepts no further revisions" in told.json()["message"]
    assert Revision.objects.count() == 1
