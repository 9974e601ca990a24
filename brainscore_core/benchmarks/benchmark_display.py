"""What benchmarks show of themselves: text, HTML and a figure."""

from __future__ import annotations

import os
from collections.abc import Iterator
from math import nan
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from brainscore_core.benchmarks.measurements import Measurements, measurements_or_none
from brainscore_core.errors import UserError
from brainscore_core.figures import Dots, DotsRow, Matrix, Panel, Plot, panels
from brainscore_core.formatting import number_text
from brainscore_core.lazy import LazyLoad, content_of
from brainscore_core.metrics import Uncertainty
from brainscore_core.metrics.score_display import value_text
from brainscore_core.supported_data_standards.brainio.assemblies import DataAssembly
from brainscore_core.supported_data_standards.brainio.rdm_plot import rdm_panel
from brainscore_core.supported_data_standards.brainio.stimuli import StimulusSet
from brainscore_core.supported_data_standards.brainio.summaries import assembly_rows

if TYPE_CHECKING:
    from brainscore_core.benchmarks import BenchmarkBase
    from brainscore_core.receipts.assessment import Assessment

_MOST_STIMULI = 100  # in a figure
_MOST_LABELS = 60  # that can be chosen
_CORRECT = ("truth", "sample_obj", "image_label", "category_name", "object_name")
_SUMMARISED = ("stimuli", "regions", "repetitions", "presentations", "subjects", "time bins")


def benchmark_title(benchmark: BenchmarkBase) -> str:
    """Class, identifier and version."""
    control = ", a control of the method" if benchmark.control else ""
    return f"{type(benchmark).__name__} {benchmark.identifier} (version {benchmark.version}{control})"


def benchmark_rows(benchmark: BenchmarkBase) -> list[tuple[str, str]]:
    """Names and texts of data, metric, ceiling and the experiment; nothing is loaded or computed."""
    rows: list[tuple[str, str]] = []
    if benchmark.parent is not None:
        rows.append(("parent", benchmark.parent))
    try:
        measurements = measurements_or_none(benchmark)
    except UserError as error:
        rows.append(("measurements", f"not known: {error.message}"))
    else:
        rows += (
            [("measurements", "not known: it does not define measurements()")]
            if measurements is None
            else _measurement_rows(measurements)
        )
    ceiling = benchmark.estimated_ceiling
    rows.append(("ceiling", "not estimated yet" if ceiling is None else _ceiling_text(ceiling)))
    return rows


def _measurement_rows(measurements: Measurements) -> Iterator[tuple[str, str]]:
    if measurements.region is not None:
        yield "region", measurements.region
    if any(type(part) is LazyLoad and not part.is_loaded for part in measurements.parts):
        yield "data", "loaded when it is first needed"
    else:
        for part in map(content_of, measurements.parts):
            if isinstance(part, DataAssembly):
                name = part.identifier or part.attrs.get("stimulus_set_identifier") or type(part).__name__
                sizes = ", ".join(f"{dim}: {size}" for dim, size in part.sizes.items())
                yield "data", f"{name} ({sizes})"
                summary = dict(assembly_rows(part))
                yield from ((row, summary[row]) for row in _SUMMARISED if row in summary)
            elif isinstance(part, StimulusSet):
                yield "stimuli", f"{len(part)}: {part.identifier}" if part.identifier else str(len(part))
    if measurements.metric is not None:
        yield "metric", _name_of(measurements.metric)
    yield from measurements.settings()


def benchmark_plot(benchmark: BenchmarkBase, results: str | os.PathLike[str] | None) -> Plot:
    """Draw the data, the ceiling, and baseline models if they were assessed."""
    measurements = measurements_or_none(benchmark)
    loaded = [] if measurements is None else map(content_of, measurements.parts)
    of_data = (_data_panel(part) for part in loaded if isinstance(part, DataAssembly))
    data_panels = [panel for panel in of_data if panel is not None]
    try:
        ceiling = benchmark.ceiling
    except NotImplementedError:
        ceiling = None
    rows = (
        []
        if ceiling is None or np.size(ceiling) != 1
        else [_row("ceiling", ceiling, Uncertainty.of(ceiling).limits, 0)]
    )
    assessment = _controls(benchmark.identifier, results)
    notes = ["the ceiling as measured"] if rows else ["no ceiling"]
    if assessment is None:
        notes.append("baseline models: not assessed (brainscore assess)")
        controls = []
    else:
        notes.append(f"baseline models: relative to the ceiling, assessed {str(assessment.created)[:10]}")
        controls = (assessment.result or {}).get("controls", [])
    kinds = ("ceiling", "baseline", "artefact check")
    for control in controls:
        kind = kinds.index(control["kind"]) if control.get("kind") in kinds else 1
        rows.append(_row(str(control["name"]), control.get("score"), control.get("ci"), kind))
    chart = Dots(
        rows=rows, title="Ceiling and baseline models", x_title="value, 95 % interval", kinds=kinds, reference=0.0
    )
    if rows or not data_panels:
        data_panels.append(Panel(chart=chart, heading="Ceiling and baseline models", notes=notes))
    title = f"{benchmark.identifier}: data, ceiling and baseline models"
    return Plot(panels([[data_panel] for data_panel in data_panels], title=title), benchmark.identifier)


def _data_panel(assembly: DataAssembly) -> Panel | None:
    try:
        return rdm_panel(assembly, most=_MOST_STIMULI)
    except UserError:  # behavioral data, or too few stimuli
        return _choices_panel(assembly)


def _choices_panel(assembly: DataAssembly) -> Panel | None:
    """Draw how often each answer was chosen for each correct one; None if the assembly has no such answers."""
    correct = next((name for name in _CORRECT if name in assembly.coords), None)
    if correct is None or assembly.dims != ("presentation",) or assembly.dtype.kind not in "OUT":
        return None
    trials = pd.DataFrame({"correct": assembly.coords[correct].values, "chosen": assembly.values}).dropna().astype(str)
    labels = sorted(set(trials["correct"]) | set(trials["chosen"]))
    if not 1 < len(labels) <= _MOST_LABELS:
        return None
    counts = pd.crosstab(trials["correct"], trials["chosen"]).reindex(index=labels, columns=labels, fill_value=0)
    with np.errstate(invalid="ignore"):
        shares = counts.to_numpy() / counts.sum(axis=1).to_numpy()[:, None]
    chart = Matrix(labels=labels, values=shares, title="Answers", counts=counts.to_numpy(), symbol="share")
    notes = [f"rows: {correct}; columns: what was chosen", f"as a share of the trials of a row; {len(trials)} trials"]
    return Panel(chart=chart, heading="Answers", notes=notes)


def _controls(benchmark: str, results: str | os.PathLike[str] | None) -> Assessment | None:
    from brainscore_core.results.assessments import AssessmentStore

    assessments, _ = AssessmentStore(results).newest(benchmark)
    assessed = [
        assessment for assessment in assessments if assessment.part == "controls" and assessment.state == "assessed"
    ]
    return max(assessed, key=lambda assessment: str(assessment.created), default=None)


def _row(label: str, value: Any, ci: Any, kind: int) -> DotsRow:
    number = nan if value is None else float(value)
    if not np.isfinite(number):
        return DotsRow(label=label, state="no score", kind=kind)
    low, high = (nan if limit is None else float(limit) for limit in (ci if ci is not None else (nan, nan)))
    return DotsRow(label=label, value=number, low=low, high=high, text=number_text(number), kind=kind)


def _name_of(metric: Any) -> str:
    if type(metric) is LazyLoad:
        if not metric.is_loaded:
            return "loaded when it is first needed"
        metric = metric.content
    return str(getattr(metric, "identifier", None) or getattr(metric, "__name__", None) or type(metric).__name__)


def _ceiling_text(ceiling: Any) -> str:
    meaning = ceiling.attrs.get("meaning")
    return f"{value_text(ceiling)} ({meaning})" if meaning else value_text(ceiling)
