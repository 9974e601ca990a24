"""What follows from rows of tables of benchmarks; published import path of metadata of benchmarks."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, fields
from typing import Any, Final

from brainscore_core.benchmarks.metadata import (  # noqa: F401 - published import path
    METADATA_TABLE,
    Access,
    BenchmarkMetadata,
    DataMetadata,
    Kind,
    MetricMetadata,
    StimuliMetadata,
    described_fields,
    longest_match,
    read_metadata,
    required_fields,
)
from brainscore_core.errors import UserError
from brainscore_core.plugins.tables import read_table

TABLE: Final = "benchmarks.csv"


@dataclass(frozen=True, kw_only=True)
class BenchmarkRow:
    """One benchmark of a table."""

    benchmark: str  # name under which it is registered
    identifier: str = ""  # its identifier, if that differs
    # ``'train-test'`` (fitted on one assembly, tested on another, each subject separately), ``'cross-validated'`` (one
    # assembly), ``'rsa'`` (dissimilarities), ``'label'`` or ``'probabilities'`` (choices); or a kind of the plugin's
    # own
    kind: str = ""
    version: int = 1  # increases whenever a change to the benchmark changes scores
    parent: str | None = None  # node of the leaderboard
    region: str = ""  # where was recorded; empty for behavior
    data: tuple[str, ...] = ()  # assemblies, separated by ``;`` in the table
    # stimuli and fitting_stimuli: stimulus sets, if they are not those of the assembly
    stimuli: str = ""
    fitting_stimuli: str = ""
    metric: str = ""  # name of the metric
    ceiling: str = ""  # name of the ceiling; ``'metric'``: that of the metric; or a number
    visual_degrees: float | None = None  # visual angle of the stimuli; None shows them as they are
    number_of_trials: int = 1  # how often each stimulus is shown
    stratification: str | None = None  # coordinate by which cross-validation is stratified
    # reliability and threshold: coordinate of neuroids, and the value that it must exceed
    reliability: str = ""
    threshold: float = 0.0
    further: Mapping[str, str] = field(default_factory=dict)  # columns of the plugin's own

    @classmethod
    def of(cls, cells: Mapping[str, str]) -> BenchmarkRow:
        """Convert the cells of a row; empty cells have the default.

        Examples
        --------
        >>> row = BenchmarkRow.of({"benchmark": "Mine2026.V1-pls", "data": "Mine2026", "visual_degrees": "8", "x": "1"})
        >>> row.identifier, row.data, row.visual_degrees, row.further
        ('Mine2026.V1-pls', ('Mine2026',), 8.0, {'x': '1'})
        """
        field_names = {column_field.name for column_field in fields(cls)} - {"further"}
        convert: dict[str, Callable[[str], Any]] = {
            "version": int,
            "number_of_trials": int,
            "visual_degrees": float,
            "threshold": float,
            "data": lambda text: tuple(text.split(";")),
        }
        values: dict[str, Any] = {"identifier": cells.get("identifier") or cells["benchmark"]}
        for name, text in cells.items():
            if name in field_names and text and name != "identifier":
                try:
                    values[name] = convert.get(name, str)(text)
                except ValueError as error:
                    raise UserError(
                        f"{name} of {cells['benchmark']!r} is {text!r}, not a number", remedy="correct the cell"
                    ) from error
        return cls(**values, further={name: text for name, text in cells.items() if name not in field_names})

    def about(self, bibtex: str | None) -> dict[str, Any]:
        """Arguments that all benchmarks of recordings have; a UserError without a visual angle."""
        if self.visual_degrees is None:
            raise UserError("it has no visual_degrees", remedy="add them to the row")
        names = ("identifier", "version", "visual_degrees", "number_of_trials", "parent")
        return {name: getattr(self, name) for name in names} | {"bibtex": bibtex}


def rows_of(plugin_file: str) -> list[BenchmarkRow]:
    """All rows of the table of benchmarks in the folder of a plugin's file, in the order of the table."""
    return [BenchmarkRow.of(cells) for cells in read_table(plugin_file, TABLE)]
