"""Checks of stimulus sets: identifiers, ids, table, and media files."""

import datetime
import io
import os
import re
import unicodedata
import warnings
from collections.abc import Callable, Iterable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path, PurePath
from typing import IO, Any, Literal

import numpy as np
import pandas as pd

from brainscore_core.supported_data_standards.brainio.findings import Finding, format_values, join_first
from brainscore_core.supported_data_standards.brainio.images import (
    GREY,
    ImageError,
    UndefinedLevels,
    image_properties,
    open_image,
)
from brainscore_core.supported_data_standards.brainio.levels import is_missing

_USABLE = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_-]*(\.[A-Za-z0-9_-]+)*")
_BASE = re.compile(r"[A-Z][A-Za-z0-9]*(_[A-Za-z0-9]+)*")
_PART = re.compile(r"[A-Za-z0-9]+(_[A-Za-z0-9]+)*")
_LONGEST_IDENTIFIER = 200
_LONGEST_FILE_NAME = 255  # bytes, on common file systems
_UNSAFE = set('/\\:<>"|?*')  # separators, and characters that Windows does not allow


def stored_identifier(identifier: str) -> str:
    """Return an identifier in the form used in file names."""
    return identifier.replace(".", "_")


def check_identifier(identifier: Any, *, what: str = "identifier") -> list[Finding]:
    """Check an identifier of a stimulus set or assembly.

    It is an error if it has characters other than letters, digits, ``_``, ``-`` and single dots. It is a warning if it
    does not follow the naming convention: AuthorYear or a descriptive name; a dot before the name of a subset;
    underscores between words.

    `identifier`: the identifier to check. `what`: how to refer to it in the findings.

    Examples
    --------
    >>> check_identifier("MajajHong2015.IT")
    []
    >>> [finding.severity for finding in check_identifier("my-data") + check_identifier("../data")]
    ['warning', 'error']
    """
    if identifier is None or (isinstance(identifier, str) and not identifier):
        return [Finding("missing name", f"the {what} is missing", "set name, e.g. stimulus_set.name = 'AuthorYear'")]
    if not isinstance(identifier, str):
        kind = type(identifier).__name__
        return [Finding("unusable name", f"{what} {identifier!r} is a {kind}", "use text such as 'MyExperiment2024'")]
    if not _USABLE.fullmatch(identifier) or not identifier.isascii() or len(identifier) > _LONGEST_IDENTIFIER:
        long = f" and at most {_LONGEST_IDENTIFIER} characters" if len(identifier) > _LONGEST_IDENTIFIER else ""
        return [
            Finding(
                "unusable name",
                f"{what} {identifier if len(identifier) < 80 else identifier[:80] + '…'!r} is not valid in a file name",
                f"use only letters, digits, '_', and '.' before the name of a subset{long}: AuthorYear.subset_name",
            )
        ]
    base, *subsets = identifier.split(".")
    if _BASE.fullmatch(base) and all(map(_PART.fullmatch, subsets)):
        return []
    return [
        Finding(
            "naming convention",
            f"{what} {identifier!r} does not have the form AuthorYear, AuthorYear.subset or AuthorYear.subset_of_words",
            "begin with a capital letter, put '.' before the name of a subset and '_' between words",
            "warning",
        )
    ]


def duplicates(values: Iterable[Any]) -> list[Any]:
    """Distinct values that occur more than once, in order."""
    series = pd.Series(list(values), dtype=object)
    return list(dict.fromkeys(series[series.duplicated()]))


def check_ids(ids: Sequence[Any], *, where: str) -> list[Finding]:
    """Check that ids are text, not empty and (in a stimulus set) unique."""
    findings = check_id_types(ids, where=where)
    hashable = [stimulus for stimulus in ids if isinstance(stimulus, str | int | float)]
    if twice := duplicates(stimulus for stimulus in hashable if not is_missing(stimulus)):
        findings.append(
            Finding(
                "duplicate stimulus_id",
                f"{where} has duplicate ids: {format_values(twice)}",
                "give each stimulus its own id; presentations are repeated in the assembly, not in the stimulus set",
            )
        )
    return findings


def check_id_types(ids: Iterable[Any], *, where: str) -> list[Finding]:
    """Check that ids are text, and not empty."""
    ids = list(ids)
    findings = []
    missing = [
        number for number, item in enumerate(ids) if is_missing(item) or (isinstance(item, str) and not item.strip())
    ]
    if missing:
        findings.append(
            Finding(
                "empty stimulus_id",
                f"{where} has no id at {format_values(missing)} (counted from 0)",
                "fill in every id",
            )
        )
    not_text = list(dict.fromkeys(repr(item) for item in ids if not is_missing(item) and not isinstance(item, str)))
    if not_text:
        kinds = sorted({type(item).__name__ for item in ids if not is_missing(item) and not isinstance(item, str)})
        findings.append(
            Finding(
                "stimulus_id is not text",
                f"{where} has ids of type {', '.join(kinds)}: {join_first(not_text, ', ')}",
                "convert them: ['stimulus_id'].astype(str), in the stimulus set and in the assembly",
            )
        )
    return findings


def check_stored_names(names: Sequence[str], *, ids: Sequence[Any] | None = None) -> list[Finding]:
    """Check names of files in an archive without folders.

    `names`: names in the archive. `ids`: ids of the stimuli of these files, for messages.
    """
    findings = []
    if unsafe := [name for name in names if _is_unsafe(name)]:
        findings.append(
            Finding(
                "unsafe file name",
                f"{format_values(unsafe)} cannot be stored",
                "the name in the archive is stimulus_path_within_store or stimulus_id: no folders, none of "
                f"{' '.join(sorted(_UNSAFE))}, not '.' or '..', at most {_LONGEST_FILE_NAME} bytes",
            )
        )
    if twice := duplicates(names):
        owners = (
            ""
            if ids is None
            else f" (stimuli {format_values(i for i, name in zip(ids, names, strict=True) if name in set(twice))})"
        )
        findings.append(
            Finding(
                "duplicate file name",
                f"several stimuli would be stored as {format_values(twice)}{owners}",
                "give each its own stimulus_path_within_store, or drop that column to use stimulus_id",
            )
        )
    folded = [unicodedata.normalize("NFC", name).casefold() for name in dict.fromkeys(names)]
    if alike := duplicates(folded):
        chosen = set(alike)
        pairs = [name for name, key in zip(dict.fromkeys(names), folded, strict=True) if key in chosen]
        findings.append(
            Finding(
                "file names differ only in case",
                f"{format_values(pairs)} are the same file on macOS and Windows",
                "use names that differ in more than case",
                "warning",
            )
        )
    return findings


def _is_unsafe(name: str) -> bool:
    return (
        not name.strip(". ")
        or bool(_UNSAFE & set(name))
        or not name.isprintable()
        or len(name.encode("utf-8", errors="surrogateescape")) > _LONGEST_FILE_NAME
    )


_IMAGE = re.compile(
    r"\.(a?png|jpe?g?|jfif|mpo|gif|bmp|dib|tiff?|webp|avif|jp2|j2k|p[pgbnf]m|tga|ico|hei[cf]|svg)", re.IGNORECASE
)
_WORKERS = 8


def check_paths(paths: Sequence[tuple[str, Path]]) -> list[Finding]:
    """Check files on disk; each is read once.

    Stimulus ids come with paths, which are relative to the working directory unless they are absolute.
    """
    faulty: dict[str, list[str]] = {}
    present: list[tuple[str, Path]] = []
    for stimulus_id, path in paths:
        fault = _file_problem(path)
        if fault is None:
            present.append((stimulus_id, path))
        else:
            faulty.setdefault(fault, []).append(f"{stimulus_id} → {path}")
    findings = [
        Finding(check, join_first(faulty[check]), remedy) for check, remedy in _REMEDIES.items() if check in faulty
    ]
    distinct = {path: f"{stimulus_id} → {path}" for stimulus_id, path in reversed(present)}
    return findings + check_media([(label, path, path.open) for path, label in reversed(distinct.items())])


_REMEDIES = {
    "missing file": "check stimulus_paths: Path(path).exists() must be true for each; '~' is not expanded",
    "folder in place of a file": "stimulus_paths must contain paths of files",
    "empty file": "copy or download it again",
    "unreadable file": "make it readable (chmod u+r)",
}


def _file_problem(path: Path) -> str | None:
    try:
        size = path.stat().st_size
    except (OSError, ValueError):  # a ValueError for names that are not valid
        return "missing file"
    if path.is_dir():
        return "folder in place of a file"
    if not os.access(path, os.R_OK):
        return "unreadable file"
    return None if size else "empty file"


def check_media(files: Sequence[tuple[str, PurePath, Callable[..., IO[bytes]]]]) -> list[Finding]:
    """Check that images decode completely, and report what models see of unusual ones; other files are not checked.

    `files`: ``open('rb')`` returns the opened file.
    """
    selected = [(label, opener) for label, path, opener in files if _IMAGE.fullmatch(path.suffix)]
    if not selected:
        return []
    with warnings.catch_warnings(), ThreadPoolExecutor(min(_WORKERS, os.cpu_count() or 1)) as pool:
        warnings.simplefilter("ignore")  # Pillow's, e.g. of large images or damaged EXIF data, which are reported below
        details = list(pool.map(lambda image: _image_details(image[1]), selected))
    labels: dict[str, list[str]] = {}
    for (label, _), remarks in zip(selected, details, strict=True):
        for check, detail in remarks:
            labels.setdefault(check, []).append(f"{label} ({detail})")
    return [
        Finding(check, join_first(labels[check]), remedy, severity)
        for check, (severity, remedy) in _IMAGE_REMEDIES.items()
        if check in labels
    ]


_IMAGE_REMEDIES: dict[str, tuple[Literal["error", "warning"], str]] = {
    "image does not decode": (
        "error",
        "copy or export it again, in a format such as PNG or JPEG",
    ),
    "undefined levels": ("error", UndefinedLevels.REMEDY),
    "dark 16-bit image": (
        "warning",
        "models see it nearly black, since 65535 is white; if its levels have 10 or 12 bits, multiply them by 64 or 16",
    ),
    "16-bit image": ("warning", "models see 8 bits, with 65535 as white; ignore this if 65535 is white"),
    "turned image": ("warning", "models see it upright, as browsers show it; ignore this if people saw it so, too"),
    "damaged EXIF data": ("warning", "models see the image as it is stored; check that it is upright"),
    "transparent image": (
        "warning",
        f"models see it on the grey of a screen ({GREY}); ignore this if people did, too",
    ),
    "several frames": ("warning", "models of images see only the first frame; models of clips see all frames of a GIF"),
    "colour profile": ("warning", "models see the levels as they are stored; convert it to sRGB if they should differ"),
    "colour mode": ("warning", "models see the levels to which Pillow converts it; convert it to sRGB to choose them"),
    "large image": ("warning", "each model decodes all of its pixels; save it at the size at which it was shown"),
}
_LARGE = 89_000_000  # pixels; Pillow refuses twice as many
_DARK = 4096  # levels of 12 bits


def _image_details(opener: Callable[..., IO[bytes]]) -> list[tuple[str, str]]:
    """Checks that an image does not pass, with the detail."""
    try:
        with opener("rb") as stream, open_image(stream) as image:
            image.verify()  # detects wrong checksums; decoding detects missing pixels
        with opener("rb") as stream:
            properties = image_properties(stream)
    except UndefinedLevels as error:
        return [("undefined levels", error.reason)]
    except ImageError as error:
        return [("image does not decode", error.reason)]
    level, (width, height) = properties.largest_level, properties.size
    details = {
        "dark 16-bit image": f"largest level {level}" if level is not None and level < _DARK else "",
        "16-bit image": f"largest level {level}" if level is not None and level >= _DARK else "",
        "turned image": f"EXIF orientation {properties.orientation}" if properties.orientation not in (None, 1) else "",
        "damaged EXIF data": "its orientation is unknown" if properties.orientation is None else "",
        "transparent image": f"mode {properties.mode}" if properties.transparent else "",
        "several frames": f"{properties.frames} frames" if properties.frames > 1 else "",
        "colour profile": properties.profile or "",
        "colour mode": properties.mode if properties.is_converted else "",
        "large image": f"{width} × {height} pixels" if width * height > _LARGE else "",
    }
    return [(check, detail) for check, detail in details.items() if detail]


STIMULUS_ID = "stimulus_id"
FILE_NAME = "filename"
STORED_NAME = "stimulus_path_within_store"
_SCALARS = (str, bool, int, float, complex, np.generic, datetime.date, datetime.timedelta, datetime.time, PurePath)


def csv_bytes(table: pd.DataFrame) -> bytes:
    """A table as CSV: UTF-8, LF line endings, floats in their shortest exact form, no row numbers."""
    return pd.DataFrame(table).to_csv(index=False, lineterminator="\n").encode("utf-8")


def paths_by_id(stimulus_set: Any) -> Mapping[Any, Any]:
    """Map from ids to files; empty for stimuli without files."""
    paths = getattr(stimulus_set, "stimulus_paths", None)
    return paths if isinstance(paths, Mapping) else {}


def stored_names(stimulus_set: pd.DataFrame) -> list[str]:
    """Names of the stimuli's files in the archive, in the order of the table."""
    paths = paths_by_id(stimulus_set)
    stems = stimulus_set[STORED_NAME if STORED_NAME in stimulus_set.columns else STIMULUS_ID]
    return [
        f"{stem}{PurePath(paths[stimulus_id]).suffix}"
        for stem, stimulus_id in zip(stems, stimulus_set[STIMULUS_ID], strict=True)
    ]


def check_table(stimulus_set: Any, *, allow_filename: bool = False) -> list[Finding]:
    """Check the columns of the table, and whether a CSV file can store its values."""
    if not isinstance(stimulus_set, pd.DataFrame):
        kind = type(stimulus_set).__name__
        return [Finding("not a stimulus set", f"got a {kind}", "convert it: StimulusSet(rows)")]
    findings = []
    columns = list(stimulus_set.columns)
    if unnamed := [name for name in columns if not isinstance(name, str) or not name.strip()]:
        findings.append(
            Finding("column name", f"the names of columns {format_values(unnamed)} are not text", "use text as names")
        )
    if twice := duplicates(columns):
        findings.append(
            Finding("duplicate column", f"columns {format_values(twice)} occur more than once", "rename or drop one")
        )
    if FILE_NAME in columns and not allow_filename:
        findings.append(
            Finding(
                "'filename' column",
                "the table already has a column 'filename', but packaging adds its own",
                "rename it: stimulus_set.rename(columns={'filename': 'image_filename'})",
            )
        )
    if not len(stimulus_set):
        findings.append(Finding("empty data", "the stimulus set has no rows", "check the source of the rows"))
    return findings if twice or unnamed else findings + _check_csv_storable(stimulus_set)


def check_stimulus_ids(stimulus_set: pd.DataFrame) -> list[Finding]:
    """Check the column ``stimulus_id``."""
    if STIMULUS_ID in stimulus_set.columns:
        return check_ids(stimulus_set[STIMULUS_ID].tolist(), where="the stimulus set")
    if STIMULUS_ID in stimulus_set.index.names:
        remedy = "make it a column: stimulus_set.reset_index()"
    elif "image_id" in stimulus_set.columns:
        remedy = "rename the column 'image_id': stimulus_set.rename(columns={'image_id': 'stimulus_id'})"
    else:
        remedy = f"add it; the columns are {format_values(stimulus_set.columns)}"
    return [Finding("missing stimulus_id", "the stimulus set has no column 'stimulus_id'", remedy)]


def check_files(stimulus_set: pd.DataFrame) -> list[Finding]:
    """Check ``stimulus_paths``, the files, and their names in the archive."""
    paths = getattr(stimulus_set, "stimulus_paths", None)
    if paths is not None and not isinstance(paths, Mapping):
        kind = type(paths).__name__
        return [Finding("stimulus_paths", f"stimulus_paths is a {kind}", "use a dictionary from stimulus_id to path")]
    ids = stimulus_set[STIMULUS_ID].tolist()
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
    odd = [key for key in ids if _ids_with_paths(key, paths) and not isinstance(paths[key], str | PurePath)]
    if odd:
        findings.append(
            Finding("stimulus_paths", f"the values for {format_values(odd)} are not paths", "use text or pathlib.Path")
        )
    id_paths = [(key, Path(paths[key])) for key in dict.fromkeys(ids) if _ids_with_paths(key, paths) and key not in odd]
    findings += check_paths([(str(key), path) for key, path in id_paths])
    if len(id_paths) == len(ids):
        findings += _check_stems(stimulus_set)
    return findings


def _ids_with_paths(key: Any, paths: Mapping[Any, Any]) -> bool:
    return not is_missing(key) and key in paths


def _check_keys(ids: list[Any], paths: Mapping[Any, Any]) -> list[Finding]:
    # missing ids have a finding of their own
    lacking = [stimulus for stimulus in dict.fromkeys(ids) if not is_missing(stimulus) and stimulus not in paths]
    table_ids = set(ids)
    extra = [key for key in paths if key not in table_ids]
    findings = []
    if lacking:
        as_text = {str(key) for key in paths}
        mistyped = any(str(stimulus) in as_text for stimulus in lacking)
        findings.append(
            Finding(
                "stimulus without a path",
                f"stimulus_paths lacks {format_values(lacking)}",
                "the ids exist there, but with another type: use text in both, str(stimulus_id)"
                if mistyped
                else "add their files to stimulus_paths, or remove the stimuli; the keys must equal the ids",
            )
        )
    if extra:
        findings.append(
            Finding(
                "path without a stimulus",
                f"stimulus_paths has {format_values(extra)}, which the table lacks; these files are left out",
                "ignore this if the set is part of a larger one; otherwise correct the ids",
                "warning",
            )
        )
    return findings


def _check_stems(stimulus_set: pd.DataFrame) -> list[Finding]:
    if STORED_NAME in stimulus_set.columns:
        odd = [value for value in stimulus_set[STORED_NAME] if not isinstance(value, str) or not value.strip()]
        if odd:
            return [
                Finding(
                    "unsafe file name",
                    f"{STORED_NAME} has values that are not names: {format_values(dict.fromkeys(map(str, odd)))}",
                    "fill in text for every stimulus, or drop the column to use stimulus_id",
                )
            ]
        stems = stimulus_set[STORED_NAME].tolist()
    else:
        stems = stimulus_set[STIMULUS_ID].tolist()
    # with the suffix '.png', '..' would pass as a name, but it stands for a folder
    dots = [f"{stem}" for stem in stems if isinstance(stem, str) and stem.strip() in (".", "..")]
    names = [name for name in stored_names(stimulus_set) if name.strip()]
    findings = check_stored_names(names, ids=stimulus_set[STIMULUS_ID].tolist() if len(names) == len(stems) else None)
    if dots and not any(finding.check == "unsafe file name" for finding in findings):
        findings += check_stored_names(dots)[:1]
    return findings


def _check_csv_storable(stimulus_set: pd.DataFrame) -> list[Finding]:
    """Check that the table is unchanged after writing it to CSV and reading it back."""
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
                "use one column for each part, or text that can be parsed, such as JSON",
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
        read = pd.read_csv(io.BytesIO(written), dtype=dict.fromkeys((STIMULUS_ID, FILE_NAME), str))
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
        if column in (STIMULUS_ID, FILE_NAME):
            continue
        before, after = stimulus_set.iloc[:, number].astype(object), read.iloc[:, number].astype(object)
        changed = {
            value: read_value
            for value, read_value in zip(before, after, strict=True)
            if isinstance(value, str) and value != read_value
        }
        if changed:
            shown = join_first([f"{value!r} as {read_value!r}" for value, read_value in changed.items()], ", ")
            findings.append(
                Finding(
                    "column type",
                    f"text in column {column!r} is read back from CSV as something else: {shown}",
                    "ignore this if numbers or missing values are intended; otherwise use text that is not a number "
                    "and not one of '', 'NA', 'None', 'nan', 'null', e.g. 'no answer', 'session_001'",
                    "warning",
                )
            )
    return findings
