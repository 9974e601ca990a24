"""Checks of a stimulus set: its table, its ids, its files."""

import datetime
import io
from collections.abc import Mapping
from pathlib import Path, PurePath
from typing import Any

import numpy as np
import pandas as pd

from brainscore_core.supported_data_standards.brainio._check_media import check_paths
from brainscore_core.supported_data_standards.brainio._check_names import (
    check_ids,
    check_stored_names,
    repeated,
)
from brainscore_core.supported_data_standards.brainio._findings import Finding, listed, some
from brainscore_core.supported_data_standards.brainio._levels import is_missing

__all__ = ["check_files", "check_ids_of", "check_table", "csv_bytes", "paths_of", "stored_names"]

ID = "stimulus_id"
FILE_NAME = "filename"
STORED_NAME = "stimulus_path_within_store"
_SCALARS = (str, bool, int, float, complex, np.generic, datetime.date, datetime.timedelta, datetime.time, PurePath)


def csv_bytes(table: pd.DataFrame) -> bytes:
    """A table as CSV: UTF-8, lines end with LF, floats in the fewest digits that give them back, no row numbers."""
    return pd.DataFrame(table).to_csv(index=False, lineterminator="\n").encode("utf-8")


def paths_of(stimulus_set: pd.DataFrame) -> Mapping[Any, Any]:
    """Mapping from ids to files; empty for stimuli without files."""
    paths = getattr(stimulus_set, "stimulus_paths", None)
    return paths if isinstance(paths, Mapping) else {}


def stored_names(stimulus_set: pd.DataFrame) -> list[str]:
    """Names of the stimuli's files in the archive, in the order of the table."""
    paths = paths_of(stimulus_set)
    stems = stimulus_set[STORED_NAME if STORED_NAME in stimulus_set.columns else ID]
    return [
        f"{stem}{PurePath(paths[stimulus_id]).suffix}"
        for stem, stimulus_id in zip(stems, stimulus_set[ID], strict=True)
    ]


def check_table(stimulus_set: Any, *, allow_filename: bool = False) -> list[Finding]:
    """Check the table: columns, and whether a CSV file holds what is in it."""
    if not isinstance(stimulus_set, pd.DataFrame):
        kind = type(stimulus_set).__name__
        return [Finding("not a stimulus set", f"got a {kind}", "make a StimulusSet of it: StimulusSet(rows)")]
    findings = []
    columns = list(stimulus_set.columns)
    if others := [name for name in columns if not isinstance(name, str) or not name.strip()]:
        findings.append(
            Finding("column name", f"columns {some(others)} are not named by text", "rename the columns to text")
        )
    if twice := repeated(columns):
        findings.append(
            Finding("duplicate column", f"columns {some(twice)} occur more than once", "rename or drop one")
        )
    if FILE_NAME in columns and not allow_filename:
        findings.append(
            Finding(
                "'filename' column",
                "packaging adds a column 'filename' of its own, which the table has already",
                "rename it: stimulus_set.rename(columns={'filename': 'image_filename'})",
            )
        )
    if not len(stimulus_set):
        findings.append(Finding("empty data", "the stimulus set has no rows", "check where the rows come from"))
    return findings if twice or others else findings + _check_storable(stimulus_set)


def check_ids_of(stimulus_set: pd.DataFrame) -> list[Finding]:
    """Check the column ``stimulus_id``."""
    if ID in stimulus_set.columns:
        return check_ids(stimulus_set[ID].tolist(), where="the stimulus set")
    if ID in stimulus_set.index.names:
        remedy = "make it a column: stimulus_set.reset_index()"
    elif "image_id" in stimulus_set.columns:
        remedy = "rename the column 'image_id': stimulus_set.rename(columns={'image_id': 'stimulus_id'})"
    else:
        remedy = f"add it; the columns are {some(stimulus_set.columns)}"
    return [Finding("missing stimulus_id", "the stimulus set has no column 'stimulus_id'", remedy)]


def check_files(stimulus_set: pd.DataFrame) -> list[Finding]:
    """Check ``stimulus_paths``, the files they lead to, and the names under which these are stored."""
    paths = getattr(stimulus_set, "stimulus_paths", None)
    if paths is not None and not isinstance(paths, Mapping):
        kind = type(paths).__name__
        return [Finding("stimulus_paths", f"stimulus_paths is a {kind}", "use a dictionary from stimulus_id to path")]
    ids = stimulus_set[ID].tolist()
    if not paths:
        return [
            Finding(
                "no files",
                "stimulus_paths is empty: only a table is packaged, without an archive",
                "if the stimuli have files, set stimulus_set.stimulus_paths = {stimulus_id: path, …}",
                "warning",
            )
        ]
    findings = _check_keys(ids, paths)
    odd = [key for key in ids if _known(key, paths) and not isinstance(paths[key], str | PurePath)]
    if odd:
        findings.append(
            Finding("stimulus_paths", f"no paths are given for {some(odd)}", "give each as text or pathlib.Path")
        )
    given = [(key, Path(paths[key])) for key in dict.fromkeys(ids) if _known(key, paths) and key not in odd]
    findings += check_paths([(str(key), path) for key, path in given])
    if len(given) == len(ids):
        findings += _check_stems(stimulus_set)
    return findings


def _known(key: Any, paths: Mapping[Any, Any]) -> bool:
    return not is_missing(key) and key in paths


def _check_keys(ids: list[Any], paths: Mapping[Any, Any]) -> list[Finding]:
    # an id that is missing is reported by itself
    lacking = [one for one in dict.fromkeys(ids) if not is_missing(one) and one not in paths]
    known = set(ids)
    extra = [key for key in paths if key not in known]
    findings = []
    if lacking:
        as_text = {str(key) for key in paths}
        mistyped = any(str(one) in as_text for one in lacking)
        findings.append(
            Finding(
                "stimulus without a path",
                f"stimulus_paths lacks {some(lacking)}",
                "the ids are there, but of another type: use text in both, str(stimulus_id)"
                if mistyped
                else "add their files to stimulus_paths, or remove the stimuli; the keys must equal the ids",
            )
        )
    if extra:
        findings.append(
            Finding(
                "path without a stimulus",
                f"stimulus_paths has {some(extra)}, which the table lacks; these files are left out",
                "nothing, if this is part of a larger set; otherwise correct the ids",
                "warning",
            )
        )
    return findings


def _check_stems(stimulus_set: pd.DataFrame) -> list[Finding]:
    if STORED_NAME in stimulus_set.columns:
        odd = [one for one in stimulus_set[STORED_NAME] if not isinstance(one, str) or not one.strip()]
        if odd:
            return [
                Finding(
                    "unsafe file name",
                    f"{STORED_NAME} has values that are no names: {some(dict.fromkeys(map(str, odd)))}",
                    "fill in text for every stimulus, or drop the column to use stimulus_id",
                )
            ]
        stems = stimulus_set[STORED_NAME].tolist()
    else:
        stems = stimulus_set[ID].tolist()
    # '..' with '.png' behind it would be a name like others; it is meant as something else
    dots = [f"{stem}" for stem in stems if isinstance(stem, str) and stem.strip() in (".", "..")]
    names = [name for name in stored_names(stimulus_set) if name.strip()]
    findings = check_stored_names(names, ids=stimulus_set[ID].tolist() if len(names) == len(stems) else None)
    if dots and not any(finding.check == "unsafe file name" for finding in findings):
        findings += check_stored_names(dots)[:1]
    return findings


def _check_storable(stimulus_set: pd.DataFrame) -> list[Finding]:
    """Whether a CSV file holds the table: what text is read back as."""
    findings = []
    for column in stimulus_set.columns:
        values = stimulus_set[column]
        if values.dtype != object:
            continue
        odd = [value for value in values if not isinstance(value, _SCALARS) and not is_missing(value)]
        kinds = sorted({type(value).__name__ for value in odd})
        if not odd:
            continue
        plain = all(isinstance(value, list | tuple | dict) for value in odd)
        findings.append(
            Finding(
                "column type",
                f"column {column!r} has values of type {', '.join(kinds)}"
                + (", which are read back as text" if plain else ", which a CSV file cannot hold"),
                "use one column for each part, or a text that you can take apart, such as JSON",
                "warning" if plain else "error",
            )
        )
    if any(finding.severity == "error" for finding in findings):
        return findings
    try:
        written = csv_bytes(stimulus_set)
    except UnicodeEncodeError as error:
        return [*findings, Finding("column type", f"the table has text that is not Unicode ({error})", "replace it")]
    return findings + _check_read_back(stimulus_set, written)


def _check_read_back(stimulus_set: pd.DataFrame, written: bytes) -> list[Finding]:
    if not len(stimulus_set):
        return []
    try:
        read = pd.read_csv(io.BytesIO(written), dtype=dict.fromkeys((ID, FILE_NAME), str))
    except ValueError as error:
        return [
            Finding("column type", f"the table cannot be read back from CSV ({error})", "look for control characters")
        ]
    if len(read) != len(stimulus_set):
        return [
            Finding(
                "column type",
                f"{len(stimulus_set)} rows are read back from CSV as {len(read)}",
                "remove line breaks and other control characters from the text",
            )
        ]
    findings = []
    for number, column in enumerate(stimulus_set.columns):
        if column in (ID, FILE_NAME):
            continue
        before, after = stimulus_set.iloc[:, number].astype(object), read.iloc[:, number].astype(object)
        changed = {
            value: found
            for value, found in zip(before, after, strict=True)
            if isinstance(value, str) and value != found
        }
        if changed:
            shown = listed([f"{value!r} as {found!r}" for value, found in changed.items()], ", ")
            findings.append(
                Finding(
                    "column type",
                    f"text in column {column!r} is read back from CSV as something else: {shown}",
                    "nothing, if numbers or missing values are meant; otherwise write it so that it is no number and "
                    "none of '', 'NA', 'None', 'nan', 'null', e.g. 'no answer', 'session_001'",
                    "warning",
                )
            )
    return findings
