"""Whether rearranging a shape's parts costs a model as much accuracy as people."""

from brainscore_vision import metric_registry

from .metric import BakerAccuracyDelta

metric_registry["baker_accuracy_delta"] = BakerAccuracyDelta

BIBTEX = """@article{BAKER2022104913,
  title = {Deep learning models fail to capture the configural nature of human shape perception},
  journal = {iScience},
  volume = {25},
  number = {9},
  pages = {104913},
  year = {2022},
  doi = {10.1016/j.isci.2022.104913},
  author = {Nicholas Baker and James H. Elder}
}"""
