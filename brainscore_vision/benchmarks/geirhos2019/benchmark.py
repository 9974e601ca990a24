"""Whether models recognise objects by their shape, as people do, or by their texture (Geirhos et al. 2019)."""

from typing import Final

import numpy as np

from brainscore_core.metrics import Score
from brainscore_core.supported_data_standards.brainio.assemblies import DataAssembly
from brainscore_vision import load_dataset, load_metric, load_stimulus_set
from brainscore_vision.benchmark_helpers.choices import NamingBenchmark
from brainscore_vision.benchmark_helpers.measurements import presentations
from brainscore_vision.data.geirhos2019 import BIBTEX
from brainscore_vision.model_interface import BrainModel
from brainscore_vision.utils import LazyLoad

_DATA: Final = "Geirhos2019_cue-conflict"


class Geirhos2019ShapeBias(NamingBenchmark):
    """How close a model's shape bias is to people's.

    The model names 1,200 images that have the shape of one object and the texture of another, as ten observers did.
    Its shape bias is the share of shape decisions among its decisions for either cue. The score is
    1 − |shape bias of the model − shape bias of people|, relative to how close one observer is to the others.

    Notes
    -----
    Only every eighth image is pinned for download: without a folder that has all of them, models that look at images
    are scored on those 154, relative to people on the same; ``attrs['stimuli_shown']``,
    ``attrs['stimuli_of_experiment']`` and ``attrs['comment']`` of the score say so. The shape biases themselves are in
    ``attrs['shape_bias']`` and ``attrs['human_shape_bias']``.

    References
    ----------
    .. [1] Geirhos et al. 2019, https://doi.org/10.48550/arXiv.1811.12231
    """

    def __init__(self) -> None:
        super().__init__(
            "Geirhos2019-shape_bias",
            load=load_assembly,
            load_stimuli=lambda: load_stimulus_set(_DATA),
            metric=LazyLoad(lambda: load_metric("shape_bias")),
            visual_degrees=3,
            parent="behavior",
            bibtex=BIBTEX,
        )

    def __call__(self, candidate: BrainModel) -> Score:
        """Let `candidate` name the images.

        Result: similarity / ceiling, in [0, 1]; ``attrs['raw']`` is the similarity, whose own ``attrs['raw']`` is the
        shape bias of the model with its uncertainty.
        """
        score = super().__call__(candidate)
        raw = score.attrs["raw"]
        score.attrs |= {name: raw.attrs[name] for name in ("shape_bias", "human_shape_bias")}
        return score


def load_assembly() -> DataAssembly:
    """People's trials on the images whose shape and texture are of different categories."""
    assembly = load_dataset(_DATA)
    return presentations(assembly, np.flatnonzero(assembly["shape"].values != assembly["texture"].values))
