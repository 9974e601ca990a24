"""Tables of benchmarks: what the rows hold, and the metadata that follow from them."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, fields, replace
from typing import Any, Final

from brainscore_core.errors import UserError
from brainscore_core.plugins.source import read_table
from brainscore_vision.benchmark_helpers.metadata import BenchmarkMetadata, MetricMetadata

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


def rows_of(plugin_file: str) -> list[BenchmarkRow]:
    """All rows of a plugin's table.

    `plugin_file`: ``__file__`` of the plugin. Result: in the order of the table.
    """
    return [BenchmarkRow.of(cells) for cells in read_table(plugin_file, TABLE)]


def table_metadata(
    plugin_file: str, describe: Callable[[BenchmarkRow], BenchmarkMetadata], *, bibtex: str | None
) -> dict[str, BenchmarkMetadata]:
    """Metadata of all benchmarks of a table.

    `plugin_file`: ``__file__`` of the plugin. `describe`: returns the metadata of a row. Metric and visual angle may be
    left out: they follow from the row. Result: by the name under which the benchmark is registered.
    """
    return {row.benchmark: _completed(describe(row), row, bibtex) for row in rows_of(plugin_file)}


def _completed(about: BenchmarkMetadata, row: BenchmarkRow, bibtex: str | None) -> BenchmarkMetadata:
    metric = about.metric
    if metric == MetricMetadata():
        kind, mapping = _METRICS[row.metric]
        number = row.ceiling.replace(".", "", 1).isdigit()
        ceiling = "human-human: published as a number" if number else _CEILINGS[row.ceiling]
        if row.metric == "accuracy":
            ceiling = "upper bound: every choice is right"
        metric = MetricMetadata(name=row.metric, kind=kind, mapping=mapping, ceiling=ceiling)
    return replace(
        about,
        metric=metric,
        stimuli=replace(about.stimuli, visual_degrees=row.visual_degrees),
        bibtex=about.bibtex or bibtex,
    )


_EACH: Final = "one for each subject"
_METRICS: Final[dict[str, tuple[str, str | None]]] = {
    "accuracy": ("accuracy", None),
    "accuracy_distance": ("accuracy", None),
    "cka": ("similarity", None),
    "confusion_similarity": ("consistency", None),
    "dual_ridge_split": ("regression", f"ridge regression with penalty 1, {_EACH}"),
    "dual_ridgecv": ("regression", "ridge regression with a penalty chosen on training stimuli"),
    "dual_ridgecv_split": ("regression", f"ridge regression with a penalty chosen on training stimuli, {_EACH}"),
    "error_consistency": ("consistency", None),
    "factor_dimensionality": ("similarity", None),
    "mask_regression": ("regression", "a spatial mask times weights of channels, for each neuroid"),
    "pls": ("regression", "PLS regression with 25 components"),
    "rdm": ("similarity", None),
    "reverse_pls": ("regression", "PLS regression with 25 components from recordings to the model"),
    "ridge": ("regression", "ridge regression with penalty 1"),
    "ridge_split": ("regression", f"ridge regression with penalty 1, {_EACH}"),
    "ridgecv_split": ("regression", f"ridge regression with a penalty chosen on training stimuli, {_EACH}"),
    "tasks_consistency": ("consistency", None),
    "value_delta": ("similarity", None),
}
"""Kind and mapping of the metrics that tables name."""

_CEILINGS: Final = {
    "internal_consistency": "reliability: split halves of the repetitions, Spearman–Brown corrected, median over "
    "neuroids",
    "metric": "human-human: the same number between all pairs of people",
    "noise ceiling": "reliability: root of the published noise ceiling, median over voxels",
    "predictor_consistency": "reliability: split halves drawn image by image, Spearman–Brown corrected, median over "
    "neuroids",
    "reliability coordinate": "reliability: published with the recordings, median over neuroids",
    "rsa_ceiling": "upper bound: correlation of each subject with the mean of all",
}
