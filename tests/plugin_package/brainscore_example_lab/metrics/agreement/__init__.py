"""How often two observers say the same."""

from brainscore_vision import metric_registry

from .metric import Agreement

metric_registry["example-lab-agreement"] = Agreement
