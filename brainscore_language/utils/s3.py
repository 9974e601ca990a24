"""Assemblies of the platform's public storage."""

from __future__ import annotations

import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

from brainscore_core.provenance import remark
from brainscore_core.supported_data_standards.brainio.assemblies import AssemblyLoader, DataAssembly, NeuroidAssembly
from brainscore_core.supported_data_standards.brainio.fetch import fetch_file
from brainscore_core.supported_data_standards.brainio.packaging import upload_to_s3, write_netcdf

replacements: dict[str, Callable[[], Any]] = {}
"""Name of a stored file → function that makes its content, while simulated data take the place of stored ones."""

_BUCKET = "brainscore-storage"
_FOLDER = "brainscore-language"


def upload_data_assembly(
    assembly: DataAssembly, assembly_identifier: str, bucket_name: str = _BUCKET, assembly_prefix: str = "assy_"
) -> dict[str, Any]:
    """Write an assembly into a file and upload it; returns the answer of the storage, with ``sha1`` of the file.

    Parameters
    ----------
    assembly : DataAssembly
        The assembly.
    assembly_identifier : str
        Its name, as for :func:`load_from_s3`.
    bucket_name : str
        A bucket that you may write to.
    assembly_prefix : str
        Begin of the name of the file.
    """
    name = _file_name(assembly_prefix, assembly_identifier)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / name
        sha1 = write_netcdf(assembly, path)
        return {**upload_to_s3(path, bucket_name, f"{_FOLDER}/{name}"), "sha1": sha1}


def _file_name(prefix: str, identifier: str) -> str:
    return f"{prefix}{identifier.replace('.', '_')}.nc"


def load_from_s3(
    identifier: str,
    sha1: str,
    version_id: str | None = None,
    assembly_prefix: str = "assy_",
    cls: Any = NeuroidAssembly,
) -> DataAssembly:
    """Load a stored assembly, whose file must have the hash `sha1`.

    Parameters
    ----------
    identifier : str
        Name of the assembly, with ``.`` as ``_`` in the name of its file.
    sha1 : str
        Hash of the file.
    version_id : str, optional
        Version of the file in the storage.
    assembly_prefix : str
        Begin of the name of the file.
    cls : type
        Class of the assembly.
    """
    name = _file_name(assembly_prefix, identifier)
    if name in replacements:
        remark(f"simulated data take the place of {name}: scores say nothing about people")
        return replacements[name]()
    location = f"https://{_BUCKET}.s3.amazonaws.com/{_FOLDER}/{name}"
    path = fetch_file(location_type="S3", location=location, version_id=version_id, sha1=sha1)
    assembly: DataAssembly = AssemblyLoader(cls=cls, file_path=path).load()
    assembly.attrs.setdefault("identifier", identifier)
    return assembly
