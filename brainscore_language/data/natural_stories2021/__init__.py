"""Reading times of the words of ten stories (Natural Stories), with word lengths and frequencies.

The corpus is published under CC BY-NC-SA 4.0; it is fetched from its authors, and not a part of this package.
"""

from brainscore_core.plugins.tables import read_citation
from brainscore_language import data_registry

BIBTEX = read_citation(__file__)

STIMULUS_GROUPS = {"NaturalStories2021*": "story_id"}


def _reading_times(*, listed: bool):
    from brainscore_language.data.natural_stories2021.data_packaging import load_reading_times

    return load_reading_times(listed=listed)


data_registry["NaturalStories2021"] = lambda: _reading_times(listed=False)
data_registry["NaturalStories2021.listed"] = lambda: _reading_times(listed=True)
