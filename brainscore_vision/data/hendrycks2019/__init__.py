"""ImageNet-C: images of ImageNet with noise, blur, weather and digital distortions (Hendrycks & Dietterich 2019)."""

from functools import partial

from brainscore_core.plugins.tables import read_citation, table_keys
from brainscore_vision import stimulus_set_registry
from brainscore_vision.data_sources.tables import load_stimuli

BIBTEX = read_citation(__file__)

for _key in table_keys(__file__, "stimulus_sets.csv"):
    stimulus_set_registry[_key] = partial(load_stimuli, __file__, _key)
