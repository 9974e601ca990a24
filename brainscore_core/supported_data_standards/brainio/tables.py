"""Read tables of other programs: separators, encodings, missing values, types; and report what an importer changed."""

import codecs
import csv
import io
import math
import re
import warnings
from collections.abc import Container, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, fields
from itertools import islice
from pathlib import Path
from typing import Any, NamedTuple, TypeAlias, TypeVar

import numpy as np
import pandas as pd
import xarray as xr
from numpy.typing import NDArray

from brainscore_core.errors import UserError, nearest
from brainscore_core.plurals import counted
from brainscore_core.supported_data_standards.brainio.findings import (
    ValidationWarning,
    format_values,
)

Imported = TypeVar("Imported", bound=xr.DataArray)

IMPORT_REPORT = "import_report"
"""Attribute of an imported assembly that holds its report; it is not written to files."""


@dataclass(frozen=True)
class ImportChange:
    """A difference between a source and the assembly that was made from it.

    Attributes
    ----------
    action : str
        ``'dropped'``, ``'renamed'``, ``'converted'``, ``'added'`` or ``'noticed'``.
    what : str
        Kind of the things changed: ``'column'``, ``'row'``, ``'unit'``, ``'trial'``, …
    names : str
        Their names, the first few of many.
    count : int
        How many they are.
    reason : str
        Why.
    """

    action: str
    what: str
    names: str
    count: int
    reason: str

    def __str__(self) -> str:
        return f"{self.action} {counted(self.count, self.what)} ({self.names}): {self.reason}"


@dataclass(frozen=True)
class ImportReport:
    """What was read from a source, and what was changed.

    Attributes
    ----------
    source : str
        Name of the file or table.
    sizes : dict
        Kind of things → how many there were in the source, and how many are in the assembly.
    changes : tuple of ImportChange
        In the order in which they were made.

    Examples
    --------
    >>> change = ImportChange("dropped", "row", "17", 1, "the response is missing")
    >>> ImportReport("trials.csv", {"row": (240, 239)}, (change,))
    trials.csv: 239 of 240 rows imported
    - dropped 1 row (17): the response is missing
    """

    source: str
    sizes: Mapping[str, tuple[int, int]] = field(default_factory=dict)
    changes: tuple[ImportChange, ...] = ()

    @property
    def dropped(self) -> tuple[ImportChange, ...]:
        """The changes by which something was left out."""
        return tuple(change for change in self.changes if change.action == "dropped")

    def to_pandas(self) -> pd.DataFrame:
        """Return one row per change, with the attributes of :class:`ImportChange` as columns."""
        return pd.DataFrame(self.changes, columns=[column.name for column in fields(ImportChange)])

    def __str__(self) -> str:
        read = ", ".join(f"{imported:,} of {counted(total, noun)}" for noun, (total, imported) in self.sizes.items())
        return "\n".join([f"{self.source}: {read} imported", *(f"- {change}" for change in self.changes)])

    __repr__ = __str__


def first_names(names: Iterable[Any], *, limit: int = 5) -> str:
    """Return the first names, separated by commas.

    Examples
    --------
    >>> first_names(range(100))
    '0, 1, 2, 3, 4, …'
    """
    listed = [str(name) for name in names]
    return ", ".join([*listed[:limit], *(["…"] if len(listed) > limit else [])])


class ImportLog:
    """What an importer has changed so far.

    Parameters
    ----------
    source : str
        Name of the file or table.
    """

    def __init__(self, source: str) -> None:
        self.source = source
        self.changes: list[ImportChange] = []

    def add(self, action: str, what: str, names: Iterable[Any], reason: str, *, count: int | None = None) -> None:
        """Note a change, of as many things as there are names unless a count is given."""
        names = list(names)
        self.changes.append(ImportChange(action, what, first_names(names), count or len(names), reason))

    def finish(
        self,
        assembly: Imported,
        sizes: Mapping[str, tuple[int, int]],
        *,
        stimulus_set: pd.DataFrame | None,
        identifier: str | None,
        notable: Container[tuple[str, str]],
    ) -> Imported:
        """Attach identifier, stimulus set and report; warn about changes whose action and kind are `notable`."""
        identifier = identifier or getattr(stimulus_set, "identifier", None)
        if identifier is not None:
            assembly.name = identifier
            assembly.attrs["identifier"] = identifier
        if stimulus_set is not None:
            assembly.attrs["stimulus_set"] = stimulus_set
            assembly.attrs["stimulus_set_identifier"] = getattr(stimulus_set, "identifier", None) or identifier
        assembly.attrs[IMPORT_REPORT] = ImportReport(self.source, sizes, tuple(self.changes))
        if unusual := [str(change) for change in self.changes if (change.action, change.what) in notable]:
            warnings.warn(f"{self.source}: {'; '.join(unusual)}", ValidationWarning, stacklevel=3)
        return assembly


def require_columns(names: Iterable[str], columns: Iterable[Any], table: str) -> None:
    """Raise an error that names the nearest columns unless all exist."""
    columns = [str(column) for column in columns]
    for name in names:
        if name not in columns:
            near = nearest(str(name), columns)
            raise UserError(
                f"{table} has no column {name!r}",
                remedy=(f"did you mean {' or '.join(map(repr, near))}? " if near else "")
                + f"The columns are {', '.join(columns)}.",
            )


IDENTIFIER_MARKS = ("", "n/a", "N/A", "#N/A")
"""Texts that mark a missing identifier of a stimulus or participant; all others are names."""

MISSING_MARKS = (
    *IDENTIFIER_MARKS, "NA", "<NA>", "#NA", "#N/A N/A", "NaN", "nan", "-NaN", "-nan", "1.#IND", "-1.#IND", "1.#QNAN",
    "-1.#QNAN", "None", "null", "NULL", "-", "--", ".",
)  # fmt: skip
"""Texts that mark a missing value in all other columns. Case matters; spaces around them do not."""

_LABELS = ("None", "null", "NULL", "-", "--", ".")  # marks that may be labels

Missing: TypeAlias = Sequence[Any] | Mapping[str, Sequence[Any]] | None
"""Further marks for all columns; or column → its only marks besides empty cells; or None."""

UNNAMED = "Unnamed: "
"""How the names of columns without a name begin, as in pandas."""

# before version 3, pandas read floats inexactly by default
_EXACT_FLOATS: dict[str, Any] = {} if int(pd.__version__.partition(".")[0]) >= 3 else {"float_precision": "round_trip"}

_SEPARATORS = {",": "commas", ";": "semicolons", "\t": "tabs", "|": "vertical bars"}  # the first one wins ties
_STATED = re.compile(r"sep=(.)\r?\n")  # a line that Excel writes and reads
_BYTE_ORDER_MARKS = {
    codecs.BOM_UTF8: "utf-8-sig",
    codecs.BOM_UTF16_LE: "utf-16",
    codecs.BOM_UTF16_BE: "utf-16",
}
_SNIFFED_BYTES = 1 << 16
_SNIFFED_ROWS = 20
_COMPRESSED = {".gz", ".bz2", ".zip", ".xz", ".zst", ".tar"}

_NUMBER = re.compile(r"[+-]?((\d+\.?\d*|\.\d+)([eE][+-]?\d+)?|(?i:inf|infinity))")
_WHOLE = re.compile(r"[+-]?\d+")
_LEADING_ZERO = re.compile(r"[+-]?0\d")
_DECIMAL_COMMA = re.compile(r"[+-]?(\d+|\d*,\d+)([eE][+-]?\d+)?")
_THOUSANDS = re.compile(r"[+-]?[1-9]\d{0,2}(,\d{3})+")
_TRUTH = {"true": True, "false": False}
_IDENTIFIERS = re.compile(r"(?i)(.*[ _.-])?ids?|subject|participant|observer|animal|session|run|block|condition")
_EXACT = 2**53  # from here on, floats do not hold all whole numbers
_LARGEST = 2**63


def table_format(path: Path) -> dict[str, Any]:
    """Separator, encoding and first line of a table, as arguments of :func:`pandas.read_csv`; see :func:`read_csv`."""
    if path.suffix.lower() in _COMPRESSED:
        return {}
    with path.open("rb") as stream:
        start = stream.read(_SNIFFED_BYTES)
    encoding = next((name for mark, name in _BYTE_ORDER_MARKS.items() if start.startswith(mark)), "utf-8")
    text = codecs.getincrementaldecoder(encoding)().decode(start)
    if "\0" in text:  # pandas would read the whole file into memory
        raise ValueError("it contains NUL bytes, so it is not text in UTF-8; save it as CSV in UTF-8")
    if stated := _STATED.match(text):
        return {"sep": stated[1], "encoding": encoding, "skiprows": 1}
    separators = list(_SEPARATORS)
    if path.suffix.lower() in (".tsv", ".txt"):
        separators.sort(key=lambda each: each != "\t")
    complete = text if len(start) < _SNIFFED_BYTES else text[: text.rfind("\n") + 1] or text
    rows = {each: _first_rows(complete, each) for each in separators}

    def fit(separator: str) -> tuple[bool, int]:
        header, *data_rows = rows[separator] or [[]]
        return len(header) > 1 and all(len(row) == len(header) for row in data_rows), len(header)

    separator = max(separators, key=fit)
    header = rows[separator][0] if rows[separator] else []
    if len(header) == 1 and any(each in header[0] for each in _SEPARATORS):
        raise ValueError(f"its only column is named {header[0]!r}; remove the quotes around whole lines")
    return {"sep": separator, "encoding": encoding}


def _first_rows(text: str, separator: str) -> list[list[str]]:
    try:
        reader = csv.reader(io.StringIO(text, newline=""), delimiter=separator, skipinitialspace=True)
        return [row for row in islice(reader, _SNIFFED_ROWS) if row]
    except csv.Error:  # such as a cell that is longer than the module allows
        return []


def read_csv(path: Path, **options: Any) -> pd.DataFrame:
    r"""Read a table of any separator (commas, semicolons, tabs, vertical bars), in UTF-8 or UTF-16.

    `path`: the file. `**options`: for :func:`pandas.read_csv`. Raises `OSError` if the file cannot be read. Raises
    `ValueError` if it is not a table in UTF-8, or in UTF-16 with a byte-order mark, or rows have more fields than the
    header.

    Examples
    --------
    >>> import tempfile
    >>> path = Path(tempfile.mkdtemp()) / "stimuli.csv"
    >>> _ = path.write_text("stimulus_id;level\n001;2\n", encoding="utf-16")
    >>> read_csv(path, dtype=str).columns.tolist()
    ['stimulus_id', 'level']
    """
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("error", pd.errors.ParserWarning)
            return pd.read_csv(path, **table_format(path), **_EXACT_FLOATS, index_col=False, **options)
    except pd.errors.ParserWarning as error:
        raise ValueError(
            "rows have more fields than the header: put texts that contain separators in quotes, and remove lines "
            "above the names of the columns"
        ) from error


def read_texts(path: Path) -> tuple[pd.DataFrame, list[ImportChange]]:
    """Read a table with all cells as they are written, without spaces before them.

    Returns a table of text, with NaN where a row has fewer fields than the header, and what was unusual. Raises
    UserError if the file cannot be read, is empty, or its columns and rows do not fit.
    """
    try:
        separator = table_format(path).get("sep", ",")
        header = read_csv(path, nrows=1, header=None, dtype=str, keep_default_na=False)
        names = [str(name).strip() for name in header.iloc[0]]
        if repeated := {name for name in names if name and names.count(name) > 1}:
            raise UserError(
                f"several columns of {path} have the name {format_values(sorted(repeated))}", remedy="rename them"
            )
        names = [name or f"{UNNAMED}{number}" for number, name in enumerate(names)]
        table = read_csv(path, header=0, names=names, dtype=object, keep_default_na=False, skipinitialspace=True)
    except pd.errors.EmptyDataError as error:
        raise UserError(f"{path} is empty", remedy="pass a file with one row per stimulus or trial") from error
    except UnicodeDecodeError as error:
        raise UserError(f"{path} is not in UTF-8: {error}", remedy="save it as CSV in UTF-8") from error
    except (OSError, ValueError) as error:
        raise UserError(f"cannot read {path}: {str(error).strip()}", remedy="check the path and the file") from error
    changes = []
    if len(table) > 1 and table.iloc[1].astype(str).str.startswith('{"ImportId"').all():
        table = table.iloc[2:].reset_index(drop=True)
        changes.append(
            ImportChange("dropped", "row", "1, 2", 2, "they describe the columns, as Qualtrics exports them")
        )
    usual = "\t" if path.suffix.lower() == ".tsv" else ","
    if separator != usual and not (path.suffix.lower() == ".txt" and separator == "\t"):
        reason = f"its columns are separated by {_SEPARATORS.get(separator, repr(separator))}"
        changes.append(ImportChange("noticed", "file", path.name, 1, reason))
    return table, changes


class Marked(NamedTuple):
    """A table without marks of missing values."""

    table: pd.DataFrame
    columns: list[str]
    """Columns in which marks were replaced."""
    changes: list[ImportChange]
    """For each column, how often each mark occurs; and identifiers that look like marks."""


def mark_missing(table: pd.DataFrame, missing: Missing = None, identifiers: Iterable[str] = ()) -> Marked:
    """Replace marks of missing values by NaN.

    Texts are compared; with further marks, numbers as well. `missing` has further marks for all columns, or column →
    its only marks besides empty cells. Otherwise columns have :data:`MISSING_MARKS`, or :data:`IDENTIFIER_MARKS` if
    they are `identifiers`. Columns with marks get the type ``object``. Raises UserError if `missing` names a column
    that does not exist.

    Examples
    --------
    >>> marked = mark_missing(pd.DataFrame({"rt": ["0.4", "n/a", "-"], "mask": ["none", "", "grid"]}))
    >>> for change in marked.changes:
    ...     print(change)
    converted 2 values (rt: 1 × 'n/a', 1 × '-'): missing
    converted 1 value (mask: 1 × empty): missing
    """
    by_column = missing if isinstance(missing, Mapping) else {}
    further = [] if missing is None or isinstance(missing, Mapping) else _marks(missing)
    if unknown := [name for name in by_column if name not in table.columns]:
        raise UserError(
            f"the argument missing names the column {unknown[0]!r}, which does not exist",
            remedy=f"the columns are {', '.join(map(str, table.columns))}",
        )
    identifiers, changes, columns = set(identifiers), [], {}
    for name in table.columns:
        texts = _texts(table[name], with_numbers=bool(further) or name in by_column)
        if texts is None:
            continue
        usual = IDENTIFIER_MARKS if name in identifiers else MISSING_MARKS
        marks = ["", *_marks(by_column[name])] if name in by_column else [*usual, *further]
        hits = texts.isin(marks).to_numpy()
        present = set(texts[hits])
        if present:
            counts = f"{name}: {_counts(texts[hits])}"
            changes.append(ImportChange("converted", "value", counts, int(hits.sum()), "missing"))
            columns[name] = table[name].astype(object).mask(hits, np.nan)
        if name in by_column:
            continue
        doubtful = present.intersection(_LABELS)
        if doubtful and not all(map(_NUMBER.fullmatch, texts[~hits].dropna().unique())):
            remedy = f"missing={{{name!r}: {sorted(present - doubtful - {''})}}}"
            reason = f"{format_values(sorted(doubtful))} counts as missing; pass {remedy} if it is a label"
            changes.append(ImportChange("noticed", "column", name, 1, reason))
        odd = texts[texts.isin(MISSING_MARKS).to_numpy() & ~hits] if name in identifiers else texts[:0]
        if len(odd):
            remedy = f"missing={{{name!r}: {sorted({*present, *odd} - {''})}}}"
            reason = f"names; pass {remedy} if they mark missing values"
            changes.append(ImportChange("noticed", "identifier", f"{name}: {_counts(odd)}", len(odd), reason))
    return Marked(table.assign(**columns) if columns else table, list(columns), changes)


def _marks(marks: Any) -> list[str]:
    return [_plain_text(mark).strip() for mark in ([marks] if isinstance(marks, str) else marks)]


def _texts(column: pd.Series, *, with_numbers: bool) -> pd.Series | None:
    """Texts of a column without spaces around, NaN for other cells; None if it has no texts."""
    numeric = pd.api.types.is_numeric_dtype(column.dtype)
    if numeric and not with_numbers:
        return None
    column = column.astype(object)
    if with_numbers:
        texts = column.map(lambda cell: _plain_text(cell).strip() if np.isscalar(cell) else None, na_action="ignore")
    elif pd.api.types.infer_dtype(column, skipna=True) == "string":
        texts = column.str.strip()
    else:
        texts = column.map(lambda cell: cell.strip() if isinstance(cell, str) else None)
    return texts if texts.notna().any() else None


def _counts(texts: pd.Series) -> str:
    counts = texts.value_counts(sort=False).items()
    return ", ".join(f"{count} × {repr(str(text)) if text else 'empty'}" for text, count in counts)


def convert_texts(
    table: pd.DataFrame, columns: Iterable[str], *, counters: Iterable[str] = ()
) -> tuple[pd.DataFrame, list[ImportChange]]:
    """Convert columns to numbers or truth values where nothing is lost by it.

    These stay text: numbers with leading zeros (``007``); whole numbers from 2⁵³ on in columns with gaps; and
    identifiers by the name of their column, such as ``participant_id`` or ``session``, that numbers would write in
    another way (``1e5``, ``1.10``, and whole numbers in columns with gaps, which would be ``12.0``). Texts, and objects
    as :func:`mark_missing` leaves them, are converted in `columns`. Leading zeros have no meaning in `counters`, such
    as the number of a trial. Returned changes are decimal commas, and columns of numbers that stay text.

    Examples
    --------
    >>> texts = pd.DataFrame({"rt": ["0.4", None, "3"], "level": ["01", "1", "02"]})
    >>> table, changes = convert_texts(texts, texts.columns)
    >>> table["rt"].tolist(), table["level"].tolist(), str(changes[0])
    ([0.4, nan, 3.0], ['01', '1', '02'], "converted 1 column (level): text, since numbers would not keep '01'")
    """
    counters, changes, converted = set(counters), [], {}
    for name in columns:
        column, kind = table[name], pd.api.types.infer_dtype(table[name], skipna=True)
        exact = _IDENTIFIERS.fullmatch(name) is not None
        if kind in ("integer", "floating", "mixed-integer-float", "boolean") and (exact or column.dtype == object):
            present = column.dropna()
            whole = len(present) < len(column) and all(map(_WHOLE.fullmatch, map(_plain_text, present)))
            large = whole and any(isinstance(cell, int) and abs(cell) >= _EXACT for cell in present)
            converted[name] = identifier_texts(column, name) if large or (exact and whole) else column.infer_objects()
            if exact and whole:
                changes.append(ImportChange("converted", "column", name, 1, "text, since it has identifiers and gaps"))
        if kind != "string":
            continue
        codes, uniques = pd.factorize(column.to_numpy(dtype=object))
        values = [value.strip() for value in uniques]
        if not exact and all(map(_DECIMAL_COMMA.fullmatch, values)) and any("," in value for value in values):
            if all(map(_THOUSANDS.fullmatch, (value for value in values if "," in value))):
                reason = "its commas separate thousands or decimals, so all are text; write numbers without commas"
                changes.append(ImportChange("noticed", "column", name, 1, reason))
                continue
            values = [value.replace(",", ".") for value in values]
            changes.append(ImportChange("converted", "column", name, 1, "decimal commas are points"))
        numbers, lost = _parsed(values, gaps=codes.min() < 0, exact=exact, counts=name in counters)
        if lost is not None:
            reason = f"text, since numbers would not keep {lost!r}"
            changes.append(ImportChange("converted", "column", name, 1, reason))
        elif numbers is not None:
            parsed = pd.Series(numbers.take(codes), index=column.index)
            converted[name] = parsed.mask(codes < 0, np.nan) if codes.min() < 0 else parsed
    return table.assign(**converted) if converted else table, changes


def _parsed(values: Sequence[str], *, gaps: bool, exact: bool, counts: bool) -> tuple[NDArray[Any] | None, str | None]:
    """Numbers or truth values that are written as texts; and the first text that they would not keep."""
    parsed: list[Any]
    if all(value.lower() in _TRUTH for value in values):
        parsed = [_TRUTH[value.lower()] for value in values]
        lost = [value for value, truth in zip(values, parsed, strict=True) if exact and str(truth) != value]
        return np.array(parsed, dtype=object if gaps else bool), lost[0] if lost else None
    if not all(map(_NUMBER.fullmatch, values)):
        return None, None
    whole = all(map(_WHOLE.fullmatch, values))
    parsed = [float(value) for value in values]
    if whole and not gaps and all(abs(number) < _LARGEST for number in parsed):
        parsed = [int(value) for value in values]
    for value, number in zip(values, parsed, strict=True):
        overflow = math.isinf(number) and "n" not in value.lower()
        rounded = overflow or (whole and isinstance(number, float) and abs(number) >= _EXACT)
        rewritten = _LEADING_ZERO.match(value) or (exact and str(number) != value)
        if rounded or (rewritten and not counts):
            return None, value
    return np.array(parsed), None


def identifier_texts(column: pd.Series, name: str) -> pd.Series:
    """A column of identifiers as text, with NaN for missing ones.

    Raises UserError if it has numbers that lost digits before.

    Examples
    --------
    >>> identifier_texts(pd.Series([1.0, None, 12.0]), "participant").tolist()
    ['1', nan, '12']
    """
    column = column.astype(object)
    if pd.api.types.infer_dtype(column, skipna=True) == "string":
        return column
    try:
        return column.map(identifier_text, na_action="ignore").astype(object)
    except UserError as error:
        message = f"the column {name!r} has identifiers that lost digits: {error.message}"
        raise UserError(message, remedy=error.remedy) from error


def identifier_text(value: Any) -> str:
    """An identifier as text: 3 and 3.0 are ``'3'``.

    Raises UserError if it is a number that may have lost digits.

    Examples
    --------
    >>> identifier_text(3.0), identifier_text("003"), identifier_text(b"face"), identifier_text(2**53 + 1)
    ('3', '003', 'face', '9007199254740993')
    """
    if isinstance(value, float | np.floating) and abs(float(value)) >= 2.0 ** (np.finfo(type(value)).nmant + 1):
        raise UserError(
            f"{value!r} is a rounded number, so different identifiers may be the same now",
            remedy="read the column as text: pd.read_csv(…, dtype={column: str})",
        )
    return _plain_text(value)


def _plain_text(value: Any) -> str:
    if isinstance(value, bytes):
        return value.decode("utf-8")
    whole = isinstance(value, float | np.floating) and np.isfinite(value) and float(value).is_integer()
    return str(int(value)) if whole else str(value)
