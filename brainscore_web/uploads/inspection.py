"""Inspection of uploaded files, in a sandbox without access to the site, its database or its secrets.

``python inspection.py REQUEST REPORT`` reads a request and writes a report, both as JSON. The process sets limits on
its memory, time and files before it opens anything, and imports the libraries that read files only then. The checks run
in an order in which each is safe: the list of an archive's members is checked before any is unpacked, and the library's
validation runs last.
"""

from __future__ import annotations

import csv
import hashlib
import json
import math
import resource
import sys
import tempfile
import zipfile
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path, PurePosixPath
from typing import Any, Literal

from brainscore_core import archives
from brainscore_core.errors import UserError
from brainscore_core.formatting import size_text
from brainscore_core.supported_data_standards.brainio.findings import Finding, format_values
from brainscore_core.supported_data_standards.brainio.hdf5 import refuse_other_files

_AGAIN = "package it again with `brainscore package`, which stores plain files without folders"
_LEAST_BOMB = 10_000_000  # bytes; less unpacked data does no harm
_MAGIC = (b"\x89HDF\r\n\x1a\n", b"CDF\x01", b"CDF\x02", b"CDF\x05")
_PIECE = 1 << 20
_REGIONS = 20  # names that are kept
_WIDEST = 2_000
_LONGEST_FIELD = 1 << 20


@dataclass(frozen=True)
class Question:
    """A request to inspect files."""

    files: dict[str, str]  # kind (``csv``, ``zip``, ``nc``) → path
    names: dict[str, str]  # kind → file name in storage
    # identifier, assembly_identifier, cls: names of the stimulus set and of the assembly, and the assembly's class
    identifier: str
    assembly_identifier: str
    cls: str
    # ``memory``, ``seconds``, ``members``, ``unpacked``, ``ratio``, ``pixels``, ``table``; see ``Limits``
    limits: dict[str, int]
    sha1: dict[str, str] = field(default_factory=dict)  # kind → hash that the uploader expects
    reference: str = ""  # path of the table of a stimulus set that was uploaded earlier; empty if there is none


@dataclass(frozen=True)
class Found:
    """A finding: the file, the check, its culprit, and what to do."""

    file: str
    check: str
    culprit: str
    remedy: str
    severity: Literal["error", "warning"] = "error"


@dataclass(frozen=True)
class Report:
    """The result of an inspection."""

    findings: list[Found]  # all findings. An upload with errors is refused
    hashes: dict[str, dict[str, Any]]  # kind → ``{"sha1": …, "sha256": …, "size": …}``
    facts: dict[str, Any]  # a summary of the content, for display

    @property
    def refused(self) -> bool:
        """Whether there is an error."""
        return any(finding.severity == "error" for finding in self.findings)

    @classmethod
    def read(cls, document: dict[str, Any]) -> Report:
        """Read a report from its plain values."""
        return cls([Found(**finding) for finding in document["findings"]], document["hashes"], document["facts"])


def from_library(finding: Finding, file: str) -> Found:
    """Convert a finding of the library's validation."""
    return Found(file, finding.check, finding.culprit, finding.remedy, finding.severity)


def inspect(question: Question) -> Report:
    """Check the files of an upload; the library's validation runs last, on files that are safe to read."""
    hashes = {kind: _hashes(Path(path)) for kind, path in question.files.items()}
    findings: list[Found] = []
    for kind, expected in question.sha1.items():
        if expected and kind in hashes and hashes[kind]["sha1"] != expected:
            difference = f"expected {expected}, found {hashes[kind]['sha1']}"
            findings.append(Found(question.names[kind], "wrong file", difference, "upload the file from packaging"))
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
        new = [Found(path.name, "empty file", "it has no content", "package it again")]
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
                return [Found(path.name, "table too wide", what, "keep only columns that describe the stimuli")]
            if twice := sorted({column for column in head if head.count(column) > 1}):
                return [Found(path.name, "duplicate column", f"line 1: {twice[:5]}", "give each column its own name")]
            for row in rows:
                if row and len(row) != len(head):
                    what = f"line {rows.line_num} has {len(row)} cells, line 1 has {len(head)}"
                    return [Found(path.name, "ragged table", what, "package it again")]
    except UnicodeDecodeError as problem:
        what = f"byte {problem.start} is not valid UTF-8"
        return [Found(path.name, "unreadable table", what, "it must be a CSV file in UTF-8")]
    except csv.Error as problem:
        return [Found(path.name, "unreadable table", str(problem), "it must be a CSV file: package it again")]
    finally:
        csv.field_size_limit(previous_limit)
    return []


def check_archive(path: Path, name: str, limits: dict[str, int]) -> list[Found]:
    """Check the list of members of an archive, without unpacking any."""
    with path.open("rb") as stream:
        announced = archives.announced_members(stream)
    if announced is not None and announced > limits["members"]:
        return [_many(name, announced, limits)]
    try:
        with zipfile.ZipFile(path) as archive:
            members = archive.infolist()
    except (OSError, ValueError, zipfile.BadZipFile, NotImplementedError, RuntimeError) as problem:
        remedy = "the ZIP file is damaged or incomplete; package it again"
        return [Found(name, "unreadable archive", f"{problem}", remedy)]
    if len(members) > limits["members"]:
        return [_many(name, len(members), limits)]
    findings = _check_sizes(path, name, members, limits)
    for check, is_wrong, culprits in _RULES:
        if wrong := [member.filename for member in members if is_wrong(member)]:
            findings.append(Found(name, check, f"{format_values(wrong)} {culprits}", _AGAIN))
    # names that differ only in case get a warning from the library's validation
    if clash := archives.find_clash((member.filename for member in members), case=False):
        earlier, later = clash
        culprit = f"{later!r} appears twice" + ("" if earlier == later else f", also spelled {earlier!a}")
        findings.append(Found(name, "duplicate file name", culprit, _AGAIN))
    return findings


def check_kinds(path: Path, name: str) -> list[Found]:
    """Check that the format of images matches their suffixes. The library's validation reports damaged images."""
    from PIL import Image

    from brainscore_core.supported_data_standards.brainio.images import ImageError, open_image

    kinds = Image.registered_extensions()
    wrong = []
    with zipfile.ZipFile(path) as archive:
        for member in archive.infolist():
            suffix = PurePosixPath(member.filename).suffix.lower()
            if suffix not in kinds or not member.file_size:
                continue
            try:
                with archive.open(member) as stream, open_image(stream) as image:
                    if image.format != kinds[suffix] and kinds.get(f".{(image.format or '').lower()}") != kinds[suffix]:
                        wrong.append(f"{member.filename} is {image.format}, not {kinds[suffix]}")
            except (ImageError, zipfile.BadZipFile):
                continue  # the library's validation reports it
    if not wrong:
        return []
    shown = "; ".join(wrong[:20]) + (f"; … ({len(wrong)} in total)" if len(wrong) > 20 else "")
    remedy = "give each image the suffix of its format, and package them again"
    return [Found(name, "image format differs from suffix", shown, remedy)]


def _check_sizes(path: Path, name: str, members: Sequence[zipfile.ZipInfo], limits: dict[str, int]) -> list[Found]:
    size = path.stat().st_size
    unpacked = sum(member.file_size for member in members)
    packed = sum(member.compress_size for member in members)
    findings = []
    if unpacked > limits["unpacked"]:
        problem = f"it unpacks to {size_text(unpacked)}; the limit is {size_text(limits['unpacked'])}"
        findings.append(Found(name, "archive too large", problem, "divide the data set into subsets"))
    bombs = [
        f"{member.filename} ({member.compress_size:,} → {member.file_size:,} bytes)"
        for member in members
        if archives.is_bomb(member.compress_size, member.file_size, ratio=limits["ratio"], least=_LEAST_BOMB)
    ]
    if not bombs and archives.is_bomb(size, unpacked, ratio=limits["ratio"], least=_LEAST_BOMB):
        bombs = [f"{len(members)} files ({size:,} → {unpacked:,} bytes)"]
    if bombs:
        remedy = "store the stimuli uncompressed"
        findings.append(Found(name, "suspicious compression ratio", "; ".join(bombs[:5]), remedy))
    if packed > size or archives.members_overlap(members):
        findings.append(Found(name, "overlapping files", "several members share the same bytes", _AGAIN))
    return findings


def _many(name: str, count: int, limits: dict[str, int]) -> Found:
    problem = f"it has {count:,} files; the limit is {limits['members']:,}"
    return Found(name, "too many files", problem, "divide the data set")


_RULES: tuple[tuple[str, Callable[[zipfile.ZipInfo], bool], str], ...] = (
    (
        "path outside of the archive", lambda info: archives.leaves_folder(info.filename),
        "would be unpacked outside of the folder",
    ),
    ("not a regular file", archives.is_special, "are links, devices or pipes"),
    ("folder in an archive", lambda info: info.is_dir() or "/" in info.filename, "are folders or in folders"),
    (
        "invisible characters", lambda info: not archives.stored_name(info).isprintable(),
        "have invisible characters in their names",
    ),
    (
        "name not allowed on Windows", lambda info: archives.is_reserved(PurePosixPath(info.filename).name),
        "cannot be stored on Windows",
    ),
    ("encrypted file", archives.is_encrypted, "need a password"),
)  # fmt: skip


def check_header(path: Path, name: str, limits: dict[str, int]) -> list[Found]:
    """Check that it is a netCDF file and fits into memory, without reading values."""
    with path.open("rb") as stream:
        start = stream.read(8)
    if not start.startswith(_MAGIC):
        remedy = "save it with `brainscore package assembly`"
        return [Found(name, "not a netCDF file", "it does not have the signature of netCDF", remedy)]
    import netCDF4

    try:
        refuse_other_files(path, name)
    except UserError as problem:
        return [Found(name, "unreadable assembly", problem.message, str(problem.remedy))]
    try:
        with netCDF4.Dataset(path) as dataset:
            size = _unpacked(dataset)
    except (OSError, RuntimeError, ValueError, IndexError, AttributeError) as problem:
        return [Found(name, "unreadable assembly", str(problem), "package it again")]
    allowed = min(limits["unpacked"], limits["memory"] // 3)
    if size > allowed:
        what = f"its values need {size_text(size)} in memory; the limit is {size_text(allowed)}"
        return [Found(name, "assembly too large", what, "divide the data set into subsets, or store float32")]
    return []


def check_names(attrs: dict[str, Any], name: str, *, identifier: str, assembly_identifier: str) -> list[Found]:
    """Check that the identifiers in the file are those of the upload."""
    findings = []
    for key, expected, problem in (
        ("identifier", assembly_identifier, "assembly"),
        ("stimulus_set_identifier", identifier, "stimulus set"),
    ):
        stated = attrs.get(key)
        if stated is not None and stated != expected:
            remedy = f"enter {stated!r} as the name of the {problem}, or package the assembly under that name"
            difference = f"the file has {stated!r}, the upload {expected!r}"
            findings.append(Found(name, f"different {problem}", difference, remedy))
    return findings


def _unpacked(group: Any) -> int:
    size = 0
    for variable in group.variables.values():
        item = 64 if variable.dtype is str else getattr(variable.dtype, "itemsize", 8)
        size += math.prod(variable.shape) * item
    return size + sum(_unpacked(inner) for inner in group.groups.values())


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
        problem = "line 1: its column 'filename' lists files, and no archive was uploaded"
        findings.append(Found(path.name, "archive not given", problem, "upload the ZIP file from packaging as well"))
    return {"stimuli": count, "columns": head[:50]}


def _assembly_facts(path: Path, question: Question, findings: list[Found]) -> dict[str, Any]:
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
    return {"shape": {str(dim): size for dim, size in assembly.sizes.items()}, **_coordinate_facts(assembly)}


def _coordinate_facts(assembly: Any) -> dict[str, Any]:
    """Return the regions and the number of repetitions, which a benchmark on the data needs."""
    import numpy as np

    facts: dict[str, Any] = {}
    if "region" in assembly.coords:
        facts["regions"] = sorted({str(region) for region in np.ravel(assembly["region"].values)})[:_REGIONS]
    if "repetition" in assembly.coords:
        facts["repetitions"] = len(np.unique(assembly["repetition"].values))
    return facts


def _hashes(path: Path) -> dict[str, Any]:
    sha1, sha256, size = hashlib.sha1(usedforsecurity=False), hashlib.sha256(), 0
    with path.open("rb") as stream:
        while piece := stream.read(_PIECE):
            sha1.update(piece)
            sha256.update(piece)
            size += len(piece)
    return {"sha1": sha1.hexdigest(), "sha256": sha256.hexdigest(), "size": size}


def main(request: Path, answer: Path) -> None:
    """Answer a request."""
    document = json.loads(request.read_bytes())
    memory, seconds = document["limits"]["memory"], document["limits"]["seconds"]
    resource.setrlimit(resource.RLIMIT_AS, (memory, memory))
    resource.setrlimit(resource.RLIMIT_CPU, (seconds, seconds + 5))
    resource.setrlimit(resource.RLIMIT_FSIZE, (1 << 26, 1 << 26))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    question = Question(**document)
    try:
        report = inspect(question)
    except MemoryError:
        remedy = "divide the data set into subsets"
        problem = f"the inspection needs more than {size_text(memory)} of memory"
        report = Report([Found(", ".join(question.names.values()), "files too large", problem, remedy)], {}, {})
    answer.write_text(json.dumps(asdict(report)), encoding="utf-8")


if __name__ == "__main__":
    main(*map(Path, sys.argv[1:]))
