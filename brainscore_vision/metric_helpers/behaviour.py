"""Helpers for metrics of choices."""

from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from brainscore_core.supported_data_standards.brainio.assemblies import DataAssembly
from brainscore_vision.metric_helpers.alignment import MetricInputError, as_table, coord_values, listed
from brainscore_vision.metric_helpers.uncertainty import Units, unit_ids, units_along

__all__ = ["Choices", "Images", "choices_of", "images_of", "matched_choices"]


class Choices(NamedTuple):
    """Choices of one or several observers, one per trial."""

    values: NDArray[Any]
    columns: dict[str, NDArray[Any]]
    """The requested coordinates."""

    @property
    def correct(self) -> NDArray[np.bool_]:
        """Whether a choice equals ``truth``; a missing choice is wrong."""
        return np.asarray(self.values == self.columns["truth"], dtype=bool)

    def codes(self, name: str) -> tuple[NDArray[np.intp], NDArray[Any]]:
        """Code of each trial's value of a coordinate, and the values, sorted."""
        codes, values = pd.factorize(self.columns[name], sort=True)
        return np.asarray(codes, dtype=np.intp), np.asarray(values)


def choices_of(assembly: DataAssembly, *coords: str, role: str) -> Choices:
    """Choices and the coordinates named.

    Raises
    ------
    MetricInputError
        If there are none, or a coordinate is missing or has missing values.
    """
    assembly = as_table(assembly, ("presentation",), role=role)
    if assembly.sizes["presentation"] == 0:
        raise MetricInputError(f"the {role} has no trials", remedy="check the selection before it")
    columns = {name: coord_values(assembly, name, role=role) for name in coords}
    for name, values in columns.items():
        if pd.isna(values).any():
            raise MetricInputError(
                f"coordinate {name!r} of the {role} has missing values", remedy="fill them in, or drop these trials"
            )
    return Choices(np.asarray(assembly.values), columns)


def matched_choices(source: DataAssembly, stimuli: NDArray[Any]) -> NDArray[Any]:
    """The source's choice for each of `stimuli`.

    Raises
    ------
    MetricInputError
        If the source has several choices for a stimulus, or none.
    """
    source = as_table(source, ("presentation",), role="source")
    index = pd.Index(coord_values(source, "stimulus_id", role="source"))
    if not index.is_unique:
        raise MetricInputError(
            f"the source has several choices for {listed(index[index.duplicated()][:1])}",
            remedy="keep one choice per stimulus: average the probabilities over trials before choosing",
        )
    rows = index.get_indexer(pd.Index(stimuli))
    if (rows < 0).any():
        missing = pd.unique(pd.Series(stimuli[rows < 0]))
        raise MetricInputError(
            f"the source has no choice for {len(missing)} stimuli of the target, such as {listed(missing)}",
            remedy="show the model the target's stimuli; stimuli are matched by 'stimulus_id'",
        )
    return np.asarray(source.values)[rows]


class Images(NamedTuple):
    """Images, or groups of images, that vary from one experiment to the next.

    Attributes
    ----------
    units : Units
        Of the images.
    codes : array of int
        Unit of each trial.
    name : str
        ``'stimuli'``, or the coordinate of the groups.
    ids : array, units
        Which units these are.
    """

    units: Units
    codes: NDArray[np.intp]
    name: str
    ids: NDArray[Any]


def images_of(assembly: DataAssembly, group: str | None, *, default: str = "object_name") -> Images:
    """Find which units of images vary, from trials with ``stimulus_id``; several may show the same image.

    Raises
    ------
    MetricInputError
        If the coordinate `group` is missing and not the default.
    """
    assembly = as_table(assembly, ("presentation",), role="target")
    stimulus, names = pd.factorize(coord_values(assembly, "stimulus_id", role="target"), sort=True)
    first = np.empty(len(names), dtype=np.intp)
    first[stimulus[::-1]] = np.arange(len(stimulus))[::-1]
    images = assembly.isel(presentation=first)
    units = units_along(images, "presentation", group, default=default)
    units = units._replace(
        plural=units.plural.replace("stimuli", "images"), details=units.details.replace("stimuli", "images")
    )
    ids = unit_ids(units, names, images[group].values if units.grouped else None)
    return Images(units, units.codes[stimulus], str(group) if units.grouped else "stimuli", ids)
