"""Submissions, received as the site does, on their way."""

from __future__ import annotations

import pytest
from django.db import transaction

from brainscore_web.submissions.models import Step
from tests.web._plugins import model_files, zipped
from tests.web.pipeline._claims import claim_next_step


@pytest.fixture(autouse=True)
def folders(settings, tmp_path, monkeypatch):
    """Folders of the site's own; nothing of this machine's caches."""
    settings.SUBMISSIONS = {**settings.SUBMISSIONS, "folder": str(tmp_path / "plugins")}
    settings.UPLOADS = {**settings.UPLOADS, "address": str(tmp_path / "uploads")}
    monkeypatch.setenv("BRAINIO_HOME", str(tmp_path / "brainio"))
    monkeypatch.setenv("BRAINSCORE_HOME", str(tmp_path / "home"))
    return tmp_path


@pytest.fixture
def submit(owner):
    """Send files as `owner`, or as another user."""
    from brainscore_web.submissions.examining import Source
    from brainscore_web.submissions.receiving import receive

    def send(files=None, *, by=owner, submission=None, visibility="public"):
        archive = zipped(files if files is not None else model_files())
        return receive(by, Source("zip", "mine.zip", archive), submission=submission, visibility=visibility)

    return send


@pytest.fixture
def pass_step():
    """Say that an automatic step has passed, without doing it."""
    from brainscore_web.submissions.pipeline.runner import _record_outcome
    from brainscore_web.submissions.steps import Outcome

    def passed(revision, *kinds, result=None):
        for kind in kinds:
            lease = claim_next_step(Step.objects.get(revision=revision, kind=kind).pk)
            assert lease is not None, f"{kind} is not due"
            assert _record_outcome(lease, Outcome(passed=True, result=result or {}))
        revision.submission.refresh_from_db()

    return passed


@pytest.fixture
def states():
    """States of the steps of a revision, in their order, by their first letters."""

    def said(revision):
        rows = Step.objects.filter(revision=revision).order_by("order")
        return " ".join(state[:4] for state in rows.values_list("state", flat=True))

    return said


@pytest.fixture
def atomic():
    """A transaction."""
    return transaction.atomic
