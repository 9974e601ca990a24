"""Pages and plots of scores."""

from brainscore.report._layers import save_layer_plot
from brainscore.report._plot import save_plot
from brainscore.report._render import render_report, write_report
from brainscore.report._view import Group, Row, View, number, view_of

__all__ = [
    "Group",
    "Row",
    "View",
    "number",
    "render_report",
    "save_layer_plot",
    "save_plot",
    "view_of",
    "write_report",
]
