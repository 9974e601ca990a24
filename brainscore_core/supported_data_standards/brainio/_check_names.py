"""Checks of names: identifiers of data, ids of stimuli, names of files in an archive."""

import re
import unicodedata
from collections.abc import Iterable, Sequence
from typing import Any

import pandas as pd

from brainscore_core.supported_data_standards.brainio._findings import Finding, listed, some
from brainscore_core.supported_data_standards.brainio._levels import is_missing

__all__ = ["check_id_types", "check_identifier", "check_ids", "check_stored_names", "repeated", "stored_identifier"]

_USABLE = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_-]*(\.[A-Za-z0-9_-]+)*")
_BASE = re.compile(r"[A-Z][A-Za-z0-9]*(_[A-Za-z0-9]+)*")
_PART = re.compile(r"[A-Za-z0-9]+(_[A-Za-z0-9]+)*")
_LONGEST_IDENTIFIER = 200
_LONGEST_FILE_NAME = 255  # bytes, on the usual file systems
_UNSAFE = set('/\\:<>"|?*')  # separators, and what Windows refuses


def stored_identifier(identifier: str) -> str:
    """An identifier as it stands in the names of files."""
    return identifier.replace(".", "_")


def check_identifier(identifier: Any, *, what: str = "identifier") -> list[Finding]:
    """Check an identifier of a stimulus set or assembly.

    It is unusable (an error) unless it consists of letters, digits, ``_``, ``-`` and single dots. It is unusual (a
    warning) unless it follows the naming convention: AuthorYear or a descriptive name; a dot before the name of a
    subset; underscores between words.

    Parameters
    ----------
    identifier : str
        What to check.
    what : str
        What to call it in the findings.

    Returns
    -------
    list of Finding

    Examples
    --------
    >>> check_identifier("MajajHong2015.IT")
    []
    >>> [finding.severity for finding in check_identifier("my-data") + check_identifier("../data")]
    ['warning', 'error']
    """
    if identifier is None or (isinstance(identifier, str) and not identifier):
        return [Finding("missing name", f"no {what} is given", "set name, e.g. stimulus_set.name = 'AuthorYear'")]
    if not isinstance(identifier, str):
        kind = type(identifier).__name__
        return [Finding("unusable name", f"{what} {identifier!r} is a {kind}", "use text such as 'MyExperiment2024'")]
    if not _USABLE.fullmatch(identifier) or not identifier.isascii() or len(identifier) > _LONGEST_IDENTIFIER:
        long = f" and at most {_LONGEST_IDENTIFIER} characters" if len(identifier) > _LONGEST_IDENTIFIER else ""
        return [
            Finding(
                "unusable name",
                f"{what} {identifier if len(identifier) < 80 else identifier[:80] + '…'!r} cannot name a file",
                f"use only letters, digits, '_', and '.' before the name of a subset{long}: AuthorYear.subset_name",
            )
        ]
    base, *parts = identifier.split(".")
    if _BASE.fullmatch(base) and all(map(_PART.fullmatch, parts)):
        return []
    return [
        Finding(
            "naming convention",
            f"{what} {identifier!r} is not written as AuthorYear, AuthorYear.subset or AuthorYear.subset_of_words",
            "begin with a capital letter, put '.' before the name of a subset and '_' between words",
            "warning",
        )
    ]


def repeated(values: Iterable[Any]) -> list[Any]:
    """Values that occur more than once, each once, in order."""
    series = pd.Series(list(values), dtype=object)
    return list(dict.fromkeys(series[series.duplicated()]))


def check_ids(ids: Sequence[Any], *, where: str) -> list[Finding]:
    """Check that ids are text, not empty and (in a stimulus set) unique."""
    findings = check_id_types(ids, where=where)
    hashable = [one for one in ids if isinstance(one, str | int | float)]
    if twice := repeated(one for one in hashable if not is_missing(one)):
        findings.append(
            Finding(
                "duplicate stimulus_id",
                f"{where} has ids more than once: {some(twice)}",
                "give each stimulus its own id; presentations are repeated in the assembly, not in the stimulus set",
            )
        )
    return findings


def check_id_types(ids: Iterable[Any], *, where: str) -> list[Finding]:
    """Check that ids are text, and not empty."""
    ids = list(ids)
    findings = []
    missing = [
        number for number, one in enumerate(ids) if is_missing(one) or (isinstance(one, str) and not one.strip())
    ]
    if missing:
        findings.append(
            Finding("empty stimulus_id", f"{where} has no id at {some(missing)} (counted from 0)", "fill in every id")
        )
    others = list(dict.fromkeys(repr(one) for one in ids if not is_missing(one) and not isinstance(one, str)))
    if others:
        kinds = sorted({type(one).__name__ for one in ids if not is_missing(one) and not isinstance(one, str)})
        findings.append(
            Finding(
                "stimulus_id is not text",
                f"{where} has ids of type {', '.join(kinds)}: {listed(others, ', ')}",
                "convert them: ['stimulus_id'].astype(str), in the stimulus set and in the assembly",
            )
        )
    return findings


def check_stored_names(names: Sequence[str], *, ids: Sequence[Any] | None = None) -> list[Finding]:
    """Check names of files in an archive without folders.

    Parameters
    ----------
    names : sequence of str
        As they will stand, or stand, in the archive.
    ids : sequence, optional
        Stimuli that they belong to, for the messages.
    """
    findings = []
    if unsafe := [name for name in names if _is_unsafe(name)]:
        findings.append(
            Finding(
                "unsafe file name",
                f"{some(unsafe)} cannot be stored",
                "the name in the archive is stimulus_path_within_store, else stimulus_id: no folders, none of "
                f"{' '.join(sorted(_UNSAFE))}, not '.' or '..', at most {_LONGEST_FILE_NAME} bytes",
            )
        )
    if twice := repeated(names):
        owners = (
            ""
            if ids is None
            else f" (stimuli {some(i for i, name in zip(ids, names, strict=True) if name in set(twice))})"
        )
        findings.append(
            Finding(
                "duplicate file name",
                f"several stimuli would be stored as {some(twice)}{owners}",
                "give each its own stimulus_path_within_store, or drop that column to use stimulus_id",
            )
        )
    folded = [unicodedata.normalize("NFC", name).casefold() for name in dict.fromkeys(names)]
    if alike := repeated(folded):
        chosen = set(alike)
        pairs = [name for name, key in zip(dict.fromkeys(names), folded, strict=True) if key in chosen]
        findings.append(
            Finding(
                "file names differ only in case",
                f"{some(pairs)} are one file on macOS and Windows",
                "give them names that differ in more",
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
