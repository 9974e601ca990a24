"""Effective dimensionality of two representations."""

from brainscore_vision import metric_registry

from .metric import EffectiveDimensionality

metric_registry["effective_dimensionality"] = EffectiveDimensionality

BIBTEX = """@article{gao2017theory,
  title={A theory of multineuronal dimensionality, dynamics and measurement},
  author={Gao, Peiran and Trautmann, Eric and Yu, Byron and Santhanam, Gopal and Ryu, Stephen and Shenoy, Krishna and
    Ganguli, Surya},
  journal={bioRxiv},
  pages={214262},
  year={2017},
  doi={10.1101/214262}
}"""
