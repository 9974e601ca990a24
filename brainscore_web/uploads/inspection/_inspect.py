"""All checks of one upload, in an order in which each check is safe."""

from __future__ import annotations

import csv
import hashlib
import math
import tempfile
from dataclasses import replace
from pathlib import Path
from typing import Any

from brainscore_web.uploads.inspection._archive import check_archive, check_kinds
from brainscore_web.uploads.inspection._report import Found, Question, Report, error_finding, from_library

__all__ = ["inspect"]

_MAGIC = (b"\x89HDF\r\n\x1a\n", b"CDF\x01", b"CDF\x02", b"CDF\x05")


def check_header(path: Path, name: str, limits: dict[str, int]) -> list[Found]:
    """Check that it is a netCDF file and fits into memory, without reading values."""
    with path.open("rb") as stream:
        start = stream.read(8)
    if not start.startswith(_MAGIC):
        return [
            error_finding(
                name,
                "not a netCDF file",
                "it does not have the signature of netCDF",
                "save it with `brainscore package assembly`",
            )
        ]
    import netCDF4

    try:
        with netCDF4.Dataset(path) as dataset:
            size = _unpacked(dataset)
    except (OSError, RuntimeError, ValueError, IndexError, AttributeError) as problem:
        return [error_finding(name, "unreadable assembly", str(problem), "package it again")]
    allowed = min(limits["unpacked"], limits["memory"] // 3)
    if size > allowed:
        what = f"its values need {size / 1e6:,.0f} MB in memory; the limit is {allowed / 1e6:,.0f} MB"
        return [error_finding(name, "assembly too large", what, "divide the data set into subsets, or store float32")]
    return []


def check_names(attrs: dict[str, Any], name: str, *, identifier: str, assembly_identifier: str) -> list[Found]:
    """Check that the identifiers in the file are those of the upload."""
    found = []
    for key, wanted, what in (
        ("identifier", assembly_identifier, "assembly"),
        ("stimulus_set_identifier", identifier, "stimulus set"),
    ):
        stated = attrs.get(key)
        if stated is not None and stated != wanted:
            remedy = f"enter {stated!r} as the name of the {what}, or package the assembly under that name"
            found.append(
                error_finding(name, f"different {what}", f"the file has {stated!r}, the upload {wanted!r}", remedy)
            )
    return found


def _unpacked(group: Any) -> int:
    own = 0
    for variable in group.variables.values():
        item = 64 if variable.dtype is str else getattr(variable.dtype, "itemsize", 8)
        own += math.prod(variable.shape) * item
    return own + sum(_unpacked(inner) for inner in group.groups.values())


_PIECE = 1 << 20
_WIDEST = 2_000
_LONGEST_FIELD = 1 << 20


def inspect(question: Question) -> Report:
    """Check the files of an upload; the library's validation runs last, on files that are safe to read.

    Parameters
    ----------
    question : Question
        The files, their names, and the limits.

    Returns
    -------
    Report
        The findings, the files' hashes, and a summary of their content.
    """
    hashes = {kind: _hashes(Path(path)) for kind, path in question.files.items()}
    findings: list[Found] = []
    for kind, wanted in question.sha1.items():
        if wanted and kind in hashes and hashes[kind]["sha1"] != wanted:
            what = f"expected {wanted}, found {hashes[kind]['sha1']}"
            findings.append(error_finding(question.names[kind], "wrong file", what, "upload the file from packaging"))
    with tempfile.TemporaryDirectory(prefix="brainscore-check-") as folder:
        # the library matches files by their names
        links = {kind: Path(folder) / question.names[kind] for kind in question.files}
        for kind, link in links.items():
            link.symlink_to(Path(question.files[kind]).absolute())
        safe = {kind: link for kind, link in links.items() if not _is_unsafe(kind, link, question, findings)}
        facts = _validate(safe, question, findings)
    return Report(list(dict.fromkeys(findings)), hashes, facts)


def _is_unsafe(kind: str, path: Path, question: Question, findings: list[Found]) -> bool:
    """Whether a file must not be read any further."""
    if not path.stat().st_size:
        new = [error_finding(path.name, "empty file", "it has no content", "package it again")]
    elif kind == "zip":
        new = check_archive(path, path.name, question.limits)
    elif kind == "nc":
        new = check_header(path, path.name, question.limits)
    else:
        new = _check_table(path)
    findings += new
    return any(finding.severity == "error" for finding in new)


def _check_table(path: Path) -> list[Found]:
    """Check that it is a text file with the same number of cells in each row."""
    previous_limit = csv.field_size_limit(_LONGEST_FIELD)
    try:
        with path.open(encoding="utf-8", newline="") as stream:
            rows = csv.reader(stream, strict=True)
            head = next(rows, [])
            if len(head) > _WIDEST:
                what = f"it has {len(head):,} columns; the limit is {_WIDEST:,}"
                return [error_finding(path.name, "table too wide", what, "keep only columns that describe the stimuli")]
            if twice := sorted({column for column in head if head.count(column) > 1}):
                return [
                    error_finding(
                        path.name, "duplicate column", f"line 1: {twice[:5]}", "give each column its own name"
                    )
                ]
            for row in rows:
                if row and len(row) != len(head):
                    what = f"line {rows.line_num} has {len(row)} cells, line 1 has {len(head)}"
                    return [error_finding(path.name, "ragged table", what, "package it again")]
    except UnicodeDecodeError as problem:
        what = f"byte {problem.start} is not valid UTF-8"
        return [error_finding(path.name, "unreadable table", what, "it must be a CSV file in UTF-8")]
    except csv.Error as problem:
        return [error_finding(path.name, "unreadable table", str(problem), "it must be a CSV file: package it again")]
    finally:
        csv.field_size_limit(previous_limit)
    return []


def _validate(files: dict[str, Path], question: Question, findings: list[Found]) -> dict[str, Any]:
    """Run the library's validation, and summarise the content of the files."""
    from PIL import Image

    from brainscore_core.supported_data_standards.brainio.validation import check_identifier, validate_files

    Image.MAX_IMAGE_PIXELS = question.limits["pixels"] // 2  # Pillow refuses twice as many
    named = {"csv": question.identifier, "zip": question.identifier, "nc": question.assembly_identifier}
    for identifier in dict.fromkeys(named[kind] for kind in question.files):
        kind = next(kind for kind in question.files if named[kind] == identifier)
        findings += [from_library(finding, question.names[kind]) for finding in check_identifier(identifier)]
    cls = question.cls if "nc" in files else None
    for finding in validate_files(files.values(), assembly_class_name=cls):
        findings.append(from_library(finding, Path(finding.source).name))
    facts: dict[str, Any] = {}
    if "csv" in files:
        facts |= _table_facts(files["csv"], findings, alone="zip" not in question.files)
    if "zip" in files:
        findings += check_kinds(files["zip"], files["zip"].name)
    if "nc" in files:
        facts |= _assembly_facts(files["nc"], question, findings)
    return facts


def _table_facts(path: Path, findings: list[Found], *, alone: bool) -> dict[str, Any]:
    with path.open(encoding="utf-8", newline="") as stream:
        rows = csv.reader(stream)
        head = next(rows, [])
        count = sum(1 for row in rows if row)
    if alone and "filename" in head:
        what = "line 1: its column 'filename' lists files, and no archive was uploaded"
        findings.append(
            error_finding(path.name, "archive not given", what, "upload the ZIP file from packaging as well")
        )
    return {"stimuli": count, "columns": head[:50]}


def _assembly_facts(path: Path, question: Question, findings: list[Found]) -> dict[str, Any]:
    from brainscore_core.errors import UserError
    from brainscore_core.supported_data_standards.brainio.assemblies import DataAssembly
    from brainscore_core.supported_data_standards.brainio.assembly_checks import check_alignment, stimulus_ids
    from brainscore_core.supported_data_standards.brainio.netcdf import read_netcdf
    from brainscore_core.supported_data_standards.brainio.validation import table_ids

    try:
        assembly = read_netcdf(path, DataAssembly)
    except (UserError, ValueError):  # the library's validation has reported it
        return {}
    findings += check_names(
        assembly.attrs, path.name, identifier=question.identifier, assembly_identifier=question.assembly_identifier
    )
    if question.reference:
        ids = table_ids(Path(question.reference))
        where = f"the stimulus set {question.identifier} that was uploaded earlier"
        aligned = [] if ids is None else check_alignment(stimulus_ids(assembly), ids, where=where)
        # the assembly may belong to another version of the stimulus set
        findings += [replace(from_library(finding, path.name), severity="warning") for finding in aligned]
    return {"shape": {str(dim): size for dim, size in assembly.sizes.items()}}


def _hashes(path: Path) -> dict[str, Any]:
    sha1, sha256, size = hashlib.sha1(usedforsecurity=False), hashlib.sha256(), 0
    with path.open("rb") as stream:
        while piece := stream.read(_PIECE):
            sha1.update(piece)
            sha256.update(piece)
            size += len(piece)
    return {"sha1": sha1.hexdigest(), "sha256": sha256.hexdigest(), "size": size}
