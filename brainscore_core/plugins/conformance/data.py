"""Checks of assemblies and stimulus sets; each raises an error with an explanation and a remedy."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import pandas as pd
import xarray as xr

from brainscore_core.errors import NotApplicable
from brainscore_core.plugins.conformance import Failed, Unusual
from brainscore_core.plugins.conformance.benchmarks import tests_load
from brainscore_core.supported_data_standards.brainio.validation import (
    Finding,
    errors_among,
    validate_assembly,
    validate_stimulus_set,
)

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


_OF_ASSEMBLIES: Mapping[str, Callable[[DataUnderTest], None]] = {
    "it is named AuthorYear": partial(_raise_among, kinds=_NAMES),
    "its dimensions and coordinates are those of its class": _assembly_form,
    "its values are there, none is NaN": partial(_raise_among, kinds=_VALUES),
    "its stimuli are those of its stimulus set": _aligned,
    "its tests load it": tests_load("data"),
}
_OF_STIMULI: Mapping[str, Callable[[DataUnderTest], None]] = {
    "it is named AuthorYear": partial(_raise_among, kinds=_NAMES),
    "its stimulus ids are unique": partial(_raise_among, kinds=_IDS),
    "its files are there and can be read": partial(_raise_among, kinds=_FILES),
    "its table can be stored": _table,
    "its tests load it": tests_load("data"),
}
