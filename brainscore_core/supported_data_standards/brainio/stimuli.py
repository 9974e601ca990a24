"""Tables of stimuli with their files, and the loader that reads them from disk."""

import os
import warnings
from collections.abc import Mapping, Sequence
from difflib import get_close_matches
from pathlib import Path
from typing import Any, Self

import pandas as pd

from brainscore_core.errors import MissingColumn, UnknownIdentifier, UserError
from brainscore_core.supported_data_standards.brainio.cache import unpacked_files
from brainscore_core.supported_data_standards.brainio.findings import ValidationWarning, format_values
from brainscore_core.supported_data_standards.brainio.tables import (
    convert_texts,
    mark_missing,
    read_csv,
    read_texts,
    table_format,
)


class StimulusSet(pd.DataFrame):
    """A table with one row for each stimulus, and the paths of the stimuli's files.

    It is a :class:`pandas.DataFrame`. Name and paths survive copying, slicing, merging, grouping and pickling; a
    concatenation has the paths of all its parts, without those that contradict each other.

    Parameters
    ----------
    data : list of dict, DataFrame, dict
        Data as for a DataFrame. Packaging requires a column ``stimulus_id`` of strings.
    *args, **kwargs
        As for :class:`pandas.DataFrame`.

    Examples
    --------
    >>> stimuli = StimulusSet([{"stimulus_id": "img_1", "category": "face"}, {"stimulus_id": "img_2"}])
    >>> stimuli.name = "MyExperiment2024"
    >>> stimuli.stimulus_paths = {"img_1": "faces/happy.png", "img_2": "faces/sad.png"}
    >>> part = stimuli[stimuli["category"] == "face"]
    >>> part.identifier
    'MyExperiment2024'
    >>> part.get_stimulus("img_1").name
    'happy.png'
    """

    # pandas propagates these attributes; the public names are properties that use them
    _metadata = ["_identifier", "_stimulus_paths", "_original_paths"]  # noqa: RUF012 -- pandas expects a list here

    _identifier: str | None = None
    _stimulus_paths: dict[str, str | Path] | None = None
    _original_paths: dict[str, str | Path] | None = None

    def __init__(self, data: Any = None, *args: Any, **kwargs: Any) -> None:
        super().__init__(data, *args, **kwargs)  # type: ignore[call-arg] # pandas' is untyped
        if isinstance(data, StimulusSet):
            self.__finalize__(data, method="copy")

    @property
    def _constructor(self) -> type["StimulusSet"]:
        return StimulusSet

    def __getitem__(self, key: Any) -> Any:
        """Select as a DataFrame does; a missing column is a `MissingColumn`, which is also a `KeyError`."""
        try:
            return super().__getitem__(key)
        except KeyError as error:
            names = [key] if isinstance(key, str) else key if isinstance(key, list) else []
            missing = next((name for name in names if isinstance(name, str) and name not in self.columns), None)
            if missing is None:
                raise
            data = f"the stimulus set {self.identifier or '(without identifier)'}"
            raise MissingColumn.among(self.columns, missing, data=data, kind="column") from error

    @property
    def identifier(self) -> str | None:
        """Unique name of the stimulus set; the same as ``name``."""
        return self._identifier

    @identifier.setter
    def identifier(self, identifier: str | None) -> None:
        object.__setattr__(self, "_identifier", identifier)

    @property
    def name(self) -> Any:
        """Unique name of the stimulus set, same as ``identifier``; inside ``groupby(…).apply`` the key of the group."""
        return self.__dict__.get("_group_key", self._identifier)

    @name.setter
    def name(self, name: Any) -> None:
        # __setattr__ handles assignments; only pandas calls this, to set the key of a group
        object.__setattr__(self, "_group_key", name)

    def __setattr__(self, name: str, value: Any) -> None:
        super().__setattr__("identifier" if name == "name" else name, value)

    @property
    def stimulus_paths(self) -> dict[str, str | Path]:
        """Map from each stimulus id to its file; empty for stimuli without files."""
        if self._stimulus_paths is None:
            object.__setattr__(self, "_stimulus_paths", {})
        return self._stimulus_paths  # type: ignore[return-value] # set above

    @stimulus_paths.setter
    def stimulus_paths(self, paths: Mapping[str, str | Path] | None) -> None:
        object.__setattr__(self, "_stimulus_paths", _as_paths(paths, "stimulus_paths"))

    @property
    def original_paths(self) -> dict[str, str | Path] | None:
        """Files from which the present files were derived, e.g. by placing them on a screen; None if unchanged."""
        return self._original_paths

    @original_paths.setter
    def original_paths(self, paths: Mapping[str, str | Path] | None) -> None:
        object.__setattr__(self, "_original_paths", _as_paths(paths, "original_paths"))

    def __finalize__(self, other: Any, method: str | None = None, **kwargs: Any) -> Self:
        super().__finalize__(other, method=method, **kwargs)  # type: ignore[misc] # not in pandas' stubs
        candidates = (other.left, other.right) if method == "merge" else other.objs if method == "concat" else (other,)
        sources = [source for source in candidates if isinstance(source, StimulusSet)]
        if method == "concat":
            identifiers = {source.identifier for source in sources} - {None}
            self.identifier = identifiers.pop() if len(identifiers) == 1 else None
            self._unite_paths(sources)
        elif sources:
            for attribute in self._metadata:
                object.__setattr__(self, attribute, getattr(sources[0], attribute))
            if method == "copy":  # changes of a copy's paths must not affect the original
                self._unite_paths(sources)
        return self

    def _unite_paths(self, sources: "list[StimulusSet]") -> None:
        for attribute in ("_stimulus_paths", "_original_paths"):
            path_tables = [paths for source in sources if (paths := getattr(source, attribute)) is not None]
            object.__setattr__(self, attribute, _united(path_tables) if path_tables else None)

    def _repr_html_(self) -> str | None:
        from brainscore_core.supported_data_standards.brainio.summaries import stimulus_previews

        table: str | None = super()._repr_html_()  # type: ignore[misc] # not in pandas' stubs
        return None if table is None else stimulus_previews(self) + table

    def get_stimulus(self, stimulus_id: str) -> Path:
        """Return the file of a stimulus.

        Parameters
        ----------
        stimulus_id : str
            A value of the column ``stimulus_id``.

        Raises
        ------
        UnknownIdentifier
            A KeyError: the stimulus does not exist; the message suggests similar ids.
        UserError
            If the stimulus has no file.
        """
        paths = self.stimulus_paths
        if stimulus_id in paths:
            return Path(paths[stimulus_id])
        of = f"stimulus set {self.identifier!r}" if self.identifier else "this stimulus set"
        ids = list(paths)
        for column in ("stimulus_id", "image_id"):
            if column in self.columns:
                ids.extend(self[column].tolist())
        if stimulus_id in ids:
            raise UserError(
                f"stimulus {stimulus_id!r} of {of} has no file" + ("" if paths else "; none of its stimuli has one"),
                remedy="add its path to stimulus_paths",
            )
        if str(stimulus_id) in ids:
            raise UnknownIdentifier(
                f"{of} has no stimulus {stimulus_id!r}", remedy=f"ids are strings: {str(stimulus_id)!r}"
            )
        near = get_close_matches(str(stimulus_id), [str(text) for text in dict.fromkeys(ids)], n=3, cutoff=0.5)
        remedy = f"nearest ids: {', '.join(near)}" if near else "see the column stimulus_id for its ids"
        raise UnknownIdentifier(f"{of} has no stimulus {stimulus_id!r}", remedy=remedy)

    def get_image(self, image_id: str) -> Path:
        """Return the file of a stimulus; older name of :meth:`get_stimulus`."""
        return self.get_stimulus(image_id)

    @classmethod
    def get_loader_class(cls) -> "type[StimulusSetLoader]":
        """Class that reads stimulus sets of this class; a subclass may have its own."""
        return StimulusSetLoader

    @classmethod
    def from_paths(cls, paths: Sequence[str | Path]) -> "StimulusSet":
        """Create a stimulus set from files; the ``stimulus_id`` of each is its path.

        Parameters
        ----------
        paths : sequence of str or Path
            A file may occur several times.

        Raises
        ------
        UserError
            If `paths` is not a sequence of paths.

        Examples
        --------
        >>> StimulusSet.from_paths(["cat.png", Path("dog.png")])["stimulus_id"].tolist()
        ['cat.png', 'dog.png']
        """
        listed = [] if isinstance(paths, str | Path) else list(paths)
        if not listed or not all(isinstance(path, str | Path) for path in listed):
            raise UserError(
                f"{paths!r} are not stimuli" if len(repr(paths)) < 200 else f"a {type(paths).__name__} is not stimuli",
                remedy="pass a StimulusSet, or a list of paths of files",
            )
        stimuli = cls({"stimulus_id": [str(path) for path in listed]})
        stimuli.stimulus_paths = {str(path): path for path in listed}
        return stimuli

    @classmethod
    def from_files(cls, csv_path: str | Path, dir_path: str | Path | None = None, **kwargs: Any) -> "StimulusSet":
        """Read a stimulus set from its table and the folder of its files.

        Parameters
        ----------
        csv_path : str or Path
            Table with a column ``stimulus_id`` and, if there are files, a column ``filename``.
        dir_path : str or Path, optional
            Folder with exactly the files in the table.
        **kwargs
            Further arguments for the class that :meth:`get_loader_class` returns.
        """
        return cls.from_loader(cls.get_loader_class()(cls=cls, csv_path=csv_path, stimuli_directory=dir_path, **kwargs))

    @classmethod
    def from_loader(cls, loader: Any) -> "StimulusSet":
        """Read a stimulus set.

        Parameters
        ----------
        loader : StimulusSetLoader, or path
            An object with a method ``load()``; or the path of a table, for stimuli without files.
        """
        return cls.from_files(loader) if isinstance(loader, str | Path) else cls(loader.load())


def _as_paths(paths: Mapping[str, str | Path] | None, attribute: str) -> dict[str, str | Path] | None:
    if paths is None:
        return None
    if not isinstance(paths, Mapping):
        raise TypeError(f"{attribute} must be a mapping from stimulus ids to files, not a {type(paths).__name__}")
    return dict(paths)


def _united(several: list[dict[str, str | Path]]) -> dict[str, str | Path]:
    """Combine paths, without those of stimuli that have different files in different sets."""
    united: dict[str, str | Path] = {}
    contradictory = set()
    for paths in several:
        for stimulus_id, path in paths.items():
            first = united.setdefault(stimulus_id, path)
            if first is not path and Path(first) != Path(path):
                contradictory.add(stimulus_id)
    return {stimulus_id: path for stimulus_id, path in united.items() if stimulus_id not in contradictory}


LEGACY_STIMULUS_ID = "image_id"


STIMULUS_ID = "stimulus_id"


STIMULUS_ID_COLUMNS = (STIMULUS_ID, LEGACY_STIMULUS_ID)


_TEXT_COLUMNS = (*STIMULUS_ID_COLUMNS, "filename")


def read_stimulus_table(csv_path: str | os.PathLike[str]) -> pd.DataFrame:
    """Read the table of a stimulus set.

    `stimulus_id` and `filename` are always read as text (``001`` stays ``001``, and ``NA`` is not a missing value). A
    table that has only the older column `image_id` gets a column `stimulus_id` with the same ids.
    """
    try:
        path = Path(csv_path)
        if table_format(path).get("sep", ",") != ",":  # packaging writes commas
            table = _read_foreign_table(path)
        else:
            table = read_csv(path, dtype=dict.fromkeys(_TEXT_COLUMNS, str))
        # read twice, as pandas can treat "NA" as missing only for all columns or none
        text = read_csv(path, usecols=lambda name: name in _TEXT_COLUMNS, dtype=str, keep_default_na=False)
        table = table.assign(**{str(name): column for name, column in text.items()})
    except (OSError, ValueError) as error:  # parser errors of pandas are ValueErrors
        raise UserError(
            f"cannot read the stimulus table {csv_path}: {error}", remedy="it must be a CSV file in UTF-8"
        ) from error
    StimulusSetLoader.correct_stimulus_id_name(table)
    if STIMULUS_ID not in table.columns:
        raise UserError(
            f"{csv_path} has no column 'stimulus_id'", remedy=f"its columns are {', '.join(map(str, table.columns))}"
        )
    repeated = table[STIMULUS_ID][table[STIMULUS_ID].duplicated()].unique()
    if len(repeated):
        raise UserError(
            f"{csv_path} has duplicate stimulus ids: {format_values(repeated)}", remedy="give each stimulus its own id"
        )
    return table


def _read_foreign_table(path: Path) -> pd.DataFrame:
    """Read a table of another program, with a warning about what was converted."""
    table, changes = read_texts(path)
    data_columns = [name for name in table.columns if name not in _TEXT_COLUMNS]
    marked = mark_missing(table[data_columns])
    table, converted = convert_texts(table.assign(**marked.table), data_columns)
    notes = "; ".join(map(str, (*changes, *marked.changes, *converted)))
    warnings.warn(f"{path.name} is not a packaged table: {notes}", ValidationWarning, stacklevel=4)
    return table


class StimulusSetLoader:
    r"""Builds a stimulus set from its table and the folder of its files.

    Parameters
    ----------
    cls : type
        Class of the stimulus set: `StimulusSet` or a subclass. Kept as ``stimulus_set_class``.
    csv_path : path
        Table with one row per stimulus: `stimulus_id`, `filename` (the file in the folder; kept as a column), and any
        further columns.
    stimuli_directory : path or None
        Folder with exactly the files that the table lists; None for stimuli without files.

    Notes
    -----
    A subclass may override :meth:`load`, for example to load a sample of the stimuli. The earlier form without `cls`,
    ``StimulusSetLoader(csv_path, stimuli_directory)``, is deprecated.

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
        if LEGACY_STIMULUS_ID in stimulus_set and STIMULUS_ID not in stimulus_set:
            stimulus_set[STIMULUS_ID] = stimulus_set[LEGACY_STIMULUS_ID]
        return stimulus_set

    def load(self) -> StimulusSet:
        """Read the table and link the files.

        Raises
        ------
        UserError
            If the table cannot be read, ids are duplicated, or the folder does not have exactly the files of the table.
        """
        table = read_stimulus_table(self.csv_path)
        if self.stimuli_directory is None:
            return self.stimulus_set_class(table)
        folder = self.stimuli_directory
        if not folder.is_dir():
            raise UserError(f"the folder {folder} does not exist", remedy="unpack the archive of the stimuli first")
        names = unpacked_files(folder)
        require_files(table, names, source=str(self.csv_path), files=f"the folder {folder}")
        return link_files(table, {name: folder / name for name in names}, self.stimulus_set_class)


def require_files(table: pd.DataFrame, present: set[str], *, source: str, files: str) -> None:
    """Raise an error if the column `filename` does not list exactly the files that are `present`.

    `source` and `files` name the locations of the table and the files in the error message.
    """
    if "filename" not in table.columns:
        raise UserError(f"{source} has no column 'filename'", remedy="add it: the name of each stimulus's file")
    listed = set(table["filename"])
    findings = [
        f"{len(names)} {problem}: {format_values(sorted(names))}"
        for names, problem in ((listed - present, f"missing from {files}"), (present - listed, "not in the table"))
        if names
    ]
    if findings:
        raise UserError(
            f"{source} and {files} do not list the same stimuli: " + "; ".join(findings),
            remedy="check that table and files belong together, and that the files are unchanged",
        )


def link_files(table: pd.DataFrame, files: Mapping[str, Path], cls: type[StimulusSet] = StimulusSet) -> StimulusSet:
    """Create a stimulus set from a table and the files in its column `filename`."""
    stimulus_set = cls(table)
    stimulus_set.stimulus_paths = {
        identifier: files[name] for identifier, name in zip(table[STIMULUS_ID], table["filename"], strict=True)
    }
    return stimulus_set
