"""Accuracy on objects in unusual places and views (Barbu, Mayo et al. 2019)."""

from functools import partial

from brainscore_core.plugins.tables import table_keys
from brainscore_vision import benchmark_registry
from brainscore_vision.benchmark_helpers import table_benchmark

BIBTEX = """@inproceedings{DBLP:conf/nips/BarbuMALWGTK19,
  author = {Andrei Barbu and David Mayo and Julian Alverio and William Luo and Christopher Wang and Dan Gutfreund
    and Josh Tenenbaum and Boris Katz},
  title = {ObjectNet: {A} large-scale bias-controlled dataset for pushing the limits of object recognition models},
  booktitle = {NeurIPS 2019},
  pages = {9448--9458},
  year = {2019},
  url = {https://proceedings.neurips.cc/paper/2019/hash/97af07a14cacba681feacf3012730892-Abstract.html}
}"""

for _key in table_keys(__file__, "benchmarks.csv"):
    benchmark_registry[_key] = partial(
        table_benchmark, __file__, _key, bibtex=BIBTEX, truth="synset", choices="imagenet"
    )
