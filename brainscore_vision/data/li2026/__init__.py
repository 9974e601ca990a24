"""Recordings from macaque V1, V2, V4 and IT of natural scenes (Li et al. 2026)."""

from functools import partial

from brainscore_core.plugins.tables import table_keys
from brainscore_vision import data_registry, stimulus_set_registry
from brainscore_vision.data_sources.tables import load_assembly, load_stimuli

BIBTEX = """@article{li2026triplen,
  title = {Triple-N dataset: large-scale fMRI-guided dense recordings of nonhuman primate neural responses to
    natural scenes},
  author = {Li, Yipeng and Liu, Xieyi and Li, Wanru and Yang, Jia and Gong, Baoqi and Jin, Wei and Gong, Zhengxin
    and Wang, Kesheng and Luo, Jingqiu and Zhao, Zishuo and Bao, Pinglei},
  journal = {Nature Neuroscience},
  year = {2026},
  doi = {10.1038/s41593-026-02322-z},
  url = {https://doi.org/10.1038/s41593-026-02322-z}
}"""

STIMULUS_GROUPS = {"Li2026*": "none"}  # each picture shows another scene

for _key in table_keys(__file__, "assemblies.csv"):
    data_registry[_key] = partial(load_assembly, __file__, _key)
for _key in table_keys(__file__, "stimulus_sets.csv"):
    stimulus_set_registry[_key] = partial(load_stimuli, __file__, _key)
