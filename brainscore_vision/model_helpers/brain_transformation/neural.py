"""Models of given layers, and the selection of a layer, under names of brain-score 2.x."""

from collections.abc import Mapping, Sequence

from brainscore_vision.model_helpers.brain_transformation.commitment import ModelCommitment
from brainscore_vision.model_helpers.brain_transformation.layers import ActivationsModel
from brainscore_vision.model_helpers.brain_transformation.selection import COMPONENTS, LayerScorer


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
            visual_degrees=visual_degrees,
        )


class LayerSelection(LayerScorer):
    """Scores every layer of a network on a benchmark.

    All layers are recorded in one pass. Profiles are stored in ``$BRAINSCORE_HOME/layers`` under a hash of the
    activations themselves, the measurements, the benchmark's version and the settings, so that any change gives a new
    profile.

    Parameters
    ----------
    model_identifier : str
        Name of the model.
    activations_model : callable
        See :class:`ModelCommitment`.
    layers : sequence of str
        Layers to score; names or patterns.
    visual_degrees : float
        Visual angle that the model's input spans.
    components : int, optional
        Number of principal components to which layers with more features are reduced if there are more stimuli; they
        are computed from the layer's responses to the benchmark's stimuli, never from measurements. None: no reduction.

    Examples
    --------
    >>> selection = LayerSelection("alexnet", activations_model, ["features.2", "features.12"])  # doctest: +SKIP
    >>> profile = selection.profile(load_benchmark("Kriegeskorte2008.IT-human-rdm"), halves=10)  # doctest: +SKIP
    >>> profile.best, profile.held_out.value  # doctest: +SKIP
    ('features.12', 0.21)
    """

    def __init__(
        self,
        model_identifier: str,
        activations_model: ActivationsModel,
        layers: Sequence[str],
        visual_degrees: float = 8,
        *,
        components: int | None = COMPONENTS,
    ) -> None:
        super().__init__(
            model_identifier, activations_model, layers, visual_degrees, commit=ModelCommitment, components=components
        )
