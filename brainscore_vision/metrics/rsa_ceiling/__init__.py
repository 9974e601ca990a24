"""Noise ceiling of representational similarity."""

from brainscore_vision import metric_registry

from .ceiling import RSACeiling

metric_registry["rsa_ceiling"] = RSACeiling

BIBTEX = """@article{nili2014toolbox,
  title={A toolbox for representational similarity analysis},
  author={Nili, Hamed and Wingfield, Cai and Walther, Alexander and Su, Li and Marslen-Wilson, William and
    Kriegeskorte, Nikolaus},
  journal={PLOS Computational Biology},
  volume={10},
  number={4},
  pages={e1003553},
  year={2014},
  doi={10.1371/journal.pcbi.1003553}
}"""
