"""fMRI of stories that five subjects listened to (Blank et al. 2014)."""

from brainscore_language import data_registry
from brainscore_language.utils.s3 import load_from_s3

BIBTEX = """@article{blank2014functional,
  title = {A functional dissociation between language and multiple-demand systems revealed in patterns of BOLD signal
    fluctuations},
  author = {Blank, Idan and Kanwisher, Nancy and Fedorenko, Evelina},
  journal = {Journal of Neurophysiology},
  volume = {112},
  pages = {1105--1118},
  year = {2014},
  doi = {10.1152/jn.00884.2013}
}"""

STIMULUS_GROUPS = {"Blank2014.fROI": "story"}

data_registry["Blank2014.fROI"] = lambda: load_from_s3(
    "Blank2014.fROI", sha1="af1e868821b897cb1684e4c8dcd33977121ef552"
)
