"""Receipts as a table: one row per receipt, columns with fixed names and types."""

from __future__ import annotations

import csv
import json
import math
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from hashlib import sha256
from io import TextIOWrapper
from os import PathLike
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any, Literal

from brainscore_core.errors import UserError
from brainscore_core.files import replacing
from brainscore_core.formatting import harmless
from brainscore_core.receipts.environment import RECORDED_PACKAGES
from brainscore_core.receipts.receipt import Receipt

if TYPE_CHECKING:
    import pandas as pd

ColumnType = Literal["text", "number", "integer", "truth", "time"]


@dataclass(frozen=True)
class Column:
    """One column of a table."""

    name: str  # its name
    # ``'text'``, ``'number'`` (float64), ``'integer'`` (int64), ``'truth'`` (true, false) or ``'time'`` (UTC, to the
    # microsecond). Each may be missing.
    type: ColumnType
    meaning: str  # meaning of the column

    @property
    def pandas_type(self) -> str:
        """Type of the column for the argument `dtype` of `pandas.read_csv`."""
        return {"text": "string", "number": "float64", "integer": "Int64", "truth": "boolean", "time": "string"}[
            self.type
        ]


@dataclass(frozen=True)
class ExportColumn(Column):
    """One column of the table of receipts."""

    read: Callable[[Receipt], Any]


def _path(path: str, convert: Callable[[Any], Any] = lambda value: value) -> Callable[[Receipt], Any]:
    """Make a function that follows attributes, and converts the last one; it returns None if one is missing."""

    def read(receipt: Receipt) -> Any:
        value: Any = receipt
        for name in path.split("."):
            value = getattr(value, name) if value is not None else None
        return None if value is None else convert(value)

    return read


def _limit(path: str, end: int) -> Callable[[Receipt], Any]:
    return _path(path, lambda limits: None if math.isinf(limits[end]) else limits[end])


def _estimate(name: str, what: str) -> Iterable[ExportColumn]:
    prefix = "" if name == "score" else f"{name}_"
    noun = {"raw": "raw score"}.get(name, name)
    yield ExportColumn(name, "number", what, _path(f"{name}.value"))
    yield ExportColumn(f"{prefix}error", "number", f"standard error of the {noun}", _path(f"{name}.error"))
    yield ExportColumn(f"{prefix}ci_low", "number", f"lower limit of the {noun}'s interval", _limit(f"{name}.ci", 0))
    yield ExportColumn(f"{prefix}ci_high", "number", f"upper limit of the {noun}'s interval", _limit(f"{name}.ci", 1))
    fields: tuple[tuple[str, ColumnType, str], ...] = (
        ("ci_level", "number", "level of that interval, such as 0.95"),
        ("ci_estimates", "text", "what that interval estimates, what was resampled"),
        ("ci_method", "text", "how that interval was made"),
        ("error_reason", "text", "why there is no standard error"),
        ("ci_reason", "text", "why there is no interval"),
        ("scale", "text", f"scale of the {noun}"),
        ("unclamped", "number", f"the {noun} before it was bounded to [0, 1]"),
    )
    for field, kind, meaning in fields:
        yield ExportColumn(f"{prefix}{field}", kind, meaning, _path(f"{name}.{field}"))


def _names(kind: str, receipt: Receipt) -> str:
    return "; ".join(sorted({item.identifier for item in receipt.data if item.kind == kind}))


def _one_hash(hashes: Iterable[str | None]) -> str | None:
    """Combine hashes: a single one is kept, several are hashed with SHA-256 in order."""
    unique = sorted({digest for digest in hashes if digest})
    if len(unique) < 2:
        return unique[0] if unique else None
    return sha256("\n".join(unique).encode()).hexdigest()


def _data_code(metric: bool, receipt: Receipt) -> str | None:
    return _one_hash(item.plugin.sha256 for item in receipt.data if item.plugin and (item.kind == "metric") == metric)


def _value_of(key: str, mapping: Mapping[str, str]) -> str | None:
    return mapping.get(key)


def _as_json(mapping: Any) -> str | None:
    return json.dumps(mapping, sort_keys=True, ensure_ascii=False) if mapping else None


def _columns() -> Iterable[ExportColumn]:
    column = ExportColumn
    yield column("id", "text", "the receipt", _path("id"))
    yield column("created", "time", "when it was made (UTC)", _path("created"))
    yield column("model", "text", "identifier of the model", _path("model.identifier"))
    yield column("benchmark", "text", "identifier of the benchmark", _path("benchmark.identifier"))
    yield column("version", "text", "version of the benchmark", _path("benchmark.version", str))
    yield column("parent", "text", "what the benchmark belongs to", _path("benchmark.parent"))
    yield column("control", "truth", "whether the benchmark checks the method alone", _path("benchmark.control"))
    yield column("state", "text", "`scored`, `undefined`, `not applicable` or `failed`", _path("state"))
    yield column("reason", "text", "why there is no score", _path("reason"))
    yield column("error_type", "text", "type of the error of a failed pair", _path("error.type"))
    yield from _estimate("score", "the score, relative to the ceiling")
    yield from _estimate("raw", "the score before the ceiling was applied")
    yield from _estimate("ceiling", "what the best possible model would reach")
    yield column("ceiling_meaning", "text", "what the ceiling is", _path("ceiling.meaning"))
    yield column("ceiling_lower_bound", "number", "lower end of a ceiling that has two", _path("ceiling.lower_bound"))
    steps = {
        "load_model": "making the model",
        "load_benchmark": "making the benchmark",
        "ceiling": "the ceiling",
        "score": "the score",
        "extraction": "activations, inside the two before",
        "total": "everything",
    }
    for step, action in steps.items():
        yield column(f"seconds_{step}", "number", f"seconds for {action}", _path(f"timings.{step}"))
    yield column("peak_memory_bytes", "integer", "highest memory of the process", _path("memory.peak_bytes"))
    yield column("peak_memory_here", "truth", "whether this pair set that maximum", _path("memory.raised_here"))
    yield column("cache_hits", "integer", "layers that were read from the store", _path("cache.hits"))
    yield column("cache_misses", "integer", "layers that were computed", _path("cache.misses"))
    yield column("data", "text", "data sets, separated by `; `", partial(_names, "data"))
    yield column("stimulus_sets", "text", "the same of stimulus sets", partial(_names, "stimulus_set"))
    yield column("metrics", "text", "the same of metrics and ceilings", partial(_names, "metric"))
    yield column(
        "files_sha",
        "text",
        "hash of the files that were read *",
        lambda r: _one_hash(f.sha256 or f.sha1 for f in r.files),
    )
    yield column("weights_sha256", "text", "hash of the weights *", lambda r: _one_hash(w.sha256 for w in r.weights))
    for which in ("model", "benchmark"):
        yield column(f"{which}_plugin", "text", f"folder of the {which}'s code", _path(f"{which}.plugin.name"))
        yield column(f"{which}_code_sha256", "text", "hash of that code", _path(f"{which}.plugin.sha256"))
        yield column(f"{which}_package", "text", "the package it came with", _path(f"{which}.plugin.distribution"))
        yield column(f"{which}_package_version", "text", "version of that package", _path(f"{which}.plugin.version"))
    yield column("data_code_sha256", "text", "hash of the code of data and stimulus sets *", partial(_data_code, False))
    yield column("metric_code_sha256", "text", "hash of the code of metrics *", partial(_data_code, True))
    yield column("device", "text", "`cpu`, `cuda` …", _path("device"))
    yield column("seeds", "text", "seeds, as JSON", _path("seeds", _as_json))
    yield column("python", "text", "interpreter and version", _path("environment.python"))
    yield column("platform", "text", "operating system", _path("environment.platform"))
    yield column("cpu", "text", "processor", _path("environment.cpu"))
    yield column("cpu_count", "integer", "cores that could be used", _path("environment.cpu_count"))
    yield column("run", "text", "the run that made it", _path("run.id"))
    yield column("isolated", "truth", "whether the model ran in its own process", _path("run.isolated"))
    yield column("environment", "text", "key of the model's own environment", _path("run.environment"))
    yield column("model_packages", "text", "versions of that environment, as JSON", _path("run.packages", _as_json))
    for package in RECORDED_PACKAGES:
        yield column(
            f"package_{re.sub('[^a-z0-9]', '_', package.lower())}",
            "text",
            f"version of {package}",
            _path("environment.packages", partial(_value_of, package)),
        )
    yield column("features", "integer", "features recorded from the model", partial(_one_recording, "features"))
    yield column(
        "effective_dimensionality",
        "number",
        "participation ratio of their covariance over the stimuli",
        partial(_one_recording, "effective_dimensionality"),
    )
    yield column("visual_degrees", "number", "visual angle of the model's input", _path("model.visual_angle.degrees"))
    yield column(
        "states_visual_degrees", "truth", "whether the model states this angle", _path("model.visual_angle.stated")
    )
    yield column("notes", "text", "notes, one a line", _path("notes", "\n".join))
    yield column("undetermined", "text", "why the score relative to the ceiling says nothing", _path("undetermined"))
    yield column("domain", "text", "domain of model and benchmark", _path("domain"))


def _one_recording(name: str, receipt: Receipt) -> int | float | None:
    """Of the first stimuli that were recorded: those for training, if they are separate from those for testing."""
    return getattr(receipt.features[0], name) if receipt.features else None


EXPORT_COLUMNS: tuple[ExportColumn, ...] = tuple(_columns())
"""The columns, in order; later versions may add columns at the end, and remove none."""


def export_rows(receipts: Iterable[Receipt]) -> list[dict[str, Any]]:
    """Convert receipts to rows, one per receipt: str, float, int, bool or None by column.

    Parameters
    ----------
    receipts : iterable of Receipt
        In any order, which is kept.

    Examples
    --------
    >>> from brainscore_core.scoring import BenchmarkInfo, Estimate, ModelInfo
    >>> receipt = Receipt(model=ModelInfo(identifier="pixels"), benchmark=BenchmarkInfo(identifier="Some2026-pls"),
    ...                   state="scored", score=Estimate(value=0.25, ci=(0.2, 0.3), ci_level=0.95))
    >>> (row,) = export_rows([receipt])
    >>> row["model"], row["score"], row["ci_high"], row["raw"]
    ('pixels', 0.25, 0.3, None)
    """
    return [{column.name: _given(column.read(receipt)) for column in EXPORT_COLUMNS} for receipt in receipts]


def export_frame(receipts: Iterable[Receipt]) -> pd.DataFrame:
    """Convert receipts to a table for pandas: one row per receipt, the columns of :data:`EXPORT_COLUMNS`.

    Missing values are those of pandas, and times are in UTC.

    Examples
    --------
    >>> export_frame([]).columns[:5].tolist()
    ['id', 'created', 'model', 'benchmark', 'version']
    """
    import pandas as pd

    rows = export_rows(receipts)
    table = pd.DataFrame({column.name: [row[column.name] for row in rows] for column in EXPORT_COLUMNS})
    for column in EXPORT_COLUMNS:
        values = table[column.name]
        table[column.name] = (
            pd.to_datetime(values, utc=True)
            if column.type == "time"
            else values.astype(pd.api.types.pandas_dtype(column.pandas_type))
        )
    return table


def _given(value: Any) -> Any:
    return None if value == "" else value  # CSV cannot distinguish an empty text from a missing one


def export_table(receipts: Iterable[Receipt], path: str | PathLike[str]) -> int:
    """Write a table, whole or not at all.

    Parameters
    ----------
    receipts : iterable of Receipt
        The rows.
    path : path
        Ends in ``.csv`` (UTF-8, a missing value is an empty field) or ``.parquet``, whose schema has the meanings of
        the columns.

    Returns
    -------
    int
        Number of rows.

    Raises
    ------
    UserError
        If the name has another ending, pyarrow is missing, or the file cannot be written.
    """
    return write_table(lambda: export_rows(receipts), EXPORT_COLUMNS, path)


def write_table(
    make_rows: Callable[[], Sequence[dict[str, Any]]], columns: Sequence[Column], path: str | PathLike[str]
) -> int:
    """Write a table, whole or not at all; return the number of rows.

    `make_rows` returns rows, column → value, and is called once it is known that the format can be written. The path
    ends in ``.csv`` or ``.parquet``. Raises UserError if the name has another ending, pyarrow is missing, or the file
    cannot be written.
    """
    target = Path(path).expanduser()
    if target.suffix.lower() not in (".csv", ".parquet"):
        raise UserError(f"cannot export to {target.name!r}", remedy="use a name that ends in .csv or .parquet")
    if target.suffix.lower() == ".parquet":
        _pyarrow()
    rows = make_rows()
    try:
        with replacing(target) as stream:
            write_rows(rows, columns, stream, parquet=target.suffix.lower() == ".parquet")
    except OSError as error:
        raise UserError(
            f"{target} cannot be written: {error.strerror or error}", remedy="use a file in another folder"
        ) from error
    return len(rows)


def write_rows(
    rows: Sequence[dict[str, Any]], columns: Sequence[Column], stream: IO[bytes], *, parquet: bool = False
) -> None:
    """Write rows as CSV, with an apostrophe before text that a spreadsheet would read as a formula, or as Parquet."""
    (_write_parquet if parquet else _write_csv)(rows, columns, stream)


def _write_csv(rows: Sequence[dict[str, Any]], columns: Sequence[Column], stream: IO[bytes]) -> None:
    text = TextIOWrapper(stream, encoding="utf-8", newline="")
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow([column.name for column in columns])
    for row in rows:
        writer.writerow([_cell(value) for value in row.values()])
    text.flush()
    text.detach()


def _cell(value: Any) -> str:
    if value is None:
        return ""
    if isinstance(value, str):
        return harmless(value.replace("\r\n", "\n").replace("\r", "\n"))  # a bare \r ends the row for some readers
    return str(value).lower() if isinstance(value, bool) else str(value)  # floats with all digits


def _write_parquet(rows: Sequence[dict[str, Any]], columns: Sequence[Column], stream: IO[bytes]) -> None:
    pyarrow = _pyarrow()
    from pyarrow import parquet

    types = {
        "text": pyarrow.string(),
        "number": pyarrow.float64(),
        "integer": pyarrow.int64(),
        "truth": pyarrow.bool_(),
        "time": pyarrow.timestamp("us", tz="UTC"),
    }
    schema = pyarrow.schema(
        [pyarrow.field(each.name, types[each.type], metadata={"meaning": each.meaning}) for each in columns]
    )
    typed = [{each.name: _typed(each.type, row[each.name]) for each in columns} for row in rows]
    parquet.write_table(pyarrow.Table.from_pylist(typed, schema=schema), stream)


def _typed(kind: ColumnType, value: Any) -> Any:
    if value is None:
        return None
    if kind == "time":
        from datetime import datetime

        return datetime.fromisoformat(value) if value else None
    return float(value) if kind == "number" else value


def _pyarrow() -> Any:
    try:
        import pyarrow
    except ImportError as error:
        raise UserError(
            "Parquet files require pyarrow, which is not installed",
            remedy='pip install "brainscore[tables]"; or export to a .csv file',
        ) from error
    return pyarrow
