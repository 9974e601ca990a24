"""Correlation of dissimilarities of stimuli."""

from brainscore_language import metric_registry
from brainscore_language.metrics.rdm.metric import RDMCrossValidated

metric_registry["rdm"] = RDMCrossValidated

BIBTEX = """@article{kriegeskorte2008representational,
  title = {Representational similarity analysis - connecting the branches of systems neuroscience},
  author = {Kriegeskorte, Nikolaus and Mur, Marieke and Bandettini, Peter A.},
  journal = {Frontiers in Systems Neuroscience},
  volume = {2},
  pages = {4},
  year = {2008},
  doi = {10.3389/neuro.06.004.2008}
}"""
