"""How many of a model's dimensions encode a factor such as shape or texture."""

from brainscore_vision import metric_registry

from .metric import Dimensionality

__all__ = ["Dimensionality"]

metric_registry["factor_dimensionality"] = Dimensionality

BIBTEX = """@inproceedings{islam2021shape,
  title={Shape or Texture: Understanding Discriminative Features in CNNs},
  author={Islam, Md Amirul and Kowal, Matthew and Esser, Patrick and Jia, Sen and Ommer, Bj{\\"o}rn and
    Derpanis, Konstantinos G. and Bruce, Neil},
  booktitle={International Conference on Learning Representations},
  year={2021},
  url={https://openreview.net/forum?id=NcFEZOi-rLa}
}"""
