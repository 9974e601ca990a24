"""The code of a plugin's ``__init__.py`` that registers an upload, for the "Copy Code" button."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from urllib.parse import quote, urlencode

from django.http import HttpRequest
from django.urls import reverse

from brainscore_core.supported_data_standards.brainio.buckets import s3_endpoint
from brainscore_web.leaderboard.models import Visibility
from brainscore_web.uploads.models import Upload, UploadedFile

_CORE = "brainscore_core.supported_data_standards.brainio"


@dataclass(frozen=True)
class Stored:
    """The location of a stored file, and its hashes.

    Attributes
    ----------
    folder : str
        Bucket and folder, in the form that the S3 loaders expect.
    version_id, sha1, sha256 : str
        Version and hashes.
    url : str
        Address on this site, with the version.
    """

    folder: str
    version_id: str
    sha1: str
    sha256: str
    url: str


@dataclass(frozen=True)
class Registration:
    """The data of a registration.

    Attributes
    ----------
    identifier, assembly_identifier, cls : str
        Names of stimulus set and assembly, and the assembly's class.
    csv, zip, nc : Stored or None
        The files.
    from_s3 : bool
        Whether the files are public on S3; otherwise they are loaded through this site.
    private : bool
        Whether a token is needed.
    site : str
        Address of this site.
    endpoint : str or None
        Address of the S3 server, if it is not Amazon's.
    """

    identifier: str
    assembly_identifier: str
    cls: str
    csv: Stored | None
    zip: Stored | None
    nc: Stored | None
    from_s3: bool
    private: bool
    site: str
    endpoint: str | None = None


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
    lines = [f"# brainscore_vision/data/{name}/__init__.py"]
    if data.private:
        lines.append(
            f"# private: set BRAINSCORE_SITE={data.site} and BRAINSCORE_TOKEN to a token from your profile page"
        )
    elif data.from_s3 and data.endpoint:
        lines.append(f"# set AWS_ENDPOINT_URL={data.endpoint}")
    parts = [*lines, *_imports(data)]
    if data.csv:
        parts += ["", *(_stimuli_from_s3(data, data.csv) if data.from_s3 else _stimuli_from_site(data, data.csv))]
    if data.nc:
        parts += ["", *(_assembly_from_s3(data, data.nc) if data.from_s3 else _assembly_from_site(data, data.nc))]
    return "\n".join(parts) + "\n"


def _imports(data: Registration) -> list[str]:
    loaders = [
        *(["load_assembly"] if data.nc else []),
        *(["load_stimulus_set"] if data.csv else []),
    ]
    suffix, module = ("from_s3", "s3") if data.from_s3 else ("from_url", "fetch")
    registries = [
        *(["data_registry", "load_stimulus_set"] if data.nc else []),
        *(["stimulus_set_registry"] if data.csv else []),
    ]
    return [
        *([f"from {_CORE}.assemblies import {data.cls}"] if data.nc else []),
        f"from {_CORE}.{module} import {', '.join(f'{loader}_{suffix}' for loader in loaders)}",
        f"from brainscore_vision import {', '.join(registries)}",
    ]


def _stimuli_from_s3(data: Registration, csv: Stored) -> list[str]:
    archive = data.zip
    return [
        f"stimulus_set_registry[{_text(data.identifier)}] = lambda: load_stimulus_set_from_s3(",
        f"    identifier={_text(data.identifier)},",
        f"    bucket={_text(csv.folder)},",
        f"    csv_sha1={_text(csv.sha1)},",
        f"    zip_sha1={_text(archive.sha1) if archive else None},",
        f"    csv_version_id={_text(csv.version_id)},",
        f"    zip_version_id={_text(archive.version_id) if archive else None},",
        '    filename_prefix="stimulus_",',
        ")",
    ]


def _stimuli_from_site(data: Registration, csv: Stored) -> list[str]:
    archive = data.zip
    return [
        f"stimulus_set_registry[{_text(data.identifier)}] = lambda: load_stimulus_set_from_url(",
        f"    identifier={_text(data.identifier)},",
        f"    csv_url={_text(csv.url)},",
        f"    csv_sha256={_text(csv.sha256)},",
        *([f"    zip_url={_text(archive.url)},", f"    zip_sha256={_text(archive.sha256)},"] if archive else []),
        ")",
    ]


def _assembly_from_s3(data: Registration, nc: Stored) -> list[str]:
    return [
        f"data_registry[{_text(data.assembly_identifier)}] = lambda: load_assembly_from_s3(",
        f"    identifier={_text(data.assembly_identifier)},",
        f"    version_id={_text(nc.version_id)},",
        f"    sha1={_text(nc.sha1)},",
        f"    bucket={_text(nc.folder)},",
        f"    cls={data.cls},",
        f"    stimulus_set_loader=lambda: load_stimulus_set({_text(data.identifier)}),",
        ")",
    ]


def _assembly_from_site(data: Registration, nc: Stored) -> list[str]:
    return [
        f"data_registry[{_text(data.assembly_identifier)}] = lambda: load_assembly_from_url(",
        f"    identifier={_text(data.assembly_identifier)},",
        f"    url={_text(nc.url)},",
        f"    sha256={_text(nc.sha256)},",
        f"    cls={data.cls},",
        f"    stimulus_set_loader=lambda: load_stimulus_set({_text(data.identifier)}),",
        ")",
    ]


def _text(value: str) -> str:
    return json.dumps(value)  # a Python literal, too


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
