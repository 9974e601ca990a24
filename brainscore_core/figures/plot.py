"""Figures that a notebook shows and that can be saved."""

from __future__ import annotations

import os
from pathlib import Path

from brainscore_core.figures.axes import Svg
from brainscore_core.figures.svg_file import standalone


class Plot:
    """A figure. A notebook shows it; :meth:`save` writes it to a file.

    Parameters
    ----------
    svg : Svg
        What a function of :mod:`brainscore_core.figures` drew.
    title : str
        What the figure shows.

    Examples
    --------
    >>> from brainscore_core.metrics import Score
    >>> plot = Score(0.4).plot()
    >>> plot
    <Plot 'Score'; save('figure.png') writes it as PNG, SVG or PDF>
    """

    def __init__(self, svg: Svg, title: str) -> None:
        self.svg = svg
        self.title = title

    def save(self, path: str | os.PathLike[str], *, dpi: int = 300) -> Path:
        """Write the figure as SVG, PNG or PDF.

        Parameters
        ----------
        path : path
            File to write; its ending is the format. Missing folders are created.
        dpi : int
            Resolution of PNG.

        Returns
        -------
        Path
            The file.

        Raises
        ------
        ValueError
            If the file has another ending.
        """
        from brainscore_core.figures.export import save_figure

        save_figure(self.svg, Path(path), dpi=dpi)
        return Path(path)

    def __repr__(self) -> str:
        return f"<Plot {self.title!r}; save('figure.png') writes it as PNG, SVG or PDF>"

    def _repr_svg_(self) -> str:
        return standalone(self.svg).removeprefix('<?xml version="1.0" encoding="UTF-8"?>\n')
