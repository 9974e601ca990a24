"""What the models of this package were trained on, and what the stimuli of its benchmarks are taken from.

Two tables state it where plugins do not: ``models.csv`` and ``benchmarks.csv``. ``unknown``: not published; ``none``:
not from any other data set. Names of benchmarks may be patterns; `brainscore_core.training_data` lists data sets. Other
plugins state it in their metadata.
"""

from __future__ import annotations

import csv
from collections.abc import Mapping
from functools import cache
from importlib import resources

from brainscore_core.training_data import Stated
from brainscore_vision.benchmark_helpers.metadata import longest_match

__all__ = ["packaged_models", "packaged_stimuli"]


@cache
def packaged_models() -> Mapping[str, Stated]:
    """Return what is known of the models of this package, by identifier."""
    return {
        row["model"]: Stated(
            {"unknown": None, "none": ()}.get(row["trained_on"], _names(row["trained_on"])),
            row["fine_tuned_from"] or None,
        )
        for row in _rows("models.csv")
    }


def packaged_stimuli(benchmark: str) -> tuple[str, ...] | None:
    """Return the data sets from which the stimuli of a benchmark of this package are taken; None if it is not listed.

    Examples
    --------
    >>> packaged_stimuli("Geirhos2021contrast-top1"), packaged_stimuli("Geirhos2021stylized-top1")
    (('ImageNet (ILSVRC 2012)',), ('ImageNet (ILSVRC 2012), validation',))
    >>> packaged_stimuli("Marques2020_DeValois1982-peak_sf"), packaged_stimuli("Lab2026-rdm")
    ((), None)
    """
    return longest_match(benchmark, _stimuli())


@cache
def _stimuli() -> Mapping[str, tuple[str, ...]]:
    return {
        row["benchmark"]: () if row["taken_from"] == "none" else _names(row["taken_from"])
        for row in _rows("benchmarks.csv")
    }


def _rows(file: str) -> list[dict[str, str]]:
    text = resources.files(__package__).joinpath(file).read_text(encoding="utf-8")
    return list(csv.DictReader(text.splitlines()))


def _names(text: str) -> tuple[str, ...]:
    return tuple(filter(None, text.split(";")))
