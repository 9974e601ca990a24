"""Whether models confuse the same images with other objects as people do (Rajalingham et al. 2018)."""

from functools import partial

from brainscore_vision import benchmark_registry
from brainscore_vision.benchmark_helpers.metadata import read_metadata
from brainscore_vision.benchmarks.rajalingham2018.benchmark import Rajalingham2018I2n

METADATA = read_metadata(__file__)

benchmark_registry["Rajalingham2018-i2n"] = partial(Rajalingham2018I2n, "private")
benchmark_registry["Rajalingham2018public-i2n"] = partial(Rajalingham2018I2n, "public")
