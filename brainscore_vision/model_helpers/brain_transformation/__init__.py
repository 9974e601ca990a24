"""How activations become what a brain would show: recordings and behaviour."""

from brainscore_vision.model_helpers.brain_transformation.behavior import (
    BehaviorArbiter,
    LabelBehavior,
    LogitsBehavior,
    OddOneOut,
    ProbabilitiesMapping,
)
from brainscore_vision.model_helpers.brain_transformation.commitment import ModelCommitment
from brainscore_vision.model_helpers.brain_transformation.regions import RegionLayerMap
from brainscore_vision.model_helpers.brain_transformation.selection import LayerSelection

__all__ = [
    "BehaviorArbiter",
    "LabelBehavior",
    "LayerSelection",
    "LogitsBehavior",
    "ModelCommitment",
    "OddOneOut",
    "ProbabilitiesMapping",
    "RegionLayerMap",
]
