"""Reading times of ten stories by 180 people (Futrell et al. 2018), as packaged in 2022.

Times are very likely listed one word too early, as in the corpus of that time; see ``NaturalStories2021``.
"""

from brainscore_core.plugins.tables import read_citation
from brainscore_language import data_registry
from brainscore_language.utils.s3 import load_from_s3

BIBTEX = read_citation(__file__)

STIMULUS_GROUPS = {"Futrell2018": "story_id"}


def load_assembly():
    """The reading times, from the platform's public storage."""
    return load_from_s3("Futrell2018", sha1="381ccc8038fbdb31235b5f3e1d350f359b5e287f")


data_registry["Futrell2018"] = load_assembly
