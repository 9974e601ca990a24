"""Pairs for remote workers: they take jobs, renew their leases, and upload receipts, without access to the database.

They get only pairs of public models and public benchmarks. A lease is identified by its token, which only the worker
that took the job knows.

A worker acts for itself only. It belongs to the API token that added it; what it does not score is given to other
workers and counts as its own failure, unless the site fails as well; and its owner's workers hold few pairs at a time.
"""

from __future__ import annotations

import hashlib
import re
import tempfile
import zipfile
from collections.abc import Collection, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any, BinaryIO

from django.conf import settings
from django.db import transaction
from django.db.models import F, Q
from django.utils import timezone

from brainscore_core.archives import announced_members, members_overlap
from brainscore_core.errors import UserError
from brainscore_core.files import temporary_folder
from brainscore_core.formatting import size_text
from brainscore_core.plugins.source import plugin_hash
from brainscore_core.receipts.environment import current_environment, platform_code
from brainscore_core.receipts.output import LOG_BYTES
from brainscore_core.receipts.schema import ReceiptError
from brainscore_core.scoring import Receipt, ResultsStore
from brainscore_web.accounts.models import ApiToken, User
from brainscore_web.jobs.leases import LEASE_DURATION, Lease
from brainscore_web.leaderboard.clean import text
from brainscore_web.leaderboard.models import Benchmark, Score, Visibility, VisionModel
from brainscore_web.scoring.claims import (
    JOBS,
    REMOTE_SUFFIX,
    claim_where,
    record_failure,
    release_expired_jobs,
    release_job,
)
from brainscore_web.scoring.completion import (
    VERIFICATION,
    complete_job,
    give_up_after_attempts,
    record_result,
    run_name,
    usable_receipt,
)
from brainscore_web.scoring.live_plugins import LivePlugins, current_live_plugins
from brainscore_web.scoring.models import Job, RemoteFailure, RemoteResult, RemoteWorker
from brainscore_web.scoring.services import submitted_models
from brainscore_web.submissions.declared_files import files_home, files_of
from brainscore_web.submissions.models import Plugin, PluginKind, Revision

_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,59}")
_KINDS = frozenset({"raw", "predictions", "influence", "log"})
_RECEIPT = "receipt.json"
_LARGEST = {_RECEIPT: 5_000_000, "log": LOG_BYTES}  # bytes
_CLOCK = timedelta(minutes=10)  # by which the clock of a worker may differ
_KNOWN_RECEIPTS = 20  # pairs that a request may complete with existing receipts
_MOST_WORKERS = 100  # of an owner
_MOST_FAILURES = 10
_WITHIN = timedelta(days=1)  # in which failures are counted
_LONGEST_LEASE = timedelta(hours=12)  # with all renewals
_LONGEST_REASON = 2000  # characters


@dataclass(frozen=True, kw_only=True)
class Assignment:
    """A pair for a worker, with what it needs to score it."""

    id: int  # the job
    lease: str  # the token of the lease
    # model, benchmark: the pair
    model: str
    benchmark: str
    run: str  # the run of receipts of the process that this pair starts
    lease_seconds: float  # how long the lease lasts without a renewal
    # hash of the plugin of the ``model`` and of the ``benchmark``; None if they are not plugins
    code: dict[str, str | None]
    plugins: str  # name of the archive of submitted plugins; empty if there are none
    files: list[str]  # declared files of a submitted model, as paths below ``BRAINIO_HOME``
    sandbox: bool  # whether the model must run in a sandbox


def worker_named(name: str, token: ApiToken, version: str) -> RemoteWorker:
    """Return the row of a worker, added at its first request."""
    if not _NAME.fullmatch(name):
        remedy = "use up to 60 letters, digits, points, dashes, underscores"
        raise UserError(f"{name[:80]!r} is not a name of a worker", remedy=remedy)
    now = timezone.now()
    values = {"seen": now, "version": version[:100]}
    worker = RemoteWorker.objects.filter(name=name).first() or _added(name, token, values)
    if worker.owner_id != token.user_id:
        raise UserError(f"another user has a worker with the name {name}", remedy="choose another name with --name")
    if worker.token_id != token.pk:
        valid = ApiToken.objects.filter(Q(expires=None) | Q(expires__gt=now), revoked=False, pk=worker.token_id)
        if valid.exists():
            remedy = "use its token, or another name with --name"
            raise UserError(f"the worker {name} belongs to another token", remedy=remedy)
        RemoteWorker.objects.filter(pk=worker.pk, token=worker.token_id).update(token=token)
    if worker.suspended:
        raise UserError(f"the worker {name} is suspended", remedy="ask the site's administrators")
    RemoteWorker.objects.filter(pk=worker.pk).update(**values)
    return worker


def _added(name: str, token: ApiToken, values: dict[str, Any]) -> RemoteWorker:
    with transaction.atomic():
        _lock(token.user_id)
        if RemoteWorker.objects.filter(owner=token.user_id).count() >= _MOST_WORKERS:
            remedy = "use the name of one that does not run any more"
            raise UserError(f"you have {_MOST_WORKERS} workers", remedy=remedy)
        defaults = {"owner": token.user, "token": token, **values}
        return RemoteWorker.objects.get_or_create(name=name, defaults=defaults)[0]


def _lock(owner: Any) -> None:
    """Let other transactions wait that add workers or take pairs for an owner."""
    User.objects.select_for_update(no_key=True).filter(pk=owner).first()


def require_same_code(code: str, version: str) -> None:
    """Refuse a worker whose platform differs from the site's, since its scores could differ."""
    if code != platform_code():
        own_version = current_environment().packages.get("brainscore", "unknown")
        raise UserError(
            f"the code of brainscore here (version {own_version}) is not that of the worker (version {version[:40]})",
            remedy=f"install the site's version on the worker: pip install brainscore=={own_version}",
        )


def take(
    worker: RemoteWorker,
    *,
    sandbox: bool,
    token: str = "",
    without_models: Collection[str] = (),
    without_benchmarks: Collection[str] = (),
) -> Assignment | None:
    """Claim the next pair for a worker; None if there is none, or an `obstacle`."""
    excluded = {*without_models, *(() if sandbox else submitted_models())}
    models = VisionModel.objects.filter(visibility=Visibility.PUBLIC).exclude(identifier__in=excluded)
    benchmarks = Benchmark.objects.filter(access=Visibility.PUBLIC).exclude(identifier__in=set(without_benchmarks))
    repeated = RemoteResult.objects.filter(state=RemoteResult.State.WAITING).exclude(verification=None)
    site_only = Q(why=VERIFICATION) | Q(pk__in=repeated.values("verification"))
    public = Q(model__in=models.values("pk"), benchmark__in=benchmarks.values("pk"))
    where = public & ~site_only & ~Q(pk__in=_not_scored_by(worker))
    held = _lease(worker, token, where, claim=token) if token else None
    if held is not None and held.renew():
        return _assignment(held, current_live_plugins())
    release_expired_jobs()
    store = ResultsStore(settings.SUBMISSIONS["results"])
    for _ in range(_KNOWN_RECEIPTS):
        with transaction.atomic():
            _lock(worker.owner_id)
            leases = [] if obstacle(worker) else claim_where(_name_in_jobs(worker), 1, where, token=token)
        if not leases:
            return None
        (lease,) = leases
        live = current_live_plugins()
        existing = usable_receipt(lease, store, live) or give_up_after_attempts(lease, store)
        if existing is None:
            return _assignment(lease, live)
        complete_job(lease, store, existing)
    return None


def obstacle(worker: RemoteWorker) -> str:
    """Return why a worker gets no pair at the moment, whatever is waiting; empty if nothing stands in the way."""
    if not worker.trusted:
        recent = worker.failures.exclude(kind=RemoteFailure.Kind.RETURNED).filter(created__gt=timezone.now() - _WITHIN)
        if recent.count() >= _MOST_FAILURES:
            return f"{_MOST_FAILURES} pairs failed or were lost on this worker within a day, and not on another one"
    most = settings.SUBMISSIONS["remote_pairs"]
    names = map(_name_in_jobs, RemoteWorker.objects.filter(owner=worker.owner_id))
    held = Job.objects.filter(state=Job.State.RUNNING, worker__in=list(names))
    return f"your workers hold {most} pairs" if held.count() >= most else ""


def _not_scored_by(worker: RemoteWorker) -> Any:
    """Jobs that this worker has given back, or a worker of its owner failed to score, since they were planned."""
    returned = Q(kind=RemoteFailure.Kind.RETURNED)
    rows = RemoteFailure.objects.filter(
        Q(until=None) | Q(until__gt=timezone.now()),
        (returned & Q(worker=worker)) | (~returned & Q(worker__owner=worker.owner_id)),
        created__gte=F("job__created"),
    )
    return rows.values("job")


def _name_in_jobs(worker: RemoteWorker) -> str:
    return f"{worker.name}{REMOTE_SUFFIX}"


def _lease(worker: RemoteWorker, token: str, *where: Q, **conditions: Any) -> Lease[Job] | None:
    rows = Job.objects.select_related("model", "benchmark").filter(*where, worker=_name_in_jobs(worker), **conditions)
    row = rows.first()
    return None if row is None else Lease(JOBS, row, token)


def _assignment(lease: Lease[Job], live: LivePlugins) -> Assignment:
    model, benchmark = lease.row.model.identifier, lease.row.benchmark.identifier
    folders = {"model": live.folder_of("model", model), "benchmark": live.folder_of("benchmark", benchmark)}
    submitted = live.is_submitted(model)
    files = _declared_files(live.revision_of(model)) if submitted else {}
    return Assignment(
        id=lease.row.pk,
        lease=lease.token,
        model=model,
        benchmark=benchmark,
        run=run_name(lease),
        lease_seconds=LEASE_DURATION.total_seconds(),
        code={kind: None if folder is None else plugin_hash(folder) for kind, folder in folders.items()},
        plugins=_archive_name(_plugins_for(model, live)),
        files=sorted(files),
        sandbox=submitted,
    )


def _declared_files(revision: int | None) -> dict[str, Path]:
    row = Revision.objects.filter(pk=revision).first()
    return {} if row is None else {path.relative_to(files_home()).as_posix(): path for path in files_of(row)}


def _plugins_for(model: str, live: LivePlugins) -> list[tuple[str, str, str]]:
    """Return kind, name and revision of the submitted plugins that a pair may need; of models only its own."""
    needed = ~Q(kind=PluginKind.MODELS)
    folder = live.folder_of("model", model)
    if folder is not None and live.is_submitted(model):
        needed |= Q(kind=PluginKind.MODELS, name=folder.name)
    rows = Plugin.objects.filter(needed).order_by("kind", "name")
    return list(rows.values_list("kind", "name", "revision__digest"))


def _archive_name(plugins: list[tuple[str, str, str]]) -> str:
    return hashlib.sha256(repr(plugins).encode()).hexdigest()[:32] if plugins else ""


def lease_of(worker: RemoteWorker, job: int, token: str) -> Lease[Job] | None:
    """Return the lease of a worker's job; None if it is lost."""
    lease = _lease(worker, token, pk=job) if token else None
    return lease if lease is not None and lease.rows().exists() else None


def renew(worker: RemoteWorker, lease: Lease[Job]) -> tuple[bool, bool]:
    """Renew a lease; return whether it is still held, and whether the pair is to be cancelled."""
    since = lease.row.taken
    if since is not None and timezone.now() - since > _LONGEST_LEASE:
        if release_job(lease):
            hours = _LONGEST_LEASE.total_seconds() / 3600
            record_failure(worker, lease.row, RemoteFailure.Kind.LOST, f"it took more than {hours:.0f} hours")
        return False, False
    held = lease.renew()
    return held, held and lease.rows().filter(stop=True).exists()


def release(worker: RemoteWorker, lease: Lease[Job], *, wait: float) -> None:
    """Give a pair back, without counting the attempt; the worker gets it again after `wait` seconds, others at once."""
    if release_job(lease) and wait:
        until = timezone.now() + timedelta(seconds=wait)
        record_failure(worker, lease.row, RemoteFailure.Kind.RETURNED, "", until=until)


def plugins_archive(lease: Lease[Job]) -> tuple[BinaryIO, str]:
    """Pack the submitted plugins that a pair may need into a ZIP file, which is deleted when it is closed."""
    live = current_live_plugins()
    plugins = _plugins_for(lease.row.model.identifier, live)
    file = tempfile.TemporaryFile()  # noqa: SIM115 # the response closes it
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as packed:
        for kind, name, _ in plugins:
            folder = (live.folder / kind / name).resolve()
            for path in sorted(folder.rglob("*")):
                if path.is_file() and not path.is_symlink():
                    packed.write(path, f"{kind}/{name}/{path.relative_to(folder).as_posix()}")
    file.seek(0)
    return file, _archive_name(plugins)


def declared_file(lease: Lease[Job], path: str) -> Path | None:
    """Return a file that a submitted model declares, by its path below ``BRAINIO_HOME``; None if it does not."""
    live = current_live_plugins()
    return _declared_files(live.revision_of(lease.row.model.identifier)).get(path)


@contextmanager
def received(stream: Any, length: int) -> Iterator[BinaryIO]:
    """Receive a body of a given length into a temporary file."""
    with tempfile.TemporaryFile() as file:
        while length and (piece := stream.read(min(length, 1 << 16))):
            file.write(piece)
            length -= len(piece)
        if length:
            raise ConnectionResetError("the result did not arrive completely")
        file.seek(0)
        yield file


def receive_result(worker: RemoteWorker, job: int, token: str, archive: BinaryIO) -> str:
    """Store the receipt of a pair, and complete its job."""
    with _unpacked(archive) as files:
        receipt = _parsed(files.pop(_RECEIPT))
        if _is_complete(worker, job, receipt):
            return "known"
        lease = lease_of(worker, job, token)
        if lease is None:
            return "lost"
        store = ResultsStore(settings.SUBMISSIONS["results"])
        _check(receipt, lease, current_live_plugins())
        if receipt.state == "failed" and not worker.trusted:
            return _repeated(worker, lease, receipt)
        if not lease.renew():
            return "lost"
        _add(store, receipt, files, worker)
    with transaction.atomic():
        # a task of the site's worker reads the arrays: reading hostile ones may end a process
        stored = complete_job(lease, store, receipt, reads_influence=False)
        if stored:
            record_result(worker, lease.row, receipt)
    if stored:
        return "stored"
    if _is_complete(worker, job, receipt):  # a second request with the same result was faster
        return "known"
    store.remove(receipt)
    RemoteResult.objects.filter(receipt=receipt.id).delete()
    return "lost"


def _repeated(worker: RemoteWorker, lease: Lease[Job], receipt: Receipt) -> str:
    """Give a pair that failed on a worker to another one: the failure may be that of the worker."""
    error = receipt.error
    reason = receipt.reason or (f"{error.type}: {error.message}" if error is not None else "")
    with transaction.atomic():
        if not release_job(lease):
            return "lost"
        record_failure(worker, lease.row, RemoteFailure.Kind.FAILED, text(reason, _LONGEST_REASON) or "")
    return "repeated"


def _is_complete(worker: RemoteWorker, job: int, receipt: Receipt) -> bool:
    """Whether a job was completed with this receipt of this worker."""
    results = RemoteResult.objects.filter(receipt=receipt.id, worker=worker)
    return results.exists() and Job.objects.filter(pk=job, receipt=receipt.id).exists()


def _add(store: ResultsStore, receipt: Receipt, files: dict[str, Path], worker: RemoteWorker) -> None:
    """Add a receipt to the store.

    Who made it is recorded first: if this process is killed afterwards, another worker imports the receipt for the job,
    and its score has the mark of a remote worker.
    """
    _, created = RemoteResult.objects.get_or_create(
        receipt=receipt.id, defaults={"worker": worker, "state": RemoteResult.State.UNVERIFIED}
    )
    try:
        store.add(receipt, files)
    except Exception:
        if created:
            RemoteResult.objects.filter(receipt=receipt.id).delete()
        raise


@contextmanager
def _unpacked(archive: BinaryIO) -> Iterator[dict[str, Path]]:
    """Unpack an uploaded archive into a temporary folder, after checking its members."""
    with temporary_folder("brainscore-result-") as folder:
        try:
            announced = announced_members(archive)
            if announced is None or announced > len(_KINDS) + 1:
                message = "the result is not a ZIP file of a receipt and its attachments"
                raise UserError(message, remedy="update the worker")
            with zipfile.ZipFile(archive) as packed:
                members = packed.infolist()
                _check_members(members)
                for member in members:
                    packed.extract(member, folder)
        except (zipfile.BadZipFile, NotImplementedError, RuntimeError, EOFError, ValueError) as error:
            raise UserError(f"the result cannot be unpacked: {error}", remedy="send it again") from error
        yield {member.filename: folder / member.filename for member in members}


def _check_members(members: list[zipfile.ZipInfo]) -> None:
    names, largest = [member.filename for member in members], settings.SUBMISSIONS["result_size"]
    if _RECEIPT not in names or len(set(names)) != len(names) or not set(names) <= _KINDS | {_RECEIPT}:
        raise UserError(f"the result has unexpected files: {', '.join(names)[:200]}", remedy="update the worker")
    if any(member.compress_type != zipfile.ZIP_STORED for member in members):
        raise UserError("the result is compressed", remedy="update the worker")
    for member in members:
        if member.file_size > (most := min(largest, _LARGEST.get(member.filename, largest))):
            message = f"the {member.filename} of the result is larger than {size_text(most)}"
            raise UserError(message, remedy="score the pair again")
    if members_overlap(members):
        raise UserError("the files in the result overlap", remedy="update the worker")


def _parsed(file: Path) -> Receipt:
    try:
        return Receipt.from_json(file.read_bytes())
    except ReceiptError as error:
        raise UserError(f"the receipt is not valid: {error.message}", remedy=error.remedy) from error


def _check(receipt: Receipt, lease: Lease[Job], live: LivePlugins) -> None:
    """Require a receipt to be that of the leased pair, made since it was taken, and of the current code."""
    job = lease.row
    pair = (job.model.identifier, job.benchmark.identifier)
    if (receipt.model.identifier, receipt.benchmark.identifier) != pair:
        raise UserError(f"the receipt is not of {job}", remedy="send the receipt of the pair that was taken")
    if Score.objects.filter(receipt=receipt.id).exists():
        raise UserError(f"the receipt {receipt.id} is already known", remedy="score the pair again")
    if not live.made(receipt):
        raise UserError(f"the code of {job} has changed since", remedy="take the pair again")
    created = datetime.fromisoformat(receipt.created)
    started = job.started or created
    if not started - _CLOCK <= created <= datetime.now(UTC) + _CLOCK:
        raise UserError(f"the receipt is dated {receipt.created}", remedy="set the clock of the worker's machine")
