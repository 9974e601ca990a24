"""Electrocorticography of sentences, word by word, five subjects (Fedorenko et al. 2016)."""

from brainscore_core.plugins.tables import read_citation
from brainscore_language import data_registry
from brainscore_language.utils.s3 import load_from_s3

BIBTEX = read_citation(__file__)

STIMULUS_GROUPS = {"Fedorenko2016.language": "sentence_id"}

data_registry["Fedorenko2016.language"] = lambda: load_from_s3(
    "Fedorenko2016.language", sha1="2966b6d78e972a72068aa6907377483f427e8d9a"
)
