"""Electrocorticography of sentences, word by word, five subjects (Fedorenko et al. 2016)."""

from brainscore_language import data_registry
from brainscore_language.utils.s3 import load_from_s3

BIBTEX = """@article{fedorenko2016neural,
  title = {Neural correlate of the construction of sentence meaning},
  author = {Fedorenko, Evelina and Scott, Terri L. and Brunner, Peter and Coon, William G. and Pritchett, Brianna and
    Schalk, Gerwin and Kanwisher, Nancy},
  journal = {Proceedings of the National Academy of Sciences},
  volume = {113},
  pages = {E6256--E6262},
  year = {2016},
  doi = {10.1073/pnas.1612132113}
}"""

STIMULUS_GROUPS = {"Fedorenko2016.language": "sentence_id"}

data_registry["Fedorenko2016.language"] = lambda: load_from_s3(
    "Fedorenko2016.language", sha1="2966b6d78e972a72068aa6907377483f427e8d9a"
)
