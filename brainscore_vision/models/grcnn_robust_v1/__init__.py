"""GRCNN-55, trained for robustness; its weights come from the user."""

from typing import TYPE_CHECKING

from brainscore_core.plugins.tables import read_citation
from brainscore_vision import model_registry
from brainscore_vision.model_helpers.metadata import ModelMetadata

if TYPE_CHECKING:
    from brainscore_vision.model_interface import BrainModel

BIBTEX = read_citation(__file__)

METADATA = {
    "grcnn_robust_v1": ModelMetadata(
        architecture="gated recurrent convolutional network",
        family="grcnn",
        parameters=24_929_704,
        total_parameters=24_929_704,
        size_mb=100.0,
        image_size=224,
        training_data=None,
        code_licence="MIT",
        weights_licence=None,
        source="https://doi.org/10.48550/arXiv.2203.11910",
        runnable=False,
        notes=(
            "No public weights are known: a file of the user's is needed, and scores are those of that file.",
            "That it is GRCNN-55, and its candidate layers, are taken from the published model 'grcnn'.",
            "How it was trained is not published; the citation is of the authors' other GRCNN models.",
            "Layers are selected on benchmarks: none are published for this model.",
        ),
        bibtex=BIBTEX,
    )
}


def _grcnn_robust_v1() -> "BrainModel":
    from brainscore_vision.models.grcnn_robust_v1.model import MODEL

    return MODEL.trained("grcnn_robust_v1")


model_registry["grcnn_robust_v1"] = _grcnn_robust_v1
