"""Properties of single neuroids from arrays of responses, computed for all neuroids together.

Curves are neuroids × stimuli; a single curve gives single values. Undefined properties are NaN.
"""

from brainscore_vision.benchmark_helpers.neuronal_properties.properties import (
    MeanSquares,
    OrientationTuning,
    SizeTuning,
    SpatialFrequencyTuning,
    TextureModulation,
    VarianceRatio,
    circular_variance,
    mean_squares,
    orientation_tuning,
    orthogonal_preferred_ratio,
    size_tuning,
    sparseness,
    spatial_frequency_tuning,
    texture_modulation,
    variance_ratio,
)
from brainscore_vision.benchmark_helpers.neuronal_properties.responses import (
    Factorial,
    Harmonics,
    Preferred,
    RateScale,
    condition_ranks,
    factorial,
    harmonics,
    preferred,
    rate_scale,
    receptive_field_centres,
    receptive_field_maps,
)

__all__ = [
    "Factorial",
    "Harmonics",
    "MeanSquares",
    "OrientationTuning",
    "Preferred",
    "RateScale",
    "SizeTuning",
    "SpatialFrequencyTuning",
    "TextureModulation",
    "VarianceRatio",
    "circular_variance",
    "condition_ranks",
    "factorial",
    "harmonics",
    "mean_squares",
    "orientation_tuning",
    "orthogonal_preferred_ratio",
    "preferred",
    "rate_scale",
    "receptive_field_centres",
    "receptive_field_maps",
    "size_tuning",
    "sparseness",
    "spatial_frequency_tuning",
    "texture_modulation",
    "variance_ratio",
]
