"""Reading times of the words of ten stories (Natural Stories), with word lengths and frequencies.

The corpus is published under CC BY-NC-SA 4.0; it is fetched from its authors, and not a part of this package.
"""

from brainscore_language import data_registry

BIBTEX = """@article{futrell2021natural,
  title = {The Natural Stories corpus: a reading-time corpus of English texts containing rare syntactic constructions},
  author = {Futrell, Richard and Gibson, Edward and Tily, Harry J. and Blank, Idan and Vishnevetsky, Anastasia and
    Piantadosi, Steven T. and Fedorenko, Evelina},
  journal = {Language Resources and Evaluation},
  volume = {55},
  number = {1},
  pages = {63--77},
  year = {2021},
  doi = {10.1007/s10579-020-09503-7}
}"""

STIMULUS_GROUPS = {"NaturalStories2021*": "story_id"}


def _reading_times(*, listed: bool):
    from brainscore_language.data.natural_stories2021.data_packaging import load_reading_times

    return load_reading_times(listed=listed)


data_registry["NaturalStories2021"] = lambda: _reading_times(listed=False)
data_registry["NaturalStories2021.listed"] = lambda: _reading_times(listed=True)
