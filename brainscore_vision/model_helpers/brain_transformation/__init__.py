"""How activations become what a brain would show: recordings and behaviour."""

from brainscore_vision.model_helpers.brain_transformation.behavior import (
    BehaviorArbiter,
    OddOneOut,
    ProbabilitiesMapping,
)

__all__ = ["BehaviorArbiter", "OddOneOut", "ProbabilitiesMapping"]
