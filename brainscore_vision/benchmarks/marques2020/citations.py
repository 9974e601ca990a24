"""Citations of the six studies whose distributions Marques, Schrimpf & DiCarlo (2021) compiled."""

from brainscore_vision.data.freemanziemba2013 import BIBTEX as FREEMAN_ZIEMBA

__all__ = ["CAVANAUGH", "DE_VALOIS_FREQUENCY", "DE_VALOIS_ORIENTATION", "FREEMAN_ZIEMBA", "RINGACH", "SCHILLER"]

CAVANAUGH = """@article{Cavanaugh2002,
  author = {Cavanaugh, James R. and Bair, Wyeth and Movshon, J. A.},
  doi = {10.1152/jn.00692.2001},
  issn = {0022-3077},
  journal = {Journal of Neurophysiology},
  number = {5},
  pages = {2530--2546},
  pmid = {12424292},
  title = {{Nature and Interaction of Signals From the Receptive Field Center and Surround in Macaque V1 Neurons}},
  url = {http://www.physiology.org/doi/10.1152/jn.00692.2001},
  volume = {88},
  year = {2002}
}"""
DE_VALOIS_ORIENTATION = """@article{DeValois1982,
  author = {{De Valois}, Russell L. and Yund, E. W. and Hepler, Norva},
  doi = {10.1016/0042-6989(82)90112-2},
  journal = {Vision Research},
  pages = {531--544},
  title = {{The orientation and direction selectivity of cells in macaque visual cortex}},
  volume = {22},
  year = {1982}
}"""
DE_VALOIS_FREQUENCY = """@article{DeValois1982b,
  author = {{De Valois}, Russell L. and Albrecht, Duane G. and Thorell, Lisa G.},
  doi = {10.1016/0042-6989(82)90113-4},
  journal = {Vision Research},
  pages = {545--559},
  title = {{Spatial Frequency Selectivity of Cells in Macaque Visual Cortex}},
  volume = {22},
  year = {1982}
}"""
RINGACH = """@article{Ringach2002,
  author = {Ringach, Dario L and Shapley, Robert M and Hawken, Michael J},
  doi = {10.1523/JNEUROSCI.22-13-05639.2002},
  issn = {1529-2401},
  journal = {The Journal of Neuroscience},
  number = {13},
  pages = {5639--5651},
  pmid = {12097515},
  title = {{Orientation selectivity in macaque V1: diversity and laminar dependence.}},
  volume = {22},
  year = {2002}
}"""
SCHILLER = """@article{Schiller1976,
  author = {Schiller, P. H. and Finlay, B. L. and Volman, S. F.},
  doi = {10.1152/jn.1976.39.6.1334},
  issn = {0022-3077},
  journal = {Journal of Neurophysiology},
  number = {6},
  pages = {1334--1351},
  pmid = {825624},
  title = {{Quantitative studies of single-cell properties in monkey striate cortex. III. Spatial Frequency}},
  url = {http://www.ncbi.nlm.nih.gov/pubmed/825624},
  volume = {39},
  year = {1976}
}"""
