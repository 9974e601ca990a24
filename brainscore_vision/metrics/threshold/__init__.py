"""Whether a model needs stimuli as strong as people do."""

from brainscore_vision import metric_registry

from .metric import Threshold, ThresholdElevation

metric_registry["threshold"] = Threshold
metric_registry["threshold_elevation"] = ThresholdElevation

BIBTEX = """@article{malania2007,
  author = {Malania, Maka and Herzog, Michael H. and Westheimer, Gerald},
  title = {{Grouping of contextual elements that affect vernier thresholds}},
  journal = {Journal of Vision},
  volume = {7},
  number = {2},
  pages = {1-1},
  year = {2007},
  doi = {10.1167/7.2.1}
}"""
