"""What is known of each model and each benchmark of the leaderboard."""

from __future__ import annotations

from typing import NamedTuple

__all__ = ["BenchmarkRow", "ModelRow"]


class ModelRow(NamedTuple):
    """A model.

    Attributes
    ----------
    pk : int
        Of `VisionModel`.
    identifier, title : str
        The title is the identifier where there is none.
    private : bool
        Whether others do not see it.
    mine : bool
        Whether it is private and seen because it is the visitor's own.
    architecture, family, training_data : str
        Empty where not known.
    parameters : int or None
        How many.
    size_mb : float or None
        Of the weights.
    runnable : bool
        Whether it can be loaded with what is published.
    """

    pk: int
    identifier: str
    title: str
    private: bool
    mine: bool
    architecture: str
    family: str
    parameters: int | None
    size_mb: float | None
    training_data: str
    runnable: bool


class BenchmarkRow(NamedTuple):
    """A benchmark, in the version whose scores count.

    Attributes
    ----------
    pk : int
        Of `Benchmark`.
    identifier, title : str
        The title is the identifier where there is none.
    version : str
        Whose scores count; empty: any version's.
    parent : str
        Identifier of the mean it counts in; empty where it stands apart.
    region, species, task, stimuli, metric : str
        Empty where not known.
    access : str
        ``'public'`` or ``'private'``: of stimuli and measurements.
    control : bool
        Whether it checks the method; counts in no mean.
    in_tree : bool
        Whether it counts in means.
    ceiling, ceiling_error, ceiling_low, ceiling_high : float
        NaN where there is none.
    ceiling_meaning : str
        Such as ``'reliability'``.
    """

    pk: int
    identifier: str
    title: str
    version: str
    parent: str
    region: str
    species: str
    task: str
    stimuli: str
    metric: str
    access: str
    control: bool
    in_tree: bool
    ceiling: float
    ceiling_error: float
    ceiling_low: float
    ceiling_high: float
    ceiling_meaning: str
