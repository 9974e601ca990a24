"""Does a model call the same images dark as a person?"""

from brainscore_vision import benchmark_registry

from .benchmark import Brightness2026

benchmark_registry["ExampleLab2026.brightness-agreement"] = Brightness2026
