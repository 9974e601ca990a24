"""When a model solves an image, compared with when the brain does."""

from brainscore_vision import metric_registry

from .metric import OSTCorrelation

__all__ = ["OSTCorrelation"]

metric_registry["ost"] = OSTCorrelation

BIBTEX = """@article{kar2019evidence,
  title={Evidence that recurrent circuits are critical to the ventral stream's execution of core object recognition
    behavior},
  author={Kar, Kohitij and Kubilius, Jonas and Schmidt, Kailyn and Issa, Elias B. and DiCarlo, James J.},
  journal={Nature Neuroscience},
  volume={22},
  pages={974--983},
  year={2019},
  doi={10.1038/s41593-019-0392-5}
}"""
