"""Stand-ins on an S3 server, from where the data plugins' own loaders fetch them."""

import contextlib
import os
import warnings
from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, NamedTuple
from unittest.mock import patch

from brainscore_core.errors import UserError
from brainscore_core.supported_data_standards.brainio import s3
from brainscore_core.supported_data_standards.brainio.assemblies import DataAssembly
from brainscore_core.supported_data_standards.brainio.buckets import signed_client
from brainscore_core.supported_data_standards.brainio.fetch import AssemblyLoader
from brainscore_core.supported_data_standards.brainio.netcdf import write_netcdf
from brainscore_core.supported_data_standards.brainio.packaging import package_stimulus_set_locally
from brainscore_core.supported_data_standards.brainio.remote_files import FetchRequest, object_request
from brainscore_core.supported_data_standards.brainio.validation import ValidationWarning
from brainscore_vision.testing._stand_ins import list_stand_ins, make_stimulus_set, unlinked_assembly

__all__ = ["as_loaded", "serve_stand_ins"]

_OBJECT_REQUEST = f"{s3.__name__}.object_request"


class _Served(NamedTuple):
    """Hash and version of what lies on the server in the place of a published object."""

    sha1: str
    version_id: str | None


class _Asked(Exception):
    """Raised in place of a request, to learn where a loader looks."""

    def __init__(self, bucket: str, key: str) -> None:
        self.bucket, self.key = bucket, key


@contextlib.contextmanager
def serve_stand_ins(*identifiers: str) -> Iterator[None]:
    """Let data plugins load stand-ins from the S3 server at ``AWS_ENDPOINT_URL``, for a ``with`` block.

    Each stand-in is packaged and uploaded to the bucket and key where its data plugin's loader looks; inside the block
    the loader asks for the stand-in's hash and version instead of the published ones. All else is as ever.

    Parameters
    ----------
    *identifiers : str
        Of assemblies, whose stimulus sets are served with them, and of stimulus sets. None: all that there are.

    Raises
    ------
    UserError
        If no server is named, or the data plugin of a stand-in does not load from S3.
    """
    endpoint = os.environ.get("AWS_ENDPOINT_URL")
    if not endpoint:
        raise UserError("no S3 server is named for stand-ins", remedy="set AWS_ENDPOINT_URL to a server of your own")
    known = list_stand_ins()
    names = identifiers or (*known["assemblies"], *known["stimulus_sets"])
    client = signed_client()
    served: dict[tuple[str, str], _Served] = {}
    with TemporaryDirectory() as folder:
        for name in names:
            if name in known["assemblies"]:
                stimuli = _serve_assembly(client, name, Path(folder), served)
                _serve_stimuli(client, stimuli, Path(folder), served)
            if name in known["stimulus_sets"]:
                _serve_stimuli(client, name, Path(folder), served)
    request = object_request

    def redirected(bucket: str, key: str, *, sha1: str | None, version_id: str | None) -> FetchRequest:
        found = served.get((bucket, key))
        if found is None:
            return request(bucket, key, sha1=sha1, version_id=version_id)
        return request(bucket, key, sha1=found.sha1, version_id=found.version_id)

    with patch(_OBJECT_REQUEST, redirected):
        yield


def as_loaded(identifier: str) -> DataAssembly:
    """Stand-in of an assembly as its loader would return it."""
    stimuli, assembly = unlinked_assembly(identifier)
    with TemporaryDirectory() as folder:
        package = _package_assembly(identifier, stimuli, assembly, Path(folder))
        loader = AssemblyLoader(type(assembly), package["path"], stimulus_set=make_stimulus_set(stimuli))
        loaded = loader.load()
    loaded.attrs["identifier"] = identifier
    return loaded


def _serve_stimuli(client: Any, identifier: str, folder: Path, served: dict[tuple[str, str], _Served]) -> None:
    from brainscore_vision import stimulus_set_registry

    bucket, key = _place(stimulus_set_registry[identifier], identifier)
    if (bucket, key) in served:
        return
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ValidationWarning)  # published names need not follow today's convention
        package = package_stimulus_set_locally(make_stimulus_set(identifier), identifier, downloads_path=folder)
    for kind in ("csv", "zip"):
        place = key.removesuffix(".csv") + f".{kind}"
        if package[f"{kind}_path"] is not None:
            version = _upload(client, bucket, place, Path(package[f"{kind}_path"]))
            served[bucket, place] = _Served(package[f"{kind}_sha1"], version)


def _serve_assembly(client: Any, identifier: str, folder: Path, served: dict[tuple[str, str], _Served]) -> str:
    from brainscore_vision import data_registry

    stimuli, assembly = unlinked_assembly(identifier)
    bucket, key = _place(data_registry[identifier], identifier)
    package = _package_assembly(identifier, stimuli, assembly, folder)
    served[bucket, key] = _Served(package["sha1"], _upload(client, bucket, key, Path(package["path"])))
    return stimuli


def _package_assembly(identifier: str, stimuli: str, assembly: DataAssembly, folder: Path) -> dict[str, Any]:
    # written, not packaged: published assemblies need not pass the checks that packaging makes today
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", "Duplicate dimension names", UserWarning)
        written = assembly.copy(deep=False)
    written.attrs = {**assembly.attrs, "identifier": identifier, "stimulus_set_identifier": stimuli}
    written.attrs.pop("stimulus_set", None)
    path = folder / f"assy_{identifier.replace('.', '_')}.nc"
    return {"path": str(path), "sha1": write_netcdf(written, path)}


def _place(loader: Any, identifier: str) -> tuple[str, str]:
    """Bucket and key of the first object that a loader asks for."""

    def ask(bucket: str, key: str, **_: Any) -> FetchRequest:
        raise _Asked(bucket, key)

    with patch(_OBJECT_REQUEST, ask):
        try:
            loader()
        except _Asked as asked:
            return asked.bucket, asked.key
    raise UserError(f"the data plugin of {identifier!r} asks for no object in S3", remedy="load it with load_…_from_s3")


def _upload(client: Any, bucket: str, key: str, path: Path) -> str | None:
    name, _, prefix = bucket.partition("/")
    if name not in {found["Name"] for found in client.list_buckets()["Buckets"]}:
        client.create_bucket(Bucket=name)
        client.put_bucket_versioning(Bucket=name, VersioningConfiguration={"Status": "Enabled"})
    with path.open("rb") as stream:
        place = f"{prefix}/{key}" if prefix else key
        response = client.put_object(Bucket=name, Key=place, Body=stream, ACL="public-read")
    return response.get("VersionId")
