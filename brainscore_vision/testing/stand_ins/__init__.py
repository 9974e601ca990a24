"""Stand-ins: generated data with exactly the form of published data sets, for tests.

There is one module for each data plugin, named as its folder. Each has two dictionaries: `STIMULUS_SETS` maps an
identifier of the stimulus registry to a function that writes the stimuli's files into a folder and returns the stimulus
set; `ASSEMBLIES` maps an identifier of the data registry to a pair of the identifier of its stimulus set and a function
from the stimulus set to the assembly. Everything is generated from fixed seeds. `serve_stand_ins` uploads stand-ins to
an S3 server, from which the data plugins' own loaders fetch them.
"""

import contextlib
import hashlib
import importlib
import os
import pkgutil
import warnings
from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, NamedTuple
from unittest.mock import patch

from brainscore_core.errors import DataUnavailable, UnknownIdentifier, UserError, nearest
from brainscore_core.files import file_digest
from brainscore_core.paths import stand_ins_home
from brainscore_core.supported_data_standards.brainio import s3
from brainscore_core.supported_data_standards.brainio.assemblies import DataAssembly
from brainscore_core.supported_data_standards.brainio.buckets import signed_client
from brainscore_core.supported_data_standards.brainio.fetch import AssemblyLoader
from brainscore_core.supported_data_standards.brainio.netcdf import write_netcdf
from brainscore_core.supported_data_standards.brainio.packaging import package_stimulus_set_locally
from brainscore_core.supported_data_standards.brainio.remote_files import FetchRequest, object_request
from brainscore_core.supported_data_standards.brainio.stimuli import StimulusSet
from brainscore_core.supported_data_standards.brainio.validation import ValidationWarning

__all__ = ["check_form", "list_stand_ins", "make_stimulus_set", "serve_stand_ins", "stand_in"]

MakeStimuli = Callable[[Path], StimulusSet]
MakeAssembly = Callable[[StimulusSet], DataAssembly]


class _Generators(NamedTuple):
    """Functions that generate the stand-ins of all plugins, by the registries' identifiers."""

    stimulus_sets: dict[str, MakeStimuli]
    assemblies: dict[str, tuple[str, MakeAssembly]]


def stand_in(identifier: str) -> DataAssembly | StimulusSet:
    """Generate small data with exactly the form of a published data set. They are simulated and contain no measurement.

    Class, dimensions, coordinates and columns are those of the data set; numbers of stimuli, neuroids and subjects are
    as small as its benchmarks allow. Seeds are fixed: the values are the same in every process.

    Parameters
    ----------
    identifier : str
        Identifier of an assembly, such as ``'MajajHong2015.public'``, or of a stimulus set without an assembly of the
        same name.

    Returns
    -------
    DataAssembly or StimulusSet
        As returned by :func:`~brainscore_vision.load_dataset`, with ``attrs['simulated']`` set to 1; files of the
        ``stimulus_set`` are below ``$BRAINSCORE_HOME/stand_ins``.

    Raises
    ------
    UnknownIdentifier
        There is no stand-in with this name; the message lists the nearest names.

    Examples
    --------
    >>> assembly = stand_in("MajajHong2015.public")  # doctest: +SKIP
    """
    generators = _generators()
    if identifier in generators.assemblies:
        return as_loaded(identifier)
    if identifier in generators.stimulus_sets:
        return make_stimulus_set(identifier)
    known = sorted({*generators.assemblies, *generators.stimulus_sets})
    near = nearest(identifier, known, limit=3)
    raise UnknownIdentifier(
        f"there is no stand-in for {identifier!r}",
        remedy=f"did you mean {' or '.join(near)}?" if near else f"there are {', '.join(known)}",
    )


def check_form(loaded: DataAssembly | StimulusSet, simulated: DataAssembly | StimulusSet) -> None:
    """Compare published data with their stand-in: class, dimensions and, of stimulus sets, names and files."""
    assert type(loaded) is type(simulated)
    if isinstance(loaded, DataAssembly):
        assert "stimulus_id" in loaded.coords
        assert set(loaded.dims) >= set(simulated.dims)
    else:
        assert loaded["stimulus_id"].is_unique
        assert loaded.get_stimulus(loaded["stimulus_id"].iloc[0]).is_file()


def list_stand_ins() -> dict[str, list[str]]:
    """Identifiers of all stand-ins, by kind: ``'assemblies'`` and ``'stimulus_sets'``.

    Examples
    --------
    >>> sorted(list_stand_ins())
    ['assemblies', 'stimulus_sets']
    """
    generators = _generators()
    return {"assemblies": sorted(generators.assemblies), "stimulus_sets": sorted(generators.stimulus_sets)}


@cache
def make_stimulus_set(identifier: str) -> StimulusSet:
    """Stand-in of a stimulus set, generated once per process."""
    home = stand_ins_home()
    home.mkdir(parents=True, exist_ok=True)
    with TemporaryDirectory(dir=home, prefix=".") as made:
        folder = Path(made) / identifier
        folder.mkdir()
        stimuli = _generators().stimulus_sets[identifier](folder)
        within = {name: Path(path).relative_to(folder) for name, path in stimuli.stimulus_paths.items()}
        final = home / f"{identifier}-{_content(folder, sorted(set(within.values())))}"
        with contextlib.suppress(OSError):  # it exists: another process may generate the same files
            folder.rename(final)
    stimuli.stimulus_paths = {name: final / path for name, path in within.items()}
    stimuli.identifier = stimuli.name = identifier
    return stimuli


def _content(folder: Path, files: list[Path]) -> str:
    digest = hashlib.sha256()
    for file in files:
        digest.update(f"{file.as_posix()}\0{file_digest(folder / file, 'sha256')}\n".encode())
    return digest.hexdigest()[:16]


def unlinked_assembly(identifier: str) -> tuple[str, DataAssembly]:
    """The assembly as in its file, without the stimuli's columns, and the identifier of its stimulus set."""
    stimuli, make = _generators().assemblies[identifier]
    assembly = make(make_stimulus_set(stimuli))
    assembly.attrs["simulated"] = 1
    return stimuli, assembly


@cache
def _generators() -> _Generators:
    generators = _Generators({}, {})
    for module in pkgutil.iter_modules(__path__):
        loaded = importlib.import_module(f"{__name__}.{module.name}")
        generators.stimulus_sets.update(loaded.STIMULUS_SETS)
        generators.assemblies.update(loaded.ASSEMBLIES)
    return generators


_OBJECT_REQUEST = f"{s3.__name__}.object_request"


class _ServedObject(NamedTuple):
    """Hash and version of the object on the server that replaces a published object."""

    sha1: str
    version_id: str | None


class _RequestIntercepted(Exception):
    """Raised instead of a request, to learn which object a loader requests."""

    def __init__(self, bucket: str, key: str) -> None:
        self.bucket, self.key = bucket, key


@contextlib.contextmanager
def serve_stand_ins(*identifiers: str) -> Iterator[None]:
    """Make data plugins load stand-ins from the S3 server at ``AWS_ENDPOINT_URL`` within a ``with`` block.

    Each stand-in is packaged and uploaded to the bucket and key that its data plugin's loader requests; inside the
    block, the loader uses the stand-in's hash and version instead of the published ones. Nothing else changes.

    Parameters
    ----------
    *identifiers : str
        Identifiers of assemblies, which are served with their stimulus sets, and of stimulus sets; by default all
        whose stimuli are in S3.

    Raises
    ------
    UserError
        If no server is set, or the data plugin of a stand-in does not load from S3.
    """
    endpoint = os.environ.get("AWS_ENDPOINT_URL")
    if not endpoint:
        raise UserError("no S3 server is set for stand-ins", remedy="set AWS_ENDPOINT_URL to a server of your own")
    known = list_stand_ins()
    names = identifiers or (*known["assemblies"], *known["stimulus_sets"])
    client = signed_client()
    served: dict[tuple[str, str], _ServedObject] = {}
    with TemporaryDirectory() as folder:
        for name in names:
            try:
                if name in known["assemblies"]:
                    stimuli = _serve_assembly(client, name, Path(folder), served)
                    _serve_stimuli(client, stimuli, Path(folder), served)
                if name in known["stimulus_sets"]:
                    _serve_stimuli(client, name, Path(folder), served)
            except DataUnavailable:  # stimuli that are only read from a folder of the user's
                if identifiers:
                    raise
    request = object_request

    def redirected(
        bucket: str, key: str, *, sha1: str | None, version_id: str | None, sha256: str | None = None
    ) -> FetchRequest:
        replacement = served.get((bucket, key))
        if replacement is None:
            return request(bucket, key, sha1=sha1, version_id=version_id, sha256=sha256)
        return request(bucket, key, sha1=replacement.sha1, version_id=replacement.version_id)

    with patch(_OBJECT_REQUEST, redirected):
        yield


def as_loaded(identifier: str) -> DataAssembly:
    """Stand-in of an assembly as returned by its loader."""
    stimuli, assembly = unlinked_assembly(identifier)
    with TemporaryDirectory() as folder:
        package = _package_assembly(identifier, stimuli, assembly, Path(folder))
        loader = AssemblyLoader(type(assembly), package["path"], stimulus_set=make_stimulus_set(stimuli))
        loaded = loader.load()
    loaded.attrs["identifier"] = identifier
    return loaded


def _serve_stimuli(client: Any, identifier: str, folder: Path, served: dict[tuple[str, str], _ServedObject]) -> None:
    from brainscore_vision.registries import stimulus_set_registry

    bucket, key = _place(stimulus_set_registry[identifier], identifier)
    if (bucket, key) in served:
        return
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ValidationWarning)  # published names need not follow the current convention
        package = package_stimulus_set_locally(make_stimulus_set(identifier), identifier, downloads_path=folder)
    for kind in ("csv", "zip"):
        place = key.removesuffix(".csv") + f".{kind}"
        if package[f"{kind}_path"] is not None:
            version = _upload(client, bucket, place, Path(package[f"{kind}_path"]))
            served[bucket, place] = _ServedObject(package[f"{kind}_sha1"], version)


def _serve_assembly(client: Any, identifier: str, folder: Path, served: dict[tuple[str, str], _ServedObject]) -> str:
    from brainscore_vision.registries import data_registry

    stimuli, assembly = unlinked_assembly(identifier)
    bucket, key = _place(data_registry[identifier], identifier)
    package = _package_assembly(identifier, stimuli, assembly, folder)
    served[bucket, key] = _ServedObject(package["sha1"], _upload(client, bucket, key, Path(package["path"])))
    return stimuli


def _package_assembly(identifier: str, stimuli: str, assembly: DataAssembly, folder: Path) -> dict[str, Any]:
    # written rather than packaged: published assemblies need not pass the current checks of packaging
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", "Duplicate dimension names", UserWarning)
        written = assembly.copy(deep=False)
    written.attrs = {**assembly.attrs, "identifier": identifier, "stimulus_set_identifier": stimuli}
    written.attrs.pop("stimulus_set", None)
    path = folder / f"assy_{identifier.replace('.', '_')}.nc"
    return {"path": str(path), "sha1": write_netcdf(written, path)}


def _place(loader: Any, identifier: str) -> tuple[str, str]:
    """Bucket and key of the first object that a loader requests."""

    def intercept(bucket: str, key: str, **_: Any) -> FetchRequest:
        raise _RequestIntercepted(bucket, key)

    with patch(_OBJECT_REQUEST, intercept):
        try:
            loader()
        except _RequestIntercepted as request:
            return request.bucket, request.key
    raise UserError(
        f"the data plugin of {identifier!r} does not request an object in S3", remedy="load it with load_…_from_s3"
    )


def _upload(client: Any, bucket: str, key: str, path: Path) -> str | None:
    name, _, prefix = bucket.partition("/")
    if name not in {existing["Name"] for existing in client.list_buckets()["Buckets"]}:
        client.create_bucket(Bucket=name)
        client.put_bucket_versioning(Bucket=name, VersioningConfiguration={"Status": "Enabled"})
    with path.open("rb") as stream:
        place = f"{prefix}/{key}" if prefix else key
        response = client.put_object(Bucket=name, Key=place, Body=stream, ACL="public-read")
    return response.get("VersionId")
