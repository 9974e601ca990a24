"""Tables in the folder of a data plugin.

``assemblies.csv`` and ``stimulus_sets.csv`` register data; ``sources.csv`` lists files that the plugin takes from their
authors and never contains.
"""

from __future__ import annotations

import csv
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from brainscore_core.errors import DataUnavailable
from brainscore_core.plugins.tables import table_row
from brainscore_core.provenance import note
from brainscore_core.supported_data_standards.brainio.cache import files_in_mirrors
from brainscore_core.supported_data_standards.brainio.fetch import FetchRequest, SeveralUnavailable, fetch_all
from brainscore_vision.registries import load_stimulus_set

if TYPE_CHECKING:
    from brainscore_core.supported_data_standards.brainio.assemblies import DataAssembly
    from brainscore_core.supported_data_standards.brainio.stimuli import StimulusSet


ASSEMBLIES = "assemblies.csv"
"""Columns: identifier, object (its name in the storage), bucket, class, sha1, version_id, stimulus_set and,
if the stimulus set's columns are not merged into the assembly, merge_stimulus_set_meta with the value ``no``; and, if
data of another plugin are of the same subjects, study with a name that the receipts of both have."""

STIMULUS_SETS = "stimulus_sets.csv"
"""Columns: identifier, object, bucket, csv_sha1, zip_sha1, csv_version_id, zip_version_id; and, if sets of other
plugins have the same pictures, collection with the data set that all of them are taken from. A version of
``null`` is that of objects from before the bucket kept versions."""


def load_assembly(plugin_file: str, identifier: str) -> DataAssembly:
    """Load the assembly of a row of ``assemblies.csv``, with the stimulus set that the row names.

    `plugin_file`: ``__file__`` of the plugin. `identifier`: first column of the row. Result: a DataAssembly of the
    row's class. A UserError if the table cannot be read, or a file cannot be fetched.
    """
    from brainscore_core.supported_data_standards.brainio.s3 import load_assembly_from_s3

    row = table_row(plugin_file, ASSEMBLIES, identifier)
    if row.get("study"):
        note("study", identifier=row["study"])
    stimuli: Callable[[], StimulusSet] | None = None
    if row["stimulus_set"]:
        stimuli = lambda: load_stimulus_set(row["stimulus_set"])  # noqa: E731 -- typed above
    return load_assembly_from_s3(
        identifier=row["object"],
        version_id=row["version_id"] or None,
        sha1=row["sha1"],
        bucket=row["bucket"],
        cls=row["class"],
        stimulus_set_loader=stimuli,
        merge_stimulus_set_meta=row.get("merge_stimulus_set_meta") != "no",
    )


def load_stimuli(plugin_file: str, identifier: str) -> StimulusSet:
    """Load the stimulus set of a row of ``stimulus_sets.csv``.

    `plugin_file`: ``__file__`` of the plugin. `identifier`: first column of the row. A UserError if the table cannot be
    read, or a file cannot be fetched.
    """
    from brainscore_core.supported_data_standards.brainio.s3 import load_stimulus_set_from_s3

    row = table_row(plugin_file, STIMULUS_SETS, identifier)
    if row.get("collection"):
        note("collection", identifier=row["collection"])
    return load_stimulus_set_from_s3(
        identifier=row["object"],
        bucket=row["bucket"],
        csv_sha1=row["csv_sha1"],
        zip_sha1=row["zip_sha1"],
        csv_version_id=row["csv_version_id"] or None,
        zip_version_id=row["zip_version_id"] or None,
    )


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
    except SeveralUnavailable as failures:  # for one reason, that of the first
        raise DataUnavailable(
            f"{len(failures.errors)} of {len(requests)} files are unavailable, the first: {failures.errors[0]}"
        ) from failures
