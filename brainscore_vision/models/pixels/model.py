"""The pixels themselves."""

from functools import partial

import numpy as np

from brainscore_vision.model_helpers.images import load_rgb
from brainscore_vision.model_helpers.static_features import FeatureModel


def pixels() -> FeatureModel:
    """Red, green and blue levels (0–255) of each image, resized to 256 × 256, as the responses of every region.

    Examples
    --------
    >>> pixels().region_layer_map["IT"]
    ['pixels']
    """
    return FeatureModel(
        "pixels", layers={"pixels": np.stack}, load=partial(load_rgb, size=256), visual_degrees=8, batch_size=16
    )
