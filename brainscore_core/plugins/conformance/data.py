"""Checks of assemblies and stimulus sets; each raises an error with an explanation and a remedy."""

from __future__ import annotations

import ast
import csv
import re
from collections.abc import Callable, Collection, Iterator, Mapping
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import pandas as pd
import xarray as xr

from brainscore_core.errors import NotApplicable
from brainscore_core.plugins.conformance import Failed, Unusual
from brainscore_core.plugins.conformance.benchmarks import tests_load
from brainscore_core.plugins.source import parse
from brainscore_core.supported_data_standards.brainio.validation import (
    Finding,
    errors_among,
    validate_assembly,
    validate_stimulus_set,
)

_SHA1, _SHA256 = re.compile(r"[0-9a-f]{40}"), re.compile(r"[0-9a-f]{64}")
# arguments of loaders for hashes and versions, with their positions
_HASHES: Mapping[str, Mapping[str, int | None]] = {
    "load_stimulus_set_from_s3": {"csv_sha1": 2, "zip_sha1": 3},
    "load_assembly_from_s3": {"sha1": 2},
    "load_file_from_s3": {"sha1": 3},
    "load_file": {"sha1": None},
    "load_folder_from_s3": {"sha1": None},
    "load_weight_file": {"sha1": None},
}
_VERSIONS: Mapping[str, Mapping[str, int | None]] = {
    "load_stimulus_set_from_s3": {"csv_version_id": 4, "zip_version_id": 5},
    "load_assembly_from_s3": {"version_id": 1},
}
_NAMES = frozenset({"missing name", "unusable name", "naming convention", "two names"})
_VALUES = frozenset({"NaN values", "NaN declaration", "infinite values", "object values", "empty data"})
_ALIGNMENT = frozenset({"unknown stimuli"})
_IDS = frozenset(
    {
        "duplicate stimulus_id", "empty stimulus_id", "stimulus_id is not text", "missing stimulus_id",
        "old column name", "not a stimulus set",
    }
)  # fmt: skip
_FILES = frozenset(
    {
        "missing file", "empty file", "image does not decode", "folder in place of a file", "no files",
        "stimulus without a path", "path without a stimulus", "stimulus_paths", "kind of file",
    }
)  # fmt: skip
_OF_LOADING = frozenset({"'filename' column"})  # packaged tables have this column


@dataclass(frozen=True)
class DataUnderTest:
    """Data to check, and the findings of validation."""

    data: Any
    identifier: str | None
    folder: Path | None
    findings: tuple[Finding, ...]

    @classmethod
    def of(cls, data: Any, *, identifier: str | None, folder: Path | None) -> DataUnderTest:
        """Validate `data`."""
        stated = data.attrs.get("identifier") if isinstance(data, xr.DataArray) else getattr(data, "identifier", None)
        name = identifier or (stated if isinstance(stated, str) else None)
        if isinstance(data, xr.DataArray):
            findings = validate_assembly(data, identifier=name or "")
        else:
            findings = validate_stimulus_set(data, name or "")
        return cls(data, name, folder, tuple(finding for finding in findings if finding.check not in _OF_LOADING))


def checks_for(data: Any) -> Mapping[str, Callable[[DataUnderTest], None]]:
    """Checks of an assembly, or of a stimulus set."""
    return _OF_ASSEMBLIES if isinstance(data, xr.DataArray) else _OF_STIMULI


def _raise_among(tested: DataUnderTest, kinds: Collection[str]) -> None:
    findings = [finding for finding in tested.findings if finding.check in kinds]
    if not findings:
        return
    errors = errors_among(findings)
    reported = errors or findings
    explanation = "; ".join(finding.culprit for finding in reported)
    remedy = "; ".join(dict.fromkeys(finding.remedy for finding in reported))
    raise (Failed if errors else Unusual)(explanation, remedy)


def _assembly_form(tested: DataUnderTest) -> None:
    _raise_among(tested, {finding.check for finding in tested.findings} - _NAMES - _VALUES - _ALIGNMENT)


def _aligned(tested: DataUnderTest) -> None:
    if not isinstance(tested.data.attrs.get("stimulus_set"), pd.DataFrame):
        if {"stimulus", "word"} & set(tested.data.coords):
            raise NotApplicable("its presentations hold the texts themselves")
        raise Failed(
            "attrs['stimulus_set'] is missing, so the shown stimuli are unknown",
            "register it with stimulus_set_loader=lambda: load_stimulus_set('identifier')",
        )
    _raise_among(tested, _ALIGNMENT)


def _table(tested: DataUnderTest) -> None:
    _raise_among(tested, {finding.check for finding in tested.findings} - _NAMES - _IDS - _FILES)


def _hashes_in_tables(folder: Path) -> Iterator[tuple[str, str]]:
    """Where SHA-1 hashes stand in tables of a plugin, and what stands there."""
    for file in sorted(folder.glob("*.csv")):
        with file.open(encoding="utf-8", errors="replace", newline="") as stream:
            try:
                for number, row in enumerate(csv.DictReader(stream), start=2):
                    for column, value in row.items():
                        if column and "sha1" in column:
                            yield f"{file.name}:{number}: {column}", value or ""
            except csv.Error as error:
                raise Failed(
                    f"{file.name} cannot be read: {error}", "write it as a table of comma-separated values"
                ) from error


def _hashes(tested: DataUnderTest) -> None:
    folder = tested.folder
    if folder is None:
        raise NotApplicable("the plugin's folder is not given")
    calls, in_tables = list(_loading_calls(folder)), list(_hashes_in_tables(folder))
    if not calls and not in_tables:
        raise NotApplicable("the plugin fetches nothing from S3")
    for cell, sha1 in in_tables:
        if not _SHA1.fullmatch(sha1.lower()):
            raise Failed(
                f"{cell} is {sha1!r}, which is not a SHA-1",
                "register the hash that packaging printed: 40 hexadecimal digits",
            )
    for file, call, name in calls:
        for argument, position in _HASHES[name].items():
            value = _argument(call, argument, position)
            where = f"{file.name}:{call.lineno}: {name}"
            by_sha256 = _argument(call, argument.replace("sha1", "sha256"), None)
            if by_sha256 is not None and (value is None or getattr(value, "value", "") is None):
                if isinstance(by_sha256, ast.Constant) and not _SHA256.fullmatch(str(by_sha256.value).lower()):
                    raise Failed(
                        f"{where} has {argument.replace('sha1', 'sha256')}={by_sha256.value!r}, which is not a SHA-256",
                        "register the hash that packaging printed: 64 hexadecimal digits",
                    )
                continue
            if value is None:
                raise Failed(f"{where} has no {argument}", "register the hash that packaging printed")
            if isinstance(value, ast.Constant) and not (
                isinstance(value.value, str) and _SHA1.fullmatch(value.value.lower())
            ):
                raise Failed(
                    f"{where} has {argument}={value.value!r}, which is not a SHA-1",
                    "register the hash that packaging printed: 40 hexadecimal digits",
                )
    for file, call, name in calls:
        for argument, position in _VERSIONS.get(name, {}).items():
            value = _argument(call, argument, position)
            if value is None or (isinstance(value, ast.Constant) and not value.value):
                raise Unusual(
                    f"{file.name}:{call.lineno}: {name} has no {argument}: a later upload of the same name replaces it",
                    "register the version id that the upload printed",
                )


def _loading_calls(folder: Path) -> Iterator[tuple[Path, ast.Call, str]]:
    for file in sorted(folder.rglob("*.py")) if folder.is_dir() else [folder]:
        if file.name == "test.py" or file.name.startswith("test_"):
            continue
        for node in ast.walk(parse(file.read_bytes())):
            if isinstance(node, ast.Call) and isinstance(node.func, ast.Name | ast.Attribute):
                name = node.func.id if isinstance(node.func, ast.Name) else node.func.attr
                if name in _HASHES:
                    yield file, node, name


def _argument(call: ast.Call, name: str, position: int | None) -> ast.expr | None:
    for keyword in call.keywords:
        if keyword.arg == name or keyword.arg is None:  # **arguments are only known at run time
            return keyword.value
    if any(isinstance(argument, ast.Starred) for argument in call.args):
        return call.args[-1]
    return call.args[position] if position is not None and position < len(call.args) else None


_OF_ASSEMBLIES: Mapping[str, Callable[[DataUnderTest], None]] = {
    "it is named AuthorYear": partial(_raise_among, kinds=_NAMES),
    "its dimensions and coordinates are those of its class": _assembly_form,
    "its values are there, none is NaN": partial(_raise_among, kinds=_VALUES),
    "its stimuli are those of its stimulus set": _aligned,
    "what is fetched has its sha1": _hashes,
    "its tests load it": tests_load("data"),
}
_OF_STIMULI: Mapping[str, Callable[[DataUnderTest], None]] = {
    "it is named AuthorYear": partial(_raise_among, kinds=_NAMES),
    "its stimulus ids are unique": partial(_raise_among, kinds=_IDS),
    "its files are there and can be read": partial(_raise_among, kinds=_FILES),
    "its table can be stored": _table,
    "what is fetched has its sha1": _hashes,
    "its tests load it": tests_load("data"),
}
