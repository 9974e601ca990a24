"""Pages, plots and tables of scores."""

from brainscore.report._page import log_ends, render_report, write_report
from brainscore.report._pair import neuroid_plot, neuroid_table, stimulus_plot, stimulus_table
from brainscore.report._plots import save_plot, write_figures
from brainscore.report._report import Report, find_profiles, report_of
from brainscore.report._tables import TABLE_ENDINGS, rankings_of, table_text, write_comparisons, write_table
from brainscore.report._view import Group, Row, View, view_of

__all__ = [
    "TABLE_ENDINGS",
    "Group",
    "Report",
    "Row",
    "View",
    "find_profiles",
    "log_ends",
    "neuroid_plot",
    "neuroid_table",
    "rankings_of",
    "render_report",
    "report_of",
    "save_plot",
    "stimulus_plot",
    "stimulus_table",
    "table_text",
    "view_of",
    "write_comparisons",
    "write_figures",
    "write_report",
    "write_table",
]
