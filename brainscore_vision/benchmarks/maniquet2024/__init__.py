"""Whether models confuse objects as people do (Maniquet, Op de Beeck & Costantino 2024)."""

from functools import partial
from typing import Any, Final

import numpy as np

from brainscore_core.benchmarks import Benchmark
from brainscore_core.errors import UserError
from brainscore_core.plugins.tables import table_keys
from brainscore_core.supported_data_standards.brainio.assemblies import BehavioralAssembly, DataAssembly
from brainscore_vision import benchmark_registry
from brainscore_vision.benchmark_helpers.metadata import read_metadata
from brainscore_vision.benchmark_helpers.table_benchmarks import make_benchmark
from brainscore_vision.data.maniquet2024 import BIBTEX

METADATA = read_metadata(__file__, bibtex=BIBTEX)

MANIPULATIONS: Final = {"clutter": "clutter", "occlusion": "occluder", "scrambling": "phasescrambling"}
"""Part of a task's name → ``manipulation`` of the pictures."""

DETAILS: Final = {"heavy": "heavy", "light": "light", "highpass": "highpass", "lowpass": "lowpass"} | {
    f"{size}_{kind}_{amount}": f"{size.replace('_', '')}-{amount}"
    for size in ("few_large", "many_small")
    for kind in ("blobs", "deletion", "partial_viewing")
    for amount in ("high", "low")
}
"""Rest of a task's name → ``manipulation_details`` of the pictures; it does not distinguish kinds of occluders."""


def make(benchmark: str) -> Benchmark:
    """Make a benchmark of the table."""
    options: dict[str, Any] = {"truth": "image_label", "as_choices": False}
    if benchmark == "Maniquet2024-tasks_consistency":
        options["translate"] = by_task
    return make_benchmark(__file__, benchmark, bibtex=BIBTEX, **options)


def shown_in(task: str) -> tuple[str, str]:
    """Manipulation, and its details, of the pictures of a task.

    `task`: as people's trials name it. Result: ``manipulation`` and ``manipulation_details``. A UserError if the task
    is unknown.

    Examples
    --------
    >>> shown_in("occlusion_few_large_blobs_high"), shown_in("control")
    (('occluder', 'fewlarge-high'), ('control', 'control'))
    """
    words = task.split("_")
    if "control" in words:
        return "control", "control"
    kinds = [word for word in words if word in MANIPULATIONS]
    details = "_".join(word for word in words if word not in MANIPULATIONS)
    if len(kinds) != 1 or details not in DETAILS:
        raise UserError(f"unknown task {task!r}", remedy="check the coordinate 'task' of Maniquet2024")
    return MANIPULATIONS[kinds[0]], DETAILS[details]


def by_task(answers: DataAssembly, people: DataAssembly) -> BehavioralAssembly:
    """A model's answers to the pictures of each task; pictures of several tasks are repeated.

    `answers`: presentation × choice; with the stimuli's ``manipulation`` and ``manipulation_details``. `people`: with
    ``task``. Result: a BehavioralAssembly (presentation × choice) with ``task`` and ``image_label``. A UserError if
    there are no pictures of a task.
    """
    answers = answers.transpose("presentation", "choice")
    shown = np.stack([answers[name].values.astype(str) for name in ("manipulation", "manipulation_details")], axis=1)
    rows, tasks = [], []
    for task in sorted({str(task_name) for task_name in people["task"].values}):
        matching = np.flatnonzero((shown == shown_in(task)).all(axis=1))
        if not len(matching):
            raise UserError(
                f"no picture of Maniquet2024-test has the manipulation {shown_in(task)}, which the task {task!r} shows",
                remedy="check the columns 'manipulation' and 'manipulation_details'",
            )
        rows.append(matching)
        tasks += [task] * len(matching)
    chosen = np.concatenate(rows)
    return BehavioralAssembly(
        answers.values[chosen],
        coords={
            "image_label": ("presentation", answers["image_label"].values[chosen]),
            "task": ("presentation", tasks),
            "choice": ("choice", answers["choice"].values),
        },
        dims=["presentation", "choice"],
    )


for _key in table_keys(__file__, "benchmarks.csv"):
    benchmark_registry[_key] = partial(make, _key)
