"""Groups of stimuli that are not independent: the names of their coordinates, and which of them are declared."""

from collections.abc import Mapping
from typing import Any, Final, NamedTuple

import numpy as np
import pandas as pd
import xarray as xr
from numpy.typing import NDArray

from brainscore_core.populations import FEWEST_GROUPS
from brainscore_core.supported_data_standards.brainio.levels import coords_for_dim

STIMULUS_GROUPS: Final = "object_name"
"""Coordinate of stimuli that resemble each other, unless another one is declared."""

ATTRIBUTE: Final = "stimulus_groups"
"""Attribute of recordings, predictions and influences with the name of the coordinate, or :data:`INDEPENDENT`."""

DECLARED: Final = "declared"
"""Argument `stimulus_groups` of a metric: the groups that the recordings declare."""

INDEPENDENT: Final = "none"
"""Value of :data:`ATTRIBUTE` if each stimulus varies on its own."""

ORIGINS: Final = (
    STIMULUS_GROUPS, "object_id", "object", "identity", "scene", "scene_id", "scene_name", "video", "video_id",
    "video_name", "clip", "session", "session_id", "run", "background", "background_id", "background_name",
    "source_image", "original_image", "passage", "passage_label", "story", "story_id", "sentence", "sentence_id",
)  # fmt: skip
"""Coordinates whose values name what several stimuli show, or when they were shown: splits should not divide them."""

CLASSES: Final = (
    "category_name", "category", "category_id", "object_class", "class", "class_name", "class_id", "synset", "concept",
    "image_label", "label", "object_label", "image_category", "image_group", "sample_obj", "image_sample_obj", "truth",
    "texture_family", "family", "texture_type", "animacy", "word", "topic",
)  # fmt: skip
"""Coordinates whose values name a kind of stimuli: fits on some of a kind are tested on others."""

GROUPS: Final = (*ORIGINS, *CLASSES)
"""Coordinates that group stimuli, whatever the type of their values."""

_FIXED: Final = frozenset(
    {
        "condition", "split", "set", "fold", "subset", "subject", "subject_id", "participant", "participant_id",
        "observer", "animal", "worker", "worker_id", "rater", "gender", "choice", "response", "answer", "dist_obj",
        "task", "experiment", "trial_type", "resolution", "datatype", "stimulus_id",
    }
)  # fmt: skip
"""Coordinates with text whose values the experimenter chose, or that describe a trial rather than a stimulus."""


class Grouping(NamedTuple):
    """How stimuli are grouped."""

    name: str | None = None  # coordinate, or column of the stimulus set; None if each stimulus varies on its own
    values: NDArray[Any] | None = None  # group of each presentation
    # if no groups are declared: coordinates that may group the stimuli → number of their values
    shared: Mapping[str, int] = {}
    missing: str = ""  # the declared coordinate if it is missing; else ``''``

    @property
    def finding(self) -> str:
        """What is undeclared, or ``''``."""
        if self.missing:
            sources = "neither a coordinate of the recordings nor a column of their stimuli"
            return f"the groups of stimuli are declared as {self.missing!r}, which is {sources}"
        if not self.shared:
            return ""
        first, *further = self.shared.items()
        numbers = [f"{first[1]:,} values of {first[0]!r}", *(f"{number:,} of {name!r}" for name, number in further)]
        return f"the stimuli share {' and '.join(numbers)}, and no groups of stimuli are declared"

    @property
    def remedy(self) -> str:
        """How to declare it."""
        name = f"{self.name!r}, or " if self.name is not None else "the name of a coordinate, or "
        return (
            f"declare stimulus_groups (of the metric, or in the attributes of the recordings): {name}'none' if the "
            "stimuli are independent"
        )

    @property
    def question(self) -> str:
        """The question to the author, or ``''``."""
        assumption = f"{self.name!r} is taken as the groups; " if self.name is not None else ""
        return f"{self.finding}: {assumption}{self.remedy}" if self.finding else ""


def grouping_of(assembly: xr.DataArray, groups: str | None = DECLARED) -> Grouping:
    """Find the groups of the stimuli of an assembly.

    - `assembly`: with the dimension ``presentation``. The columns of ``attrs['stimulus_set']`` count as coordinates.
    - `groups`: name of the coordinate; None or ``'none'`` if stimuli are independent; :data:`DECLARED`:
      ``attrs['stimulus_groups']``, or else ``object_name`` if stimuli share its values.

    Returns: if no groups are declared: every coordinate of :data:`GROUPS` with at most half as many values as stimuli
    may be one, or else, if none of these has at least five values, any with text. Of those with at least five values,
    the one with fewest is used, so that an interval is too wide rather than too narrow; they are ``shared``. Fewer
    values are too few to vary: they are used where nothing else is, but there is nothing to declare. Raises KeyError if
    the named coordinate is missing, and is not ``object_name``.

    Examples
    --------
    >>> recordings = xr.DataArray(np.zeros(12), dims=["presentation"], coords={
    ...     "stimulus_id": ("presentation", list("abcdefghijkl")), "genre": ("presentation", list("uvwxyz" * 2))})
    >>> grouping_of(recordings).finding
    "the stimuli share 6 values of 'genre', and no groups of stimuli are declared"
    >>> recordings.attrs["stimulus_groups"] = "none"
    >>> grouping_of(recordings).name
    """
    if groups is None or groups == INDEPENDENT:
        return Grouping()
    declared = assembly.attrs.get(ATTRIBUTE, DECLARED)
    if groups == DECLARED and (declared is None or declared == INDEPENDENT):
        return Grouping()
    columns = _Columns(assembly)
    if groups != DECLARED:
        values = columns.values(groups)
        if values is None and groups != STIMULUS_GROUPS:  # the default of earlier versions, which may be missing
            raise KeyError(groups)
        return Grouping() if values is None else Grouping(groups, values)
    if (values := columns.values(str(declared))) is not None:
        return Grouping(str(declared), values)
    missing = "" if declared == DECLARED else str(declared)
    usual = columns.values(STIMULUS_GROUPS)
    number = 0 if usual is None else len(pd.unique(usual))
    if usual is not None and FEWEST_GROUPS <= number < len(usual):
        return Grouping(STIMULUS_GROUPS, usual, missing=missing)
    shared = _shared(columns)
    many = {name: number for name, number in shared.items() if number >= FEWEST_GROUPS}
    if usual is not None and not many and (1 < number < len(usual) or not shared):
        return Grouping(STIMULUS_GROUPS, usual, missing=missing)
    if not shared:
        return Grouping(missing=missing)
    name = min(many, key=many.__getitem__) if many else max(shared, key=shared.__getitem__)
    order = sorted(many, key=lambda column: column != name)
    return Grouping(name, columns.values(name), {column: many[column] for column in order}, missing)


class _Columns:
    """Coordinates of the presentations, and columns of their stimulus set."""

    def __init__(self, assembly: xr.DataArray) -> None:
        self._coords = coords_for_dim(assembly, "presentation")
        stimuli = assembly.attrs.get("stimulus_set")
        is_table = isinstance(stimuli, pd.DataFrame) and stimuli.columns.is_unique and "stimulus_id" in stimuli.columns
        self._stimuli = stimuli if is_table and "stimulus_id" in self._coords else None

    def names(self) -> list[str]:
        """Names of both."""
        further = [] if self._stimuli is None else [name for name in self._stimuli.columns if name not in self._coords]
        return [str(name) for name in (*self._coords, *further)]

    def values(self, name: str) -> NDArray[Any] | None:
        """Value of each presentation; None if the column is missing."""
        if name in self._coords:
            return np.asarray(self._coords[name].values)
        if self._stimuli is None or name not in self._stimuli.columns:
            return None
        by_stimulus = pd.Series(self._stimuli[name].to_numpy(), index=pd.Index(self._stimuli["stimulus_id"].to_numpy()))
        by_stimulus = by_stimulus[~by_stimulus.index.duplicated()]
        return np.asarray(by_stimulus.reindex(np.asarray(self._coords["stimulus_id"].values)).to_numpy())


def _shared(columns: _Columns) -> dict[str, int]:
    """Columns that may group the stimuli → number of values; each partition of the stimuli once."""
    names = columns.names()
    usual = [name for name in GROUPS if name in names]
    partitions: dict[str, NDArray[np.intp]] = {}
    enough = False
    for name in [*usual, *(name for name in names if name not in GROUPS and name not in _FIXED)]:
        if name not in usual and enough:
            break  # other names count only where no usual one has enough values
        values = columns.values(name)
        if values is None or (name not in usual and pd.api.types.infer_dtype(values, skipna=True) != "string"):
            continue
        try:
            codes, labels = pd.factorize(values)
        except TypeError:  # lists in its cells
            continue
        fewest = 2 if name in usual else FEWEST_GROUPS
        if (codes < 0).any() or not fewest <= len(labels) <= len(values) / 2:
            continue
        if not any(np.array_equal(codes, partition) for partition in partitions.values()):
            partitions[name] = codes
            enough = enough or (name in usual and len(labels) >= FEWEST_GROUPS)
    return {name: int(codes.max()) + 1 for name, codes in partitions.items()}
