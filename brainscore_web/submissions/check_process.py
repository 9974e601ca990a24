"""Checks a plugin inside the sandbox: ``python check_process.py KIND FOLDER REPORT``.

It sees the platform without the site, and writes the results of ``brainscore check`` and the metadata of the plugin's
models and benchmarks as JSON.
"""

from __future__ import annotations

import json
import sys
import traceback
from dataclasses import asdict
from pathlib import Path
from typing import Any

__all__ = ["main"]

_SINGULAR = {"models": "model", "benchmarks": "benchmark", "data": "data", "metrics": "metric"}


def main(kind: str, folder: str, answer: str) -> None:
    """Check a plugin.

    Parameters
    ----------
    kind : str
        ``'models'``, ``'benchmarks'``, ``'data'`` or ``'metrics'``.
    folder : str
        Of the plugin.
    answer : str
        The file to write.
    """
    from brainscore_core.errors import UserError

    found: dict[str, Any] = {"checks": [], "about": {}, "error": ""}
    try:
        found["checks"] = list(_checks(_SINGULAR[kind], folder))
        if kind in ("models", "benchmarks"):
            found["about"] = _described(kind, folder)
    except UserError as error:
        found["error"] = str(error)
        sys.stdout.write(f"Error: {error}\n")
    except Exception as error:  # noqa: BLE001 - anything that others' code raises
        found["error"] = f"{type(error).__name__}: {error}"
        sys.stdout.write(traceback.format_exc())
    Path(answer).write_text(json.dumps(found, default=str))


def _checks(kind: str, folder: str) -> Any:
    from brainscore_vision.checks import check_references, find_references

    for one in check_references(find_references(kind, folder)):
        for check in one.checks:
            listed = {"kind": one.kind, "subject": one.name, **asdict(check)}
            sys.stdout.write(f"{one.name}: {check.name}: {check.result}\n")
            yield {name: str(value) for name, value in listed.items()}


def _described(kind: str, folder: str) -> dict[str, Any]:
    from brainscore_vision.catalogue import catalogue
    from brainscore_vision.plugin_folders import registrations_in

    registry = f"{_SINGULAR[kind]}_registry"
    names = [key for one, key in registrations_in(Path(folder)) if getattr(one, "name", registry) == registry]
    known = catalogue(**{"models": [], "benchmarks": [], kind: sorted(set(names))}).as_dict()
    return {entry["identifier"]: entry for entry in known[kind]}


if __name__ == "__main__":
    main(*sys.argv[1:])
