"""Checks a plugin or assesses a benchmark inside the sandbox, which shows the platform without the site.

``sandbox_process.py check KIND FOLDER REPORT`` writes the results of ``brainscore check`` and the metadata of the
plugin's models and benchmarks as JSON. ``sandbox_process.py assess BENCHMARK PART REPORT`` computes one part of
``brainscore assess``, and writes the receipt.
"""

from __future__ import annotations

import json
import sys
import tempfile
import traceback
from dataclasses import asdict
from pathlib import Path
from typing import Any

_SINGULAR = {"models": "model", "benchmarks": "benchmark", "data": "data", "metrics": "metric"}


def check(kind: str, folder: str, report: str) -> None:
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
    from brainscore_core.submission.checks import check_references, find_references

    for reference in check_references(find_references(kind, folder)):
        for check in reference.checks:
            listed = {"kind": reference.kind, "subject": reference.name, **asdict(check)}
            sys.stdout.write(f"{reference.name}: {check.name}: {check.result}\n")
            yield {name: str(value) for name, value in listed.items()}


def _described(kind: str, folder: str) -> dict[str, Any]:
    from brainscore_core.submission.package import domain_of_folder, registrations_in

    of = domain_of_folder(Path(folder))
    names = [key for registry, key in registrations_in(Path(folder), of) if registry == _SINGULAR[kind]]
    known = of.feature("catalogue")(**{"models": [], "benchmarks": [], kind: sorted(set(names))})
    return {entry.identifier: entry.as_dict() for entry in getattr(known, kind)}


def assess(benchmark: str, part: Any, report: str) -> None:
    """Assess a benchmark."""
    from brainscore_core.domains import domain_of
    from brainscore_core.results.assessments import AssessmentStore

    tasks = domain_of("benchmark", benchmark).feature("assessment")
    steps: set[str] = set()

    def print_step(event: Any) -> None:
        if event.step not in steps:
            steps.add(event.step)
            _print(event.step)

    (task,) = tasks.plan([benchmark], parts=[part])
    with tempfile.TemporaryDirectory() as folder:
        assessment = tasks.run_task(task, AssessmentStore(folder), on_event=print_step)
    if assessment is not None:  # no other process claims parts in a folder of its own
        _print(assessment.text or f"{assessment.state}: {assessment.reason}")
        Path(report).write_text(assessment.to_json(), encoding="utf-8")


def _print(text: str) -> None:
    sys.stdout.write(f"{text}\n")
    sys.stdout.flush()  # it becomes the log, which pages show while it runs


if __name__ == "__main__":
    {"check": check, "assess": assess}[sys.argv[1]](*sys.argv[2:])
