"""fMRI of sentences in passages, ten subjects (Pereira et al. 2018)."""

from brainscore_core.plugins.tables import read_citation
from brainscore_language import data_registry
from brainscore_language.utils.s3 import load_from_s3

BIBTEX = read_citation(__file__)

STIMULUS_GROUPS = {"Pereira2018.*": "story"}  # passages on one topic

data_registry["Pereira2018.language"] = lambda: load_from_s3(
    "Pereira2018.language", sha1="f8434b4022f5b2c862f0ff2854d5b3f5f2a7fb96"
)
data_registry["Pereira2018.auditory"] = lambda: load_from_s3(
    "Pereira2018.auditory", sha1="08e576bd3b8caf64850bb879abf07ae228ff1f5f"
)
