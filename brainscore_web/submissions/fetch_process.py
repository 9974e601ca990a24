"""Fetches declared files in a process without secrets and without access to private networks.

``python -m brainscore_web.submissions.fetch_process`` reads a request from standard input and writes one line per
file. It imports neither settings nor models.
"""

from __future__ import annotations

import errno
import json
import os
import socket
import sys
import urllib.parse
import urllib.request
from collections.abc import Iterator
from typing import Any


def main() -> None:
    """Fetch the files that standard input asks for."""
    request = json.load(sys.stdin)
    _block_private_networks(set(request["trusted"]))
    remaining = request["total"]
    for file in request["files"]:
        _limit(max(min(request["limit"], remaining), 0))
        answer = _fetch(file)
        remaining -= answer.get("size", 0)
        sys.stdout.write(json.dumps(answer) + "\n")
        sys.stdout.flush()


def _fetch(file: dict[str, Any]) -> dict[str, Any]:
    from brainscore_core.errors import UserError
    from brainscore_core.supported_data_standards.brainio.downloads import IncompleteDownload, Offline
    from brainscore_core.supported_data_standards.brainio.fetch import FetchRequest, fetch_all

    try:
        (path,) = fetch_all([FetchRequest(**file)], progress=False)
        return {"path": str(path), "size": path.stat().st_size}
    except UserError as error:
        causes = (each.errno for each in _causes(error) if isinstance(each, OSError) and each.errno is not None)
        if (cause := next(causes, None)) == errno.EFBIG:
            remedy = "see the documentation of submissions for the largest size"
            return {"error": f"{file['url']} is too large", "remedy": remedy}
        whose = "site" if cause in (errno.ENOSPC, errno.EDQUOT, errno.EROFS) else "address"
        if whose == "address" and isinstance(error, Offline | IncompleteDownload) and not _is_refused(error):
            whose = "network"
        return {"error": error.message, "remedy": error.remedy or "", "whose": whose}
    except (OSError, ValueError) as error:
        return {"error": f"{file['url']} cannot be fetched: {error}", "remedy": "", "whose": "address"}


def _is_refused(error: BaseException) -> bool:
    """Whether an error is a refusal to connect to a private network."""
    return any(isinstance(each, ValueError) for each in _causes(error))


def _causes(error: BaseException | None) -> Iterator[BaseException]:
    """Yield an error and what caused it."""
    while error is not None:
        yield error
        error = error.__cause__ or error.__context__


def _limit(size: int) -> None:
    """Limit the size of files that this process writes."""
    import resource

    resource.setrlimit(resource.RLIMIT_FSIZE, (size, resource.getrlimit(resource.RLIMIT_FSIZE)[1]))


def _block_private_networks(trusted: set[str]) -> None:
    """Refuse connections to addresses that are not public, also after redirects and name resolution."""
    from brainscore_core.submission.repositories import is_public_address

    allowed = {place for url in (*trusted, *urllib.request.getproxies().values()) for place in _places(url)}
    connect, connect_ex = socket.socket.connect, socket.socket.connect_ex

    def refuse(connection: socket.socket, address: Any) -> None:
        if connection.family not in (socket.AF_INET, socket.AF_INET6):
            raise ValueError("only internet connections are allowed")
        host, port = address[0], address[1]
        if (host, port) not in allowed and not is_public_address(host):
            raise ValueError(f"{host} is not a public address")  # an OSError would be retried

    def guarded(self: socket.socket, address: Any) -> None:
        refuse(self, address)
        connect(self, address)

    def guarded_ex(self: socket.socket, address: Any) -> int:
        refuse(self, address)
        return connect_ex(self, address)

    # replaced on the class, so that every connection of this process is checked
    socket.socket.connect = guarded  # type: ignore[method-assign,assignment] # replaced on purpose
    socket.socket.connect_ex = guarded_ex  # type: ignore[method-assign,assignment] # replaced on purpose


def _places(url: str) -> list[tuple[str, int]]:
    """The IP addresses of a server, each with its port."""
    address = urllib.parse.urlsplit(url if "://" in url else f"http://{url}")
    port = address.port or (443 if address.scheme == "https" else 80)
    try:
        return [(str(info[4][0]), port) for info in socket.getaddrinfo(address.hostname, port, type=socket.SOCK_STREAM)]
    except OSError:
        return []


if __name__ == "__main__":
    os.environ.setdefault("AWS_EC2_METADATA_DISABLED", "true")
    main()
