"""Code of plugins for uploaded data: the module that registers them, and a benchmark on them to change and submit."""

from __future__ import annotations

import io
import json
import re
import zipfile
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any
from urllib.parse import quote, urlencode

from django.http import HttpRequest
from django.template.loader import render_to_string
from django.urls import reverse

from brainscore_core.supported_data_standards.brainio.buckets import s3_endpoint
from brainscore_web.leaderboard.models import Visibility
from brainscore_web.uploads.models import Upload, UploadedFile

_REGIONS = ("V1", "V2", "V4", "IT")
_STUDY = re.compile(r"[A-Z][A-Za-z]*(?:19|20)\d\d")
_MANY_STIMULI = 40  # from which partial least squares with 25 components can be cross-validated
_BENCHMARK = {
    "__init__.py": "benchmark_init",
    "benchmark.py": "benchmark",
    "metadata.py": "benchmark_metadata",
    "test.py": "benchmark_test",
}
"""Files of a benchmark's folder, and their templates."""


@dataclass(frozen=True)
class Stored:
    """The location of a stored file, and its hashes."""

    folder: str  # bucket and folder, in the form that the S3 loaders expect
    # version_id, sha1, sha256: version and hashes
    version_id: str
    sha1: str
    sha256: str
    url: str  # address on this site, with the version


@dataclass(frozen=True)
class Registration:
    """The data of a registration."""

    # identifier, assembly_identifier, cls: names of stimulus set and assembly, and the assembly's class
    identifier: str
    assembly_identifier: str
    cls: str
    # csv, zip, nc: the files
    csv: Stored | None
    zip: Stored | None
    nc: Stored | None
    from_s3: bool  # whether the files are public on S3; otherwise they are loaded through this site
    private: bool  # whether a token is needed
    site: str  # address of this site
    endpoint: str | None = None  # address of the S3 server, if it is not Amazon's


def folder_of(identifier: str) -> str:
    """Name of the plugin's folder.

    Examples
    --------
    >>> folder_of("MajajHong2015.IT")
    'majajhong2015_it'
    """
    return re.sub(r"[^a-z0-9]+", "_", identifier.lower()).strip("_") or "data"


def copy_code(data: Registration) -> str:
    """Return the code of the plugin's module."""
    name = folder_of(data.identifier if data.csv else data.assembly_identifier)
    return _rendered("data_init", name=name, data=data, source="from_s3" if data.from_s3 else "from_url")


def _rendered(template: str, **values: Any) -> str:
    return render_to_string(f"uploads/plugins/{template}.txt", values)


def address_of(request: HttpRequest, file: UploadedFile) -> str:
    """The address of a file's download on this site, with its version."""
    path = reverse("uploads:file", kwargs={"bucket": file.bucket, "key": file.key})
    return f"{request.build_absolute_uri(quote(path, safe='/%'))}?{urlencode({'versionId': file.version_id})}"


def registration_of(request: HttpRequest, upload: Upload, files: list[UploadedFile]) -> Registration:
    """Return the data of an accepted upload's registration."""
    stored = {
        file.kind: Stored(file.folder, file.version_id, file.sha1, file.sha256, address_of(request, file))
        for file in files
    }
    return Registration(
        identifier=upload.identifier,
        assembly_identifier=upload.assembly_identifier,
        cls=upload.assembly_class,
        csv=stored.get("csv"),
        zip=stored.get("zip"),
        nc=stored.get("nc"),
        from_s3=all(file.everybody for file in files),
        private=upload.visibility == Visibility.PRIVATE,
        site=request.build_absolute_uri("/").rstrip("/"),
        endpoint=s3_endpoint(),
    )


@dataclass(frozen=True)
class Scaffold:
    """Plugin folders that register and use an upload."""

    name: str  # the name of the folder that holds them
    # the identifier of the benchmark; empty if the data do not suit the template, which needs recordings of a region
    # with repetitions
    benchmark: str
    files: dict[str, str]  # path → text


def scaffold_of(data: Registration, facts: Mapping[str, Any]) -> Scaffold:
    """Write plugins for an accepted upload."""
    name = folder_of(data.identifier if data.csv else data.assembly_identifier)
    files = {
        f"data/{name}/__init__.py": copy_code(data),
        f"data/{name}/test.py": _rendered(
            "data_test", data=data, stimuli=int(facts.get("stimuli") or 0), shape=facts.get("shape") or {}
        ),
    }
    regions, repetitions = list(facts.get("regions") or ()), int(facts.get("repetitions") or 0)
    if not (data.csv and data.nc and data.cls == "NeuroidAssembly" and regions and repetitions > 1):
        return Scaffold(name, "", files)
    region = regions[0]
    study = match[0] if (match := _STUDY.match(data.assembly_identifier)) else "Author2026"
    metric = "pls" if int(facts.get("stimuli") or 0) >= _MANY_STIMULI else "ridge"
    subset = re.sub(r"[^A-Za-z0-9]+", "_", region).strip("_")
    values = {
        "identifier": f"{study}.{subset}-{metric}" if subset else f"{study}-{metric}",
        "study": study,
        "cls": f"{study}{subset[:1].upper()}{subset[1:]}{metric.capitalize()}",
        "folder": name,
        "metric": metric,
        "kind": "regression",
        "region": region,
        "parent": region if region in _REGIONS else "IT",
        "assembly": data.assembly_identifier,
        "select": f".sel(region={json.dumps(region)})" if len(regions) > 1 else "",
        "bin": ".isel(time_bin=0, drop=True)" if "time_bin" in facts.get("shape", {}) else "",
        "trials": repetitions,
        "stimuli": facts.get("stimuli"),
        "neuroids": facts.get("shape", {}).get("neuroid") if len(regions) == 1 else None,
        "access": "private" if data.private else "public",
        "regions": (region,),
    }
    for file, template in _BENCHMARK.items():
        files[f"benchmarks/{name}/{file}"] = _rendered(template, **values)
    return Scaffold(name, str(values["identifier"]), files)


def zipped_scaffold(scaffold: Scaffold) -> bytes:
    """Pack the folders as a ZIP file, which `brainscore submit` accepts."""
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as archive:
        for path, text in sorted(scaffold.files.items()):
            archive.writestr(f"{scaffold.name}/{path}", text)
    return buffer.getvalue()
