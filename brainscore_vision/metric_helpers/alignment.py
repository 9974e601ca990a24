"""Published import path of names of ``brainscore_core.metric_helpers.alignment``."""

from brainscore_core.metric_helpers.alignment import (
    MetricInputError,
    as_table,
    coord_values,
    finite_values,
    listed,
    match_rows,
)

__all__ = ["MetricInputError", "as_table", "coord_values", "finite_values", "listed", "match_rows"]
