"""Assemblies of the platform's public storage."""

from __future__ import annotations

from typing import Any

from brainscore_core.supported_data_standards.brainio.assemblies import AssemblyLoader, DataAssembly, NeuroidAssembly
from brainscore_core.supported_data_standards.brainio.fetch import fetch_file

__all__ = ["load_from_s3"]

_BUCKET = "https://brainscore-storage.s3.amazonaws.com/brainscore-language"


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
    name = f"{assembly_prefix}{identifier.replace('.', '_')}.nc"
    path = fetch_file(location_type="S3", location=f"{_BUCKET}/{name}", version_id=version_id, sha1=sha1)
    assembly: DataAssembly = AssemblyLoader(cls=cls, file_path=path).load()
    assembly.attrs.setdefault("identifier", identifier)
    return assembly
