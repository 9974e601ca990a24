"""Catalogs: tables (``lookup.csv``) that say where stimulus sets and assemblies are stored."""

import importlib.metadata
import os
import types
import urllib.parse
from collections.abc import Collection, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple, Self

import pandas as pd

from brainscore_core.errors import UnknownIdentifier, UserError, nearest
from brainscore_core.files import folder_lock, replacing

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


class UploadedFile(NamedTuple):
    """An uploaded file."""

    bucket: str
    """Bucket, or ``bucket/folder/…``."""
    key: str
    sha1: str
    version_id: str | None = None

    @property
    def location(self) -> str:
        """Its address, in the form used in catalogs."""
        name, _, folder = self.bucket.strip("/").partition("/")
        path = "/".join(segment for segment in (folder.strip("/"), self.key.lstrip("/")) if segment)
        return f"https://{name}.s3.amazonaws.com/{urllib.parse.quote(path)}"


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
    if not path.is_file():
        return
    same = _rows_of(Catalog.from_file(name, path), identifier, lookup_type)
    if not set(same["sha1"]) <= set(sha1s):
        raise _taken_error(name, path, identifier, lookup_type)


def add_stimulus_set(
    catalog: str | os.PathLike[str] | None,
    identifier: str,
    *,
    table: UploadedFile,
    archive: UploadedFile | None,
    replace: bool = False,
) -> None:
    """Write the rows of an uploaded stimulus set into a catalog; without a catalog do nothing.

    `catalog` as for :func:`add_rows`; `archive` is None for stimuli without files. Raises UserError if the catalog does
    not exist, has other rows with that identifier, or cannot be written.
    """
    rows = [_row(identifier, STIMULUS_SET, table, cls="StimulusSet")]
    if archive is not None:
        rows.append(_row(identifier, STIMULUS_SET, archive))
    if catalog is not None:
        add_rows(catalog, rows, replace=replace)


def add_assembly(
    catalog: str | os.PathLike[str] | None,
    identifier: str,
    *,
    file: UploadedFile,
    cls: str,
    stimulus_set_identifier: str | None,
    replace: bool = False,
) -> None:
    """Write the row of an uploaded assembly into a catalog; without a catalog do nothing.

    `catalog` as for :func:`add_rows`; `cls` is the name of its class. Raises UserError if the catalog does not exist,
    has another row with that identifier, or cannot be written.
    """
    row = _row(identifier, ASSEMBLY, file, cls=cls, stimulus_set_identifier=stimulus_set_identifier)
    if catalog is not None:
        add_rows(catalog, [row], replace=replace)


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
            table = Catalog.from_file(name, path) if path.is_file() else _new_catalog(name, path)
            if replace:
                for row in rows:
                    table = table.drop(_rows_of(table, str(row["identifier"]), str(row["lookup_type"])).index)
            new = [row for row in rows if not _has_row(table, row, name, path)]
            if new:
                _write(path, pd.DataFrame(table), new)
    except OSError as error:
        raise UserError(
            f"cannot write the catalog {name!r} at {path}: {error.strerror or error}",
            remedy="an installed catalog is changed in its installation folder: install its distribution as editable, "
            "or name a CSV file",
        ) from error
    return Catalog.from_file(name, path)


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


def _row(
    identifier: str,
    lookup_type: str,
    file: UploadedFile,
    cls: str | None = None,
    stimulus_set_identifier: str | None = None,
) -> dict[str, str | None]:
    return {
        "identifier": identifier,
        "lookup_type": lookup_type,
        "class": cls,
        "location_type": "S3",
        "location": file.location,
        "sha1": file.sha1,
        "stimulus_set_identifier": stimulus_set_identifier,
        VERSION: file.version_id,
    }


def _new_catalog(name: str, path: Path) -> Catalog:
    catalog = Catalog(columns=list(CATALOG_COLUMNS), dtype=object)
    for attribute, value in (("identifier", name), ("source_path", path), ("url", None)):
        object.__setattr__(catalog, attribute, value)
    return catalog


def _write(path: Path, table: pd.DataFrame, rows: Sequence[Mapping[str, str | None]]) -> None:
    stated = dict.fromkeys(key for row in rows for key, value in row.items() if value is not None)
    columns = [*table.columns, *(key for key in stated if key not in table.columns)]
    added = pd.DataFrame([[row.get(key) for key in columns] for row in rows], columns=columns, dtype=object)
    whole = pd.concat([table.reindex(columns=columns), added], ignore_index=True)
    with replacing(path) as stream:
        stream.write(whole.to_csv(index=False, lineterminator="\n").encode())


def _rows_of(table: Catalog, identifier: str, lookup_type: str) -> Catalog:
    return table[(table["identifier"] == identifier) & (table["lookup_type"] == lookup_type)]


def _has_row(table: Catalog, row: Mapping[str, str | None], name: str, path: Path) -> bool:
    """Whether the catalog has this row; a contradicting row for the same file raises an error."""
    identifier, lookup_type = str(row["identifier"]), str(row["lookup_type"])
    for _, earlier in _rows_of(table, identifier, lookup_type).iterrows():
        if lookup_type == STIMULUS_SET and kind_of_file(earlier["location"]) != kind_of_file(row["location"]):
            continue
        if any((_cell_text(earlier.get(key)) or None) != (value or None) for key, value in row.items()):
            raise _taken_error(name, path, identifier, lookup_type)
        return True
    return False


def _taken_error(name: str, path: Path, identifier: str, lookup_type: str) -> UserError:
    noun = lookup_type.replace("_", " ")
    return UserError(
        f"the catalog {name!r} ({path}) already has the {noun} {identifier!r}",
        remedy=f"give the {noun} another identifier, or remove its rows from the catalog",
    )


def _cell_text(value: Any) -> str:
    return "" if value is None or (isinstance(value, float) and pd.isna(value)) else str(value)
