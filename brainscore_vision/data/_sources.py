"""Files that a data plugin takes from their authors: listed in its ``sources.csv``, never copied into it."""

import csv
from collections.abc import Iterable
from pathlib import Path
from typing import NamedTuple

from brainscore_core.errors import DataUnavailable
from brainscore_core.supported_data_standards.brainio.cache import files_in_mirrors
from brainscore_core.supported_data_standards.brainio.fetch import FetchRequest, SeveralFailures, fetch_all

__all__ = ["Source", "at_hand", "fetch_sources", "read_sources"]


class Source(NamedTuple):
    """One published file."""

    url: str
    sha256: str
    size: int
    """In bytes."""
    licence: str

    @property
    def name(self) -> str:
        """Last part of the URL."""
        return self.url.rpartition("/")[2]


def read_sources(folder: str | Path, *, containing: str = "") -> list[Source]:
    """Read a data plugin's list of published files.

    Parameters
    ----------
    folder : path
        The plugin's folder, with ``sources.csv`` (url, sha256, bytes, licence).
    containing : str, optional
        Only files with this text in their URL.

    Returns
    -------
    list of Source
        In the order of the list, which is sorted by URL.

    Examples
    --------
    >>> from pathlib import Path
    >>> import brainscore_vision.data
    >>> folder = Path(brainscore_vision.data.__file__).parent / "kriegeskorte2008"
    >>> [source.name for source in read_sources(folder, containing="brainRDMs")]
    ['92_brainRDMs.mat']
    """
    with (Path(folder) / "sources.csv").open(encoding="utf-8", newline="") as stream:
        rows = [row for row in csv.DictReader(stream) if containing in row["url"]]
    return [Source(row["url"], row["sha256"], int(row["bytes"]), row["licence"]) for row in rows]


def at_hand(sources: Iterable[Source]) -> bool:
    """Whether all of these files lie in a mirror or in the cache, so that fetching them needs no network.

    Parameters
    ----------
    sources : iterable of Source
        Which files. They are looked for, not read.
    """
    return all(
        bool(files_in_mirrors(source.url)) or FetchRequest(source.url, sha256=source.sha256).cached.is_file()
        for source in sources
    )


def fetch_sources(sources: Iterable[Source]) -> list[Path]:
    """Fetch files in parallel, each checked against its sha256.

    Parameters
    ----------
    sources : iterable of Source
        What to fetch.

    Returns
    -------
    list of Path
        In the order of `sources`.

    Raises
    ------
    DataUnavailable
        If files are neither in a mirror nor in the cache and cannot be downloaded; it names one of them and the remedy.
    FetchError
        If something else went wrong, such as a file that is not the registered one.
    """
    requests = [{"url": source.url, "sha256": source.sha256} for source in sources]
    try:
        return fetch_all(requests)
    except SeveralFailures as failures:
        if not all(isinstance(failure, DataUnavailable) for failure in failures.errors):
            raise
        # all for one reason: the first tells it
        raise DataUnavailable(
            f"{len(failures.errors)} of {len(requests)} files cannot be had, the first: {failures.errors[0]}"
        ) from failures
