"""Figures for a paper: PNG with 300 dots an inch, and SVG whose text is text."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

from brainscore.report._page import widest_pair
from brainscore.report._plots import (
    controls_figure,
    heat_figure,
    matrix_figure,
    recovery_figure,
    scatter_figure,
    scores_figure,
)
from brainscore.report._report import Report
from brainscore_core.errors import UserError
from brainscore_core.figures import Svg
from brainscore_core.figures.export import save_figure

_ENDINGS = ("png", "svg")


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
        The files: ``heat-map``, ``scores-…`` of each benchmark, ``scatter…``, ``layers-…``, ``controls-…`` and
        ``recovery-…`` of each benchmark that was assessed, each as PNG and SVG.
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
