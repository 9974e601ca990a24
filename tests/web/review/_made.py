"""Submissions as the pipeline leaves them for reviewers."""

import hashlib
import io
import time
import zipfile

from django.db import OperationalError, connection

from .._plugins import benchmark_files, model_files  # tests are no installed package

__all__ = ["FINE", "NOTE", "add_revision", "benchmark_files", "make", "model_files", "unlocked"]

NOTE = """Measures how alike models see the stimuli of Author et al. (2026), with data of the paper.
All tests pass. Ceiling 0.85; score of alexnet = 0.42."""
FINE = {f"aspect-{name}": "fine" for name in ("code", "science", "data", "ceiling", "tests", "documentation")}


def packed(files):
    """A ZIP of texts or bytes."""
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as archive:
        for path, content in sorted(files.items()):
            archive.writestr(path, content)
    return buffer.getvalue()


def plugins_of(files):
    """What the library would say of them, without looking closely."""
    names = sorted({tuple(path.split("/")[:2]) for path in files})
    return [
        {
            "kind": kind,
            "name": name,
            "registrations": [{"registry": f"{kind}_registry", "key": "Author2026-pls", "line": 12}]
            if kind == "benchmarks"
            else [],
        }
        for kind, name in names
    ]


def add_revision(submission, files, *, number=1, state="review", by=None, **fields):
    """A revision that went so far."""
    from brainscore_web.submissions.models import Revision, Step

    archive = packed(files)
    revision = Revision.objects.create(
        submission=submission,
        number=number,
        by=by or submission.owner,
        archive=archive,
        digest=hashlib.sha256(archive).hexdigest(),
        size=len(archive),
        plugins=fields.pop("plugins", plugins_of(files)),
        **{"note": NOTE, **fields},
    )
    done = "passed" if state in ("review", "publishing", "scoring", "done", "rejected") else "failed"
    states = {"check": "passed", "test": done, "review": "waiting", "publish": "waiting", "score": "waiting"}
    for order, (kind, one) in enumerate(states.items()):
        Step.objects.create(revision=revision, kind=kind, order=order, state=one, log=f"log of {kind}")
    submission.state = state
    submission.save()
    return revision


def make(owner, files=None, *, title="benchmarks/author2026", state="review", key=None, **fields):
    """A submission with one revision."""
    from brainscore_web.submissions.models import Submission

    submission = Submission.objects.create(owner=owner, title=title, **({"pk": key} if key else {}))
    add_revision(submission, files or benchmark_files(), state=state, **fields)
    return submission


def unlocked(job):
    """Do it; again where SQLite in memory, which unlike a file does not wait, is locked by another thread."""
    for _ in range(600):
        try:
            return job()
        except OperationalError as error:
            if "locked" not in str(error):
                raise
            connection.close()
            time.sleep(0.05)
    raise TimeoutError("locked for half a minute")
