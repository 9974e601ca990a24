"""How consistent recordings are with themselves, as predictors of a model."""

from brainscore_vision import metric_registry

from .ceiling import SplitHalfPredictorConsistency

metric_registry["predictor_consistency"] = SplitHalfPredictorConsistency

BIBTEX = """@article{muzellec2025reverse,
  title={Reverse predictivity: Going beyond one-way mapping to compare artificial neural network models and brains},
  author={Muzellec, Sabine and Kar, Kohitij},
  journal={bioRxiv},
  year={2025},
  doi={10.1101/2025.08.08.669382}
}"""
