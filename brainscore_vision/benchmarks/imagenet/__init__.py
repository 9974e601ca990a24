"""Accuracy on the validation images of ImageNet (Deng et al. 2009)."""

from brainscore_vision import benchmark_registry
from brainscore_vision.benchmark_helpers.metadata import read_metadata
from brainscore_vision.benchmarks.imagenet.benchmark import Imagenet2012
from brainscore_vision.data.imagenetslim15000 import BIBTEX

METADATA = read_metadata(__file__, bibtex=BIBTEX)

benchmark_registry["ImageNet-top1"] = Imagenet2012
