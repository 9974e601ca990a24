"""The page: one HTML file that needs nothing else."""

from __future__ import annotations

from pathlib import Path

from brainscore.report._plot import save_plot, svg_of
from brainscore.report._view import View, number
from brainscore_core.files import replacing

__all__ = ["render_report", "write_report"]


def write_report(view: View, output: Path, *, plot: Path | None = None) -> None:
    """Write the page, and the plot as a picture of its own where asked for.

    Parameters
    ----------
    view : View
        What to show; from :func:`view_of`.
    output : Path
        The HTML file; missing folders are made. The same receipts give the same bytes.
    plot : Path, optional
        A PNG, SVG or PDF file.
    """
    output.parent.mkdir(parents=True, exist_ok=True)
    content = render_report(view).encode()
    with replacing(output) as file:
        file.write(content)
    if plot is not None:
        save_plot(view, plot)


def render_report(view: View) -> str:
    """Write a view as HTML."""
    import jinja2

    environment = jinja2.Environment(
        loader=jinja2.PackageLoader("brainscore.report", "."),
        autoescape=True,
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters["number"] = number
    environment.filters["short"] = lambda text: (text or "unknown")[:12]
    environment.filters["bytes"] = _bytes
    # the plot is this project's own drawing, with all names in it escaped by matplotlib
    return environment.get_template("report.html.j2").render(view=view, plot=svg_of(view) if view.groups else "")


def _bytes(size: int | None) -> str:
    if size is None:
        return "unknown"
    for unit in ("B", "kB", "MB"):
        if size < 1000:
            return f"{size:.3g} {unit}"
        size /= 1000  # type: ignore[assignment]
    return f"{size:.3g} GB"
