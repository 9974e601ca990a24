"""From fetched files to stimulus sets and assemblies."""

import os
import warnings
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from brainscore_core.errors import UnknownIdentifier, UserError
from brainscore_core.plugins import nearest

from . import assemblies
from ._unzip import unpacked_files
from .assemblies import DataAssembly, NeuroidAssembly, walk_coords
from .netcdf import read_netcdf
from .stimuli import StimulusSet

__all__ = [
    "AssemblyLoader",
    "StimulusSetLoader",
    "link",
    "read_stimulus_table",
    "require_files",
    "resolve_assembly_class",
]

_LEGACY_ID = "image_id"
_ID = "stimulus_id"
_IDS = (_ID, _LEGACY_ID)
_TEXT = (*_IDS, "filename")
_SHOWN = 5
# before version 3 pandas read floats fast and nearly right, unless told otherwise
_EXACT: dict[str, Any] = {} if int(pd.__version__.partition(".")[0]) >= 3 else {"float_precision": "round_trip"}


def resolve_assembly_class(name: str | type[DataAssembly]) -> type[DataAssembly]:
    """Return the assembly class of this name.

    Parameters
    ----------
    name : str
        For example ``'NeuroidAssembly'``. A class is returned as it is.

    Raises
    ------
    UnknownIdentifier
        There is no such class; the message has the nearest names.

    Examples
    --------
    >>> from brainscore_core.supported_data_standards.brainio.fetch import resolve_assembly_class
    >>> resolve_assembly_class("BehavioralAssembly").__name__
    'BehavioralAssembly'
    """
    if isinstance(name, type):
        return name
    classes = {
        known: value
        for known in assemblies.__all__
        if isinstance(value := getattr(assemblies, known), type) and issubclass(value, DataAssembly)
    }
    if name not in classes:
        near = nearest(str(name), classes, limit=3) or sorted(classes)
        raise UnknownIdentifier(f"there is no assembly class {name!r}", remedy=f"did you mean {' or '.join(near)}?")
    return classes[name]


def read_stimulus_table(csv_path: str | os.PathLike[str]) -> pd.DataFrame:
    """Read the table of a stimulus set.

    `stimulus_id` and `filename` are text whatever they look like (``001`` stays ``001``, ``NA`` is no missing value);
    a table that has only the older column `image_id` gets a column `stimulus_id` with the same ids.
    """
    try:
        table = pd.read_csv(csv_path, dtype=dict.fromkeys(_TEXT, str), **_EXACT)
        # a second time, because pandas knows "NA is a missing value" only for all columns at once
        text = pd.read_csv(csv_path, usecols=lambda name: name in _TEXT, dtype=str, keep_default_na=False)
        table = table.assign(**{str(name): column for name, column in text.items()})
    except (OSError, ValueError) as error:  # pandas' parser errors are ValueErrors
        raise UserError(
            f"cannot read the stimulus table {csv_path}: {error}", remedy="it must be a CSV file"
        ) from error
    StimulusSetLoader.correct_stimulus_id_name(table)
    if _ID not in table.columns:
        raise UserError(
            f"{csv_path} has no column 'stimulus_id'", remedy=f"its columns are {', '.join(map(str, table.columns))}"
        )
    repeated = table[_ID][table[_ID].duplicated()].unique()
    if len(repeated):
        raise UserError(f"{csv_path} has stimulus ids twice: {_some(repeated)}", remedy="give each stimulus its own id")
    return table


class StimulusSetLoader:
    r"""Builds a stimulus set from its table and the folder of its files.

    Parameters
    ----------
    cls : type
        Class of the stimulus set: `StimulusSet` or a subclass. Kept as ``stimulus_set_class``.
    csv_path : path
        Table with one row per stimulus: `stimulus_id`, `filename` (the file in the folder; kept as a column), and
        whatever else describes the stimuli.
    stimuli_directory : path or None
        Folder of exactly the files that the table lists; None for stimuli without files.

    Notes
    -----
    A subclass may override :meth:`load`, to load a sample of the stimuli for example. The earlier form without
    `cls`, ``StimulusSetLoader(csv_path, stimuli_directory)``, is deprecated.

    Examples
    --------
    >>> import tempfile
    >>> from brainscore_core.supported_data_standards.brainio.fetch import StimulusSetLoader
    >>> folder = Path(tempfile.mkdtemp())
    >>> (folder / "files").mkdir()
    >>> _ = (folder / "files" / "cat.png").write_bytes(b"")
    >>> _ = (folder / "pets.csv").write_text("stimulus_id,filename,animal\n001,cat.png,cat\n")
    >>> stimulus_set = StimulusSetLoader(StimulusSet, folder / "pets.csv", folder / "files").load()
    >>> stimulus_set.get_stimulus("001").name
    'cat.png'
    """

    def __init__(
        self,
        cls: type[StimulusSet] = StimulusSet,
        csv_path: str | os.PathLike[str] | None = None,
        stimuli_directory: str | os.PathLike[str] | None = None,
    ) -> None:
        if not isinstance(cls, type):
            warnings.warn(
                "StimulusSetLoader(csv_path, stimuli_directory) is deprecated: pass the class first, "
                "StimulusSetLoader(StimulusSet, csv_path, stimuli_directory)",
                DeprecationWarning,
                stacklevel=2,
            )
            cls, csv_path, stimuli_directory = StimulusSet, cls, csv_path or stimuli_directory
        if csv_path is None:
            raise UserError("csv_path is missing", remedy="pass the path of the table of the stimuli")
        self.stimulus_set_class = cls
        self.csv_path = Path(csv_path)
        self.stimuli_directory = None if stimuli_directory is None else Path(stimuli_directory)

    @classmethod
    def correct_stimulus_id_name(cls, stimulus_set: pd.DataFrame) -> pd.DataFrame:
        """Add the column `stimulus_id` to a table that has only the older column `image_id`.

        Parameters
        ----------
        stimulus_set : DataFrame
            Changed in place.

        Returns
        -------
        DataFrame
            The same table.
        """
        if _LEGACY_ID in stimulus_set and _ID not in stimulus_set:
            stimulus_set[_ID] = stimulus_set[_LEGACY_ID]
        return stimulus_set

    def load(self) -> StimulusSet:
        """Read the table and link the files.

        Raises
        ------
        UserError
            No readable table, ids given twice, or a folder that does not hold exactly the files of the table.
        """
        table = read_stimulus_table(self.csv_path)
        if self.stimuli_directory is None:
            return self.stimulus_set_class(table)
        folder = self.stimuli_directory
        if not folder.is_dir():
            raise UserError(f"there is no folder {folder}", remedy="unpack the archive of the stimuli first")
        names = unpacked_files(folder)
        require_files(table, names, source=str(self.csv_path), files=f"the folder {folder}")
        return link(table, {name: folder / name for name in names}, self.stimulus_set_class)


class AssemblyLoader:
    """Reads an assembly and ties it to its stimulus set.

    Parameters
    ----------
    cls : type or str
        Class of the assembly, or its name.
    file_path : path
        The netCDF file.
    stimulus_set_identifier : str, optional
        By default that of `stimulus_set`, else what the file says.
    stimulus_set : StimulusSet, optional
        The stimuli that were shown.
    merge_stimulus_set_meta : bool, default True
        Whether the stimulus set's columns become levels of `presentation`.
    identifier : str, optional
        Name of the data set, for errors.

    Notes
    -----
    The merge is a left join on `stimulus_id`: presentations keep their number and order. A level that the assembly has
    already is kept as the assembly has it, and the stimulus set's column of that name is left out. A presentation
    whose stimulus is not in the stimulus set is an error. An assembly without a dimension `presentation` is not
    merged. Older files that have only `image_id` get `stimulus_id`, too, and whole numbers as ids become text.

    The result's ``encoding['source']`` is the path of the file, so that later errors can name it.
    """

    def __init__(
        self,
        cls: type[DataAssembly] | str,
        file_path: str | os.PathLike[str],
        stimulus_set_identifier: str | None = None,
        stimulus_set: StimulusSet | None = None,
        merge_stimulus_set_meta: bool = True,
        *,
        identifier: str | None = None,
    ) -> None:
        self.cls = resolve_assembly_class(cls)
        self.file_path = Path(file_path)
        self.stimulus_set_identifier = stimulus_set_identifier
        self.stimulus_set = stimulus_set
        self.merge_stimulus_set_meta = merge_stimulus_set_meta
        self.identifier = identifier

    def load(self) -> DataAssembly:
        """Read the file; the result's ``attrs`` have `stimulus_set` and `stimulus_set_identifier`.

        Raises
        ------
        UserError
            The file cannot be read; it has other dimensions than its class; a coordinate is missing; or presentations
            are of stimuli that the stimulus set lacks. The message names data set, file and coordinate.
        """
        with warnings.catch_warnings():
            # matrices of similarities are published as presentation × presentation × neuroid
            warnings.filterwarnings("ignore", "Duplicate dimension names", UserWarning)
            return self._load()

    def _load(self) -> DataAssembly:
        where = str(self.file_path) if self.identifier is None else f"{self.identifier} ({self.file_path})"
        assembly = _with_stimulus_ids(_of_class(read_netcdf(self.file_path), self.cls, where))
        stimulus_set = self.stimulus_set
        if stimulus_set is not None:
            if self.merge_stimulus_set_meta:
                assembly = _with_stimulus_columns(assembly, stimulus_set, where)
            assembly.attrs["stimulus_set"] = stimulus_set
        identifier = self.stimulus_set_identifier or getattr(stimulus_set, "identifier", None)
        if identifier is not None:
            assembly.attrs["stimulus_set_identifier"] = identifier
        assembly.encoding["source"] = str(self.file_path)
        return assembly


def require_files(table: pd.DataFrame, present: set[str], *, source: str, files: str) -> None:
    """Refuse a table whose column `filename` does not list exactly the files that are `present`.

    `source` and `files` say in the error where table and files are.
    """
    if "filename" not in table.columns:
        raise UserError(f"{source} has no column 'filename'", remedy="add it: the name of each stimulus' file")
    listed = set(table["filename"])
    findings = [
        f"{len(names)} {what}: {_some(sorted(names))}"
        for names, what in ((listed - present, f"missing from {files}"), (present - listed, "not in the table"))
        if names
    ]
    if findings:
        raise UserError(
            f"{source} and {files} do not list the same stimuli: " + "; ".join(findings),
            remedy="check that table and files belong together, and that nobody changed the files",
        )


def link(table: pd.DataFrame, files: Mapping[str, Path], cls: type[StimulusSet] = StimulusSet) -> StimulusSet:
    """Make a stimulus set of a table and the files that its column `filename` names."""
    stimulus_set = cls(table)
    stimulus_set.stimulus_paths = {
        identifier: files[name] for identifier, name in zip(table[_ID], table["filename"], strict=True)
    }
    return stimulus_set


def _some(names: Iterable[Any]) -> str:
    names = list(names)
    more = f", and {len(names) - _SHOWN} more" if len(names) > _SHOWN else ""
    return ", ".join(repr(str(name)) for name in names[:_SHOWN]) + more


def _of_class(assembly: DataAssembly, cls: type[DataAssembly], where: str) -> DataAssembly:
    """Give what was read the class that it was registered with, if it has that class's dimensions."""
    found = " × ".join(map(str, assembly.dims)) or "none"
    if cls.DIMS and not any(set(assembly.dims) == set(dims) for dims in cls.DIMS):
        expected = " or ".join(" × ".join(dims) for dims in cls.DIMS)
        raise UserError(
            f"{where} has the dimensions {found}, but a {cls.__name__} needs {expected}",
            remedy="package the data anew with these dimensions, or register them with another class, such as "
            "DataAssembly or BehavioralAssembly, which have no such rule",
        )
    if issubclass(cls, NeuroidAssembly) and "time_bin" in assembly.dims:
        dims_of = {name: dims for name, dims, _ in walk_coords(assembly)}
        for name in ("time_bin_start", "time_bin_end"):
            if dims_of.get(name) != ("time_bin",):
                raise UserError(
                    f"{where} has the dimensions {found}, but no coordinate {name!r} on time_bin",
                    remedy=f"package the data anew with coords={{'{name}': ('time_bin', milliseconds)}}",
                )
    return cls(assembly)


def _with_stimulus_ids(assembly: DataAssembly) -> DataAssembly:
    """Add the level `stimulus_id` where only the older `image_id` is there, and make numbers as ids text."""
    coords = {name: (dims, values) for name, dims, values in walk_coords(assembly)}
    corrected = {name: (coords[name][0], _text_ids(coords[name][1])) for name in _IDS if name in coords}
    if _ID not in corrected and _LEGACY_ID in corrected:
        corrected[_ID] = corrected[_LEGACY_ID]
    if all(name in coords and values is coords[name][1] for name, (_, values) in corrected.items()):
        return assembly
    return _rebuilt(assembly, coords | corrected)


def _text_ids(values: np.ndarray) -> np.ndarray:
    """Return ids as text if they are numbers, and as they are otherwise."""
    if values.dtype.kind not in "iuf":
        return values
    if values.dtype.kind == "f" and np.array_equal(values, np.round(values)):
        values = values.astype(np.int64)
    return np.array([str(value) for value in values.ravel()], dtype=object).reshape(values.shape)


def _with_stimulus_columns(assembly: DataAssembly, stimulus_set: StimulusSet, where: str) -> DataAssembly:
    if "presentation" not in assembly.dims:
        return assembly
    coords = {name: (dims, values) for name, dims, values in walk_coords(assembly)}
    if _ID not in coords:
        raise UserError(
            f"{where} has no coordinate 'stimulus_id' on presentation, so its stimuli are unknown",
            remedy="add it, or pass merge_stimulus_set_meta=False",
        )
    ids = pd.Index(np.atleast_1d(coords[_ID][1]).astype(str), dtype=object)
    table = pd.DataFrame(stimulus_set).set_index(pd.Index(stimulus_set[_ID].astype(str), dtype=object))
    if not table.index.is_unique:
        repeated = table.index[table.index.duplicated()].unique()
        raise UserError(
            f"the stimulus set of {where} has values of 'stimulus_id' twice: {_some(repeated)}",
            remedy="give each stimulus its own id",
        )
    columns = [column for column in table.columns if column not in coords and column not in assembly.dims]
    rows = table.index.get_indexer(ids)
    unknown = ids[rows < 0].unique()
    if len(unknown):
        none = not (rows >= 0).any()
        name = getattr(stimulus_set, "identifier", None)
        named = f" {name!r}" if name else ""
        raise UserError(
            f"{'none' if none else f'{len(unknown)}'} of the stimuli of {where} {'is' if none else 'are not'} in the "
            f"stimulus set{named}; coordinate 'stimulus_id' has {_some(unknown)}, "
            f"the stimulus set {_some(table.index[:_SHOWN])}",
            remedy="load the stimulus set that belongs to the assembly, or pass merge_stimulus_set_meta=False",
        )
    joined = table[columns].reindex(ids)
    merged = {str(column): (("presentation",), _values(joined[column])) for column in columns}
    return _rebuilt(assembly, {**coords, **merged})


def _values(column: "pd.Series[Any]") -> np.ndarray:
    """Return a column's values; text as objects, whichever string type pandas chose, and missing as NaN."""
    if isinstance(column.dtype, np.dtype):
        return column.to_numpy()
    return column.astype(object).where(column.notna(), np.nan).to_numpy(dtype=object)


def _rebuilt(assembly: DataAssembly, coords: Mapping[Any, Any]) -> DataAssembly:
    return type(assembly)(assembly.values, coords=coords, dims=assembly.dims, attrs=assembly.attrs, name=assembly.name)
