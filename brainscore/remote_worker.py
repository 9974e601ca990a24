"""A worker for a site on another machine: takes pairs over HTTP, scores them here, and uploads the results.

Its pair is kept in a folder, so that a worker that was killed continues: it uploads a finished result, or scores the
pair again. Several workers on one machine use one folder each.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import threading
import uuid
import zipfile
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass
from pathlib import Path, PurePosixPath
from tempfile import TemporaryFile
from typing import IO, Any, Self
from urllib.parse import urlsplit

from brainscore.client.connection import Connection
from brainscore_core.archives import leaves_folder
from brainscore_core.domains import domain_of
from brainscore_core.errors import DataUnavailable, UserError
from brainscore_core.files import replacing
from brainscore_core.isolation.sandbox import require_sandbox
from brainscore_core.paths import remote_worker_home
from brainscore_core.plugins.source import plugin_hash
from brainscore_core.receipts.environment import current_environment, platform_code
from brainscore_core.runner.process import ModelProcess, scoring_environment
from brainscore_core.scoring import Receipt, ResultsStore

Say = Callable[[str], None]

_PLUGINS, _REPLACE = "BRAINSCORE_PLUGINS", "BRAINSCORE_PLUGINS_REPLACE"
_SECRETS = ("BRAINSCORE_TOKEN", "BRAINSCORE_SITE")
_UNAVAILABLE = {"AccessDenied", "DataUnavailable", "IncompleteDownload", "NotFound", "Offline", "SeveralUnavailable"}
_NOT_INSTALLED = {"MissingRequirementError", "RequirementsError", "RequirementsUnavailable"}
_RENEWALS = 6  # in the time that a lease lasts
_IDLE_SECONDS = 10.0
_LONGEST_PAUSE = 60.0  # seconds, while the site cannot be reached; a lease lasts two minutes
_NOT_HERE_SECONDS = 3600.0  # until a pair that cannot be scored here may be taken by this worker again


class WorkerFolder:
    """What a worker keeps on disk: its pair, the receipt of the pair, plugins and files.

    `root` holds the folders of all workers of this machine; by default it is `remote_worker_home`.
    """

    def __init__(self, site: str, root: Path | None = None) -> None:
        address = urlsplit(site)
        host = re.sub(r"[^A-Za-z0-9.-]", "-", f"{address.hostname or 'site'}-{address.port or address.scheme}")
        self._lock, self.path = _first_free((root or remote_worker_home()) / host)
        self.results = ResultsStore(self.path / "results")

    def close(self) -> None:
        """Let another process use the folder."""
        self._lock.close()

    @property
    def pair(self) -> Pair | None:
        """The pair that this worker, or a killed one before it, holds."""
        try:
            return Pair.from_dict(json.loads((self.path / "pair.json").read_bytes()))
        except FileNotFoundError:
            return None
        except (OSError, ValueError, UserError):
            self.forget()  # an earlier version wrote it; the site gives the pair to another worker
            return None

    def keep(self, pair: Pair) -> None:
        """Record the pair that this worker holds."""
        with replacing(self.path / "pair.json") as stream:
            stream.write(json.dumps(asdict(pair)).encode())
        (self.path / "lease").unlink(missing_ok=True)

    def next_lease(self) -> str:
        """Return the token with which to take the next pair.

        It is kept until the pair is: if the worker is killed in between, or the response of the site is lost, the site
        returns the same pair for the same token.
        """
        path = self.path / "lease"
        if not path.exists():
            with replacing(path) as stream:
                stream.write(uuid.uuid4().hex.encode())
        return path.read_text()

    def forget(self) -> None:
        """Forget the pair and its receipt."""
        shutil.rmtree(self.path / "results", ignore_errors=True)
        (self.path / "pair.json").unlink(missing_ok=True)

    def receipt_of(self, pair: Pair) -> Receipt | None:
        """Return the receipt of this pair, if it is finished."""
        return self.results.latest(pair.model, pair.benchmark)

    def plugins_of(self, pair: Pair, work: Work) -> Path | None:
        """Return the folder of submitted plugins that a pair needs, fetched if it is missing; None if it needs none."""
        if not pair.plugins:
            return None
        if not pair.plugins.isalnum():
            raise UserError("the site sent an invalid name of an archive", remedy="update brainscore")
        folder = self.path / "plugins" / pair.plugins
        if not folder.is_dir():
            shutil.rmtree(folder.parent, ignore_errors=True)  # earlier ones are not needed any more
            folder.parent.mkdir(parents=True)
            archive = work.fetch_plugins(pair, folder.parent / "plugins.zip")
            unpacked = folder.with_suffix(".part")
            _unpack(archive, unpacked)
            unpacked.rename(folder)
            archive.unlink()
        return folder

    def files_of(self, pair: Pair, work: Work) -> list[Path]:
        """Return the declared files of a submitted model, fetched if they are not here."""
        paths = []
        for name in pair.files:
            if leaves_folder(name):
                raise UserError(f"the site sent an invalid path of a file: {name!r}", remedy="update brainscore")
            path = self.files_home / PurePosixPath(name)
            if not path.is_file():
                path.parent.mkdir(parents=True, exist_ok=True)
                work.fetch_file(pair, name, path)
            paths.append(path)
        return paths

    @property
    def files_home(self) -> Path:
        """Where declared files of submitted models are, with the layout of ``BRAINIO_HOME``."""
        return self.path / "files"


def _first_free(root: Path) -> tuple[IO[bytes], Path]:
    """Lock the first folder that no other process uses; it is free again when this process ends."""
    try:
        import fcntl
    except ImportError as error:
        raise UserError("workers of a site require Linux or macOS", remedy="run the worker in WSL") from error
    number = 0
    while True:
        folder = root / str(number)
        try:
            folder.mkdir(parents=True, exist_ok=True)
            lock = (folder / "lock").open("ab")
        except OSError as error:
            raise UserError(
                f"the folder {folder} cannot be written: {error.strerror}",
                remedy="set BRAINSCORE_HOME to another folder",
            ) from error
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            lock.close()
            number += 1
            continue
        return lock, folder


def _unpack(archive: Path, folder: Path) -> None:
    shutil.rmtree(folder, ignore_errors=True)
    with zipfile.ZipFile(archive) as packed:
        for member in packed.infolist():
            if leaves_folder(member.filename):
                raise UserError(
                    f"the site sent an invalid path of a file: {member.filename!r}", remedy="update brainscore"
                )
            packed.extract(member, folder)
    for path in (folder, *folder.rglob("*")):
        path.chmod(0o755 if path.is_dir() else 0o644)  # a sandbox runs as another user


class RemoteWorker:
    """Takes pairs from a site, scores them on this machine, and uploads the results, until it is stopped.

    The token of the connection needs the scope ``jobs:run``, and the name is unique on the site. `limit` is in bytes of
    memory of a pair, `timeout` in seconds of a pair, and `idle_seconds` the pause if no pair was waiting.
    """

    def __init__(
        self, connection: Connection, name: str, *, say: Say, once: bool = False, until_idle: bool = False,
        limit: int | None = None, timeout: float | None = None, idle_seconds: float = _IDLE_SECONDS,
    ) -> None:  # fmt: skip
        self.say = say
        self.once = once
        self.until_idle = until_idle
        self.limit = limit
        self.timeout = timeout
        self.idle_seconds = idle_seconds
        self.work = Work(connection, name)
        self._obstacle = ""
        self._end = threading.Event()
        self._without_models: set[str] = set()
        self._without_benchmarks: set[str] = set()

    def stop(self) -> None:
        """Let the worker end soon; its pair is given back."""
        self._end.set()

    def run(self) -> None:
        """Work until stopped or, if requested, until no pair is waiting.

        Raises UserError if the site refuses this worker, for example because its version differs.
        """
        folder = WorkerFolder(self.work.connection.site)
        self.process = ModelProcess(folder.results, limit=self.limit, say=self.say)
        self.say(f"Worker {self.work.worker} scores for {self.work.connection.site}, in {folder.path}")
        pause = self.idle_seconds
        try:
            while not self._end.is_set():
                try:
                    done = self._turn(folder)
                    pause = self.idle_seconds
                except DataUnavailable as error:  # the site cannot be reached at the moment
                    self.say(f"{error.message}; trying again in {pause:.0f} s")
                    self._end.wait(pause)
                    pause = min(2 * pause, _LONGEST_PAUSE)
                    continue
                if (done and self.once) or (not done and (self.until_idle or self.once)):
                    return
                if not done:
                    self.process.end_process()
                    self._end.wait(self.idle_seconds)
        finally:
            self.process.close()
            folder.close()
            self.say(f"Worker {self.work.worker} ends")

    def _turn(self, folder: WorkerFolder) -> bool:
        """Finish the pair that is held, or take one; return False if none is waiting."""
        pair = folder.pair
        if pair is not None:
            self._resume(pair, folder)
            return True
        pair = self.work.take(
            lease=folder.next_lease(),
            version=str(current_environment().packages.get("brainscore", "")),
            code=platform_code(),
            sandbox=_has_sandbox(),
            without_models=sorted(self._without_models),
            without_benchmarks=sorted(self._without_benchmarks),
        )
        if self.work.obstacle != self._obstacle:
            self._obstacle = self.work.obstacle
            self.say(f"The site gives no pairs: {self._obstacle}" if self._obstacle else "The site gives pairs again")
        if pair is None:
            return False
        folder.keep(pair)
        self.say(f"{pair}: started")
        self._score(pair, folder)
        return True

    def _resume(self, pair: Pair, folder: WorkerFolder) -> None:
        """Continue with a pair of a worker that was killed, or whose result could not be uploaded."""
        receipt = folder.receipt_of(pair)
        if receipt is not None:
            self._upload(pair, receipt, folder)
        elif self.work.renew(pair)[0]:
            self.say(f"{pair}: started again")
            self._score(pair, folder)
        else:
            folder.forget()
            self.say(f"{pair}: lost; another worker scores it")

    def _score(self, pair: Pair, folder: WorkerFolder) -> None:
        try:
            plugins, files = folder.plugins_of(pair, self.work), folder.files_of(pair, self.work)
        except DataUnavailable:
            raise
        except (UserError, OSError, zipfile.BadZipFile) as error:
            self._give_back(pair, folder, f"its files cannot be fetched: {error}")
            return
        if problem := _code_problem(pair, plugins):
            self._without_benchmarks.add(pair.benchmark)
            self._give_back(pair, folder, problem)
            return
        with _Renewal(pair, self.work, self._end) as state:
            receipt = self.process.score(
                pair.model,
                pair.benchmark,
                run=pair.run,
                environment=_environment(plugins, self.limit),
                options=self._options(pair, folder, files),
                timeout=self.timeout,
                stopped=state.stopped,
            )
        if state.refusal is not None:
            raise state.refusal
        if state.lost:
            folder.forget()
            self.say(f"{pair}: lost; another worker scores it")
        elif receipt is None:
            self._give_back(pair, folder, "cancelled" if state.cancelled else "stopped", wait=0.0)
        elif (reason := self._not_here(pair, receipt)) is not None:
            self._give_back(pair, folder, reason)
        else:
            self._upload(pair, receipt, folder)

    def _options(self, pair: Pair, folder: WorkerFolder, files: list[Path]) -> dict[str, Any]:
        """Return the options of the scorer: the sandbox of a submitted model."""
        if not pair.sandbox:
            return {}
        home = {"BRAINIO_HOME": str(folder.files_home)}
        sandbox: dict[str, Any] = {"files": [str(file) for file in files], "environment": home}
        if self.limit is not None:
            sandbox["memory"] = self.limit
        return {"cage": sandbox}

    def _not_here(self, pair: Pair, receipt: Receipt) -> str | None:
        """Return why the pair must be scored elsewhere: its data, packages or enough memory are not available here."""
        kind = receipt.error.type if receipt.error is not None else ""
        if kind in _UNAVAILABLE:
            self._without_benchmarks.add(pair.benchmark)
            return f"its data are not available here: {receipt.reason}"
        if kind in _NOT_INSTALLED:
            self._without_models.add(pair.model)
            return f"a package is not installed here: {receipt.reason}"
        if kind in ("OutOfMemory", "SubjectOutOfMemory"):
            self._without_models.add(pair.model)
            return f"this machine has too little memory: {receipt.reason}"
        return None

    def _upload(self, pair: Pair, receipt: Receipt, folder: WorkerFolder) -> None:
        attachments = {
            attachment.kind: folder.results.attachment_path(receipt, attachment.kind)
            for attachment in receipt.attachments
        }
        try:
            result = self.work.send_result(pair, receipt.to_json().encode(), attachments)
        except DataUnavailable:
            raise  # it is uploaded later
        except UserError as error:
            self._without_benchmarks.add(pair.benchmark)  # rather than score the pair again and again
            self._give_back(pair, folder, f"the site refused the result: {error}")
            return
        folder.forget()
        value = receipt.score.value if receipt.score is not None else None
        state = (
            receipt.state
            + ("" if value is None else f" {value:.3f}")
            + (f" ({receipt.reason})" if receipt.reason else "")
        )
        outcomes = {"lost": "lost; another worker scores it", "repeated": f"{state}; another worker repeats it"}
        self.say(f"{pair}: {outcomes.get(result, state)}")

    def _give_back(self, pair: Pair, folder: WorkerFolder, reason: str, *, wait: float = _NOT_HERE_SECONDS) -> None:
        self.work.release(pair, wait=wait)
        folder.forget()
        self.say(f"{pair}: given back: {reason}")


class _Renewal:
    """Renews the lease of a pair in a thread while its block runs, and keeps what the site says about it."""

    def __init__(self, pair: Pair, work: Work, end: threading.Event) -> None:
        self.lost = self.cancelled = False
        self.refusal: UserError | None = None  # why the site does not accept requests of this worker any more
        self._pair, self._work, self._end = pair, work, end
        self._closed = threading.Event()
        self._thread = threading.Thread(target=self._renew_regularly, name="renewal", daemon=True)

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(self, *error: object) -> None:
        self._closed.set()
        self._thread.join(timeout=30)

    def stopped(self) -> bool:
        """Whether scoring must end."""
        return self.lost or self.cancelled or self.refusal is not None or self._end.is_set()

    def _renew_regularly(self) -> None:
        while not self._closed.wait(self._pair.lease_seconds / _RENEWALS):
            try:
                held, self.cancelled = self._work.renew(self._pair)
            except DataUnavailable:  # the site may be restarting; the result is uploaded if the lease outlives it
                continue
            except UserError as error:
                self.refusal = error
                return
            if not held:
                self.lost = True
                return


def _has_sandbox() -> bool:
    try:
        require_sandbox()
    except UserError:
        return False
    return True


def _environment(plugins: Path | None, limit: int | None) -> dict[str, str]:
    """Return the environment of scoring processes, which see neither the token nor the site."""
    environment = scoring_environment(os.cpu_count() or 1, limit)
    folders = [*([] if plugins is None else [str(plugins)]), *filter(None, [os.environ.get(_PLUGINS)])]
    visible = {name: text for name, text in environment.items() if not name.startswith(_SECRETS)}
    return {**visible, _PLUGINS: os.pathsep.join(folders), _REPLACE: "0"}


def _code_problem(pair: Pair, plugins: Path | None) -> str:
    """Return why the plugins here are not those of the site; empty if they are."""
    for kind, expected in sorted(pair.code.items()):
        identifier = pair.model if kind == "model" else pair.benchmark
        if expected is None or (plugins is not None and _is_among(plugins, kind, expected)):
            continue
        locations = domain_of(kind, identifier).plugin_index.locations(f"{kind}_registry").get(identifier, ())
        folder = locations[0].folder if locations else None
        if folder is None:
            return f"the {kind} {identifier} is not installed here"
        if plugin_hash(folder) != expected:
            return f"the code of the {kind} {identifier} here is not that of the site"
    return ""


def _is_among(plugins: Path, kind: str, expected: str) -> bool:
    folders = (plugins / f"{kind}s").glob("*/")
    return any(plugin_hash(folder) == expected for folder in folders)


@dataclass(frozen=True, kw_only=True)
class Pair:
    """A pair that a site has given to this worker."""

    # the job, and the token of its lease
    id: int
    lease: str
    # the pair, and the run of a process that starts with it
    model: str
    benchmark: str
    run: str
    lease_seconds: float  # how long the lease lasts without a renewal
    # hash of the plugin of the ``model`` and of the ``benchmark`` on the site; None if they are not plugins
    code: Mapping[str, str | None]
    plugins: str  # name of the archive of submitted plugins; empty if none are needed
    files: tuple[str, ...]  # files that a submitted model declares, as paths below ``BRAINIO_HOME``
    sandbox: bool  # whether the model must run in a sandbox

    def __str__(self) -> str:
        return f"{self.model} on {self.benchmark}"

    @classmethod
    def from_dict(cls, values: Mapping[str, Any]) -> Pair:
        """Make it from plain values; other entries are ignored, as a newer site may send more."""
        try:
            fields = {name: values[name] for name in cls.__dataclass_fields__}
            return cls(**{**fields, "files": tuple(fields["files"])})
        except (KeyError, TypeError) as error:
            raise UserError("the site sent work that cannot be read", remedy="update brainscore") from error


class Work:
    """The requests of a worker whose name is unique on the site; the token needs the scope ``jobs:run``."""

    def __init__(self, connection: Connection, worker: str) -> None:
        self.connection = connection
        self.worker = worker
        self.obstacle = ""
        """Why the site gave no pair at the last request, although some may be waiting."""

    def take(self, *, lease: str, **worker: Any) -> Pair | None:
        """Take the next pair, or the one that was taken with the same token before; None if none is waiting.

        `worker`: ``version`` and ``code`` of the platform here, whether there is a ``sandbox``, and which models and
        benchmarks cannot be scored here, ``without_models`` and ``without_benchmarks``.
        """
        answer = self._post("work", lease=lease, **worker)
        self.obstacle = str(answer.get("reason") or "")
        return None if answer.get("pair") is None else Pair.from_dict(answer["pair"])

    def renew(self, pair: Pair) -> tuple[bool, bool]:
        """Renew the lease; return whether it is still held, and whether the pair is to be cancelled."""
        answer = self._post(f"work/{pair.id}/renew", lease=pair.lease)
        return bool(answer["held"]), bool(answer["stop"])

    def release(self, pair: Pair, *, wait: float = 0.0) -> None:
        """Give the pair back; this worker may take it again after `wait` seconds."""
        self._post(f"work/{pair.id}/release", lease=pair.lease, wait=wait)

    def fetch_plugins(self, pair: Pair, target: Path) -> Path:
        """Download the archive of submitted plugins."""
        return self.connection.download(f"work/{pair.id}/plugins", self._query(pair), target)

    def fetch_file(self, pair: Pair, path: str, target: Path) -> Path:
        """Download a declared file."""
        return self.connection.download(f"work/{pair.id}/files", [*self._query(pair), ("path", path)], target)

    def send_result(self, pair: Pair, receipt: bytes, attachments: Mapping[str, Path]) -> str:
        """Upload a receipt with its attachments; return ``'stored'``, ``'known'``, ``'repeated'`` or ``'lost'``."""
        with TemporaryFile() as file:
            with zipfile.ZipFile(file, "w", zipfile.ZIP_STORED) as packed:
                packed.writestr("receipt.json", receipt)
                for kind, path in sorted(attachments.items()):
                    packed.write(path, kind)
            answer = self.connection.upload(f"work/{pair.id}/result", file, "application/zip", self._query(pair))
        return str(answer["result"])

    def _query(self, pair: Pair) -> list[tuple[str, str]]:
        return [("worker", self.worker), ("lease", pair.lease)]

    def _post(self, path: str, **values: Any) -> Any:
        return self.connection.post(path, json.dumps({"worker": self.worker, **values}).encode())
