"""Simulated experiments, one case for each kind of interval: what is drawn, and what the interval should hold."""

from . import halves
from .attainable import CASES as ATTAINABLE
from .behaviour import CASES as BEHAVIOUR
from .behaviour_units import CASES as BEHAVIOUR_UNITS
from .case import Case, Result, simulate
from .ceiled import CASES as CEILED
from .ceilings import CASES as CEILINGS
from .choices import CASES as CHOICES
from .geometry import CASES as GEOMETRY
from .geometry_units import CASES as GEOMETRY_UNITS
from .properties import CASES as PROPERTIES
from .regression import CASES as REGRESSION
from .regression_units import CASES as REGRESSION_UNITS

__all__ = ["GROUPS", "REGIMES", "Case", "Result", "halves", "simulate"]

GROUPS = {
    "Regression": REGRESSION,
    "Geometry": GEOMETRY,
    "Choices between objects": CHOICES,
    "Behaviour": BEHAVIOUR,
    "Properties and time": PROPERTIES,
    "Ceilings": CEILINGS,
    "Scores relative to their ceilings": CEILED,
    "What a perfect model would reach": ATTAINABLE,
}

REGIMES = {"Regression": REGRESSION_UNITS, "Geometry": GEOMETRY_UNITS, "Behaviour": BEHAVIOUR_UNITS}
"""Cases of what else varies: ``metric: regime``."""
