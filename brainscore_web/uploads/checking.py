"""Checks of uploads, which decide whether an upload is published or refused.

Files are inspected in a sandbox that sees these files only, with limits on memory and time. `check` may be
called any number of times: one process at a time checks an upload, and interrupted checks are repeated.
"""

from __future__ import annotations

import json
import sys
import time
import uuid
from collections.abc import Callable
from contextlib import ExitStack, suppress
from dataclasses import asdict
from datetime import timedelta
from functools import partial
from pathlib import Path
from typing import Any

from django.db import transaction
from django.db.models import Q
from django.utils import timezone
from django_tasks import task

import brainscore_core
from brainscore_core.errors import UserError
from brainscore_core.files import temporary_folder
from brainscore_core.isolation.sandbox import Sandbox, require_sandbox, run_in_sandbox
from brainscore_web.jobs import workers
from brainscore_web.jobs.leases import Lease, LeaseQueue, Postponed, RetryPolicy
from brainscore_web.leaderboard.models import Visibility
from brainscore_web.uploads import inspection
from brainscore_web.uploads.files import drop, limits
from brainscore_web.uploads.inspection import Found, Question, Report
from brainscore_web.uploads.models import Upload, UploadedFile
from brainscore_web.uploads.storage import LocalFile, Place, StorageFailure, storage

_HEARTBEAT = 10.0  # seconds
_LONGEST_ANSWER = 64 * 1024 * 1024  # bytes
_PROCESSES = 16
_SCRIPT = Path(inspection.__file__)
_VARIABLES = {
    "OMP_NUM_THREADS": "1",
    "OPENBLAS_NUM_THREADS": "1",
    "PYTHONPATH": str(Path(brainscore_core.__file__).absolute().parent.parent),
}


def inspect_in_sandbox(question: Question, *, alive: Callable[[], bool]) -> Report | None:
    """Inspect files in a sandbox, which sees these files and nothing else of the site."""
    try:
        require_sandbox()
    except UserError as error:
        raise Postponed("the site cannot check files at the moment", str(error)) from error
    asked_again = time.monotonic() + _HEARTBEAT

    def stopped() -> bool:
        nonlocal asked_again
        if time.monotonic() < asked_again:
            return False
        asked_again = time.monotonic() + _HEARTBEAT
        return not alive()

    with temporary_folder("brainscore-inspection-") as folder:
        request, answer = folder / "question.json", folder / "report.json"
        request.write_text(json.dumps(asdict(question)))
        answer.touch()
        sandbox = Sandbox(
            files=[_SCRIPT, request, *map(Path, filter(None, [*question.files.values(), question.reference]))],
            writable=[answer],
            environment=_VARIABLES,
            memory=question.limits["memory"],
            processes=_PROCESSES,
            scratch=2 * _LONGEST_ANSWER,
        )
        command = [sys.executable, "-P", str(_SCRIPT), str(request), str(answer)]
        ended = run_in_sandbox(command, sandbox, timeout=question.limits["seconds"], stopped=stopped)
        if ended.cause == "stopped":
            return None
        report = None if ended.cause else _read(answer)
    if report is not None:
        return report
    problem = f"the inspection {ended.message or 'gave no answer'}"
    remedy = "package them again with `brainscore package`; divide a very large data set into subsets"
    return Report([Found(", ".join(question.names.values()), "files cannot be checked", problem, remedy)], {}, {})


def _read(answer: Path) -> Report | None:
    with answer.open("rb") as stream, suppress(ValueError, KeyError, TypeError):
        return Report.read(json.loads(stream.read(_LONGEST_ANSWER)))
    return None


_State = Upload.State

CHECKS = LeaseQueue(
    Upload,
    waiting=Q(state=_State.CHECKING),
    held=Q(state=_State.CHECKING) & ~Q(claim=""),
    order=("changed", "pk"),
    retry=RetryPolicy(timedelta(seconds=20), attempts=5),
    lane="long",
    owner="owner",
    exclusive=True,
    task="brainscore_web.uploads.checking.do_next_upload",
)
"""Uploads to be checked. Users take turns."""


def begin_checks(upload: Upload) -> None:
    """Accept no more files, and let a worker check those received."""
    with transaction.atomic():
        row = Upload.objects.select_for_update(of=("self",)).get(pk=upload.pk)
        if row.state != _State.RECEIVING:
            return
        files = {file.kind: file for file in row.files.all()}
        if any(file.streaming for file in files.values()):
            raise UserError("a file is still being uploaded", remedy="wait until the transfer is complete")
        kinds = {kind for kind, file in files.items() if file.size is not None}
        if "zip" in kinds and "csv" not in kinds:
            raise UserError(
                "there is a ZIP file without its CSV file", remedy="upload the CSV file from packaging as well"
            )
        if not kinds:
            raise UserError("there is nothing to check", remedy="upload a CSV or an NC file")
        row.state, row.changed, row.due = _State.CHECKING, (now := timezone.now()), now
        row.save(update_fields=["state", "changed", "due"])
        row.files.filter(size=None).delete()
    _check_in_worker(upload.pk)


def resume(upload: Upload) -> None:
    """Resume the checks of an upload if they were interrupted."""
    workers.resume(CHECKS, Q(pk=upload.pk))
    if CHECKS.due().filter(pk=upload.pk).exists():
        _check_in_worker(upload.pk)


def resume_checks() -> int:
    """Release interrupted checks, and wake a worker for uploads to be checked; return the number of released ones."""
    released = workers.resume(CHECKS)
    workers.wake_for(CHECKS)
    return released


def check(key: uuid.UUID) -> bool:
    """Check an upload if it is due and no other process checks it; return whether this call did."""
    return workers.do_next(CHECKS, _check, give_up=_give_up, where=Q(pk=key), in_turn=False)


def _check(lease: Lease[Upload]) -> None:
    upload = lease.row
    files = {file.kind: file for file in upload.files.all()}
    for file in files.values():
        file.upload = upload
    with ExitStack() as stack:
        there = {
            kind: stack.enter_context(storage().at_hand(file.token, file.key, file.version_id))
            for kind, file in files.items()
        }
        if "csv" not in files and (table := _known_table(upload)) is not None:
            there["reference"] = stack.enter_context(storage().at_hand("", table.key, table.version_id))
        report = _inspected(lease, files, there)
        if report is None:
            return
        published = not report.refused and _publish(lease, files, there, report)
    if not published:
        document = [asdict(finding) for finding in report.findings]
        if _end(lease, _State.REFUSED, findings=document, facts=report.facts):
            upload.files.update(size=None)
            for file in files.values():
                drop(file.token)
                if file.version_id:  # an earlier check had published it before it was interrupted
                    with suppress(StorageFailure):
                        storage().delete(file.key, file.version_id)


def _known_table(upload: Upload) -> UploadedFile | None:
    """The uploaded stimulus set of an assembly that was sent without one, if its owner may load it."""
    rows = UploadedFile.objects.filter(
        Q(upload__visibility=Visibility.PUBLIC) | Q(upload__owner=upload.owner_id),
        kind=UploadedFile.Kind.CSV,
        upload__state=_State.ACCEPTED,
        upload__identifier=upload.identifier,
    )
    own_first = rows.filter(upload__owner=upload.owner_id).order_by("-upload__changed").first()
    return own_first or rows.order_by("-upload__changed").first()


def _inspected(lease: Lease[Upload], files: dict[str, UploadedFile], there: dict[str, LocalFile]) -> Report | None:
    """Inspect the files; return None if the lease was lost meanwhile."""
    upload = lease.row
    allowed = asdict(limits())
    question = Question(
        files={kind: str(there[kind].path) for kind in files},
        names={kind: file.name for kind, file in files.items()},
        identifier=upload.identifier,
        assembly_identifier=upload.assembly_identifier,
        cls=upload.assembly_class,
        limits={name: allowed[name] for name in ("memory", "seconds", "members", "unpacked", "ratio", "pixels")},
        sha1={kind: file.expected_sha1 for kind, file in files.items() if file.expected_sha1},
        reference=str(there["reference"].path) if "reference" in there else "",
    )
    return inspect_in_sandbox(question, alive=lambda: not lease.is_lost())


def _publish(lease: Lease[Upload], files: dict[str, UploadedFile], there: dict[str, LocalFile], report: Report) -> bool:
    upload = lease.row
    private = upload.visibility == Visibility.PRIVATE
    for kind, file in files.items():
        if not file.version_id and (version := storage().new_version()):
            # stored before the file is moved, so that no file is lost if the process crashes
            key = storage().key_of(Place(upload.owner_folder, file.name, version, private))
            file.bucket, file.key, file.version_id = storage().bucket, key, version
            if not lease.rows().exists():
                return True
            file.save(update_fields=["bucket", "key", "version_id"])
        place_of = Place(upload.owner_folder, file.name, file.version_id, private)
        done = storage().publish(file.token, place_of, seal=there[kind].seal)
        hashes = report.hashes[kind]
        file.bucket, file.key, file.version_id = done.bucket, done.key, done.version_id
        file.everybody, file.size = done.everybody, hashes["size"]
        file.sha1, file.sha256 = hashes["sha1"], hashes["sha256"]
    with transaction.atomic():
        if not lease.rows().select_for_update().exists():
            return True
        for file in files.values():
            file.save()
        document = [asdict(finding) for finding in report.findings]
        _end(lease, _State.ACCEPTED, findings=document, facts=report.facts)
    for file in files.values():
        drop(file.token)
    return True


def _end(lease: Lease[Upload], state: str, *, findings: list[Any], facts: dict[str, Any]) -> bool:
    return lease.finish(state=state, findings=findings, facts=facts, changed=timezone.now())


def _give_up(lease: Lease[Upload], why: str, _internal: str) -> None:
    why = why or "the checks ended unexpectedly on each attempt"
    finding = asdict(Found("", "could not be checked", why, "upload it again later, or contact the administrators"))
    if _end(lease, _State.REFUSED, findings=[finding], facts={}):
        lease.row.files.update(size=None)


def _check_in_worker(key: uuid.UUID) -> None:
    """Let a worker check the upload; if it is interrupted, another one resumes once the claim has expired."""
    transaction.on_commit(partial(workers.wake_for, CHECKS), robust=True)  # the sweep wakes workers as well


@task(queue_name="long")
def do_next_upload() -> bool:
    """Check the next upload."""
    return workers.do_next(CHECKS, _check, give_up=_give_up)
