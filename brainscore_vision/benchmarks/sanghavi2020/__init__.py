"""Predictivity of macaque V4 and IT on three sets of images (Sanghavi et al. 2020)."""

from functools import partial

from brainscore_core.plugins.tables import table_keys
from brainscore_vision import benchmark_registry
from brainscore_vision.benchmark_helpers import table_benchmark

BIBTEX = {
    "Sanghavi2020": """@misc{Sanghavi2020,
  title = {SanghaviMurty2020},
  url = {osf.io/CHWDK},
  doi = {10.17605/OSF.IO/CHWDK},
  publisher = {OSF},
  author = {Sanghavi, Sachi and DiCarlo, James J},
  year = {2020},
  month = {Nov}
}""",
    "SanghaviJozwik2020": """@misc{SanghaviJozwik2020,
  title = {SanghaviJozwik2020},
  url = {osf.io/FHY36},
  doi = {10.17605/OSF.IO/FHY36},
  publisher = {OSF},
  author = {Sanghavi, Sachi and Jozwik, K M and DiCarlo, James J},
  year = {2020},
  month = {Nov}
}""",
    "SanghaviMurty2020": """@misc{SanghaviMurty2020,
  title = {SanghaviMurty2020},
  url = {osf.io/fchme},
  doi = {10.17605/OSF.IO/FCHME},
  publisher = {OSF},
  author = {Sanghavi, Sachi and Murty, N A R and DiCarlo, James J},
  year = {2020},
  month = {Nov}
}""",
}

for _key in table_keys(__file__, "benchmarks.csv"):
    benchmark_registry[_key] = partial(table_benchmark, __file__, _key, bibtex=BIBTEX[_key.partition(".")[0]])
