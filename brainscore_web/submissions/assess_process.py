"""Assesses a benchmark inside the sandbox: ``python assess_process.py BENCHMARK PART REPORT``.

The sandbox shows it the platform without the site. It computes one part of ``brainscore assess``, and writes the
receipt.
"""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path
from typing import Any


def main(benchmark: str, part: Any, report: str) -> None:
    """Assess a benchmark."""
    from brainscore_core.results.assessments import AssessmentStore
    from brainscore_vision.assessment.tasks import Started, plan, run_task

    steps: set[str] = set()

    def print_step(event: Started) -> None:
        if event.step not in steps:
            steps.add(event.step)
            _print(event.step)

    (task,) = plan([benchmark], parts=[part])
    with tempfile.TemporaryDirectory() as folder:
        assessment = run_task(task, AssessmentStore(folder), on_event=print_step)
    if assessment is not None:  # no other process claims parts in a folder of its own
        _print(assessment.text or f"{assessment.state}: {assessment.reason}")
        Path(report).write_text(assessment.to_json(), encoding="utf-8")


def _print(text: str) -> None:
    sys.stdout.write(f"{text}\n")
    sys.stdout.flush()  # it becomes the log, which pages show while it runs


if __name__ == "__main__":
    main(*sys.argv[1:])
