"""Designs of the gratings and textures of the property benchmarks: which parameters are crossed."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from brainscore_core.errors import UserError
from brainscore_vision.benchmark_helpers.neuronal_properties import Factorial, condition_ranks, factorial

GRATING_COLUMNS = ("position_y", "position_x", "contrast", "radius", "spatial_frequency", "orientation", "phase")
"""From the slowest to the fastest."""
_TEXTURE_COLUMNS = ("type", "family", "sample")
_CYCLE_COLUMNS = ("spatial_frequency", "orientation", "phase")


def column(source: Any, name: str) -> NDArray[Any]:
    """Values of a stimulus parameter.

    `source`: has the parameter as a column, or as a coordinate of ``presentation``. `name`: name of the parameter. A
    UserError if the column or coordinate does not exist.
    """
    try:
        return np.atleast_1d(np.asarray(source[name]))
    except KeyError:
        kind = "coordinate" if hasattr(source, "dims") else "column"
        raise UserError(
            f"{_name(source)} has no {kind} {name!r}", remedy=f"add it: the {name} of each stimulus"
        ) from None


def grating_design(source: Any, axes: Sequence[str]) -> Factorial:
    """Find the presentation of each combination of gratings' parameters.

    Parameters
    ----------
    source : StimulusSet or DataAssembly
        Gratings, in any order.
    axes : sequence of str
        Parameters that are crossed; all others are constant.

    Returns
    -------
    Factorial
        ``order`` has one axis for each of `axes`.

    Raises
    ------
    UserError
        If a combination is missing or occurs several times.

    Examples
    --------
    >>> import pandas as pd
    >>> gratings = pd.DataFrame({"orientation": [90, 0, 90, 0], "phase": [180, 180, 0, 0]})
    >>> grating_design(gratings, ["orientation", "phase"]).order.tolist()
    [[3, 1], [2, 0]]
    """
    return factorial({name: column(source, name) for name in axes}, what=_name(source))


def cycle_design(source: Any) -> Factorial:
    """Find the presentation of each combination, for gratings with the same numbers of cycles.

    Parameters
    ----------
    source : StimulusSet or DataAssembly
        Gratings whose radius depends on their spatial frequency, in any order.

    Returns
    -------
    Factorial
        ``order`` is cycle × spatial_frequency × orientation × phase; cycles are numbered by radius.

    Raises
    ------
    UserError
        If a combination is missing.
    """
    conditions = {name: column(source, name) for name in _CYCLE_COLUMNS}
    cycles = condition_ranks(column(source, "radius"), conditions)
    return factorial({"cycle": cycles, **conditions}, what=_name(source))


def texture_design(source: Any) -> Factorial:
    """Find the presentation of each texture.

    Parameters
    ----------
    source : StimulusSet or DataAssembly
        Textures, in any order.

    Returns
    -------
    Factorial
        ``order`` is type (noise, texture) × family × sample.

    Raises
    ------
    UserError
        If a combination is missing, or there are not two types.
    """
    design = factorial({name: column(source, name) for name in _TEXTURE_COLUMNS}, what=_name(source))
    if len(design.levels["type"]) != 2:
        raise UserError(
            f"{_name(source)} has {len(design.levels['type'])} types", remedy="show noise and texture, in this order"
        )
    return design


def require_grating_order(source: Any) -> None:
    """Raise an error for gratings that are not crossed, or not in the order of `GRATING_COLUMNS`, the last fastest."""
    table = {name: column(source, name) for name in GRATING_COLUMNS}
    number = len(table["phase"])
    if number == np.prod([len(np.unique(values)) for values in table.values()]):
        order = factorial(table, what=_name(source)).order
    else:
        conditions = {name: table[name] for name in _CYCLE_COLUMNS}
        ranks = condition_ranks(np.arange(number), conditions)  # the n-th time that the condition occurs
        order = factorial({"cycle": ranks, **conditions}, what=_name(source)).order
    if not np.array_equal(order.ravel(), np.arange(order.size)):
        raise UserError(
            f"{_name(source)} is not in the order of {', '.join(GRATING_COLUMNS)}, the last fastest",
            remedy=f"sort it: .sortby({list(GRATING_COLUMNS)!r})",
        )


def single_position(source: Any) -> NDArray[np.float64]:
    """Vertical and horizontal position of all stimuli.

    A UserError if they are at several positions.
    """
    position = []
    for name in ("position_y", "position_x"):
        values = np.unique(column(source, name))
        if len(values) != 1:
            raise UserError(
                f"{_name(source)} has {len(values)} values of {name}: {', '.join(map(str, values[:3]))}…",
                remedy="use stimuli at one position, that of the neuroids' receptive fields",
            )
        position.append(float(values[0]))
    return np.array(position)


def _name(source: Any) -> str:
    identifier = getattr(source, "identifier", None)
    return f"the stimulus set {identifier!r}" if identifier and not hasattr(source, "dims") else "the stimuli"
