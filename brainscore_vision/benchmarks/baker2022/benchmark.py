"""Loss of accuracy from whole to rearranged silhouettes (Baker & Elder 2022)."""

from typing import Final, NamedTuple

from brainscore_core.benchmarks import bound_score, ceil_score
from brainscore_core.errors import UserError
from brainscore_core.metrics import Score
from brainscore_core.supported_data_standards.brainio.assemblies import DataAssembly
from brainscore_vision import load_dataset, load_metric
from brainscore_vision.benchmark_helpers.choices import ChoiceExperiment
from brainscore_vision.benchmark_helpers.measurements import rows_with
from brainscore_vision.data.baker2022 import BIBTEX
from brainscore_vision.model_interface import BrainModel
from brainscore_vision.utils import LazyLoad

VISUAL_DEGREES: Final = 8.8


class Comparison(NamedTuple):
    """Which silhouettes are compared with whole ones."""

    orientation: str
    image_types: tuple[str, str]
    """w: whole, f: Frankenstein (rearranged), o: fragmented."""


COMPARISONS: Final = {
    "frankenstein": Comparison("normal", ("w", "f")),
    "fragmented": Comparison("normal", ("w", "o")),
    "inverted": Comparison("inverted", ("w", "f")),
}
"""By the name that the benchmark's identifier has."""


class Baker2022AccuracyDelta(ChoiceExperiment):
    """Whether a model loses as much accuracy by a distortion of silhouettes as people do.

    The model names each silhouette with one of nine animals; with Δ = accuracy(whole) − accuracy(distorted), the raw
    score is max(1 − |Δ_people − Δ_model| / Δ_people, 0), averaged over 100 random halves of the people. The ceiling is
    the same number between two halves, corrected by Spearman and Brown, median over 100 halvings. The score is
    raw / ceiling, bounded to [0, 1].

    `name`: one of :data:`COMPARISONS`.

    Notes
    -----
    Halves are drawn as published, so that scores are the published ones; they never contain the person with the
    highest number. ``load_metric('baker_accuracy_delta', image_types=[…])`` draws from all.

    References
    ----------
    .. [1] Baker & Elder 2022, https://doi.org/10.1016/j.isci.2022.104913
    """

    def __init__(self, name: str) -> None:
        if name not in COMPARISONS:
            raise UserError(f"Baker2022 has no comparison {name!r}", remedy=f"there are {', '.join(COMPARISONS)}")
        self._orientation, image_types = COMPARISONS[name]
        super().__init__(
            f"Baker2022{name}-accuracy_delta",
            load=lambda: load_assembly(self._orientation),
            metric=LazyLoad(lambda: load_metric("baker_accuracy_delta", image_types=image_types, halves="published")),
            visual_degrees=VISUAL_DEGREES,
            parent="Baker2022",
            bibtex=BIBTEX,
        )

    def __call__(self, candidate: BrainModel) -> Score:
        """Let `candidate` name the silhouettes."""
        assembly = self._assembly.content
        candidate.start_task(BrainModel.Task.label, sorted({str(truth) for truth in assembly["truth"].values}))
        stimuli = assembly.attrs["stimulus_set"]
        of_orientation = stimuli.iloc[rows_with(stimuli, "orientation", self._orientation)].reset_index(drop=True)
        labels = self._look(candidate, of_orientation)
        return bound_score(ceil_score(self._metric(labels, assembly), self.ceiling))


def load_assembly(orientation: str) -> DataAssembly:
    """People's answers to silhouettes of one orientation.

    `orientation`: ``'normal'`` or ``'inverted'``; of the silhouettes. The inverted data set holds upright ones, too,
    which are left out. Result: presentation; 1 where the answer was right.
    """
    assembly = load_dataset(f"Baker2022_{orientation}_distortion")
    kept = assembly[{"presentation": rows_with(assembly, "orientation", orientation)}]
    kept.attrs = dict(assembly.attrs)
    return kept
