"""How close a model's preference for shape over texture is to people's."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from brainscore_vision import metric_registry

if TYPE_CHECKING:
    from brainscore_core.metrics import Metric

BIBTEX = """@inproceedings{geirhos2019imagenet,
  title = {{ImageNet}-trained {CNN}s are biased towards texture;
    increasing shape bias improves accuracy and robustness},
  author = {Geirhos, Robert and Rubisch, Patricia and Michaelis, Claudio and
    Bethge, Matthias and Wichmann, Felix A. and Brendel, Wieland},
  booktitle = {International Conference on Learning Representations},
  year = {2019},
  url = {https://openreview.net/forum?id=Bygh9j09KX},
  doi = {10.48550/arXiv.1811.12231}
}"""


def _shape_bias(**kwargs: Any) -> Metric:
    from brainscore_vision.metrics.shape_bias.metric import ShapeBias

    return ShapeBias(**kwargs)


metric_registry["shape_bias"] = _shape_bias
