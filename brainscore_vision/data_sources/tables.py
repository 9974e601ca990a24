"""Data registrations as rows of two tables in a plugin's folder: ``assemblies.csv`` and ``stimulus_sets.csv``."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from brainscore_core.plugins.tables import table_row
from brainscore_core.provenance import note
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

    Parameters
    ----------
    plugin_file : str
        ``__file__`` of the plugin.
    identifier : str
        First column of the row.

    Returns
    -------
    DataAssembly
        Of the row's class.

    Raises
    ------
    UserError
        If the table cannot be read, or a file cannot be fetched.
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

    Parameters
    ----------
    plugin_file : str
        ``__file__`` of the plugin.
    identifier : str
        First column of the row.

    Returns
    -------
    StimulusSet

    Raises
    ------
    UserError
        If the table cannot be read, or a file cannot be fetched.
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
