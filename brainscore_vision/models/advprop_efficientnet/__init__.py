"""EfficientNets of efficientnet_pytorch, trained with adversarial images (AdvProp): rows of ``models.csv``."""

from pkgutil import resolve_name

from brainscore_core.plugins.tables import table_keys
from brainscore_vision import model_registry

for _identifier in table_keys(__file__, "models.csv"):
    model_registry[_identifier] = lambda name=_identifier: resolve_name(
        "brainscore_vision.model_sources.tables:table_model"
    )(__file__, name)
