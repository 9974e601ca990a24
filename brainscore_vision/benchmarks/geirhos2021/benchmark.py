"""Whether models err on the same images as people, and how often they are right (Geirhos et al. 2021)."""

import math
from typing import Any, Final

import numpy as np

from brainscore_core.benchmarks import bound_score, normalise
from brainscore_core.errors import UserError, spelling_hint
from brainscore_core.metric_helpers.alignment import listed
from brainscore_core.metrics import Score
from brainscore_core.plugins.tables import read_table
from brainscore_core.provenance import remark
from brainscore_core.supported_data_standards.brainio.assemblies import DataAssembly
from brainscore_vision import load_dataset, load_metric, load_stimulus_set
from brainscore_vision.benchmark_helpers.choices import NamingBenchmark, note_coverage, truth_of
from brainscore_vision.benchmark_helpers.measurements import presentations
from brainscore_vision.data.geirhos2021 import BIBTEX
from brainscore_vision.model_interface import BrainModel
from brainscore_vision.utils import LazyLoad

_ROWS: Final = read_table(__file__, "tests.csv")

TESTS: Final = {row["name"]: row["test"] for row in _ROWS}
"""Names of the 17 tests, by their names in the benchmarks' identifiers."""

DATASETS: Final = list(TESTS.values())
"""Names of the 17 tests."""

EXCLUDED: Final = {row["test"]: tuple(row["excluded"].split(";")) for row in _ROWS if row["excluded"]}
"""Undistorted images, and those on which people are near chance, by test (Geirhos et al. 2021)."""

_ALSO_CALLED: Final = {"False-Colour": "true"}  # the Brain-Score platform's names of the authors' conditions


def is_excluded(condition: str, excluded: tuple[str | float, ...]) -> bool:
    """Whether a condition is among `excluded`, numbers compared as numbers.

    `condition`: as the published trials write it, such as ``'0.60'``. `excluded`: names as they stand, numbers by their
    value.

    Examples
    --------
    >>> is_excluded("0.60", (0.6,)), is_excluded("64-10-10", (64,)), is_excluded("cr", ("cr",))
    (True, False, True)
    """
    condition = _ALSO_CALLED.get(condition, condition)
    return any(condition == value or _number(condition) == _number(value) for value in excluded)


def _number(text: str | float) -> float:
    try:
        return float(text)
    except ValueError:
        return math.nan


def scored(assembly: DataAssembly, excluded: tuple[str | float, ...]) -> DataAssembly:
    """Trials of the conditions that enter the score.

    `assembly`: trials with the level ``condition``, and their ``stimulus_set``. `excluded`: conditions to leave out.
    Result: its ``stimulus_set`` has the stimuli of these trials only. A UserError if no trial has one of the conditions
    to leave out.
    """
    if not excluded:
        return assembly
    conditions = assembly["condition"].values
    names = np.unique(conditions)
    left_out = [name for name in names if is_excluded(str(name), excluded)]
    if not left_out:
        raise UserError(
            f"none of the conditions to leave out, {listed(excluded)}, is in the trials; these have {listed(names)}",
            remedy=spelling_hint(excluded, names) or "check the coordinate 'condition'",
        )
    missing = [
        name for name in excluded if not any(is_excluded(str(name_in_trials), (name,)) for name_in_trials in names)
    ]
    if 2 * len(missing) > len(excluded):
        remark(f"conditions to leave out are not in the trials: {listed(missing)}; these have {listed(names)}")
    return presentations(assembly, np.flatnonzero(~np.isin(conditions, left_out)))


def cast_coordinate_type(assembly: DataAssembly, coordinate: str, newtype: type) -> DataAssembly:
    """Change the type of one coordinate's values.

    `coordinate`: name of the coordinate or level. `newtype`: such as ``str``. Result: a copy, attributes kept.

    Examples
    --------
    >>> trials = DataAssembly(["cat"], coords={"stimulus_id": ("presentation", ["a"]),
    ...                             "condition": ("presentation", [0.5])}, dims=["presentation"])
    >>> str(cast_coordinate_type(trials, "condition", str)["condition"].values[0])
    '0.5'
    """
    values = assembly[coordinate]
    result = assembly.assign_coords({coordinate: (values.dims, values.values.astype(newtype))})
    result.attrs = dict(assembly.attrs)
    return result


VISUAL_DEGREES: Final = 3
ACCURACY_NUMBER_OF_TRIALS: Final = 10


class Geirhos2021ErrorConsistency(NamingBenchmark):
    """Cohen's kappa between what a model and what people get right, averaged over conditions and observers.

    The model names each image with one of the test's 16 categories (4–10 observers did the same). Undistorted images
    and conditions near chance are left out, as in the publication. The ceiling is the same number between all pairs of
    observers; it needs no images.

    `test`: one of :data:`DATASETS`.

    Notes
    -----
    A model that cannot label is not applicable, which is found out before any image is fetched. Of the cue-conflict
    images only every eighth is pinned for download: without a folder that has all of them, models that look at images
    are scored on those 160, relative to people's consistency on the same; ``attrs['stimuli_shown']``,
    ``attrs['stimuli_of_experiment']`` and ``attrs['comment']`` of the score say so.

    References
    ----------
    .. [1] Geirhos et al. 2021, https://doi.org/10.48550/arXiv.2106.07411
    .. [2] Geirhos et al. 2020 (error consistency), https://doi.org/10.48550/arXiv.2006.16736
    """

    def __init__(self, test: str) -> None:
        super().__init__(
            f"Geirhos2021{test.replace('-', '')}-error_consistency",
            metric=LazyLoad(lambda: load_metric("error_consistency")),
            parent="Geirhos2021",
            **_experiment(test),
        )


class Geirhos2021Accuracy(NamingBenchmark):
    """Share of images that a model names rightly: the engineering benchmark of a test.

    The images are those of :class:`Geirhos2021ErrorConsistency`, ten presentations each, shown as they are: they fill
    the model's visual field. The ceiling is 1.

    `test`: one of :data:`DATASETS`.

    References
    ----------
    .. [1] Geirhos et al. 2021, https://doi.org/10.48550/arXiv.2106.07411
    """

    def __init__(self, test: str) -> None:
        super().__init__(
            f"Geirhos2021{test.replace('-', '')}-top1",
            metric=LazyLoad(lambda: load_metric("accuracy")),
            ceiling_func=lambda: self._metric.ceiling(),
            number_of_trials=ACCURACY_NUMBER_OF_TRIALS,
            parent="Geirhos2021-top1",
            **_experiment(test),
        )

    def __call__(self, candidate: BrainModel) -> Score:
        """Let `candidate` name the images.

        A DataUnavailable if it needs images that are not available here; the message says where to obtain them.
        """
        labels, shown = self._labels(candidate, visual_degrees=None)
        people = self._assembly.content
        truth = truth_of(shown, "truth", choices=np.unique(people["truth"].values.astype(str)))
        return note_coverage(bound_score(normalise(self._metric(labels, truth), self.ceiling)), shown, people)


def _experiment(test: str) -> dict[str, Any]:
    return {
        "load": lambda: load_assembly(test),
        "load_stimuli": lambda: load_stimulus_set(f"Geirhos2021_{test}"),
        "visual_degrees": VISUAL_DEGREES,
        "bibtex": BIBTEX,
    }


def load_assembly(test: str) -> DataAssembly:
    """Trials of the conditions of one test that enter its score.

    `test`: one of :data:`DATASETS`. Result: ``condition`` is text.
    """
    assembly = scored(load_dataset(f"Geirhos2021_{test}"), EXCLUDED.get(test, ()))
    if assembly["condition"].values.dtype.kind in "iuf":
        assembly = cast_coordinate_type(assembly, "condition", str)
    stimuli = assembly.attrs["stimulus_set"]
    if not all(isinstance(condition, str) for condition in stimuli["condition"]):
        assembly.attrs["stimulus_set"] = stimuli.assign(condition=stimuli["condition"].astype(str))
    return assembly
