"""Assessment of benchmarks: what has to be computed, and its receipts."""

from __future__ import annotations

import importlib
import time
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from brainscore_core.errors import DataUnavailable, NotApplicable, UserError
from brainscore_core.plugins.registry import suggesting_public_variants
from brainscore_core.plugins.source import plugin_hash
from brainscore_core.progress import stage
from brainscore_core.provenance import ignoring, recording
from brainscore_core.receipts.assessment import PARTS, Assessment, Part, Used
from brainscore_core.receipts.environment import current_environment, platform_code
from brainscore_core.receipts.output import scrub_text
from brainscore_core.results.assessments import AssessmentStore
from brainscore_core.runner.pair import data_of, describe_error
from brainscore_core.supported_data_standards.brainio.downloads import FetchError
from brainscore_vision.assessment.audit import add_thumbnails, has_public_stimuli
from brainscore_vision.registries import (
    benchmark_registry,
    load_benchmark,
    load_model,
    model_registry,
    registered_folder,
    resolve_benchmark,
)

if TYPE_CHECKING:
    from brainscore_core.runner import ClusterOptions

CANDIDATES: Final = ("pixels", "gabor")
"""Models that take part in every recovery."""

_FUNCTIONS: Final[dict[Part, tuple[str, str]]] = {
    "audit": ("audit", "audit"),
    "controls": ("controls", "score_controls"),
    "recovery": ("recovery", "recover"),
}


@dataclass(frozen=True)
class Task:
    """One part of the assessment of a benchmark."""

    benchmark: str
    part: Part  # 'audit' or 'controls' or 'recovery'
    # The scored model, if one is assessed with the benchmark; the candidates of a recovery
    models: tuple[str, ...] = ()
    settings: dict[str, Any] = field(default_factory=dict)  # further arguments of the part's function

    @property
    def name(self) -> str:
        """Benchmark, models and part, for people."""
        models = f", {', '.join(self.models)}" if self.models else ""
        return f"{self.benchmark}{models}: {self.part}"


@dataclass(frozen=True)
class Started:
    """A task begins, or has made progress (`step`, with its share of the work if known)."""

    task: Task
    step: str = ""
    share: float | None = None


@dataclass(frozen=True)
class Finished:
    """A task has an assessment."""

    task: Task  # the task
    assessment: Assessment | None  # None if another process is computing it
    stored: bool = False  # whether it was there before


def plan(
    benchmarks: Sequence[str],
    *,
    models: Sequence[str] = (),
    parts: Sequence[Part] = PARTS,
) -> list[Task]:
    """List the tasks of an assessment.

    Audit and baseline models are computed for each model, or once without a model; all models are candidates of the
    recovery, with :data:`CANDIDATES`. An UnknownIdentifier if a benchmark or model does not exist.

    Examples
    --------
    >>> [task.part for task in plan(["Simulated2026.V1-rdm"])]
    ['audit', 'controls', 'recovery']
    >>> plan(["Simulated2026.V1-rdm"], models=["simulated-truth"], parts=["recovery"])[0].models
    ('pixels', 'gabor', 'simulated-truth')
    """
    for model in models:
        model_registry.require(model)
    tasks = []
    for name in dict.fromkeys(resolve_benchmark(benchmark) for benchmark in benchmarks):
        for part in PARTS:
            if part not in parts:
                continue
            if part == "recovery":
                tasks.append(Task(name, part, tuple(dict.fromkeys((*CANDIDATES, *models)))))
            else:
                tasks += [Task(name, part, (model,)) for model in models] or [Task(name, part)]
    return tasks


def assess(
    tasks: Sequence[Task],
    store: AssessmentStore,
    *,
    again: bool = False,
    cluster: ClusterOptions | None = None,
    on_event: Callable[[Started | Finished], Any] | None = None,
) -> list[Assessment]:
    """Compute what the store lacks, or has for other code.

    `again` computes what is stored already, too; without a cluster this process computes the tasks, one after the
    other. `on_event` receives a `Started` and a `Finished` for each task. Assessments are in the order of the tasks,
    without those that another process is computing.
    """
    report = on_event or (lambda event: None)
    assessments: dict[int, Assessment | None] = {}
    missing: dict[int, str | None] = {}
    for number, task in enumerate(tasks):
        stored = current(task, store)
        if stored is None or again:
            missing[number] = None if stored is None else stored.id
        else:
            assessments[number] = stored
            report(Finished(task, stored, stored=True))
    if missing:
        store.require_writable()
    if cluster is None or not missing:
        for number, stored_id in missing.items():
            report(Started(tasks[number]))
            with stage(tasks[number].name):
                assessments[number] = run_task(tasks[number], store, known=stored_id, on_event=report)
            report(Finished(tasks[number], assessments[number]))
    else:
        from brainscore_core.runner.cluster import open_cluster

        with open_cluster(cluster, tasks=len(missing)) as opened:
            from distributed import as_completed

            futures = {
                opened.client.submit(run_task, tasks[number], store, known=stored_id, pure=False): number
                for number, stored_id in missing.items()
            }
            for number in missing:
                report(Started(tasks[number]))
            for future in as_completed(futures):
                number = futures[future]
                assessments[number] = future.result()
                report(Finished(tasks[number], assessments[number]))
    ordered = (assessments[number] for number in range(len(tasks)))
    return [assessment for assessment in ordered if assessment is not None]


def current(task: Task, store: AssessmentStore) -> Assessment | None:
    """The stored assessment of a task, unless it failed or the code of its plugins has changed since."""
    stored = store.latest(task.benchmark, task.part, task.models)
    if stored is None or stored.state == "failed" or stored.settings != task.settings:
        return None
    return None if changed_plugins(stored) else stored


def changed_plugins(assessment: Assessment) -> tuple[str, ...]:
    """Plugins whose code is not the one with which an assessment was computed, such as ``'benchmark Some2026.V1-pls'``.

    Of a plugin that is not installed, the code counts as changed.
    """
    used = [assessment.benchmark, *assessment.models, *assessment.data]
    return tuple(
        dict.fromkeys(
            f"{item.kind.replace('_', ' ')} {item.identifier}"
            for item in used
            if _hash(item.kind, item.identifier) != item.sha256
        )
    )


def run_task(
    task: Task,
    store: AssessmentStore,
    *,
    known: str | None = None,
    on_event: Callable[[Started], Any] | None = None,
) -> Assessment | None:
    """Compute a task and store its assessment; None if another process is computing it.

    An error becomes the state of the assessment. An interrupt leaves nothing behind. If another process has stored a
    current assessment in the meantime, it is returned; `known` is the id of one that is computed again nevertheless.
    """
    claim = store.claim(task.benchmark, task.part, task.models, owner="assess")
    if claim is None:
        return None
    with claim:
        stored = current(task, store)
        if stored is not None and stored.id != known:
            return stored
        start = time.perf_counter()
        outcome: dict[str, Any] = {}
        version: int | str | None = None
        with ignoring("features"), recording() as record:
            try:
                with suggesting_public_variants(task.benchmark, benchmark_registry):
                    benchmark = load_benchmark(task.benchmark)
                version = getattr(benchmark, "version", None)
                result = _compute(task, benchmark, on_event)
                outcome = {"state": "assessed", "result": _fields(task, result), "text": result.text()}
            except NotApplicable as error:
                outcome = {"state": "not applicable", "reason": scrub_text(error.reason)}
            except Exception as error:  # noqa: BLE001 - any error of a model or metric is an outcome
                if isinstance(error, UserError) and not isinstance(error, DataUnavailable | FetchError):
                    reason = f"{error.message} ({error.remedy})" if error.remedy else error.message
                    outcome = {"state": "not applicable", "reason": scrub_text(reason)}
                else:
                    described, reason = describe_error(error)
                    outcome = {"state": "failed", "reason": reason, "error": described}
        version = version if version is None or isinstance(version, int | str) else str(version)
        return store.write(
            Assessment(
                part=task.part,
                benchmark=_used("benchmark", task.benchmark, version),
                models=tuple(_used("model", model) for model in task.models),
                data=tuple(_used(kind, identifier) for kind, identifier in data_of(record)),
                settings=task.settings,
                environment=asdict(current_environment()),
                code=platform_code(),
                seconds=time.perf_counter() - start,
                **outcome,
            )
        )


def _compute(task: Task, benchmark: Any, on_event: Callable[[Started], Any] | None) -> Any:
    module, name = _FUNCTIONS[task.part]
    function = getattr(importlib.import_module(f"brainscore_vision.assessment.{module}"), name)
    if task.part == "recovery":

        def progress(state: Any) -> None:
            if on_event is not None:
                on_event(Started(task, state.step, state.done / max(state.total, 1)))

        return function(benchmark, list(task.models), on_progress=progress, **task.settings)
    model: Any = task.models[0] if task.models else None
    if task.part == "audit" and model is not None:
        model = load_model(model)
    return function(benchmark, model=model, **task.settings)


def _fields(task: Task, result: Any) -> dict[str, Any]:
    """Fields of a result as JSON types, with small pictures of similar stimuli if these are public."""
    fields: dict[str, Any] = result.to_dict()
    if fields.get("pairs") and has_public_stimuli(task.benchmark):
        add_thumbnails(fields, result.pairs)
    return fields


def _used(kind: str, identifier: str, version: int | str | None = None) -> Used:
    return Used(kind=kind, identifier=identifier, version=version, sha256=_hash(kind, identifier))


def _hash(kind: str, identifier: str) -> str | None:
    """Hash of a plugin's code; None if no plugin registers the object."""
    try:
        folder = registered_folder(kind, identifier)
    except UserError:
        return None
    return None if folder is None else plugin_hash(Path(folder))
