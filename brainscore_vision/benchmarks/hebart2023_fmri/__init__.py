"""Predictivity of human visual cortex (fMRI) on pictures of things (Hebart et al. 2023)."""

from functools import partial

from brainscore_core.plugins.tables import table_keys
from brainscore_vision import benchmark_registry
from brainscore_vision.benchmark_helpers import table_benchmark

BIBTEX = """@article{hebart_things-data_2023,
  title = {{THINGS}-data, a multimodal collection of large-scale datasets for investigating object representations
    in human brain and behavior},
  volume = {12},
  issn = {2050084X},
  doi = {10.7554/eLife.82580},
  journal = {eLife},
  author = {Hebart, M. N. and Contier, O. and Teichmann, L. and Rockter, A. H. and Zheng, C. Y. and Kidder, A. and
    Corriveau, A. and Vaziri-Pashkam, M. and Baker, C. I.},
  year = {2023},
  pmid = {36847339}
}"""

for _key in table_keys(__file__, "benchmarks.csv"):
    benchmark_registry[_key] = partial(table_benchmark, __file__, _key, bibtex=BIBTEX)
