"""The model that generates Simulated2026: its V1 and IT are the simulated neuroids without noise."""

from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from brainscore_vision.model_helpers.images import load_grey
from brainscore_vision.model_helpers.static_features import FeatureModel
from brainscore_vision.simulated_experiment import IMAGE_SIZE, VISUAL_DEGREES, EncodingModel


def simulated_truth() -> FeatureModel:
    """Expected responses of the neuroids of Simulated2026, computed from the pixels of whatever image it is shown.

    Examples
    --------
    >>> sorted(simulated_truth().region_layer_map)
    ['IT', 'V1']
    """
    model = EncodingModel()

    def energies(path: Path) -> NDArray[np.float64]:
        return model.energies(load_grey(path, size=IMAGE_SIZE))

    return FeatureModel(
        "simulated-truth",
        layers={
            "V1": lambda loaded: model.v1(np.stack(loaded)),
            "IT": lambda loaded: model.it(np.stack(loaded)),
        },
        region_layer_map={"V1": "V1", "IT": "IT"},
        visual_degrees=VISUAL_DEGREES,
        load=energies,
    )
