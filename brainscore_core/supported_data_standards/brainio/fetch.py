"""Fetch data files and load what is in them.

:func:`fetch` and :func:`fetch_all` return verified local files; the loaders turn them into stimulus sets and
assemblies. For files in S3 see :mod:`s3`.
"""

from ._cache import cache_home
from ._fetch_errors import (
    AccessDenied,
    FetchError,
    HashMismatch,
    IncompleteDownload,
    NotFound,
    Offline,
    SeveralFailures,
    StorageError,
)
from ._fetching import FetchRequest, fetch, fetch_all
from ._hosted import load_assembly_from_url, load_stimulus_set_from_url
from ._loaders import AssemblyLoader, StimulusSetLoader, resolve_assembly_class
from ._unzip import unzip

__all__ = [
    "AccessDenied",
    "AssemblyLoader",
    "FetchError",
    "FetchRequest",
    "HashMismatch",
    "IncompleteDownload",
    "NotFound",
    "Offline",
    "SeveralFailures",
    "StimulusSetLoader",
    "StorageError",
    "cache_home",
    "fetch",
    "fetch_all",
    "load_assembly_from_url",
    "load_stimulus_set_from_url",
    "resolve_assembly_class",
    "unzip",
]
