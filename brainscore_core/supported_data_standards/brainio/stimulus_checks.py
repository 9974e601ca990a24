"""Checks of stimulus sets: identifiers, ids, table, and media files."""

import datetime
import io
import os
import re
import unicodedata
import warnings
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from itertools import chain
from pathlib import Path, PurePath
from typing import IO, Any

import numpy as np
import pandas as pd

from brainscore_core.supported_data_standards.brainio.findings import Finding, format_values, join_first, merged
from brainscore_core.supported_data_standards.brainio.images import (
    GREY,
    ImageError,
    UndefinedLevels,
    image_properties,
    open_image,
)
from brainscore_core.supported_data_standards.brainio.levels import is_missing
from brainscore_core.supported_data_standards.brainio.stimuli import STIMULUS_ID

FILE_NAME = "filename"
STORED_NAME = "stimulus_path_within_store"

_USABLE = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_-]*(\.[A-Za-z0-9_-]+)*")
_CONVENTIONAL = re.compile(r"[A-Z][A-Za-z0-9]*(_[A-Za-z0-9]+)*(\.[A-Za-z0-9]+(_[A-Za-z0-9]+)*)*")
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
    too_long = len(identifier) > _LONGEST_IDENTIFIER
    if too_long or not _USABLE.fullmatch(identifier):
        shown = identifier if len(identifier) < 80 else identifier[:80] + "…"
        limit = f" and at most {_LONGEST_IDENTIFIER} characters" if too_long else ""
        remedy = f"use only letters, digits, '_', and '.' before the name of a subset{limit}: AuthorYear.subset_name"
        return [Finding("unusable name", f"{what} {shown!r} is not valid in a file name", remedy)]
    if _CONVENTIONAL.fullmatch(identifier):
        return []
    culprit = (
        f"{what} {identifier!r} does not have the form AuthorYear, AuthorYear.subset or AuthorYear.subset_of_words"
    )
    remedy = "begin with a capital letter, put '.' before the name of a subset and '_' between words"
    return [Finding("naming convention", culprit, remedy, "warning")]


def duplicates(values: Iterable[Any]) -> list[Any]:
    """Distinct values that occur more than once, in order."""
    series = pd.Series(list(values), dtype=object)
    return list(dict.fromkeys(series[series.duplicated()]))


def check_ids(ids: Iterable[Any], *, where: str, name: str = STIMULUS_ID) -> Iterator[Finding]:
    """Check that ids, of stimuli or in another column, are not empty and unique, and that those of stimuli are text."""
    ids = list(ids)
    if empty := [
        row for row, item in enumerate(ids) if is_missing(item) or (isinstance(item, str) and not item.strip())
    ]:
        yield Finding(
            f"empty {name}", f"{where} has no {name} at {format_values(empty)} (counted from 0)", "fill in every id"
        )
    present = [item for item in ids if not is_missing(item)]
    not_text = [item for item in present if not isinstance(item, str)]
    if not_text and name == STIMULUS_ID:
        kinds = ", ".join(sorted({type(item).__name__ for item in not_text}))
        yield Finding(
            "stimulus_id is not text",
            f"{where} has ids of type {kinds}: {join_first(list(dict.fromkeys(map(repr, not_text))), ', ')}",
            "convert them: ['stimulus_id'].astype(str), in the stimulus set and in the assembly",
        )
    if repeated := duplicates(item for item in present if isinstance(item, str | int | float | np.generic)):
        yield Finding(f"duplicate {name}", f"{where} has duplicate ids: {format_values(repeated)}", _UNIQUE[name])


_UNIQUE = {
    STIMULUS_ID: "give each stimulus its own id; presentations are repeated in the assembly, not in the stimulus set",
    "neuroid_id": "make the ids unique, e.g. with the animal or session as a prefix",
}


def check_stored_names(names: Sequence[str], *, ids: Sequence[Any] = ()) -> Iterator[Finding]:
    """Check names of files in an archive without folders.

    `names`: names in the archive. `ids`: ids of the stimuli of these files, for messages.
    """
    if unsafe := [name for name in names if _is_unsafe(name)]:
        yield Finding(
            "unsafe file name",
            f"{format_values(unsafe)} cannot be stored",
            "the name in the archive is stimulus_path_within_store or stimulus_id: no folders, none of "
            f"{' '.join(sorted(_UNSAFE))}, not '.' or '..', at most {_LONGEST_FILE_NAME} bytes",
        )
    if repeated := duplicates(names):
        owners = [stimulus for stimulus, name in zip(ids, names, strict=False) if name in set(repeated)]
        yield Finding(
            "duplicate file name",
            f"several stimuli would be stored as {format_values(repeated)}"
            + (f" (stimuli {format_values(owners)})" if owners else ""),
            "give each its own stimulus_path_within_store, or drop that column to use stimulus_id",
        )
    folded = {name: unicodedata.normalize("NFC", name).casefold() for name in names}
    if alike := set(duplicates(folded.values())):
        yield Finding(
            "file names differ only in case",
            f"{format_values(name for name in folded if folded[name] in alike)} are the same file on macOS and Windows",
            "use names that differ in more than case",
            "warning",
        )


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
    faults: list[Finding] = []
    labels: dict[Path, str] = {}
    for stimulus_id, path in paths:
        label = f"{stimulus_id} → {path}"
        if fault := _file_fault(path):
            check, remedy = fault
            faults.append(Finding(check, label, remedy))
        else:
            labels.setdefault(path, label)
    return merged(faults) + check_media([(label, path, path.open) for path, label in labels.items()])


def _file_fault(path: Path) -> tuple[str, str] | None:
    """What is wrong with a file, and the remedy."""
    try:
        size = path.stat().st_size
    except (OSError, ValueError):  # a ValueError for names that are not valid
        return "missing file", "check stimulus_paths: Path(path).exists() must be true for each; '~' is not expanded"
    if path.is_dir():
        return "folder in place of a file", "stimulus_paths must contain paths of files"
    if not os.access(path, os.R_OK):
        return "unreadable file", "make it readable (chmod u+r)"
    return None if size else ("empty file", "copy or download it again")


_Opener = Callable[..., IO[bytes]]


def check_media(files: Sequence[tuple[str, PurePath, _Opener]]) -> list[Finding]:
    """Check that images decode completely, and report what models see of unusual ones; other files are not checked.

    `files`: ``open('rb')`` returns the opened file.
    """
    images = [(label, opener) for label, path, opener in files if _IMAGE.fullmatch(path.suffix)]
    with warnings.catch_warnings(), ThreadPoolExecutor(min(_WORKERS, os.cpu_count() or 1)) as pool:
        warnings.simplefilter("ignore")  # Pillow's, e.g. of large images or damaged EXIF data, which are reported below
        return merged(chain.from_iterable(pool.map(_check_image, images)))


_UNUSUAL = {
    "dark 16-bit image": "models see it nearly black, since 65535 is white; if its levels have 10 or 12 bits, multiply "
    "them by 64 or 16",
    "16-bit image": "models see 8 bits, with 65535 as white; ignore this if 65535 is white",
    "turned image": "models see it upright, as browsers show it; ignore this if people saw it so, too",
    "damaged EXIF data": "models see the image as it is stored; check that it is upright",
    "transparent image": f"models see it on the grey of a screen ({GREY}); ignore this if people did, too",
    "several frames": "models of images see only the first frame; models of clips see all frames of a GIF",
    "colour profile": "models see the levels as they are stored; convert it to sRGB if they should differ",
    "colour mode": "models see the levels to which Pillow converts it; convert it to sRGB to choose them",
    "large image": "each model decodes all of its pixels; save it at the size at which it was shown",
}
_LARGE = 89_000_000  # pixels; Pillow refuses twice as many
_DARK = 4096  # levels of 12 bits


def _check_image(image: tuple[str, _Opener]) -> list[Finding]:
    label, opener = image
    try:
        with opener("rb") as stream, open_image(stream) as opened:
            opened.verify()  # detects wrong checksums; decoding detects missing pixels
        with opener("rb") as stream:
            properties = image_properties(stream)
    except UndefinedLevels as error:
        return [Finding("undefined levels", f"{label} ({error.reason})", error.REMEDY)]
    except ImageError as error:
        remedy = "copy or export it again, in a format such as PNG or JPEG"
        return [Finding("image does not decode", f"{label} ({error.reason})", remedy)]
    level, (width, height) = properties.largest_level, properties.size
    details = {
        "dark 16-bit image": f"largest level {level}" if level is not None and level < _DARK else "",
        "16-bit image": f"largest level {level}" if level is not None and level >= _DARK else "",
        "turned image": f"EXIF orientation {properties.orientation}" if properties.orientation not in (None, 1) else "",
        "damaged EXIF data": "its orientation is unknown" if properties.orientation is None else "",
        "transparent image": f"mode {properties.mode}" if properties.transparent else "",
        "several frames": f"{properties.frames} frames" if properties.frames > 1 else "",
        "colour profile": properties.profile,
        "colour mode": properties.mode if properties.is_converted else "",
        "large image": f"{width} × {height} pixels" if width * height > _LARGE else "",
    }
    return [
        Finding(name, f"{label} ({detail})", _UNUSUAL[name], "warning") for name, detail in details.items() if detail
    ]


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
    return [
        f"{stem}{PurePath(paths[stimulus_id]).suffix}"
        for stem, stimulus_id in zip(_stems(stimulus_set), stimulus_set[STIMULUS_ID], strict=True)
    ]


def _stems(stimulus_set: pd.DataFrame) -> list[Any]:
    return stimulus_set[STORED_NAME if STORED_NAME in stimulus_set.columns else STIMULUS_ID].tolist()


def check_table(stimulus_set: Any, *, allow_filename: bool = False) -> Iterator[Finding]:
    """Check the columns of the table, and whether a CSV file can store its values."""
    if not isinstance(stimulus_set, pd.DataFrame):
        kind = type(stimulus_set).__name__
        yield Finding("not a stimulus set", f"got a {kind}", "convert it: StimulusSet(rows)")
        return
    columns = list(stimulus_set.columns)
    if unnamed := [name for name in columns if not isinstance(name, str) or not name.strip()]:
        yield Finding("column name", f"the names of columns {format_values(unnamed)} are not text", "use text as names")
    if repeated := duplicates(columns):
        culprit = f"columns {format_values(repeated)} occur more than once"
        yield Finding("duplicate column", culprit, "rename or drop one")
    if FILE_NAME in columns and not allow_filename:
        yield Finding(
            "'filename' column",
            "the table already has a column 'filename', but packaging adds its own",
            "rename it: stimulus_set.rename(columns={'filename': 'image_filename'})",
        )
    if not len(stimulus_set):
        yield Finding("empty data", "the stimulus set has no rows", "check the source of the rows")
    elif not unnamed and not repeated:
        yield from _check_csv(stimulus_set)


def _check_csv(stimulus_set: pd.DataFrame) -> Iterator[Finding]:
    """Check that the table is unchanged after writing it to CSV and reading it back."""
    storable = True
    for column, values in stimulus_set.items():
        odd = [value for value in values if not isinstance(value, _SCALARS) and not is_missing(value)]
        if odd and values.dtype == object:
            kinds = ", ".join(sorted({type(value).__name__ for value in odd}))
            plain = all(isinstance(value, list | tuple | dict) for value in odd)
            yield Finding(
                "column type",
                f"column {column!r} has values of type {kinds}, which "
                + ("are read back as text" if plain else "a CSV file cannot hold"),
                "use one column for each part, or text that can be parsed, such as JSON",
                "warning" if plain else "error",
            )
            storable = storable and plain
    if not storable:
        return
    try:
        text = io.BytesIO(csv_bytes(stimulus_set))
        table = pd.read_csv(text, dtype=dict.fromkeys((STIMULUS_ID, FILE_NAME), str))
        if len(table) != len(stimulus_set):
            raise ValueError(f"{len(stimulus_set)} rows are read back as {len(table)}")
    except ValueError as error:  # also of the parser, and of text that is not Unicode
        remedy = "remove line breaks, other control characters and text that is not Unicode"
        yield Finding("column type", f"the table cannot be read back from CSV ({error})", remedy)
        return
    for number, column in enumerate(stimulus_set.columns):
        pairs = zip(stimulus_set.iloc[:, number].astype(object), table.iloc[:, number].astype(object), strict=True)
        changed = {before: after for before, after in pairs if isinstance(before, str) and before != after}
        if changed and column not in (STIMULUS_ID, FILE_NAME):
            shown = join_first([f"{before!r} as {after!r}" for before, after in changed.items()], ", ")
            yield Finding(
                "column type",
                f"text in column {column!r} is read back from CSV as something else: {shown}",
                "ignore this if numbers or missing values are intended; otherwise use text that is not a number "
                "and not one of '', 'NA', 'None', 'nan', 'null', e.g. 'no answer', 'session_001'",
                "warning",
            )


def check_stimulus_ids(stimulus_set: pd.DataFrame) -> Iterator[Finding]:
    """Check the column ``stimulus_id``."""
    if STIMULUS_ID in stimulus_set.columns:
        yield from check_ids(stimulus_set[STIMULUS_ID], where="the stimulus set")
        return
    if STIMULUS_ID in stimulus_set.index.names:
        remedy = "make it a column: stimulus_set.reset_index()"
    elif "image_id" in stimulus_set.columns:
        remedy = "rename the column 'image_id': stimulus_set.rename(columns={'image_id': 'stimulus_id'})"
    else:
        remedy = f"add it; the columns are {format_values(stimulus_set.columns)}"
    yield Finding("missing stimulus_id", "the stimulus set has no column 'stimulus_id'", remedy)


def check_files(stimulus_set: pd.DataFrame) -> Iterator[Finding]:
    """Check ``stimulus_paths``, the files, and their names in the archive."""
    paths = getattr(stimulus_set, "stimulus_paths", None)
    if paths is not None and not isinstance(paths, Mapping):
        kind = type(paths).__name__
        yield Finding("stimulus_paths", f"stimulus_paths is a {kind}", "use a dictionary from stimulus_id to path")
        return
    if not paths:
        yield Finding(
            "no files",
            "stimulus_paths is empty: only a table is packaged, without an archive",
            "if the stimuli have files, set stimulus_set.stimulus_paths = {stimulus_id: path, …}",
            "warning",
        )
        return
    ids = dict.fromkeys(stimulus_set[STIMULUS_ID].tolist())
    shown = [stimulus for stimulus in ids if not is_missing(stimulus)]  # missing ids have a finding of their own
    if lacking := [stimulus for stimulus in shown if stimulus not in paths]:
        mistyped = {str(key) for key in paths}.intersection(map(str, lacking))
        yield Finding(
            "stimulus without a path",
            f"stimulus_paths lacks {format_values(lacking)}",
            "the ids exist there, but with another type: use text in both, str(stimulus_id)"
            if mistyped
            else "add their files to stimulus_paths, or remove the stimuli; the keys must equal the ids",
        )
    if extra := [key for key in paths if key not in ids]:
        yield Finding(
            "path without a stimulus",
            f"stimulus_paths has {format_values(extra)}, which the table lacks; these files are left out",
            "ignore this if the set is part of a larger one; otherwise correct the ids",
            "warning",
        )
    present = {stimulus: paths[stimulus] for stimulus in shown if stimulus in paths}
    if odd := [stimulus for stimulus, path in present.items() if not isinstance(path, str | PurePath)]:
        yield Finding(
            "stimulus_paths", f"the values for {format_values(odd)} are not paths", "use text or pathlib.Path"
        )
        return
    yield from check_paths([(str(stimulus), Path(path)) for stimulus, path in present.items()])
    if len(present) == len(stimulus_set):
        yield from _check_stems(stimulus_set)


def _check_stems(stimulus_set: pd.DataFrame) -> Iterator[Finding]:
    stems = _stems(stimulus_set)
    odd = [stem for stem in stems if not isinstance(stem, str) or not stem.strip()]
    if odd and STORED_NAME in stimulus_set.columns:
        yield Finding(
            "unsafe file name",
            f"{STORED_NAME} has values that are not names: {format_values(dict.fromkeys(map(str, odd)))}",
            "fill in text for every stimulus, or drop the column to use stimulus_id",
        )
        return
    # with the suffix '.png', '..' would pass as a name, but it stands for a folder
    pairs = zip(stems, stored_names(stimulus_set), strict=True)
    names = [stem if str(stem).strip() in (".", "..") else name for stem, name in pairs]
    yield from check_stored_names(names, ids=stimulus_set[STIMULUS_ID].tolist())
