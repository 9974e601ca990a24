"""How many dimensions encode shape and texture (Islam et al. 2021)."""

import random
from typing import Any, Final

import numpy as np

from brainscore_core.benchmarks import bound_score, normalise
from brainscore_core.errors import UserError
from brainscore_core.metrics import Score
from brainscore_core.plugins.tables import read_citation
from brainscore_core.supported_data_standards.brainio.assemblies import NeuroidAssembly
from brainscore_core.supported_data_standards.brainio.stimuli import StimulusSet
from brainscore_vision import benchmark_registry, load_metric, load_stimulus_set
from brainscore_vision.benchmark_helpers.measurements import VisualMeasurements, without_single_time_bin
from brainscore_vision.benchmark_helpers.metadata import BenchmarkRow, read_metadata
from brainscore_vision.benchmark_helpers.neural_common import patterns
from brainscore_vision.benchmark_helpers.table_benchmarks import RowBenchmark, make_benchmark
from brainscore_vision.model_interface import BrainModel
from brainscore_vision.utils import LazyLoad

BIBTEX = read_citation(__file__)
METADATA = read_metadata(__file__, bibtex=BIBTEX)

TIME_BIN: Final = (70, 170)
SEED: Final = 1751
"""Of the pairs, which are the same for all models, as published."""


class Dimensionality(RowBenchmark):
    """Share of a region's dimensions that covary over pairs of stimuli of the same shape, or of the same texture.

    An engineering benchmark without measurements. The stimuli are shown as they are, not at a visual angle.

    `row`: with the column ``factor``: ``'shape'`` or ``'texture'``.

    References
    ----------
    .. [1] Islam et al. 2021, https://openreview.net/forum?id=NcFEZOi-rLa
    """

    def __init__(self, row: BenchmarkRow, bibtex: str) -> None:
        super().__init__(row, bibtex)
        self._metric = load_metric(row.metric, factor=row.further["factor"])

    def measurements(self) -> VisualMeasurements:
        """Stimuli, which are shown as they are, without measurements."""
        return self._measurements(LazyLoad(lambda: load_stimulus_set(self._row.stimuli)), "pairs of stimuli", TIME_BIN)

    def __call__(self, candidate: BrainModel) -> Score:
        """Record from `candidate` and estimate the share."""
        stimuli = load_stimulus_set(self._row.stimuli)
        candidate.start_recording(self._row.region, [TIME_BIN])
        recordings: Any = without_single_time_bin(
            candidate.look_at(stimuli, number_of_trials=self._row.number_of_trials)
        )
        responses = patterns(recordings, stimuli["stimulus_id"])
        factors, partners = draw_pairs(stimuli)
        pair = [
            NeuroidAssembly(
                responses[chosen],
                coords={
                    "factor": ("presentation", factors),
                    "pair_id": ("presentation", np.arange(len(factors))),
                    "neuroid_id": ("neuroid", np.arange(responses.shape[1])),
                },
                dims=["presentation", "neuroid"],
            )
            for chosen in (slice(None), partners)
        ]
        return bound_score(normalise(self._metric(*pair), self.ceiling))


def draw_pairs(stimuli: StimulusSet) -> tuple[np.ndarray, np.ndarray]:
    """Draw a partner for each stimulus, which has the same shape and another texture, or the reverse.

    `stimuli`: with the columns ``shape``, ``texture`` and ``original_image_id``. Result: `factors`: what the stimulus
    and its partner have in common: ``'shape'`` or ``'texture'``; `partners`: row of the partner. A UserError if a shape
    does not exist in all textures.
    """
    generator = random.Random(SEED)  # noqa: S311 -- not for security: the published pairs
    shapes, textures = sorted(set(stimuli["shape"])), sorted(set(stimuli["texture"]))
    columns = {name: stimuli[name].to_numpy() for name in ("shape", "texture", "original_image_id")}
    factors, partners = [], []
    for row in range(len(stimuli)):
        own = {name: values[row] for name, values in columns.items()}
        factor = generator.choice(["shape", "texture"])
        if factor == "shape":
            other = generator.choice([texture for texture in textures if texture != own["texture"]])
            same = columns["original_image_id"] == own["original_image_id"]
            found = np.flatnonzero(same & (columns["texture"] == other))
            if len(found) != 1:
                raise UserError(
                    f"the stimuli have {len(found)} pictures of {own['original_image_id']!r} in the texture {other!r}",
                    remedy="each shape must exist once in each texture",
                )
            partner = found[0]
        else:
            other = generator.choice([shape for shape in shapes if shape != own["shape"]])
            found = np.flatnonzero((columns["texture"] == own["texture"]) & (columns["shape"] == other))
            partner = generator.choice(found)
        factors.append(factor)
        partners.append(int(partner))
    return np.array(factors), np.array(partners)


benchmark_registry.add_table(
    __file__, "benchmarks.csv", make_benchmark, bibtex=BIBTEX, kinds={"dimensionality": Dimensionality}
)
