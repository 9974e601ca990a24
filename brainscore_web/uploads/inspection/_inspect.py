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
from brainscore_web.uploads.inspection._report import Found, Question, Report, error_finding, of_library

__all__ = ["inspect"]

_MAGIC = (b"\x89HDF\r\n\x1a\n", b"CDF\x01", b"CDF\x02", b"CDF\x05")


def check_header(path: Path, name: str, limits: dict[str, int]) -> list[Found]:
    """Check that it is a netCDF file and fits into memory, without reading values."""
    with path.open("rb") as stream:
        start = stream.read(8)
    if not start.startswith(_MAGIC):
        return [
            error_finding(name, "no netCDF file", "it begins like none", "save it with `brainscore package assembly`")
        ]
    import netCDF4

    try:
        with netCDF4.Dataset(path) as dataset:
            size = _unpacked(dataset)
    except (OSError, RuntimeError, ValueError, IndexError, AttributeError) as problem:
        return [error_finding(name, "unreadable assembly", str(problem), "package it again")]
    allowed = min(limits["unpacked"], limits["memory"] // 3)
    if size > allowed:
        what = f"its values need {size / 1e6:,.0f} MB in memory; {allowed / 1e6:,.0f} MB are allowed"
        return [error_finding(name, "assembly too large", what, "divide the data set into subsets, or store float32")]
    return []


def check_names(attrs: dict[str, Any], name: str, *, identifier: str, assembly_identifier: str) -> list[Found]:
    """Check that the file is of what it is uploaded as."""
    found = []
    for key, wanted, what in (
        ("identifier", assembly_identifier, "assembly"),
        ("stimulus_set_identifier", identifier, "stimulus set"),
    ):
        said = attrs.get(key)
        if said is not None and said != wanted:
            remedy = f"give {said!r} as the name of the {what}, or package the assembly under that name"
            found.append(
                error_finding(name, f"another {what}", f"the file says {said!r}, the upload {wanted!r}", remedy)
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
    """Check the files of an upload; the library's own validation is the last check, once nothing in them can harm it.

    Parameters
    ----------
    question : Question
        Which files, what they are said to be, what is allowed.

    Returns
    -------
    Report
        All findings, the files' hashes, and what is in them.
    """
    hashes = {kind: _hashes(Path(path)) for kind, path in question.files.items()}
    findings: list[Found] = []
    for kind, wanted in question.sha1.items():
        if wanted and kind in hashes and hashes[kind]["sha1"] != wanted:
            what = f"expected {wanted}, found {hashes[kind]['sha1']}"
            findings.append(
                error_finding(question.names[kind], "another file", what, "upload the file that packaging made")
            )
    with tempfile.TemporaryDirectory(prefix="brainscore-check-") as folder:
        # the library knows what belongs together by the names
        links = {kind: Path(folder) / question.names[kind] for kind in question.files}
        for kind, link in links.items():
            link.symlink_to(Path(question.files[kind]).absolute())
        safe = {kind: link for kind, link in links.items() if not _harms(kind, link, question, findings)}
        facts = _validate(safe, question, findings)
    return Report(list(dict.fromkeys(findings)), hashes, facts)


def _harms(kind: str, path: Path, question: Question, findings: list[Found]) -> bool:
    """Whether a file must not be read any further."""
    if not path.stat().st_size:
        found = [error_finding(path.name, "empty file", "it has no content", "package it again")]
    elif kind == "zip":
        found = check_archive(path, path.name, question.limits)
    elif kind == "nc":
        found = check_header(path, path.name, question.limits)
    else:
        found = _check_table(path)
    findings += found
    return any(one.severity == "error" for one in found)


def _check_table(path: Path) -> list[Found]:
    """Check that it is text with as many cells in each row as in the first."""
    before = csv.field_size_limit(_LONGEST_FIELD)
    try:
        with path.open(encoding="utf-8", newline="") as stream:
            rows = csv.reader(stream, strict=True)
            head = next(rows, [])
            if len(head) > _WIDEST:
                what = f"it has {len(head):,} columns; {_WIDEST:,} are allowed"
                return [error_finding(path.name, "table too wide", what, "keep what describes the stimuli")]
            if twice := sorted({one for one in head if head.count(one) > 1}):
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
        what = f"byte {problem.start} is no text in UTF-8"
        return [error_finding(path.name, "unreadable table", what, "it must be a CSV file in UTF-8")]
    except csv.Error as problem:
        return [error_finding(path.name, "unreadable table", str(problem), "it must be a CSV file: package it again")]
    finally:
        csv.field_size_limit(before)
    return []


def _validate(files: dict[str, Path], question: Question, findings: list[Found]) -> dict[str, Any]:
    """Ask the library, and gather what is in the files."""
    from PIL import Image

    from brainscore_core.supported_data_standards.brainio.validation import check_identifier, validate_files

    Image.MAX_IMAGE_PIXELS = question.limits["pixels"] // 2  # Pillow refuses twice as many
    named = {"csv": question.identifier, "zip": question.identifier, "nc": question.assembly_identifier}
    for identifier in dict.fromkeys(named[kind] for kind in question.files):
        kind = next(one for one in question.files if named[one] == identifier)
        findings += [of_library(one, question.names[kind]) for one in check_identifier(identifier)]
    cls = question.cls if "nc" in files else None
    for finding in validate_files(files.values(), assembly_class_name=cls):
        findings.append(of_library(finding, Path(finding.source).name))
    facts: dict[str, Any] = {}
    if "csv" in files:
        facts |= _of_table(files["csv"], findings, alone="zip" not in question.files)
    if "zip" in files:
        findings += check_kinds(files["zip"], files["zip"].name)
    if "nc" in files:
        facts |= _of_assembly(files["nc"], question, findings)
    return facts


def _of_table(path: Path, findings: list[Found], *, alone: bool) -> dict[str, Any]:
    with path.open(encoding="utf-8", newline="") as stream:
        rows = csv.reader(stream)
        head = next(rows, [])
        count = sum(1 for row in rows if row)
    if alone and "filename" in head:
        what = "line 1: its column 'filename' lists files, and no archive was uploaded"
        findings.append(error_finding(path.name, "archive not given", what, "upload the ZIP that packaging made, too"))
    return {"stimuli": count, "columns": head[:50]}


def _of_assembly(path: Path, question: Question, findings: list[Found]) -> dict[str, Any]:
    from brainscore_core.errors import UserError
    from brainscore_core.supported_data_standards.brainio.assemblies import DataAssembly
    from brainscore_core.supported_data_standards.brainio.assembly_checks import check_alignment, stimulus_ids
    from brainscore_core.supported_data_standards.brainio.netcdf import read_netcdf
    from brainscore_core.supported_data_standards.brainio.validation import table_ids

    try:
        assembly = read_netcdf(path, DataAssembly)
    except (UserError, ValueError):  # the library has said so
        return {}
    findings += check_names(
        assembly.attrs, path.name, identifier=question.identifier, assembly_identifier=question.assembly_identifier
    )
    if question.reference:
        ids = table_ids(Path(question.reference))
        where = f"the stimulus set {question.identifier} that was uploaded before"
        aligned = [] if ids is None else check_alignment(stimulus_ids(assembly), ids, where=where)
        # it may be another version of the stimulus set that was meant
        findings += [replace(of_library(one, path.name), severity="warning") for one in aligned]
    return {"shape": {str(dim): size for dim, size in assembly.sizes.items()}}


def _hashes(path: Path) -> dict[str, Any]:
    sha1, sha256, size = hashlib.sha1(usedforsecurity=False), hashlib.sha256(), 0
    with path.open("rb") as stream:
        while piece := stream.read(_PIECE):
            sha1.update(piece)
            sha256.update(piece)
            size += len(piece)
    return {"sha1": sha1.hexdigest(), "sha256": sha256.hexdigest(), "size": size}
