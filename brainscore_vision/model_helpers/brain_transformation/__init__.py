"""Transformation of activations to recordings and behavior."""

from brainscore_vision.model_helpers.brain_transformation.behavior import (
    BehaviorArbiter,
    LabelBehavior,
    LogitsBehavior,
    OddOneOut,
    ProbabilitiesMapping,
)
from brainscore_vision.model_helpers.brain_transformation.commitment import ModelCommitment
from brainscore_vision.model_helpers.brain_transformation.layers import RegionLayerMap
from brainscore_vision.model_helpers.brain_transformation.neural import LayerMappedModel, LayerSelection
from brainscore_vision.model_helpers.brain_transformation.temporal import TemporalAligned

__all__ = [
    "BehaviorArbiter",
    "LabelBehavior",
    "LayerMappedModel",
    "LayerSelection",
    "LogitsBehavior",
    "ModelCommitment",
    "OddOneOut",
    "ProbabilitiesMapping",
    "RegionLayerMap",
    "TemporalAligned",
]
