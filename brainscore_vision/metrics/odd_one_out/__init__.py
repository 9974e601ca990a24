"""Whether a model takes the same one of three images for the odd one as people."""

from brainscore_vision import metric_registry

from .metric import OddOneOutMatch

metric_registry["odd_one_out"] = OddOneOutMatch

BIBTEX = """@article{10.7554/eLife.82580,
  author = {Hebart, Martin N and Contier, Oliver and Teichmann, Lina and Rockter, Adam H and Zheng, Charles Y and
    Kidder, Alexis and Corriveau, Anna and Vaziri-Pashkam, Maryam and Baker, Chris I},
  journal = {eLife},
  month = {feb},
  pages = {e82580},
  title = {THINGS-data, a multimodal collection of large-scale datasets for investigating object representations in
    human brain and behavior},
  volume = {12},
  year = {2023},
  doi = {10.7554/eLife.82580}
}"""
