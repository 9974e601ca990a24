"""Import behavioural trials from a table with one row per trial."""

from collections.abc import Hashable, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from brainscore_core.errors import UserError
from brainscore_core.plurals import counted
from brainscore_core.supported_data_standards.brainio.assemblies import BehavioralAssembly
from brainscore_core.supported_data_standards.brainio.assembly_checks import require_stimuli
from brainscore_core.supported_data_standards.brainio.findings import format_values
from brainscore_core.supported_data_standards.brainio.tables import (
    UNNAMED,
    ImportLog,
    Missing,
    convert_texts,
    first_names,
    identifier_texts,
    mark_missing,
    read_texts,
    require_columns,
)

_NOTABLE = {("dropped", "row"), ("noticed", "row"), ("noticed", "column"), ("noticed", "identifier")}
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
    responses = [response] if isinstance(response, str) else list(response)
    roles = {"truth": truth, "subject": subject, "trial": trial, "dist_obj": distractor}
    columns_of = {role: column for role, column in roles.items() if column is not None}
    if not responses:
        raise UserError("the argument response does not name a column", remedy="pass the column with the answers")
    if triplet is not None and len(triplet) != 3:
        raise UserError(f"triplet names {len(triplet)} columns", remedy="name the three columns with the stimuli")
    if distractor is not None and truth is None:
        raise UserError("distractor is given without truth", remedy="also name the column with the correct object")
    log = ImportLog("table" if isinstance(trials, pd.DataFrame) else Path(trials).name)
    table = _read(trials, log)
    rows_read = len(table)
    ids = {stimulus_id: "stimulus_id"} if triplet is None else dict(zip(triplet, _IMAGES, strict=True))
    names = {**ids, **{column: role for role, column in columns_of.items()}, **(rename or {})}
    require_columns([*names, *responses, *drop], table.columns, log.source)
    table = _without(table, drop, "as requested", log)
    # the answer to a triplet is an id, too
    identifiers = [*ids, *(() if triplet is None else responses), *(() if subject is None else [subject])]
    marked = mark_missing(table, missing, identifiers)
    table, log.changes = marked.table, log.changes + marked.changes
    for reason, columns in _useless(table, [*names, *responses]).items():
        table = _without(table, columns, reason, log)
    new_names = _new_names(table, names, responses, log, choices=not isinstance(response, str))
    table = table.rename(columns=new_names)
    for columns, reason in ((list(ids.values()), "the stimulus is missing"), (responses, "the response is missing")):
        incomplete = table[columns].isna().any(axis=1)
        if incomplete.any():
            log.add("dropped", "row", table.index[incomplete], reason)
            table = table[~incomplete]
    labels = {*responses, *(roles[role] for role in ("truth", "dist_obj") if role in columns_of)}
    changed = {*marked.columns, *(labels if labels & set(marked.columns) else ())}  # labels stay alike
    texts = [new for old, new in new_names.items() if not isinstance(trials, pd.DataFrame) or old in changed]
    table = _converted(table, texts, [new_names[name] for name in identifiers], log)
    for role, column in columns_of.items():
        if (incomplete := table[role].isna()).any():
            raise UserError(
                f"the column {column!r} is empty in {counted(int(incomplete.sum()), 'row')}: "
                f"{first_names(table.index[incomplete])}",
                remedy=f"complete or remove these rows; missing={{{column!r}: ()}} if n/a is a name",
            )
    if table.empty:
        raise UserError(
            f"no trial of {log.source} has both a stimulus and a response",
            remedy="; ".join(["check the names of the columns, and what is missing", *map(str, marked.changes)]),
        )
    if trial is None and (repeated := table.duplicated()).any():
        reason = "equal to an earlier row in all columns; if these are duplicates, remove them"
        log.add("noticed", "row", table.index[repeated], reason)
    if triplet is not None:
        _order_triplets(table, triplet, responses, log)
    if distractor is not None:
        _add_objects(table, responses[0], log)
    if trial is not None:
        _number_repetitions(table, log)
    if stimulus_set is not None:
        shown = [name for name in ("stimulus_id", *_IMAGES) if name in table.columns]
        require_stimuli(table[shown].to_numpy(dtype=object).ravel(), stimulus_set)
    coords: dict[Hashable, Any] = {
        name: ("presentation", table[name].to_numpy()) for name in table.columns if name not in responses
    }
    values, dims = table[responses].to_numpy(), ["presentation", "choice"]
    if isinstance(response, str):
        values, dims = values[:, 0], dims[:1]
    else:
        coords["choice"] = ("choice", np.array(responses, dtype=object))
    return log.finish(
        BehavioralAssembly(values, coords=coords, dims=dims),
        {"row": (rows_read, len(table))},
        stimulus_set=stimulus_set,
        identifier=identifier,
        notable=_NOTABLE,
    )


def _read(trials: str | Path | pd.DataFrame, log: ImportLog) -> pd.DataFrame:
    """Return the table with names of columns as text and rows numbered from 1, as in a file without its header."""
    if isinstance(trials, pd.DataFrame):
        table = pd.DataFrame(trials.copy())
    elif Path(trials).suffix.lower() in _SUFFIXES:
        table, log.changes = read_texts(Path(trials))
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


def _without(table: pd.DataFrame, columns: Sequence[str], reason: str, log: ImportLog) -> pd.DataFrame:
    if columns:
        log.add("dropped", "column", columns, reason)
    return table.drop(columns=list(columns))


def _useless(table: pd.DataFrame, needed: Sequence[str]) -> dict[str, list[str]]:
    """Columns that cannot or need not become coordinates, by reason."""
    columns: dict[str, list[str]] = {}
    for name in table.columns.difference(list(needed), sort=False):
        column, reason = table[name], None
        if name.startswith(UNNAMED) or not name.strip():
            reason = "it has no name; DataFrame.to_csv writes such row numbers unless index=False"
        elif column.isna().all():
            reason = "all of its values are missing"
        elif _is_mixed(column) and column.map(lambda cell: isinstance(cell, _CONTAINERS)).any():
            reason = "its values are not single numbers or texts"
        if reason is not None:
            columns.setdefault(reason, []).append(name)
    return columns


def _new_names(
    table: pd.DataFrame, names: Mapping[str, str], responses: Sequence[str], log: ImportLog, *, choices: bool
) -> dict[str, str]:
    """New name of each column; those of responses stay."""
    new = {name: names.get(name, _usable(name)) for name in table.columns if name not in responses}
    sources: dict[str, str] = {}
    for name, target in new.items():
        if target in sources or target in ("presentation", "data", *(["choice"] if choices else [])):
            culprit = (
                f"{sources[target]!r} and {name!r} would both be the coordinate {target!r}"
                if target in sources
                else f"{name!r} would be the coordinate {target!r}, a name that assemblies use themselves"
            )
            raise UserError(culprit, remedy=f"leave one out with drop, or rename it: rename={{{name!r}: '…'}}")
        sources[target] = name
    if shared := [name for name in responses if name in names]:
        culprit = f"the column {shared[0]!r} is named twice, as response and as {names[shared[0]]}"
        raise UserError(culprit, remedy="name each column once")
    if sources.keys() & set(responses):
        raise UserError(
            f"the name of the response, {responses[0]!r}, is also that of a coordinate",
            remedy="rename the column in the table",
        )
    for name, target in new.items():
        if target != name:
            log.add("renamed", "column", [name], target)
    log.add("renamed", "column", responses, "the values of the assembly")
    return {**new, **dict(zip(responses, responses, strict=True))}


def _converted(table: pd.DataFrame, texts: Sequence[str], identifiers: Sequence[str], log: ImportLog) -> pd.DataFrame:
    """Give columns the types of NumPy: identifiers are text, and other `texts` are what they are written as."""
    table = table.copy()
    for name in identifiers:
        column = table[name]
        _require_one_type(column, log, identifiers=True)
        table[name] = identifier_texts(column, name)
        if pd.api.types.infer_dtype(column, skipna=True) not in ("string", "empty"):
            log.add("converted", "column", [name], "ids are text")
    further = [name for name in table.columns if name not in identifiers]
    for name in further:
        if isinstance(table[name].dtype, pd.api.extensions.ExtensionDtype):
            table[name] = _plain(table[name], name)
    with_gaps = [name for name in further if table[name].dtype.kind == "f" and table[name].isna().any()]
    columns = [name for name in further if name in texts or name in with_gaps]
    table, changes = convert_texts(table, columns, counters=["trial"] if "trial" in table.columns else [])
    log.changes += changes
    for name in further:
        _require_one_type(table[name], log)
    return table


def _require_one_type(column: pd.Series, log: ImportLog, *, identifiers: bool = False) -> None:
    name = column.name
    if column.dtype != object:
        return
    kinds: dict[str, Any] = {}
    for cell in column[column.notna()] if _is_mixed(column) else column[column.notna()][:1]:
        kinds.setdefault(_kind(cell), cell)
    if len(kinds) > 1:
        examples = " and ".join(f"{kind} ({cell!r})" for kind, cell in kinds.items())
        raise UserError(
            f"the column {name!r} has values of several types: {examples}",
            remedy=f"convert it, e.g. table[{name!r}].astype(str), or leave it out with drop=[{name!r}]",
        )
    if containers := [cell for cell in kinds.values() if isinstance(cell, _CONTAINERS)]:
        raise UserError(
            f"the values of the column {name!r} are not single numbers or texts, such as {containers[0]!r}",
            remedy=f"convert it, e.g. table[{name!r}].str[0], or leave it out with drop=[{name!r}]",
        )
    if "text" not in kinds:
        return
    counts = column.value_counts(sort=False)
    texts = pd.Series(counts.index.astype(str))
    numbers = pd.to_numeric(texts, errors="coerce").notna()
    if not identifiers and not numbers.all() and counts[numbers.to_numpy()].sum() > len(column) / 2:
        reason = f"most of its values are numbers, but not {format_values(texts[~numbers])}, so all are text"
        log.add("noticed", "column", [name], reason)
    padded = texts[(texts != texts.str.strip()) & texts.str.strip().isin(texts)]
    if len(padded):
        reason = f"{format_values(padded)} and the same without spaces around are different values"
        log.add("noticed", "column", [name], reason)


def _order_triplets(table: pd.DataFrame, triplet: Sequence[str], responses: Sequence[str], log: ImportLog) -> None:
    """Put the chosen image last, and name it as response and stimulus."""
    if len(responses) > 1:
        raise UserError("triplet is given with several responses", remedy="name one column")
    if "stimulus_id" in table.columns:
        raise UserError("the table has a column 'stimulus_id'", remedy="leave it out: drop=['stimulus_id']")
    shown = table[list(_IMAGES)].to_numpy(dtype=object)
    answers = table[responses[0]].astype(str).to_numpy(dtype=object)
    chosen = (shown == answers[:, None]) | (np.array(list(triplet), dtype=object) == answers[:, None])
    twice = (shown == np.roll(shown, 1, axis=1)).any(axis=1)
    for wrong, problem in ((twice, "show a stimulus twice"), (chosen.sum(axis=1) != 1, "choose none of the three")):
        if wrong.any():
            first = int(np.flatnonzero(wrong)[0])
            raise UserError(
                f"{counted(int(wrong.sum()), 'row')} of {log.source} {problem}: row "
                f"{table.index[first]} has {format_values(shown[first])} and the response {answers[first]!r}",
                remedy="the response is the id of the odd stimulus, or the name of its column",
            )
    order = np.array([[1, 2, 0], [0, 2, 1], [0, 1, 2]])[chosen.argmax(axis=1)]
    table[list(_IMAGES)] = np.take_along_axis(shown, order, axis=1)
    table[responses[0]] = table["stimulus_id"] = table[_IMAGES[-1]]
    log.add("added", "column", ["stimulus_id"], "the chosen stimulus, which is image_3 now")


def _add_objects(table: pd.DataFrame, response: str, log: ImportLog) -> None:
    if "sample_obj" in table.columns:
        culprit = "the table has a column 'sample_obj', which truth becomes"
        raise UserError(culprit, remedy="leave it out: drop=['sample_obj']")
    table["sample_obj"] = table["truth"]
    log.add("added", "column", ["sample_obj"], "a copy of truth, as metrics of choices between two objects need")
    wrong = (table[response] != table["truth"]) & (table[response] != table["dist_obj"])
    if wrong.any():
        row = table[wrong].iloc[0]
        raise UserError(
            f"{counted(int(wrong.sum()), 'response')} of {log.source} are neither the correct object nor the "
            f"distractor: row {wrong.idxmax()} has {row[response]!r}, not {row['truth']!r} or {row['dist_obj']!r}",
            remedy="use the same names of objects in the three columns",
        )
    same = table["truth"] == table["dist_obj"]
    if same.any():
        raise UserError(
            f"in {counted(int(same.sum()), 'row')} of {log.source} the distractor is the correct object: "
            f"{first_names(table.index[same])}",
            remedy="correct the columns, or remove these rows",
        )


def _number_repetitions(table: pd.DataFrame, log: ImportLog) -> None:
    """Require that trials are unique, and count the showings of a stimulus."""
    subject = ["subject"] if "subject" in table.columns else []
    # trials may be counted anew in each session
    of_session = [name for name in ("session", "block") if name in table.columns]
    key = [*subject, *of_session, "trial"]
    repeated = table.duplicated(key)
    if repeated.any():
        raise UserError(
            f"{counted(int(repeated.sum()), 'row')} of {log.source} repeat a trial (the same {', '.join(key)}): "
            f"{first_names(table.index[repeated])}",
            remedy="remove the duplicates, or name a column that is unique for each subject",
        )
    if "repetition" not in table.columns:
        shown = [*subject, *(name for name in _IMAGES if name in table.columns), "stimulus_id"]
        ordered = table.sort_values([*of_session, "trial"], kind="stable", key=_in_order)
        table["repetition"] = ordered.groupby(shown, sort=False).cumcount()
        log.add("added", "column", ["repetition"], "counts the showings of a stimulus to a subject, by trial")


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
