"""Reads and examines a submission within limits on time and memory: ``python -m … FOLDER``.

The folder has the request, ``request.json``, and an uploaded archive, ``upload``. The process writes the submission's
archive as ``archive`` and everything else as ``answer.json``. It has neither the database nor secrets, and does not
import Django, so that it starts quickly.
"""

from __future__ import annotations

import json
import math
import os
import resource
import sys
import time
from pathlib import Path
from typing import Any

from brainscore_core.errors import UserError
from brainscore_core.submission import (
    Finding,
    Limits,
    Package,
    errors_among,
    examine_files,
    read_git,
    read_pull,
    read_zip,
)

_MAX_FINDINGS = 1_000
_FILE_SIZE = 400_000_000  # bytes; more than a repository may have
_PRIORITY = 10  # the server's own processes have precedence


def main(folder: Path) -> None:
    """Answer the request in a folder."""
    request = json.loads((folder / "request.json").read_bytes())
    os.nice(_PRIORITY)
    seconds = math.ceil(time.process_time()) + request["seconds"]
    resource.setrlimit(resource.RLIMIT_CPU, (seconds, seconds + 1))
    resource.setrlimit(resource.RLIMIT_AS, (request["memory"], request["memory"]))
    resource.setrlimit(resource.RLIMIT_FSIZE, (_FILE_SIZE, _FILE_SIZE))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    try:
        result = answer(request, folder)
    except MemoryError:
        result = {"exceeded": "memory"}
    (folder / "answer.json").write_text(json.dumps(result))


def answer(request: dict[str, Any], folder: Path) -> dict[str, Any]:
    """Read and examine a submission."""
    try:
        package = _read(request, folder)
        findings = [*package.findings, *examine_files(package)]
    except UserError as error:
        return {"error": error.message, "remedy": error.remedy or "fix it, and send it again"}
    (folder / "archive").write_bytes(package.to_zip())
    return {
        "digest": package.digest,
        "address": package.address,
        "commit": package.commit,
        "plugins": [plugin.as_dict() for plugin in package.plugins],
        "findings": [finding.as_dict() for finding in _first(findings)],
    }


def _read(request: dict[str, Any], folder: Path) -> Package:
    limits = Limits(**request["limits"])
    if request["origin"] == "zip":
        return read_zip((folder / "upload").read_bytes(), limits=limits, name=request["name"])
    if request["origin"] == "git":
        return read_git(request["name"], request["commit"], limits=limits)
    return read_pull(request["name"], limits=limits)


def _first(findings: list[Finding]) -> list[Finding]:
    """Leave out findings beyond `_MAX_FINDINGS`, and say so; errors are kept first."""
    if len(findings) <= _MAX_FINDINGS:
        return findings
    errors = errors_among(findings)
    listed = [*errors, *(finding for finding in findings if finding.severity != "error")][:_MAX_FINDINGS]
    message = f"{len(findings) - len(listed):,} more findings are not listed"
    return [*listed, Finding("note", "left out", "", None, message, "fix those that are listed first")]


if __name__ == "__main__":
    main(Path(sys.argv[1]))
