"""Tables of stimuli, with their files."""

from collections.abc import Mapping, Sequence
from difflib import get_close_matches
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

import pandas as pd

from brainscore_core.errors import UnknownIdentifier, UserError

if TYPE_CHECKING:
    from brainscore_core.supported_data_standards.brainio.fetch import StimulusSetLoader

__all__ = ["StimulusSet", "StimulusSetLoader"]


def __getattr__(name: str) -> Any:
    if name == "StimulusSetLoader":  # the loader needs this module, so it is looked up when asked for
        from brainscore_core.supported_data_standards.brainio.fetch import StimulusSetLoader

        return StimulusSetLoader
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


class StimulusSet(pd.DataFrame):
    """A table with one row for each stimulus, which knows the stimuli's files.

    It is a :class:`pandas.DataFrame`. Name and paths survive copying, slicing, merging, grouping, pickling; in a
    concatenation, paths are united, and what contradicts itself is left out.

    Parameters
    ----------
    data : list of dict, DataFrame, dict
        Whatever a DataFrame is made of. Needs a column ``stimulus_id`` of strings before it can be packaged.
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

    # pandas carries these along; the public names are properties over them
    _metadata = ["_identifier", "_stimulus_paths", "_original_paths"]  # noqa: RUF012 -- pandas wants a list here

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

    @property
    def identifier(self) -> str | None:
        """Unique name of the stimulus set; the same as ``name``."""
        return self._identifier

    @identifier.setter
    def identifier(self, identifier: str | None) -> None:
        object.__setattr__(self, "_identifier", identifier)

    @property
    def name(self) -> Any:
        """Unique name of the stimulus set, the same as ``identifier``; inside ``groupby(…).apply`` the group's key."""
        return self.__dict__.get("_group_key", self._identifier)

    @name.setter
    def name(self, name: Any) -> None:
        # assignments do not come here (see __setattr__), only pandas does, when it tells a group its key
        object.__setattr__(self, "_group_key", name)

    def __setattr__(self, name: str, value: Any) -> None:
        super().__setattr__("identifier" if name == "name" else name, value)

    @property
    def stimulus_paths(self) -> dict[str, str | Path]:
        """Map each stimulus id to its file, as it was set; empty for stimuli without files."""
        if self._stimulus_paths is None:
            object.__setattr__(self, "_stimulus_paths", {})
        return self._stimulus_paths  # type: ignore[return-value] # set above

    @stimulus_paths.setter
    def stimulus_paths(self, paths: Mapping[str, str | Path] | None) -> None:
        object.__setattr__(self, "_stimulus_paths", _as_paths(paths, "stimulus_paths"))

    @property
    def original_paths(self) -> dict[str, str | Path] | None:
        """Files from which the present ones were made, e.g. put on a screen; None where they were not changed."""
        return self._original_paths

    @original_paths.setter
    def original_paths(self, paths: Mapping[str, str | Path] | None) -> None:
        object.__setattr__(self, "_original_paths", _as_paths(paths, "original_paths"))

    def __finalize__(self, other: Any, method: str | None = None, **kwargs: Any) -> Self:
        super().__finalize__(other, method=method, **kwargs)  # type: ignore[misc] # not in pandas' stubs
        if method == "merge":
            for source in (other.left, other.right):
                if isinstance(source, StimulusSet):
                    self._take(source)
                    break
        elif method == "concat":
            self._take_common([source for source in other.objs if isinstance(source, StimulusSet)])
        elif isinstance(other, StimulusSet):
            self._take(other)
            if method == "copy":  # a copy's paths can be changed without changing the original's
                for attribute in ("_stimulus_paths", "_original_paths"):
                    paths = getattr(self, attribute)
                    object.__setattr__(self, attribute, None if paths is None else dict(paths))
        return self

    def _take(self, source: "StimulusSet") -> None:
        for attribute in self._metadata:
            object.__setattr__(self, attribute, getattr(source, attribute))

    def _take_common(self, sources: list["StimulusSet"]) -> None:
        identifiers = {source._identifier for source in sources} - {None}
        object.__setattr__(self, "_identifier", identifiers.pop() if len(identifiers) == 1 else None)
        for attribute in ("_stimulus_paths", "_original_paths"):
            given = [paths for source in sources if (paths := getattr(source, attribute)) is not None]
            object.__setattr__(self, attribute, _united(given) if given else None)

    def get_stimulus(self, stimulus_id: str) -> Path:
        """File of a stimulus.

        Parameters
        ----------
        stimulus_id : str
            As in the column ``stimulus_id``.

        Returns
        -------
        Path

        Raises
        ------
        UnknownIdentifier
            A KeyError. There is no such stimulus; the message names the nearest.
        UserError
            The stimulus has no file.
        """
        paths = self.stimulus_paths
        if stimulus_id in paths:
            return Path(paths[stimulus_id])
        of = f"stimulus set {self.identifier!r}" if self.identifier else "this stimulus set"
        known = list(paths)
        for column in ("stimulus_id", "image_id"):
            if column in self.columns:
                known.extend(self[column].tolist())
        if stimulus_id in known:
            raise UserError(
                f"stimulus {stimulus_id!r} of {of} has no file" + ("" if paths else "; none of its stimuli has one"),
                remedy="put its path into stimulus_paths",
            )
        if str(stimulus_id) in known:
            raise UnknownIdentifier(
                f"{of} has no stimulus {stimulus_id!r}", remedy=f"ids are strings: {str(stimulus_id)!r}"
            )
        near = get_close_matches(str(stimulus_id), [str(one) for one in dict.fromkeys(known)], n=3, cutoff=0.5)
        remedy = f"nearest ids: {', '.join(near)}" if near else "see the column stimulus_id for its ids"
        raise UnknownIdentifier(f"{of} has no stimulus {stimulus_id!r}", remedy=remedy)

    def get_image(self, image_id: str) -> Path:
        """File of a stimulus; older name of :meth:`get_stimulus`."""
        return self.get_stimulus(image_id)

    @classmethod
    def get_loader_class(cls) -> "type[StimulusSetLoader]":
        """Class that reads stimulus sets of this class; a subclass may have its own."""
        from brainscore_core.supported_data_standards.brainio.fetch import StimulusSetLoader

        return StimulusSetLoader

    @classmethod
    def from_paths(cls, paths: Sequence[str | Path]) -> "StimulusSet":
        """Make a stimulus set of files; the ``stimulus_id`` of each is its path.

        Parameters
        ----------
        paths : sequence of str or Path
            A file may occur several times.

        Raises
        ------
        UserError
            If these are not paths.

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
            Folder with exactly the files named in the table.
        **kwargs
            Further arguments of the class that :meth:`get_loader_class` returns.
        """
        return cls.from_loader(cls.get_loader_class()(cls=cls, csv_path=csv_path, stimuli_directory=dir_path, **kwargs))

    @classmethod
    def from_loader(cls, loader: Any) -> "StimulusSet":
        """Read a stimulus set.

        Parameters
        ----------
        loader : StimulusSetLoader, or path
            Anything with a method ``load()``; or the path of a table, for stimuli without files.
        """
        return cls.from_files(loader) if isinstance(loader, str | Path) else cls(loader.load())


def _as_paths(paths: Mapping[str, str | Path] | None, what: str) -> dict[str, str | Path] | None:
    if paths is None:
        return None
    if not isinstance(paths, Mapping):
        raise TypeError(f"{what} must map stimulus ids to files, got a {type(paths).__name__}")
    return dict(paths)


def _united(several: list[dict[str, str | Path]]) -> dict[str, str | Path]:
    """All paths but those of stimuli that have different files in different sets."""
    united: dict[str, str | Path] = {}
    contradictory = set()
    for paths in several:
        for stimulus_id, path in paths.items():
            if Path(united.setdefault(stimulus_id, path)) != Path(path):
                contradictory.add(stimulus_id)
    return {stimulus_id: path for stimulus_id, path in united.items() if stimulus_id not in contradictory}
