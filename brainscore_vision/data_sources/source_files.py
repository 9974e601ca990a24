"""Files that a data plugin takes from their authors: listed in its ``sources.csv``, never copied into it."""

import csv
from collections.abc import Iterable
from pathlib import Path
from typing import NamedTuple

from brainscore_core.errors import DataUnavailable
from brainscore_core.supported_data_standards.brainio.cache import files_in_mirrors
from brainscore_core.supported_data_standards.brainio.fetch import FetchRequest, SeveralFailures, fetch_all


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
    """Whether all of these files lie in a mirror or in the cache, so that fetching them needs no network."""
    return all(
        bool(files_in_mirrors(source.url)) or FetchRequest(source.url, sha256=source.sha256).cached.is_file()
        for source in sources
    )


def fetch_sources(sources: Iterable[Source]) -> list[Path]:
    """Fetch files in parallel, each checked against its sha256."""
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
