"""Import behavioural trials from a table with one row per trial."""

import warnings
from collections.abc import Hashable, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from brainscore_core.errors import UserError, nearest
from brainscore_core.plurals import counted
from brainscore_core.supported_data_standards.brainio.assemblies import BehavioralAssembly
from brainscore_core.supported_data_standards.brainio.assembly_checks import check_alignment
from brainscore_core.supported_data_standards.brainio.findings import (
    ValidationWarning,
    format_values,
    raise_for_errors,
)
from brainscore_core.supported_data_standards.brainio.tables import (
    IMPORT_REPORT,
    UNNAMED,
    ImportChange,
    ImportReport,
    Missing,
    convert_texts,
    first_names,
    identifier_texts,
    mark_missing,
    read_texts,
)

_NOTICED = {("noticed", "column"), ("noticed", "identifier")}
_IMAGES = ("image_1", "image_2", "image_3")
_CONTAINERS = (list, tuple, dict, set, np.ndarray)
_SUFFIXES = (".csv", ".tsv", ".txt")


def from_trials(
    trials: str | Path | pd.DataFrame,
    *,
    stimulus_id: str = "stimulus_id",
    response: str | Sequence[str] = "response",
    truth: str | None = None,
    distractor: str | None = None,
    triplet: Sequence[str] | None = None,
    subject: str | None = None,
    trial: str | None = None,
    rename: Mapping[str, str] | None = None,
    drop: Sequence[str] = (),
    missing: Missing = None,
    stimulus_set: pd.DataFrame | None = None,
    identifier: str | None = None,
) -> BehavioralAssembly:
    r"""Make a behavioural assembly from a table with one row per trial.

    The columns that have a meaning are named once. All others become coordinates of ``presentation``.

    Parameters
    ----------
    trials : path or DataFrame
        A CSV file (``.csv``, ``.tsv``, ``.txt``) in UTF-8, or in UTF-16 with a byte-order mark; or a table. Commas,
        semicolons, tabs or vertical bars as separators, and commas in decimal numbers, as spreadsheets write them in
        many languages, are recognised and reported. Spaces after a separator are ignored. Columns of numbers become
        numbers, except those that would lose something, such as leading zeros.
    stimulus_id : str, default 'stimulus_id'
        Column with the stimulus that was shown. Ids become text, as they are written.
    response : str or sequence of str, default 'response'
        Column with the answer: a label, a number, or whether it was correct. Its values are those of the assembly.
        Several columns, such as one probability per label, give presentation × choice.
    truth : str, optional
        Column with the correct label; becomes ``truth``.
    distractor : str, optional
        For choices between two objects: the column with the other object, which becomes ``dist_obj``. `truth` is then
        required, and also becomes ``sample_obj``. Responses must be one of the two.
    triplet : sequence of str, optional
        For odd-one-out choices: the three columns with the stimuli that were shown together. They become ``image_1``,
        ``image_2`` and ``image_3``, of which the last is the chosen one, as are values and ``stimulus_id``.
        `response` has the id of the chosen stimulus, or the name of its column. `stimulus_id` is not used.
    subject : str, optional
        Column with the participant; becomes ``subject``, as text.
    trial : str, optional
        Column with the number of the trial, unique for each subject; becomes ``trial``. Repeated showings of a
        stimulus to a subject are then numbered: ``repetition``.
    rename : mapping, optional
        Further columns to rename: old → new name.
    drop : sequence of str, optional
        Columns to leave out.
    missing : sequence or mapping, optional
        Marks of missing values besides the usual ones (``n/a``, ``NA``, ``NaN``, ``None``, ``-`` and others:
        ``brainio.importers.MISSING_MARKS``; for ids of stimuli and participants only empty cells, ``n/a``, ``N/A`` and
        ``#N/A``). Or column → its only marks besides empty cells, such as ``{"response": ()}`` if ``None`` is an
        answer. The report counts what was missing.
    stimulus_set : StimulusSet, optional
        The stimuli; an id that it lacks is an error. It is attached to the assembly.
    identifier : str, optional
        Name of the assembly; by default the identifier of the stimulus set, if given.

    Returns
    -------
    BehavioralAssembly
        Dimensions ``presentation``, in the order of the rows, or ``presentation`` × ``choice``.
        ``attrs['import_report']`` is an :class:`ImportReport`.

    Raises
    ------
    UserError
        If the table cannot be read or is empty, a column does not exist or has values of several types, ids are rounded
        numbers, trials are not unique, or a response is not one of the options.
    ValidationError
        If stimuli are not in `stimulus_set`.

    Warns
    -----
    ValidationWarning
        If rows are dropped, or something is unusual.

    Examples
    --------
    >>> trials = pd.DataFrame({
    ...     "image": [1, 2, 1, 2],
    ...     "key": ["cat", "dog", "dog", "dog"],
    ...     "category": ["cat", "dog", "cat", "dog"],
    ...     "participant": ["p1", "p1", "p2", "p2"],
    ...     "rt": [0.41, 0.52, 0.88, 0.45],
    ... })
    >>> choices = from_trials(trials, stimulus_id="image", response="key", truth="category", subject="participant")
    >>> choices.values.tolist(), choices["truth"].values.tolist()
    (['cat', 'dog', 'dog', 'dog'], ['cat', 'dog', 'cat', 'dog'])
    >>> choices.attrs["import_report"]
    table: 4 of 4 rows imported
    - renamed 1 column (image): stimulus_id
    - renamed 1 column (category): truth
    - renamed 1 column (participant): subject
    - renamed 1 column (key): the values of the assembly
    - converted 1 column (stimulus_id): ids are text
    """
    return _Import(trials, response).run(
        stimulus_id=stimulus_id,
        roles={"truth": truth, "subject": subject, "trial": trial, "dist_obj": distractor},
        triplet=triplet,
        rename=rename or {},
        drop=drop,
        missing=missing,
        stimulus_set=stimulus_set,
        identifier=identifier,
    )


class _Import:
    """A table on its way to an assembly, and the changes so far."""

    def __init__(self, trials: str | Path | pd.DataFrame, response: str | Sequence[str]) -> None:
        self.source = "table" if isinstance(trials, pd.DataFrame) else Path(trials).name
        self.responses = [response] if isinstance(response, str) else list(response)
        self.has_choices = not isinstance(response, str)
        self.changes: list[ImportChange] = []
        self.is_file = not isinstance(trials, pd.DataFrame)
        self.table = self._read(trials)
        self.rows_read = len(self.table)
        if not self.responses:
            raise UserError("the argument response does not name a column", remedy="pass the column with the answers")

    def run(
        self,
        *,
        stimulus_id: str,
        roles: Mapping[str, str | None],
        triplet: Sequence[str] | None,
        rename: Mapping[str, str],
        drop: Sequence[str],
        missing: Missing,
        stimulus_set: pd.DataFrame | None,
        identifier: str | None,
    ) -> BehavioralAssembly:
        if triplet is not None and len(triplet) != 3:
            raise UserError(f"triplet names {len(triplet)} columns", remedy="name the three columns with the stimuli")
        if roles["dist_obj"] is not None and roles["truth"] is None:
            raise UserError("distractor is given without truth", remedy="also name the column with the correct object")
        ids = {stimulus_id: "stimulus_id"} if triplet is None else dict(zip(triplet, _IMAGES, strict=True))
        names = {**ids, **{column: role for role, column in roles.items() if column is not None}, **rename}
        self._require(*names, *self.responses, *drop)
        self._drop_columns(dict.fromkeys(drop, "as requested"))
        # the answer to a triplet is an id, too
        identifiers = [*ids, *([] if triplet is None else self.responses)]
        identifiers += [] if roles["subject"] is None else [roles["subject"]]
        marked = mark_missing(self.table, missing, identifiers)
        self.table = marked.table
        self.changes += marked.changes
        self._drop_columns(self._useless([*names, *self.responses]))
        renamed = self._rename(names)
        labels = [*self.responses, *(roles[role] for role in ("truth", "dist_obj") if roles[role] is not None)]
        converted = {*marked.columns, *(labels if set(labels) & set(marked.columns) else [])}  # labels stay alike
        texts = [renamed[name] for name in renamed if self.is_file or name in converted]
        identifiers = [renamed[name] for name in identifiers]
        self._drop_rows(list(ids.values()), "the stimulus is missing")
        self._drop_rows(self.responses, "the response is missing")
        self._convert(texts, identifiers)
        for role in ("truth", "subject", "trial", "dist_obj"):
            if roles[role] is not None:
                self._require_complete(role, roles[role])
        if self.table.empty:
            raise UserError(
                f"no trial of {self.source} has both a stimulus and a response",
                remedy="; ".join(["check the names of the columns, and what is missing", *map(str, marked.changes)]),
            )
        if roles["trial"] is None:
            self._notice_equal_rows()
        if triplet is not None:
            self._order_triplets(triplet)
        if roles["dist_obj"] is not None:
            self._add_objects()
        if roles["trial"] is not None:
            self._number_repetitions()
        identifier = identifier or getattr(stimulus_set, "identifier", None)
        if stimulus_set is not None:
            self._require_known(stimulus_set)
        assembly = self._assembly()
        if identifier is not None:
            assembly.name = identifier
            assembly.attrs["identifier"] = identifier
        if stimulus_set is not None:
            assembly.attrs["stimulus_set"] = stimulus_set
            assembly.attrs["stimulus_set_identifier"] = getattr(stimulus_set, "identifier", None) or identifier
        report = ImportReport(self.source, {"row": (self.rows_read, len(self.table))}, tuple(self.changes))
        assembly.attrs[IMPORT_REPORT] = report
        notable = [each for each in report.changes if each.what == "row" or (each.action, each.what) in _NOTICED]
        if notable:
            warnings.warn(f"{self.source}: {'; '.join(map(str, notable))}", ValidationWarning, stacklevel=3)
        return assembly

    def _read(self, trials: str | Path | pd.DataFrame) -> pd.DataFrame:
        """Return the table with names of columns as text and rows numbered from 1, as in a file without its header."""
        if isinstance(trials, pd.DataFrame):
            table = pd.DataFrame(trials.copy())
        elif Path(trials).suffix.lower() in _SUFFIXES:
            table, changes = read_texts(Path(trials))
            self.changes += changes
        else:
            raise UserError(f"{Path(trials).name} is not a CSV file", remedy="pass a .csv or .tsv file, or a DataFrame")
        table.columns = table.columns.map(str)
        if not table.columns.is_unique:
            repeated = table.columns[table.columns.duplicated()].unique()
            raise UserError(f"several columns have the name {format_values(repeated)}", remedy="rename or remove them")
        if table.empty:
            raise UserError("the table of trials has no rows", remedy="pass a table with one row per trial")
        table.index = pd.RangeIndex(1, len(table) + 1)
        return table

    def _note(self, action: str, kind: str, names: Sequence[Any], reason: str) -> None:
        self.changes.append(ImportChange(action, kind, first_names(names), len(names), reason))

    def _require(self, *names: str) -> None:
        """Raise an error that names the nearest columns unless all exist."""
        columns = [str(column) for column in self.table.columns]
        for name in names:
            if name in columns:
                continue
            near = nearest(str(name), columns)
            raise UserError(
                f"{self.source} has no column {name!r}",
                remedy=(f"did you mean {' or '.join(map(repr, near))}? " if near else "")
                + f"The columns are {', '.join(columns)}.",
            )

    def _drop_columns(self, reasons: Mapping[str, str]) -> None:
        for reason in dict.fromkeys(reasons.values()):
            names = [name for name in reasons if reasons[name] == reason]
            self.table = self.table.drop(columns=names)
            self._note("dropped", "column", names, reason)

    def _useless(self, needed: Sequence[str]) -> dict[str, str]:
        """Columns that cannot or need not become coordinates, each with the reason."""
        reasons = {}
        for name in self.table.columns:
            column = self.table[name]
            if name in needed:
                continue
            if name.startswith(UNNAMED) or not name.strip():
                reasons[name] = "it has no name; DataFrame.to_csv writes such row numbers unless index=False"
            elif column.isna().all():
                reasons[name] = "all of its values are missing"
            elif _is_mixed(column) and column.map(lambda cell: isinstance(cell, _CONTAINERS)).any():
                reasons[name] = "its values are not single numbers or texts"
        return reasons

    def _rename(self, names: Mapping[str, str]) -> dict[str, str]:
        """Rename the columns, and return the new name of each."""
        new = {name: names.get(name, _usable(name)) for name in self.table.columns if name not in self.responses}
        sources: dict[str, str] = {}
        for name, target in new.items():
            if target in sources or target in ("presentation", "data", *(["choice"] if self.has_choices else [])):
                culprit = (
                    f"{sources[target]!r} and {name!r} would both be the coordinate {target!r}"
                    if target in sources
                    else f"{name!r} would be the coordinate {target!r}, a name that assemblies use themselves"
                )
                raise UserError(culprit, remedy=f"leave one out with drop, or rename it: rename={{{name!r}: '…'}}")
            sources[target] = name
        shared = [name for name in self.responses if name in names]
        if shared:
            raise UserError(f"the column {shared[0]!r} is named twice, as response and as {names[shared[0]]}",
                            remedy="name each column once")  # fmt: skip
        for name, target in new.items():
            if target != name:
                self._note("renamed", "column", [name], target)
        self._note("renamed", "column", self.responses, "the values of the assembly")
        self.table = self.table.rename(columns=new)
        if sources.keys() & set(self.responses):
            raise UserError(
                f"the name of the response, {self.responses[0]!r}, is also that of a coordinate",
                remedy="rename the column in the table",
            )
        return {**new, **dict(zip(self.responses, self.responses, strict=True))}

    def _require_one_type(self, names: Sequence[str], *, identifiers: bool = False) -> None:
        for name in names:
            column = self.table[name]
            if column.dtype != object:
                continue
            kinds: dict[str, Any] = {}
            for cell in column[column.notna()] if _is_mixed(column) else column[column.notna()][:1]:
                kinds.setdefault(_kind(cell), cell)
            if len(kinds) > 1:
                examples = " and ".join(f"{kind} ({cell!r})" for kind, cell in kinds.items())
                raise UserError(
                    f"the column {name!r} has values of several types: {examples}",
                    remedy=f"convert it, e.g. table[{name!r}].astype(str), or leave it out with drop=[{name!r}]",
                )
            for cell in kinds.values():
                if isinstance(cell, _CONTAINERS):
                    raise UserError(
                        f"the values of the column {name!r} are not single numbers or texts, such as {cell!r}",
                        remedy=f"convert it, e.g. table[{name!r}].str[0], or leave it out with drop=[{name!r}]",
                    )
            if "text" not in kinds:
                continue
            counts = column.value_counts(sort=False)
            texts = pd.Series(counts.index.astype(str))
            numbers = pd.to_numeric(texts, errors="coerce").notna()
            if not identifiers and not numbers.all() and counts[numbers.to_numpy()].sum() > len(column) / 2:
                reason = f"most of its values are numbers, but not {format_values(texts[~numbers])}, so all are text"
                self._note("noticed", "column", [name], reason)
            padded = texts[(texts != texts.str.strip()) & texts.str.strip().isin(texts)]
            if len(padded):
                reason = f"{format_values(padded)} and the same without spaces around are different values"
                self._note("noticed", "column", [name], reason)

    def _drop_rows(self, columns: Sequence[str], reason: str) -> None:
        missing = self.table[list(columns)].isna().any(axis=1).to_numpy()
        if missing.any():
            self._note("dropped", "row", list(self.table.index[missing]), reason)
            self.table = self.table[~missing]

    def _require_complete(self, role: str, column: str | None) -> None:
        missing = self.table[role].isna()
        if missing.any():
            raise UserError(
                f"the column {column!r} is empty in {counted(int(missing.sum()), 'row')}: "
                f"{first_names(self.table.index[missing])}",
                remedy=f"complete or remove these rows; missing={{{column!r}: ()}} if n/a is a name",
            )

    def _convert(self, texts: Sequence[str], identifiers: Sequence[str]) -> None:
        """Give columns the types of NumPy: identifiers are text, and other `texts` are what they are written as."""
        for name in identifiers:
            column = self.table[name]
            self._require_one_type([name], identifiers=True)
            self.table[name] = identifier_texts(column, name)
            if pd.api.types.infer_dtype(column, skipna=True) not in ("string", "empty"):
                self._note("converted", "column", [name], "ids are text")
        further = [name for name in self.table.columns if name not in identifiers]
        for name in further:
            if isinstance(self.table[name].dtype, pd.api.extensions.ExtensionDtype):
                self.table[name] = _plain(self.table[name], name)
        with_gaps = [name for name in further if self.table[name].dtype.kind == "f" and self.table[name].isna().any()]
        columns = [name for name in further if name in texts or name in with_gaps]
        counters = ["trial"] if "trial" in self.table.columns else []
        self.table, changes = convert_texts(self.table, columns, counters=counters)
        self.changes += changes
        self._require_one_type(further)

    def _order_triplets(self, triplet: Sequence[str]) -> None:
        """Put the chosen image last, and name it as response and stimulus."""
        shown = self.table[list(_IMAGES)].to_numpy(dtype=object)
        answers = self.table[self.responses[0]].astype(str).to_numpy(dtype=object)
        if len(self.responses) > 1:
            raise UserError("triplet is given with several responses", remedy="name one column")
        chosen = (shown == answers[:, None]) | (np.array(list(triplet), dtype=object) == answers[:, None])
        twice = (shown[:, 0] == shown[:, 1]) | (shown[:, 0] == shown[:, 2]) | (shown[:, 1] == shown[:, 2])
        for wrong, problem in ((twice, "show a stimulus twice"), (chosen.sum(axis=1) != 1, "choose none of the three")):
            if wrong.any():
                first = int(np.flatnonzero(wrong)[0])
                raise UserError(
                    f"{counted(int(wrong.sum()), 'row')} of {self.source} {problem}: row "
                    f"{self.table.index[first]} has {format_values(shown[first])} and the response {answers[first]!r}",
                    remedy="the response is the id of the odd stimulus, or the name of its column",
                )
        odd = chosen.argmax(axis=1)
        shown_pair = np.array([[1, 2], [0, 2], [0, 1]])[odd]
        rows = np.arange(len(shown))
        ordered = np.column_stack([shown[rows, shown_pair[:, 0]], shown[rows, shown_pair[:, 1]], shown[rows, odd]])
        for column, name in enumerate(_IMAGES):
            self.table[name] = ordered[:, column]
        self.table[self.responses[0]] = ordered[:, 2]
        if "stimulus_id" in self.table.columns:
            raise UserError("the table has a column 'stimulus_id'", remedy="leave it out: drop=['stimulus_id']")
        self.table["stimulus_id"] = ordered[:, 2]
        self._note("added", "column", ["stimulus_id"], "the chosen stimulus, which is image_3 now")

    def _add_objects(self) -> None:
        if "sample_obj" in self.table.columns:
            raise UserError(
                "the table has a column 'sample_obj', which truth becomes", remedy="leave it out: drop=['sample_obj']"
            )
        self.table["sample_obj"] = self.table["truth"]
        self._note("added", "column", ["sample_obj"], "a copy of truth, as metrics of choices between two objects need")
        answers = self.table[self.responses[0]]
        wrong = (answers != self.table["truth"]) & (answers != self.table["dist_obj"])
        if wrong.any():
            row = self.table[wrong].iloc[0]
            raise UserError(
                f"{counted(int(wrong.sum()), 'response')} of {self.source} are neither the correct object nor the "
                f"distractor: row {wrong.idxmax()} has {row[self.responses[0]]!r}, not {row['truth']!r} or "
                f"{row['dist_obj']!r}",
                remedy="use the same names of objects in the three columns",
            )
        same = self.table["truth"] == self.table["dist_obj"]
        if same.any():
            raise UserError(
                f"in {counted(int(same.sum()), 'row')} of {self.source} the distractor is the correct object: "
                f"{first_names(self.table.index[same])}",
                remedy="correct the columns, or remove these rows",
            )

    def _notice_equal_rows(self) -> None:
        repeated = self.table.duplicated()
        if repeated.any():
            reason = "equal to an earlier row in all columns; if these are duplicates, remove them"
            self._note("noticed", "row", list(self.table.index[repeated]), reason)

    def _number_repetitions(self) -> None:
        """Require that trials are unique, and count the showings of a stimulus."""
        subject = ["subject"] if "subject" in self.table.columns else []
        # trials may be counted anew in each session
        of_session = [name for name in ("session", "block") if name in self.table.columns]
        repeated = self.table.duplicated([*subject, *of_session, "trial"])
        if repeated.any():
            within = ", ".join([*subject, *of_session, "trial"])
            raise UserError(
                f"{counted(int(repeated.sum()), 'row')} of {self.source} repeat a trial (the same {within}): "
                f"{first_names(self.table.index[repeated])}",
                remedy="remove the duplicates, or name a column that is unique for each subject",
            )
        if "repetition" in self.table.columns:
            return
        shown = [*subject, *(name for name in _IMAGES if name in self.table.columns), "stimulus_id"]
        ordered = self.table.sort_values([*of_session, "trial"], kind="stable", key=_in_order)
        self.table["repetition"] = ordered.groupby(shown, sort=False).cumcount()
        self._note("added", "column", ["repetition"], "counts the showings of a stimulus to a subject, by trial")

    def _require_known(self, stimulus_set: pd.DataFrame) -> None:
        if "stimulus_id" not in stimulus_set.columns:
            raise UserError("the stimulus set has no column 'stimulus_id'", remedy="pass a StimulusSet")
        columns = [name for name in ("stimulus_id", *_IMAGES) if name in self.table.columns]
        shown = pd.unique(self.table[columns].to_numpy(dtype=object).ravel())
        name = getattr(stimulus_set, "identifier", None)
        where = f"the stimulus set {name!r}" if name else "the stimulus set"
        raise_for_errors(check_alignment(list(shown), stimulus_set["stimulus_id"], where=where))

    def _assembly(self) -> BehavioralAssembly:
        values = self.table[self.responses].to_numpy()
        coords: dict[Hashable, Any] = {
            name: ("presentation", self.table[name].to_numpy())
            for name in self.table.columns
            if name not in self.responses
        }
        if not self.has_choices:
            return BehavioralAssembly(values[:, 0], coords=coords, dims=["presentation"])
        coords["choice"] = ("choice", np.array(self.responses, dtype=object))
        return BehavioralAssembly(values, coords=coords, dims=["presentation", "choice"])


def _plain(column: pd.Series, name: str) -> pd.Series:
    """A column of one of NumPy's types: categories, nullable numbers and strings become what they hold."""
    if isinstance(column.dtype, pd.CategoricalDtype):
        return _plain(column.astype(object).infer_objects(), name)
    if pd.api.types.is_bool_dtype(column.dtype):
        return column.astype(object if column.isna().any() else bool)
    if pd.api.types.is_integer_dtype(column.dtype) and column.isna().any() and column.abs().max() >= 2**53:
        return identifier_texts(column, name)  # numbers with gaps are floats, which would round these
    if pd.api.types.is_numeric_dtype(column.dtype):
        return column.astype(np.float64 if column.isna().any() else getattr(column.dtype, "numpy_dtype", np.float64))
    return column.astype(object) if not isinstance(column.dtype, pd.DatetimeTZDtype) else column.dt.tz_convert(None)


def _usable(name: str) -> str:
    """Name of a coordinate: without surrounding spaces, slashes and unprintable characters."""
    return "".join(character if character.isprintable() else "_" for character in name.strip().replace("/", "_"))


def _in_order(column: pd.Series) -> pd.Series:
    """Numbers that are written as text as numbers, so that 2 comes before 10."""
    numbers = pd.to_numeric(column, errors="coerce")
    return numbers if numbers.notna().equals(column.notna()) else column


def _is_mixed(column: pd.Series) -> bool:
    """Whether cells may be other objects than texts."""
    return column.dtype == object and pd.api.types.infer_dtype(column, skipna=True) != "string"


def _kind(cell: Any) -> str:
    if isinstance(cell, str):
        return "text"
    if isinstance(cell, bool | np.bool_):
        return "truth values"
    return "numbers" if isinstance(cell, int | float | np.number) else type(cell).__name__
