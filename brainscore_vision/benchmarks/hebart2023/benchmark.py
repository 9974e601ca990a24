"""Odd-one-out choices among triplets of objects (Hebart et al. 2023)."""

from typing import Any, Final, NamedTuple

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from brainscore_core.benchmarks import bound_score
from brainscore_core.errors import UserError
from brainscore_core.metric_helpers.alignment import coord_values
from brainscore_core.metrics import Score
from brainscore_core.supported_data_standards.brainio.assemblies import BehavioralAssembly, DataAssembly
from brainscore_core.supported_data_standards.brainio.stimuli import StimulusSet
from brainscore_vision import load_dataset, load_metric, load_stimulus_set
from brainscore_vision.benchmark_helpers.aggregation import constant_ceiling
from brainscore_vision.benchmark_helpers.choices import ChoiceExperiment, on_screen
from brainscore_vision.data.hebart2023 import BIBTEX
from brainscore_vision.model_interface import BrainModel
from brainscore_vision.utils import LazyLoad

VISUAL_DEGREES: Final = 8
CEILING: Final = 0.6767
"""Share of people who make the most frequent choice, mean over the triplets that were asked many times."""

_IMAGES = ("image_1", "image_2", "image_3")


class Triplets(NamedTuple):
    """Images that were shown together; people chose the third."""

    names: NDArray[Any]
    """Each image's ``stimulus_id``, once."""
    rows: NDArray[np.intp]
    """triplets × 3, in `names`."""


class Hebart2023Match(ChoiceExperiment):
    """Share of triplets of which a model takes the same image for the odd one as people.

    453,642 triplets of 1,854 images. The model sees each image once and answers for all triplets.

    Notes
    -----
    The score is (share − 1/3) / (ceiling − 1/3): 0 by chance, 1 if the model matches as many choices as people match
    one another. Only names and places of images are kept for each triplet, whatever is known about the images.

    References
    ----------
    .. [1] Hebart et al. 2023, https://doi.org/10.7554/eLife.82580
    """

    def __init__(self) -> None:
        self._stimuli: LazyLoad[StimulusSet] = LazyLoad(lambda: load_stimulus_set("Hebart2023"))
        self._number_of_triplets: int | None = None
        super().__init__(
            "Hebart2023-match",
            load=lambda: load_dataset("Hebart2023"),
            metric=load_metric("odd_one_out"),
            visual_degrees=VISUAL_DEGREES,
            ceiling_func=lambda: constant_ceiling(CEILING, reason="published as a number"),
            parent="behavior_vision",
            bibtex=BIBTEX,
        )

    def set_number_of_triplets(self, n: int) -> None:
        """Score on the first `n` triplets only, for a quick look; scores are then no longer the published ones."""
        if n < 1:
            raise UserError(f"the number of triplets is {n}", remedy="give at least 1")
        self._number_of_triplets = n

    def __call__(self, candidate: BrainModel) -> Score:
        """Let `candidate` find the odd image of each triplet.

        Result: a Score in [0, 1]; ``attrs['raw']`` is the share of matching choices.
        """
        candidate.start_task(BrainModel.Task.odd_one_out)
        triplets = triplets_of(self._assembly.content, self._number_of_triplets)
        images = on_screen(shown_images(self._stimuli.content, triplets.names), candidate, VISUAL_DEGREES)
        choices = candidate.look_at(in_rows_of_three(images, triplets.rows), number_of_trials=self._number_of_trials)
        raw = self._metric(choices, _target(triplets))
        score = bound_score(self._metric.ceil_score(raw, self.ceiling))
        total = self._assembly.content.sizes["presentation"]
        if len(triplets.rows) < total:
            score.attrs["comment"] = f"scored on the first {len(triplets.rows)} of {total} triplets"
        return score


def triplets_of(assembly: DataAssembly, number: int | None = None) -> Triplets:
    """Triplets of an assembly, images named as in the stimulus set.

    `assembly`: with ``image_1``, ``image_2`` and ``image_3``, of which people chose the last. `number`: how many, from
    the first one on.
    """
    columns = [coord_values(assembly, name, role="measurements")[:number] for name in _IMAGES]
    codes, names = pd.factorize(np.concatenate(columns), sort=True)
    if names.dtype.kind == "f":  # numbers that went through a table with gaps
        names = names.astype(np.int64)
    return Triplets(
        np.array([str(name) for name in names], dtype=object), codes.astype(np.intp).reshape(len(_IMAGES), -1).T
    )


def shown_images(stimuli: StimulusSet, names: NDArray[Any]) -> StimulusSet:
    """These images, in this order; of what is known about them, only the name."""
    index = pd.Index(stimuli["stimulus_id"].astype(str))
    missing = [name for name in names if name not in index]
    if missing:
        raise UserError(
            f"{len(missing)} images of the triplets are not in {stimuli.identifier!r}, such as {missing[0]!r}",
            remedy="load the stimulus set that belongs to the measurements",
        )
    found = stimuli.iloc[index.get_indexer(pd.Index(names))][["stimulus_id"]].reset_index(drop=True)
    found.stimulus_paths = {name: stimuli.get_stimulus(name) for name in found["stimulus_id"]}
    found.identifier = stimuli.identifier
    return found


def in_rows_of_three(images: StimulusSet, rows: NDArray[np.intp]) -> StimulusSet:
    """What a model is shown: the images of the first triplet, then those of the second and so on."""
    shown = images.iloc[rows.ravel()].reset_index(drop=True)
    shown.stimulus_paths, shown.identifier = images.stimulus_paths, images.identifier
    return shown


def _target(triplets: Triplets) -> BehavioralAssembly:
    names = triplets.names[triplets.rows]
    coords = {name: ("presentation", names[:, place]) for place, name in enumerate(_IMAGES)}
    return BehavioralAssembly(names[:, -1], coords=coords, dims=["presentation"])
