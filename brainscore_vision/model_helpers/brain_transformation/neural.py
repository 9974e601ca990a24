"""Names of brain-score 2.x for models whose layers are mapped to regions."""

from collections.abc import Mapping, Sequence

from brainscore_vision.model_helpers.brain_transformation.commitment import ModelCommitment
from brainscore_vision.model_helpers.brain_transformation.layers import ActivationsModel
from brainscore_vision.model_helpers.brain_transformation.selection import LayerSelection

__all__ = ["LayerMappedModel", "LayerSelection"]


class LayerMappedModel(ModelCommitment):
    """A :class:`ModelCommitment` with given layers of its regions, which records without time bins.

    Parameters
    ----------
    identifier : str
        Unique name of the model.
    activations_model : callable
        As for :class:`ModelCommitment`.
    region_layer_map : mapping of str to str or list of str
        Region → layer or layers.
    visual_degrees : float, optional
        Visual angle that the model's input spans; by default 8.
    """

    def __init__(
        self,
        identifier: str,
        activations_model: ActivationsModel,
        region_layer_map: Mapping[str, str | Sequence[str]],
        visual_degrees: float | None = None,
    ) -> None:
        super().__init__(
            identifier,
            activations_model,
            region_layer_map=region_layer_map,
            visual_degrees=8 if visual_degrees is None else visual_degrees,
        )
