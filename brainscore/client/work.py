"""Work for a site on another machine: take a pair, renew its lease, fetch what it needs, and upload its result."""

from __future__ import annotations

import json
import zipfile
from collections.abc import Collection, Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from tempfile import TemporaryFile
from typing import Any

from brainscore.client.connection import Connection
from brainscore_core.errors import UserError


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

    def to_dict(self) -> dict[str, Any]:
        """Convert to plain values."""
        return asdict(self)


class Work:
    """The requests of a worker whose name is unique on the site; the token needs the scope ``jobs:run``."""

    def __init__(self, connection: Connection, worker: str) -> None:
        self.connection = connection
        self.worker = worker
        self.obstacle = ""
        """Why the site gave no pair at the last request, although some may be waiting."""

    def take(
        self,
        *,
        lease: str,
        version: str,
        code: str,
        sandbox: bool,
        without_models: Collection[str],
        without_benchmarks: Collection[str],
    ) -> Pair | None:
        """Take the next pair, or the one that was taken with the same token before; None if none is waiting."""
        answer = self._post(
            "work",
            lease=lease,
            version=version,
            code=code,
            sandbox=sandbox,
            without_models=sorted(without_models),
            without_benchmarks=sorted(without_benchmarks),
        )
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
