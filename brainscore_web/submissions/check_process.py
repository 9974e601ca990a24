"""Checks a plugin inside the sandbox: ``python check_process.py KIND FOLDER REPORT``.

The sandbox shows it the platform without the site. It writes the results of ``brainscore check`` and the metadata of
the plugin's models and benchmarks as JSON.
"""

from __future__ import annotations

import json
import sys
import traceback
from dataclasses import asdict
from pathlib import Path
from typing import Any

_SINGULAR = {"models": "model", "benchmarks": "benchmark", "data": "data", "metrics": "metric"}


def main(kind: str, folder: str, report: str) -> None:
    """Check a plugin."""
    from brainscore_core.errors import UserError

    results: dict[str, Any] = {"checks": [], "about": {}, "error": ""}
    try:
        results["checks"] = list(_checks(_SINGULAR[kind], folder))
        if kind in ("models", "benchmarks"):
            results["about"] = _described(kind, folder)
    except UserError as error:
        results["error"] = str(error)
        sys.stdout.write(f"Error: {error}\n")
    except Exception as error:  # noqa: BLE001 - the plugin's code can raise anything
        results["error"] = f"{type(error).__name__}: {error}"
        sys.stdout.write(traceback.format_exc())
    Path(report).write_text(json.dumps(results, default=str))


def _checks(kind: str, folder: str) -> Any:
    from brainscore_vision.submission.checks import check_references, find_references

    for reference in check_references(find_references(kind, folder)):
        for check in reference.checks:
            listed = {"kind": reference.kind, "subject": reference.name, **asdict(check)}
            sys.stdout.write(f"{reference.name}: {check.name}: {check.result}\n")
            yield {name: str(value) for name, value in listed.items()}


def _described(kind: str, folder: str) -> dict[str, Any]:
    from brainscore_vision.catalogue.contents import catalogue
    from brainscore_vision.catalogue.plugins import registrations_in

    names = [key for registry, key in registrations_in(Path(folder)) if registry == _SINGULAR[kind]]
    entries = catalogue(**{"models": [], "benchmarks": [], kind: sorted(set(names))}).as_dict()
    return {entry["identifier"]: entry for entry in entries[kind]}


if __name__ == "__main__":
    main(*sys.argv[1:])
