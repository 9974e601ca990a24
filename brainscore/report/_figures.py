"""Figures for a paper: PNG with 300 dots an inch, and SVG whose text is text."""

from __future__ import annotations

import io
import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING

from brainscore.report._layers import layer_figure
from brainscore.report._page import widest_pair
from brainscore.report._plots import heat_figure, matrix_figure, plot_style, scatter_figure, scores_figure
from brainscore.report._report import Report
from brainscore_core.errors import UserError
from brainscore_core.files import replacing

if TYPE_CHECKING:
    from matplotlib.figure import Figure

__all__ = ["write_figures"]

_ENDINGS = ("png", "svg")
_LETTERS = 7.0  # points


def write_figures(report: Report, folder: Path, *, scatter: tuple[str, str] | None = None) -> tuple[Path, ...]:
    """Write all figures of a report.

    Parameters
    ----------
    report : Report
        From :func:`report_of`.
    folder : Path
        Made if it is missing. Figures of the same names are replaced.
    scatter : (str, str), optional
        Benchmarks to draw against each other; default: those four on which most models were scored, each against each.

    Returns
    -------
    tuple of Path
        The files: ``heat-map``, ``scores-…`` of each benchmark, ``scatter…``, ``layers-…``, each as PNG and SVG.
        The same report gives the same bytes.

    Raises
    ------
    UserError
        If a benchmark to draw has no score in this report; nothing is written then.
    """
    for name in scatter or ():
        if name not in report.view.scored:
            there = ", ".join(report.view.scored[:20]) or "no benchmark"
            raise UserError(f"no model was scored on {name!r}", f"there are scores on: {there}")
    written: list[Path] = []
    taken: set[str] = set()
    with plot_style(svg_text="none", size=_LETTERS):
        for name, draw in _figures(report, scatter):
            stem = file_name(name)
            while stem.lower() in taken:
                stem += "-2"
            taken.add(stem.lower())
            figure = draw()
            for ending in _ENDINGS:
                path = folder / f"{stem}.{ending}"
                content = io.BytesIO()
                # dates would make two figures of the same scores differ
                dated = {"Date": None} if ending == "svg" else {"Software": None}
                figure.savefig(content, format=ending, dpi=300, metadata=dated)
                with replacing(path) as file:
                    file.write(content.getvalue())
                written.append(path)
    return tuple(written)


def file_name(name: str) -> str:
    """A name that LaTeX and every file system take.

    Examples
    --------
    >>> file_name("scores-MajajHong2015.IT-pls")
    'scores-MajajHong2015-IT-pls'
    """
    return re.sub(r"[^A-Za-z0-9_]+", "-", name).strip("-")[:120] or "figure"


def _figures(report: Report, scatter: tuple[str, str] | None) -> Iterator[tuple[str, Callable[[], Figure]]]:
    if report.board.benchmarks:
        yield "heat-map", lambda: heat_figure(report)
    for _, group in report.groups:
        if any(row.value is not None for row in group.rows):
            yield f"scores-{group.benchmark}", lambda group=group: scores_figure(group)  # type: ignore[misc] # mypy: default of a lambda
    if scatter is not None:
        yield f"scatter-{scatter[0]}-{scatter[1]}", lambda: scatter_figure(report, *scatter)
    elif widest_pair(report) is not None:
        yield "scatter", lambda: matrix_figure(report)
    for profile in report.profiles:
        yield f"layers-{profile.model}-{profile.benchmark}", lambda profile=profile: layer_figure(profile)  # type: ignore[misc]
