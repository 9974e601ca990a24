"""fMRI of 1,000 sentences, averaged over five subjects (Tuckute et al. 2024)."""

from brainscore_core.plugins.tables import read_citation
from brainscore_language import data_registry
from brainscore_language.utils.s3 import load_from_s3

BIBTEX = read_citation(__file__)

STIMULUS_GROUPS = {"Tuckute2024.language": "none"}  # unrelated sentences

data_registry["Tuckute2024.language"] = lambda: load_from_s3(
    "Tuckute2024.language", sha1="5c8fc7f3e24cc1af5f5296459377b638b6492641"
)
