"""Work for remote workers in the API: take pairs, renew their leases, fetch what they need, and upload results."""

from __future__ import annotations

import logging
from dataclasses import asdict
from typing import Any

from django.conf import settings
from django.http import FileResponse, HttpRequest
from ninja import Query, Router, Schema
from pydantic import Field

from brainscore_core.errors import UserError
from brainscore_core.formatting import size_text
from brainscore_core.results.backend import StoreError
from brainscore_web.api.authentication import Access, caller_of
from brainscore_web.api.responses import Problem, operation, refuse_unknown_parameters
from brainscore_web.jobs.leases import Lease
from brainscore_web.scoring import remote
from brainscore_web.scoring.models import Job, RemoteWorker

router = Router()

_log = logging.getLogger(__name__)
_WORKS = Access(scope="jobs:run")
_MOST_EXCLUDED = 2000


class WorkWanted(Schema):
    """A worker that wants a pair."""

    worker: str = Field(max_length=60, description="Name of the worker, unique on the site.")
    version: str = Field("", max_length=100, description="Version of brainscore on the worker.")
    code: str = Field(max_length=64, description="Hash of the code of brainscore on the worker.")
    sandbox: bool = Field(False, description="Whether it can run submitted models in a sandbox.")
    lease: str = Field(
        "",
        pattern="^([0-9a-f]{32})?$",
        description="A random token for the lease. The same request with the same token returns the same pair.",
    )
    without_models: list[str] = Field([], max_length=_MOST_EXCLUDED, description="Models that it cannot score.")
    without_benchmarks: list[str] = Field([], max_length=_MOST_EXCLUDED, description="Benchmarks that it cannot score.")


class Pair(Schema):
    """A pair that was taken."""

    id: int
    lease: str = Field(description="Token of the lease, for the other requests.")
    model: str
    benchmark: str
    run: str = Field(description="The id of the run, for a process that starts with this pair.")
    lease_seconds: float = Field(description="How long the lease lasts without a renewal.")
    code: dict[str, str | None] = Field(description="Hash of the plugin of the model and of the benchmark.")
    plugins: str = Field(description="Name of the archive of submitted plugins; empty if none are needed.")
    files: list[str] = Field(description="Files that a submitted model declares.")
    sandbox: bool = Field(description="Whether the model must run in a sandbox.")


class Work(Schema):
    """The pair, or null if the worker gets none."""

    pair: Pair | None
    reason: str = Field("", description="Why the worker gets no pair although some may be waiting.")


class LeaseNamed(Schema):
    """The worker and its lease."""

    worker: str = Field(max_length=60, description="Name of the worker.")
    lease: str = Field(max_length=40, description="Token of the lease.")


class ReleaseAsked(LeaseNamed):
    """A pair that is given back."""

    wait: float = Field(0, ge=0, le=86_400, description="Seconds until this worker may take the pair again.")


class FileAsked(LeaseNamed):
    """A declared file."""

    path: str = Field(max_length=400, description="One of the pair's `files`.")


class LeaseState(Schema):
    """Whether the lease is still held, and whether the pair is to be cancelled."""

    held: bool
    stop: bool


class ResultState(Schema):
    """What became of the result.

    ``stored``, ``known`` already, ``repeated``: the pair failed, and is given to another worker; or the lease was
    ``lost`` and nothing was stored.
    """

    result: str


def _options(summary: str, *statuses: int, answer: Any = LeaseState, **extra: Any) -> dict[str, Any]:
    return operation("workers", summary, answer, 403, *statuses, auth=_WORKS, **extra)


@router.post("work", **_options("Take a pair", 409, answer=Work))
def take_work(request: HttpRequest, wanted: WorkWanted) -> dict[str, Any]:
    """Take the next pair of a public model and a public benchmark.

    Requires a token with the scope `jobs:run`, whose owner may score pairs for the site. The worker must have the code
    of the site. It renews the lease, and uploads the result or gives the pair back. A request whose response was lost
    can be repeated with the same `lease`: as long as the pair is leased, it is returned again. A worker belongs to the
    token that used its name first. The number of pairs that the workers of a user hold is limited, and so is the number
    of pairs that fail only on a worker; then there is no pair, but a `reason`.
    """
    refuse_unknown_parameters(request)
    worker = _worker(request, wanted.worker, wanted.version)
    try:
        remote.require_same_code(wanted.code, wanted.version)
    except UserError as error:
        raise Problem(409, error.message, error.remedy) from error
    pair = remote.take(
        worker,
        sandbox=wanted.sandbox,
        token=wanted.lease,
        without_models=wanted.without_models,
        without_benchmarks=wanted.without_benchmarks,
    )
    if pair is None:
        return {"pair": None, "reason": remote.obstacle(worker)}
    return {"pair": asdict(pair)}


@router.post("work/{int:job}/renew", **_options("Renew a lease", 404))
def renew_work(request: HttpRequest, job: int, named: LeaseNamed) -> dict[str, bool]:
    """Renew the lease of a pair, at least every minute; after 12 hours it ends."""
    refuse_unknown_parameters(request)
    worker = _worker(request, named.worker)
    lease = remote.lease_of(worker, job, named.lease)
    held, stop = (False, False) if lease is None else remote.renew(worker, lease)
    return {"held": held, "stop": stop}


@router.post("work/{int:job}/release", **_options("Give a pair back", 404))
def release_work(request: HttpRequest, job: int, asked: ReleaseAsked) -> dict[str, bool]:
    """Give a pair back, for another worker, which may take it at once."""
    refuse_unknown_parameters(request)
    worker = _worker(request, asked.worker)
    lease = remote.lease_of(worker, job, asked.lease)
    if lease is not None:
        remote.release(worker, lease, wait=asked.wait)
    return {"held": False, "stop": False}


@router.get(
    "work/{int:job}/plugins",
    **_options("Submitted plugins", 404, answer=bytes, media=["application/zip"]),
)
def work_plugins(request: HttpRequest, job: int, named: Query[LeaseNamed]) -> FileResponse:
    """Download the submitted plugins that a pair needs, as a ZIP file."""
    refuse_unknown_parameters(request, LeaseNamed)
    lease = _held(request, job, named)
    file, name = remote.plugins_archive(lease)
    return FileResponse(file, content_type="application/zip", as_attachment=True, filename=f"{name or 'none'}.zip")


@router.get(
    "work/{int:job}/files",
    **_options("A declared file", 404, answer=bytes, media=["application/octet-stream"]),
)
def work_file(request: HttpRequest, job: int, asked: Query[FileAsked]) -> FileResponse:
    """Download a file that a submitted model declares, such as its weights."""
    refuse_unknown_parameters(request, FileAsked)
    path = remote.declared_file(_held(request, job, asked), asked.path)
    if path is None:
        raise Problem(404, "the model does not declare this file", "take one of the pair's files")
    return FileResponse(
        path.open("rb"), content_type="application/octet-stream", as_attachment=True, filename=path.name
    )


@router.post(
    "work/{int:job}/result",
    url_name="post_result",
    **_options(
        "Upload a result",
        404,
        413,
        415,
        503,
        answer=ResultState,
        requestBody={
            "required": True,
            "content": {"application/zip": {"schema": {"type": "string", "format": "binary"}}},
        },
    ),
)
def post_result(request: HttpRequest, job: int, named: Query[LeaseNamed]) -> dict[str, str]:
    """Upload the receipt of a pair with its attachments, as a ZIP file without compression.

    It contains `receipt.json`, and the attachments by their kinds. A result that the site already has is confirmed. A
    failure is not stored, unless the worker is trusted: another worker repeats the pair.
    """
    refuse_unknown_parameters(request, LeaseNamed)
    worker = _worker(request, named.worker)
    if request.content_type != "application/zip":
        raise Problem(415, f"the body is {request.content_type or 'of no type'}", "send application/zip")
    length, largest = request.META.get("CONTENT_LENGTH") or "", settings.SUBMISSIONS["result_size"]
    if not length.isdecimal():
        raise Problem(400, "the length of the body is not known", "send Content-Length")
    if int(length) > largest:
        raise Problem(413, f"the result is larger than {size_text(largest)}", "ask the site's administrators")
    try:
        with remote.received(request, int(length)) as archive:
            return {"result": remote.receive_result(worker, job, named.lease, archive)}
    except ConnectionError as error:
        raise Problem(503, "the result did not arrive completely", "send it again") from error
    except (StoreError, OSError) as error:  # such as a full disk
        _log.exception("The result of job %s cannot be stored", job)
        raise Problem(503, "the site cannot store results at the moment", "try again later") from error


def _worker(request: HttpRequest, name: str, version: str = "") -> RemoteWorker:
    token = caller_of(request).token
    if token is None or not token.user.has_perm("scoring.run_jobs"):
        raise Problem(403, "the token's owner may not score pairs for this site", "ask the site's administrators")
    try:
        return remote.worker_named(name, token, version)
    except UserError as error:
        raise Problem(403, error.message, error.remedy) from error


def _held(request: HttpRequest, job: int, named: LeaseNamed) -> Lease[Job]:
    lease = remote.lease_of(_worker(request, named.worker), job, named.lease)
    if lease is None:
        raise Problem(404, "the lease is lost", "take another pair")
    return lease
