"""Benchmarks whose recordings one pass of a model can serve."""

from __future__ import annotations

import re
from collections.abc import Iterable

from brainscore_core.runner.scoring import data_name
from brainscore_vision.catalogue.leaderboard import leaderboard_tree
from brainscore_vision.model_interface import BrainModel


def regions_by_data(benchmarks: Iterable[str]) -> dict[str, list[str]]:
    """Regions that several benchmarks record on the same data, as known from their names and the tree.

    Result: name of the data → regions; only data with several recorded regions.

    Examples
    --------
    >>> regions_by_data(["Simulated2026.V1-pls", "Simulated2026.IT:cka", "MajajHong2015public.IT-pls"])
    {'Simulated2026': ['V1', 'IT']}
    """
    tree = leaderboard_tree()
    names_of: dict[str, set[str]] = {}
    for benchmark in benchmarks:
        names = {*re.split(r"[^A-Za-z0-9]+", benchmark), *(tree.ancestors(benchmark) if benchmark in tree else ())}
        names_of.setdefault(data_name(benchmark), set()).update(names)
    regions = {
        data: [str(region) for region in BrainModel.RecordingTarget if region in names]
        for data, names in names_of.items()
    }
    return {data: names for data, names in regions.items() if len(names) > 1}
