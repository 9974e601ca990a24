"""Stimulus sets and assemblies that are fetched first."""

from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Any

from brainscore_core.errors import UserError

from ._fetching import FetchRequest, cache_folder, fetch, fetch_all
from ._loaders import AssemblyLoader, StimulusSetLoader, link, read_stimulus_table, require_files
from ._unzip import unzip
from .assemblies import DataAssembly
from .stimuli import StimulusSet

__all__ = ["load_assembly", "load_assembly_from_url", "load_from_requests", "load_stimulus_set_from_url"]


def load_stimulus_set_from_url(
    *,
    identifier: str,
    csv_url: str,
    csv_sha256: str,
    zip_url: str | None = None,
    zip_sha256: str | None = None,
    files: Iterable[FetchRequest | Mapping[str, Any]] = (),
) -> StimulusSet:
    r"""Load a stimulus set that its authors host themselves.

    Parameters
    ----------
    identifier : str
        Its identifier.
    csv_url, csv_sha256 : str
        The table and its hash; see :class:`StimulusSetLoader` for its columns.
    zip_url, zip_sha256 : str, optional
        An archive of the stimuli, and its hash.
    files : iterable of FetchRequest or of dict, optional
        In place of an archive, every file by itself: ``{'url': …, 'sha256': …}``; the last part of the URL (or
        ``'filename'``) is what the table's column `filename` says. Neither archive nor files: stimuli without files.

    Returns
    -------
    StimulusSet

    Raises
    ------
    FetchError
        A file cannot be fetched, or is not the registered one.
    UserError
        The files are not exactly those that the table lists.

    Examples
    --------
    >>> import hashlib, tempfile
    >>> from brainscore_core.supported_data_standards.brainio.fetch import load_stimulus_set_from_url
    >>> table = Path(tempfile.mkdtemp()) / "words.csv"
    >>> _ = table.write_text("stimulus_id,word\nw1,cat\nw2,dog\n")
    >>> stimulus_set = load_stimulus_set_from_url(
    ...     identifier="Words2026",
    ...     csv_url=table.as_uri(),
    ...     csv_sha256=hashlib.sha256(table.read_bytes()).hexdigest(),
    ... )
    >>> stimulus_set.identifier, list(stimulus_set["word"])
    ('Words2026', ['cat', 'dog'])
    """
    requests = [item if isinstance(item, FetchRequest) else FetchRequest(**item) for item in files]
    if requests and zip_url is not None:
        raise UserError(f"{identifier}: both zip_url and files are given", remedy="pass only one of them")
    table_request = FetchRequest(csv_url, sha256=csv_sha256)
    if zip_url is not None:
        return load_from_requests(identifier, table_request, FetchRequest(zip_url, sha256=zip_sha256))
    if not requests:
        return load_from_requests(identifier, table_request, None)
    table = read_stimulus_table(fetch(csv_url, sha256=csv_sha256))
    names = [request.name for request in requests]
    require_files(table, set(names), source=csv_url, files="the given files")
    return _identified(link(table, dict(zip(names, fetch_all(requests), strict=True))), identifier)


def load_assembly_from_url(
    *,
    identifier: str,
    url: str,
    sha256: str,
    cls: type[DataAssembly] | str,
    stimulus_set_loader: Callable[[], StimulusSet] | None = None,
    merge_stimulus_set_meta: bool = True,
) -> DataAssembly:
    """Load an assembly that its authors host themselves.

    Parameters
    ----------
    identifier : str
        Its identifier.
    url, sha256 : str
        The netCDF file and its hash.
    cls : type or str
        Class of the assembly, or its name.
    stimulus_set_loader : callable, optional
        Returns the stimulus set; called once.
    merge_stimulus_set_meta : bool, default True
        See :class:`AssemblyLoader`.

    Returns
    -------
    DataAssembly
        Of class `cls`; ``attrs`` have `identifier`, and `stimulus_set` and `stimulus_set_identifier` where a loader
        is given.
    """
    path = fetch(url, sha256=sha256)
    return load_assembly(identifier, path, cls, stimulus_set_loader, merge_stimulus_set_meta=merge_stimulus_set_meta)


def load_assembly(
    identifier: str,
    path: Path,
    cls: type[DataAssembly] | str,
    stimulus_set_loader: Callable[[], StimulusSet] | None,
    *,
    merge_stimulus_set_meta: bool,
) -> DataAssembly:
    """Read a fetched assembly and give it its identifier."""
    stimulus_set = stimulus_set_loader() if stimulus_set_loader is not None else None
    assembly = AssemblyLoader(
        cls,
        path,
        stimulus_set=stimulus_set,
        merge_stimulus_set_meta=merge_stimulus_set_meta,
        identifier=identifier,
    ).load()
    assembly.attrs["identifier"] = identifier
    return assembly


def load_from_requests(identifier: str, table: FetchRequest, archive: FetchRequest | None) -> StimulusSet:
    """Fetch table and archive at once; unpack the archive in the cache, wherever it was found."""
    if archive is None:
        return _identified(StimulusSetLoader(StimulusSet, fetch_all([table])[0]).load(), identifier)
    csv_path, zip_path = fetch_all([table, archive])
    name = Path(archive.name)
    folder = unzip(zip_path, into=cache_folder(archive) / (name.stem if name.suffix else f"{name}_files"))
    return _identified(StimulusSetLoader(StimulusSet, csv_path, folder).load(), identifier)


def _identified(stimulus_set: StimulusSet, identifier: str) -> StimulusSet:
    stimulus_set.identifier = identifier
    return stimulus_set
