"""Catalogs: tables (``lookup.csv``) that say where stimulus sets and assemblies are stored.

The first tutorial registers data in catalogs; plugins register theirs in the registries. :mod:`fetch` loads the data.
"""

import importlib.metadata
import os
import types
import urllib.parse
from collections.abc import Collection, Mapping, Sequence
from pathlib import Path
from typing import Any, Self

import pandas as pd

from brainscore_core.errors import UnknownIdentifier, UserError, nearest
from brainscore_core.files import folder_lock, replacing
from brainscore_core.supported_data_standards.brainio.buckets import s3_object

STIMULUS_SET = "stimulus_set"
ASSEMBLY = "assembly"
ENTRY_POINTS = "brainio_lookups"
CATALOGS_VARIABLE = "BRAINIO_CATALOGS"
CATALOG_COLUMNS = (
    "identifier",
    "lookup_type",
    "class",
    "location_type",
    "location",
    "sha1",
    "stimulus_set_identifier",
)
VERSION = "version_id"
SOURCE_CATALOG = "source_catalog"
_FILE = "lookup.csv"


class Catalog(pd.DataFrame):
    """A catalog as a table with one row per file.

    It has the columns ``identifier``, ``lookup_type`` (``'stimulus_set'`` or ``'assembly'``), ``class``,
    ``location_type`` (``'S3'`` or ``'local'``), ``location``, ``sha1`` and ``stimulus_set_identifier``, and
    ``version_id`` if versions of S3 objects are known. A stimulus set has two rows, for its table and its archive;
    an assembly has one. Empty cells are NaN.

    - `identifier`: name of the catalog.
    - `source_path`: the file.
    - `url`: where it was published.
    """

    _metadata = ["identifier", "source_path", "url"]  # noqa: RUF012 -- pandas expects a list here

    @property
    def _constructor(self) -> type["Catalog"]:
        return Catalog

    @classmethod
    def from_file(cls, identifier: str, csv_path: str | os.PathLike[str], url: str | None = None) -> Self:
        """Read a catalog.

        - `identifier`: name of the catalog.
        - `csv_path`: the file.
        - `url`: where it was published.

        Raises UserError if the file cannot be read, or a column is missing.
        """
        path = Path(csv_path).expanduser().absolute()
        try:
            table = pd.read_csv(path, dtype=object, keep_default_na=False)
        except (OSError, ValueError) as error:  # parser errors of pandas are ValueErrors
            raise UserError(
                f"cannot read the catalog {identifier!r} at {path}: {error}",
                remedy=f"it must be a CSV file with the columns {', '.join(CATALOG_COLUMNS)}",
            ) from error
        if lacking := [name for name in CATALOG_COLUMNS if name not in table.columns]:
            raise UserError(
                f"the catalog {identifier!r} at {path} has no column {', '.join(lacking)}",
                remedy=f"a catalog has the columns {', '.join(CATALOG_COLUMNS)}",
            )
        catalog = cls(table.where(table != ""))
        for name, value in (("identifier", identifier), ("source_path", path), ("url", url)):
            object.__setattr__(catalog, name, value)
        return catalog


def installed_catalogs() -> dict[str, Catalog]:
    """Read all catalogs that installed distributions declare, and those that ``$BRAINIO_CATALOGS`` lists.

    A distribution declares a catalog with an entry point of the group ``brainio_lookups`` and the catalog's name. The
    entry point is a function that returns a `Catalog` or the path of a ``lookup.csv``, or a package that contains one.

    Raises `UserError` if a catalog cannot be read; the message names it and the distribution that declares it.
    """
    catalogs = {point.name: _read_entry_point(point) for point in importlib.metadata.entry_points(group=ENTRY_POINTS)}
    for entry in os.environ.get(CATALOGS_VARIABLE, "").split(os.pathsep):
        if entry.strip():
            path = Path(entry.strip()).expanduser().absolute()
            name = path.parent.name if path.name == _FILE else path.stem
            if name in catalogs:
                raise UserError(
                    f"two catalogs are named {name!r}: {catalogs[name].source_path} and {path}",
                    remedy=f"rename the file or folder that {CATALOGS_VARIABLE} lists",
                )
            catalogs[name] = Catalog.from_file(name, path)
    return catalogs


def kind_of_file(location: Any) -> str:
    """Suffix of the file at a catalog's location, in lower case: ``'.csv'``, ``'.zip'``, ``'.nc'``."""
    return Path(urllib.parse.urlsplit(str(location)).path).suffix.lower()


def _read_entry_point(point: importlib.metadata.EntryPoint) -> Catalog:
    by = f"the distribution {point.dist.name}" if point.dist is not None else point.value
    try:
        catalog = point.load()
        if callable(catalog):
            catalog = catalog()
    except UserError:
        raise
    except Exception as error:  # code of other distributions may raise any error
        raise UserError(
            f"the catalog {point.name!r}, which {by} declares as {point.value}, cannot be loaded: "
            f"{type(error).__name__}: {error}",
            remedy="fix that distribution, or uninstall it",
        ) from error
    if isinstance(catalog, Catalog):
        return catalog
    if isinstance(catalog, types.ModuleType) and catalog.__file__:
        return Catalog.from_file(point.name, Path(catalog.__file__).parent / _FILE)
    if isinstance(catalog, str | os.PathLike):
        return Catalog.from_file(point.name, catalog)
    raise UserError(
        f"the catalog {point.name!r}, which {by} declares as {point.value}, is a {type(catalog).__name__}",
        remedy=f"change the function to return brainio.catalogs.Catalog.from_file({point.name!r}, path)",
    )


class StimulusSetLookupError(UnknownIdentifier):
    """No catalog has a stimulus set with this name."""


class AssemblyLookupError(UnknownIdentifier):
    """No catalog has an assembly with this name."""


def list_installed_catalogs() -> list[str]:
    """Names of all catalogs."""
    return sorted(installed_catalogs())


def combined_catalog() -> pd.DataFrame:
    """All rows of all catalogs; the column ``source_catalog`` names the catalog.

    Examples
    --------
    >>> from brainscore_core.supported_data_standards.brainio.catalogs import combined_catalog
    >>> [name for name in combined_catalog().columns if "identifier" in name]
    ['identifier', 'stimulus_set_identifier']
    """
    empty = pd.DataFrame(columns=[*CATALOG_COLUMNS, SOURCE_CATALOG], dtype=object)
    tables = [pd.DataFrame(table).assign(**{SOURCE_CATALOG: name}) for name, table in installed_catalogs().items()]
    return pd.concat([empty, *tables], ignore_index=True)


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
    rows = _listed_rows(identifier, STIMULUS_SET, StimulusSetLookupError)
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
    row = _only_row(_listed_rows(identifier, ASSEMBLY, AssemblyLookupError), identifier)
    assert row is not None  # at least one row is listed
    return row


def _identifiers(catalog: pd.DataFrame, lookup_type: str) -> list[str]:
    return sorted(set(catalog["identifier"][catalog["lookup_type"] == lookup_type]))


def _rows_of(table: pd.DataFrame, identifier: str | None, lookup_type: str | None) -> pd.DataFrame:
    return table[(table["identifier"] == identifier) & (table["lookup_type"] == lookup_type)]


def _listed_rows(identifier: str, lookup_type: str, error: type[UnknownIdentifier]) -> pd.DataFrame:
    catalog = combined_catalog()
    rows = _rows_of(catalog, identifier, lookup_type)
    if rows.empty:
        near = nearest(str(identifier), _identifiers(catalog, lookup_type), limit=3)
        raise error(
            f"no catalog has the {lookup_type.replace('_', ' ')} {identifier!r}",
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


def catalog_row(
    identifier: str,
    lookup_type: str,
    *,
    bucket: str,
    key: str,
    sha1: str,
    version_id: str | None = None,
    cls: str | None = None,
    stimulus_set_identifier: str | None = None,
) -> dict[str, str | None]:
    """Return the row of an uploaded file: the object `key` in ``bucket`` or ``bucket/folder/…``."""
    target = s3_object(bucket, key)
    location = f"https://{target.bucket}.s3.amazonaws.com/{urllib.parse.quote(target.key)}"
    values = (identifier, lookup_type, cls, "S3", location, sha1, stimulus_set_identifier)
    return {**dict(zip(CATALOG_COLUMNS, values, strict=True)), VERSION: version_id}


def check_not_taken(
    catalog: str | os.PathLike[str] | None, identifier: str, lookup_type: str, sha1s: Collection[str] = ()
) -> None:
    """Raise an error if a catalog already has this identifier for other files; call this before any upload.

    `catalog` is the name of an installed catalog, or the path of a CSV file, which need not exist; `lookup_type` is
    ``'stimulus_set'`` or ``'assembly'``. Without a catalog, nothing is checked. Raises UserError if the catalog does
    not exist, or already has that identifier for other files.
    """
    if catalog is None:
        return
    name, path = _name_and_file(catalog)
    if path.is_file() and set(_rows_of(Catalog.from_file(name, path), identifier, lookup_type)["sha1"]) - set(sha1s):
        raise _taken_error(name, path, identifier, lookup_type)


def add_rows(
    catalog: str | os.PathLike[str], rows: Sequence[Mapping[str, str | None]], *, replace: bool = False
) -> Catalog:
    """Add rows to the file of a catalog: all or none. Rows that it already has are left unchanged.

    `catalog` is the name of an installed catalog, or the path of a CSV file, which is created if it does not exist.
    With `replace`, other rows with the same identifiers are removed. Returns the updated catalog. Raises UserError if
    the catalog has another row for the same file of the same identifier, or cannot be written.
    """
    name, path = _name_and_file(catalog)
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with folder_lock(path.parent):
            table: pd.DataFrame = Catalog(columns=list(CATALOG_COLUMNS), dtype=object)
            if path.is_file():
                table = Catalog.from_file(name, path)
            for row in rows if replace else ():
                table = table.drop(_rows_of(table, row["identifier"], row["lookup_type"]).index)
            if new := [row for row in rows if not _has_row(table, row, name, path)]:
                added = pd.DataFrame(new, dtype=object).dropna(axis="columns", how="all")
                whole = pd.concat([pd.DataFrame(table), added], ignore_index=True)
                with replacing(path) as stream:
                    stream.write(whole.to_csv(index=False, lineterminator="\n").encode())
    except OSError as error:
        raise UserError(
            f"cannot write the catalog {name!r} at {path}: {error.strerror or error}",
            remedy="an installed catalog is changed in its installation folder: install its distribution as editable, "
            "or name a CSV file",
        ) from error
    return Catalog.from_file(name, path)


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
    row = catalog_row(
        object_identifier,
        lookup_type,
        bucket=bucket_name,
        key=s3_key,
        sha1=sha1,
        version_id=version_id,
        cls=cls,
        stimulus_set_identifier=stimulus_set_identifier,
    )
    return add_rows(catalog_identifier, [row])


def _name_and_file(catalog: str | os.PathLike[str]) -> tuple[str, Path]:
    """Name and file of a catalog that is installed, or given as a path."""
    text = os.fspath(catalog)
    if text.lower().endswith(".csv"):
        path = Path(text).expanduser().absolute()
        return path.stem, path
    catalogs = installed_catalogs()
    if text not in catalogs:
        near = nearest(text, catalogs, limit=3) or sorted(catalogs)
        raise UnknownIdentifier(
            f"unknown catalog {text!r}",
            remedy=(f"did you mean {' or '.join(near)}? " if near else "no catalog is installed; ")
            + "pass None for no catalog, or the path of a CSV file",
        )
    return text, Path(catalogs[text].source_path)


def _has_row(table: pd.DataFrame, row: Mapping[str, str | None], name: str, path: Path) -> bool:
    """Whether the catalog has this row; a contradicting row for the same file raises an error."""
    identifier, lookup_type = str(row["identifier"]), str(row["lookup_type"])
    earlier = _rows_of(table, identifier, lookup_type)
    if lookup_type == STIMULUS_SET:
        earlier = earlier[earlier["location"].map(kind_of_file) == kind_of_file(row["location"])]
    if earlier.empty:
        return False
    stated = earlier.iloc[0].dropna()
    if any((stated.get(key) or None) != (value or None) for key, value in row.items()):
        raise _taken_error(name, path, identifier, lookup_type)
    return True


def _taken_error(name: str, path: Path, identifier: str, lookup_type: str) -> UserError:
    noun = lookup_type.replace("_", " ")
    return UserError(
        f"the catalog {name!r} ({path}) already has the {noun} {identifier!r}",
        remedy=f"give the {noun} another identifier, or remove its rows from the catalog",
    )
