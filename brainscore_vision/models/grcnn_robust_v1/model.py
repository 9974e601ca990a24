"""GRCNN-55, trained for robustness, as a subject."""

from typing import Final

from brainscore_vision.model_helpers.activations.preprocessing import ImagePreprocessing
from brainscore_vision.model_helpers.reference_models import ReferenceModel
from brainscore_vision.model_helpers.weights import WeightFile
from brainscore_vision.models.grcnn_robust_v1.architecture import GRCNN

MODEL: Final = ReferenceModel(
    build=GRCNN,
    weights=WeightFile(
        name="grcnn_robust_v1.pt",
        remark="It must hold a state dict of GRCNN-55 with the names of the authors' release, "
        "as it is or under 'state_dict'.",
    ),
    layers=(
        "conv1",
        "conv2",
        "layer1",
        "layer1.conv_g_f",
        *(f"layer1.{name}" for name in ("iter_1.8", "iter_g_1.1", "iter_2.8", "iter_g_2.1", "iter_3.3", "iter_3.8")),
        *(f"layer1.{name}" for name in ("iter_g_3.1", "d_conv_1", "d_conv_3")),
        "layer2.conv_g_r",
        *(f"layer2.{name}{step}.{last}" for step in (1, 2, 3) for name, last in (("iter_", 8), ("iter_g_", 1))),
        "layer3.conv_f",
        "layer3.conv_g_r",
        *(f"layer3.{name}{step}.{last}" for step in (1, 2, 3, 4) for name, last in (("iter_", 8), ("iter_g_", 1))),
        "layer3.d_conv_1e",
        "layer4.conv_g_r",
        *(f"layer4.{name}{step}.{last}" for step in (1, 2, 3) for name, last in (("iter_", 8), ("iter_g_", 1))),
        "lastact.1",
        "classifier",
    ),
    preprocessing=ImagePreprocessing(resize=(224, 224)),
)
"""Layers: those of the published model ``grcnn``."""
