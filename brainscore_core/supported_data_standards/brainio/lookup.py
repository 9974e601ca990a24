"""Search the installed catalogs for stimulus sets and assemblies.

The first tutorial registers data in catalogs; plugins register theirs in the registries. :mod:`fetch` loads the data.
"""

from typing import Any

import pandas as pd

from brainscore_core.errors import UnknownIdentifier, UserError, nearest
from brainscore_core.supported_data_standards.brainio.catalogs import (
    ASSEMBLY,
    CATALOG_COLUMNS,
    STIMULUS_SET,
    Catalog,
    UploadedFile,
    add_rows,
    installed_catalogs,
    kind_of_file,
)

TYPE_ASSEMBLY = ASSEMBLY
TYPE_STIMULUS_SET = STIMULUS_SET
SOURCE_CATALOG = "source_catalog"


class StimulusSetLookupError(UnknownIdentifier):
    """No catalog has a stimulus set with this name."""


class AssemblyLookupError(UnknownIdentifier):
    """No catalog has an assembly with this name."""


def list_installed_catalogs() -> list[str]:
    """Names of all catalogs."""
    return sorted(installed_catalogs())


def get_catalogs() -> dict[str, Catalog]:
    """All catalogs by name, read from their files."""
    return installed_catalogs()


def combined_catalog() -> pd.DataFrame:
    """All rows of all catalogs; the column ``source_catalog`` names the catalog.

    Examples
    --------
    >>> from brainscore_core.supported_data_standards.brainio.lookup import combined_catalog
    >>> [name for name in combined_catalog().columns if "identifier" in name]
    ['identifier', 'stimulus_set_identifier']
    """
    tables = [
        pd.DataFrame(table).assign(**{SOURCE_CATALOG: name})
        for name, table in installed_catalogs().items()
        if len(table)
    ]
    if not tables:
        return pd.DataFrame(columns=[*CATALOG_COLUMNS, SOURCE_CATALOG], dtype=object)
    return pd.concat(tables, ignore_index=True)


def list_stimulus_sets() -> list[str]:
    """Identifiers of all stimulus sets in catalogs, sorted."""
    return _identifiers(combined_catalog(), STIMULUS_SET)


def list_assemblies() -> list[str]:
    """Identifiers of all assemblies in catalogs, sorted."""
    return _identifiers(combined_catalog(), ASSEMBLY)


def lookup_stimulus_set(identifier: str) -> tuple["pd.Series[Any]", "pd.Series[Any] | None"]:
    """Find a stimulus set.

    `identifier`: its name in the catalogs. Returns: the rows of its table and of its archive; None for stimuli without
    files. Raises StimulusSetLookupError: a KeyError: no catalog has it; the message suggests similar names. Raises
    UserError if catalogs contradict each other.
    """
    rows = _rows_of(identifier, STIMULUS_SET, StimulusSetLookupError)
    kinds = rows["location"].map(kind_of_file)
    table = _only_row(rows[kinds == ".csv"], identifier)
    if table is None:
        raise StimulusSetLookupError(
            f"the catalog {rows.iloc[0][SOURCE_CATALOG]!r} has no CSV file of the stimulus set {identifier!r}",
            remedy="a stimulus set has two rows: one whose location ends in .csv, one whose location ends in .zip",
        )
    return table, _only_row(rows[kinds == ".zip"], identifier)


def lookup_assembly(identifier: str) -> "pd.Series[Any]":
    """Find an assembly.

    `identifier`: its name in the catalogs. Returns: its row. Raises AssemblyLookupError: a KeyError: no catalog has it;
    the message suggests similar names. Raises UserError if catalogs contradict each other.
    """
    row = _only_row(_rows_of(identifier, ASSEMBLY, AssemblyLookupError), identifier)
    assert row is not None  # _rows_of returns at least one row
    return row


def append(
    catalog_identifier: str,
    object_identifier: str,
    cls: str | None,
    lookup_type: str,
    bucket_name: str,
    sha1: str,
    s3_key: str,
    stimulus_set_identifier: str | None = None,
    version_id: str | None = None,
) -> Catalog:
    """Write a row into the file of a catalog.

    - `catalog_identifier`: name of an installed catalog, or path of a CSV file, which is created if it does not exist.
    - `object_identifier`: name of the stimulus set or assembly.
    - `cls`: name of its class; None for the archive of a stimulus set.
    - `lookup_type`: ``'stimulus_set'`` or ``'assembly'``.
    - `bucket_name`, `s3_key`, `sha1`, `version_id`: the uploaded file.
    - `stimulus_set_identifier`: identifier of the stimulus set of an assembly.

    Returns: the updated catalog. Raises UserError if the catalog does not exist, or already has the identifier for
    another file.
    """
    if lookup_type not in (STIMULUS_SET, ASSEMBLY):
        raise UserError(f"unknown lookup_type {lookup_type!r}", remedy=f"use {STIMULUS_SET!r} or {ASSEMBLY!r}")
    values = (object_identifier, lookup_type, cls, "S3", UploadedFile(bucket_name, s3_key, sha1).location, sha1)
    row: dict[str, str | None] = dict(zip(CATALOG_COLUMNS, values, strict=False))
    row |= {"stimulus_set_identifier": stimulus_set_identifier, "version_id": version_id}
    return add_rows(catalog_identifier, [row])


def _identifiers(catalog: pd.DataFrame, lookup_type: str) -> list[str]:
    return sorted(set(catalog["identifier"][catalog["lookup_type"] == lookup_type]))


def _rows_of(identifier: str, lookup_type: str, error: type[UnknownIdentifier]) -> pd.DataFrame:
    catalog = combined_catalog()
    rows = catalog[(catalog["identifier"] == identifier) & (catalog["lookup_type"] == lookup_type)]
    if rows.empty:
        noun = lookup_type.replace("_", " ")
        near = nearest(str(identifier), _identifiers(catalog, lookup_type), limit=3)
        raise error(
            f"no catalog has the {noun} {identifier!r}",
            remedy=f"did you mean {' or '.join(near)}?"
            if near
            else "brainio.get_stimulus_set and brainio.get_assembly also load data that plugins register",
        )
    return rows


def _only_row(rows: pd.DataFrame, identifier: str) -> "pd.Series[Any] | None":
    """Return the row on which all catalogs agree; None if there is none."""
    facts = [name for name in (*CATALOG_COLUMNS, "version_id") if name in rows.columns]
    different = rows.drop_duplicates(subset=facts)
    if len(different) > 1:
        raise UserError(
            f"catalogs contradict each other about {identifier!r}: {' and '.join(map(str, different[SOURCE_CATALOG]))} "
            f"say {' and '.join(map(str, different['location']))}",
            remedy="correct one of them, or uninstall it",
        )
    return None if different.empty else different.iloc[0]
