"""Names of ``layers`` that are also imported from here."""

from brainscore_vision.model_helpers.brain_transformation.layers import (
    RegionLayerMap,
    layers_of_regions,
    load_region_layer_map,
)

__all__ = ["RegionLayerMap", "layers_of_regions", "load_region_layer_map"]
