"""Figures of the report and of papers: their content, which `brainscore_core.figures` draws, and their files."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from itertools import combinations
from math import inf, isfinite, nan
from pathlib import Path

from brainscore.report._report import Report, Validity
from brainscore.report._view import LETTERS, STATES, Group, Row, View
from brainscore_core.errors import UserError
from brainscore_core.figures import (
    COLUMN_WIDTHS,
    CellState,
    Dots,
    DotsRow,
    HeatMap,
    Panel,
    Point,
    Scatter,
    StateScore,
    Svg,
    heat_map,
    nice_range,
    panels,
    training_plot,
)
from brainscore_core.figures.axes import clipped
from brainscore_core.figures.colour_tables import Pattern
from brainscore_core.figures.export import save_figure
from brainscore_core.formatting import estimate_text, number_text, printable
from brainscore_core.identifiers import series_point
from brainscore_core.numerics.correlation import Association, association
from brainscore_core.results.validity import share_text
from brainscore_core.scoring import Receipt

ONE_COLUMN, TWO_COLUMNS = COLUMN_WIDTHS[85], COLUMN_WIDTHS[174]
"""Widths of figures in units."""

_MOST_PLOT_MODELS, _MOST_SCORES = 12, 55
_MOST_TRAINING = 24  # benchmarks on a model's card
_HOLLOW = 4  # kind of dot for scores without a ceiling


def save_plot(view: View, path: Path) -> None:
    """Write the plot of all benchmarks; the ending of the name says whether as PNG, SVG or PDF."""
    save_figure(overall_figure(view), path, dpi=200)


def overall_figure(view: View) -> Svg:
    """Draw all benchmarks below one another, 174 mm wide, with the best 12 models of each."""
    kinds = {model: kind for kind, model in enumerate(view.models)}
    ceiled = _ceiled_range([*view.ceiled, *view.controls])
    rows = []
    for heading, groups, is_ceiled in (
        ("Ceiled benchmarks", view.ceiled, True),
        ("Benchmarks without a ceiling", view.unceiled, False),
        ("Controls (simulated measurements, in no average)", view.controls, True),
    ):
        if groups:
            chart = Dots(
                rows=[row for group in groups for row in _benchmark_rows(group, kinds, is_ceiled)],
                title=heading,
                x_title=_axis_title(is_ceiled),
                reference=0.0,
                ceiling=1.0 if is_ceiled else None,
                x_range=ceiled if is_ceiled else None,
                width=TWO_COLUMNS,
            )
            rows.append([Panel(chart=chart, heading=heading)])
    return panels(rows, title="Scores of models on benchmarks", description=view.summary)


def scores_figure(group: Group) -> Svg:
    """Draw the models of a benchmark, the best first, 85 mm wide; of more than 55 the best."""
    title = printable(group.benchmark) + (" (control)" if group.control else "")
    chart = Dots(
        rows=_model_rows(group.rows, _MOST_SCORES, "models", lambda _: 0 if group.ceiled else _HOLLOW),
        title=title,
        x_title=_axis_title(group.ceiled),
        reference=0.0,
        ceiling=1.0 if group.ceiled else None,
        width=ONE_COLUMN,
    )
    return panels([[Panel(chart=chart, heading=title)]], title=f"Scores of models on {title}")


def _benchmark_rows(group: Group, kinds: dict[str, int], ceiled: bool) -> list[DotsRow]:
    name = printable(group.benchmark) + (" (no ceiling)" if ceiled and not group.ceiled else "")
    rows = _model_rows(group.rows, _MOST_PLOT_MODELS, "in the table", kinds.__getitem__)
    return [DotsRow(label=name, heading=True), *rows]


def _model_rows(rows: Sequence[Row], most: int, rest: str, kind_of: Callable[[str], int]) -> list[DotsRow]:
    """Rows of the best models, and one that counts the others."""
    panels_of_groups = []
    for row in rows[:most]:
        low, high = _drawn(row)
        panels_of_groups.append(
            DotsRow(
                label=printable(row.model),
                value=nan if row.value is None else row.value,
                low=low,
                high=high,
                state=STATES[row.state] if row.value is None else "",
                hint=f"{printable(row.model)}: {row.score or STATES[row.state]}",
                kind=kind_of(row.model),
            )
        )
    if len(rows) > most:
        panels_of_groups.append(DotsRow(label=f"and {len(rows) - most} more {rest}"))
    return panels_of_groups


def _drawn(row: Row) -> tuple[float, float]:
    """Limits of an interval that can be drawn; NaN if there is none, or one without a limit."""
    return row.ci if row.ci and isfinite(row.ci[0]) and isfinite(row.ci[1]) else (nan, nan)


def _axis_title(ceiled: bool) -> str:
    return "score relative to the ceiling" if ceiled else "score as measured"


def _ceiled_range(groups: Sequence[Group]) -> tuple[float, float]:
    rows = [row for group in groups for row in group.rows[:_MOST_PLOT_MODELS] if row.value is not None]
    values = (value for row in rows for value in (row.value or 0.0, *(row.ci or ())))
    return nice_range([0.0, 1.0, *(value for value in values if isfinite(value))])


_PATTERNS: dict[str, Pattern] = {
    "undetermined": "crossed",
    "undefined": "vertical",
    "not applicable": "horizontal",
    "failed": "rising",
    "outdated": "falling",
    "missing": "dots",
}


def heat_figure(report: Report) -> Svg:
    """Draw models × benchmarks, 174 mm wide, at most a page high.

    Names are left out if there are more than 70 models or 55 benchmarks.
    """
    board = report.board
    names = [board.nodes[index].identifier for index in board.benchmarks]
    roots = [board.nodes[index].root for index in board.benchmarks]
    values, states = [], []
    for model in board.models:
        receipts = [board.receipts.get((model, name)) for name in names]
        states.append([board.states.get((model, name), "missing") for name in names])
        scores = [receipt.score if receipt is not None else None for receipt in receipts]
        values.append(
            [
                score.value or 0.0 if state == "scored" and score is not None else nan
                for state, score in zip(states[-1], scores, strict=True)
            ]
        )
    return heat_map(
        HeatMap(
            rows=[printable(model) for model in board.models],
            columns=[printable(group.benchmark) + ("" if group.ceiled else " °") for _, group in report.groups],
            values=values,
            states=states,
            state_kinds={
                state: CellState(name=STATES[state], letter=LETTERS[state], pattern=pattern)
                for state, pattern in _PATTERNS.items()
            },
            title="Scores of models on benchmarks",
            description=report.view.summary,
            row_title=f"{len(board.models):,} models, the best first",
            column_title=f"{len(names):,} benchmarks in the order of the tree",
            dividers=[column for column in range(1, len(names)) if roots[column] != roots[column - 1]],
            notes=() if all(group.ceiled for group in report.view.groups) else (("°", "no ceiling"),),
            width=TWO_COLUMNS,
        )
    )


_MOST_SCATTERS, _MOST_SCATTER_NAMES = 4, 25


def scatter_figure(report: Report, across: str, upward: str) -> Svg:
    """Draw two benchmarks against each other, 85 mm wide, with names of up to 25 models."""
    groups = {group.benchmark: group for group in report.view.groups}
    panel = _scatter_panel(groups[across], groups[upward], ONE_COLUMN, _MOST_SCATTER_NAMES)
    return panels([[panel]], title=panel.chart.title)


def matrix_figure(report: Report) -> Svg:
    """Draw those four benchmarks on which most models were scored, each against each, 174 mm wide."""
    groups = [group for _, group in report.groups if not group.control]
    if len(groups) < 2:
        groups = [group for _, group in report.groups][:2]
    groups.sort(key=lambda group: -sum(row.value is not None for row in group.rows))  # stable: then the tree's order
    groups = groups[:_MOST_SCATTERS]
    size = len(groups) - 1
    width = ONE_COLUMN if size == 1 else TWO_COLUMNS / size
    rows = [
        [_scatter_panel(groups[column], groups[line + 1], width, 0) for column in range(line + 1)]
        for line in range(size)
    ]
    return panels(rows, title="Scores of models on pairs of benchmarks")


def _scatter_panel(across: Group, upward: Group, width: float, most_names: int) -> Panel:
    upward_rows = {row.model: row for row in upward.rows if row.value is not None}
    rows = [(row, upward_rows[row.model]) for row in across.rows if row.value is not None and row.model in upward_rows]
    points = [
        Point(
            x=x.value or 0.0,
            y=y.value or 0.0,
            x_low=_drawn(x)[0],
            x_high=_drawn(x)[1],
            y_low=_drawn(y)[0],
            y_high=_drawn(y)[1],
            label=f"{printable(x.model)}: {number_text(x.value)}, {number_text(y.value)}",
            name=clipped(printable(x.model), 150, 11) if len(rows) <= most_names else "",
        )
        for x, y in rows
    ]
    correlation = association([point.x for point in points], [point.y for point in points])
    x_title, y_title = (_scatter_label(group, width - 60) for group in (across, upward))
    chart = Scatter(
        points=points,
        title=f"{x_title} and {y_title}",
        x_title=x_title,
        y_title=y_title,
        identity=across.ceiled == upward.ceiled,
        width=width,
        height=width - 30,
    )
    return Panel(chart=chart, notes=association_lines(correlation))


def _scatter_label(group: Group, width: float) -> str:
    ending = "" if group.ceiled else " (no ceiling)"
    return clipped(printable(group.benchmark), width - 70 * bool(ending)) + ending


def association_lines(found: Association) -> tuple[str, ...]:
    """Format correlations for a figure.

    Examples
    --------
    >>> for line in association_lines(Association(9, 0.8, (0.287, 0.956), 0.75, (0.1, 0.95))):
    ...     print(line)
    r = 0.80 [0.29, 0.96], n = 9
    ρ = 0.75 [0.10, 0.95]
    """
    lines = []
    for name, value, ci in (("r", found.pearson, found.pearson_ci), ("ρ", found.spearman, found.spearman_ci)):
        if value is not None:
            lines.append(f"{name} = {value:.2f}" + (f" [{ci[0]:.2f}, {ci[1]:.2f}]" if ci else ""))
    first = f"{lines[0]}, n = {found.n}" if lines else f"n = {found.n}"
    return tuple(line.replace("-", "−") for line in (first, *lines[1:]))


_CONTROLS_HEADINGS = {"baseline": "Baselines", "artefact check": "Artefact checks"}
_CONTROL_DOTS = {"baseline": 1, "artefact check": 3}
"""Kinds of dots."""


def training_figures(states: Sequence[Receipt], *, identifier: str) -> Iterator[tuple[str, Svg, Sequence[Receipt]]]:
    """Yield benchmark, figure and receipts of the states of a model, for the first 24 benchmarks by name."""
    by_benchmark: dict[str, list[Receipt]] = {}
    for receipt in states:
        by_benchmark.setdefault(receipt.benchmark.identifier, []).append(receipt)
    for number, (benchmark, receipts) in enumerate(sorted(by_benchmark.items())[:_MOST_TRAINING]):
        ordered = sorted(receipts, key=_state_order)
        scores = [
            StateScore(benchmark, receipt.model.identifier, receipt.score.value, *(receipt.score.ci or (None, None)))
            for receipt in ordered
            if receipt.score is not None and receipt.score.value is not None
        ]
        figure = training_plot(scores, identifier=f"{identifier}-{number}")
        if figure is not None:
            yield benchmark, figure, ordered


def _state_order(receipt: Receipt) -> tuple[int, float]:
    _, seed, epoch = series_point(receipt.model.identifier)
    return -1 if seed is None else seed, inf if epoch is None else epoch


def controls_figure(group: Group, validity: Validity, *, identifier: str = "") -> Svg | None:
    """Draw models, baselines and artefact checks below each other, 85 mm wide; None if no baseline model has a score.

    Scores are those before clamping; of more than 12 models the best.
    """
    controls = validity.control_scores
    if not any(control.score is not None for control in controls):
        return None
    dot = 0 if group.ceiled else _HOLLOW
    models = {}
    for row in group.rows:
        if row.value is not None and row.receipt.score is not None:
            unclamped = row.receipt.score.unclamped
            models[row.model] = (row.value if unclamped is None else unclamped, row.ci)
    for model, result in validity.by_model.items():
        if model not in models and result.score is not None:
            models[model] = (result.score, result.ci)
    best = sorted(models.items(), key=lambda item: -item[1][0])
    rows = [DotsRow(label="Models", heading=True)] if best else []
    rows += [_dots_row(model, value, ci, dot) for model, (value, ci) in best[:_MOST_PLOT_MODELS]]
    if len(best) > _MOST_PLOT_MODELS:
        rows.append(DotsRow(label=f"and {len(best) - _MOST_PLOT_MODELS} more models"))
    for kind, heading in _CONTROLS_HEADINGS.items():
        of_kind = [control for control in controls if control.kind == kind]
        rows += [DotsRow(label=heading, heading=True)] if of_kind else []
        rows += [_dots_row(control.name, control.score, control.ci, _CONTROL_DOTS[kind]) for control in of_kind]
    chart = Dots(
        rows=rows,
        title=f"Models and baseline models on {printable(group.benchmark)}",
        x_title=_axis_title(group.ceiled),
        reference=0.0,
        ceiling=1.0 if group.ceiled else None,
        width=ONE_COLUMN,
    )
    return panels(
        [[Panel(chart=chart, heading="" if identifier else printable(group.benchmark))]],
        title=chart.title,
        description="Dots are scores, bars their 95 % intervals.",
        identifier=identifier,
    )


def recovery_figure(validity: Validity) -> Svg | None:
    """Draw which candidate scores best by the one that is true, 174 mm wide; None without a recovery."""
    result = validity.recovery_result
    if validity.recovery is None or not result.confusions:
        return None
    names = [printable(name) for name in result.candidates]
    row = [
        Panel(
            chart=HeatMap(
                rows=names,
                columns=names,
                values=confusion.shares,
                states=[["undefined"] * len(names)] * len(names),
                state_kinds={"undefined": CellState(name="no experiment", letter="", pattern="dots")},
                title=confusion.generator,
                row_title="true model",
                column_title="model that scores best",
                width=TWO_COLUMNS / len(result.confusions),
            ),
            heading=f"{confusion.generator}: {share_text(confusion.overall)}",
            notes=("rows: true model; columns: model that scores best", "numbers: share of experiments"),
        )
        for confusion in result.confusions
    ]
    title = f"Recovery of models on {printable(validity.benchmark)}"
    return panels([row], title=title, description=validity.recovery.summary.sentence)


def _dots_row(label: str, value: float | None, ci: tuple[float, float] | None, kind: int) -> DotsRow:
    low, high = ci or (nan, nan)
    return DotsRow(
        label=printable(label),
        value=nan if value is None else value,
        low=low,
        high=high,
        text="" if value is None else number_text(value, 2),
        state="not scored" if value is None else "",
        hint=f"{printable(label)}: {estimate_text(value, ci=ci, brief=True) if value is not None else 'not scored'}",
        kind=kind,
        indent=1,
    )


_MOST_COMPARED = 60  # benchmarks among which the first pair of the scatter plot is looked for
_ENDINGS = ("png", "svg", "pdf")


def write_figures(report: Report, folder: Path, *, scatter: tuple[str, str] | None = None) -> tuple[Path, ...]:
    """Write all figures of a report as PNG, SVG and PDF, and return the files; the same report gives the same bytes.

    `scatter` names the benchmarks to draw against each other, by default those four on which most models were scored.
    Raises UserError, before anything is written, if one of them has no score in this report.
    """
    for name in scatter or ():
        if name not in report.view.scored:
            there = ", ".join(report.view.scored[:20]) or "no benchmark"
            raise UserError(f"no model was scored on {name!r}", f"there are scores on: {there}")
    written: list[Path] = []
    used: set[str] = set()
    for name, figure in _figures(report, scatter):
        stem = file_name(name)
        while stem.lower() in used:
            stem += "-2"
        used.add(stem.lower())
        for ending in _ENDINGS:
            written.append(folder / f"{stem}.{ending}")
            save_figure(figure, written[-1])
    return tuple(written)


def file_name(name: str) -> str:
    """A name that LaTeX and every file system take.

    Examples
    --------
    >>> file_name("scores-MajajHong2015.IT-pls")
    'scores-MajajHong2015-IT-pls'
    """
    return re.sub(r"[^A-Za-z0-9_]+", "-", name).strip("-")[:120] or "figure"


def _figures(report: Report, scatter: tuple[str, str] | None) -> Iterator[tuple[str, Svg]]:
    if report.board.benchmarks:
        yield "heat-map", heat_figure(report)
    for _, group in report.groups:
        if any(row.value is not None for row in group.rows):
            yield f"scores-{group.benchmark}", scores_figure(group)
    if scatter is not None:
        yield f"scatter-{scatter[0]}-{scatter[1]}", scatter_figure(report, *scatter)
    elif widest_pair(report) is not None:
        yield "scatter", matrix_figure(report)
    for profile in report.profiles:
        yield f"layers-{profile.model}-{profile.benchmark}", profile.plot().svg
    for _, group in report.groups:
        validity = report.validity.get(group.benchmark)
        if validity is None:
            continue
        for name, figure in (
            ("controls", controls_figure(group, validity)),
            ("recovery", recovery_figure(validity)),
        ):
            if figure is not None:
                yield f"{name}-{group.benchmark}", figure


def widest_pair(report: Report) -> tuple[int, int] | None:
    """The two benchmarks to compare first, as places among the benchmarks; None if there are no two.

    Those that most models are scored on; controls only where there is nothing else. Of equals ceiled ones, those of
    different means, then the first.
    """
    board = report.board
    indices = board.benchmarks
    scored = {
        number: {
            model for model in board.models if board.states.get((model, board.nodes[index].identifier)) == "scored"
        }
        for number, index in enumerate(indices)
    }
    numbers = sorted(scored, key=lambda number: (-len(scored[number]), number))[:_MOST_COMPARED]
    groups = {group.benchmark: group for group in report.view.groups}

    def worth(pair: tuple[int, int]) -> tuple[int | bool, ...]:
        first, second = (board.nodes[indices[number]] for number in pair)
        both = [groups[first.identifier], groups[second.identifier]]
        controls, ceiled = sum(group.control for group in both), sum(group.ceiled for group in both)
        models = len(scored[pair[0]] & scored[pair[1]])
        return (models > 2, -controls, models, ceiled, first.parent != second.parent, -pair[0], -pair[1])

    return max(combinations(sorted(numbers), 2), key=worth, default=None)
