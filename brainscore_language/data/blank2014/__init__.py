"""fMRI of stories that five subjects listened to (Blank et al. 2014)."""

from brainscore_core.plugins.tables import read_citation
from brainscore_language import data_registry
from brainscore_language.utils.s3 import load_from_s3

BIBTEX = read_citation(__file__)

STIMULUS_GROUPS = {"Blank2014.fROI": "story"}

data_registry["Blank2014.fROI"] = lambda: load_from_s3(
    "Blank2014.fROI", sha1="af1e868821b897cb1684e4c8dcd33977121ef552"
)
