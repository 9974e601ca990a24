"""Reading times of ten stories by 180 people (Futrell et al. 2018), as packaged in 2022.

Times are very likely listed one word too early, as in the corpus of that time; see ``NaturalStories2021``.
"""

from brainscore_language import data_registry
from brainscore_language.utils.s3 import load_from_s3

BIBTEX = """@inproceedings{futrell2018natural,
  title = {The Natural Stories Corpus},
  author = {Futrell, Richard and Gibson, Edward and Tily, Harry J. and Blank, Idan and Vishnevetsky, Anastasia and
    Piantadosi, Steven and Fedorenko, Evelina},
  booktitle = {Proceedings of the Eleventh International Conference on Language Resources and Evaluation},
  year = {2018},
  url = {https://aclanthology.org/L18-1012}
}"""

STIMULUS_GROUPS = {"Futrell2018": "story_id"}


def load_assembly():
    """The reading times, from the platform's public storage."""
    return load_from_s3("Futrell2018", sha1="381ccc8038fbdb31235b5f3e1d350f359b5e287f")


data_registry["Futrell2018"] = load_assembly
