"""Procrustes similarity of two representations."""

from brainscore_vision import metric_registry

from .metric import ProcrustesMetric

metric_registry["procrustes"] = ProcrustesMetric

BIBTEX = """@inproceedings{williams2021generalized,
  title={Generalized Shape Metrics on Neural Representations},
  author={Williams, Alex H and Kunz, Erin and Kornblith, Simon and Linderman, Scott W},
  booktitle={Advances in Neural Information Processing Systems},
  volume={34},
  year={2021}
}"""
